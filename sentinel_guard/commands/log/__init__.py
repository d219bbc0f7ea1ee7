"""``sentinel-guard log``: reading the audit log, verifying its chain, beginning a new one."""
