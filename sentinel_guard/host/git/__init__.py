"""Running git safely, and reading repositories, commits, objects and ignore rules."""
