"""Incident reports: generate, redact, replay, fill in and sign them off."""
