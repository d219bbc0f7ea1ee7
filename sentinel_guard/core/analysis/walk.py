"""The tree of a text, walked in the order in which bash would run it: directories, variables, pipes, branches, loops.

Rules of this file:
1. Every simple command is seen, whether its condition may hold or not: ``&&``, ``||``, if, case and loops hide nothing.
2. What differs between branches is unknown behind them. What a subshell changes is not seen outside.
3. A node gives its output as far as it is a constant, UNKNOWN standing for the rest, so that ``echo x | sh`` is ``x``.
4. Depth, number of commands and number of rounds are limited; what lies beyond is opaque, and what was found stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis import bash, branches, paths, starts
from sentinel_guard.core.analysis.branches import Known, changed
from sentinel_guard.core.analysis.builtins import BUILTINS
from sentinel_guard.core.analysis.commands import MAX_FILES, MAX_SCRIPT, UNKNOWN, Call
from sentinel_guard.core.analysis.overlay import Overlay
from sentinel_guard.core.analysis.place import Output, Place
from sentinel_guard.core.analysis.programs import PROGRAMS
from sentinel_guard.core.analysis.redirects import redirected
from sentinel_guard.core.analysis.refusals import refused
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.analysis.substitutions import consumes, may_substitute, substitutions
from sentinel_guard.core.analysis.syntax import (
    Arithmetic,
    Case,
    CommandSub,
    Coproc,
    Function,
    Group,
    If,
    List,
    Loop,
    Node,
    Pipeline,
    ProcessSub,
    Redirect,
    Simple,
    Subshell,
    Test,
    simple_commands,
)
from sentinel_guard.core.model import Command, Effect, Kind

MAX_COMMANDS = 5_000
"""Simple commands of one analysis, rounds of loops and calls of functions counted."""
MAX_DEPTH = 10
"""Texts inside texts."""
MAX_CALLS = 20
"""Functions inside functions."""

_FAITHFUL = frozenset("bash sh dash zsh ksh mksh ash rbash sudo timeout nice nohup command exec time".split())  # noqa: SIM905 - one line reads better than thirteen
"""Who takes a text as bash does, or hands it on as it is. Others (fish, socat) may run what bash refuses."""

PIPE = "/dev/fd/63"
"""The name that ``words`` gives to ``<(…)``."""


class Walk:
    """One analysis: collects effects."""

    def __init__(self, world: Overlay) -> None:
        self.world = world
        self.effects: list[Effect] = []
        self._left = MAX_COMMANDS

    def add(self, effect: Effect, place: Place) -> None:
        if place.disk and effect.kind is Kind.OPAQUE:
            effect = replace(effect, how=frozenset(("data",)))
        if place.elsewhere and effect.sure:
            effect = replace(effect, sure=False)
        self.effects.append(effect)

    def opaque(self, text: str, how: str, place: Place) -> None:
        self.add(Effect(Kind.OPAQUE, text, sure=False, how=frozenset((how,))), place)

    def spend(self, place: Place) -> bool:
        """Counts one command; False when the budget is gone."""
        self._left -= 1
        if self._left == 0:
            self.opaque(f"more than {MAX_COMMANDS} commands", "parse", place)
        return self._left > 0

    # ---- texts ----

    def text(self, text: str, place: Place) -> str:
        """Parses and walks a text in this scope; gives its output."""
        if UNKNOWN in text:
            self.opaque(text.replace(UNKNOWN, "…")[:200], "code", place)
            text = text.replace(UNKNOWN, "")
        if place.depth > MAX_DEPTH:
            self.opaque(text[:200], "parse", place)
            return UNKNOWN
        script = bash.parse(text)
        output = self.node(script.body, place._replace(depth=place.depth + 1))
        for error in script.errors[:1]:
            plain = _FAITHFUL.issuperset(place.via) and not (place.elsewhere or place.scope.aliases)
            self.opaque(error, "data" if plain and refused(script.source, script.errors) else "parse", place)
        return output

    def follow(self, item: Field, rest: Sequence[Field], place: Place) -> str:
        """``source FILE``: the file is walked in this scope."""
        if not item.known:
            self.opaque(item.text, "code", place)
            return UNKNOWN
        if item.text == "/dev/stdin":
            return self.text(place.stdin, place._replace(stdin=""))
        path = item.text if item.text == PIPE else paths.locate(item.text, place.cwd, self.world)
        text = self.world.read(path) if path == PIPE or place.files < MAX_FILES else None
        if path == PIPE:
            return self.text(UNKNOWN if text is None else text, place)
        self.add(Effect(Kind.READ, path, sure=place.scope.cwd is not None or item.text.startswith("/")), place)
        if text is None or len(text) > MAX_SCRIPT:
            return UNKNOWN
        if rest:
            place.scope.positional = tuple(f.text for f in rest) if all(f.known for f in rest) else None
        return self.text(text, place._replace(disk=True, files=place.files + 1))

    # ---- nodes ----

    def node(self, node: Node, place: Place) -> str:
        return _HANDLERS[type(node)](self, node, place)

    def items(self, node: List, place: Place) -> str:
        """Items in order. What an and-or list assigns behind its first item may not have happened."""
        output, before = [], ""
        sure: Known | None = None
        doubtful: set[str] = set()
        for item, separator in node.items:
            conditional = before in ("&&", "||")
            if conditional and sure is None:
                sure, doubtful = dict(place.scope.variables), set()
            if separator == "&":
                self.node(item, place.inside()._replace(forks=True))
            else:
                text = self.node(item, place._replace(maybe=True) if conditional and not place.maybe else place)
                output.append(UNKNOWN if before == "||" and text else text)
            if sure is not None:
                doubtful.update(changed(place.scope, sure))
                if separator not in ("&&", "||"):
                    place.scope.variables.update(dict.fromkeys(doubtful))
                    sure = None
            before = separator
        return "".join(output)

    def pipeline(self, node: Pipeline, place: Place) -> str:
        if len(node.commands) == 1:
            return self.node(node.commands[0], place)
        output = place.stdin
        last = len(node.commands) - 1
        reader = max((at for at, stage in enumerate(node.commands) if consumes(stage)), default=-1)
        for at, stage in enumerate(node.commands):
            wanted = place.wanted or (at < last and at < reader)
            output = self.node(stage, place._replace(scope=place.scope.copy(), stdin=output, forks=True, wanted=wanted))
        return output

    def subshell(self, node: Subshell, place: Place) -> str:
        return self._body(node.body, node.redirects, place.inside())

    def group(self, node: Group, place: Place) -> str:
        return self._body(node.body, node.redirects, place)

    def _body(self, body: List, redirects: Sequence[Redirect], place: Place) -> str:
        place, outputs = self.redirect(redirects, place)
        return self.keep(self.items(body, place), outputs, place)

    def function(self, node: Function, place: Place) -> str:
        place.scope.functions[node.name] = node.body
        return ""

    def call_function(self, name: str, fields: Sequence[Field], place: Place) -> str:
        """The body, with the arguments as ``$1 …``. One that calls itself twice and forks has no end: a fork bomb."""
        scope = place.scope
        body = scope.functions[name]
        if name in place.calls:
            again = sum(1 for c in simple_commands(body) if c.words and c.words[0].literal == name)
            if place.forks and not place.maybe and again > 1:
                own = Command(name, (name,), via=place.via)
                bomb = Effect(Kind.EXECUTE, name, how=frozenset(("forkbomb",)), command=own)
                self.effects += [] if bomb in self.effects else [bomb]
            return UNKNOWN
        if len(place.calls) >= MAX_CALLS:
            return UNKNOWN
        saved, mark = scope.positional, len(self.effects)
        scope.positional = tuple(f.text for f in fields) if all(f.known for f in fields) else None
        output = self.node(body, place._replace(calls=(*place.calls, name), forks=False, maybe=False))
        scope.positional = saved
        if name in PROGRAMS and not place.calls and self._hands_on(fields, mark):
            plain = place.inside()
            del plain.scope.functions[name]
            starts.command(self, [Field(name), *fields], plain)
        return output

    def _hands_on(self, fields: Sequence[Field], mark: int) -> bool:
        """Whether a program that nobody knows was given these arguments: ``find() { exec -a bfs x "$@"; }``."""
        given = tuple(field.text for field in fields)
        started = (e.command for e in self.effects[mark:] if e.kind is Kind.EXECUTE and e.command is not None)
        return bool(given) and any(
            c.program not in PROGRAMS and c.program not in BUILTINS and c.argv[-len(given) :] == given for c in started
        )

    def test(self, node: Test, place: Place) -> str:
        self.substitute(node.words, place)
        self.redirect(node.redirects, place)
        return ""

    def arithmetic(self, node: Arithmetic, place: Place) -> str:
        self.substitute(node.word, place)
        self.redirect(node.redirects, place)
        return ""

    def coproc(self, node: Coproc, place: Place) -> str:
        self.node(node.body, place.inside()._replace(stdin=UNKNOWN, forks=True))
        return ""

    def simple(self, node: Simple, place: Place) -> str:
        return starts.simple(self, node, place) if self.spend(place) else UNKNOWN

    # ---- substitutions and redirections ----

    def substitute(self, tree: object, place: Place) -> list[ProcessSub]:
        """Walks the commands inside ``$(…)`` and ``<(…)``; hands back the ``>(…)``, which run on the output."""
        later: list[ProcessSub] = []
        given: list[str] = []
        for part in substitutions(tree):
            if isinstance(part, CommandSub):
                self.node(part.script.body, place.inside()._replace(stdin=""))
            elif part.direction == "<":
                given.append(self.node(part.script.body, place.inside()._replace(stdin="", wanted=True)))
            else:
                later.append(part)
        if given:
            self.world.write(PIPE, "".join(given))
        return later

    def redirect(
        self, redirects: Sequence[Redirect], place: Place, command: Command | None = None
    ) -> tuple[Place, list[Output]]:
        """The effects of redirections; the place with its new standard input; where the output goes."""
        if not redirects:
            return place, []
        outputs = [Output(sub=sub) for item in redirects for sub in self._in_redirect(item, place)]
        effects, stdin, files = redirected(redirects, place, self.world, command)
        for effect in effects:
            self.add(effect, place)
        outputs += files
        if stdin is None and not outputs:
            return place, outputs
        stdin = place.stdin if stdin is None else stdin
        return place._replace(stdin=stdin, wanted=place.wanted or bool(outputs)), outputs

    def _in_redirect(self, item: Redirect, place: Place) -> list[ProcessSub]:
        words = [word for word in (item.target, item.heredoc) if word is not None and may_substitute(word.source)]
        return self.substitute(tuple(words), place) if words else []

    def keep(self, text: str, outputs: Iterable[Output], place: Place) -> str:
        """Output that goes into a file or a ``>(…)`` goes there, and no further."""
        gone = False
        for output in outputs:
            gone = True
            if output.sub is not None:
                self.node(output.sub.script.body, place.inside()._replace(stdin=text or UNKNOWN))
            elif output.path:
                old = (self.world.read(output.path) or "") if output.append else ""
                self.world.write(output.path, old + text)
        return "" if gone else text

    # ---- what programs start in turn: commands.Runner ----

    def run(
        self, fields: Sequence[Field], call: Call, via: str, *, stdin: str | None = None, cwd: str = ""
    ) -> list[Effect]:
        place = self._beside(call, via, cwd)
        place = place if stdin is None else place._replace(stdin=stdin)
        return self._collect(lambda: starts.command(self, fields, place))

    def script(
        self,
        text: str,
        call: Call,
        via: str,
        *,
        cwd: str = "",
        positional: Sequence[str] | None = None,
        file: bool = False,
    ) -> list[Effect]:
        place = self._beside(call, via, cwd)
        place.scope.positional = None if positional is None else tuple(positional)
        if file:
            place = place._replace(disk=True, files=place.files + 1)
        if text == call.stdin:
            place = place._replace(stdin="")
        return self._collect(lambda: self.text(text, place))

    def _beside(self, call: Call, via: str, cwd: str) -> Place:
        scope = call.scope.copy()
        scope.cwd = cwd or (call.cwd if call.here else None)
        chain = (*call.command.via, via)
        return Place(scope, cwd or call.cwd, call.stdin, chain, call.depth + 1, call.files, call.disk)

    def _collect(self, walk: Callable[[], object]) -> list[Effect]:
        saved, self.effects = self.effects, []
        try:
            walk()
            return self.effects
        finally:
            self.effects = saved


_HANDLERS: dict[type, Callable[..., str]] = {
    Simple: Walk.simple,
    List: Walk.items,
    Pipeline: Walk.pipeline,
    Subshell: Walk.subshell,
    Group: Walk.group,
    If: branches.if_,
    Case: branches.case,
    Loop: branches.loop,
    Function: Walk.function,
    Test: Walk.test,
    Arithmetic: Walk.arithmetic,
    Coproc: Walk.coproc,
}
