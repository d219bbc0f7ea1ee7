"""Recovery of a repository: its baseline at session start, rescue snapshots, and rollback."""
