"""What tests of the analysis share: a repository in memory, and effects as short texts."""

from __future__ import annotations

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Effect, Kind, Layer
from tests.support.fakes import FakeWorld

REPO = "/home/ann/repo"


def repository(files: dict[str, str] | None = None, **more: object) -> FakeWorld:
    """A repository with a ``.env``; names in ``files`` that are not absolute lie in it."""
    own = {
        ".env": "SECRET=1\n",
        ".git/HEAD": "ref: refs/heads/main\n",
        "README.md": "x\n",
        "old.log": "",
        **(files or {}),
    }
    named = {name if name.startswith("/") else f"{REPO}/{name}": text for name, text in own.items()}
    return FakeWorld(named, **more)


def effects_of(command: str, world: FakeWorld) -> tuple[Effect, ...]:
    return analyse(Action("1", "s", Layer.SHELL, "shell", {"command": command}, REPO, 0.0, root=REPO), world)


def told(effects: tuple[Effect, ...], *kinds: Kind) -> list[str]:
    """``delete x force ?`` for the effects of these kinds; paths relative to the repository, ``?`` for not sure."""
    return [
        " ".join([e.kind.value, _short(e.target), *sorted(e.how), *([] if e.sure else ["?"])])
        for e in effects
        if e.kind in kinds
    ]


def _short(target: str) -> str:
    return "." if target == REPO else target.replace(f"{REPO}/", "")
