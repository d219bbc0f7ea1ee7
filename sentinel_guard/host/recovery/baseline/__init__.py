"""The baseline of a session: taking it, storing it, and comparing a repository with it."""
