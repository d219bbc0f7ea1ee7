"""The policy: what is restricted, what is asked about, and every limit (DESIGN section 9)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from sentinel_guard.core.model import Response
from sentinel_guard.core.policy import gitignore_patterns

_LITERAL = re.compile(r"[^][*?!\\/ ]+")
"""Runs of a pattern's characters that stand for themselves."""


@dataclass(frozen=True, slots=True)
class Paths:
    restricted: tuple[str, ...] = ()
    """gitignore patterns: no write, delete, rename, chmod, link."""
    hidden: tuple[str, ...] = ()
    """gitignore patterns: not read either."""
    create: str = "allow"
    """Whether a session may make, and then change, a file that a built-in pattern restricts, where nothing was when it
    began: ``allow``, ``ask`` (a person's yes) or ``deny``.
    """


@dataclass(frozen=True, slots=True)
class Loop:
    window: int = 10
    repeats: int = 3
    strict: bool = False
    polls: tuple[str, ...] = ()
    """Command prefixes that are declared polls."""


@dataclass(frozen=True, slots=True)
class Failures:
    runs: int = 5
    seconds: float = 60.0
    strict: bool = False


@dataclass(frozen=True, slots=True)
class ErrorRate:
    hint: float = 0.6
    trip: float = 0.9


@dataclass(frozen=True, slots=True)
class Breaker:
    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Cost:
    tokens_per_minute: int = 50_000
    cooldown_seconds: float = 30.0
    telemetry: bool = False
    """Whether Claude Code is to send its counts to the guard, too."""
    estimate: bool = False
    """Whether tokens are estimated where nobody tells."""


@dataclass(frozen=True, slots=True)
class Fatal:
    rollback: bool = True


@dataclass(frozen=True, slots=True)
class Recovery:
    deep: bool = False
    """Keep an independent copy of the start's objects, where hard links do not suffice."""
    keep_days: int = 14
    """Rescue snapshots older than this are collected."""
    keep_megabytes: int = 500
    """The oldest rescue snapshots are collected until the rest hold no more."""


@dataclass(frozen=True, slots=True)
class Leaks:
    allow: tuple[str, ...] = ()
    """gitignore patterns: files in which secrets and personal data are not looked for."""
    hosts: tuple[str, ...] = ()
    """Hosts that data may be sent to; ``x.com`` takes its subdomains in."""


@dataclass(frozen=True, slots=True)
class Audit:
    witness: tuple[str, ...] = ()
    """Second places that are told the newest entry's number and hash: ``file:/PATH``, ``git:/REPO#refs/NAME``,
    ``syslog``.
    """


@dataclass(frozen=True, slots=True)
class Gate:
    seconds: float = 300.0
    """How long a question waits; 0 = for ever. Silence is a no."""
    typed_word: bool = False
    """Where an agent could type on the person's terminal, a yes is the Y and a word that is shown behind it."""
    timed_seconds: float = 600.0
    """For how long a yes may hold for all of one kind, where the person chooses so; 0: that is not offered."""
    second_factor: tuple[str, ...] = ()
    """Actions, as the gate shows them, to which a yes needs a code from the person's device; ``*`` for all."""

    def needs_code(self, action: str) -> bool:
        return any(named in ("*", action) for named in self.second_factor)


@dataclass(frozen=True, slots=True)
class Kernel:
    mode: str = "auto"
    """Whether system calls are held (docs/kernel-layer.md): ``auto`` where the machine can, ``require``, or ``off``."""
    after_reading: str = "ask"
    """What becomes of connections to other machines once a program has read a file of secrets: ``ask``, or ``off``."""


MENU_KEYS = ("ctrl-\\", "ctrl-]", "ctrl-^", "ctrl-_", "none")


@dataclass(frozen=True, slots=True)
class GitHooks:
    without_guard: str = "refuse"
    """What a commit or push outside of every session meets where the program is gone: ``refuse``, or ``warn``."""


@dataclass(frozen=True, slots=True)
class AlertChannels:
    urls: tuple[str, ...] = ()
    """Addresses in Apprise's form."""
    level: str = "L3"
    """What is told there: this level and above."""


@dataclass(frozen=True, slots=True)
class Protection:
    preset: str = "standard"
    """One of ``presets.NAMES``."""


@dataclass(frozen=True, slots=True)
class Terminal:
    menu_key: str = "ctrl-\\"
    """The key that opens the menu of a session under ``run``, one of MENU_KEYS."""
    title: bool = True
    """Whether the terminal's title shows the session's state."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: data, matched on analysed commands and effects, never on raw text."""

    id: str
    response: Response
    why: str
    instead: str = ""
    action: str = ""
    """What the gate shows as ``Action:``; given for ``ask``."""
    risk: str = "HIGH"
    program: tuple[str, ...] = ()
    subcommand: tuple[str, ...] = ()
    any_flag: frozenset[str] = frozenset()
    all_flags: frozenset[str] = frozenset()
    no_flag: frozenset[str] = frozenset()
    operand: tuple[str, ...] = ()
    """Shell patterns (fnmatch); one operand must match one of them."""
    effect: tuple[str, ...] = ()
    """Kinds of effects (``delete``); with it the rule matches effects, and the keys above their command."""
    target: tuple[str, ...] = ()
    """Shell patterns on the effect's target, and ``target_placeholders``: ``{root} {git} {home} {system} …``."""
    not_target: tuple[str, ...] = ()
    """The same; a target that one of these takes in is not meant."""
    how: frozenset[str] = frozenset()
    """Words that the effect's ``how`` must all have."""
    no_how: frozenset[str] = frozenset()
    """Words of which the effect's ``how`` must have none."""
    sure: bool | None = None
    held: bool = False
    """Whether the kernel layer holds the system calls that change its targets, whatever program makes them."""
    hit: tuple[str, ...] = ()
    miss: tuple[str, ...] = ()
    source: str = ""
    """The file or pack that the rule stands in."""


@dataclass(frozen=True, slots=True)
class Policy:
    paths: Paths = Paths()
    """The built-in patterns, then the user's, which may take some back with ``!``."""
    project: Paths = Paths()
    """The project's own patterns: evaluated apart, so that a ``!`` in them takes nothing back from ``paths``."""
    common: frozenset[str] = frozenset()
    """The built-in restricted patterns of files that a session may make where there is none (``[paths] create``)."""
    confirm: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Name of the action (``deploy``) -> command patterns (``./scripts/deploy*``)."""
    shims: tuple[str, ...] = ("git", "rm")
    loop: Loop = Loop()
    failures: Failures = Failures()
    error_rate: ErrorRate = ErrorRate()
    breaker: Breaker = Breaker()
    cost: Cost = Cost()
    fatal: Fatal = Fatal()
    recovery: Recovery = Recovery()
    leaks: Leaks = Leaks()
    audit: Audit = Audit()
    gate: Gate = Gate()
    protection: Protection = Protection()
    git_hooks: GitHooks = GitHooks()
    kernel: Kernel = Kernel()
    terminal: Terminal = Terminal()
    alerts: AlertChannels = AlertChannels()
    rules: tuple[Rule, ...] = ()
    warnings: tuple[str, ...] = ()
    """What was wrong with a policy file that is therefore not in force; shown loudly."""
    sources: tuple[str, ...] = ()
    """The policy files that are in force."""

    def restricts(self, path: str, root: str) -> str:
        """The pattern that restricts an absolute path, or an empty string."""
        return last_matching_pattern(self.paths.restricted, path, root) or last_matching_pattern(
            self.project.restricted, path, root
        )

    def lets_create(self, pattern: str) -> bool:
        """Whether a path that this pattern restricts may be made, or asked for, where nothing is.

        What a person restricts in a policy of their own is closed to new files, too.
        """
        return self.paths.create != "deny" and pattern in self.common and pattern not in self.project.restricted

    def hides(self, path: str, root: str) -> str:
        """The pattern that hides an absolute path, or an empty string."""
        return last_matching_pattern(self.paths.hidden, path, root) or last_matching_pattern(
            self.project.hidden, path, root
        )


def last_matching_pattern(patterns: tuple[str, ...], path: str, root: str) -> str:
    """The last gitignore pattern that takes the absolute ``path`` in, or an empty string.

    Below ``root`` the path relative to it counts, elsewhere the absolute path without its leading slash. Whether the
    path is a folder is not known here, so ``secrets/`` takes in a file of that name too: too tight beats too loose.
    """
    if not patterns:
        return ""
    relative = _relative(path, root)
    if not relative:
        return ""
    for literal in literals(patterns):  # a loop: asked of every path, and any() costs as much as the question
        if literal in relative:
            break
    else:
        return ""
    return _match(patterns, relative) or _match(patterns, relative + "/")


def is_pattern(text: str) -> bool:
    """Whether a text says something as a gitignore pattern: no comment, nothing empty, nothing git refuses."""
    return gitignore_patterns.parse(text) is not None


def _relative(path: str, root: str) -> str:
    base = root.rstrip("/") + "/"
    return (path[len(base) :] if root and path.startswith(base) else path.lstrip("/")).rstrip("/")


@lru_cache(maxsize=32)
def literals(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Of each pattern that takes something in, a text that every path it takes in holds; it may be empty."""
    runs = (_LITERAL.findall(p.partition("[")[0]) for p in patterns if not p.startswith("!"))
    return tuple(dict.fromkeys(max(found, key=len, default="") for found in runs))


@lru_cache(maxsize=32)
def _compiled(patterns: tuple[str, ...]) -> tuple[gitignore_patterns.Pattern | None, ...]:
    return tuple(gitignore_patterns.parse(pattern) for pattern in patterns)


@lru_cache(maxsize=4096)
def _match(patterns: tuple[str, ...], relative: str) -> str:
    compiled = _compiled(patterns)
    place = gitignore_patterns.last(compiled, relative.removeprefix("./"))
    decides = compiled[place] if place >= 0 else None
    return patterns[place] if decides and decides.takes else ""
