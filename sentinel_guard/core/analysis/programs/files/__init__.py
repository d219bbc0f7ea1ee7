"""File commands, file finders, archivers and patches: argv -> effects."""
