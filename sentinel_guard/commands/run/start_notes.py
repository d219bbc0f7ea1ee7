"""What the person is told when a session begins."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from sentinel_guard.core.text.control_characters import visible


def tell(notes: Sequence[object]) -> None:
    """What the daemon wants the person to know at the start."""
    for note in notes:
        said = "\n".join(visible(line) for line in str(note).splitlines())
        print(f"sentinel-guard: {said}", file=sys.stderr)
