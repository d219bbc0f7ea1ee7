"""A shell with two children, and a pid that no process has."""

from __future__ import annotations

NONE = 2**22 - 1
"""A pid that no process has (over the kernel's default limit)."""


def family(start, script="sleep 60 & echo $!; sleep 60 & echo $!; wait; read x", **options):
    """A shell and its two children."""
    parent = start("/bin/sh", "-c", script, **options)
    return parent.pid, [int(parent.stdout.readline()) for _ in range(2)]
