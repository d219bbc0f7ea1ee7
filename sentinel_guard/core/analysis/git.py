"""git: what is rewritten, lost, published, or run through its configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from sentinel_guard.core.analysis import files, paths
from sentinel_guard.core.analysis.commands import Call
from sentinel_guard.core.analysis.git_config import HOOKS, config, setting
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

# They run no hooks that anything rests on; agents ask them with other hooks switched off, for their own safety.
HOOKLESS = frozenset((
    "add", "blame", "cat-file", "check-ignore", "commit-tree", "config", "describe", "diff", "diff-index",
    "diff-tree", "for-each-ref", "grep", "hash-object", "log", "ls-files", "ls-tree", "merge-base",
    "name-rev", "read-tree", "remote", "rev-list", "rev-parse", "shortlog", "show", "show-ref", "status",
    "symbolic-ref", "update-index", "var", "version", "write-tree",
))  # fmt: skip


_HELD = ("worktree", "untracked", "ignored", "stash", "index")
"""What is lost with them is held by a snapshot, or by nothing."""


def git(call: Call) -> Effects:
    """Global options first, then the subcommand, an alias of this text included."""
    for item in call.head.values("-C"):
        cwd = call.locate(item) if item.known else call.cwd
        call = replace(call, cwd=cwd, here=call.certain(item.text) and item.known)
    folder = _repository(call)
    if (tree := call.head.value("--work-tree") or _variable(call, "GIT_WORK_TREE")) is not None and tree.known:
        call = replace(call, cwd=call.locate(tree))
    away = any(_elsewhere(call, path) for path in (folder, call.cwd))
    aliases: dict[str, str] = {}
    for item in call.head.values("-c"):
        key, _, value = item.text.partition("=")
        if not (key.lower() == HOOKS and call.command.subcommand in HOOKLESS):
            yield from setting(call, key, value)
        if key.lower().startswith("alias."):
            aliases[key[6:].lower()] = value
    for item in call.head.values("--config-env"):
        yield from setting(call, item.text.partition("=")[0], "")
    name = call.command.subcommand
    alias = aliases.get(name.lower()) or call.world.settings.get(f"alias.{name.lower()}")
    if alias and name not in SUBCOMMANDS:
        yield from _alias(call, name, alias)
        return
    for effect in SUBCOMMANDS.get(name, _nothing)(call):
        lost = away and effect.kind is Kind.GIT_REWRITE and effect.target in _HELD
        yield replace(effect, how=effect.how | {"elsewhere"}) if lost else effect


def _variable(call: Call, name: str) -> Field | None:
    value = call.scope.lookup(name)
    return Field(value.items[0]) if value.known and value.items and value.items[0] else None


def _repository(call: Call) -> str:
    """The folder whose repository git works on: the current one, or that which holds ``--git-dir``."""
    given = call.head.value("--git-dir") or _variable(call, "GIT_DIR")
    return call.locate(given) if given is not None and given.known else call.cwd


def _elsewhere(call: Call, path: str) -> bool:
    """Whether a folder is known to lie neither in the session's repository nor among temporary files."""
    root = call.world.root
    if not root or not call.here or path == root or path.startswith(root.rstrip("/") + "/"):
        return False
    return not f"{path}/".startswith(paths.TEMPORARY)


def _nothing(_call: Call) -> Effects:
    return ()


def _alias(call: Call, name: str, value: str) -> Effects:
    via = f"git {name}"
    if value.startswith("!"):
        return call.runner.script(value[1:], call, via)
    words = (Field(w, known=True) for w in ("git", *value.split()))
    return call.runner.run([*words, *call.operands], call, via)


def _rewrite(call: Call, target: str, *how: str) -> Effect:
    return call.effect(Kind.GIT_REWRITE, target, *how)


def _passes_hooks(call: Call) -> Effects:
    if call.has("--no-verify"):
        yield _rewrite(call, "hooks")


def push(call: Call) -> Effects:
    yield from _passes_hooks(call)
    remote = call.operands[0].text if call.operands else "origin"
    refs = [item.text for item in call.operands[1:]]
    how = set()
    if call.has("-f", "--force", "--mirror", "--prune") or any(r.startswith("+") for r in refs):
        how.add("force")
    if call.has("-d", "--delete", "--mirror", "--prune") or any(
        r.lstrip("+").startswith(":") and len(r) > 1 for r in refs
    ):
        how.add("delete")
    if not call.has("-n", "--dry-run"):
        yield call.effect(Kind.PUBLISH, remote, *sorted(how))
    yield call.effect(Kind.NETWORK, remote, "data")


def fetch(call: Call) -> Effects:
    yield call.effect(Kind.NETWORK, call.operands[0].text if call.operands else "origin")


def clone(call: Call) -> Effects:
    yield from fetch(call)
    for item in call.operands[1:2]:
        yield from call.write(item, "append")


def reset(call: Call) -> Effects:
    where = call.operands[0].text if call.operands else "HEAD"
    if call.has("--hard"):
        yield _rewrite(call, "worktree", "force")
        yield _rewrite(call, "index")
    elif call.has("--merge", "--keep"):
        yield _rewrite(call, "worktree")
    elif not call.has("--soft"):
        yield _rewrite(call, "index")
    # `git reset NAME` with a file of that name is about the index; everything else moves the branch.
    named = len(call.operands) > 1 or (call.operands and call.world.kind(call.locate(call.operands[0])) != "")
    if where not in ("HEAD", "@") and not named:
        yield _rewrite(call, "branch HEAD", "move")


def checkout(call: Call) -> Effects:
    items = call.operands
    if call.has("-B", "-f", "--force", "--discard-changes"):
        yield _rewrite(call, "worktree", "force")
    if name := call.parsed.value("-B", "-C", "--force-create"):
        yield _rewrite(call, f"branch {name.text}", "move")
    elif call.has("-b", "-c", "--create", "--orphan", "--detach", "-d"):
        return
    yield from _back(call, _pathspecs(call, items))


def _pathspecs(call: Call, items: list[Field]) -> list[Field]:
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
        text in (".", "..", "*", ":/", ":/*")
        or text.startswith((":(", "./", "../"))
        or call.world.kind(call.locate(item)) != ""
    )


def _back(call: Call, items: list[Field]) -> Effects:
    """Files that get the content of a commit or of the index."""
    if items or call.has("--pathspec-from-file"):
        yield _rewrite(call, "worktree")
    for item in items:
        if not item.text.startswith(":") and not call.is_folder(item):
            yield from call.write(item, "truncate")


def restore(call: Call) -> Effects:
    if call.has("--staged", "-S"):
        yield _rewrite(call, "index")
        if not call.has("--worktree", "-W"):
            return
    yield from _back(call, call.operands)


def clean(call: Call) -> Effects:
    if call.has("-n", "--dry-run") or not call.has("-f", "--force"):
        return
    how = ("recursive",) if call.has("-d") else ()
    if not call.has("-X"):
        yield _rewrite(call, "untracked", "force", *how)
    if call.has("-x", "-X"):
        yield _rewrite(call, "ignored", "force", *how)


def branch(call: Call) -> Effects:
    if call.has("-D", "-d", "--delete"):
        how = ("force",) if call.has("-D", "-f", "--force") else ()
        for item in call.operands:
            yield _rewrite(call, f"branch {item.text}", *how)
    elif call.operands and call.has("-f", "--force", "-m", "-M", "--move"):
        forced = ("force",) if call.has("-f", "--force", "-M") else ()
        yield _rewrite(call, f"branch {call.operands[0].text}", "move", *forced)


def tag(call: Call) -> Effects:
    if call.has("-d", "--delete", "-f", "--force"):
        for item in call.operands if call.has("-d", "--delete") else call.operands[:1]:
            yield _rewrite(call, f"tag {item.text}", "force")


def commit(call: Call) -> Effects:
    if call.has("-n", "--no-verify"):
        yield _rewrite(call, "hooks")
    if call.has("--amend"):
        yield _rewrite(call, "history")


def stash(call: Call) -> Effects:
    verb = call.operands[0].text if call.operands else "push"
    if verb in ("drop", "clear"):
        yield _rewrite(call, "stash", *(("force",) if verb == "clear" else ()))
    elif verb in ("push", "save", "-u", "-a"):
        yield _rewrite(call, "worktree", "move")
        if call.has("-u", "--include-untracked", "-a", "--all"):
            yield _rewrite(call, "untracked", "move")
        if call.has("-a", "--all"):
            yield _rewrite(call, "ignored", "move")


def rm(call: Call) -> Effects:
    if call.has("-n", "--dry-run"):
        return
    if call.has("--cached"):
        yield _rewrite(call, "index")
    else:
        yield from files.rm(call)


def mv(call: Call) -> Effects:
    return () if call.has("-n", "--dry-run") else files.mv(call)


def rebase(call: Call) -> Effects:
    if not call.has("--abort", "--quit", "--continue", "--skip"):
        yield _rewrite(call, "history")
    elif call.has("--abort"):
        yield _rewrite(call, "worktree")
    for item in call.parsed.values("-x", "--exec"):
        yield from call.runner.script(item.text, call, "git rebase")


def filter_branch(call: Call) -> Effects:
    yield _rewrite(call, "history", "force")
    for name, values in call.parsed.flags.items():
        if name.endswith("-filter"):
            for item in values:
                yield from call.runner.script(item.text, call, "git filter-branch")


def reflog(call: Call) -> Effects:
    if call.operands and call.operands[0].text in ("expire", "delete") and not call.has("-n", "--dry-run"):
        yield _rewrite(call, "reflog", "force")


def gc(call: Call) -> Effects:
    if call.has("--prune") and (value := call.parsed.value("--prune")) and value.text in ("now", "all"):
        yield _rewrite(call, "objects", "force")


def prune(call: Call) -> Effects:
    if not call.has("-n", "--dry-run"):
        yield _rewrite(call, "objects")


def update_ref(call: Call) -> Effects:
    how = ("force",) if call.has("-d", "--delete") else ("move",)
    for item in call.operands[:1]:
        yield _rewrite(call, _ref(item.text), *how)
    if call.has("--stdin"):
        yield _rewrite(call, "ref *", "force")


def _ref(name: str) -> str:
    for start, kind in (("refs/heads/", "branch"), ("refs/tags/", "tag")):
        if name.startswith(start):
            return f"{kind} {name[len(start) :]}"
    return "branch HEAD" if name == "HEAD" else f"ref {name}"


def worktree(call: Call) -> Effects:
    if call.operands and call.operands[0].text in ("remove", "prune"):
        how = ("recursive", "force") if call.has("-f", "--force") else ("recursive",)
        yield from call.delete(call.operands[1:], *how)


def submodule(call: Call) -> Effects:
    verb = call.operands[0].text if call.operands else ""
    if verb == "deinit" and call.has("-f", "--force"):
        yield _rewrite(call, "worktree", "force")
    elif verb == "foreach":
        at = [item.text for item in call.fields].index("foreach") + 1
        given = list(call.fields[at:])
        while given and given[0].text.startswith("-"):
            del given[0]
        if len(given) == 1:
            yield from call.runner.script(given[0].text, call, "git submodule")
        else:
            yield from call.runner.run(given, call, "git submodule")


def apply(call: Call) -> Effects:
    """The files that the patches name."""
    if call.has("--check", "--stat", "--numstat", "--summary"):
        return
    strip = call.parsed.value("-p")
    depth = int(strip.text) if strip and strip.text.isdigit() else 1
    texts = [call.world.read(call.locate(item)) if item.known else None for item in call.operands] or [call.stdin]
    if call.has("--cached"):
        yield _rewrite(call, "index")
        return
    for text in texts:
        yield from files.patched(call, text, depth) if text is not None else [call.opaque("patch", "write")]


def bisect(call: Call) -> Effects:
    if call.operands and call.operands[0].text == "run":
        at = [item.text for item in call.fields].index("run")
        yield from call.runner.run(call.fields[at + 1 :], call, "git bisect")


def remote(call: Call) -> Effects:
    if len(call.operands) > 1 and call.operands[0].text in ("remove", "rm", "set-url", "rename", "add"):
        yield _rewrite(call, f"config remote.{call.operands[1].text.lower()}.url")


def read_tree(call: Call) -> Effects:
    if call.has("-u", "--reset"):
        yield _rewrite(call, "worktree", "force")
    yield _rewrite(call, "index")


def checkout_index(call: Call) -> Effects:
    if call.has("-f", "--force"):
        yield _rewrite(call, "worktree", "force")


def update_index(call: Call) -> Effects:
    yield _rewrite(call, "index")


def symbolic_ref(call: Call) -> Effects:
    if len(call.operands) > 1 or call.has("-d", "--delete"):
        yield _rewrite(call, _ref(call.operands[0].text) if call.operands else "branch HEAD", "move")


def show(call: Call) -> Effects:
    """``git show HEAD:.env`` reads a file that the history holds."""
    for item in call.operands:
        _, colon, path = item.text.partition(":")
        if colon and path:
            yield from call.read(Field(path, item.known))
        elif call.command.subcommand != "show" and _is_path(call, item) and item.text not in (".", ".."):
            yield from call.read(item)


def pull(call: Call) -> Effects:
    yield from fetch(call)
    if call.has("-r", "--rebase"):
        yield _rewrite(call, "history")


SUBCOMMANDS: dict[str, Callable[[Call], Effects]] = {
    "push": push, "fetch": fetch, "pull": pull, "clone": clone, "reset": reset, "checkout": checkout,
    "switch": checkout,
    "restore": restore, "clean": clean, "branch": branch, "tag": tag, "commit": commit, "merge": _passes_hooks,
    "stash": stash,
    "config": config, "rm": rm, "mv": mv, "rebase": rebase, "filter-branch": filter_branch,
    "filter-repo": filter_branch,
    "reflog": reflog, "gc": gc, "prune": prune, "update-ref": update_ref, "worktree": worktree, "submodule": submodule,
    "apply": apply, "am": apply, "bisect": bisect, "remote": remote, "read-tree": read_tree,
    "update-index": update_index,
    "checkout-index": checkout_index, "symbolic-ref": symbolic_ref, "show": show, "diff": show, "grep": _nothing,
    "blame": show,
    "cat-file": show,
    **dict.fromkeys(("status", "log", "add", "init", "cherry-pick", "revert", "describe", "rev-parse", "ls-files"),
    _nothing),
}  # fmt: skip

PROGRAMS = {"git": git}
