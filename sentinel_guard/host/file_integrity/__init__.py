"""Watching restricted files for changes, and restoring them after tampering."""
