"""``sentinel-guard rollback``: put the repository back to its state at a session's start, by hand (R10)."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from sentinel_guard.audit.sqlite import SqliteReader
from sentinel_guard.client import Operator
from sentinel_guard.commands import require_human
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.errors import ConfigError, NoDaemonError, SentinelError
from sentinel_guard.host import policy_files
from sentinel_guard.host.git import repository
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.recovery import api
from sentinel_guard.host.recovery.rollback import branch_changes
from sentinel_guard.host.recovery.rollback.baseline_copy import to_look_at

INCIDENTS = "docs/incidents/"
OBJECTS = ".git/objects/"
SHOWN = 40
FORETELL_SECONDS = 300.0


ENDS = ("end", "recovery", "verdict", "outcome", "observation")
"""Entries the last of which tells when a session was over."""


def rollback(
    places: StatePaths,
    cwd: Path,
    session: str,
    *,
    dry_run: bool,
    confirm: Callable[[str], bool] | None,
    later_too: bool = False,
    as_json: bool = False,
) -> int:
    """Show what would change, ask with ``confirm`` (None: do not), and do it. What is removed goes to quarantine.

    Commits and restricted files that were made after the session are not undone with it, but for ``later_too``.
    ``as_json``: of a dry run, what would change as one JSON object.
    """
    if dry_run and require_human.sessions():
        return _told_by_the_daemon(places, cwd, session=session, later_too=later_too, as_json=as_json)
    baseline = _baseline(places, cwd, session)
    if not dry_run:
        return _carry_out(places, baseline, dry_run=False, confirm=confirm, later_too=later_too)
    with to_look_at(baseline) as copy:
        return _carry_out(places, copy, dry_run=True, confirm=None, later_too=later_too, as_json=as_json)


def _told_by_the_daemon(places: StatePaths, cwd: Path, **asked: str | bool) -> int:
    """A dry run inside of a session, where our own git would be judged as the agent's."""
    with Operator(places, start=False) as operator:
        told = operator.request("foretell", cwd=os.path.realpath(cwd), seconds=FORETELL_SECONDS, **asked)
    print(told["out"], end="")
    print(told["err"], end="", file=sys.stderr)
    return int(told["code"])


def _carry_out(
    places: StatePaths,
    baseline: api.Baseline,
    *,
    dry_run: bool,
    confirm: Callable[[str], bool] | None,
    later_too: bool,
    as_json: bool = False,
) -> int:
    if not dry_run:
        _refuse_while_live(places, baseline.root)
    policy = policy_files.load_paths(places, baseline.root)

    def restricts(path: str) -> bool:
        return bool(policy.restricts(path, baseline.root))

    ended = 0.0 if later_too else _ended(places, baseline.session)

    theirs = dict[str, None]()

    def stays(path: str) -> bool:
        if ended and _is_later(f"{baseline.root}/{path}", ended, restricts):
            theirs[path] = None
        return path in theirs or _is_report(path)

    outlook = api.plan_rollback(baseline, stays, restricts)
    if as_json:
        print(json.dumps(_document(baseline, outlook, theirs)))
        return 0
    _list("Restricted files that were changed after the session ended, and stay as they are", _words(theirs))
    if not (outlook.changes or outlook.damaged):
        print("Nothing to do: the repository is as it was when the session started.")
        _list("What had not been kept then, and was not compared", _words(baseline.unkept))
        return 0
    moves = branch_changes.moves(baseline)
    _head(baseline, moves)
    _foretell(outlook)
    if dry_run:
        return 0
    if not later_too:
        _refuse_later(places, baseline)
    if confirm and not confirm("Put these back to where they were?"):
        print("Nothing was changed.")
        return 1
    report = api.rollback(baseline, stays, restricts, outlook)
    _tell(report, baseline)
    return 0 if report.ok else 1


def _document(baseline: api.Baseline, outlook: api.Plan, theirs: Iterable[str]) -> dict[str, object]:
    moves = branch_changes.moves(baseline)
    return {
        "session": baseline.session,
        "taken": baseline.taken,
        "changes": [{"path": c.path, "what": c.what, "undone": c.path not in outlook.beyond} for c in outlook.changes],
        "branches": [{"name": m.name, "now": m.now, "was": m.was, "commits": [*m.commits]} for m in moves],
        "damaged": [*outlook.damaged],
        "pushed": [*outlook.pushed],
        "stays": [*theirs],
    }


def _head(baseline: api.Baseline, moves: Sequence[branch_changes.Move]) -> None:
    """Where it goes back to, and whose commits that takes from the branches: the person's own perhaps."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(baseline.taken))
    branch = baseline.branch.removeprefix("refs/heads/") or "HEAD"
    print(
        visible(
            f"Back to the start of session {baseline.session}: {when}, {branch} at {baseline.head[:12] or 'no commit'}"
        )
    )
    _list(
        f"Commits that leave their branch, whoever made them, and stay under refs/sentinel/{baseline.session}/",
        _words([f"{move.name}: {commit}" for move in moves for commit in move.commits]),
    )
    _list("Branches and tags that move", _words([_way(move) for move in moves if move.name != "stash"]))


def _way(move: branch_changes.Move) -> str:
    if not move.was:
        return f"{move.name}: goes (it was not there)"
    return (
        f"{move.name}: {move.now[:12]} -> {move.was[:12]}"
        if move.now
        else f"{move.name}: comes back at {move.was[:12]}"
    )


def _foretell(outlook: api.Plan) -> None:
    """All that would change, grouped by what becomes of it, and what cannot be changed."""
    undone = [c for c in outlook.changes if c.path not in outlook.beyond]
    for title, member in _GROUPS:
        rows = [c for c in undone if member(c)]
        objects = sum(OBJECTS in c.path for c in rows)
        stored = [f"{objects} files of git's object store"] if objects else []
        _list(title, [visible(str(c)) for c in rows if OBJECTS not in c.path] + stored)
    _list("Cannot be put back: it had not been kept when the session started", _words(outlook.beyond))
    _list("Objects of git's that are not as they were", _words(outlook.damaged))
    _list("Was pushed or fetched, and stays so (no remote is ever touched)", _words(outlook.pushed))


def _is_settings(change: api.Change) -> bool:
    return change.path.startswith("/")


def _is_git(change: api.Change) -> bool:
    return ".git" in change.path.split("/") and not _is_settings(change)


def _is_new(change: api.Change) -> bool:
    return change.what == "created" and not (_is_git(change) or _is_settings(change))


def _is_old(change: api.Change) -> bool:
    return not (_is_new(change) or _is_git(change) or _is_settings(change))


_GROUPS: tuple[tuple[str, Callable[[api.Change], bool]], ...] = (
    ("Comes back as it was", _is_old),
    ("Is moved away (it stays in quarantine)", _is_new),
    ("Of git: branches, index, settings, hooks, objects", _is_git),
    ("Your own settings of git", _is_settings),
)
"""Every change belongs to exactly one."""


def _tell(report: api.Report, baseline: api.Baseline) -> None:
    _list("Not done", _words(report.problems))
    _list("Worth knowing", _words(report.notes))
    moved = _files(report)
    print(f"Restored {len(report.restored)}, moved {len(moved)} to {baseline.quarantine}.")
    _list("To have commits back, before the files", _words(report.commits))
    if report.rescue_ref:
        print("To have back what was there before, your own edits during the session among it:")
        print(f"  sentinel-guard snapshots restore {report.rescue_ref} --all")
    if _stands_in_deleted_folder():
        print('Your shell stands in the folder that was deleted. Enter the one that came back: cd "$PWD"')
    alone = [(name, path) for name, path in moved if name not in report.rescued]
    _list("To have back what that does not hold", [_copy(name, path, baseline.root) for name, path in alone])


def _stands_in_deleted_folder() -> bool:
    try:
        return not Path.cwd()
    except FileNotFoundError:
        return True


def _files(report: api.Report) -> list[tuple[str, str]]:
    """Versions that were moved away, without git's own files: those make sense only together."""
    return [(name, path) for name, path in report.versions if ".git" not in name.split("/")]


def _copy(name: str, path: str, root: str) -> str:
    to = name if name.startswith("/") else f"{root}/{name}"
    return visible(f"cp -a -- {shlex.quote(path)} {shlex.quote(to)}")


def _list(title: str, rows: Sequence[str]) -> None:
    if rows:
        print(f"{title} ({len(rows)}):")
        print("\n".join(f"  {row}" for row in rows[:SHOWN]))
        if len(rows) > SHOWN:
            print(f"  ... and {len(rows) - SHOWN} more")


def _words(rows: Iterable[str]) -> list[str]:
    return [visible(row) for row in rows]


def _is_report(path: str) -> bool:
    return path.startswith(INCIDENTS)


def _baseline(places: StatePaths, cwd: Path, session: str) -> api.Baseline:
    folder = places.state / "sessions"
    if session:
        if "/" in session or not (folder / session / "baseline").is_dir():
            raise ConfigError(f"There is no session {session!r} with a baseline.", "sentinel-guard log shows them.")
        return api.load(folder / session / "baseline")
    known = _readable(sorted(folder.glob("*/baseline"), reverse=True))
    root = repository.top(str(cwd))
    if root is None:
        return _of_folder(known, os.path.realpath(cwd))
    if found := next((baseline for baseline in known if baseline.root == root), None):
        return found
    raise ConfigError("No session was recorded in this repository.", "Sessions begin with 'sentinel-guard run'.")


def _readable(folders: Iterable[Path]) -> Iterator[api.Baseline]:
    """One that cannot be read is no obstacle to the others; it may be another repository's."""
    for folder in folders:
        try:
            yield api.load(folder)
        except SentinelError as e:
            print(visible(f"Passed over: {e}"), file=sys.stderr)


def _of_folder(known: Iterable[api.Baseline], folder: str) -> api.Baseline:
    """The newest session of the repository that was here before its ``.git``, or all of it, was deleted or spoiled."""
    for baseline in known:
        whole = f"{os.path.realpath(baseline.root)}/"
        near = f"{folder}/".startswith(whole) or whole.startswith(f"{folder}/")
        if near and repository.top(baseline.root) != os.path.realpath(baseline.root):
            return baseline
    raise ConfigError(f"{folder} is not in a git work tree.", "cd into the repository, or name the session.")


def _is_later(path: str, ended: float, restricts: Callable[[str], bool]) -> bool:
    """Whether a restricted file was written after a session had ended (seconds of the epoch): it is the person's."""
    try:
        return restricts(path) and os.lstat(path).st_ctime > ended
    except OSError:
        return False


def _refuse_later(places: StatePaths, baseline: api.Baseline) -> None:
    """What the person has done since is not the session's: no question that is answered in passing undoes it."""
    ended = _ended(places, baseline.session)
    if ended and (made := branch_changes.later(baseline, ended)):
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(ended))
        more = "" if len(made) == 1 else f" and {len(made) - 1} more"
        raise SentinelError(
            visible(f"Work was committed after session {baseline.session} ended at {when}: {made[0]}{more}."),
            "Going back would take that from its branch, too (it would stay under refs/sentinel/). If that is what "
            f"you want: sentinel-guard rollback {baseline.session} --later-too",
        )


def _ended(places: StatePaths, session: str) -> float:
    """When a session was over, seconds of the epoch; 0 where nothing is on record. Raises StoreError."""
    if not places.database.exists():
        return 0.0
    return max((e.at for e in SqliteReader(places.database).entries(session=session, kinds=ENDS, last=1)), default=0.0)


def _refuse_while_live(places: StatePaths, root: str) -> None:
    try:
        with Operator(places, start=False) as operator:
            live = [s for s in operator.request("status")["sessions"] if s["root"] == root and s["state"] != "KILLED"]
    except NoDaemonError:
        return
    if live:
        raise SentinelError(f"Session {live[0]['session']} is working here.", "End its agent first.")
