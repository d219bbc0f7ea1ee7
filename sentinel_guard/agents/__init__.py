"""Coding agents: what the guard knows of each, above all how it wraps the shell commands that its model writes."""
