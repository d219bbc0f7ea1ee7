"""Programs that choose by themselves which files below a folder go: duplicates, "junk", the other side of a copy.

What they take is known when they run; the folder is what may be lost of it, unsurely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.model import Effect


class _Chooser(NamedTuple):
    """A program, and what it is told by."""

    deletes: tuple[str, ...]
    """Options with which it deletes; without one it only lists."""
    tries: tuple[str, ...] = ()
    """Options with which it only says what it would do."""


_CHOOSERS: dict[str, _Chooser] = {
    "fdupes": _Chooser(("-d", "--delete")),
    "jdupes": _Chooser(("-d", "--delete", "-L", "--linkhard", "-l", "--linksoft")),
    "rdfind": _Chooser(("-deleteduplicates", "-makehardlinks", "-makesymlinks"), ("-dryrun", "-n")),
    "czkawka_cli": _Chooser(("-D", "--delete-method"), ("--dry-run",)),
    "dupes": _Chooser(("--delete",), ("-n", "--dry-run")),
    "bleachbit": _Chooser(("-c", "--clean", "-s", "--shred"), ("-p", "--preview", "-l", "--list")),
    "cleanmymac": _Chooser(("clean",), ("--dry-run",)),
    "kondo": _Chooser(("-a", "--all"), ("--dry-run",)),
    "npkill": _Chooser(("-D", "--delete-all"), ("--dry-run",)),
    "unison": _Chooser(("-force", "-prefer")),
}
_NO = ("false", "none")
"""Values that say that an option does not hold."""


def _told(call: Call, names: tuple[str, ...]) -> bool:
    """Whether one of these options, or words, is given, and no value beside it takes it back."""
    given = {item.text.partition("=")[0] for item in call.fields[1:]} | call.command.flags
    values = (call.parsed.value(name) or call.head.value(name) for name in names if name in given)
    return any(value is None or not value.known or value.text.lower() not in _NO for value in values)


def deletes(call: Call) -> Iterator[Effect]:
    """What is below each folder that it is given; of one that is given none, nobody knows what."""
    row = _CHOOSERS[call.command.program]
    if not _told(call, row.deletes) or _told(call, row.tries):
        return
    folders = [
        item
        for item in (*call.operands, *call.parsed.values("-d", "--directories"))
        if call.is_folder(item) or "/" in item.text
    ]
    for item in folders:
        yield call.contents(item.text, sure=False)
    if not folders:
        yield call.opaque(call.command.program, "delete")


OPTIONS = {
    "rdfind": options("-deleteduplicates= -makehardlinks= -makesymlinks= -dryrun= -n= -minsize= | words"),
    "unison": options("-force= -prefer= -path= -ignore= -root= | words"),
    "czkawka_cli": options("-d= --directories= -D= --delete-method= -e= | sub"),
}
PROGRAMS: dict[str, Callable[[Call], Iterator[Effect]]] = dict.fromkeys(_CHOOSERS, deletes)
