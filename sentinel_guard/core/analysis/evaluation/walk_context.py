"""Context of a syntax tree node during the walk: shell state, standard input, nesting depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from sentinel_guard.core.analysis.expansion.command_and_options import Runner
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.expansion.shell_state import Field, Scope
from sentinel_guard.core.analysis.parser.syntax_tree import Node, ProcessSub, Redirect
from sentinel_guard.core.model import Command, Effect
from sentinel_guard.core.value import value


@value
class WalkContext:
    """Passed down the tree; only ``scope`` changes on the way."""

    scope: Scope
    guess: str
    """The last current directory that was known."""
    stdin: str = ""
    """What is read there, with UNKNOWN for what is not known; empty for nothing."""
    via: tuple[str, ...] = ()
    depth: int = 0
    """Texts inside texts: ``bash -c``, eval, scripts."""
    files: int = 0
    """Script files that were followed."""
    disk: bool = False
    """In a script on disk: what cannot be resolved there is left to the shims, which see it run."""
    elsewhere: bool = False
    """On another machine or root, or with one of several values that variables may hold: nothing is sure."""
    calls: tuple[str, ...] = ()
    """Functions that are being called."""
    forks: bool = False
    """Since the last of these calls: in a pipe or in the background."""
    wanted: bool = False
    """Somebody reads the output."""
    maybe: bool = False
    """Since the last of these calls: under a condition or in a loop."""
    empty: frozenset[str] = frozenset()
    """Variables that a test has found empty on the way here, whatever is known of them."""
    absent: frozenset[str] = frozenset()
    """Paths at which a test has found no file on the way here: where there is one, this is not run."""
    shown: bool = True
    """What is printed here comes before the eyes of whoever asked."""

    harmless: bool = False
    """Of lines ``NAME=VALUE`` only those come that a filter takes, and it takes no secret's name."""
    stumbles: bool = False
    """What follows runs though this command fails: a ``cd`` to nowhere leaves the directory as it is."""

    def inside(self) -> WalkContext:
        """The same place in a subshell."""
        return WalkContext(
            self.scope.copy(), self.guess, self.stdin, self.via, self.depth, self.files, self.disk, self.elsewhere,
            self.calls, self.forks, self.wanted, self.maybe, self.empty, self.absent, self.shown, self.harmless,
            self.stumbles,
        )  # fmt: skip

    def stage(self, stdin: str, *, wanted: bool, shown: bool, harmless: bool) -> WalkContext:
        """The same place in a stage of a pipe. Written out, as are all that many commands need: a third of the time."""
        return WalkContext(
            self.scope.copy(), self.guess, stdin, self.via, self.depth, self.files, self.disk, self.elsewhere,
            self.calls, True, wanted, self.maybe, self.empty, self.absent, shown, harmless, self.stumbles,
        )  # fmt: skip

    def below(self) -> WalkContext:
        """The same place in a text inside of this one."""
        return WalkContext(
            self.scope, self.guess, self.stdin, self.via, self.depth + 1, self.files, self.disk, self.elsewhere,
            self.calls, self.forks, self.wanted, self.maybe, self.empty, self.absent, self.shown, self.harmless,
            self.stumbles,
        )  # fmt: skip

    def redirected(self, stdin: str, *, wanted: bool, shown: bool) -> WalkContext:
        """The same place behind redirections."""
        return WalkContext(
            self.scope, self.guess, stdin, self.via, self.depth, self.files, self.disk, self.elsewhere,
            self.calls, self.forks, wanted, self.maybe, self.empty, self.absent, shown, self.harmless, self.stumbles,
        )  # fmt: skip

    def after_test(self, *, maybe: bool, empty: frozenset[str], absent: frozenset[str]) -> WalkContext:
        """The same place behind ``&&`` or ``||``."""
        return WalkContext(
            self.scope, self.guess, self.stdin, self.via, self.depth, self.files, self.disk, self.elsewhere,
            self.calls, self.forks, self.wanted, maybe, empty, absent, self.shown, self.harmless, self.stumbles,
        )  # fmt: skip

    def opened(self) -> WalkContext:
        """The same place with the standard input that ``exec < FILE`` gave the shell, where nothing else is given."""
        held = self.scope.input
        return replace(self, stdin=held[0]) if held is not None and self.stdin == held[1] else self

    @property
    def cwd(self) -> str:
        return self.scope.cwd or self.guess


@value
class Output:
    """A place that standard output goes to: a file, ``>(…)``, or, with neither, somewhere that is not looked at."""

    path: str = ""
    append: bool = False
    sub: ProcessSub | None = None
    shown: bool | None = None
    """Whether what the ``>(…)`` itself prints is seen; None where it is as what the command prints."""
    socket: str = ""
    """The host and port that bash itself connects to."""


class Walker(Runner, Protocol):
    """What builtins and starting commands need of the walk."""

    world: Overlay
    effects: list[Effect]
    """What was found so far, in order."""
    running: dict[str, Node]
    """Functions that are being called, by name."""
    printing: dict[int, tuple[Node, Command | None]]
    """By the identity of a loop: its first command that says what it was given."""
    reading: dict[int, tuple[Node, bool]]
    """By the identity of a loop's condition or body: whether anything in it reads a line."""

    def text(self, text: str, place: WalkContext) -> str:
        """Walks a text in this very scope (eval, source); gives its output."""

    def node(self, node: Node, place: WalkContext) -> str: ...

    def add(self, effect: Effect, place: WalkContext) -> None: ...

    def opaque(self, text: str, how: str, place: WalkContext) -> None: ...

    def follow(self, item: Field, rest: Sequence[Field], place: WalkContext) -> str:
        """Walks a script file in this very scope."""

    def substitute(self, tree: object, place: WalkContext) -> None:
        """Walks what hides in words."""

    def substitute_inputs(self, tree: object, place: WalkContext) -> list[ProcessSub]:
        """The same; hands back the ``>(…)``."""

    def redirect(
        self, redirects: Sequence[Redirect], place: WalkContext, command: Command | None = None
    ) -> tuple[WalkContext, list[Output]]: ...

    def keep(self, text: str, outputs: Sequence[Output], place: WalkContext) -> str: ...

    def finish(self, place: WalkContext) -> None:
        """The end of a shell: traps run with what is known then."""

    def call_function(self, name: str, fields: Sequence[Field], place: WalkContext) -> str: ...
