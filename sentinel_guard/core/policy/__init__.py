"""The policy: its file format, layers, rules and patterns, and the built-in rule packs."""
