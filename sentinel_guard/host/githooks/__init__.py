"""Git hooks: installing them in a repository, and judging the commits, pushes and ref updates that they report."""
