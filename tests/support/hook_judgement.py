"""What the tests of ``judge`` stand on: a policy, samples, and one call of a hook."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sentinel_guard.core.policy.policy import Paths, Policy
from sentinel_guard.host.githooks import judge_hook
from sentinel_guard.host.githooks.hook_request import Judged
from tests.support.hook_repositories import TOKEN, card, git, put

POLICY = Policy(Paths(restricted=(".env", "*.pem", "secrets/")))
SECRET = f"key = '{TOKEN}'\n"
CARDS = "".join(f"card: {card(n)}\n" for n in range(3))


def judge(root: Path, hook: str, *arguments: str, policy: Policy = POLICY, **environ: str) -> Judged:
    return judge_hook.judge(hook, root, policy, arguments, environ={**os.environ, **environ})


def places(judged: Judged) -> list[tuple[str, str, str]]:
    """Rule, level and place of each finding."""
    found = [(f, re.search(r" in (\S+:\d+:\d+|line \d+, column \d+)", f.what)) for f in judged.findings]
    return [(f.rule, f.response.level, at[1] if at else "") for f, at in found]


def stage(root: Path, name: str, text: str | bytes) -> None:
    put(root, name, text)
    git(root, "add", "-f", "-A", ".")
