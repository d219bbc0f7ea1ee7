"""Processes, disks, scheduled jobs and system administration: argv -> effects."""
