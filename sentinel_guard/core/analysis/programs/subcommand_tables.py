"""Pattern tables for subcommands: words and options behind a program's name -> effect.

A table's rows are ``what="pattern, pattern"``, in order, and the first that matches decides: ``quiet`` rows (they do
nothing) come before the rows that would take them in. A pattern is what is typed, from the subcommand on:

=============  ==================================================================================================
``state rm``   these words first; each may hold ``*`` and ``a|b``
``** delete``  any words between, five at most
``.``          no word at all
``--force``    the option is given; ``-f|--force`` one of them; ``--force=x*`` with such a value
``!--local``   it is not given
=============  ==================================================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import NamedTuple

from sentinel_guard.core.analysis import network_addresses
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.model import Effect, Kind

QUIET = "quiet"
EFFECTS: dict[str, tuple[Kind, tuple[str, ...], str]] = {
    "change": (Kind.DEPLOY, (), ""),
    "destroy": (Kind.DEPLOY, ("delete",), ""),
    "publish": (Kind.PUBLISH, (), ""),
    "unpublish": (Kind.PUBLISH, ("delete",), ""),
    "starts": (Kind.OPAQUE, ("code",), "what runs by itself"),
    **{
        word: (Kind.PRIVILEGE, (), word.replace("_", " "))
        for word in ("volume", "network", "security", "packages", "clock", "logs", "boot", "power", "users", "service",
                     "firewall", "kernel_setting", "capabilities", "ptrace")
    },
}  # fmt: skip
"""What a row's name means: a kind, how, and the target where the name gives it."""

_WORDS = 8
"""Words that are looked at."""


class _Given(NamedTuple):
    names: tuple[str, ...]
    value: str
    wanted: bool


class Row(NamedTuple):
    what: str
    words: str
    """A regular expression, compiled when it is first asked: there are a thousand, and a process needs a few."""
    given: tuple[_Given, ...]
    pattern: str
    """As it stands in the table."""


def table(**rows: str) -> tuple[Row, ...]:
    """A table from its rows. A name may end in digits, so that it can stand twice: ``quiet2``."""
    return tuple(
        _row(what.rstrip("0123456789"), pattern.split())
        for what, patterns in rows.items()
        for pattern in patterns.split(",")
        if pattern.strip()
    )


def _row(what: str, items: list[str]) -> Row:
    words = [item for item in items if item.lstrip("!")[:1] != "-"]
    expression = "".join("(?:[^ ]+ ){0,5}?" if w == "**" else "$" if w == "." else f"(?:{_any(w)}) " for w in words)
    given = [item for item in items if item not in words]
    return Row(what, expression, tuple(_option(item) for item in given), " ".join(items))


def _any(word: str) -> str:
    if "**" in word:
        raise ValueError(f"{word}: any words between stand by themselves")
    return re.escape(word).replace(r"\*", "[^ ]*").replace(r"\|", "|")


def _option(item: str) -> _Given:
    names, _, value = item.lstrip("!").partition("=")
    if "|" in value:
        raise ValueError(f"{item}: an option has one value; another one is another row")
    return _Given(tuple(names.split("|")), value, item[0] != "!")


def what(call: Call, rows: tuple[Row, ...]) -> str:
    """The name of the row that this call meets; empty for none."""
    if not rows:
        return ""
    words = [call.command.subcommand, *(item.text for item in call.operands[:_WORDS])]
    line = "".join(f"{word.replace(' ', '_')} " for word in words if word)
    met = (row for row in rows if _expression(row.words).match(line) and all(_holds(call, item) for item in row.given))
    return next((row.what for row in met), "")


_expression = lru_cache(maxsize=None)(re.compile)


def _holds(call: Call, item: _Given) -> bool:
    found = call.has(*item.names)
    if found and item.value:
        values = call.parsed.values(*item.names) + call.head.values(*item.names)
        found = any(fnmatchcase(value.text, item.value) for value in values)
    return found is item.wanted


_VERBS = (
    "delete|destroy|drop|purge|wipe|erase|reset|obliterate|terminate|nuke|revoke|decommission|deprovision|undeploy|"
    "unpublish|unregister|deregister|truncate"
)
_LOSS = re.compile(rf"(?:.*[-_:./])?(?:{_VERBS})(?:-?all)?(?:[-_:.].*)?")
_FRESH = re.compile(r".*[:_-](?:fresh|nuke|reset)")
_CAMEL = re.compile(r"(?:Delete|Destroy|Drop|Purge|Terminate|Release|Remove|Revoke|Erase)[A-Z]\w+")
"""Actions of interfaces, as the clients of some clouds spell them: ``ecs DeleteInstance``."""
_LOSS_OPTION = re.compile(rf"--?(?:{_VERBS})(?:[-_](?:all|data|remote))?")
_SAFE = frozenset(
    ("--help", "-h", "--dry-run", "--dryrun", "--list", "--version", "--plan", "--preview", "--check", "--diff", "--no")
)
_LOOKS = re.compile(
    r"list|ls|show|get|describe|status|info|inspect|view|search|find|help|explain|log|logs|history|diff|plan|preview|"
    r"validate|lint|check|test|add|create|new|generate|init|install|docs|completion|man|which|grep|query|open"
)
"""First words behind which others are names."""


def _first_words(call: Call) -> list[str]:
    words = [item.text for item in call.operands[:3]]
    return [call.command.subcommand, *words[:2]] if call.command.subcommand else [word for word in words if word]


def loses_by_words(call: Call) -> bool:
    """Whether a verb that no row names says that something is lost: for tools whose other end is elsewhere."""
    words = _first_words(call)
    if _SAFE & call.command.flags or (words and _LOOKS.fullmatch(words[0])):
        return False
    plain = [word for word in words if re.fullmatch(r"[a-z][a-z:_.-]+", word)]
    return any(_LOSS.fullmatch(word) or _FRESH.fullmatch(word) for word in plain) or any(
        map(_CAMEL.fullmatch, words[:2])
    )


_SOFT = re.compile(
    r"(?:remove|rm|cancel|clean|deactivate|disable|detach|suspend|resolve|unlock|uninstall|kick)(?:-all)?"
)
_WEIGHTY = re.compile(
    r"(?:backup|snapshot|user|account|member|team|org|project|tenant|volume|bucket|database|collection|cluster|node|"
    r"machine|server|instance|secret|token|cert|certificate|session|credential|domain|zone|record|queue|topic|stream|"
    r"dataset|environment|deployment|incident|issue|provider|lease|subscription|workspace)s?|ca|db|dns|index(?:es)?"
)


def loses_softly(call: Call) -> bool:
    """Whether a word that is harmless of much (``remove``, ``cancel``) is said of what weighs: ``backups remove x``;
    or of all there are.
    """
    words = _first_words(call)
    if _SAFE & call.command.flags or (words and _LOOKS.fullmatch(words[0])):
        return False
    return any(map(_SOFT.fullmatch, words)) and (any(map(_WEIGHTY.fullmatch, words)) or call.has("--all"))


_CARRIES = re.compile(r"transfer|push|sync|import|restore|migrate|load|copy|replicate|seed")
_FORCED = frozenset(("--force", "--yes", "-y", "--overwrite", "--no-confirm"))


def overwrites_there(call: Call) -> bool:
    """``strapi transfer --to https://… --force``: what stands at an address elsewhere is replaced, unasked."""
    texts = [item.text for item in call.fields[1:]]
    if _FORCED.isdisjoint(texts) or not any(map(_CARRIES.fullmatch, texts[:2])):
        return False
    away = (text.partition("=")[2] if text[:1] == "-" else text for text in texts if "://" in text)
    return any(not network_addresses.is_local_address(text) for text in away)


def is_loss(word: str) -> bool:
    """Whether a verb says that something is lost: ``delete``, ``apps:destroy``."""
    return _LOSS.fullmatch(word) is not None


def loses_by_options(call: Call) -> bool:
    """The same of an option: ``--purge``, ``-delete``."""
    options = [item.text for item in call.fields[1 : _WORDS * 2] if item.text[:1] == "-"]
    texts = [option.partition("=")[0].lower() for option in options]
    return not (_SAFE & call.command.flags) and any(map(_LOSS_OPTION.fullmatch, texts))


def effects(call: Call, rows: tuple[Row, ...], target: str = "") -> Iterator[Effect]:
    """The effect of the row that this call meets, on ``target`` where the row's name does not say on what."""
    found = EFFECTS.get(what(call, rows))
    if found is not None:
        kind, how, word = found
        yield call.effect(kind, word or target, *how)
