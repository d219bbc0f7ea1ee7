"""Texts for the secret scan (files, added lines, history), the user's secret values, and the allowlist file."""
