"""Rollback of a repository to its baseline: work tree, git directory, objects and refs."""
