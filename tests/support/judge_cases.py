"""Builders of the judge's nouns, for tests: short, with defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sentinel_guard.core import encode_entries
from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.analysis.engine_facts import Engine
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.rules import rules
from sentinel_guard.core.model import Action, Command, Effect, Kind, Layer, Outcome, Response, Verdict
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.session.operation_fingerprint import is_install, operation
from sentinel_guard.core.session.session import WINDOW, Call, Session
from sentinel_guard.core.text.normalize_output import UNSEEN, digest
from sentinel_guard.host.policy_files import builtin
from tests.support.fakes import HOME, FakeWorld

ROOT = "/w"
PROJECT = f"{HOME}/project"


def action(command="ls", *, ident="a1", at=0.0, tool="shell", cwd=ROOT, parent="", **arguments):
    return Action(ident, "s", Layer.SHELL, tool, {"command": command, **arguments}, cwd, at, ROOT, parent)


def case(command="ls", *, session=None, policy=None, at=0.0, **fields):
    act = action(command, at=at, parent=fields.pop("parent", ""))
    return Case(act, (), session or Session("s"), policy or Policy(), operation=operation(act), **fields)


def execute(*argv, subcommand=""):
    program = argv[0].rsplit("/", 1)[-1]
    return Effect(Kind.EXECUTE, program, command=Command(program, argv, subcommand, operands=argv[1:]))


def outcome(ident="a1", *, at=0.0, code=0, error="", out=None, before="", after="", tests=None):
    """``error`` and ``out`` are texts; empty: it was seen to say nothing; None: it was not seen."""
    return Outcome(
        ident,
        at,
        code,
        error="" if not code else UNSEEN if error is None else digest(error),
        output="" if out is None else digest(out),
        excerpt=error or "",
        tests=tests,
        before=before,
        after=after,
    )


QUIET_FAILURE = {"code": 3, "error": "", "out": "", "before": "t", "after": "t"}
UNSEEN_FAILURE = {"code": 3, "error": None, "before": "t", "after": "t"}


def red(error="a.c:1: error: x", before="t", after="t", code=2, **more):
    """How a call of a story ended that failed with these words."""
    return {"code": code, "error": error, "before": before, "after": after, **more}


class Story:
    """A session that grows call by call; each call is judged by one check when it has ended."""

    def __init__(self, check, policy=None):
        self.check, self.policy, self.session, self.now, self.count = check, policy or Policy(), Session("s"), 1000.0, 0

    def call(self, command, *, gap=1.0, poll=False, tool="shell", **ended):
        self.count += 1
        self.now += gap
        act = action(command, ident=f"a{self.count}", at=self.now, tool=tool)
        done = outcome(act.id, at=self.now + 0.5, **ended)
        self.now = done.at
        call = Call(act.id, operation(act), tool, act.at, poll, done, is_install(act))
        self.session = replace(self.session, calls=(*self.session.calls, call)[-WINDOW:])
        seen = Case(replace(act, at=done.at), (), self.session, self.policy, done, call.operation)
        return list(self.check(seen))

    def words(self, *calls):
        """The responses, as words, to calls given as (command, how it ended)."""
        return [max((f.response.word for f in self.call(c, **e)), default="") for c, e in calls]


def said_of_last(
    calls: Sequence[str | tuple[str, int]],
    files: Mapping[str, str],
    *,
    links: Mapping[str, str] | None = None,
    new: Sequence[str] = (),
    commits: Mapping[str, str] | None = None,
    engines: Mapping[str, Engine] | None = None,
) -> Response:
    """What the built-in rules say of the last call in PROJECT, after the others ended with their codes (0 where none
    stands beside one). ``files`` by path: from the root, ``~/``, or below PROJECT; ``new``: born in the session;
    ``commits``: by folder and ``COMMIT:PATH``; ``engines``: by their program.
    """
    there = {
        name if name[0] == "/" else f"{HOME}/{name[2:]}" if name[0] == "~" else f"{PROJECT}/{name}": text
        for name, text in files.items()
    }
    policy, session = merge(builtin()), Session("s", PROJECT)
    world, said = FakeWorld(there, links=links, folders=(PROJECT,), commits=commits, engines=engines), Response.ALLOW
    for number, call in enumerate(calls):
        text, code = (call, 0) if isinstance(call, str) else call
        act = Action(f"a{number}", "s", Layer.HOOK, "bash", {"command": text}, PROJECT, 1.0 + number, PROJECT)
        effects = analyse(act, world, session.made)
        seen = Case(act, effects, session, policy, home=HOME, look=world.peek, new=new.__contains__)
        said = max((f.response for f in rules(seen)), default=Response.ALLOW)
        for entry in encode_entries.of_verdict(Verdict(act, effects), "op", poll=False, policy=policy):
            session = session.after(entry)
        session = session.after(encode_entries.of_outcome(act, Outcome(act.id, 1.5 + number, code)))
    return said
