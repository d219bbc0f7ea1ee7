"""``sentinel-guard check --explain``: each command of the input, its effects, the rule that it matches, the verdict.

Rules of this file:
1. A branch is a simple command that does or meets something. What only starts another is told by that one's ``via``.
2. Nothing secret and nothing that a terminal would obey is shown. Everything fits 80 columns, with or without colour.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.parser import bash_parser
from sentinel_guard.core.analysis.parser.syntax_tree import CommandSub, Literal, Pipeline, ProcessSub, Simple, Variable
from sentinel_guard.core.model import Action, Command, Effect, Finding, Kind, Response, Verdict
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.response_phrases import sentence
from sentinel_guard.core.session.operation_fingerprint import command_text
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.text.effect_descriptions import PathContext, describe, near
from sentinel_guard.core.text.redact_by_pattern import redact, redact_data
from sentinel_guard.humans.styled_text import Printer, Styled
from sentinel_guard.humans.text_tables import Tree

COLOURS = {Response.ALLOW: "green", Response.SNAPSHOT: "green", Response.HINT: "cyan", Response.ASK: "yellow"}
MAX_TEXT, MAX_LINES = 72, 8
"""Characters of a command in its branch; lines of what was typed."""
MAX_DEEDS, MAX_MEETING, MAX_OTHERS = 4, 8, 6
"""Deeds of a branch, branches that meet a rule, and other branches, before the rest is only counted."""

_FOLLOWS = {
    Response.ALLOW: "It runs.",
    Response.SNAPSHOT: "It runs, after a rescue snapshot of the repository.",
    Response.HINT: "It runs, and the agent reads the hint.",
    Response.COOL_DOWN: "It waits, then it is judged again.",
    Response.ASK: "It runs only with a person's yes",
    Response.DENY: "It does not run, and the agent reads why.",
    Response.BREAK: "It does not run, and the session is paused.",
    Response.KILL: "It does not run. The session is ended{}.",
}
_HANDS_ON = frozenset({"eval", "source", ".", "exec", "command", "builtin"})
"""Builtins that run another command in their place."""
_ORIGINS = {"guard": "the guard's own", "paths": "policy [paths]", "confirm": "policy [confirm]"}
"""Where a finding without a rule comes from, by the first part of its name."""


@dataclass(slots=True)
class Branch:
    """One simple command with what it does, or, without a command, what a tool does."""

    command: Command | None = None
    redirects: tuple[str, ...] = ()
    started: bool = False
    """False as long as only a redirection of it was seen."""
    effects: list[Effect] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def text(self) -> str:
        """In one line, as one would type it."""
        words = self.command.argv if self.command else ()
        return " ".join((*(_quoted(word) for word in words), *self.redirects))


def heading(response: Response) -> Styled:
    """The verdict's word with its level and colour."""
    level = f" ({response.level})" if response.level else ""
    return Styled.of((f"{response.word}{level}", f"bold {COLOURS.get(response, 'red')}"))


def show(verdict: Verdict, policy: Policy, home: str, printer: Printer) -> None:
    """Prints the tree, and in the last line the verdict and what follows from it."""
    printer.lines(_Drawing(verdict, policy, home).tree().lines(printer.width))
    follows = _FOLLOWS[verdict.response].format(" and the repository put back" if policy.fatal.rollback else "")
    ask = verdict.decisive.ask if verdict.decisive else None
    gate = f": {ask.action} {_short(_clean(ask.target))}, risk {ask.risk}." if ask else ""
    printer.put(heading(verdict.response), f"  {follows}{gate}")


class _Drawing:
    """One verdict, drawn."""

    def __init__(self, verdict: Verdict, policy: Policy, home: str) -> None:
        self.verdict = verdict
        self.here = PathContext(verdict.action.cwd, home)
        self.origins = {rule.id: near(rule.source, self.here) for rule in policy.rules}
        self.branches = branches(verdict)
        self.told: set[str] = set()
        """Findings that have been told in full, by name."""
        self.typed = _typed(verdict.action)
        self.typed_commands = list(_places(bash_parser.parse(self.typed).body)) if _is_text(verdict.action) else []

    def tree(self) -> Tree:
        tree = Tree(self._top())
        shown = list(self._shown())
        if len(shown) == 1 and not (shown[0].command and shown[0].command.via) and self._whole(shown[0]):
            self._fill(tree, shown[0])
        else:
            self._add(tree, shown)
        for finding in self._elsewhere():
            self._finding(tree, finding)
        return tree

    def _add(self, tree: Tree, shown: list[Branch]) -> None:
        meeting = [b for b in shown if b.findings]
        others = [b for b in shown if not b.findings]
        kept = [*meeting[:MAX_MEETING], *others[:MAX_OTHERS]]
        for branch in shown:
            if any(branch is other for other in kept):
                self._fill(tree.add(self._label(branch)), branch)
        for rest, words in ((meeting[MAX_MEETING:], "meet a rule"), (others[MAX_OTHERS:], "meet no rule")):
            if rest:
                tree.add((f"… and {len(rest)} more that {words}", "dim"))

    def _shown(self) -> Iterator[Branch]:
        """Without those that do nothing but start another, which says so itself."""
        starters = _HANDS_ON | {word.split(" ")[0] for b in self.branches if b.command for word in b.command.via}
        for branch in self.branches:
            only_starts = len(self.branches) > 1 and branch.command and branch.command.program in starters
            if not (only_starts and self._is_quiet(branch)):
                yield branch

    def _is_quiet(self, branch: Branch) -> bool:
        return not branch.findings and not any(describe(e, self.here) for e in branch.effects)

    def _whole(self, branch: Branch) -> bool:
        """Whether a branch is all that was typed: it would only say it again."""
        return not branch.command or len(self.typed_commands) == 1 or branch.text == self.typed

    def _elsewhere(self) -> list[Finding]:
        """Findings that are about no command in particular."""
        return [f for f in self.verdict.findings if not any(f in b.findings for b in self.branches)]

    # ---- what was typed ----

    def _top(self) -> Styled:
        text = Styled.of((_clean(self.typed, keep="\n") or "(nothing)", "bold"))
        decisive = self.verdict.decisive
        branch = next((b for b in self.branches if decisive in b.findings), None)
        stands = self._stands(branch) if branch else None
        part = _clean(stands[0].source, keep="\n") if stands else ""
        at = text.plain.find(part) if part and decisive else -1
        if at >= 0 and decisive:
            text = text.over(f"{COLOURS.get(decisive.response, 'red')} underline", at, at + len(part))
        return _window(text, text.plain[: max(at, 0)].count("\n"))

    def _stands(self, branch: Branch) -> tuple[Simple, str] | None:
        """The typed command that a branch came from, and where it stands: of that name, with most of its words."""
        command = branch.command
        if command is None:
            return None
        name = paths.base(command.via[0].split(" ")[0] if command.via else command.argv[0])
        named = [c for c in self.typed_commands if c[0].words and paths.base(c[0].words[0].literal or "") == name]
        meant = named or [c for c in self.typed_commands if name in c[0].source]
        return max(meant, key=lambda c: sum(word in c[0].source for word in command.argv), default=None)

    # ---- a branch ----

    def _label(self, branch: Branch) -> Styled:
        if branch.command is None:
            return Styled.of(self.verdict.action.tool)
        stands = None if branch.command.via else self._stands(branch)
        place = stands[1] if stands else ""
        via = f"  via {', '.join(_clean(word) for word in branch.command.via)}" if branch.command.via else ""
        return Styled.of((f"{place} " if place else "", "dim"), _short(_clean(branch.text)), (via, "dim"))

    def _fill(self, node: Tree, branch: Branch) -> None:
        meant = {f.evidence: f.response for f in sorted(branch.findings, key=lambda f: f.response)}
        deeds: dict[str, str] = {}
        for effect in branch.effects:
            if words := describe(effect, self.here):
                response = meant.get(evidence(effect))
                deeds[words] = deeds.get(words) or (COLOURS.get(response, "red") if response else "")
        first = sorted(deeds.items(), key=lambda deed: not deed[1])
        for words, colour in first[:MAX_DEEDS]:
            node.add((_short(_clean(words)), colour))
        if len(first) > MAX_DEEDS:
            node.add((f"… and {len(first) - MAX_DEEDS} more", "dim"))
        if branch.findings:
            self._finding(node, *sorted(branch.findings, key=lambda f: -f.response))

    def _finding(self, node: Tree, first: Finding, *others: Finding) -> None:
        """The strictest finding in words; of the others, their names."""
        name = first.rule or first.check
        origin = self.origins.get(name) or _ORIGINS.get(name.partition(".")[0], f"check {first.check}")
        style = f"bold {COLOURS.get(first.response, 'red')}"
        if name in self.told:
            node.add((name, style), (", as above", "dim"))
            return
        self.told.add(name)
        why = sentence(_clean(first.why or first.what))
        lines = [Styled.of((name, style), (f" ({_clean(origin)})", "dim"), f": {why}")]
        if first.instead:
            lines.append(Styled.of(("Instead: ", "dim"), _clean(first.instead)))
        if also := sorted({f.rule or f.check for f in others} - {name}):
            lines.append(Styled.of((f"Also: {', '.join(also)}", "dim")))
        node.add(Styled.joined("\n", lines))


def branches(verdict: Verdict) -> list[Branch]:
    """The commands of a verdict in the order in which they run, each with its effects and the findings on them."""
    found: dict[int, Branch] = {}
    last = None
    for effect in verdict.effects:
        if effect.command is None and last:
            last.effects.append(effect)  # what a pipe hands to an interpreter: it stands behind that command
            continue
        last = found.get(id(effect.command)) or _opened(found, effect)
        found[id(effect.command)] = last
        last.effects.append(effect)
    made = list({id(branch): branch for branch in found.values()}.values())
    for finding in verdict.findings:
        if branch := _about(finding, made):
            branch.findings.append(finding)
    return made


def _opened(found: dict[int, Branch], effect: Effect) -> Branch:
    """The branch of a command that is met first; a redirection's effects come before those of its command."""
    command = effect.command
    if effect.kind is Kind.EXECUTE and command:
        for branch in reversed(found.values()):
            waits = branch.command and not branch.started and branch.command.program == command.program
            if waits and branch.command and branch.command.argv[: len(command.argv)] == command.argv:
                branch.redirects = branch.command.argv[len(command.argv) :]
                branch.command, branch.started = command, True
                return branch
    return Branch(command, started=effect.kind is Kind.EXECUTE)


def _about(finding: Finding, made: list[Branch]) -> Branch | None:
    meant = [b for b in made if any(evidence(e) == finding.evidence for e in b.effects)]
    meant = [b for b in meant if finding not in b.findings] or meant  # the same command once more
    return next((b for b in meant if b.text.startswith(finding.what.strip("`"))), meant[0] if meant else None)


def evidence(effect: Effect) -> str:
    """What the check ``rules`` writes as a finding's evidence."""
    return f"{effect.kind} {effect.target}" + ("" if effect.sure else " (not sure)")


def _places(tree: object, place: str = "") -> Iterator[tuple[Simple, str]]:
    """Every simple command of a text with where it stands: ``|`` behind a pipe, ``$(…)``, ``<(…)``."""
    if isinstance(tree, Simple):
        yield tree, place
    elif isinstance(tree, Pipeline):
        yield from _places(tree.commands[0], place)
        for stage in tree.commands[1:]:
            yield from _places(stage, "|")
        return
    elif isinstance(tree, CommandSub):
        place = "$(…)"
    elif isinstance(tree, ProcessSub):
        place = f"{tree.direction}(…)"
    for child in _children(tree):
        yield from _places(child, place)


def _children(tree: object) -> Iterable[object]:
    if isinstance(tree, tuple):
        return tree
    if isinstance(tree, Literal | Variable):
        return ()
    return [getattr(tree, name) for name in getattr(tree, "__slots__", ())]


def _is_text(action: Action) -> bool:
    return isinstance(action.arguments.get("command"), str)


def _typed(action: Action) -> str:
    if {"command", "argv"} & set(action.arguments):
        return command_text(action)
    given = redact_data(dict(action.arguments))
    said = given.items() if isinstance(given, dict) else ()
    return " ".join((action.tool, *(f"{key}={_short(' '.join(str(value).split()))}" for key, value in said)))


def _window(text: Styled, line: int) -> Styled:
    """At most MAX_LINES lines, the given one among them."""
    lines = [*text.lines()]
    if len(lines) <= MAX_LINES:
        return text
    begin = max(0, min(line - MAX_LINES // 2, len(lines) - MAX_LINES))
    kept = Styled.joined("\n", lines[begin : begin + MAX_LINES])
    return Styled.of(("…\n" if begin else "", "dim"), kept, ("\n…" if begin + MAX_LINES < len(lines) else "", "dim"))


def _quoted(word: str) -> str:
    line = " ".join(word.split())
    return line if line and " " not in line else shlex.quote(line)


def _short(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


def _clean(text: str, keep: str = "") -> str:
    return visible(redact(text), keep=keep)
