"""git and other version control: argv -> effects. git_command is the entry point."""
