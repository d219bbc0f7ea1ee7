"""Watching a session's restricted files and its agents' settings: whose a change is, what is put back, who is told."""
