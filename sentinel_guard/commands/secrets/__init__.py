"""``sentinel-guard secrets``: searching for secrets, and the allowlist of known finds."""
