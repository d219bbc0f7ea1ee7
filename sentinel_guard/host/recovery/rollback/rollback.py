"""Rolls a repository back to its baseline, the state at session start (R10): what counts is the end state.

Rules of this file:
1. Metadata comes back by files before any git command looks at the repository.
2. Nothing is deleted: the agent's versions go to quarantine, its commits under ``refs/sentinel/<session>/``.
3. Survey, act, survey again, until nothing differs: so it may be broken off anywhere and run again.
4. Where the tree was clean at the start, ``git reset --hard START_HASH`` puts the tracked files right. Where it was
   not, that would pass through a state in which the person's work lies only in the vault: the same end is reached path
   by path.
5. A repository comes before those that lie in it, for their folders are its.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine.atomic_files import write_json
from sentinel_guard.host.machine.started_call import StartedCall
from sentinel_guard.host.machine.symlink_safe_folder import SymlinkSafeFolder
from sentinel_guard.host.recovery.baseline import early_objects, gitdir_backup, other_stores, shared_refs
from sentinel_guard.host.recovery.baseline.baseline_diff import BaselineDiff, diff_baseline, settings_elsewhere
from sentinel_guard.host.recovery.baseline.folder_modes import folder_mode
from sentinel_guard.host.recovery.baseline.folder_survey import Survey, names_of_the_start, survey
from sentinel_guard.host.recovery.baseline.gitdir_backup import Change
from sentinel_guard.host.recovery.baseline.session_baseline import Baseline
from sentinel_guard.host.recovery.baseline.worktree_diff import Scan, go_on, scan, scan_again
from sentinel_guard.host.recovery.rollback import restore_hard_links, restore_objects
from sentinel_guard.host.recovery.rollback.blocking_files import (
    added_caches,
    new_special_files,
    remove_caches,
    unblock,
    waiting,
)
from sentinel_guard.host.recovery.rollback.keep_refs import KeptRefs, in_folder, keep_refs, moved_remote_refs
from sentinel_guard.host.recovery.rollback.quarantined_versions import versions
from sentinel_guard.host.recovery.rollback.restore_folders import Folders
from sentinel_guard.host.recovery.rollback.restore_gitdir import put_metadata_back
from sentinel_guard.host.recovery.rollback.restore_worktree import undo
from sentinel_guard.host.recovery.snapshots.take_snapshot import Occasion, take_snapshot

SHOWN = 20
"""Names that are told of what is lost in one way."""
ROUNDS = 3
"""Times that the work tree is gone over before what still changes is reported."""
JOURNAL = "rollback.json"
BELIEVED = 0.5
"""Seconds for which a plan's look at the tracked files is the rollback's own: in a large work tree as much lies between
its look and its acts. Who reads for longer what would be done has it look again."""
ELSEWHERE = ".git/{} of another worktree is gone: it was at work since, and is left as it is."
HOOKS_ELSEWHERE = "/{} ({}) is another worktree's, though git takes it here too: it is left as it is."
NOT_CONVERGED = "NOT CONVERGED"


@dataclass(frozen=True, slots=True)
class Report:
    """How a rollback ended."""

    ok: bool
    """True where everything was found to be as at the start, by content."""
    restored: tuple[str, ...]
    """What differed and is as it was again; ``.git/…`` for metadata, absolute for the user's own settings."""
    quarantined: tuple[str, ...]
    """Absolute paths in quarantine."""
    problems: tuple[str, ...]
    """What is not as it was, in words."""
    start_hash: str
    reset: bool
    """True where ``git reset --hard START_HASH`` was run; False where the same end was reached path by path."""
    rescue_ref: str
    """Holds the work tree as the agent left it; empty where nothing differed or it could not be kept."""
    notes: tuple[str, ...] = ()
    """What is worth knowing: refs that hold the agent's commits, what was pushed, what had not been kept."""
    versions: tuple[tuple[str, str], ...] = ()
    """What was moved away: its name (as in ``restored``) and its path in quarantine."""
    rescued: frozenset[str] = frozenset()
    """Names whose present versions the rescue snapshot holds."""
    unkept: bool = False
    """True where the baseline did not hold all: of the rest nothing is known."""
    commits: tuple[str, ...] = ()
    """Commands that bring back the commits that left their branches, to be run in ``baseline.root``."""


@dataclass(slots=True)
class _Journal:
    """What was found before anything was put back; on disk until the rollback is through."""

    path: Path
    refs: dict[str, str]
    changes: list[Change]
    earlier: list[str]
    """What lay in quarantine before it: an earlier rollback's."""
    rescue: str = ""
    rescued: tuple[str, ...] = ()

    def save(self) -> None:
        changes = [[c.path, c.what] for c in self.changes]
        told = {"refs": self.refs, "changes": changes, "earlier": self.earlier}
        write_json(self.path, told | {"rescue": self.rescue, "rescued": self.rescued})


@dataclass(frozen=True, slots=True)
class Plan:
    """What a rollback would do; names as in ``Report.restored``."""

    changes: tuple[Change, ...]
    pushed: tuple[str, ...]
    """Remote-tracking refs that were moved: what was pushed stays pushed."""
    beyond: tuple[str, ...]
    """Changed or gone, and had not been kept: cannot be put back."""
    damaged: tuple[str, ...] = ()
    """Of git's objects what is not as it was, in words; looked for where nothing else differs."""
    looks: Mapping[Path, Scan] = field(default_factory=dict, compare=False, repr=False)
    """How the work trees were, by the folders of their baselines."""
    looked: float = field(default=0.0, compare=False, repr=False)
    """When that was (``time.monotonic``)."""

    def look(self, baseline: Baseline) -> Scan | None:
        """How a work tree is; None where that was too long ago."""
        return self.looks.get(baseline.folder) if time.monotonic() - self.looked < BELIEVED else None


def plan(baseline: Baseline, keep: Callable[[str], bool] = lambda _: False) -> list[Change]:
    """What a rollback would undo; nothing is changed. Raises HostError."""
    return [*plan_rollback(baseline, keep).changes]


def plan_rollback(
    baseline: Baseline,
    keep: Callable[[str], bool] = lambda _: False,
    restricts: Callable[[str], bool] = lambda _: False,
) -> Plan:
    """What a rollback would undo, and what it could not; nothing is changed. Raises HostError."""
    if folder_mode(baseline.root) is None:
        return Plan((WHOLE,), (), ())
    names = survey(baseline)
    if blocked := waiting(baseline, names.special):
        hint = "Remove it, or roll back: it is moved away first."
        raise HostError(f"{blocked[0][1]} is a named pipe: git would wait for it for ever.", hint)
    found = diff_baseline(baseline, keep, restricts, names)
    now = gitdir_backup.refs(baseline.where.common_dir)
    changes, moved, beyond = found.changes(), moved_remote_refs(baseline, now), [*found.beyond]
    damaged = [] if changes else restore_objects.damaged_or_missing_objects(baseline)
    changes += [Change(name, "created") for name in new_special_files(baseline, names.special, keep)]
    changes += [Change(f".git/objects/{name}", "created") for name in added_caches(baseline)]
    if _REFRESHED in changes and _same_entries(baseline):
        changes.remove(_REFRESHED)
    looks, looked = {baseline.folder: found.scan}, time.monotonic()
    for name, inside in baseline.below():
        below = plan_rollback(inside, partial(_kept_below, keep, name), restricts)
        looks |= below.looks
        changes += [Change(name if c is WHOLE else _below(name, c.path), c.what) for c in below.changes]
        moved += [f"{name}: {ref}" for ref in below.pushed]
        beyond += [_below(name, n) for n in below.beyond]
        damaged += [f"In {name}: {words}" for words in below.damaged]
    return Plan(tuple(changes), tuple(moved), tuple(beyond), tuple(damaged), looks, looked)


WHOLE = Change(".", "deleted")
"""The folder itself is gone, with all that was in it, or something else stands in its place."""
_REFRESHED = Change(".git/index", "changed")


def _same_entries(baseline: Baseline) -> bool:
    """True where the index says the same of every file: ``git status`` writes it anew with other times."""
    git = baseline.shadow.git
    try:
        now = replace(git, index=f"{baseline.where.git_dir}/index").run("ls-files", "-s", "-v", "-z")
        return now == git.run("ls-files", "-s", "-v", "-z")
    except HostError:
        return False


def rollback(
    baseline: Baseline,
    keep: Callable[[str], bool] = lambda _: False,
    restricts: Callable[[str], bool] = lambda _: False,
    planned: Plan | None = None,
) -> Report:
    """Bring the repository back to its baseline. Whoever writes to it must have been stopped.

    ``keep`` is asked with names relative to the root: what it says yes to stays as it is. ``restricts`` is asked with
    absolute paths: what it says yes to goes into no snapshot, and is moved away where it is new, though git ignores it.
    ``planned``: what it would do, where somebody has asked a moment ago. May be run again at any time.

    Raises HostError only where nothing can be done at all; what could not be restored is in the report.
    """
    try:
        report = _rolled_back(baseline, keep, restricts, planned)
    except OSError as e:
        hint = "Mend that, then: sentinel-guard rollback. It goes on where it was."
        raise HostError(f"The rollback of {baseline.root} cannot go on: {e}.", hint) from e
    for name, inside in baseline.below():
        try:
            _make_way(baseline, name, inside)
            report = _joined(report, name, rollback(inside, partial(_kept_below, keep, name), restricts, planned))
        except (HostError, OSError) as e:
            report = replace(report, ok=False, problems=(*report.problems, f"{name} could not be put back: {e}"))
    return report


def _rolled_back(
    baseline: Baseline, keep: Callable[[str], bool], restricts: Callable[[str], bool], planned: Plan | None
) -> Report:
    earlier = [path for _, path in versions(baseline.quarantine)]
    folders = Folders(baseline)
    opened = _prepare(baseline)
    touched, names = folders.open()
    opened += touched
    # git looks at the work tree meanwhile. Should it wait at a pipe, it goes on when that is taken away.
    with StartedCall(partial(_looked, baseline, names, planned if not opened else None)) as scanned:
        opened += unblock(baseline, keep, names.special, scanned)
        opened += remove_caches(baseline)
    found = diff_baseline(baseline, keep, restricts, names, scanned.result())
    journal = _opened(baseline, [*opened, *found.changes()], earlier)
    if not journal.changes:
        bad = restore_objects.damaged_or_missing_objects(baseline)
        if not (bad and baseline.deep.is_dir()):
            return _untouched(baseline, (*folders.close(names), *bad))
    put_metadata_back(baseline, found)
    notes = restore_objects.put_back(baseline, found.programs)
    # The snapshot first: with it objects of the agent's commits come back whose files are still in the work tree.
    kept = _rescue(baseline, journal, found, restricts)
    refs = keep_refs(baseline, journal.refs)
    notes += [*refs.notes, *kept]
    reset = False
    for _ in range(ROUNDS):
        # git writes a file anew beside the old one, which is a change of its folder.
        old = names_of_the_start(baseline, {n.rpartition("/")[0] for n in found.tracked})
        problems, reset = undo(baseline, found)
        problems += put_metadata_back(baseline)
        names = survey(baseline)
        seen = scan_again(baseline, found.scan, names, old) if reset else None
        found = diff_baseline(baseline, keep, restricts, names, seen)
        if found.done:
            break
        found = diff_baseline(baseline, keep, restricts, names) if reset else found
    problems += [*restore_hard_links.join(baseline), *folders.close(names)]
    notes += _elsewhere(baseline)
    found = replace(found, folder_modes=folders.changed(), links=[])
    problems += [*_remaining(found), *restore_objects.damaged_or_missing_objects(baseline)]
    journal.path.unlink(missing_ok=True)
    return _report(baseline, journal, found, problems, replace(refs, notes=tuple(notes)), reset=reset)


def _looked(baseline: Baseline, names: Survey, planned: Plan | None) -> Scan:
    """``planned``: None where something was opened that had been shut, and nobody had looked into."""
    seen = planned.look(baseline) if planned else None
    return go_on(baseline, seen, names) if seen else scan(baseline, names)


def _untouched(baseline: Baseline, problems: tuple[str, ...]) -> Report:
    """Of a repository in which nothing had to be put back."""
    notes, unkept = (*_elsewhere(baseline), *baseline.unkept), bool(baseline.unkept)
    return Report(not problems, (), (), problems, baseline.head, False, "", notes, unkept=unkept)


def _elsewhere(baseline: Baseline) -> list[str]:
    """What another worktree's person may have done, in words."""
    gone = [
        *shared_refs.gone_elsewhere(baseline),
        *other_stores.gone_elsewhere(baseline.stores, baseline.where.common_dir),
    ]
    hooks = [HOOKS_ELSEWHERE.format(c.path, c.what) for c in settings_elsewhere(baseline)]
    return [*(ELSEWHERE.format(name) for name in gone), *hooks]


def _prepare(baseline: Baseline) -> list[Change]:
    """A real folder where the repository was; a link in its place goes aside, and what it leads to is left alone."""
    if not baseline.rest.complete:
        early_objects.take_over(baseline.object_tree.root, baseline.folder, baseline.farm)
    root, found = Path(baseline.root), list[Change]()
    if root.is_symlink() or (root.exists() and not root.is_dir()):
        SymlinkSafeFolder(str(root.parent), baseline.quarantine / "root").away(root.name)
        found.append(Change(".", "replaced by link"))
    root.mkdir(parents=True, exist_ok=True)
    return found


def _report(
    baseline: Baseline, journal: _Journal, found: BaselineDiff, problems: list[str], refs: KeptRefs, *, reset: bool
) -> Report:
    left = {c.path for c in found.changes()}
    before = frozenset(journal.earlier)
    moved = tuple((name, path) for name, path in versions(baseline.quarantine) if path not in before)
    return Report(
        ok=not problems,
        restored=tuple(dict.fromkeys(c.path for c in journal.changes if c.path not in left)),
        quarantined=tuple(path for _, path in moved),
        problems=tuple(problems),
        start_hash=baseline.head,
        reset=reset,
        rescue_ref=journal.rescue,
        notes=(*refs.notes, *baseline.unkept),
        versions=moved,
        rescued=frozenset(journal.rescued),
        unkept=bool(baseline.unkept),
        commits=refs.commands,
    )


def _opened(baseline: Baseline, found: list[Change], earlier: list[str]) -> _Journal:
    """The journal of a rollback that was broken off, or a new one."""
    path = baseline.folder / JOURNAL
    try:
        data = json.loads(path.read_bytes())
        changes = [Change(*row) for row in data["changes"]]
        return _Journal(path, data["refs"], changes, data["earlier"], data["rescue"], tuple(data["rescued"]))
    except FileNotFoundError:
        refs = gitdir_backup.refs(baseline.where.common_dir, baseline.where.git_dir)
        journal = _Journal(path, refs, found, earlier)
    if journal.changes:
        journal.save()
    return journal


def _rescue(baseline: Baseline, journal: _Journal, found: BaselineDiff, restricts: Callable[[str], bool]) -> list[str]:
    """The work tree as the agent left it. Its failing stops nothing: the same files go to quarantine. Returns notes."""
    if journal.rescue:
        return []
    names, occasion = found.snapshot(baseline), Occasion(baseline.session, command="rollback")
    try:
        done = take_snapshot(
            baseline.root,
            baseline.folder,
            baseline.session,
            names,
            flagged=baseline.flagged,
            # Where a submodule's commit is staged, git says nothing of it (--ignore-submodules).
            start=baseline.head if baseline.clean and not baseline.embedded else "",
            restricts=restricts,
            occasion=occasion,
        )
    except (HostError, OSError) as e:
        return [f"No rescue snapshot could be made: {e}"]
    journal.rescue, journal.rescued = done.ref, tuple(sorted({*names} - {*done.left_out, *done.private}))
    journal.save()
    return [f"{n} is not in the rescue snapshot." for n in done.left_out]


def _remaining(found: BaselineDiff) -> list[str]:
    """What still differs, in words."""
    beyond = [line for words in dict.fromkeys(found.beyond.values()) for line in _told(found.beyond, words)]
    rest = [c for c in found.changes() if c.path not in found.beyond]
    words = f"{NOT_CONVERGED}, damaged or still written to after {ROUNDS} rounds"
    return [*beyond, *(f"{c.path} ({c.what}): {words}." for c in rest)]


def _told(beyond: Mapping[str, str], words: str) -> list[str]:
    """One line each of the first, and how many there are besides."""
    names = [n for n, told in beyond.items() if told == words]
    more = len(names) - SHOWN
    return [*(f"{n} {words}." for n in names[:SHOWN]), *([f"So it is with {more} more."] if more > 0 else [])]


def _kept_below(keep: Callable[[str], bool], folder: str, name: str) -> bool:
    return keep(f"{folder}/{name}")


def _below(folder: str, path: str) -> str:
    return path if path.startswith("/") else f"{folder}/{path}"


def _make_way(baseline: Baseline, name: str, inside: Baseline) -> None:
    """Real folders where a repository in this one stands, and where this one holds its metadata. Raises OSError."""
    baseline.tree.folder(name)
    git_dir = baseline.where.git_dir
    if inside.where.git_dir.startswith(f"{git_dir}/"):
        baseline.git_tree.folder(inside.where.git_dir[len(git_dir) + 1 :])


def _joined(outer: Report, name: str, inner: Report) -> Report:
    return replace(
        outer,
        ok=outer.ok and inner.ok,
        restored=(*outer.restored, *(_below(name, n) for n in inner.restored)),
        quarantined=(*outer.quarantined, *inner.quarantined),
        problems=(*outer.problems, *(f"In {name}: {p}" for p in inner.problems)),
        notes=(*outer.notes, *(f"In {name}: {n}" for n in inner.notes if f"In {name}: {n}" not in outer.notes)),
        versions=(*outer.versions, *((_below(name, n), path) for n, path in inner.versions)),
        unkept=outer.unkept or inner.unkept,
        commits=(*outer.commits, *(in_folder(name, command) for command in inner.commits)),
    )
