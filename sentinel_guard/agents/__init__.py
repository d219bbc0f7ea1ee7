"""The hook dialects of coding agents (their hook input and output formats) will be here; empty in this release."""
