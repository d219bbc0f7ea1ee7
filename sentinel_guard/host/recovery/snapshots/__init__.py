"""Rescue snapshots of the work tree before destructive commands: taking, listing and restoring them."""
