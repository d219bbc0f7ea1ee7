"""What a push would do at its remote: where it goes, the commits that are lost there for others, those that come.

Rules of this file:
1. The remote is not asked: that would run programs that the repository names, and wait for a network. What it has is
   taken from the remote-tracking branch, and the lines say when that was fetched.
2. What cannot be told is said to be unknown, never left out.
3. A remote-tracking branch is a file that whoever works here can set. One that is not as at the session's start is
   no proof of what the remote has: of both states it is told what would be lost, and nothing is called harmless.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sentinel_guard.core.model import Command
from sentinel_guard.core.text.redact_by_pattern import redact
from sentinel_guard.errors import HostError
from sentinel_guard.host.git.repository import commit
from sentinel_guard.host.git.run_git import Git
from sentinel_guard.host.previews.preview import NAMED, Preview, age, counted, cut

REFS = 4
"""Branches of one push that are looked at."""
LOG = 200
"""Commits that the details list."""
DIFF_LINES = 5000
"""Lines of a diff beyond which the details say how to read it instead."""
_ALL = ("--mirror", "--all", "--branches")
_HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Start:
    """A repository as the session found it."""

    at: float
    """Seconds of the epoch."""
    refs: Mapping[str, str]
    """Whole names and hashes; empty where they are not known: then every one counts as moved."""


@dataclass(frozen=True, slots=True)
class _Target:
    """One reference of a push."""

    new: str
    """The commit that is pushed; empty: the reference is deleted."""
    source: str
    ref: str
    """At the remote, whole: ``refs/heads/main``."""
    tracking: str
    """The reference that says what the remote had; empty for none."""
    old: str
    """The commit that it had, as far as it is known."""
    moved: bool = False
    """Whether that is another than at the session's start."""
    before: str = ""
    """What it was then, where it was moved; empty for none."""


def push_preview(git: Git, command: Command, now: float, start: Start | None = None) -> Preview:
    """Of ``git push`` as ``command`` says it; ``start``: None where no session works here. Raises HostError."""
    remote, refspecs = _destination(git, command)
    name = _named_remote(git, remote)
    url = _url(git, remote)
    said = Preview(
        (f"to {url}" + (f" ({remote})" if name == remote else ""),), bound=(url,), subjects=(git.work_tree, url)
    )
    if not command.flags.isdisjoint(_ALL):
        said += Preview((f"{'every reference' if '--mirror' in command.flags else 'every branch'} of this repository",))
        if "--mirror" in command.flags:
            said += Preview(("LOST there: each branch and tag that this repository has not",))
    if "--tags" in command.flags:
        said += Preview(("every tag of this repository, too; which of them the remote has is not known",))
    targets = list(_targets(git, name, refspecs, start, delete=not command.flags.isdisjoint(("-d", "--delete"))))
    fates = [_fate(git, target, now, start) for target in targets[:REFS]]
    for target, fate in zip(targets, fates, strict=False):
        bound = f"{target.ref} {target.old} {target.new}"
        said += fate + Preview(bound=(bound,), subjects=(target.ref,))
    if len(targets) > REFS:
        said += Preview((f"and {counted(len(targets) - REFS, 'more reference')} that were not looked at",))
    seen = command.flags.isdisjoint((*_ALL, "--tags")) and 0 < len(targets) <= REFS
    return replace(said, rewrites=not seen or any(fate.rewrites for fate in fates))


def _destination(git: Git, command: Command) -> tuple[str, list[str]]:
    """The remote as it is called, and what is pushed there."""
    branch = _short(git.text("symbolic-ref", "--quiet", "HEAD", ok=(0, 1)))
    keys = (f"branch.{branch}.pushRemote", "remote.pushDefault", f"branch.{branch}.remote")
    given = command.operands
    remote = given[0] if given else next(filter(None, (_config(git, key) for key in keys)), "origin")
    refspecs = [*given[1:]]
    if not command.flags.isdisjoint(_ALL):
        refspecs = git.text("for-each-ref", "--format=%(refname)", _HEADS).split()
    elif not refspecs:
        refspecs = _config(git, f"remote.{remote}.push").split() or [_by_default(git, branch)]
    return remote, [refspec for refspec in refspecs if refspec]


def _by_default(git: Git, branch: str) -> str:
    """What a push without refspecs pushes: the current branch, to its upstream where ``push.default`` says so."""
    upstream = _config(git, f"branch.{branch}.merge")
    follows = _config(git, "push.default") in ("upstream", "tracking") and upstream
    return f"{branch}:{upstream}" if follows else branch


def _targets(git: Git, remote: str, refspecs: Sequence[str], start: Start | None, *, delete: bool) -> Iterator[_Target]:
    for refspec in refspecs:
        source, colon, ref = refspec.removeprefix("+").partition(":")
        if delete:
            source, colon, ref = "", ":", source
        ref = _full(git, ref or source if colon else source)
        tracking = f"refs/remotes/{remote}/{_short(ref)}" if remote and ref.startswith(_HEADS) else ""
        old = commit(git, tracking) if tracking else ""
        before = start.refs.get(tracking, "") if start else old
        moved = bool(tracking) and before != old
        yield _Target(commit(git, source) if source else "", source, ref, tracking, old, moved, before if moved else "")


def _full(git: Git, name: str) -> str:
    """A reference's whole name at the remote, as git would find it: HEAD is the current branch."""
    if name in ("HEAD", "@"):
        name = git.text("symbolic-ref", "--quiet", "HEAD", ok=(0, 1)) or name
    if name.startswith("refs/"):
        return name
    tag = not commit(git, f"{_HEADS}{name}") and commit(git, f"refs/tags/{name}")
    return f"refs/tags/{name}" if tag else f"{_HEADS}{name}"


def _fate(git: Git, target: _Target, now: float, start: Start | None) -> Preview:
    """What becomes of one reference of the remote."""
    ref = _short(target.ref)
    if target.source and not target.new:
        return Preview((f"{ref}: {target.source} is no commit here, what it would do is not known",))
    if target.moved:
        return _fate_of_moved(git, target)
    if not target.old:
        what = "deleted" if not target.new else "set to " + target.new[:10]
        return Preview((f"{ref}: {what}; what the remote has there was never fetched, and is not known",))
    seen = f"{_short(target.tracking)} as {_fetched(git, target.tracking, now, start)}"
    if target.old == target.new:
        return Preview((f"{ref}: nothing changes against {seen}",), rewrites=False)
    lost = _commits(git, target.old, target.new)
    added = _commits(git, target.new, target.old) if target.new else []
    if not target.new:
        only = _only_there(git, target)
        held = f"{counted(len(only), 'commit')} that no other reference here has" if only else "no commit of its own"
        return Preview((f"{ref}: deleted; {seen} holds {held}", *_first(only)), _log("deleted", only))
    if not lost:
        head = f"{ref}: loses nothing, a fast-forward of {seen}; no rewrite. Adds {counted(len(added), 'commit')}"
        lines = (head, *_first(added))
    else:
        head = f"{ref}: LOST for others: {counted(len(lost), 'commit')} of {seen}"
        lines = (head, *_first(lost), f"adds {counted(len(added), 'commit')}", *_first(added))
    details = (_log(f"LOST from {ref}", lost), _log(f"added to {ref}", added), _diff(git, target))
    return Preview(lines, "\n\n".join(filter(None, details)), rewrites=bool(lost))


def _fate_of_moved(git: Git, target: _Target) -> Preview:
    """What becomes of a reference whose remote-tracking branch was set since the session began."""
    ref, way = _short(target.ref), f"{target.before[:10] or 'nothing'} to {target.old[:10] or 'nothing'}"
    head = f"{ref}: {_short(target.tracking)} was moved in this session ({way}), by a fetch, a push or by hand:"
    had = [found for h in (target.before, target.old) if h and (found := commit(git, h))]
    gone = ("what it was at the start is not here any more",) if target.before and target.before not in had else ()
    lines = (head, "what the remote has is not known for sure", *gone)
    but = ["--not", target.new] if target.new else ["--not", f"--exclude={target.tracking}", "--all"]
    lost = _rows(git, *had, *but) if had else []
    if lost:
        lines += (f"LOST for others, of what it was and is: {counted(len(lost), 'commit')}", *_first(lost))
    elif had:
        lines += (f"of what it was and is nothing would be {'lost' if target.new else 'lost that is not held here'}",)
    added = _rows(git, target.new, "--not", *had) if target.new and had else []
    if added:
        lines += (f"adds {counted(len(added), 'commit')}", *_first(added))
    details = (_log(f"LOST from {ref}", lost), _log(f"added to {ref}", added))
    return Preview(lines, "\n\n".join(filter(None, details)), bound=(f"{target.ref} before {target.before}",))


def _only_there(git: Git, target: _Target) -> list[str]:
    """The commits of a remote's reference that nothing else here holds."""
    return _rows(git, target.old, "--not", f"--exclude={target.tracking}", "--all")


def _commits(git: Git, wanted: str, but: str) -> list[str]:
    """The commits of one that the other has not; of one alone the newest."""
    if not wanted:
        return []
    return _rows(git, wanted, *(["--not", but] if but else [f"--max-count={LOG}"]))


def _rows(git: Git, *which: str) -> list[str]:
    """``ID subject (author, date)``, newest first."""
    words = ("--no-show-signature", "--no-color", "--no-decorate", "--format=%h %s (%an, %cs)")
    return git.text("log", *words, *which, "--").splitlines()


def _first(rows: Sequence[str]) -> tuple[str, ...]:
    more = (f"  … {len(rows) - NAMED:,} more",) if len(rows) > NAMED else ()
    return (*(f"  {row}" for row in rows[:NAMED]), *more)


def _log(head: str, rows: Sequence[str]) -> str:
    more = [f"  … {len(rows) - LOG:,} more"] if len(rows) > LOG else []
    return (
        "\n".join((f"{counted(len(rows), 'commit')} {head}:", *(f"  {r}" for r in rows[:LOG]), *more)) if rows else ""
    )


def _diff(git: Git, target: _Target) -> str:
    """The remote's files before and after."""
    flags = ("--no-color", "--no-ext-diff", "--no-textconv", "--no-renames")
    rows = git.text("diff", *flags, "--numstat", target.old, target.new, "--").splitlines()
    count = sum(int(n) for row in rows for n in row.split("\t")[:2] if n.isdecimal())
    if count > DIFF_LINES:
        return f"{counted(len(rows), 'file')}, {counted(count, 'line')}: git diff {target.old[:10]} {target.new[:10]}"
    return cut(git.text("diff", *flags, "--stat", "--patch", target.old, target.new, "--"))


def _fetched(git: Git, tracking: str, now: float, start: Start | None) -> str:
    """``last fetched 3 h ago``, or that nobody knows. What was fetched in a session may have been taken back since."""
    common = git.text("rev-parse", "--git-common-dir")
    places = [Path(git.work_tree, common, name) for name in ("FETCH_HEAD", f"logs/{tracking}")]
    found = [place.stat() for place in places if place.exists()]
    # Times of change, which nobody can set, say whether it was in the session.
    if start and any(one.st_ctime > start.at for one in found):
        return f"when the session began, {age(now - start.at)} ago"
    return (
        f"last fetched {age(now - max(one.st_mtime for one in found))} ago"
        if found
        else "last fetched, nobody knows when"
    )


def _named_remote(git: Git, remote: str) -> str:
    """The remote that is meant by its name or by its address; empty for an address that has no name."""
    rows = git.text("config", "--get-regexp", r"^remote\..*\.url$", ok=(0, 1)).splitlines()
    urls = {key.removeprefix("remote.").removesuffix(".url"): url for key, _, url in (r.partition(" ") for r in rows)}
    return remote if remote in urls else next((name for name, url in urls.items() if url == remote), "")


def _url(git: Git, remote: str) -> str:
    """Where it goes, after what the settings put in its place; without a password."""
    try:
        found = git.text("remote", "get-url", "--push", "--all", remote)
    except HostError:
        found = git.text("ls-remote", "--get-url", remote)
    return redact(" and ".join(found.splitlines()))


def _config(git: Git, key: str) -> str:
    return git.text("config", "--get-all", key, ok=(0, 1))


def _short(ref: str) -> str:
    return ref.removeprefix(_HEADS).removeprefix("refs/remotes/").removeprefix("refs/")
