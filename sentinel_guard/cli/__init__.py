"""The command line: arguments and options of every subcommand (click); the work is done in ``commands/``."""
