"""Which exit codes are failures, and which are only answers, as 1 of ``grep`` is (DESIGN section 6)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sentinel_guard.core.model import Command, Effect, Kind, Outcome

ANSWERS: Mapping[str, frozenset[int]] = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack"), frozenset({1})),
    **dict.fromkeys(("diff", "cmp", "colordiff", "comm", "test", "[", "[[", "expr"), frozenset({1})),
    **dict.fromkeys(("which", "type", "pgrep", "pidof", "lsof", "fuser"), frozenset({1})),
    "systemctl": frozenset({1, 3, 4}),
}
"""Programs whose exit code answers a question, and the codes that do."""

GIT_ANSWERS = frozenset({"diff", "grep", "merge-base", "check-ignore", "show-ref", "ls-remote", "rev-parse", "config"})
"""Subcommands of git that answer with 1."""

NEUTRAL = frozenset({"echo", "printf", "cd", "true", ":", "head", "tail", "wc", "sort", "cat", "uniq", "export", "set"})
"""They neither fail nor answer for the command that they stand beside."""

UNREACHED: Mapping[str, Mapping[int, str]] = {
    "curl": {
        5: "could not resolve host",
        6: "could not resolve host",
        7: "could not connect",
        28: "timed out",
        52: "connection reset",
        56: "connection reset",
    },
    "wget": {4: "could not connect"},
    "nc": {1: "could not connect"},
    "pg_isready": {1: "could not connect", 2: "could not connect"},
}
"""Programs that may be told to be silent, and what their exit codes say of a network or a service."""

_LETTER = re.compile(r"[^\W\d_]")
_INFRASTRUCTURE = re.compile(
    r"\b429\b|\bE429\b|too many requests|rate.?limit|overloaded|service unavailable"
    r"|\b50[0234]\b.{0,40}(?:error|gateway|unavailable|timeout)"
    r"|\b(?:status|code|http|error)(?: code|/[\d.]{1,3})?[ :=]{1,3}50[0234]\b"
    r"|connection (?:reset|refused|timed out)|\bE(?:CONNRESET|CONNREFUSED|TIMEDOUT|AI_AGAIN|NOTFOUND|HOSTUNREACH)\b"
    r"|(?:could ?n[o']t|could not|cannot|can't|failed to|unable to) (?:connect|resolve host|establish a connection)"
    r"|(?:network is|host is|network) unreachable|no route to host|\btimed out\b|temporary failure in name resolution",
    re.IGNORECASE,
)


def error_output(effects: Iterable[Effect], code: int, stdout: str, stderr: str) -> str | None:
    """The error output of a call that failed, blank where it said nothing; None where the call did not fail.

    ``effects`` are the call's; its exit code may be an answer (``grep`` found nothing: 1) and no error.
    """
    if code == 0 or (not stderr.strip() and _is_answer(effects, code)):
        return None
    return stderr if stderr.strip() else stdout


def error_excerpt(effects: Iterable[Effect], code: int, error: str) -> str:
    """The error in words: its own, or what the exit code says where it has none (a status of 000 is none)."""
    if _LETTER.search(error):
        return error
    programs = [e.command.program for e in effects if e.kind is Kind.EXECUTE and e.command]
    meant = next((f"{p}: {UNREACHED[p][code]}" for p in programs if code in UNREACHED.get(p, {})), "")
    return " ".join(filter(None, (error.strip(), meant)))


def _is_answer(effects: Iterable[Effect], code: int) -> bool:
    commands = [e.command for e in effects if e.kind is Kind.EXECUTE and e.command]
    telling = [c for c in commands if c.program not in NEUTRAL]
    return bool(telling) and all(_answers(c, code) for c in telling)


def _answers(command: Command, code: int) -> bool:
    if command.program == "git":
        return code == 1 and command.subcommand in GIT_ANSWERS
    return code in ANSWERS.get(command.program, ())


def failed(outcome: Outcome | None) -> bool:
    """Whether a call failed: it has an error, if only one that said nothing; an exit code alone may be an answer."""
    return outcome is not None and bool(outcome.error)


def infrastructure(outcome: Outcome) -> bool:
    """True where the error is the network's or a service's (429, 5xx, connection refused): trying again may help."""
    return failed(outcome) and bool(_INFRASTRUCTURE.search(outcome.excerpt))
