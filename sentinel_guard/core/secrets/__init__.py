"""Secret scanning: find secrets and personal data in texts, redact them, allowlist known finds."""
