"""A program that no table knows: files that it is given by name may be read, and what stands behind ``-o`` is written.

``prettier --write .env``, ``pandoc -o .env x.md``: a table of all programs there are would never be whole. What is said
here is a guess, so that it can be asked about and never be more; behind options that name a file of settings
(``--env-file .env``) nothing is shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentinel_guard.core.analysis.commands import Call
from sentinel_guard.core.model import Effect

OPERANDS = 50
"""Words that are looked at."""

_OUTPUT = re.compile(r"-o|--?out(?:put|file|put-file|-file)?|-keyout|--dest(?:ination)?|--save(?:-to)?|--write-to")
_SETTINGS = re.compile(r"-{1,2}\S*(?:env|conf|secret|vars?|setting|cred|key|cert|identity|password)\S*|-[efFkip]")
"""Options whose file is loaded, not shown."""
_SPEAK_OF = frozenset(
    (
        *("echo", "printf", "pwd", "which", "whereis", "basename", "dirname", "realpath", "readlink", "true", "false"),
        *(
            "test",
            "[",
            "expr",
            "seq",
            "sleep",
            "date",
            "mktemp",
            "man",
            "tldr",
            "type",
            "code",
            "cursor",
            "subl",
            "direnv",
        ),
    )
)
"""They take words, or open a window for the person."""


def unknown(call: Call) -> Iterator[Effect]:
    """Guesses; see above."""
    if call.command.program in _SPEAK_OF:
        return
    before = ""
    for item in call.fields[1 : OPERANDS + 1]:
        name, equals, value = item.text.partition("=")
        if item.text[:1] == "-":
            if equals and _OUTPUT.fullmatch(name):
                yield from call.write(type(item)(value, item.known), "truncate")
            before = "" if equals else item.text
            continue
        if before and _OUTPUT.fullmatch(before):
            yield from call.write(item, "truncate") if item.known else ()
        elif item.known and not (before and _SETTINGS.fullmatch(before)):
            yield from call.read(item) if call.world.kind(call.locate(item)) == "file" else ()
        before = ""
