"""Does what a command reads come before the eyes of whoever asked, or into a copy? (READ, how: shown)

A secret that was shown is in the agent's transcript, and with it at its provider: no snapshot takes that back. Loading
one (``source .env``, ``export $(cat .env | xargs)``), counting, comparing and listing its names show nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sentinel_guard.core.analysis.syntax import Loop, Node, Simple, Word, simple_commands
from sentinel_guard.core.model import Command

SPEAKERS = frozenset(
    (
        *("echo", "printf", "cat", "tee", "head", "tail", "less", "more", "logger", "wall", "say", "notify-send"),
        *("base64", "xxd", "rev", "tr"),
    )
)
"""What is handed to these, or reaches them, is seen."""

_SILENT = frozenset(
    (
        *("ls", "stat", "test", "[", "wc", "du", "file", "find", "fd", "cmp", "cksum", "sum", "md5sum", "b2sum"),
        *("sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "shasum", "md5", "touch", "chmod", "chown"),
        *("basename", "dirname", "realpath", "readlink", "ssh", "ssh-add", "ssh-keygen", "docker", "podman", "source"),
        *(".", "env", "printenv", "read", "mapfile", "readarray", "mv", "rm", "ln", "true", ":"),
    )
)
"""They may open a file; what they say is not its content."""
_NAMES_ONLY = re.compile(
    r"[ef]?grep (?:.* )?(?:-\w*[qclL]\w*|--quiet|--silent|--count|--files-with\w*)(?: .*)?"
    r"|[ef]?grep (?:.* )?-\w*o\w* ['\"]?\^[^=]*=?['\"]?(?: .*)?"
    r"|rg (?:.* )?(?:-\w*[qcl]\w*|--quiet|--count|--files-with\w*)(?: .*)?"
    r"|cut (?:-d ?= -f ?1|-f ?1 -d ?=)(?: .*)?"
    r"|g?sed (?:-\w+ )*['\"]?s(.)=\.\*\1[^$]*?\1g?['\"]?(?: .*)?"
    r"|g?awk (?:-F ?=|-F ?'=') ['\"]?(?:/[^/]*/ ?)?\{ ?print \$1 ?\}['\"]?(?: .*)?"
    r"|diff (?:.* )?(?:-\w*q\w*|--brief)(?: .*)?"
)
"""Of each line no more than the name before ``=``, or nothing at all."""
_FILTERS = frozenset(("grep", "egrep", "fgrep", "rg", "cut", "sed", "gsed", "awk", "gawk", "diff"))
LONGEST = 200
"""Characters of a filter that are looked at."""


def shows(command: Command) -> bool:
    """Whether a command that reads a file gives its content away, on its output or as a copy."""
    if command.program not in _FILTERS:
        return command.program not in _SILENT
    text = " ".join((command.program, *command.argv[1:]))
    return len(text) > LONGEST or not _NAMES_ONLY.fullmatch(text)


def speaks(words: Sequence[Word]) -> bool:
    """Whether what is substituted into these words of a command is seen: ``echo "$(cat .env)"``."""
    return bool(words) and words[0].literal in SPEAKERS


def swallows(stage: Node) -> bool:
    """Whether a stage of a pipe lets nothing through of what comes in."""
    if isinstance(stage, Loop):
        return speaker(stage) is None
    if not isinstance(stage, Simple) or not stage.words:
        return False
    if any(r.op in (">", ">>", ">|", "&>") and r.target and r.target.literal == "/dev/null" for r in stage.redirects):
        return True
    program = stage.words[0].literal
    if program not in _FILTERS:
        return program in _SILENT
    plain = [word.literal if word.literal is not None else word.source for word in stage.words]
    return not shows(Command(program, tuple(plain)))


def speaker(tree: Node) -> Command | None:
    """The first command in a loop's body that says what it was given: ``while read l; do echo "$l"; done < .env``."""
    for simple in simple_commands(tree):
        if speaks(simple.words):
            return Command(simple.words[0].literal or "", tuple(word.source for word in simple.words))
    return None
