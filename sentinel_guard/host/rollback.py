"""Rollback to a baseline (R10): what counts is the end state.

Rules of this file:
1. Metadata comes back by files before any git command looks at the repository.
2. Nothing is deleted: the agent's versions go to quarantine, its commits under ``refs/sentinel/<session>/``.
3. Survey, act, survey again, until nothing differs: so it may be broken off anywhere and run again.
4. Where the tree was clean at the start, ``git reset --hard START_HASH`` runs as the last step. Where it was not, that
   would pass through a state in which the person's work lies only in the vault: the same end is reached path by path.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sentinel_guard.errors import HostError
from sentinel_guard.host import metadata, objects
from sentinel_guard.host.baseline import Baseline, write_json
from sentinel_guard.host.gitcommand import Git, lines
from sentinel_guard.host.metadata import Change
from sentinel_guard.host.rescue import rescue
from sentinel_guard.host.survey import NS, Survey, misplaced, start_index, survey, surveyed_metadata, wrong_mode
from sentinel_guard.host.vault import difference

ROUNDS = 3
"""Times that the work tree is gone over before what still changes is reported."""
RECORDS = ("refs/remotes/", "refs/sentinel/")
"""Refs that tell what happened and are not rolled back."""
JOURNAL = "rollback.json"
SHOWN = 3
CURE = "`git fsck` tells which; they come back from a clone (`git fetch`) or a backup."


@dataclass(frozen=True, slots=True)
class Report:
    """How a rollback ended."""

    ok: bool
    """True where everything was found to be as at the start, by content."""
    restored: tuple[str, ...]
    """What differed and is as it was again; ``.git/…`` for metadata."""
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


@dataclass(slots=True)
class _Journal:
    """What was found before anything was put back; on disk until the rollback is through."""

    path: Path
    refs: dict[str, str]
    changes: list[Change]
    rescue: str = ""

    def save(self) -> None:
        changes = [[c.path, c.what] for c in self.changes]
        write_json(self.path, {"refs": self.refs, "changes": changes, "rescue": self.rescue})


def plan(baseline: Baseline, keep: Callable[[str], bool] = lambda _: False) -> list[Change]:
    """What a rollback would undo; nothing is changed. Raises HostError."""
    return survey(baseline, keep).changes()


def rollback(baseline: Baseline, keep: Callable[[str], bool] = lambda _: False) -> Report:
    """Bring the repository back to its baseline. Whoever writes to it must have been stopped.

    ``keep`` is asked with names relative to the root: what it says yes to stays as it is. May be run again at any time.
    Raises HostError only where nothing can be done at all; what could not be restored is in the report.
    """
    Path(baseline.root).mkdir(parents=True, exist_ok=True)
    found = survey(baseline, keep)
    journal = _opened(baseline, found)
    if not journal.changes:
        unsound = tuple(_unsound(baseline))
        return Report(not unsound, (), (), unsound, baseline.head, False, "", baseline.notes)
    _metadata(baseline)
    _objects(baseline)
    notes = [*_pin(baseline, journal), *_rescue(baseline, journal, found)]
    reset = False
    for _ in range(ROUNDS):
        problems = _act(baseline, found)
        reset = _reset(baseline, problems)
        problems += _metadata(baseline)
        found = survey(baseline, keep)
        if found.done:
            break
    problems += [*_remaining(found), *_unsound(baseline)]
    journal.path.unlink(missing_ok=True)
    left = {c.path for c in found.changes()}
    return Report(
        ok=not problems,
        restored=tuple(dict.fromkeys(c.path for c in journal.changes if c.path not in left)),
        quarantined=tuple(_files(baseline.quarantine)),
        problems=tuple(problems),
        start_hash=baseline.head,
        reset=reset,
        rescue_ref=journal.rescue,
        notes=(*notes, *baseline.notes),
    )


def _opened(baseline: Baseline, found: Survey) -> _Journal:
    """The journal of a rollback that was broken off, or a new one."""
    path = baseline.folder / JOURNAL
    try:
        data = json.loads(path.read_bytes())
        return _Journal(path, data["refs"], [Change(*row) for row in data["changes"]], data["rescue"])
    except FileNotFoundError:
        refs = metadata.refs(baseline.where.common_dir, baseline.where.git_dir)
        journal = _Journal(path, refs, found.changes())
    if journal.changes:
        journal.save()
    return journal


def _metadata(baseline: Baseline) -> list[str]:
    """Rule 1. Returns problems. Raises HostError."""
    problems = []
    try:
        if misplaced(baseline):
            problems += _dot(baseline)
        Path(baseline.where.git_dir).mkdir(parents=True, exist_ok=True)
        _, own, shared = surveyed_metadata(baseline)
        problems += metadata.put_back(baseline.git_tree, baseline.vault, baseline.own, own)
        if shared:
            problems += metadata.put_back(baseline.common_tree, baseline.vault, baseline.shared, shared)
        if problems:
            _stand_in(baseline)
        return problems
    except OSError as e:
        raise HostError(f"The repository's metadata cannot be put back: {e}.", f"It is in {baseline.folder}.") from e


def _stand_in(baseline: Baseline) -> None:
    """HEAD and refs whose copies are damaged: the manifest knows what they said. Git is no use without them."""
    now = metadata.refs(baseline.where.common_dir)
    known = {n: h for n, h in baseline.refs.items() if n.startswith("refs/") and not baseline.where.linked}
    stands = f"ref: {baseline.branch}" if baseline.branch else baseline.head
    wanted = {n: h for n, h in known.items() if now.get(n) != h and not n.startswith(RECORDS)}
    for name, text in {**wanted, **({"HEAD": stands} if stands else {})}.items():
        kept, data = baseline.own.get(name), f"{text}\n".encode()
        if kept is None or difference(baseline.git_tree, name, kept):
            mode = kept.mode if kept else baseline.usual[0]
            baseline.git_tree.write(name, data, mode, kept.mtime_ns if kept else NS)


def _dot(baseline: Baseline) -> list[str]:
    """``.git`` itself. Returns problems."""
    baseline.tree.away(".git")
    if baseline.dot is not None:
        try:
            baseline.vault.put_back(baseline.tree, ".git", baseline.dot)
        except HostError as e:
            return [f".git could not be put back: {e}"]
    return []


def _objects(baseline: Baseline) -> None:
    try:
        objects.plant(baseline.farm, baseline.object_tree, baseline.sealed)
    except OSError as e:
        raise HostError(f"The repository's objects cannot be put back: {e}.", f"They are in {baseline.farm}.") from e


def _unsound(baseline: Baseline) -> list[str]:
    """What START needs and cannot be read as it was: files alone are half of a repository. Returns problems."""
    bad = objects.damaged(baseline.farm, baseline.sealed)
    problems = []
    if bad:
        some = ", ".join(bad[:SHOWN]) + (", …" if len(bad) > SHOWN else "")
        problems = [f"{len(bad)} objects of the repository were overwritten: {some}. {CURE}"]
    if baseline.head:
        try:
            problems += _missing(baseline)
        except HostError as e:
            problems.append(f"START cannot be read: {e}")
    return problems


def _missing(baseline: Baseline) -> list[str]:
    """Objects of START that are not there. A partial clone never had them all."""
    if any(Path(baseline.where.common_dir, "objects/pack").glob("*.promisor")):
        return []
    git = replace(baseline.where.git, settings=baseline.shadow.git.settings)
    rows = git.run("ls-tree", "-r", "-t", "-z", baseline.head).split(b"\0")
    wanted = {os.fsdecode(row.split(b"\t")[0].split(b" ")[2]) for row in rows if row and b" commit " not in row[:14]}
    wanted -= objects.loose(baseline.farm)  # there and looked at already
    gone = wanted - _existing(git, wanted)
    return [f"{len(gone)} objects of START are missing or unreadable, {min(gone)} for one. {CURE}"] if gone else []


def _pin(baseline: Baseline, journal: _Journal) -> list[str]:
    """Keep what the agent's refs held reachable, and put records back that went with packed-refs. Returns notes."""
    try:
        return _pinned(baseline, journal)
    except HostError as e:
        return [f"The session's commits could not be kept reachable: {e}"]


def _pinned(baseline: Baseline, journal: _Journal) -> list[str]:
    git = replace(baseline.where.git, settings=baseline.shadow.git.settings)
    now = metadata.refs(baseline.where.common_dir, baseline.where.git_dir)
    records = {n: h for n, h in journal.refs.items() if n.startswith(RECORDS)}
    held = {*baseline.refs.values(), *now.values()}
    made = {h: n for n, h in journal.refs.items() if n not in records and h not in held}
    number = itertools.count(1)
    free = (ref for n in number if (ref := f"refs/sentinel/{baseline.session}/{n}") not in {*now, *journal.refs})
    pins = {next(free): h for h in made}
    wanted = pins | {n: h for n, h in records.items() if now.get(n) != h} | _strays(baseline, now)
    there = _existing(git, set(wanted.values()))
    if commands := "".join(f"update {n} {h}\n" for n, h in wanted.items() if h in there):
        git.run("update-ref", "--stdin", stdin=os.fsencode(commands))
    return [
        *(f"{made[h]} of the session is kept as {ref}." for ref, h in pins.items() if h in there),
        *(f"{n} was moved by a push or fetch: not undone." for n, h in records.items() if _moved(baseline, n, h)),
    ]


def _moved(baseline: Baseline, name: str, now: str) -> bool:
    return name.startswith("refs/remotes/") and baseline.refs.get(name) != now


def _strays(baseline: Baseline, now: dict[str, str]) -> dict[str, str]:
    """In a linked worktree, whose refs are shared: its own branch, and refs that are gone."""
    if not baseline.where.linked:
        return {}
    gone = {n: h for n, h in baseline.refs.items() if n.startswith("refs/") and n not in now}
    own = {baseline.branch: baseline.head} if baseline.branch and baseline.head else {}
    return gone | {n: h for n, h in own.items() if now.get(n) != h}


def _existing(git: Git, hashes: set[str]) -> set[str]:
    told = git.run("cat-file", "--batch-check", stdin="".join(f"{h}\n" for h in hashes).encode()) if hashes else b""
    return {line.split(" ")[0] for line in told.decode().splitlines() if not line.endswith(" missing")}


def _rescue(baseline: Baseline, journal: _Journal, found: Survey) -> list[str]:
    """The work tree as the agent left it. Its failing stops nothing: the same files go to quarantine. Returns notes."""
    if journal.rescue:
        return []
    try:
        done = rescue(baseline.root, baseline.folder, baseline.session, found.snapshot(baseline))
    except (HostError, OSError) as e:
        return [f"No rescue snapshot could be made: {e}"]
    journal.rescue = done.ref
    journal.save()
    return [f"{n} is not in the rescue snapshot." for n in done.left_out]


def _act(baseline: Baseline, found: Survey) -> list[str]:
    """Undo what the survey found in the work tree. Returns problems."""
    tree, problems = baseline.tree, list[str]()
    keep = frozenset(baseline.empty)

    def attempt(name: str, undo: Callable[[str], object]) -> None:
        try:
            undo(name)
        except (HostError, OSError) as e:
            problems.append(f"{name} could not be put back: {e}")

    def remove(name: str) -> None:
        tree.away(name)
        tree.prune(name, keep)

    for name in found.created:
        attempt(name, remove)
    for change in found.files:
        attempt(change.path, lambda n: baseline.vault.put_back(tree, n, baseline.files[n]))
    for name in found.tracked:
        attempt(name, tree.make_way)
    attempt("tracked files", lambda _: _check_out(baseline, found.tracked))
    for name, mode in found.modes.items():
        attempt(name, partial(tree.chmod, mode=mode))
    for name in found.folders:
        attempt(name, tree.folder)
    return problems


def _check_out(baseline: Baseline, names: list[str]) -> None:
    """Files of the start's index, through the filters of the start's settings."""
    if not names:
        return
    start_index(baseline)
    _umasked(baseline, baseline.shadow.git).run("checkout-index", "--force", "-q", "-z", "--stdin", stdin=lines(names))
    for name in names:
        if (mode := wrong_mode(baseline, name)) is not None:
            baseline.tree.chmod(name, mode)


def _reset(baseline: Baseline, problems: list[str]) -> bool:
    """Rule 4. The index is a private one: the start's own, byte by byte, is in place already."""
    if not (baseline.clean and baseline.head):
        return False
    start_index(baseline)
    git = replace(baseline.where.git, index=str(baseline.shadow.index), settings=baseline.shadow.git.settings)
    try:
        _umasked(baseline, git).run("reset", "--hard", "--quiet", baseline.head)
    except HostError as e:
        problems.append(str(e))
        return False
    return True


def _umasked(baseline: Baseline, git: Git) -> Git:
    return replace(git, umask=0o777 & ~baseline.usual[1])


def _remaining(found: Survey) -> list[str]:
    """What still differs, in words."""
    beyond = [f"{n} was changed and had not been kept: too large or not readable." for n in found.beyond]
    rest = [c for c in found.changes() if c.path not in found.beyond]
    return [*beyond, *(f"{c.path} is not as it was ({c.what}): damaged, or still written to." for c in rest)]


def _files(folder: Path) -> list[str]:
    return sorted(f"{at}/{name}" for at, _, names in os.walk(folder) for name in names)
