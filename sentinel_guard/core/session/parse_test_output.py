"""Parse the output of test runners: names and number of the failed tests (R3, ``failing_tests``).

Rules of this file:
1. The runner is recognised from the command; only a task runner (make, npm, tox, ...) is asked what it printed.
2. A run without a result that can be read is no test run: a usage error or a build that broke is not a red test.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sentinel_guard.core.model import Command, TestRun
from sentinel_guard.core.text.normalize_output import plain

MAX_NAMES = 200
"""Names of failing tests that are kept; the count is always whole."""


@dataclass(frozen=True, slots=True)
class Runner:
    """How one runner says what happened."""

    name: str
    summary: re.Pattern[str]
    """Lines that only this runner prints, green or red."""
    names: re.Pattern[str]
    """Groups 1 (and 2) are the name of a failing test."""
    counts: re.Pattern[str] | None = None
    """Group 1 is a number of failures in a summary line; None where the runner counts none: names are counted."""


def _re(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.MULTILINE)


RUNNERS: tuple[Runner, ...] = (
    Runner(
        "pytest",
        _re(r"^(?:=+ )?(?:\d+ \w+|no tests ran)(?:, \d+ \w+)* in [\d.]+s\b"),
        _re(r"^(?:FAILED|ERROR) (\S+)"),
        _re(r"(\d+) (?:failed|errors?)\b"),
    ),
    Runner(
        "unittest",
        _re(r"^(?:OK|FAILED)(?: \(.*\))?$"),
        _re(r"^(?:FAIL|ERROR): (\S+) \(([\w.]+)\)"),
        _re(r"(?:failures|errors|unexpected successes)=(\d+)"),
    ),
    Runner("vitest", _re(r"^ *Tests  .*$"), _re(r"^ *FAIL +(\S.*>.*)$"), _re(r"(\d+) failed")),
    Runner("jest", _re(r"^Tests: +.*total$"), _re(r"^ +● (?!Console$)(\S.*)$"), _re(r"(\d+) failed")),
    Runner("mocha", _re(r"^ +\d+ (?:passing|failing)\b"), _re(r"^ {2,4}\d+\) (\S.*)$"), _re(r"(\d+) failing")),
    Runner(
        "node",
        _re(r"^(?:#|\u2139) (?:pass|fail) \d+$"),
        _re(r"^ *(?:not ok \d+ - |✖ )([^(\n]+)"),
        _re(r"fail (\d+)"),
    ),
    Runner("go", _re(r"^(?:ok  \t|FAIL\t|--- FAIL: |FAIL$|PASS$)"), _re(r"^ *--- FAIL: (\S+)")),
    Runner("cargo", _re(r"^test result: .*$"), _re(r"^test (\S+) \.\.\. FAILED$"), _re(r"(\d+) failed")),
    Runner(
        "maven",
        _re(r"^(?:\[\w+\] )?Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$"),
        _re(r"^\[ERROR\] +(?:[a-z_]\w*\.)*(\w+\.\w+)(?::\d+|  Time elapsed)"),
        _re(r"(?:Failures|Errors): (\d+)"),
    ),
    Runner("gradle", _re(r"^\d+ tests? completed, \d+ failed"), _re(r"^(\S+ > .+) FAILED$"), _re(r"(\d+) failed")),
    Runner("rspec", _re(r"^\d+ examples?, \d+ failures?.*$"), _re(r"^rspec (\S+)"), _re(r"(\d+) (?:failure|error)")),
    Runner(
        "phpunit",
        _re(r"^(?:OK \(\d+ tests?|Tests: \d+, Assertions: \d+.*$)"),
        _re(r"^\d+\) (\S+::\S+)"),
        _re(r"(?:Failures|Errors): (\d+)"),
    ),
    Runner(
        "ctest",
        _re(r"^\d+% tests passed, \d+ tests failed"),
        _re(r"^\s*\d+ - (\S+) \("),
        _re(r"(\d+) tests failed"),
    ),
)

_BY_NAME = {runner.name: runner for runner in RUNNERS}

PROGRAMS: Mapping[str, str] = {
    "pytest": "pytest",
    "py.test": "pytest",
    "unittest": "unittest",
    "vitest": "vitest",
    "jest": "jest",
    "mocha": "mocha",
    "rspec": "rspec",
    "phpunit": "phpunit",
    "ctest": "ctest",
}
"""Words that name a runner wherever a program or a module may stand: ``pytest``, ``npx jest``, ``python -m pytest``."""

SUBCOMMANDS: Mapping[str, tuple[str, frozenset[str]]] = {
    "go": ("go", frozenset({"test"})),
    "cargo": ("cargo", frozenset({"test", "t", "nextest"})),
    "mvn": ("maven", frozenset({"test", "verify", "install", "package"})),
    "mvnw": ("maven", frozenset({"test", "verify", "install", "package"})),
    "gradle": ("gradle", frozenset({"test", "check", "build"})),
    "gradlew": ("gradle", frozenset({"test", "check", "build"})),
}

TASKS = frozenset(
    ("make", "npm", "yarn", "pnpm", "bun", "npx", "tox", "nox", "just", "task", "rake", "composer", "hatch", "poetry")
)
"""Programs that start a runner which the command does not name."""


def may_run_tests(commands: Iterable[Command]) -> bool:
    """Whether ``parse_tests`` would look for the results of a test run."""
    return any(_candidates(command) for command in commands)


def parse_tests(commands: Iterable[Command], stdout: str, stderr: str, code: int) -> TestRun | None:
    """The test run that these commands were, or None. ``code`` is the exit code; texts may be tails of the whole."""
    for command in commands:
        for runner in _candidates(command):
            text = plain(f"{stdout}\n{stderr}")
            if runner.summary.search(text):
                return _read(runner, text, code)
    return None


def _candidates(command: Command) -> tuple[Runner, ...]:
    if found := SUBCOMMANDS.get(command.program):
        name, words = found
        return (_BY_NAME[name],) if words & {command.subcommand, *command.operands, *command.argv[1:]} else ()
    for word in (command.program, *(_base(w) for w in command.argv[:6])):
        if word in PROGRAMS:
            return (_BY_NAME[PROGRAMS[word]],)
    if command.program == "node" and "--test" in command.argv:
        return (_BY_NAME["node"],)
    return RUNNERS if command.program in TASKS else ()


def _base(word: str) -> str:
    return word.rsplit("/", 1)[-1]


def _read(runner: Runner, text: str, code: int) -> TestRun | None:
    if not code:
        return TestRun(runner.name, frozenset(), 0)
    names = sorted({" ".join(filter(None, m.groups())).strip() for m in runner.names.finditer(text)})
    count = max(_said(runner, text), len(names))
    return TestRun(runner.name, frozenset(names[:MAX_NAMES]), count) if count else None


def _said(runner: Runner, text: str) -> int:
    """The failures that the summary lines count; several (cargo, maven modules) add up."""
    if runner.counts is None:
        return 0
    lines = (m.group() for m in runner.summary.finditer(text))
    return sum(int(n) for line in lines for n in runner.counts.findall(line))
