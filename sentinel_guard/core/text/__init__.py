"""Texts for people and logs: descriptions, redaction, escaping and normalisation."""
