"""``sentinel-guard snapshots``: list rescue snapshots, show and restore files that an agent's commands destroyed."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from sentinel_guard.commands import require_human
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.errors import ConfigError, SentinelError
from sentinel_guard.host.git import repository
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.policy_files import Policies
from sentinel_guard.host.recovery.baseline.gitdir_backup import Change
from sentinel_guard.host.recovery.snapshots.restore_from_snapshot import Plan, Restored, SnapshotRestore
from sentinel_guard.host.recovery.snapshots.snapshot_store import (
    Snapshot,
    baseline_folder,
    drop,
    find_snapshot,
    list_snapshots,
    moved_refs,
    stat,
)
from sentinel_guard.humans.styled_text import Printer, Styled
from sentinel_guard.humans.text_tables import Column, table

SHOWN = 40
"""Files that are listed before a question."""
COLOURS = {"+": "green", "-": "red", "@": "cyan"}
Confirm = Callable[[str], bool] | None
"""Asks a person; None: do not ask."""


def show_all(places: StatePaths, cwd: Path, *, as_json: bool) -> int:
    """Print a line a snapshot, the newest first. Raises HostError."""
    del places
    found = list_snapshots(_root(cwd))
    if as_json:
        print(json.dumps({"snapshots": [_data(s) for s in found]}))
    elif not found:
        print("There is no snapshot here. One is taken before an agent's command that destroys what git can keep.")
    elif sys.stdout.isatty():
        printer = Printer()
        printer.lines(_table(found, printer.width))
    else:
        for s in found:
            print("\t".join((s.id, _when(s.taken), visible(s.session), _files(s), visible(s.words))))
    return 0


def show(places: StatePaths, cwd: Path, ident: str, *, as_json: bool) -> int:
    """Print what one snapshot is, and what it holds besides HEAD. Raises ConfigError, HostError."""
    root = _root(cwd)
    snapshot = find_snapshot(list_snapshots(root), ident)
    if as_json:
        print(json.dumps({"snapshots": [_data(snapshot) | {"lost": moved_refs(root, snapshot)}]}))
        return 0
    rows = {"snapshot": snapshot.id, "before": snapshot.words, "taken": _when(snapshot.taken)}
    rows |= {"session": snapshot.session, "ref": snapshot.ref, "commit": snapshot.commit}
    for key, value in rows.items():
        print(f"{key:<9} {visible(value)}")
    print()
    print(_plain(stat(root, snapshot).rstrip() or " All files as they were in HEAD."))
    _lists(places, root, snapshot)
    print(
        f"\nHave files back: sentinel-guard snapshots restore {snapshot.id} PATH...  (or --all; --dry-run shows only)"
    )
    return 0


def diff(places: StatePaths, cwd: Path, ident: str, paths: Sequence[str]) -> int:
    """Print how the snapshot's files differ from those of now (``+``: now). Raises ConfigError, HostError."""
    root = _root(cwd)
    snapshot = find_snapshot(list_snapshots(root), ident)
    if require_human.sessions():
        # Our own git would be judged as the agent's, and what the daemon's shows nobody would have judged.
        words = "From inside a guarded session git shows it: what it reads is judged as everything else is."
        named = "".join(f" {shlex.quote(path)}" for path in paths)
        raise SentinelError(words, f"git diff {snapshot.commit[:12]}{f' --{named}' if named else ''}")
    text = SnapshotRestore(places, root, snapshot).diff(_relative(root, cwd, paths))
    if not text:
        print("No difference: the files of the snapshot are there as they were.")
    elif not sys.stdout.isatty():
        print(_plain(text), end="" if text.endswith("\n") else "\n")
    else:
        printer = Printer()
        for line in _plain(text).splitlines():
            printer.whole((line, COLOURS.get(line[:1], "")))
    return 0


def restore(
    places: StatePaths,
    cwd: Path,
    ident: str,
    paths: Sequence[str],
    *,
    everything: bool,
    dry_run: bool,
    confirm: Confirm,
) -> int:
    """Bring files back, after showing what would be written over. Raises ConfigError, HostError, SentinelError."""
    if everything == bool(paths):
        raise ConfigError(
            "Say which files: PATH..., or --all.", f"See what is in it: sentinel-guard snapshots show {ident}"
        )
    root = _root(cwd)
    snapshot = find_snapshot(list_snapshots(root), ident)
    bringing = SnapshotRestore(places, root, snapshot)
    plan = bringing.plan(_relative(root, cwd, paths))
    policy = Policies(places).load(root)
    _refuse_restricted(plan, root, lambda path: policy.restricts(path, root))
    if not plan.changes:
        print("Nothing to do: these files are as they are in the snapshot.")
        return 0
    _print_changes(plan.changes)
    if dry_run:
        return 0
    if confirm and not confirm(f"Bring back {_number(len(plan.changes), 'file')} from snapshot {snapshot.id}?"):
        print("Nothing was changed.")
        return 1
    return _told(bringing.restore(plan, lambda path: bool(policy.restricts(path, root))))


def branch(places: StatePaths, cwd: Path, ident: str, name: str) -> int:
    """Make a branch again that the snapshot names. Raises ConfigError, HostError."""
    root = _root(cwd)
    tip = SnapshotRestore(places, root, find_snapshot(list_snapshots(root), ident)).branch(name)
    print(f"{visible(name)} is there again, at {tip[:12]}.")
    return 0


def forget(places: StatePaths, cwd: Path, idents: Sequence[str], *, everything: bool, confirm: Confirm) -> int:
    """Drop snapshots after a question. Raises ConfigError, HostError, SentinelError."""
    if everything == bool(idents):
        raise ConfigError("Say which snapshots: ID..., or --all.", "See them with: sentinel-guard snapshots list")
    require_human.require_human(places, None, "From inside a guarded session no snapshot is dropped.")
    root = _root(cwd)
    found = list_snapshots(root)
    gone = found if everything else list({s.ref: s for s in (find_snapshot(found, i) for i in idents)}.values())
    if not gone:
        print("There is no snapshot here.")
        return 0
    for s in gone[:SHOWN]:
        print(f"  {s.id}  {_when(s.taken)}  {visible(s.words)}")
    if len(gone) > SHOWN:
        print(f"  ... and {len(gone) - SHOWN} more")
    if confirm and not confirm(
        f"Drop {_number(len(gone), 'snapshot')}? What only they hold is lost with git's next gc."
    ):
        print("Nothing was changed.")
        return 1
    drop(places, root, gone)
    print(f"Dropped {_number(len(gone), 'snapshot')}.")
    return 0


def _root(cwd: Path) -> str:
    if top := repository.top(str(cwd)):
        return top
    raise ConfigError(f"{visible(str(cwd))} is not in a git work tree.", "cd into the repository.")


def _relative(root: str, cwd: Path, paths: Sequence[str]) -> list[str]:
    """Paths as a person names them from ``cwd`` -> relative to the top. Raises ConfigError for one outside."""
    found = []
    for path in paths:
        # What the path names may be gone, or a link: only its folder is resolved.
        joined = os.path.normpath(os.path.join(os.path.realpath(cwd), path))  # noqa: PTH118 - text with surrogates
        relative = os.path.relpath(joined, root)
        if relative.split("/")[0] in ("..", ".git"):
            raise ConfigError(f"{visible(path)} is not in the work tree {visible(root)}.")
        found.append(relative)
    return found


def _refuse_restricted(plan: Plan, root: str, restricts: Callable[[str], str]) -> None:
    """For an agent a restore is a write like any other."""
    if not require_human.sessions():
        return
    for change in plan.changes:
        if pattern := restricts(f"{root}/{change.path}"):
            words = f"403 SENTINEL BLOCKED: {visible(change.path)} is restricted (pattern {visible(pattern)})."
            raise SentinelError(words, "Restore other paths, or ask the user: sentinel-guard help-me 'what you need'.")


def _told(done: Restored) -> int:
    for problem in done.problems:
        print(f"  not done: {visible(problem)}")
    number = _number(len(done.names), "file")
    print(f"Brought back {number}. What was there before: sentinel-guard snapshots show {done.before.commit[:8]}")
    return 1 if done.problems else 0


def _print_changes(changes: Sequence[Change]) -> None:
    for change in changes[:SHOWN]:
        what = "create" if change.what == "deleted" else "overwrite"
        print(f"  {what:<9} {visible(change.path)}")
    if len(changes) > SHOWN:
        print(f"  ... and {len(changes) - SHOWN} more")


def _lists(places: StatePaths, root: str, snapshot: Snapshot) -> None:
    held = "in the session's vault" if baseline_folder(places, root, snapshot) else "GONE with the session's folder"
    gone = [f"{name.split('/', 2)[2]} (was at {tip[:12]})" for name, tip in moved_refs(root, snapshot).items()]
    for title, names in (
        (f"Restricted files, {held}:", snapshot.private),
        ("Left out (too large, too many, or repositories of their own):", snapshot.left_out),
        (f"Branches and tags that moved or are gone (restore {snapshot.id} --branch NAME):", gone),
    ):
        if names:
            print(f"\n{title}", *(f"  {visible(n)}" for n in names), sep="\n")


def _table(found: list[Snapshot], width: int) -> Iterator[Styled]:
    about = [*map(Column, ("id", "taken", "session")), Column("changed", right=True), Column("before", folds=True)]
    rows = [(s.id, _when(s.taken), visible(s.session), _files(s), visible(s.words)) for s in found]
    return table(about, rows, width, gap=2)


def _data(s: Snapshot) -> dict[str, object]:
    return {
        "id": s.id,
        "commit": s.commit,
        "ref": s.ref,
        "taken": s.taken,
        "session": s.session,
        "call": s.call,
        "before": s.words,
        "files": s.count,
        "left_out": s.left_out,
        "private": s.private,
    }


def _files(s: Snapshot) -> str:
    return "-" if s.count is None else str(s.count)


def _when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))


def _plain(text: str) -> str:
    return "\n".join(visible(line.expandtabs()) for line in text.split("\n"))


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
