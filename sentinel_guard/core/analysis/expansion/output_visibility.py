"""Whether a command prints or copies the content of the files that it reads (READ, how: shown).

A secret that was shown is in the agent's transcript, and with it at its provider: no snapshot takes that back. Loading
one (``source .env``, ``export $(cat .env | xargs)``), counting, comparing and listing its names show nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sentinel_guard.core.analysis.parser.syntax_tree import Loop, Node, Simple, Word, simple_commands
from sentinel_guard.core.model import Command

PRINTERS = frozenset(
    (
        *("echo", "printf", "cat", "tee", "head", "tail", "less", "more", "logger", "wall", "say", "notify-send"),
        *("base64", "xxd", "rev", "tr"),
    )
)
"""What is handed to these, or reaches them, is seen."""
_BEFORE = ("command", "builtin", "exec", "sudo", "env", "nohup", "time")
_WITH = {
    **dict.fromkeys(("python", "python3"), ("-c",)),
    **dict.fromkeys(("node", "perl", "ruby"), ("-e",)),
    "php": ("-r",),
    "git": ("commit", "tag", "notes"),
    "jq": ("-n", "-rn", "-nr"),
    "expr": (),
}
"""What these say holds what was substituted, where one of the words is there."""

_SILENT = frozenset(
    (
        *("ls", "stat", "test", "[", "wc", "du", "file", "find", "fd", "cmp", "cksum", "sum", "md5sum", "b2sum"),
        *("sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "shasum", "md5", "touch", "chmod", "chown"),
        *("basename", "dirname", "realpath", "readlink", "ssh", "ssh-add", "ssh-keygen", "docker", "podman", "source"),
        *(".", "env", "printenv", "read", "mapfile", "readarray", "mv", "rm", "ln", "true", ":"),
        *("set", "export", "declare", "typeset", "readonly"),
    )
)
"""They may open a file; what they say is not its content."""
_PASSES_ON = frozenset(("env", "docker", "podman", "ssh", "source", ".", "find", "fd", "rm", "mv", "ln"))
"""Of these that does not hold for what they start."""
_NOTHING = re.compile(
    r"(?:[ef]?grep|rg) (?:-[hHinsvwxEFPar]+ )*(?:-[hHinsvwxEFPar]*[qclL][hHinsvwxEFPar]*|--quiet|--silent|--count"
    r"|--files-with\w*)(?: (?!-[ef]|--).*)?"
    r"|diff (?:-[qrsN]*q[qrsN]*|--brief)(?: .*)?"
)
_NAMES_ONLY = re.compile(
    r"[ef]?grep (?:-\w+ )*-\w*o\w* ['\"]?\^\[[^\]]*\][*+]?=?['\"]?(?: [^-]\S*)*"
    r"|cut (?:-d ?= -f ?1|-f ?1 -d ?=)(?: [^-]\S*)*"
    r"|g?sed (?:-[nEr]+ )*['\"]?s(.)=\.\*\1[^$&\\]*?\1g?['\"]?(?: [^-]\S*)*"
    r"|g?awk -F ?'?='? ['\"]?(?:/[^/]*/ ?)?\{ ?print \$1 ?\}['\"]?(?: [^-=\s]+)*"
)
"""Nothing of a line, and no more than the name before ``=``."""
_BYTES = {
    "cmp": frozenset(("-l", "-b", "--verbose", "--print-bytes")),
    "file": frozenset(("-f", "--files-from")),
    **dict.fromkeys(("wc", "du"), frozenset(("--files0-from",))),
}
"""Options with which these show bytes or lines."""
_FILTERS = frozenset(("grep", "egrep", "fgrep", "rg", "cut", "sed", "gsed", "awk", "gawk", "diff"))
LONGEST = 200
"""Characters of a filter that are looked at."""


COPIERS = frozenset(("cp", "install", "tar", "dd", "rsync", "zip", "7z", "tee", "scp", "cpio", "gpg", "split"))
"""What they read stays somewhere, whatever becomes of their output."""


def exposes_content(command: Command, path: str = ".env") -> bool:
    """Whether a command that reads this file gives its content away, on its output or as a copy."""
    if command.program not in _FILTERS:
        return command.program not in _SILENT or bool(_BYTES.get(command.program, frozenset()) & command.flags)
    text = " ".join((command.program, *command.argv[1:]))
    if len(text) > LONGEST:
        return True
    return not (_NOTHING.fullmatch(text) or ("env" in path.rpartition("/")[2] and _NAMES_ONLY.fullmatch(text)))


def prints_arguments(words: Sequence[Word]) -> bool:
    """Whether what is substituted into these words of a command is seen: ``echo "$(cat .env)"``."""
    at = 1 if len(words) > 1 and words[0].literal in _BEFORE else 0
    name = (words[at].literal or "").rpartition("/")[2] if words else ""
    if name in PRINTERS:
        return True
    with_ = _WITH.get(name)
    return with_ is not None and (not with_ or any(word.literal in with_ for word in words[at + 1 :]))


def discards_input(stage: Node) -> bool:
    """Whether a stage of a pipe lets nothing through of what comes in."""
    if isinstance(stage, Loop):
        return printing_command(stage) is None
    if not isinstance(stage, Simple) or not stage.words:
        return False
    if any(r.op in (">", ">>", ">|", "&>") and r.target and r.target.literal == "/dev/null" for r in stage.redirects):
        return True
    program = stage.words[0].literal
    if program not in _FILTERS:
        return program in _SILENT and program not in _PASSES_ON
    plain = [word.literal if word.literal is not None else word.source for word in stage.words]
    return not exposes_content(Command(program, tuple(plain)))


def last_discarding_stage(stages: Sequence[Node]) -> int:
    """Where the last stage stands that lets nothing through; -1 for none, or where tee takes it out before."""
    if any(isinstance(s, Simple) and s.words and s.words[0].literal == "tee" for s in stages):
        return -1
    return next((at for at in range(len(stages) - 1, -1, -1) if discards_input(stages[at])), -1)


def printing_command(tree: Node) -> Command | None:
    """The first command in a loop's body that says what it was given: ``while read l; do echo "$l"; done < .env``."""
    for simple in simple_commands(tree):
        if prints_arguments(simple.words):
            return Command(simple.words[0].literal or "", tuple(word.source for word in simple.words))
    return None
