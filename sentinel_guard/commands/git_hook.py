"""``sentinel-guard hook NAME``: judges a commit or push for a git hook (or the pre-commit tool). No daemon is needed.

Rules of this file:
1. What cannot be judged is refused: any error ends in a code that stops the commit or the push.
2. A commit waits for it: nothing is imported that it does not need.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sentinel_guard.host.githooks.empty_commits import nothing_staged

if TYPE_CHECKING:
    from sentinel_guard.core.secrets.user_secrets.find_user_secrets import UserSecrets

COMMITS = ("pre-commit", "pre-merge-commit", "pre-applypatch")
"""Hooks that look at what is staged alone."""
READS = ("pre-push", "reference-transaction")
"""Hooks that git sends lines to."""
SESSION = "SENTINEL_SESSION"
"""Set inside a guarded session. What it says of itself can only make this stricter."""


def hook(name: str, arguments: tuple[str, ...] = (), stdin: Callable[[], bytes] = lambda: b"") -> int:
    """Runs one hook in the current directory: 0 to go on, 1 with words on standard error. Raises SentinelError.

    ``arguments`` are git's, or the names of files; ``stdin`` reads what git sends.
    """
    work = Path.cwd()
    return 0 if name in COMMITS and nothing_staged(work, os.environ) else _judge(name, arguments, stdin, work)


def _judge(name: str, arguments: tuple[str, ...], stdin: Callable[[], bytes], work: Path) -> int:
    from sentinel_guard.host import policy_files  # noqa: PLC0415 - where something is staged
    from sentinel_guard.host.githooks import judge_hook  # noqa: PLC0415 - where something is staged
    from sentinel_guard.host.githooks.hook_request import base_of, findings_as_lines  # noqa: PLC0415 - the same
    from sentinel_guard.host.machine.state_paths import places  # noqa: PLC0415 - the same

    root = judge_hook.top(name, work, os.environ)
    policy = policy_files.load_paths(places(), root)
    lines = stdin() if name in READS else b""

    def known() -> UserSecrets:
        from sentinel_guard.host.secrets.user_secret_files import collect  # noqa: PLC0415 - where there is a text to look at

        return collect(root, policy, os.environ, base=base_of(name, lines))

    session = bool(os.environ.get(SESSION))
    judged = judge_hook.judge(name, work, policy, arguments, lines, known=known, session=session)
    for line in findings_as_lines(judged.findings, judged.notes, judged.anyway):
        print(line, file=sys.stderr)
    return int(judged.refused)
