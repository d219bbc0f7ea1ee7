"""Whole stories (tests/scenarios/*.txt), played with the real binary, daemon, git and terminal.

A story is read top down. A line that is not indented is a statement, the indented lines below it are its body:

    # R7: what it proves           the first line; further lines with # are remarks
    policy                         the person's own policy, as TOML
    file NAME / mine NAME          a file of the first commit / of the person's work that is in no commit
    agent                          what follows is what the agent does under guard:
    $ COMMAND                      a command of the agent's; its body says how it must end:
        code N                         its exit code; 0 if not said
        out TEXT, err TEXT             a part of its standard output, of its standard error
        quiet                          nothing on standard error
        never                          it is not reached
        sees TEXT                      what the person then has on the screen (the session is on a terminal)
        types KEYS, says LINE          what the person presses, or enters
        falls                          the daemon is killed by kill -9
    wait SECONDS                   the agent waits
    ends N                         exit code of the whole session
    % COMMAND                      a command of the person's own, outside of any session; body as for $
    log KIND LEVEL N               so many entries of a kind (LEVEL - for any); a body line is in one of them
    holds NAME                     a file's text
    same                           every file of the person's is as it was before the session, byte for byte
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pexpect
import pytest

from tests.support.time_limits import limit
from tests.support.wait_until import settled

STORIES = sorted((Path(__file__).parent.parent / "scenarios").glob("*.txt"))
HEAD = re.compile(r"# R\d+(, R\d+)*: \S")
PERSON = ("sees", "types", "says", "falls")


@dataclass
class Line:
    number: int
    verb: str
    rest: str
    body: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.body)

    def said(self) -> Iterator[tuple[str, str]]:
        for line in self.body:
            verb, _, rest = line.partition(" ")
            yield verb, rest


def parse(text: str) -> list[Line]:
    lines: list[Line] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("    ") or (lines and lines[-1].body and not line):
            lines[-1].body.append(line[4:])
        elif line and not line.startswith("#"):
            verb, _, rest = line.partition(" ")
            lines.append(Line(number, verb, rest))
    for parsed in lines:
        while parsed.body and not parsed.body[-1]:
            parsed.body.pop()
    return lines


class Play:
    def __init__(self, stage, name: str, lines: list[Line]) -> None:
        self.stage, self.name, self.lines = stage, name, lines
        self.code = 0
        self.before: dict[str, bytes] = {}

    def run(self) -> None:
        own = {x.rest: x.text for x in self.lines if x.verb == "file"}
        for line in self.lines:
            if line.verb == "policy":
                self.stage.policy(line.text)
        for name, text in own.items():
            self.stage.write(name, text)
        self.stage.commit()
        for line in self.lines:
            try:
                getattr(self, {"$": "command", "%": "person"}.get(line.verb, line.verb))(line)
            except Exception as e:
                e.add_note(f"{self.name}:{line.number}: {line.verb} {line.rest}")
                raise

    def policy(self, line: Line) -> None:
        """Done before all else."""

    file = wait = policy

    def mine(self, line: Line) -> None:
        self.stage.write(line.rest, line.text)

    def agent(self, line: Line) -> None:
        """The whole session."""
        acts = [x for x in self.lines if x.verb in ("$", "wait")]
        tasks = [x.rest if x.verb == "$" else float(x.rest) for x in acts]
        self.before = self.look()
        if any(verb in PERSON for act in acts for verb, _ in act.said()):
            self.on_terminal(tasks, acts)
        else:
            self.code = self.stage.agent(*tasks)[0].returncode
        self.seen = {told["task"]: [] for told in self.stage.seen()}
        for told in self.stage.seen():
            self.seen[told["task"]].append(told)

    def on_terminal(self, tasks: list, acts: list[Line]) -> None:
        screen = self.stage.on_terminal(*tasks)
        for verb, rest in (said for act in acts for said in act.said()):
            if verb == "sees":
                screen.expect_exact(rest)
                # A key that comes at once was not meant for what has just appeared.
                settled()
            elif verb in ("types", "says"):
                screen.send(rest + ("\r" if verb == "says" else ""))
            elif verb == "falls":
                [daemon] = json.loads(self.stage.sentinel("daemon", "status", "--json").stdout)["daemons"]
                os.kill(daemon["pid"], signal.SIGKILL)
        screen.expect(pexpect.EOF)
        screen.close()
        self.code = screen.exitstatus

    def command(self, line: Line) -> None:
        told = self.seen.get(line.rest)
        if ("never", "") in line.said():
            assert not told, told
            return
        assert told, "it was not reached"
        self.check(line, **{k: v for k, v in told.pop(0).items() if k in ("code", "out", "err")})

    def person(self, line: Line) -> None:
        done = subprocess.run(
            ["/bin/sh", "-c", line.rest], cwd=self.stage.repo, env=self.stage.environ, capture_output=True, text=True,
            check=False, stdin=subprocess.DEVNULL, timeout=limit(30),
        )  # fmt: skip
        self.check(line, done.returncode, done.stdout, done.stderr)

    def check(self, line: Line, code: int, out: str, err: str) -> None:
        wanted = 0
        for verb, rest in line.said():
            match verb:
                case "code":
                    wanted = int(rest)
                case "out":
                    assert rest in out
                case "err":
                    assert rest in err
                case "quiet":
                    assert err == ""
                case _:
                    assert verb in PERSON, f"{verb!r} is nothing that a story says"
        assert code == wanted, (out, err)

    def ends(self, line: Line) -> None:
        assert self.code == int(line.rest)

    def log(self, line: Line) -> None:
        kind, level, count = line.rest.split()
        found = self.stage.log(kind=kind, **({} if level == "-" else {"level": level}))
        assert len(found) == int(count), found
        for text in line.body:
            assert any(text in json.dumps(entry, ensure_ascii=False) for entry in found), (text, found)

    def holds(self, line: Line) -> None:
        assert (self.stage.repo / line.rest).read_text() == line.text

    def same(self, line: Line) -> None:
        assert self.look() == self.before

    def look(self) -> dict[str, bytes]:
        files = (p for p in self.stage.repo.rglob("*") if p.is_file() and not {".git", "incidents"} & set(p.parts))
        return {str(p): p.read_bytes() for p in files}


@pytest.mark.parametrize("story", STORIES, ids=lambda s: s.stem)
def test_story(stage, story):
    text = story.read_text()
    assert HEAD.match(text), f"{story.name} does not say which requirement it proves"
    Play(stage, story.name, parse(text)).run()
    assert stage.sentinel("log", "verify").returncode == 0 or not (stage.guard / "state/audit.sqlite3").exists()
