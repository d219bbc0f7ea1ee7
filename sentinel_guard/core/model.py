"""The data model: actions, effects, findings, verdicts, outcomes, audit entries.

Frozen values, validated where they are made, no behaviour beyond describing themselves.

Text that came from the system (argv, paths, environment) is ``str`` decoded with ``surrogateescape``, so that bytes
which are not UTF-8 survive. Times are seconds since the epoch (``float``); durations are seconds.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field

from sentinel_guard.core.peer import Peer
from sentinel_guard.core.value import value


class Response(enum.IntEnum):
    """What a finding asks for, ordered: the strictest decides (DESIGN section 5)."""

    ALLOW = 0
    SNAPSHOT = 1
    HINT = 2
    COOL_DOWN = 3
    ASK = 4
    DENY = 5
    BREAK = 6
    KILL = 7

    @property
    def level(self) -> str:
        """The protocol's level (R1-R4), or an empty string."""
        return LEVELS[self]

    @property
    def word(self) -> str:
        return self.name.lower()


LEVELS = {
    Response.ALLOW: "",
    Response.SNAPSHOT: "",
    Response.HINT: "L1",
    Response.COOL_DOWN: "",
    Response.ASK: "",
    Response.DENY: "L2",
    Response.BREAK: "L3",
    Response.KILL: "L4",
}


class Layer(enum.StrEnum):
    """Where an action was intercepted (DESIGN section 2)."""

    SHELL = "shell"
    LINE = "line"
    SHIM = "shim"
    HOOK = "hook"
    GIT = "git"
    KERNEL = "kernel"
    WATCHER = "watcher"
    CLI = "cli"


class Kind(enum.StrEnum):
    """What an effect does; the word in brackets is what ``Effect.target`` holds."""

    EXECUTE = "execute"  # [program name]; ``command`` is always set
    WRITE = "write"  # [absolute path]
    DELETE = "delete"  # [absolute path]
    READ = "read"  # [absolute path]
    GIT_REWRITE = "git-rewrite"  # [what is rewritten or lost: "worktree", "branch NAME", "history", "config KEY", ...]
    PUBLISH = "publish"  # [where to: a remote, a registry]
    DATABASE = "database"  # [database or statement]
    DEPLOY = "deploy"  # [where to]
    PRIVILEGE = "privilege"  # [how: "sudo", "docker --privileged", ...]
    NETWORK = "network"  # [host or url]
    SIGNAL = "signal"  # [a pid, "%job" or a process name]
    OPAQUE = "opaque"  # [the text that could not be resolved]


@value
class Command:
    """One simple command after expansion, wrappers peeled off."""

    program: str
    """Base name of the program: ``git`` for ``/usr/bin/git``; ``""`` when it could not be resolved."""
    argv: tuple[str, ...]
    """The whole command as it would run, ``argv[0]`` as written."""
    subcommand: str = ""
    """``push`` in ``git -C x push``; empty for programs without subcommands."""
    flags: frozenset[str] = frozenset()
    """Normalised: ``-rf`` gives ``-r`` and ``-f``; ``--x=y`` gives ``--x``."""
    operands: tuple[str, ...] = ()
    """What is neither flag nor a flag's value, after the subcommand."""
    via: tuple[str, ...] = ()
    """Wrappers that were peeled, outermost first: ``("sudo", "timeout")``."""


@value
class Effect:
    """What an action would do to something."""

    kind: Kind
    target: str
    sure: bool = True
    """False when the analysis guesses: an unsure effect is asked about or refused, never a kill."""
    how: frozenset[str] = frozenset()
    """Words from: recursive force append truncate mode owner link move raw inplace mkfs contents forkbomb
    shown stage; and for OPAQUE: name code delete write parse data (analysis/analyse.py says what each means)."""
    command: Command | None = None
    """The simple command that has this effect."""
    data: str = field(default="", repr=False)
    """The text that moves with it, as far as it is known: what a sender gets on its standard input, what the action
    itself writes to a file, and reads back; ``command_and_options.UNKNOWN`` for the rest. Never logged, told or stored.
    """
    written: tuple[str, ...] = field(default=(), repr=False)
    """Of a sender that is given secrets in variables: its words, with ``$NAME`` where one of these stands and no other
    dollar; of a read of keys by their names (how: key): these; else empty.
    """
    file: str = ""
    """Of a loss in what is one known file, a database or a stash entry's commit: its absolute path."""
    folder: str = field(default="", repr=False, compare=False)
    """Where the command works, absolute; empty where that is not known. For what a person is shown alone."""
    found: str = ""
    """What a look at what it would send found, redacted: more of the reason why it is asked about."""

    def with_how(self, how: frozenset[str]) -> Effect:
        """``replace``, in a sixth of the time."""
        return Effect(
            self.kind, self.target, self.sure, how, self.command, self.data, self.written, self.file, self.folder,
            self.found,
        )  # fmt: skip


@value
class Action:
    """One proposed thing: a command line, a script text, or an agent's tool call."""

    id: str
    session: str
    layer: Layer
    tool: str
    """``shell``, a program name (``git``) for a shim, or the agent's tool name (``Write``)."""
    arguments: Mapping[str, object]
    """JSON-able. Shell with -c, line of a shell: ``{"command": text}``. Other shells, shims: ``{"argv": [..]}``. Tools:
    their input."""
    cwd: str
    at: float
    root: str = ""
    """Top of the repository that the session guards; empty outside of one."""
    parent: str = ""
    """Id of the tool call, or of the line of an interactive shell, that this is a step of; empty for a tool call."""
    who: Peer | None = None
    agent: str = ""
    """Name of the coding agent that made the call (``agents/registry``), where that is known."""
    around: str = ""
    """The command with what the agent's wrapper runs in the same shell: judged, neither shown nor compared."""
    for_itself: bool = False
    """True where the agent started it for its own purposes: what it prints does not go to the model."""
    unknown_wrapper: bool = False
    """True where that agent's wrapper around the command was not understood, and is judged with it."""
    typed: bool = False
    """True where its standard input is a terminal, and not the one at which the person sits: the agent types there."""
    call: str = ""
    """The client's own id of a tool call that its hooks asked about; empty where it gives none."""
    subagent: str = ""
    """The client's own id of the subagent that made it; empty for the main one."""
    definitions: str = field(default="", repr=False)
    """Of a line: shell text that defines what the shell knows, for the analysis alone. Never logged, told or stored."""


@value
class Ask:
    """What the two-key gate shows (R7): the block's three values."""

    action: str
    target: str
    risk: str = "HIGH"


@value
class Finding:
    """What a check says. ``what why instead`` make the sentence that the agent reads."""

    check: str
    response: Response
    what: str
    why: str = ""
    instead: str = ""
    rule: str = ""
    evidence: str = ""
    ask: Ask | None = None
    operations: frozenset[str] = frozenset()
    """For BREAK by a loop: the operations that the breaker is keyed to."""
    held: float = 0.0
    """For COOL_DOWN: seconds for which the session is held."""


@value
class Verdict:
    """What was decided about an action, and by which findings."""

    action: Action
    effects: tuple[Effect, ...] = ()
    findings: tuple[Finding, ...] = ()
    granted: tuple[Finding, ...] = ()
    """Findings that a person said yes to. They stay on record and no longer decide."""
    authorized_by: str = ""
    """``user`` after a yes (R7)."""

    @property
    def decisive(self) -> Finding | None:
        """The strictest finding that still counts; the first of equals."""
        if not self.findings:  # of most calls, and each is asked fifteen times
            return None
        standing = [f for f in self.findings if f not in self.granted]
        return max(standing, key=lambda f: f.response, default=None)

    @property
    def response(self) -> Response:
        decisive = self.decisive
        return decisive.response if decisive else Response.ALLOW


@value
class TestRun:
    """One run of a known test runner."""

    runner: str
    failed: frozenset[str]
    """Names of the failing tests; may be empty when only the count is known."""
    count: int
    """How many failed; 0 for a green run."""

    __test__ = False


@value
class Outcome:
    """How a tool call ended."""

    action: str
    at: float
    code: int
    """Exit code; 128 + n after death by signal n."""
    error: str = ""
    """Digest of the masked error output: ``BLANK`` (``core/text/normalize_output``) where it was seen to be empty,
    ``UNSEEN`` where it was not seen; empty for a success."""
    output: str = ""
    """Digest of the masked output, ``BLANK`` where it was seen to be empty; empty where it was not seen."""
    excerpt: str = ""
    """The redacted head of the error, for people."""
    tests: TestRun | None = None
    duration: float = 0.0
    before: str = ""
    """The worktree when the call began: ``TREE``, a git tree, or ``TREE+digest`` where files are too large for one;
    empty when unknown. The ``after`` of an earlier try where only background processes have written since."""
    after: str = ""
    """The same when it ended."""


@value
class Usage:
    """Tokens of one reply of a model, or of one report (R6), counts."""

    at: float
    """When the reply was complete, as its source tells."""
    input: int = 0
    """What was neither read from a cache nor written to one."""
    output: int = 0
    """With what the model was thinking."""
    cache_read: int = 0
    cache_write: int = 0
    source: str = ""
    """Who told: a coding agent's own record (its name, ``agents/registry``), or ``REPORT`` (session/token_ledger)."""
    key: str = ""
    """By which the source names the reply: what it tells of it later adds no second one. Empty: told once."""
    model: str = ""
    estimated: bool = False
    compaction: bool = False
    """True where the client shortened its conversation with it, or read the shortened one anew."""

    @property
    def work(self) -> int:
        """Work tokens: cache reads are not counted (DESIGN section 6, cost)."""
        return self.input + self.output + self.cache_write


@value
class Answer:
    """What the launcher or agent is told."""

    run: bool
    """True: the command runs. False: it does not, and ``code`` is its exit code."""
    text: str = ""
    """For standard error: a hint, a refusal, the intervention."""
    code: int = 0


@value
class Question:
    """What a human is asked (R7)."""

    id: str
    session: str
    ask: Ask
    detail: str
    """The command as it was given, control characters made visible."""
    why: str
    asked: float
    until: float
    """When silence becomes a no; 0 for never."""
    typed_word: bool = False
    """Whether a yes from a terminal on which an agent could type needs a word behind it."""
    timed: float = 0.0
    """Seconds for which a yes may hold for all of this kind; 0: that is not offered."""
    preview: tuple[str, ...] = ()
    """What would happen, in lines that are shown with the question; empty where nothing could be said."""
    details: str = ""
    """More of it (a list of files, a diff), shown where the person asks for it."""
    code: bool = False
    """Whether a yes needs a code of the second factor."""


@value
class Entry:
    """One row of the audit log. ``data`` is JSON-able and already redacted."""

    at: float
    session: str
    kind: str
    """session owner verdict outcome observation usage human chat state watch incident recovery end daemon"""
    data: Mapping[str, object] = field(default_factory=dict)
    level: str = ""
    """L1-L4 or empty."""
    seq: int = 0
    """Given by the store, from 1, without gaps."""
    prev: str = ""
    hash: str = ""
