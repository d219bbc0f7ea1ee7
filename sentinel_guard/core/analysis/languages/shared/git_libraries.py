"""Libraries that work on repositories (GitPython, simple-git, pygit2 …): their calls as git's command lines.

Told by the name of the library and of the method; what is given as texts, and as ``name=True``, becomes arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.model import Effect, Kind

_LIBRARY = re.compile(
    r"\bimport git\b|\bfrom git import\b|simple-git|simpleGit|\bpygit2\b|\bRugged::|\bnodegit\b|isomorphic-git|"
    r"\bdulwich\b|\bgit2::|\bgo-git\b|\bGit\.open\("
)
_CALL = re.compile(
    r"[.:](?P<verb>reset|reset_hard|clean|checkout|checkoutBranch|checkoutLocalBranch|restore|push|stash|rebase|rm|raw|"
    r"branch|delete_head|deleteLocalBranch|deleteLocalBranches|delete_tag|delete_remote|update_ref|update-ref|reflog|gc|"
    r"filter_branch|force_push|revert|worktree)\s*\((?P<given>[^()]*)\)"
)
_TEXT = re.compile(r"(?P<name>\w+\s*[:=]\s*)?(?:'([^']*)'|\"([^\"]*)\"|`([^`]*)`)")
_SWITCH = re.compile(r"\b(?P<name>\w+)\s*[:=]\s*[tT]rue\b")
_VERBS = {
    "reset_hard": ("reset", "--hard"), "delete_head": ("branch", "-d"), "deleteLocalBranch": ("branch", "-D"),
    "deleteLocalBranches": ("branch", "-D"), "delete_tag": ("tag", "-d"), "checkoutBranch": ("checkout",),
    "checkoutLocalBranch": ("checkout", "-b"), "force_push": ("push", "--force"), "raw": (),
    "update_ref": ("update-ref",),
    "filter_branch": ("filter-branch",), "delete_remote": ("remote", "remove"),
}  # fmt: skip
_SWITCHES = {"working_tree": "--hard", "force": "--force", "hard": "--hard", "x": "-x", "d": "-d", "f": "-f"}
MOST = 20
"""Calls of one text that are followed."""


def effects(call: Call, code: str) -> Iterator[Effect]:
    """What git would do for the calls of such a library in a text; guesses."""
    if not _LIBRARY.search(code):
        return
    for match in list(_CALL.finditer(code))[:MOST]:
        words = [*_VERBS.get(match["verb"], (match["verb"],)), *_given(match["verb"], match["given"])]
        for effect in call.runner.run([Field("git"), *map(Field, words)], call, "git library"):
            if effect.kind is not Kind.EXECUTE:
                yield effect


def _given(verb: str, text: str) -> Iterator[str]:
    for item in _SWITCH.finditer(text):
        yield _SWITCHES.get(item["name"], f"--{item['name'].replace('_', '-')}")
    for item in _TEXT.finditer(text):
        word = item[2] or item[3] or item[4] or ""
        if verb == "clean" and re.fullmatch(r"[a-zA-Z]{1,5}", word):
            word = f"-{word}"  # simple-git takes the letters alone
        if word and not item["name"]:
            yield word
