"""The interface of a check, and its input: action, effects, session, policy, and the state of the machine.

A check looks at a case and gives findings; the strictest finding decides. Some judge a proposal (``outcome`` is None),
others, later, how the call ended (``outcome`` is set).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Protocol

from sentinel_guard.core.analysis.world import Peek
from sentinel_guard.core.model import Action, Command, Effect, Finding, Outcome
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.secrets.allowlisted_findings import NONE, Allowlist
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import NOTHING, UserSecrets
from sentinel_guard.core.session.session import Call, Session
from sentinel_guard.core.value import value


@value
class GuardResources:
    """The guard's own belongings: what an agent must not touch."""

    folders: tuple[str, ...] = ()
    """State, runtime and shim folders (absolute, resolved): an attack on them is fatal."""
    settings: tuple[str, ...] = ()
    """Policy files and installed hooks: the first try is refused, the second is fatal."""
    pids: tuple[int, ...] = ()
    """The daemon and the runners."""


def _nothing_seen(_path: str) -> None:
    return None


def _nothing_tracked(_paths: tuple[str, ...]) -> frozenset[str]:
    return frozenset()


def _nothing_new(_path: str) -> bool:
    return False


def _nothing_known() -> UserSecrets:
    return NOTHING


def _nothing_said() -> Allowlist:
    return NONE


@value
class Case:
    """All that a check may see."""

    action: Action
    effects: tuple[Effect, ...]
    session: Session
    policy: Policy
    outcome: Outcome | None = None
    operation: str = ""
    """The action's operation hash (``core.session.operation_fingerprint``)."""
    restricted: tuple[str, ...] = ()
    """Restricted files that exist in the workspace, absolute."""
    guarded: GuardResources = GuardResources()
    home: str = ""
    look: Callable[[str], Peek | None] = _nothing_seen
    """An absolute path -> the beginning of the text file there: asked for what leaves the machine, and nothing else."""
    known: Callable[[], UserSecrets] = _nothing_known
    """The person's own secrets; asked where something leaves the machine."""
    baseline: Callable[[], Allowlist] = _nothing_said
    """What a person said of finds of the repository; asked where something is found."""
    key: bytes = b""
    """For keyed hashes of what was found; empty: they are left out."""
    tracked: Callable[[tuple[str, ...]], frozenset[str]] = _nothing_tracked
    """Absolute paths -> those that git tracks; asked of restricted files only."""
    new: Callable[[str], bool] = _nothing_new
    """Whether nothing was at an absolute path when the session began, and nothing of a person's is now."""
    supposed: bool = False
    """Whether what is named and is not there is judged as if it were, as ``sentinel-guard check`` does."""
    held: bool = False
    """Whether the session's system calls are held: setuid programs have no rights then (no_new_privs, prctl(2))."""
    brought: tuple[Finding, ...] = ()
    """What a git hook found in what is staged or pushed."""
    shortened: dict[str, str] = field(default_factory=dict, compare=False)
    """Texts of this case that findings show, as they were shortened: hundreds of effects come of one command."""
    ended: list[tuple[Call, ...]] = field(default_factory=list, compare=False)
    """What ``call_history.finished_calls`` has found: three checks ask for it."""
    told: dict[int, tuple[Command, str]] = field(default_factory=dict, compare=False)
    """Commands of effects, by identity, as findings show them."""


class Check(Protocol):
    """A check: its name, as policies, logs and docs/checks.md write it, and one method."""

    name: str

    def __call__(self, case: Case) -> Iterable[Finding]: ...
