"""What a held system call would do (docs/protocol.md, "The face ``kernel``"): its effects are sure, not predicted."""

from __future__ import annotations

from sentinel_guard.core.analysis.socket_rights import TYPING, right
from sentinel_guard.core.model import Effect, Kind

_WRITES = {
    "write": (),
    "make": (),
    "truncate": ("truncate", "over"),
    "replace": ("over",),
    "overwrite": ("over",),
    "link": ("link",),
    "chmod": ("mode",),
    "attribute": ("mode",),
    "chown": ("owner",),
}
"""Call -> words of its effect."""
CALLS = frozenset({*_WRITES, "delete", "move", "connect", "reach"})
"""The calls with one object; ``run`` is judged as a command."""


LOSSES = frozenset({"overwrite", "delete", "replace", "truncate"})
"""Those of them by which content of a file may be lost."""


def effects(call: str, target: str, gives: str = "") -> tuple[Effect, ...]:
    """The effects of one of ``CALLS``; ``target``: the absolute path as the kernel names it; of
    ``reach`` an address with its port. ``gives``: the right of a socket that its place does not tell.
    """
    if call == "connect":
        return (Effect(Kind.PRIVILEGE, gives or right(target) or TYPING),)
    if call == "reach":
        return (Effect(Kind.NETWORK, target),)
    if call == "delete":
        return (Effect(Kind.DELETE, target, how=frozenset(("force",))),)
    if call == "move":
        return (Effect(Kind.DELETE, target, how=frozenset(("move", "recursive"))),)
    # Who opens a file for writing has not written yet: a database is opened so by those who only read.
    return (Effect(Kind.WRITE, target, sure=call != "write", how=frozenset(_WRITES[call])),)
