"""Git subcommands that change refs or history: push, branch, tag, rebase, reflog, gc, remote."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.programs.git import own_clones
from sentinel_guard.core.analysis.programs.git.git_config_files import common_dir, given, own, read, top
from sentinel_guard.core.analysis.programs.git.git_settings_changes import setting
from sentinel_guard.core.analysis.programs.git.git_worktree import (
    message_file_reads,
    passes_hooks,
    rewrite,
    show,
    value_set_here,
)
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_YES = ("true", "1", "yes", "on")
_SNAPSHOTS = "refs/sentinel/"
"""Refs under which the guard keeps what people have not committed."""
_NOW = re.compile(r"now|all|0|\d+\.(?:second|minute)s?\.ago")


def push(call: Call) -> Effects:
    yield from passes_hooks(call)
    yield from _commands(call, "--receive-pack", "--exec")
    remote = call.operands[0].text if call.operands else "origin"
    refs = [item.text for item in call.operands[1:]] or _configured(call, remote)
    how = set()
    if call.has("-f", "--force", "--mirror", "--prune") or any(r.startswith("+") for r in refs):
        how.add("force")
    if call.has("-d", "--delete", "--mirror", "--prune") or any(
        r.lstrip("+").startswith(":") and len(r) > 1 for r in refs
    ):
        how.add("delete")
    if "force" not in how and any(map(_takes_snapshots, refs)):
        how.add("snapshots")
    if call.command.subcommand != "push":
        how.add("unwatched")
    if f"remote {remote}" in call.world.own or _is_stranger(call, remote):
        how.add("new")
    yield from _transport(call, remote)
    if any(_MERGES.search(item.text) for item in call.parsed.values("-o", "--push-option")):
        yield call.effect(Kind.DEPLOY, f"{remote}: merged when pushed")
    if not call.has("-n", "--dry-run"):
        yield call.effect(Kind.PUBLISH, remote, *sorted(how))
    yield call.effect(Kind.NETWORK, remote, "data")


_MERGES = re.compile(r"merge_when_pipeline_succeeds|auto_merge|merge_request\.merge|topic=.*submit|%submit")
"""Push options by which a forge merges without another look."""


def _is_stranger(call: Call, remote: str) -> bool:
    """Whether it is an address, and none of those that the repository's settings name."""
    if "://" not in remote and not re.match(r"[\w.-]+@[\w.-]+:", remote):
        return False
    settings = call.world.read(f"{call.world.root or call.cwd}/.git/config") or ""
    return remote.startswith("file:") is False and remote.removesuffix(".git") not in settings


def _takes_snapshots(refspec: str) -> bool:
    source = refspec.lstrip("+").partition(":")[0]
    head, star, _ = source.partition("*")
    return source.startswith((_SNAPSHOTS, "sentinel/rescue/")) or (bool(star) and _SNAPSHOTS.startswith(head))


def _configured(call: Call, remote: str) -> list[str]:
    """What a push without refspecs pushes, by the settings of its remote."""
    path = own(call)
    said = (*(read(call, path) if path else ()), *call.world.settings.items(), *given(call))
    settings = [(key.lower(), value) for key, value in said]
    mirrors = any(key == f"remote.{remote.lower()}.mirror" and value.lower() in _YES for key, value in settings)
    pushed = [value for key, value in settings if key == f"remote.{remote.lower()}.push"]
    return [*pushed, "+refs/*"] if mirrors else pushed


def _commands(call: Call, *names: str) -> Effects:
    """Options whose value is run: here, where the other repository lies here too."""
    for item in call.parsed.values(*names):
        yield from call.runner.script(item.text if item.known else UNKNOWN, call, f"git {call.command.subcommand}")


def _transport(call: Call, url: str) -> Effects:
    """``ext::COMMAND`` is a remote that is a command."""
    if url.startswith("ext::"):
        yield call.opaque(url, "code")
        yield from call.runner.script(url[5:].replace("% ", "\\ "), call, "git ext")


def fetch(call: Call) -> Effects:
    remote = call.operands[0].text if call.operands else "origin"
    yield from _commands(call, "--upload-pack", "-u", "--exec")
    yield from _transport(call, remote)
    yield call.effect(Kind.NETWORK, remote)
    for item in call.operands[1:]:
        source, _, target = item.text.partition(":")
        if target and (source.startswith("+") or call.has("-f", "--force")):
            yield from _moved(call, target)


def archive(call: Call) -> Effects:
    yield from show(call)
    yield from _commands(call, "--exec")


def helper(call: Call) -> Effects:
    """``git remote-ext NAME COMMAND``: what fetching from ``ext::COMMAND`` starts."""
    for item in call.operands[1:2]:
        yield from _transport(call, f"ext::{item.text if item.known else UNKNOWN}")


def _moved(call: Call, name: str) -> Effects:
    """A branch or tag of this repository is set elsewhere; what only mirrors a remote's is fetched again."""
    if name.startswith(("refs/heads/", "refs/tags/")) or not name.startswith("refs/"):
        yield rewrite(call, _ref(name) if name.startswith("refs/") else f"branch {name}", "move", "force")


def clone(call: Call) -> Effects:
    yield from _commands(call, "-u", "--upload-pack")
    source = call.operands[0].text if call.operands else ""
    yield from _transport(call, source)
    yield call.effect(Kind.NETWORK, source.removeprefix("file://") or "origin")
    yield from created(call)
    own_clones.note(call)
    for item in call.operands[1:2]:
        yield from call.write(item, "append")
        if item.known:
            call.world.folder(call.locate(item))


def created(call: Call) -> Effects:
    """What a new repository is given: settings, and a template's hooks."""
    for item in call.parsed.values("-c", "--config"):
        key, _, value = item.text.partition("=")
        stays = key.lower() != "core.hookspath"  # which counts for the clone itself, as with git's own option
        yield from setting(call, key, value, *(("inplace",) if stays else ()))
    for item in call.parsed.values("--template"):
        if item.text:
            yield rewrite(call, "config init.templatedir")
    folder = call.parsed.value("--separate-git-dir")
    if folder is not None and call.world.kind(call.locate(".git")) == "dir":
        yield call.effect(Kind.DELETE, call.locate(".git"), "move", sure=False)


def pull(call: Call) -> Effects:
    yield from fetch(call)
    if call.has("-r", "--rebase"):
        yield rewrite(call, "history")


def branch(call: Call) -> Effects:
    if call.has("-D", "-d", "--delete"):
        if not call.has("-r", "--remotes"):
            how = ("force",) if call.has("-D", "-f", "--force") else ()
            for item in call.operands:
                yield rewrite(call, f"branch {item.text}", *how)
    elif "-C" in call.parsed.flags and len(call.operands) > 1:
        yield rewrite(call, f"branch {call.operands[1].text}", "move", "force")
    elif call.operands and call.has("-m", "-M", "--move"):
        yield from _renamed(call)
    elif call.operands and call.has("-f", "--force"):
        yield rewrite(call, f"branch {call.operands[0].text}", "move", "force")


def _renamed(call: Call) -> Effects:
    """A branch of the new name is lost where there is one."""
    name = call.operands[-1]
    if len(call.operands) > 1:
        yield rewrite(call, f"branch {call.operands[0].text}", "move")
    if call.has("-f", "--force", "-M") and not (name.known and _is_unused(call, name.text)):
        yield rewrite(call, f"branch {name.text}", "move", "force")
    elif len(call.operands) == 1:
        yield rewrite(call, f"branch {name.text}", "move")


def _is_unused(call: Call, name: str) -> bool:
    """Whether it is proved that no other branch has that name: it is nowhere, or the one that is checked out."""
    git, world = common_dir(call), call.world
    # ``@{-1}`` is the name of the branch before.
    if git is None or "@{" in name or world.kind(f"{git}/HEAD") != "file" or world.kind(f"{git}/reftable"):
        return False
    alone = len(call.operands) == 1 and git == f"{(top(call) or '').rstrip('/')}/.git"
    if alone and (world.read(f"{git}/HEAD") or "").strip() == f"ref: refs/heads/{name}":
        return True
    packed = world.read(f"{git}/packed-refs") if world.kind(f"{git}/packed-refs") else ""
    return packed is not None and f" refs/heads/{name}\n" not in packed and not world.kind(f"{git}/refs/heads/{name}")


def init(call: Call) -> Effects:
    yield from created(call)
    folder = call.locate(call.operands[0]) if call.operands and call.operands[0].known else call.cwd
    git = f"{folder.rstrip('/')}/.git"
    if call.here and not call.operands[1:] and not call.has("--bare") and not call.world.kind(git):
        call.world.folder(git)
        call.world.write(f"{git}/HEAD", "")


def tag(call: Call) -> Effects:
    yield from message_file_reads(call)
    if call.has("-d", "--delete", "-f", "--force"):
        for item in call.operands if call.has("-d", "--delete") else call.operands[:1]:
            yield rewrite(call, f"tag {item.text}", "force")


def rebase(call: Call) -> Effects:
    yield from passes_hooks(call)
    if not call.has("--abort", "--quit", "--continue", "--skip", "--edit-todo", "--show-current-patch"):
        yield rewrite(call, "history", *(("force",) if call.has("--root") and call.has("-x", "--exec") else ()))
    elif call.has("--abort"):
        yield rewrite(call, "worktree")
    if call.has("-i", "--interactive", "--edit-todo") and _LEAVES_OUT.search(_sequence_editor(call)):
        yield rewrite(call, "branch HEAD", "force")
    yield from _commands(call, "-x", "--exec")


_LEAVES_OUT = re.compile(
    r"\bdrop\b|(?:^|[\d$/}!\s'\"])d(?=['\";}\s]|$)|(?<=[/|#,])d[ /|#,]|\bgrep\s+-\w*v|\bprint\b[^;]*\b(?:if|unless)\b"
)
"""In an editor of the list of commits: some of them are left out (``drop``; ``d`` of sed and of git-rebase(1))."""


def _variable(call: Call, name: str) -> str:
    value = call.scope.scalar(name)
    return "".join(value.items) if value.known else ""


def _sequence_editor(call: Call) -> str:
    """The command that edits the list of commits, and what stands in files of this text that it names."""
    command = (
        _variable(call, "GIT_SEQUENCE_EDITOR")
        or value_set_here(call, "sequence.editor")
        or _variable(call, "GIT_EDITOR")
        or value_set_here(call, "core.editor")
    )
    made = call.world.made()
    named = (call.locate(word.strip("'\"")) for word in command.split() if "/" in word) if made else ()
    return "\n".join((command, *(call.world.read(path) or "" for path in named if path in made)))


def merge(call: Call) -> Effects:
    """merge, cherry-pick, revert: what stood in the files before is back after ``--abort``, and their work is lost."""
    yield from passes_hooks(call)
    yield from message_file_reads(call)
    if call.has("--abort"):
        yield rewrite(call, "worktree")


def filter_branch(call: Call) -> Effects:
    if call.command.subcommand == "filter-repo" and call.has("--dry-run", "--analyze"):
        return
    yield rewrite(call, "history", "force")
    for name, values in call.parsed.flags.items():
        if name.endswith("-filter"):
            for item in values:
                yield from call.runner.script(item.text, call, "git filter-branch")


def reflog(call: Call) -> Effects:
    if not call.operands or call.operands[0].text not in ("expire", "delete") or call.has("-n", "--dry-run"):
        return
    named, git = call.operands[1:], common_dir(call)
    logs = [f"{git}/logs/{item.text}" for item in named if git and item.known and item.text.startswith("refs/heads/")]
    lost = rewrite(call, "reflog", "force")
    if logs and len(logs) == len(named) and not call.has("--all"):
        yield from (replace(lost, file=log) for log in logs)  # a branch that the session made has a log of its own
    else:
        yield lost


def gc(call: Call) -> Effects:
    value = call.parsed.value("--prune")
    said = value.text if value else value_set_here(call, "gc.pruneexpire")
    if _NOW.fullmatch(said) and not call.has("--no-prune"):
        yield rewrite(call, "objects", "force")


def prune(call: Call) -> Effects:
    if not call.has("-n", "--dry-run"):
        yield rewrite(call, "objects")


def update_ref(call: Call) -> Effects:
    for item in call.operands[:1]:
        target = _ref(item.text)
        if call.has("-d", "--delete"):
            yield rewrite(call, target, "force")
        else:
            yield rewrite(call, target, "move", *(("force",) if target.startswith("branch ") else ()))
    if call.has("--stdin"):
        yield rewrite(call, "ref *", "force")


def _ref(name: str) -> str:
    for start, kind in (("refs/heads/", "branch"), ("refs/tags/", "tag")):
        if name.startswith(start):
            return f"{kind} {name[len(start) :]}"
    return "branch HEAD" if name == "HEAD" else f"ref {name}"


def symbolic_ref(call: Call) -> Effects:
    name = call.operands[0].text if call.operands else "HEAD"
    if call.has("-d", "--delete"):
        yield rewrite(call, f"ref {name}", "force")
    elif len(call.operands) > 1:
        yield rewrite(call, _ref(name), "move")


def fast_import(call: Call) -> Effects:
    if call.has("--force"):
        yield rewrite(call, "ref *", "force")


def bisect(call: Call) -> Effects:
    if call.operands and call.operands[0].text == "run":
        at = [item.text for item in call.fields].index("run")
        yield from call.runner.run(call.fields[at + 1 :], call, "git bisect")


def remote(call: Call) -> Effects:
    items = [item.text for item in call.operands]
    if len(items) > 1 and items[0] in ("remove", "rm", "set-url", "rename", "add"):
        yield rewrite(call, f"config remote.{items[1].lower()}.url")
        for url in items[2:]:
            yield from _transport(call, url)
            if items[0] in ("add", "set-url") and ("://" in url or "@" in url):
                call.world.own.add(f"remote {items[1]}")


def extension(call: Call) -> Effects:
    """git-lfs and git-annex: what they rewrite or drop."""
    verb = call.operands[0].text if call.operands else ""
    if verb == "migrate" and not (call.operands[1:] and call.operands[1].text == "info"):
        yield rewrite(call, "history", "force")
    elif verb in ("drop", "dropunused") and call.has("--force"):
        yield rewrite(call, "objects", "force")


def send_email(call: Call) -> Iterator[Effect]:
    for item in call.operands:
        yield from call.read(item)
    if not call.has("--dry-run"):
        yield call.effect(Kind.PUBLISH, "email")
        yield call.effect(Kind.NETWORK, "email", "data")


SUBCOMMANDS: dict[str, Callable[[Call], Effects]] = {
    "push": push, "send-pack": push, "http-push": push, "fetch-pack": fetch, "notes": message_file_reads,
    "commit-tree": message_file_reads,
    "fetch": fetch, "ls-remote": fetch, "pull": pull, "clone": clone,
    "init": init, "init-db": init, "branch": branch, "tag": tag, "rebase": rebase, "merge": merge,
    "cherry-pick": merge, "revert": merge, "filter-branch": filter_branch, "filter-repo": filter_branch,
    "reflog": reflog, "gc": gc, "prune": prune, "update-ref": update_ref, "symbolic-ref": symbolic_ref,
    "fast-import": fast_import, "bisect": bisect, "remote": remote, "send-email": send_email, "imap-send": send_email,
    "lfs": extension, "annex": extension, "archive": archive, "remote-ext": helper,
}  # fmt: skip
