"""Git subcommands on files: worktree, index, stash, patches, and what is read out of the history."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.files import file_commands
from sentinel_guard.core.analysis.programs.git import git_stash, history_edits, own_clones
from sentinel_guard.core.analysis.programs.git.git_config_files import given, top
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

MAX_LISTED = 500
"""Paths of a ``--pathspec-from-file`` that are looked at."""
_GLOB = frozenset("*?[")
_SWITCHES = {
    "HUSKY": ("0",), "LEFTHOOK": ("0", "false"),
    **dict.fromkeys(("HUSKY_SKIP_HOOKS", "SKIP_SIMPLE_GIT_HOOKS", "OVERCOMMIT_DISABLE"), ("1", "true")),
}  # fmt: skip
"""Variables that switch a hook manager off."""
_CHOICES = ("SKIP", "LEFTHOOK_EXCLUDE")
"""Variables that name hooks to leave out: the person's own linters are theirs to skip, ours are not."""


def rewrite(call: Call, target: str, *how: str) -> Effect:
    return call.effect(Kind.GIT_REWRITE, target, *how)


def nothing(_call: Call) -> Effects:
    return ()


def passes_hooks(call: Call) -> Effects:
    named = call.has("--no-verify") or (call.command.subcommand == "commit" and call.has("-n"))
    if named or _switched_off(call.scope.variables):
        yield rewrite(call, "hooks")


def _switched_off(variables: Mapping[str, tuple[str, ...] | None]) -> bool:
    """Whether the text set a variable by which a hook manager runs nothing, or not our hooks."""
    if any((variables.get(name) or ("",))[0].lower() in off for name, off in _SWITCHES.items()):
        return True
    return any("sentinel-" in (variables.get(name) or ("",))[0] for name in _CHOICES)


def value_set_here(call: Call, key: str) -> str:
    """What a setting says that this text made, for this command or before it; empty where it made none."""
    found = [value for name, value in given(call) if name.lower() == key]
    return found[-1] if found else call.world.settings.get(key, "")


# Paths as git takes them


def pathspecs(call: Call, items: Iterable[Field]) -> Iterator[Field]:
    """The files that pathspecs name: ``:/x`` is below the top, ``:!x`` leaves out, git itself expands globs."""
    for item in (*items, *_listed(call)):
        text = item.text
        if text.startswith((":!", ":^", ":(exclude")):
            continue
        if text.startswith((":/", ":(")):
            text = f"{top(call) or call.cwd}/{text.partition(')')[2] if text[1] == '(' else text[2:]}"
        found = _globbed(call, text) if item.known and not _GLOB.isdisjoint(text) else ()
        yield from [Field(path) for path in found] or [Field(text, item.known)]


def _globbed(call: Call, text: str) -> list[str]:
    """What a pattern names as git reads it: its ``*`` takes hidden names in, and may be nothing."""
    head, _, last = (text if text.startswith("/") else f"{call.cwd}/{text}").rpartition("/")
    hidden = [f".{last}", last.lstrip("*")] if last.startswith("*") and last.strip("*") else []
    patterns = [last, *(name for name in hidden if name.startswith("."))]
    return list(dict.fromkeys(path for name in patterns for path in call.world.glob(f"{head}/{name}")))


def _listed(call: Call) -> Iterator[Field]:
    named = call.parsed.value("--pathspec-from-file")
    if named is None:
        return
    text = call.stdin if named.text == "-" else call.world.read(call.locate(named)) if named.known else None
    if text is not None and UNKNOWN not in text:
        names = text.replace("\0", "\n").splitlines()[:MAX_LISTED]
        yield from (Field(name) for name in names if name)


def _behind(call: Call, items: list[Field]) -> list[Field]:
    """What follows ``--``; else the operands that are files here, since a lone name may be a branch."""
    texts = [item.text for item in call.fields]
    if "--" in texts:
        behind = {id(item) for item in call.fields[texts.index("--") + 1 :]}
        return [item for item in items if id(item) in behind]
    rest = items[1:] if len(items) > 1 and not _is_path(call, items[0]) else items
    return rest if len(items) > 1 else [item for item in rest if _is_path(call, item)]


def _is_path(call: Call, item: Field) -> bool:
    text = item.text
    return (
        text == "*"
        or text.startswith((".", ":(", ":/"))  # no branch begins with a dot
        or call.world.kind(call.locate(item)) != ""
    )


# Uncommitted work


def reset(call: Call) -> Effects:
    where = call.operands[0].text if call.operands else "HEAD"
    if call.has("--hard"):
        yield rewrite(call, "worktree", "force")
        yield rewrite(call, "index")
    elif call.has("--merge", "--keep"):
        yield rewrite(call, "worktree")
    elif not call.has("--soft"):
        yield rewrite(call, "index")
    # `git reset NAME` with a file of that name is about the index; everything else moves the branch.
    named = len(call.operands) > 1 or (call.operands and call.world.kind(call.locate(call.operands[0])) != "")
    if where not in ("HEAD", "@") and not named:
        yield rewrite(call, "branch HEAD", "move")


def checkout(call: Call) -> Effects:
    items, flags = call.operands, call.parsed.flags.keys()  # git's own -c and -C apart
    if flags & {"-B", "-C", "--force-create", "-f", "--force", "--discard-changes"}:
        yield rewrite(call, "worktree", "force")
    if name := call.parsed.value("-B", "-C", "--force-create"):
        yield rewrite(call, f"branch {name.text}", "move")
    elif flags & {"-b", "-c", "--create", "--orphan", "--detach", "-d"}:
        return
    yield from _back(call, _behind(call, items))


def _back(call: Call, items: list[Field]) -> Effects:
    """Files that get the content of a commit or of the index."""
    if items or call.has("--pathspec-from-file"):
        yield rewrite(call, "worktree")
    for item in pathspecs(call, items):
        if not call.is_folder(item):
            yield from call.write(item, "truncate")


def restore(call: Call) -> Effects:
    if call.has("--staged", "-S"):
        yield rewrite(call, "index")
        if not call.has("--worktree", "-W"):
            return
    yield from _back(call, call.operands)


def clean(call: Call) -> Effects:
    if call.has("-n", "--dry-run") or not (call.has("-f", "--force", "-i", "--interactive") or _unasked(call)):
        return
    how = ("recursive",) if call.has("-d") else ()
    if not call.has("-X"):
        yield rewrite(call, "untracked", "force", *how)
    yield from call.delete([item for item in call.operands if call.world.kind(call.locate(item)) == "file"], "force")
    if call.has("-x", "-X"):
        rebuilt = bool(call.operands) and all(
            paths.base(item.text.rstrip("/")) in paths.REBUILT for item in call.operands
        )
        yield rewrite(call, "untracked" if rebuilt else "ignored", "force", *how)
        yield from _sweeps(call, call.operands)


def _sweeps(call: Call, items: list[Field]) -> Effects:
    """Folders from which what git ignores goes, a restricted file too if there is one."""
    for item in pathspecs(call, items or [Field(".")]):
        if item.known and call.is_folder(item):
            yield call.effect(Kind.WRITE, call.locate(item), "recursive", "sweep", sure=call.here)


def _unasked(call: Call) -> bool:
    return value_set_here(call, "clean.requireforce").lower() in ("false", "0", "no", "off")


def stash(call: Call) -> Effects:
    verb = git_stash.verb(call)
    if verb in ("drop", "clear"):
        yield git_stash.dropped(call) if verb == "drop" else rewrite(call, "stash", "force")
    elif verb in ("push", "save", "-u", "-a") or "--" in call.command.argv:
        yield rewrite(call, "worktree", "move")
        if call.has("-u", "--include-untracked", "-a", "--all"):
            yield rewrite(call, "untracked", "move")
        if call.has("-a", "--all"):
            yield rewrite(call, "ignored", "move")
            yield from _sweeps(call, [Field(top(call) or call.cwd)])
        named = call.operands[1:] if verb == "push" else call.operands if verb not in ("save", "-u", "-a") else []
        for item in pathspecs(call, named):
            if not call.is_folder(item):
                yield from call.write(item, "move")


def rm(call: Call) -> Effects:
    if call.has("-n", "--dry-run"):
        return
    if call.has("--cached"):
        yield rewrite(call, "index")
        return
    above = call.world.root or top(call) or call.cwd
    for item in pathspecs(call, call.operands):
        if call.has("-r") and item.known and f"{above}/".startswith(f"{call.locate(item).rstrip('/')}/"):
            yield rewrite(call, "worktree", "force")  # what git knows goes; .git and all else stays
        elif not item.known:
            yield rewrite(call, "worktree", "force")
        else:
            yield from call.delete([item], *(w for w, flag in (("recursive", "-r"), ("force", "-f")) if call.has(flag)))


def mv(call: Call) -> Effects:
    return () if call.has("-n", "--dry-run") else file_commands.mv(call)


def worktree(call: Call) -> Effects:
    """Without force git removes no worktree that holds work."""
    own_clones.note_tree(call)
    if call.operands and call.operands[0].text == "remove" and call.has("-f", "--force"):
        yield from call.delete(call.operands[1:], "recursive", "force")


def submodule(call: Call) -> Effects:
    verb = call.operands[0].text if call.operands else ""
    if verb in ("deinit", "update") and call.has("-f", "--force"):
        yield rewrite(call, "worktree", "force")
    elif verb == "foreach":
        at = [item.text for item in call.fields].index("foreach") + 1
        given_ = list(call.fields[at:])
        while given_ and given_[0].text.startswith("-"):
            del given_[0]
        if len(given_) == 1:
            yield from call.runner.script(given_[0].text, call, "git submodule")
        else:
            yield from call.runner.run(given_, call, "git submodule")


def read_tree(call: Call) -> Effects:
    if call.has("-u", "--reset", "--empty"):
        yield rewrite(call, "worktree", "force")
    yield rewrite(call, "index")


def checkout_index(call: Call) -> Effects:
    if call.has("-f", "--force"):
        yield rewrite(call, "worktree", "force")
        for item in pathspecs(call, call.operands):
            yield from call.write(item, "truncate")


def merge_file(call: Call) -> Effects:
    for item in () if call.has("-p", "--stdout") else call.operands[:1]:
        yield from call.write(item, "inplace")


# The index


def staged(call: Call, items: Iterable[Field]) -> Effects:
    """Files, by name, on their way into a commit; a folder's are looked at when they are committed."""
    for item in pathspecs(call, items):
        if not call.is_folder(item):
            yield from call.read(item, "stage")


def add(call: Call) -> Effects:
    if call.has("-n", "--dry-run"):
        return
    yield from staged(call, call.operands)
    if call.has("-A", "--all") or any(item.text in (".", ":/", "*") for item in call.operands):
        yield from _no_longer_ignored(call)


_ENVIRONMENTS = (".env", ".env.local", ".env.production")


def _no_longer_ignored(call: Call) -> Effects:
    """Files of secrets that go along with all others, since the text took them out of ``.gitignore``."""
    ignore = call.locate(".gitignore")
    text = call.world.read(ignore) if ignore in call.world.made() else None
    lines = {line.strip().strip("/") for line in (text or "").splitlines()}
    for name in _ENVIRONMENTS if text is not None and not lines & {".env*", ".env.*", "*.env"} else ():
        if name not in lines and call.world.kind(call.locate(name)) == "file":
            yield from call.read(Field(name), "stage")


def commit(call: Call) -> Effects:
    yield from passes_hooks(call)
    if call.has("--amend") or history_edits.is_backdated(call):
        yield rewrite(call, "history", *(("force",) if history_edits.is_backdated(call) else ()))
    yield from message_file_reads(call)
    if not call.has("--dry-run"):
        yield from staged(call, call.operands)


def message_file_reads(call: Call) -> Effects:
    """A file whose text becomes the message: it is in the history then."""
    for item in call.parsed.values("-F", "--file"):
        yield from call.read(item, "stage")


# Patches


def apply(call: Call) -> Effects:
    """The files that the patches name."""
    yield from passes_hooks(call)
    if call.has("--abort"):
        yield rewrite(call, "worktree")
    if call.has("--check", "--stat", "--numstat", "--summary", "--abort", "--continue", "--skip", "--quit"):
        return
    if call.has("--cached"):
        yield rewrite(call, "index")
        return
    if call.has("-R", "--reverse"):
        yield rewrite(call, "worktree")
    strip = call.parsed.value("-p")
    depth = int(strip.text) if strip and strip.text.isdigit() else 1
    folder = call.parsed.value("--directory")
    for item in call.operands or [Field("-")]:
        text = call.stdin if item.text == "-" else call.world.read(call.locate(item)) if item.known else None
        yield from (
            file_commands.patched(call, text, depth, folder) if text is not None else [call.opaque("patch", "write")]
        )


# Reading


def show(call: Call) -> Effects:
    """``git show HEAD:.env`` reads a file that the history holds."""
    yield from _output(call)
    for item in call.operands:
        _, colon, path = item.text.partition(":")
        if colon and path:
            yield from call.read(Field(path, item.known))
    if not call.has(*_NAMES_ONLY):
        yield from _seen(call, call.operands)


_NAMES_ONLY = ("--stat", "--name-only", "--name-status", "--numstat", "--shortstat", "--summary", "--quiet", "-s",
               "--no-patch", "--dirstat", "--compact-summary")  # fmt: skip


def _seen(call: Call, items: list[Field]) -> Effects:
    """Files whose lines are shown, of whichever commit."""
    for item in pathspecs(call, _behind(call, items)):
        if ":" not in item.text and not call.is_folder(item):
            yield from call.read(item)


def _output(call: Call) -> Effects:
    for item in call.parsed.values("-o", "--output", "--output-directory"):
        yield from call.write(item, "truncate")


def log(call: Call) -> Effects:
    """With ``-p`` it shows what was in the files."""
    yield from _output(call)
    if call.has("-p", "-u", "--patch", "-c", "--cc", "-G", "-S") and not call.has(*_NAMES_ONLY):
        yield from _seen(call, call.operands)
    for item in call.parsed.values("-L"):
        _, colon, path = item.text.rpartition(":")
        if colon:
            yield from call.read(Field(path, item.known))


def bundle(call: Call) -> Effects:
    for item in call.operands[1:2] if call.operands and call.operands[0].text == "create" else ():
        yield from call.write(item, "truncate")


def search(call: Call) -> Effects:
    """``grep -O``, ``difftool -x``: what is found is opened by a command."""
    for item in call.parsed.values("--open-files-in-pager", "-x", "--extcmd"):
        yield from call.runner.script(item.text, call, f"git {call.command.subcommand}")
    for item in call.fields:
        if call.command.subcommand == "grep" and item.text.startswith("-O") and len(item.text) > 2:
            yield from call.runner.script(item.text[2:], call, "git grep")
    if call.command.subcommand == "grep" and not call.has(*_FOUND_ONLY):
        paths_given = call.operands if call.has("-e", "-f", "--") else call.operands[1:]
        yield from _seen(call, paths_given)
        if not paths_given and call.has("--no-index", "--untracked"):
            yield call.effect(Kind.READ, call.cwd)


_FOUND_ONLY = ("-l", "-L", "-c", "-q", "--files-with-matches", "--name-only", "--files-without-match", "--count",
               "--quiet")  # fmt: skip


SUBCOMMANDS: dict[str, Callable[[Call], Effects]] = {
    "reset": reset, "checkout": checkout, "switch": checkout, "restore": restore, "clean": clean, "stash": stash,
    "rm": rm, "mv": mv, "worktree": worktree, "submodule": submodule, "read-tree": read_tree,
    "checkout-index": checkout_index, "merge-file": merge_file, "add": add, "stage": add, "commit": commit,
    "apply": apply, "am": apply, "show": show, "diff": show, "blame": show, "cat-file": show, "archive": show,
    "log": log, "format-patch": log, "shortlog": log, "whatchanged": log, "bundle": bundle, "grep": search,
    "difftool": search,
    **dict.fromkeys(("status", "describe", "rev-parse", "ls-files"), nothing),
}  # fmt: skip
