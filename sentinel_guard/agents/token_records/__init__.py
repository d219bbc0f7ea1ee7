"""Token usage that each coding agent records on disk: where it lies, and parsers for it (no file access)."""
