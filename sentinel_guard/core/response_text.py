"""Format verdicts and outcomes as messages for the agent, the launcher and the person (DESIGN section 5).

Rules of this file:
1. The protocol's quoted strings stand word for word (``response_phrases``).
2. Every refusal says what, why, and what to do instead.
3. Nothing secret and nothing that a terminal would obey leaves here, but the command that a person is asked about.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sentinel_guard.core.model import Action, Answer, Finding, Outcome, Question, Response, Verdict
from sentinel_guard.core.response_phrases import OPENING, OVER, SPOKEN
from sentinel_guard.core.response_phrases import sentence as closed
from sentinel_guard.core.session.failure_exit_codes import failed
from sentinel_guard.core.session.operation_fingerprint import command_text
from sentinel_guard.core.session.tool_diagnostics import Diagnostic, diagnose
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.text.redact_by_pattern import redact

REFUSED = 126
"""Exit code of a command that was refused (the shell's own for: found, but not run)."""
KILLED = 137
MAX_SHOWN = 300
"""Characters of a command in one line of words."""
MAX_MESSAGE = 160
"""Characters of a tool's message in a hint."""

_TITLES = {
    Response.COOL_DOWN: "Cool down",
    Response.ASK: "Two-key gate",
    Response.DENY: "Blocked",
    Response.BREAK: "Circuit breaker",
    Response.KILL: "Kill switch",
}
_NOT_FOUND = re.compile(r"(?:command not found: )?(?P<name>[^\s:]+)(?:: (?:command )?not found)?$")
_NO_MODULE = re.compile(
    r"(?:ModuleNotFoundError: )?No module named '?(?P<name>[\w.]+)|.{0,40}Cannot find module '(?P<js>[^'./][^']*)'"
)
_LISTS = (("Missing script", "npm run"), ("no such command", "cargo --list"))
"""What a message begins with where a name is missing, and the command that lists the names there are."""
_DANGLING = re.compile(r"(?:[\s,;:(]|\b(?:and|or|but|with|of|the|because)\b)+$")
"""What the end of a sentence cannot be: its other half stood on the next line, or was cut off."""


def answer(verdict: Verdict) -> Answer:
    """What is done and said about a proposal: it runs (with a hint, or silently), or it is refused with words."""
    response, decisive = verdict.response, verdict.decisive
    if decisive is None or response < Response.ASK:
        hints = [_opened(f) for f in verdict.findings if f.response in (Response.HINT, Response.COOL_DOWN)]
        return Answer(True, "\n".join(hints))
    return Answer(False, _opened(decisive), KILLED if response is Response.KILL else REFUSED)


def cool_down(verdict: Verdict) -> str:
    """The prompt that a cool-down injects (R6); empty for a verdict without one."""
    return "\n".join(_opened(f) for f in verdict.findings if f.response is Response.COOL_DOWN)


def refused(what: str, why: str, instead: str = "") -> str:
    """A refusal that no check gave: a broken request, a broken store. ``what`` may be a whole sentence."""
    why = why[:1].upper() + why[1:] if what.endswith((".", "!", "?")) else why
    return _opened(Finding("guard", Response.DENY, what, why, instead))


def sentence(finding: Finding) -> str:
    """``what``, ``why`` and what to do instead (at a kill: that the session is over), as one line of text."""
    what = finding.what.strip()
    if finding.why:
        what = f"{what}{'' if what.endswith(('.', '!', '?', ':')) else ':'} {closed(finding.why)}"
    return visible(redact(f"{closed(what)} {_way_on(finding)}".strip()))


def _way_on(finding: Finding) -> str:
    if finding.response is Response.KILL:  # another command would be no way on: there is none
        return OVER
    return f"Instead: {finding.instead.strip()}" if finding.instead else ""


def headline(verdict: Verdict) -> str:
    """The finding that decided, in one line of whole sentences for people."""
    finding = verdict.decisive
    if finding is None:
        return "Allowed."
    said = closed(f"{finding.what}: {finding.why}".strip(": "))
    if finding.what.startswith(SPOKEN):
        said = f"`{_short(command_line(verdict.action))}`. {closed(finding.why or finding.what)}"
    title = _TITLES.get(finding.response, finding.response.word)
    return visible(redact(f"{title} ({finding.rule or finding.check}): {said}"))


def command_line(action: Action) -> str:
    """The action as it was given, control characters made visible, lines kept: what a person is asked about."""
    return visible(command_text(action), keep="\n")


def gate(question: Question) -> str:
    """The two-key prompt (R7), the protocol's block word for word at its end."""
    detail = "\n".join(f"  | {line}" for line in visible(question.detail, keep="\n").split("\n"))
    ask = question.ask
    action, target, risk = visible(ask.action), visible(ask.target), visible(ask.risk)
    block = f"[SENTINEL SECURITY]\nAction: {action}\nTarget: {target}\nRisk: {risk}\nConfirm? (Y/N): "
    said = "".join(f"  {visible(line)}\n" for line in (*question.preview, closed(question.why)))
    return f"\nThe agent wants to run:\n{detail}\n{said}\n{block}"


def hint(action: Action, outcome: Outcome, stdout: str, stderr: str, verdict: Verdict) -> str:
    """L1: the error's own details and one concrete next step, and what the detectors warn of; empty for neither.

    What names neither a place nor a better step would only repeat the tool's own last line, and is left unsaid.
    ``stdout`` and ``stderr`` are what is known of the call's output (tails).
    """
    lines = [_opened(f) for f in verdict.findings if f.response is Response.HINT][:1]
    if failed(outcome) and (found := diagnose(f"{stderr}\n{stdout}")):
        lines.insert(0, _error_hint(action, outcome, found))
    return "\n".join(filter(None, lines))


def _opened(finding: Finding) -> str:
    text = sentence(finding)
    return text if text.startswith(SPOKEN) else f"{OPENING[finding.response]} {text}"


def _error_hint(action: Action, outcome: Outcome, found: list[Diagnostic]) -> str:
    first = replace(found[0], file=_near(found[0].file, action.cwd))
    step = _next_step(outcome, first)
    if not step:
        return ""
    place = ":".join(str(part) for part in (first.file, first.line, first.column) if part)
    said = ": ".join(part for part in (first.tool, place, _message(first.message)) if part)
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    return visible(redact(f"{OPENING[Response.HINT]} {closed(said + more)} Next: {step}."))


def _next_step(outcome: Outcome, first: Diagnostic) -> str:
    """What to do about a complaint; empty where nothing better is known than what the tool said itself."""
    if missing := _NO_MODULE.match(first.message):
        return f"fix the import, or install what provides {missing['name'] or missing['js']}"
    if "not found" in first.message and (name := _NOT_FOUND.match(first.message)):
        return f"check the spelling of {name['name']}; 'command -v {name['name']}' tells whether it is there"
    if lists := next((command for opening, command in _LISTS if first.message.startswith(opening)), ""):
        return f"run '{lists}' to see the names that there are"
    if outcome.tests and outcome.tests.failed:
        test = _short(min(outcome.tests.failed))
        alone = outcome.tests.count == 1  # its whole error was just shown
        return f"fix what {test} checks, then run it again" if alone else f"run {test} alone and read its whole error"
    if first.line and first.file and not first.file.startswith("node:"):
        return f"open {first.file} at line {first.line}, fix this first, then run the same command again"
    return ""


def _near(file: str, cwd: str) -> str:
    """The path as it is from ``cwd``, where it lies below."""
    return file.removeprefix(f"{cwd.rstrip('/')}/") if cwd else file


def _message(text: str) -> str:
    """A tool's message in at most MAX_MESSAGE characters, without an end that hangs in the air."""
    line = redact(" ".join(text.split()))
    cut = line if len(line) <= MAX_MESSAGE else line[: MAX_MESSAGE - 2].rpartition(" ")[0] or line[: MAX_MESSAGE - 2]
    whole = _DANGLING.sub("", cut)
    return whole if whole == line else f"{whole} …"


def _short(text: str) -> str:
    line = redact(" ".join(text.split()))
    return line if len(line) <= MAX_SHOWN else f"{line[: MAX_SHOWN - 1]}…"
