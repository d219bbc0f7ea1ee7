"""``sentinel-guard install --agent`` and what ``doctor`` says of it: the hooks in the settings of coding agents."""
