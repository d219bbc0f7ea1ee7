"""Evaluate ``chmod`` modes: which rights the owner keeps, and whether other users only lose access."""

from __future__ import annotations

import re

from sentinel_guard.core.model import Command, Effect

_NARROW = re.compile(r"0?[4-7]00|(?:(?:u\+[rwX]+|u=rw?X?|go?-[rwxX]+|og?-[rwxX]+|go=|og=),?)+")
"""Modes that leave the file its owner's, and take it from all others."""
_BITS = {"r": 4, "w": 2, "x": 1}
_CLAUSE = re.compile(r"([ugoa]*)([-+=])([rwxXst]*)")


def only_removes_access(effect: Effect) -> bool:
    """Whether a chmod only keeps others away from a file: ``chmod 600 .env``."""
    command = effect.command
    if "mode" not in effect.how or command is None or command.program != "chmod" or not command.operands:
        return False
    return "shut" not in effect.how and _NARROW.fullmatch(command.operands[0]) is not None


def keeps_owner_rights(command: Command, rights: str) -> bool:
    """Whether a chmod leaves the owner these rights (``rx``)."""
    if taken := {flag[1:] for flag in command.flags} & set("rwx"):
        return taken.isdisjoint(rights)
    mode = command.operands[0] if command.operands else ""
    if mode.isdigit():
        return all(int(mode.zfill(3)[-3]) & _BITS[right] for right in rights)
    clauses = [_CLAUSE.fullmatch(clause) for clause in mode.split(",")]
    return all(clause is not None and _leaves(clause[1], clause[2], clause[3], rights) for clause in clauses)


def _leaves(who: str, sign: str, named: str, rights: str) -> bool:
    if sign == "+" or (who and not set(who) & set("ua")):
        return True
    return set(named).isdisjoint(rights) if sign == "-" else set(named.replace("X", "x")) >= set(rights)
