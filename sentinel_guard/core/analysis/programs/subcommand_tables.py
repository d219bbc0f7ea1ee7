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
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from itertools import pairwise, starmap
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
    words = [call.command.subcommand, *[item.text for item in call.operands[:_WORDS]]]
    line = "".join([f"{word.replace(' ', '_')} " for word in words if word])
    if not _any_of(rows).match(line):
        return ""
    met = (row for row in rows if _expression(row.words).match(line) and all(_holds(call, item) for item in row.given))
    return next((row.what for row in met), "")


_expression = lru_cache(maxsize=None)(re.compile)
_joined: dict[int, tuple[tuple[Row, ...], re.Pattern[str]]] = {}
"""By the identity of a table, which lives as long as the process: to hash it costs more than to match its rows."""


def _any_of(rows: tuple[Row, ...]) -> re.Pattern[str]:
    """One expression for all rows of a table: most calls meet none."""
    known = _joined.get(id(rows))
    if known is None or known[0] is not rows:
        known = _joined[id(rows)] = rows, re.compile("|".join(f"(?:{row.words})" for row in rows))
    return known[1]


def _holds(call: Call, item: _Given) -> bool:
    found = call.has(*item.names)
    if found and item.value:
        values = call.parsed.values(*item.names) + call.head.values(*item.names)
        found = any(fnmatchcase(value.text, item.value) for value in values)
    return found is item.wanted


_VERBS = (
    "delete|destroy|drop|purge|wipe|erase|reset|obliterate|terminate|nuke|revoke|decommission|deprovision|undeploy|"
    "unpublish|unregister|deregister|truncate|zeroize|factory-reset|flushall|flushdb|expunge|annihilate"
)
_THINGS = (
    "acct|account|user|domain|host|site|db|database|table|bucket|node|channel|group|role|member|project|repo|key|zone|"
    "vm|pool"
)
_LOSS = re.compile(
    rf"(?:.*[-_:./])?(?:{_VERBS})(?:-?all)?(?:[-_:.].*)?"
    rf"|(?:remove|rm|del|delete|destroy|drop|kill|terminate|close|cancel|purge)(?:all\w*|(?:{_THINGS})s?)"
    rf"|(?:{_THINGS})s?[-_]?(?:del|rm)"
)
_FRESH = re.compile(r".*[:_-](?:fresh|nuke|reset)")
_CAMEL = re.compile(r"(?:Delete|Destroy|Drop|Purge|Terminate|Release|Remove|Revoke|Erase)[A-Z]\w+")
"""Actions of interfaces, as the clients of some clouds spell them: ``ecs DeleteInstance``."""
_LOSS_OPTION = re.compile(rf"--?(?:{_VERBS})(?:[-_]?(?:all|data|remote|duplicates|everything))?")
_SAFE = frozenset(
    ("--help", "--dry-run", "--dryrun", "--list", "--version", "--plan", "--preview", "--check", "--diff", "--no")
)
_LOOKS = re.compile(
    r"list|ls|show|get|describe|status|info|inspect|view|search|find|help|explain|log|logs|history|diff|plan|preview|"
    r"validate|lint|check|test|add|create|new|generate|init|install|docs|completion|man|which|grep|query|open"
)
"""First words behind which others are names."""


_SETTLES = re.compile(
    r"run|exec|list|ls|show|get|describe|status|info|inspect|view|search|find|help|explain|logs?|history|diff|cat|keys|"
    r"query|docs|man|which|version|completion"
)
"""Verbs of any program behind which no other one stands; no words that are often values (``test``, ``new``)."""


def settles(word: str) -> bool:
    """Whether a first operand is itself the verb, in any program: no option's value."""
    return _SETTLES.fullmatch(word) is not None


def first_words(rows: tuple[Row, ...]) -> frozenset[str]:
    """The first words of all patterns, as they stand there."""
    return frozenset(name for row in rows for name in row.pattern.partition(" ")[0].split("|"))


def _first_words(call: Call, most: int = 3) -> list[str]:
    words = [item.text for item in call.operands[:most]]
    named = call.command.subcommand
    return [named, *words[: most - 1]] if named else [word for word in words if word]


def _says_harmless(call: Call, words: Sequence[str]) -> bool:
    """Help, a trial, a look. ``-h`` asks for help where it stands last or alone; else a host stands behind it."""
    if _SAFE & call.command.flags or (words and _LOOKS.fullmatch(words[0])):
        return True
    return call.has("-h") and call.fields[-1].text == "-h"


def loses_by_words(call: Call) -> bool:
    """Whether a verb that no row names says that something is lost: for tools whose other end is elsewhere."""
    words = _first_words(call)
    if _says_harmless(call, words):
        return False
    plain = [word for word in words if re.fullmatch(r"[a-z][a-z:_.-]+", word)]
    return any(_LOSS.fullmatch(word) or _FRESH.fullmatch(word) for word in plain) or any(
        map(_CAMEL.fullmatch, words[:2])
    )


_REMOVES = "remove|rm|cancel|deactivate|disable|detach|suspend|uninstall|kick|yank|unlink|close"
_EMPTIES = "clear|resolve|unlock|down|flush"
_CLEANS = "clean"
"""What builds say of their own output."""
_SOFT = re.compile(f"(?:{_REMOVES}|{_EMPTIES}|{_CLEANS})(?:-all)?")
_SOFT_OPTION = re.compile(f"--(?:{_REMOVES}|{_EMPTIES})(?:-all)?")
_SOFT_OF_ALL = re.compile(f"(?:{_REMOVES}|{_EMPTIES})(?:-all)?")
_SOFT_OF_ONE = re.compile(f"(?:{_REMOVES})(?:-all)?")
_WEIGHTY = re.compile(
    r"(?:backup|snapshot|user|account|member|team|org|project|tenant|volume|bucket|database|collection|cluster|node|"
    r"machine|server|instance|secret|token|cert|certificate|session|credential|domain|zone|record|queue|topic|stream|"
    r"dataset|environment|deployment|incident|issue|provider|lease|subscription|workspace|site|app|application|folder|"
    r"channel|group|role|polic(?:y|ie)|permission|device|host|vm|pod|disk|storage|state|space|wallet|pin|repo|"
    r"repositor(?:y|ie)|stack|share|replica|partition|mailbox|calendar|list|schema|catalog|namespace)s?"
    r"|ca|db|dns|index(?:es)?|acl|vpc|raid"
)
_LIGHT = re.compile(
    r"(?:.*[^a-z])?(?:cache|package|plugin|extension|module|dep|dependency|dependencies|build|log|history|hook|alias|completion|"
    r"lock|tmp|temp|template|theme|icon|font|version|toolchain|target|component|feature|dev|debug|mock|test|screen|window|"
    r"session)s?(?:[^a-z].*)?"
)
"""Words of what can be made again, in tools of this machine."""
UNASKED = frozenset(("--force", "--yes", "-y", "--assume-yes", "--no-prompt", "--non-interactive", "--no-input",
                      "--auto-approve", "--no-confirm", "--confirm", "--skip-confirmation"))  # fmt: skip
"""Options with which nobody is asked any more."""


def weighs(word: str) -> bool:
    """Whether a word names what others use, or what is not made again by a command: ``database``, ``volumes``."""
    return _WEIGHTY.fullmatch(word) is not None


def loses_softly(call: Call) -> bool:
    """Whether a word that is harmless of much (``remove``, ``cancel``) is said of what weighs: ``backups remove x``;
    or of all there are.
    """
    words = _first_words(call, 4)
    if _says_harmless(call, words) or not any(map(_SOFT.fullmatch, words)):
        return False
    if any(map(_WEIGHTY.fullmatch, words)):
        return True
    if call.has("--all") and any(map(_SOFT_OF_ALL.fullmatch, words)):
        return True
    unasked = not UNASKED.isdisjoint(call.command.flags) and any(map(_SOFT_OF_ONE.fullmatch, words))
    return unasked and not any(map(_LIGHT.fullmatch, words))


_CARRIES = re.compile(r"transfer|push|sync|import|restore|migrate|load|copy|replicate|seed")
_FORCED = UNASKED | {"--overwrite"}


def overwrites_there(call: Call) -> bool:
    """``strapi transfer --to https://… --force``: what stands at an address elsewhere is replaced, unasked."""
    texts = [item.text for item in call.fields[1:]]
    if _FORCED.isdisjoint(texts) or not any(map(_CARRIES.fullmatch, texts[:2])):
        return False
    away = (text.partition("=")[2] if text[:1] == "-" else text for text in texts if "://" in text)
    return any(not network_addresses.is_local_address(text) for text in away)


_LIVE_VERB = re.compile(
    r"(?:.*[-_:.])?(?:deploy(?:s|ments?)?|release|publish|promote|rollout|rollback|apply|push|sync|restart|scale|upgrade|"
    r"activate|cutover|switch|migrate|failover|import|restore|reload|swap)(?:[-_:.].*)?"
)
APPLIES = frozenset(("--apply", "--auto-apply", "--auto-approve", "--execute", "--no-dry-run", "--live"))
"""Options with which is done what is only looked at without them."""
_PRODUCTION = re.compile(r"(?i)-{0,2}(?:prod|production|live)")
_OF_PRODUCTION = re.compile(r"(?i)(?:.*[-_:@])?(?:prod|production)(?:[-_:@].*)?")
"""A name with that word in it; a word with a slash or a dot names a file (``locales/production.json``)."""
_SETS_PRODUCTION = re.compile(r"(?i)(?:.*[-_/:.@])?(?:prod|production|live)(?:[-_/:.@].*)?")
"""The value of an option."""


def _names_production(before: str, text: str) -> bool:
    name, equals, value = text.partition("=")
    if text[:1] == "-" or equals:
        return bool(_PRODUCTION.fullmatch(name) or (equals and _SETS_PRODUCTION.fullmatch(value)))
    if before[:1] == "-" and "=" not in before and _SETS_PRODUCTION.fullmatch(text):
        return True
    return bool(_PRODUCTION.fullmatch(text) or (not set("/.") & set(text) and _OF_PRODUCTION.fullmatch(text)))


def changes_live(call: Call) -> bool:
    """Whether a verb that changes what runs is said of what others use: ``sf project deploy --target-org prod``."""
    texts = [item.text for item in call.fields[1 : _WORDS * 2]]
    if not any(starmap(_names_production, pairwise(("", *texts)))):
        return False
    if not APPLIES.isdisjoint(texts):
        return True
    words = _first_words(call)
    return not _says_harmless(call, words) and any(map(_LIVE_VERB.fullmatch, words))


MADE_ANEW = frozenset(
    (
        # what they delete can be fetched or made again: versions, packages, builds, caches, windows, machines and
        # devices for tests
        *("rustup", "pyenv", "rbenv", "nodenv", "nvm", "fnm", "volta", "n", "sdk", "goenv", "jenv", "tfenv", "ghcup"),
        *("asdf", "mise", "proto", "conda", "mamba", "micromamba", "pixi", "hatch", "rye", "poetry", "pdm", "pipenv"),
        *("cargo", "go", "gem", "bundle", "composer", "opam", "cabal", "stack", "luarocks", "conan", "vcpkg", "nuget"),
        *("brew", "port", "apt", "apt-get", "dnf", "yum", "nix", "nix-store", "guix", "spack", "stow", "dotnet"),
        *("nx", "turbo", "lerna", "rush", "lage", "moon", "bazel", "bazelisk", "buck2", "pants", "ccache", "sccache"),
        *("tmux", "screen", "zellij", "abduco", "byobu", "tput", "reset", "stty", "setterm", "kitty", "wezterm"),
        *("meson", "ninja", "cmake", "ctest", "scons", "xmake", "colcon", "catkin", "molecule", "kitchen"),
        *("tox", "nox"),
        *("xcrun", "simctl", "adb", "avdmanager", "emulator", "fastboot", "flutter", "dart", "expo", "watchman"),
        *("jupyter", "ipython", "gdb", "lldb", "perf", "valgrind", "code", "cursor", "playwright"),
        *("task", "timew", "watson", "notify-send", "playerctl", "brightnessctl", "xrandr", "espeak", "say", "cowsay"),
        *("pre-commit", "lefthook", "husky", "husky-init", "commitlint", "coverage", "cover", "prettier", "eslint"),
        *("ruff", "black", "biome"),
        *("sort", "uniq", "cut", "comm", "join", "paste", "column", "fold", "nl", "rev", "tac", "shuf", "tr", "bat"),
        *("rg", "ag", "ack", "grep", "fzf", "jq", "yq", "awk", "dig", "host", "nslookup", "ping", "less", "more"),
    )
)
"""Programs of this machine alone whose verbs say ``delete`` or ``reset`` of what is theirs, or that look for words."""


@lru_cache(maxsize=4096)
def may_tell(word: str) -> bool:
    """Whether a word alone lets ``by_words`` say anything; of most commands none does."""
    lower = word.lower()
    if "prod" in lower or "live" in lower:
        return True
    if word[:1] == "-":
        name = lower.partition("=")[0]
        return bool(_LOSS_OPTION.fullmatch(name) or _SOFT_OPTION.fullmatch(name))
    return any(form.fullmatch(word) for form in (_LOSS, _FRESH, _CAMEL, _SOFT, _CARRIES))


def by_words(call: Call, *, loses: bool = False) -> Iterator[Effect]:
    """What the words of a call say where no row does; ``loses``: what is lost is known by something else."""
    program = call.command.program
    if not (loses or any(map(may_tell, (*call.command.argv[1 : _WORDS * 2], *_first_words(call, 4))))):
        return
    said = (loses_by_words, loses_softly, loses_by_options, overwrites_there)
    if loses or any(says(call) for says in said):
        yield call.effect(Kind.DEPLOY, program, "delete", sure=False)
    elif changes_live(call):
        yield call.effect(Kind.DEPLOY, f"{program} on production", sure=False)


_TYPED = 20
"""Lines of standard input that are looked at."""


def typed_loss(text: str) -> bool:
    """Whether a line that a console is given says a loss: ``erase``, ``disable server web/web1``."""
    for line in text.splitlines()[:_TYPED] if "\0" not in text else ():
        words = re.split(r"[\s/]+", line.strip())[:4]
        if _LOSS.fullmatch(words[0]) or (_SOFT.fullmatch(words[0]) and any(map(_WEIGHTY.fullmatch, words[1:]))):
            return True
    return False


def is_loss(word: str) -> bool:
    """Whether a verb says that something is lost: ``delete``, ``apps:destroy``."""
    return _LOSS.fullmatch(word) is not None


def loses_by_options(call: Call) -> bool:
    """The same of an option: ``--purge``, ``-delete``."""
    if _SAFE & call.command.flags:
        return False
    options = [item.text for item in call.fields[1 : _WORDS * 2] if item.text[:1] == "-"]
    texts = [option.partition("=")[0].lower() for option in options]
    if any(map(_LOSS_OPTION.fullmatch, texts)):
        return True
    words = _first_words(call, 4)
    return any(map(_SOFT_OPTION.fullmatch, texts)) and any(map(_WEIGHTY.fullmatch, words))


def effects(call: Call, rows: tuple[Row, ...], target: str = "") -> Iterator[Effect]:
    """The effect of the row that this call meets, on ``target`` where the row's name does not say on what."""
    found = EFFECTS.get(what(call, rows))
    if found is not None:
        kind, how, word = found
        yield call.effect(kind, word or target, *how)
