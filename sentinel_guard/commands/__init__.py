"""The subcommands of ``sentinel-guard``, one module each; ``cli/`` parses their arguments."""
