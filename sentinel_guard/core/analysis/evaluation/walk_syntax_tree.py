"""Abstract interpreter for bash: walks the syntax tree in the order in which bash would run it, and collects effects.

Rules of this file:
1. Every simple command is seen, whether its condition may hold or not: ``&&``, ``||``, if, case and loops hide nothing.
   But an ``exit`` does where a script surely comes to it, and a test of a script that decides (``conditions.told``).
2. A variable that differs between branches is one of what they leave in it, and every value counts; what else differs
   is unknown behind them. What a subshell changes is not seen outside.
3. A node gives its output as far as it is a constant, UNKNOWN standing for the rest, so that ``echo x | sh`` is ``x``.
4. Depth, rounds and all steps together (step_budget.py) are limited; what lies beyond is opaque, what was found stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.evaluation import (
    branches_and_loops,
    made_names,
    possible_values,
    secret_output,
    shell_functions,
    simple_command,
)  # fmt: skip
from sentinel_guard.core.analysis.evaluation.and_or_lists import items
from sentinel_guard.core.analysis.evaluation.command_output import ExactOutputs
from sentinel_guard.core.analysis.evaluation.conditions import begin_name, begin_text, reaches
from sentinel_guard.core.analysis.evaluation.fatal_syntax_errors import all_fatal, kind_of_error
from sentinel_guard.core.analysis.evaluation.program_effects import fetches
from sentinel_guard.core.analysis.evaluation.redirections import evaluate_redirects, send_along, write_output
from sentinel_guard.core.analysis.evaluation.walk_context import Output, WalkContext
from sentinel_guard.core.analysis.expansion.command_and_options import MAX_FILES, MAX_SCRIPT, UNKNOWN, Call
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.expansion.output_visibility import (
    discards_input,
    last_discarding_stage,
    last_harmless_filter,
)
from sentinel_guard.core.analysis.expansion.partly_known_output import NothingPrinted
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.expansion.written_files import States
from sentinel_guard.core.analysis.parser import bash_parser
from sentinel_guard.core.analysis.parser.find_substitutions import (
    FoundSubstitutions,
    consumes,
    may_substitute,
    quoted_code,
)
from sentinel_guard.core.analysis.parser.syntax_tree import (
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
    Parameter,
    Pipeline,
    ProcessSub,
    Redirect,
    Simple,
    Subshell,
    Test,
)
from sentinel_guard.core.analysis.programs.secret_stores import METADATA, is_metadata
from sentinel_guard.core.analysis.step_budget import COMMAND, EFFECT, NODE, TOO_MUCH, BudgetExceeded
from sentinel_guard.core.model import Command, Effect, Kind

MAX_DEPTH = 10
"""Texts inside texts."""
_FAITHFUL = frozenset("bash sh dash zsh ksh mksh ash rbash sudo timeout nice nohup command exec time".split())  # noqa: SIM905 - one line reads better than thirteen
"""Who takes a text as bash does, or hands it on as it is. Others (fish, socat) may run what bash refuses."""

_NOWHERE = Output()
_UNFOUND = ("command_not_found_handle", "command_not_found_handler")
"""Functions that the shell itself calls."""
_REPLACES = frozenset(("truncate", "move"))
PIPE = "/dev/fd/63"
"""The name that ``word_expansion`` gives to ``<(…)``."""


class Walk:
    """One analysis: collects effects."""

    def __init__(self, world: Overlay) -> None:
        self.world = world
        self.running: dict[str, Node] = {}
        self.effects: list[Effect] = []
        self.printing: dict[int, tuple[Node, Command | None]] = {}
        self.reading: dict[int, tuple[Node, bool]] = {}
        self._substitutions, self._exact = FoundSubstitutions(), ExactOutputs()

    def add(self, effect: Effect, place: WalkContext) -> None:
        kind = effect.kind
        if kind is Kind.READ:
            effect = secret_output.as_seen(effect, place)
        elif kind is Kind.WRITE:
            if effect.target in place.absent and self.world.kind(effect.target) == "file":
                return
            if effect.how & _REPLACES and self.world.replaces_outside_file(effect.target):
                effect = effect.with_how(effect.how | {"over"})
        elif kind is Kind.NETWORK:
            self.world.connected = True
            if is_metadata(effect.target):
                self.add(Effect(Kind.READ, METADATA, effect.sure, frozenset(("shown",)), effect.command), place)
            if place.stdin and "data" in effect.how and place.stdin not in effect.data:
                effect = replace(effect, data=effect.data + place.stdin)
        elif place.disk and kind is Kind.OPAQUE:
            effect = replace(effect, how=frozenset(("data",)))
        if place.elsewhere and effect.sure:
            effect = replace(effect, sure=False)
        self.effects.append(effect)
        self.world.budget.spend(EFFECT)

    def opaque(self, text: str, how: str, place: WalkContext) -> None:
        self.add(Effect(Kind.OPAQUE, text, sure=False, how=frozenset((how,))), place)

    # ---- texts ----

    def text(self, text: str, place: WalkContext) -> str:
        """Parses and walks a text in this scope; gives its output."""
        if UNKNOWN in text:
            self.opaque(text.replace(UNKNOWN, "…")[:200], "code", place)
            text = text.replace(UNKNOWN, "")
        if place.depth > MAX_DEPTH:
            self.opaque(text[:200], "parse", place)
            return UNKNOWN
        script = bash_parser.parse(text)
        output = self.node(script.body, place.below())
        for error in script.errors[:1]:
            plain = _FAITHFUL.issuperset(place.via) and not (place.elsewhere or place.scope.aliases)
            fatal = plain and all_fatal(script.source, script.errors)
            self.opaque(error, kind_of_error(error) if fatal else "parse", place)
        return output + UNKNOWN if script.errors else output

    def follow(self, item: Field, rest: Sequence[Field], place: WalkContext) -> str:
        """``source FILE``: the file is walked in this scope."""
        if not item.known:
            self.opaque(item.text, "code", place)
            return UNKNOWN
        if self.world.is_stdin(item.text, place.cwd):
            return self.text(place.stdin, replace(place, stdin=""))
        path = item.text if item.text == PIPE else paths.locate(item.text, place.cwd, self.world)
        text = self.world.read(path) if path == PIPE or place.files < MAX_FILES else None
        if path == PIPE:
            return self.text(UNKNOWN if text is None else text, place)
        traced = place.shown and not place.disk and (place.scope.is_on("xtrace") or place.scope.is_on("verbose"))
        sure = place.scope.cwd is not None or item.text.startswith("/")
        self.add(Effect(Kind.READ, path, sure, frozenset(("shown",) if traced else ())), place)
        if self.world.fetched and self.world.is_fetched(path):
            self.opaque(item.text, "code", place)
        if text is None or len(text) > MAX_SCRIPT:
            return UNKNOWN
        given = place.scope.positional
        if rest:
            place.scope.positional = tuple(f.text for f in rest) if all(f.known for f in rest) else None
        disk = place.disk or not self.world.wrote_text(text)
        output = self._on_disk(text, replace(place, disk=disk, files=place.files + 1))
        if rest:
            place.scope.positional = given
        return output

    def _on_disk(self, text: str, place: WalkContext) -> str:
        mark = self.world.mark()
        try:
            with self.world.budget.of_script():
                return self.text(text, place)
        except BudgetExceeded:
            self.world.may_have_ended([mark])
            self.opaque(TOO_MUCH, "parse", place)
            return UNKNOWN

    # ---- nodes ----

    def node(self, node: Node, place: WalkContext) -> str:
        # Places are copied and merged on the way, with all that is known there.
        budget = self.world.budget
        budget.left -= NODE + (len(place.scope.variables) >> 4)
        if budget.left < 0:
            raise BudgetExceeded
        return _HANDLERS[type(node)](self, node, place)

    def pipeline(self, node: Pipeline, place: WalkContext) -> str:
        if len(node.commands) == 1:
            return self.node(node.commands[0], place)
        output = place.stdin
        reader = last = len(node.commands) - 1
        while reader >= 0 and not place.wanted and not consumes(node.commands[reader]):
            reader -= 1
        swallower = last_discarding_stage(node.commands) if place.shown else -1
        picker = last_harmless_filter(node.commands) if place.shown else -1
        mark, left = len(self.effects), list[States]()
        for at, stage in enumerate(node.commands):
            begun = self.world.mark()
            wanted = place.wanted or (at < last and at < reader)
            shown = place.shown and at >= swallower
            here = place.stage(output, wanted=wanted, shown=shown, harmless=place.harmless or at < picker)
            here.scope.feeds = _as_written(node.commands[at - 1]) if at else ""
            output = self.node(stage, here) or NothingPrinted()
            if at < last or any(left):
                left.append(self.world.leave(begun))
            if at < last and left[-1]:
                self.world.join([left[-1], {}])  # which the next stages may be faster than
        for states in filter(None, left):
            self.world.join([states])
        fetches(self, mark)
        return output

    def subshell(self, node: Subshell, place: WalkContext) -> str:
        inner = place.inside()
        inner.scope.traps = []
        output = self._body(node.body, node.redirects, inner)
        self.finish(inner)
        return output

    def finish(self, place: WalkContext) -> None:
        """The end of a shell: traps run with what is known then."""
        shell_functions.run_traps(self, place)

    def group(self, node: Group, place: WalkContext) -> str:
        return self._body(node.body, node.redirects, place)

    def _body(self, body: List, redirects: Sequence[Redirect], place: WalkContext) -> str:
        place, outputs = self.redirect(redirects, place)
        return self.keep(items(self, body, place), outputs, place)

    def function(self, node: Function, place: WalkContext) -> str:
        shell_functions.define(node, place)
        if node.name in _UNFOUND:
            self.call_function(node.name, [Field("$@", known=False)], place.inside())
        return ""

    def call_function(self, name: str, fields: Sequence[Field], place: WalkContext) -> str:
        return shell_functions.call(self, name, fields, place)

    def coproc(self, node: Coproc, place: WalkContext) -> str:
        with self.world.beside():
            self.node(node.body, replace(place.inside(), stdin=UNKNOWN, forks=True))
        place.scope.forget((node.name,) if node.name else ())
        return ""

    def simple(self, node: Simple, place: WalkContext) -> str:
        if place.scope.choices and (places := possible_values.places(possible_values.sources(node), place)):
            return possible_values.each(self, place, places, lambda inner: self.simple(node, inner))
        self.world.budget.spend(COMMAND + len(node.words))
        text = simple_command.simple(self, node, place)
        if len(text) > 255:
            self.world.budget.spend(len(text) >> 8)
        return text

    # ---- substitutions and redirections ----

    def substitute(self, tree: object, place: WalkContext) -> None:
        """Walks the commands inside ``$(…)``, ``<(…)`` and ``>(…)``, which read what nobody knows."""
        for sub in self.substitute_inputs(tree, place):
            with self.world.beside():
                self.node(sub.script.body, replace(place.inside(), stdin=UNKNOWN))

    def substitute_inputs(self, tree: object, place: WalkContext) -> list[ProcessSub]:
        """Walks the commands inside ``$(…)`` and ``<(…)``; hands back the ``>(…)``, which run on the output."""
        later: list[ProcessSub] = []
        given: list[str] = []
        for part in self._substitutions.within(tree):
            if isinstance(part, Parameter) and part.op != "@P":
                if part.index is not None and "A" not in place.scope.attributes.get(part.name, ""):
                    self.text(f'echo "{quoted_code(part.index)}"', place.inside())
            elif isinstance(part, Parameter):
                for item in place.scope.lookup(part.name).items[:1]:
                    self.text(f': "{item}"', place.inside())
            elif isinstance(part, CommandSub):
                said = self.node(part.script.body, replace(place.inside(), wanted=True))
                if UNKNOWN in said or self._exact.has(part.script, place.scope):
                    place.scope.outputs[id(part.script)] = part.script, said
            elif part.direction == "<":
                given.append(self.node(part.script.body, replace(place.inside(), wanted=True)))
            else:
                later.append(part)
        if given:
            self.world.write(PIPE, "".join(given))
        return later

    def redirect(
        self, redirects: Sequence[Redirect], place: WalkContext, command: Command | None = None
    ) -> tuple[WalkContext, list[Output]]:
        """The effects of redirections; the place with its new standard input; where the output goes."""
        if not redirects:
            return place, []
        if place.scope.choices:
            for inner in possible_values.places([r.target.source for r in redirects if r.target], place):
                for effect in evaluate_redirects(redirects, inner, self.world, command)[0]:
                    self.add(effect, inner)
        subs = [
            sub
            for item in redirects
            for word in (item.target, item.heredoc)
            if word is not None and not word.plain and may_substitute(word.source)
            for sub in self.substitute_inputs(word, place)
        ]
        effects, stdin, files = evaluate_redirects(redirects, place, self.world, command)
        for effect in effects:
            self.add(effect, place)
        outputs = [*[Output(sub=sub, shown=place.shown) for sub in subs], *files] if subs else files
        stdin = place.stdin if stdin is None else stdin
        lost = _NOWHERE in files and all(discards_input(sub.script.body) for sub in subs)
        return place.redirected(stdin, wanted=place.wanted or bool(outputs), shown=place.shown and not lost), outputs

    def keep(self, text: str, outputs: Sequence[Output], place: WalkContext) -> str:
        """Output that goes into a file or a ``>(…)`` goes there, and no further."""
        for output in outputs:
            if output.socket:
                send_along(self.effects, output.socket, text)
            elif output.sub is not None:
                shown = place.shown if output.shown is None else output.shown
                with self.world.beside():
                    self.node(output.sub.script.body, replace(place.inside(), stdin=text or UNKNOWN, shown=shown))
            elif output.path:
                write_output(output, text, place, self.world)
        return "" if outputs else text

    # ---- what programs start in turn: command_and_options.Runner ----

    def run(
        self, fields: Sequence[Field], call: Call, via: str, *, stdin: str | None = None, cwd: str = ""
    ) -> list[Effect]:
        place = self._beside(call, via, cwd)
        place = place if stdin is None else replace(place, stdin=stdin)
        sure = via in _FAITHFUL
        return self._collect(lambda: simple_command.command(self, fields, place), place, sure=sure)

    def script(
        self,
        text: str,
        call: Call,
        via: str,
        *,
        cwd: str = "",
        positional: Sequence[str] | None = None,
        name: str | None = None,
        file: bool = False,
    ) -> list[Effect]:
        place = self._beside(call, via, cwd)
        place.scope.positional = None if positional is None else tuple(positional)
        begin_name(place.scope, name, file=file)
        begin_text(place.scope, text, via, file=file and reaches(call, text))
        if file:
            typed = self.world.wrote_text(text) or self.world.wrote_line(text)
            place = replace(place, disk=place.disk or not typed, files=place.files + 1)
        if text == call.stdin:
            place = replace(place, stdin="")
        walk, own = self._on_disk if file else self.text, frozenset(self.world.own)
        found = self._collect(lambda: walk(text, place), place, sure=file or via in _FAITHFUL)
        if self.world.own != own:
            made_names.note_script(self.world, own, text, via)
        return found

    def _beside(self, call: Call, via: str, cwd: str) -> WalkContext:
        scope = call.scope.copy()
        scope.exported = call.scope.reaching
        scope.cwd, scope.input, scope.traps = cwd or (call.cwd if call.here else None), None, []
        chain = (*call.command.via, via)
        return WalkContext(scope, cwd or call.cwd, call.stdin, chain, call.depth + 1, call.files, call.disk)

    def _collect(self, walk: Callable[[], object], place: WalkContext, *, sure: bool) -> list[Effect]:
        """What a program starts; ``sure``: it does in any case."""
        saved, self.effects = self.effects, []
        mark = self.world.mark()
        try:
            walk()
            self.finish(place)
        except BaseException:
            saved += self.effects
            raise
        finally:
            found, self.effects = self.effects, saved
            self.world.may_have_ended([] if sure else [mark])
        return found


_HANDLERS: dict[type, Callable[..., str]] = {
    Simple: Walk.simple,
    List: items,
    Pipeline: Walk.pipeline,
    Subshell: Walk.subshell,
    Group: Walk.group,
    If: branches_and_loops.if_,
    Case: branches_and_loops.case,
    Loop: branches_and_loops.loop,
    Function: Walk.function,
    Test: branches_and_loops.test,
    Arithmetic: branches_and_loops.arithmetic,
    Coproc: Walk.coproc,
}


def _as_written(stage: Node) -> str:
    return " ".join([word.source for word in stage.words]) if type(stage) is Simple else ""
