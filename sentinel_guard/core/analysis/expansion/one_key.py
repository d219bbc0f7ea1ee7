"""Recognises a substitution that cuts one key out of a file by the key's name: ``$(grep NAME .env | cut -d= -f2)``.

Read is the text as written, by what people write: anything else may give more than the one key.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

SUBSTITUTION = r"(?:\$\((?:[^()`'\"]|'[^'`]*'|\"[^\"`]*\")*\)|`[^`]*`)"
"""One that holds no other."""
_SUBSTITUTION = re.compile(SUBSTITUTION)
_LINE = r"\^?(?:export )?([A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+)"
_SELECTS = {
    "grep": (r"-[EhswoP]+|-m1|-e", rf"(?:\(\?<=)?{_LINE}(?:=|=\.[*+]|=\\K\.[*+]|=\)\.[*+])?"),
    "sed": (r"-n|-nE|-nr|-E|-r|-e", rf"s/{_LINE}=(?:\\[()]|[^/;$`\n\\|])*\$?/(?:\\1)?/p"),
    "awk": (r"-F=", rf"(?:/{_LINE}=?/|\$1 ?== ?\"{_LINE}\") ?\{{ ?print \$2;? ?\}}"),
    "jq": (r"-r|-e|-er|-re|--raw-output", r"\.([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)"),
}
"""Program -> its options, and the text that names the one key."""
_FILTERS = {
    "cut": (r"-d.|-f\d-?", ""), "head": (r"-1|-n1", ""), "tail": (r"-1|-n1", ""), "tr": (r"-d.+", ""),
    "xargs": ("-", ""),
    "sed": (r"-E|-r|-e", r"s/[^/;$`\n]*\$?/(?:\\1)?/g?"), "awk": (r"-F.", r"\{ ?print \$\d;? ?\}"),
}  # fmt: skip
"""What is cut off what was found, out of no other file."""
_FILE = re.compile(r"(?:~/|\$HOME/|\$\{HOME\}/)?[\w./-]+")
_SPACED = re.compile(r"(?<= -[Fdfm]) +|(?<= -n) +(?=\d)")
_SILENT = re.compile(r" ?2> ?/dev/null")
PROGRAMS = frozenset((*_SELECTS, "cat"))
"""What reads the file."""


def names(source: str) -> tuple[str, ...]:
    """The keys that the substitutions of a command cut out; none where one of them may give something else."""
    found = [_name(match[0].lstrip("$")[1:-1]) for match in _SUBSTITUTION.finditer(source)]
    rest = _SUBSTITUTION.sub("", source)
    return tuple(found) if found and all(found) and not re.search(r"\$\(|`|[<>]\(", rest) else ()


def _name(text: str) -> str:
    lexer = shlex.shlex(_SPACED.sub("", _SILENT.sub("", text)), posix=True, punctuation_chars="|;&<>()")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        return ""
    stages: list[list[str]] = [[]]
    for word in words:
        if word == "|":
            stages.append([])
        else:
            stages[-1].append(word)
    first, *rest = stages
    if not first or not _FILE.fullmatch(first[-1]):
        return ""
    first, rest = (rest[0], rest[1:]) if first[0] == "cat" and len(first) == 2 and rest else (first[:-1], rest)
    found = _fits(first, _SELECTS)
    return next(filter(None, found.groups())) if found and all(_fits(one, _FILTERS) for one in rest) else ""


def _fits(stage: Sequence[str], table: dict[str, tuple[str, str]]) -> re.Match[str] | None:
    """Whether a program is given what its row has: options, and the one text, or none."""
    if not stage or stage[0] not in table:
        return None
    options, text = table[stage[0]]
    plain = [word for word in stage[1:] if word[:1] != "-"]
    if len(plain) > 1 or not all(re.fullmatch(options, word) for word in stage[1:] if word[:1] == "-"):
        return None
    if stage[0] == "sed" and table is _SELECTS and not any(word[:2] == "-n" for word in stage):
        return None  # it prints the other lines, too
    return re.fullmatch(text, "".join(plain))
