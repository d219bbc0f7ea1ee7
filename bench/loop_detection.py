"""``make loops``: how many loops of other agents' test suites are caught, and how much honest work is stopped.

The histories (``loops.jsonl`` in the folder that SENTINEL_CORPUS names) are folded through real sessions: each call
goes on record as a verdict and an outcome, and the checks that look at outcomes judge it; files change only where a
call writes something else than it did before.

Caught: hinted at or stopped. Wrong: stopped where the list says that it is no loop. What is too often differs from one
project to the next (``upstream_threshold``): a row that is no loop only because that project's limit is higher, or its
check is off, stands apart, and each row that differs is printed with its reason.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from sentinel_guard.core import encode_entries
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.registry import CHECKS
from sentinel_guard.core.judge import judge
from sentinel_guard.core.model import Action, Entry, Layer, Outcome, Response, Verdict
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.session.operation_fingerprint import is_poll, operation
from sentinel_guard.core.session.session import Event, Session
from sentinel_guard.core.text.normalize_output import digest
from sentinel_guard.host.policy_files import builtin

_LIMITS = ("threshold", "disabled")
_WRITERS = ("write", "write_file", "patch", "edit")


class Row(NamedTuple):
    """A history, and the strongest response to one of its calls."""

    id: str
    loop: bool
    limit: bool
    """It is no loop by that project's limit alone."""
    note: str
    response: Response

    @property
    def agrees(self) -> bool:
        return self.response >= Response.HINT if self.loop else self.response < Response.BREAK


class Replay:
    """One history in a session of its own."""

    def __init__(self) -> None:
        self.policy, self.session, self.now = merge(builtin()), Session("s", "/w"), 1000.0
        self.worst, self.files = Response.ALLOW, dict[str, str]()

    def step(self, number: int, call: Mapping[str, Any]) -> None:
        self.now += 2.0
        if call["kind"] == "marker":
            self._fold(encode_entries.state("s", self.now, Event.HELP))
            self._fold(encode_entries.state("s", self.now, Event.RESUME))
        elif call["kind"] == "tool":
            self._call(number, call)

    def _call(self, number: int, call: Mapping[str, Any]) -> None:
        action = Action(f"a{number}", "s", Layer.HOOK, call["tool"], call["args"], "/w", self.now, "/w")
        op, poll = operation(action), is_poll(action, self.policy.loop.polls)
        for entry in encode_entries.of_verdict(Verdict(action), op, poll=poll, policy=self.policy):
            self._fold(entry)
        # Where a list names no exit code and no output, its detector looks at neither.
        code = call["exit"] if call["exit"] is not None else 1 if call["error"] else 0
        failed, said, before = code or call["error"], str(call["error"] or ""), digest(str(self.files))
        if call["tool"] in _WRITERS and not failed:
            self.files[str(call["args"].get("path") or call["args"].get("file_path"))] = str(call["args"])
        outcome = Outcome(
            action.id, self.now + 0.5, (code or 1) if failed else 0,
            error=digest(said) if failed else "", output=digest(str(call.get("output") or "")), excerpt=said,
            before=before, after=digest(str(self.files)),
        )  # fmt: skip
        self._fold(encode_entries.of_outcome(action, outcome))
        verdict = judge(Case(action, (), self.session, self.policy, outcome, op), CHECKS)
        for entry in encode_entries.of_observation(verdict, "", outcome.at, self.policy):
            self._fold(entry)
        self.worst = max(self.worst, verdict.response)

    def _fold(self, entry: Entry) -> None:
        self.session = self.session.after(entry)


def measured(corpus: Path) -> Iterator[Row]:
    with (corpus / "loops.jsonl").open(encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            replay = Replay()
            for number, call in enumerate(line["history"]):
                replay.step(number, call)
            note = line.get("why_ok") or line.get("note") or ""
            yield Row(line["id"], line["expected"] == "loop", line.get("why_ok") in _LIMITS, note, replay.worst)


def main() -> None:
    corpus = os.environ.get("SENTINEL_CORPUS", "")
    if not corpus:
        sys.exit("The lists are not part of the project: SENTINEL_CORPUS names their folder.")
    rows = [*measured(Path(corpus))]
    loops, others = [r for r in rows if r.loop], [r for r in rows if not r.loop and not r.limit]
    limits = [r for r in rows if not r.loop and r.limit]
    table = Table("", "of", "hinted at or stopped", "stopped", title="histories of ten agent projects", box=None)
    for name, found in (("loops", loops), ("no loops", others), ("none by that project's limit", limits)):
        said = sum(r.response >= Response.HINT for r in found)
        table.add_row(name, str(len(found)), str(said), str(sum(r.response >= Response.BREAK for r in found)))
    Console().print(table)
    for row in (r for r in rows if not r.agrees):
        print(f"{row.id}: {row.response.word}, the list says {'loop' if row.loop else 'no loop'}. {row.note}")


if __name__ == "__main__":
    main()
