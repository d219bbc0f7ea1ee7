"""The settings of coding agents that a session watches: which files, as they were when it began, and their restorers.

Rules of this file:
1. What the files were when the session began is kept before its agent starts, and over a restart of the daemon.
2. The policy's rule for commands says what is watched, too: without a rule on ``{agent-settings}`` nothing is.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sentinel_guard.core.policy.agent_settings import rows
from sentinel_guard.core.policy.match_agent_settings import PLACEHOLDER
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.policy.target_placeholders import TargetContext, matches_target
from sentinel_guard.errors import HostError
from sentinel_guard.host.file_integrity import agent_settings_files
from sentinel_guard.host.file_integrity.agent_settings_files import AgentSettingsFiles, LocatedFile
from sentinel_guard.host.file_integrity.file_change import Judge
from sentinel_guard.host.file_integrity.restore_restricted_files import RestrictedFileRestorer
from sentinel_guard.host.file_integrity.restorer_group import Member
from sentinel_guard.host.machine.atomic_files import write_json
from sentinel_guard.host.machine.content_addressed_store import UNKEPT, ContentAddressedStore, Kept
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder

log = logging.getLogger(__name__)
_ROWS = {(agent.agent, folder.folder, file.path): file for agent, folder, file in rows()}
_INSIDE, _OUTSIDE = 0, 1
Sisters = Callable[[int], Iterable[RestrictedFileRestorer]]


@dataclass(frozen=True, slots=True)
class Begun:
    """What the watch must know of a session's beginning."""

    root: str
    cwd: str
    environ: Mapping[str, str]
    """Of whoever began it; empty where nothing is to be watched outside of the project."""


class AgentSettings:
    """The settings files of one session, at their places."""

    def __init__(self, folder: Path, begun: Begun, policy: Policy) -> None:
        """``folder``: the session's own. Raises HostError."""
        self._folder, self._root = folder / "agent-settings", begun.root
        self._vaults = [ContentAddressedStore(self._folder / name / "vault") for name in ("inside", "outside")]
        remembered = _remembered(self._folder / "files.json")
        self.files, self._originals = remembered or self._take(begun, policy)

    def members(self, judge: Judge, sisters: Sisters) -> tuple[Member, Member]:
        """The restorers of the files in the repository (0), and of all others (1); ``sisters`` is asked by number."""
        return self._member(_INSIDE, self._root, judge, sisters), self._member(_OUTSIDE, "/", judge, sisters)

    def is_inside(self, path: str) -> bool:
        """Whether a path lies in the session's repository."""
        return path.startswith(f"{self._root}/")

    def _member(self, place: int, root: str, judge: Judge, sisters: Sisters) -> Member:
        start = len(root.rstrip("/")) + 1
        files = {path[start:]: kept for path, kept in self._originals.items() if self._place(path) == place}
        vault = self._vaults[place]
        restorer = RestrictedFileRestorer(
            root,
            vault,
            files,
            vault.folder.parent,
            judge=judge,
            sisters=partial(sisters, place),
            changed=self.files.changed,
            tracks_git=place == _INSIDE,
        )
        return lambda path: self._place(path) == place and self.files.may_hold(path), restorer

    def _place(self, path: str) -> int:
        return _INSIDE if self.is_inside(path) else _OUTSIDE

    def _take(self, begun: Begun, policy: Policy) -> tuple[AgentSettingsFiles, dict[str, Kept]]:
        files = agent_settings_files.find(begun.root, begun.cwd, begun.environ, _wanted(policy, begun))
        tree, originals, left_out = SymlinkSafeFolder("/", self._folder), dict[str, Kept](), set[str]()
        for path in files.present():
            try:
                kept = self._vaults[self._place(path)].keep(tree, path[1:])
            except OSError:
                kept = Kept(UNKEPT)
            if kept and kept.kind == UNKEPT:
                log.warning("%s cannot be kept, and is not watched", path)
                left_out.add(path)
            elif kept:
                originals[path] = kept
        if left_out:
            files = AgentSettingsFiles([f for f in files.files if f.path not in left_out], files.links)
        data = {"files": [_row(f) for f in files.files], "links": files.links}
        write_json(self._folder / "files.json", data | {"originals": {p: k.row() for p, k in originals.items()}})
        return files, originals


def _wanted(policy: Policy, begun: Begun) -> Callable[[str], bool]:
    """Whether the policy has a rule about the settings of agents that does not spare a path."""
    ground = TargetContext(policy, begun.root, begun.environ.get("HOME", ""))
    spared = [rule.not_target for rule in policy.rules if PLACEHOLDER in rule.target]

    def wanted(path: str) -> bool:
        if path.startswith(f"{begun.root}/") and policy.restricts(path, begun.root):
            return False  # restricted as a whole
        return any(not (targets and matches_target(targets, path, ground)) for targets in spared)

    return wanted


def _row(file: LocatedFile) -> list[object]:
    return [file.path, file.agent, file.folder, file.file.path, file.depth]


def _remembered(memory: Path) -> tuple[AgentSettingsFiles, dict[str, Kept]] | None:
    """What was found when the session began; None for a session that begins now. Raises HostError."""
    try:
        data: dict[str, Any] = json.loads(memory.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as e:
        raise HostError(f"{memory} is damaged: {e}.", "Remove it: the files are then taken as they are now.") from e
    files = [
        LocatedFile(path, agent, folder, _ROWS[agent, folder, name], depth)
        for path, agent, folder, name, depth in data["files"]
        if (agent, folder, name) in _ROWS
    ]
    originals = {path: Kept(*row) for path, row in data["originals"].items()}
    return AgentSettingsFiles(files, data["links"]), originals
