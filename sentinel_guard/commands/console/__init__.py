"""``sentinel-guard console``: sessions, questions and the log on one screen."""
