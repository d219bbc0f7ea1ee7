"""What a rollback did, in words: for the incident report, and for the person whose session was ended.

Rules of this file:
1. No two lines contradict each other: what did not happen is not said, and each state has one sentence.
2. Each version of a file or commit that left its place is named with the command that brings it back.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.text.markdown_escape import block, line

VERIFIED = {False: "verified", True: "verified, but for what had not been kept when the session began (see below)"}
LISTED = 20
"""Files of a list that are named one by one."""
ON_TERMINAL = 4
"""As many commands of a kind stand on the person's terminal."""
ALL = "sentinel-guard snapshots restore {} --all"


@dataclass(frozen=True, slots=True)
class RollbackSummary:
    """What a rollback did."""

    ok: bool
    start: str
    """The commit that it went back to; empty for an unborn branch."""
    reset: bool
    """True where ``git reset --hard`` itself was run."""
    back: tuple[str, ...] = ()
    """What was put back."""
    gone: tuple[str, ...] = ()
    """What was removed, as it was not there at the start."""
    kept: tuple[tuple[str, str], ...] = ()
    """Where each of the agent's versions is kept, and where it belongs; empty where it belongs nowhere."""
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unkept: bool = False
    """True where not all of the start had been kept; the notes say what."""
    commits: tuple[str, ...] = ()
    """Commands that bring back the commits that left their branches."""
    only_aside: tuple[tuple[str, str], ...] = ()
    """What the rescue snapshot does not hold: its name, and where it is kept."""
    running: tuple[int, ...] = ()
    """Processes of the session that could not be ended."""

    @property
    def changed(self) -> bool:
        return bool(self.back or self.gone or self.kept or self.commits)


def impact(done: RollbackSummary | None) -> list[str]:
    """Sentences for a report; None: nothing was ended, and nothing rolled back."""
    if done is None:
        return ["The session was paused; nothing was rolled back."]
    said = [_ended(done.running)]
    if done.ok and done.changed:
        way = "by `git reset --hard` and the person's own state on top" if done.reset else "path by path"
        said.append(f"The repository was put back to {_start(done)} {way}, and {VERIFIED[done.unkept]}.")
    elif done.ok:
        said.append(f"The repository was as at the session's start ({_start(done)}): nothing had to be put back.")
    said += _listed("Put back as it was", done.back)
    said += _listed("Removed, as it was not there at the start", done.gone)
    return [*said, *done.problems, *done.notes]


def _start(done: RollbackSummary) -> str:
    return done.start or "its unborn branch"


def _ended(running: Sequence[int]) -> str:
    if running:
        return f"These processes of the session could not be ended: {', '.join(map(str, sorted(running)))}."
    return "Every process of the session was ended."


def _listed(label: str, names: Sequence[str]) -> list[str]:
    more = len(names) - LISTED
    return [*(f"{label}: {n}" for n in names[:LISTED]), *([f"{label}: {more} more"] if more > 0 else [])]


def recovery(done: RollbackSummary | None, rescue: str, session: str, root: str) -> list[str]:
    """Markdown: where the agent's work is, and the commands that bring it back. ``rescue``: the snapshot's ref."""
    if rescue:
        ref = line(rescue)
        said = [
            f"The agent's work is kept in `{ref}`.",
            "",
            f"- look at it: `sentinel-guard snapshots show {ref}`",
            f"- compare it with the files of now: `sentinel-guard snapshots diff {ref}`",
            f"- take files back: `sentinel-guard snapshots restore {ref} PATH`, or `--all`",
            f"- take all of it to a branch: `git branch rescued {ref}`",
        ]
    else:
        said = [_without_rescue(done)]
    if done is None or not (done.ok or done.changed):
        said += [
            "",
            f"To put the repository back to where the session began: `sentinel-guard rollback {line(session)}`.",
        ]
    return said + _commits(done) + _quarantine(done, root)


def _without_rescue(done: RollbackSummary | None) -> str:
    if done is None:
        return "No rescue snapshot was taken: the files are as the agent left them."
    if not (done.ok or done.changed):
        return "No rescue snapshot was taken."
    if done.changed:
        return "No rescue snapshot could be taken: the agent's versions are those that the rollback moved aside."
    return "There was nothing to keep: no file differed from the session's start."


def _commits(done: RollbackSummary | None) -> list[str]:
    if done is None or not done.commits:
        return []
    text = visible("\n".join(done.commits[:LISTED]), keep="\n")
    return ["", "Commits that left their branches, and the command that brings each back:", "", block(text, "sh")]


def _quarantine(done: RollbackSummary | None, root: str) -> list[str]:
    """The agent's versions, each with the command that brings it back."""
    if done is None or not done.kept:
        return []
    commands = [_copy(at, to, root) if to else f"ls -l -- {shlex.quote(at)}" for at, to in done.kept[:LISTED]]
    more = len(done.kept) - LISTED
    rest = [f"{more} more lie in the same folder."] if more > 0 else []
    text = visible("\n".join(commands), keep="\n")
    return ["", "What the rollback moved aside, and the command that brings each back:", "", block(text, "sh"), *rest]


def _copy(at: str, name: str, root: str) -> str:
    to = name if name.startswith("/") else f"{root}/{name}"
    return f"cp -a -- {shlex.quote(at)} {shlex.quote(to)}"


def kill_notice(done: RollbackSummary, rescue: str, session: str, root: str) -> list[str]:
    """Lines for the person at the end of a killed session: where the repository is, and how its work comes back."""
    said = [_ended(done.running)] if done.running else []
    if not root:
        return said
    if not done.ok:
        said += [*done.problems[:ON_TERMINAL], *([] if done.changed else done.notes[:ON_TERMINAL])]
        if not done.changed:
            return [*said, f"To put the repository back to where the session began: sentinel-guard rollback {session}"]
    elif not done.changed:
        return [*said, f"The repository is as at the session's start ({_short(done)}): nothing had to be put back."]
    else:
        said.append(f"The repository is back at {_short(done)}, with your own work as it was at the session's start.")
    if rescue:
        said.append(
            "What has changed since then, by you too, stands aside. To look at it, and to bring the files back:"
        )
        said += [f"  sentinel-guard snapshots diff {rescue}", f"  {ALL.format(rescue)}"]
    said += _some("Commits that left their branches come back by (before the files):", done.commits)
    copies = [_copy(at, name, root) for name, at in done.only_aside]
    return said + _some("Files that the snapshot does not hold:", copies)


def _short(done: RollbackSummary) -> str:
    return done.start[:12] or "its unborn branch"


def _some(title: str, commands: Sequence[str]) -> list[str]:
    more = len(commands) - ON_TERMINAL
    rest = [f"  … {more} more stand in the incident report"] if more > 0 else []
    return [title, *(f"  {c}" for c in commands[:ON_TERMINAL]), *rest] if commands else []
