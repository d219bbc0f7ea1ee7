"""Access to the machine: files, processes, git, the secret scan's inputs, recovery of a repository, git hooks."""
