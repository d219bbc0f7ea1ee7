"""Libraries that work on repositories (GitPython, pygit2, libgit2, go-git, JGit …): their calls as git's command lines.

Told by the name of the library and of the method, in any language. What is given as texts, and as ``name=True``,
becomes arguments; a mode becomes the option that it stands for (``ResetMode.HARD``, ``:hard``, ``{hard => 1}``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.model import Effect, Kind

_LIBRARY = re.compile(
    r"\bimport git\b|\bfrom git import\b|simple-git|simpleGit|\bpygit2\b|\bRugged::|\bnodegit\b|isomorphic-git|"
    r"\bdulwich\b|\bgit2::|\bgix::|\bgo-git\b|\bGit\.open\(|\b[lL]ib[gG]it2|\bGitPhp\b|\bGitonomy\b|\bGit::(?:Wrapper|Raw|"
    r"Repository|Sub)\b|\bGit->repository\b|\b(?:gert|git2r)::|\blibrary\((?:gert|git2r)\)|\beclipse\.jgit\b|\bgit4s\b"
)
_CALL = re.compile(
    r"(?:[.:>]|\bgit_|\bLibGit2\.)(?P<verb>reset_?hard|reset|clean|checkout_?(?:head|index|tree|branch|local_?branch)?|"
    r"restore|push|stash_?drop|stash|rebase|rm|raw|command|execute|run|branches?\.delete|branch_?delete|branch|delete_?head|"
    r"delete_?local_?branch(?:es)?|delete_?tag|tag_?delete|delete_?remote|update[_-]ref|reflog|gc|filter_?branch|"
    r"force_?push|revert|worktree)!?\s*\(",
    re.IGNORECASE,
)
_TEXT = re.compile(r"(?P<name>\w+\s*[:=]\s*)?(?:'([^']*)'|\"([^\"]*)\"|`([^`]*)`)")
_SWITCH = re.compile(r"\b(?:set)?(?P<name>\w+)\s*(?:[:=]>?|=>|\()\s*(?:[tT]rue|TRUE|1)\b")
_VERBS = {
    "resethard": ("reset", "--hard"), "deletehead": ("branch", "-d"), "deletelocalbranch": ("branch", "-D"),
    "deletelocalbranches": ("branch", "-D"), "branchdelete": ("branch", "-D"), "branches.delete": ("branch", "-D", "x"),
    "branch.delete": ("branch", "-D"), "deletetag": ("tag", "-d"), "tagdelete": ("tag", "-d"),
    "checkoutbranch": ("checkout",), "checkoutlocalbranch": ("checkout", "-b"), "forcepush": ("push", "--force"),
    **dict.fromkeys(("raw", "command", "execute", "run"), ()), "updateref": ("update-ref",),
    "filterbranch": ("filter-branch",), "deleteremote": ("remote", "remove"), "stashdrop": ("stash", "drop"),
    **dict.fromkeys(("checkouthead", "checkoutindex", "checkouttree"), ("checkout",)),
}  # fmt: skip
_SWITCHES = {"workingtree": "--hard", "force": "--force", "hard": "--hard", "x": "-x", "d": "-d", "f": "-f"}
_HARD = re.compile(r"(?:\b|_)(?:hard|hard_?reset)\b|HardReset", re.IGNORECASE)
_FORCED = re.compile(r"(?:\b|_)(?:force|forced)\b(?!\s*[:=(]>?\s*(?:false|0))", re.IGNORECASE)
_SETTER = re.compile(r"\)\s*\.\s*(?:set|add)[A-Z]\w*\(|\.|\w|\s")
_CLEARS = re.compile(r"REMOVE_(UNTRACKED|IGNORED)")
"""What a checkout of libgit2 takes along."""
_RUN = frozenset(("reset", "clean", "checkout", "switch", "restore", "push", "stash", "rebase", "branch", "tag",
                  "update-ref", "reflog", "gc", "filter-branch", "revert", "worktree"))  # fmt: skip
"""Subcommands that a library is handed as texts: ``->command("reset", "--hard")``."""
_EDITORS = re.compile(
    r"\((?:vc-revert[\w-]*|magit-(?:discard|reset-hard|file-checkout|worktree-checkout|(?P<stash>stash-drop)|(?P<clean>clean)))\b"
)
"""What emacs has for it."""
MOST = 20
"""Calls of one text that are followed."""
_LONGEST = 400
"""Characters of one call's arguments."""


def effects(call: Call, code: str) -> Iterator[Effect]:
    """What git would do for the calls of such a library in a text; guesses."""
    if ("(vc-" in code or "(magit-" in code) and (match := _EDITORS.search(code)):
        line = "stash drop" if match["stash"] else "clean -f -d" if match["clean"] else "checkout -- ."
        yield from call.runner.run([*map(Field, ("git", *line.split()))], call, "git library")
    if not _LIBRARY.search(code):
        return
    for match in list(_CALL.finditer(code))[:MOST]:
        name = match["verb"].lower().replace("_", "").replace("-", "")
        given = _arguments(code[match.end() : match.end() + _LONGEST])
        for words in _commands(name, given):
            for effect in call.runner.run([Field("git"), *map(Field, words)], call, "git library"):
                if effect.kind is not Kind.EXECUTE:
                    yield effect


def _arguments(text: str) -> str:
    """What stands up to the closing bracket, and in the setters behind it: ``reset().setMode(HARD)``."""
    depth = 1
    for at, char in enumerate(text):
        depth += (char in "([{") - (char in ")]}")
        if depth <= 0 and _SETTER.match(text, at) is None:
            return text[:at]
    return text


def _commands(name: str, given: str) -> Iterator[list[str]]:
    """Git's command lines for one call; what a checkout clears is one of its own."""
    words = [*_VERBS.get(name, (name,)), *_given(name, given)]
    if words[:1] == ["git"]:
        del words[0]
    if not _VERBS.get(name, (name,)) and (not words or words[0] not in _RUN):
        return
    verb = words[0] if words else ""
    if verb == "reset" and _HARD.search(given):
        words = ["reset", "--hard", *(word for word in words[1:] if word.lower() not in ("hard", "--hard", "."))]
    elif verb in ("checkout", "push", "branch") and _FORCED.search(given) and not {"--force", "-D"} & {*words}:
        words.append("--force")
    if words:
        yield words
    for cleared in _CLEARS.findall(given):
        yield ["clean", "-fdX" if cleared == "IGNORED" else "-fd"]


def _given(name: str, text: str) -> Iterator[str]:
    for item in _SWITCH.finditer(text):
        switch = item["name"].lower().replace("_", "")
        yield _SWITCHES.get(switch, f"--{item['name'].lower().replace('_', '-')}")
    for item in _TEXT.finditer(text):
        word = item[2] or item[3] or item[4] or ""
        if name == "clean" and re.fullmatch(r"[a-zA-Z]{1,5}", word):
            word = f"-{word}"  # simple-git takes the letters alone
        if word and not item["name"]:
            yield word
