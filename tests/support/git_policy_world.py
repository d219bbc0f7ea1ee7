"""The repository in which git and paths are judged under the whole built-in policy. Its texts are only ever parsed."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.checks.base import Case, GuardResources
from sentinel_guard.core.checks.leak import CHECK as LEAKS
from sentinel_guard.core.checks.rules import rules
from sentinel_guard.core.model import Action, Layer, Response
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.session.session import Session
from sentinel_guard.host.policy_files import builtin
from tests.support.fakes import FakeWorld

HOME = "/home/user"
ROOT = f"{HOME}/project"
CONFIG = """[core]
\trepositoryformatversion = 0
[user]
\tname = Ann
[alias]
\tnuke = !rm -rf /
\tco = checkout
\twipe = reset --hard
\tforget = "!rm -f .env"
\tst = status -sb
[include]
\tpath = ../.gitaliases
"""
GLOBAL = "[alias]\n  fp = push --force\n  lg = log --oneline --graph\n  last = !git log -1 | cat\n"
PATCH = "--- a/{0}\n+++ b/{0}\n@@ -1 +1 @@\n-a\n+b\n"
FILES = {
    ".env": "SECRET=1",
    ".env.example": "SECRET=",
    "README.md": "x",
    "package.json": "{}",
    "src/main.py": "print(1)",
    "src/data.txt": "x",
    "config/.env": "SECRET=2",
    "config/app.toml": "x",
    "secrets/key.txt": "x",
    "build/out.o": "x",
    ".git/HEAD": "ref: refs/heads/main",
    ".git/packed-refs": f"{'1' * 40} refs/heads/main\n{'2' * 40} refs/heads/feature\n",
    ".git/index": "x",
    ".git/config": CONFIG,
    ".git/hooks/pre-commit": "# sentinel-guard",
    ".git/modules/sub/config": "x",
    ".git/modules/sub/HEAD": "x",
    ".gitaliases": "[alias]\n  boom = !rm -f .env\n",
    "sub/.git": "gitdir: ../.git/modules/sub",
    "evil.patch": PATCH.format(".env"),
    "good.patch": PATCH.format("src/main.py"),
    "sentinel.toml": "version = 1",
    ".claude/settings.json": '{"hooks": {"PreToolUse": [{"command": "sentinel-hook"}]}}',
    "hard.txt": "SECRET=1",
}
LINKS = {f"{ROOT}/notes": ".env", f"{ROOT}/conf": "config", f"{ROOT}/docs": "src"}
RESTRICTED = tuple(f"{ROOT}/{name}" for name in (".env", "config/.env", "secrets/key.txt", "sentinel.toml"))
POLICY = merge(builtin())
GUARDED = GuardResources(
    (f"{HOME}/.local/state/sentinel-guard",), (f"{ROOT}/sentinel.toml", f"{ROOT}/.git/hooks"), (4242,)
)

Row = tuple[str, str]


def world() -> FakeWorld:
    files = {f"{ROOT}/{name}": text for name, text in FILES.items()}
    return FakeWorld(
        {**files, f"{HOME}/.gitconfig": GLOBAL, f"{HOME}/.codex/config.toml": "x", f"{HOME}/sibling/a.txt": "x"},
        links=LINKS,
        folders=(f"{HOME}/sibling/.git", "/tmp/x", "/etc"),
        home=HOME,
        twins=((f"{ROOT}/.env", f"{ROOT}/hard.txt"),),
    )


def response(text: str) -> Response:
    action = Action("a", "s", Layer.SHELL, "shell", {"command": text}, ROOT, 0.0, ROOT)
    effects = analyse(action, world())
    case = Case(action, effects, Session("s", ROOT), POLICY, restricted=RESTRICTED, guarded=GUARDED, home=HOME)
    return max((f.response for f in (*rules(case), *LEAKS(case))), default=Response.ALLOW)


def stands(text: str, wanted: str) -> bool:
    """Whether a command is answered as its row says: ``ok`` is undisturbed, any other word is the least."""
    given = response(text)
    return given <= Response.HINT if wanted == "ok" else given >= Response[wanted.upper()]


def params(tables: dict[str, list[Row]]) -> list[object]:
    return [pytest.param(*row, id=f"{name}: {row[0]}") for name, table in tables.items() for row in table]
