"""Programs that choose by themselves which files below a folder go: duplicates, "junk", the other side of a copy.

What they take is known when they run; the folder is what may be lost of it, unsurely.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.model import Effect

_DELETES: dict[str, tuple[str, ...]] = {
    "fdupes": ("-d", "--delete"),
    "jdupes": ("-d", "--delete", "-L", "--linkhard", "-l", "--linksoft"),
    "rdfind": ("-deleteduplicates", "-makehardlinks", "-makesymlinks"),
    "czkawka_cli": ("-D", "--delete-method"),
    "dupes": ("--delete",),
    "bleachbit": ("-c", "--clean", "-s", "--shred"),
    "cleanmymac": ("clean",),
    "kondo": ("-a", "--all"),
    "npkill": ("-D", "--delete-all"),
    "unison": ("-force", "-prefer"),
}
"""Options with which they delete; without one they only list."""
_TRIES = ("-n", "--dry-run", "-dryrun", "--preview", "-p", "--list")


def deletes(call: Call) -> Iterator[Effect]:
    """What is below each folder that it is given; of one that is given none, nobody knows what."""
    given = {item.text.partition("=")[0] for item in call.fields[1:]} | call.command.flags
    if given.isdisjoint(_DELETES[call.command.program]) or (
        given & {*_TRIES} and call.command.program != "czkawka_cli"
    ):
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
PROGRAMS: dict[str, Callable[[Call], Iterator[Effect]]] = dict.fromkeys(_DELETES, deletes)
