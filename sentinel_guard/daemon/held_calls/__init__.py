"""Held system calls of a session: what its broker asks, and which connections are asked about."""
