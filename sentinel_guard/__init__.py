"""sentinel-guard: stands between a coding agent and the machine it works on."""

__version__ = "0.1.0"
