"""The user's own secrets: read them from secret files and the environment, find them in texts."""
