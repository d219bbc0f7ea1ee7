"""The path of one action, in memory: who is asked, who waits meanwhile, and a runner that goes and comes back."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from types import SimpleNamespace

import pytest

from sentinel_guard.core import encode_entries
from sentinel_guard.core.model import Action, Ask, Entry, Finding, Layer, Response, Usage
from sentinel_guard.core.policy.policy import Gate
from sentinel_guard.core.response_phrases import WAITING
from sentinel_guard.core.session.session import Event, State
from sentinel_guard.daemon import guard, question_preview
from sentinel_guard.daemon.live_sessions import STEP
from sentinel_guard.daemon.session_control import SessionControl
from sentinel_guard.daemon.waiting_launcher import Telling
from sentinel_guard.host.machine import processes
from sentinel_guard.host.previews.preview import Preview
from sentinel_guard.humans.question_inbox import Reply
from tests.support.fakes import PatientPeer, ScriptedHuman
from tests.support.guard_in_memory import POLICY, ROOT, Stand
from tests.support.leak_check_world import TOKEN
from tests.support.watched_session import until


def test_a_terminal_of_the_launcher_is_asked_outside_of_run():
    stand, person = Stand(interactive=False), ScriptedHuman(True)
    verdict = stand.verdict("deploy production", peer=PatientPeer(person))
    assert verdict.response is Response.ALLOW and len(person.asked) == 1
    stand = Stand(False)
    stand.verdict("deploy production", peer=PatientPeer(person))
    assert len(stand.human.asked) == 1 and len(person.asked) == 1, "under run the outer terminal alone counts"


def test_where_a_word_is_demanded_no_launcher_asks():
    """It could only take a key, on a terminal on which the agent types, too."""
    policy = replace(POLICY, gate=replace(POLICY.gate, typed_word=True))
    stand, person = Stand(interactive=False, policy=policy), ScriptedHuman(True)
    verdict = stand.verdict("deploy production", peer=PatientPeer(person))
    assert verdict.response is Response.DENY and not person.asked
    assert "sentinel-guard run" in verdict.decisive.instead and "[gate] typed_word" in verdict.decisive.why
    verdict = Stand(interactive=False, policy=policy).verdict("deploy production")
    assert "no terminal" in verdict.decisive.why, "where there is none at all, it is not the setting"
    stand = Stand(True, policy=policy)
    assert stand.verdict("deploy production").response is Response.ALLOW
    assert [question.typed_word for question in stand.human.asked] == [True]


OPEN_CONSOLE = (
    ({}, {"yes": True}, Response.ALLOW, "a yes there"),
    ({}, {"yes": False}, Response.DENY, "a no there"),
    ({"typed_word": True}, None, Response.DENY, "where a word is demanded, it takes none"),
)


@pytest.mark.parametrize(("gate", "said", "response"), [o[:3] for o in OPEN_CONSOLE], ids=[o[3] for o in OPEN_CONSOLE])
def test_without_a_terminal_who_looks_at_the_open_questions_is_asked(gate, said, response):
    stand = Stand(interactive=False, policy=replace(POLICY, gate=replace(POLICY.gate, **gate)))
    control = SessionControl(stand.sessions, SimpleNamespace())
    control.questions(1, watches=True)

    async def person():
        assert await until(lambda: control.questions(1, watches=False)["questions"])
        [asked] = control.questions(1, watches=False)["questions"]
        control.decide({"session": "s1", "question": asked["question"], **said})

    async def both():
        async with asyncio.TaskGroup() as tasks:
            if said:
                tasks.create_task(person())
            return (await stand.propose("deploy production")).verdict

    assert asyncio.run(both()).response is response


@pytest.mark.parametrize(("inside", "watches"), [(True, True), (False, False)], ids=["from inside", "once"])
def test_who_looks_from_inside_of_a_session_or_once_cannot_be_asked(inside, watches):
    stand = Stand(interactive=False)
    if inside:
        stand.begin("s2", owner=processes.identify(os.getppid()))
    SessionControl(stand.sessions, SimpleNamespace()).questions(os.getpid(), watches=watches)
    assert "nobody can be asked" in stand.verdict("deploy production").decisive.why


@pytest.mark.parametrize(("yes", "by"), [(True, "user"), (False, "")], ids=["yes", "no"])
def test_only_a_yes_is_on_record_as_the_persons_authority(yes, by):
    stand = Stand(yes)
    stand.verdict("deploy production")
    [said] = [e.data for e in stand.store.log if e.kind == "human"]
    assert (said["yes"], said["authorized_by"]) == (yes, by)


def test_a_question_without_a_limit_of_time_has_no_end():
    stand = Stand(True, policy=replace(POLICY, gate=Gate(seconds=0)))
    stand.verdict("deploy production")
    assert [question.until for question in stand.human.asked] == [0]
    stand = Stand(True)
    stand.verdict("deploy production")
    assert [question.until - question.asked for question in stand.human.asked] == [POLICY.gate.seconds]


def test_each_question_has_a_name_of_its_own():
    """An answer that comes late must not be one to the next question."""
    stand = Stand(True, True)
    stand.verdict("deploy production")
    stand.verdict("deploy production")
    assert len({question.id for question in stand.human.asked}) == 2


LOGIN = "/home/ann/.bashrc"
GRANTED = Finding("rules", Response.ASK, "", rule="filesystem.login", evidence=f"write {LOGIN}")
CARRIED_OUT = (
    ({"a1": (GRANTED,)}, "a1", Response.ALLOW, "what its call was granted"),
    ({"a1": (GRANTED,)}, "a2", Response.ASK, "what another call was granted"),
    ({"a1": (GRANTED,)}, STEP, Response.ALLOW, "the agent's own process carries out what any of its tools was granted"),
    ({"a1": (replace(GRANTED, rule="some.other"),)}, "a1", Response.ASK, "a yes to another rule"),
    ({"a1": (replace(GRANTED, evidence="write /home/ann/.zshrc"),)}, "a1", Response.ASK, "a yes to another file"),
    ({}, "a1", Response.ASK, "none"),
)


@pytest.mark.parametrize(("grants", "parent", "response", "why"), CARRIED_OUT, ids=[row[-1] for row in CARRIED_OUT])
def test_a_held_call_needs_no_second_yes_and_no_others(grants, parent, response, why):
    stand = Stand(False)
    stand.live.grants = dict(grants)
    held = Action("k1", stand.live.id, Layer.KERNEL, "make", {"object": LOGIN}, ROOT, stand.now(), ROOT, parent)
    verdict = asyncio.run(stand.guard.handle(stand.live, held, PatientPeer())).verdict
    assert (verdict.response, len(stand.human.asked)) == (
        (Response.ALLOW, 0) if response is Response.ALLOW else (Response.DENY, 1)
    )


class Slow(ScriptedHuman):
    """A person who says yes once ``ready`` is set; ``shown`` is set when the question is before them."""

    def __init__(self) -> None:
        super().__init__(True)
        self.shown, self.ready = asyncio.Event(), asyncio.Event()

    async def ask(self, question):
        self.shown.set()
        await self.ready.wait()
        return await super().ask(question)


def test_while_one_call_asks_the_others_wait_and_are_judged_after_the_answer():
    async def play():
        person = stand.live.runner = Slow()
        waiting = PatientPeer()
        asking = asyncio.create_task(stand.propose("deploy production"))
        await person.shown.wait()
        assert stand.live.session.state is State.ASKING
        other = asyncio.create_task(stand.propose("ls", peer=waiting))
        await asyncio.sleep(0.01)
        assert not other.done() and waiting.held
        person.ready.set()
        return [(await task).verdict.response for task in (asking, other)]

    stand = Stand()
    assert asyncio.run(play()) == [Response.ALLOW, Response.ALLOW]


def test_a_cancelled_question_leaves_no_session_asking():
    async def play():
        person = stand.live.runner = Slow()
        task = asyncio.create_task(stand.propose("deploy production"))
        await person.shown.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    stand = Stand()
    asyncio.run(play())
    assert stand.live.session.state is State.ACTIVE
    assert stand.live.answered.is_set()


def test_a_runner_that_comes_back_in_a_moment_is_waited_for():
    async def play():
        stand.live.runner = None
        asking = asyncio.create_task(stand.propose("deploy production"))
        await asyncio.sleep(0.01)
        assert not asking.done()
        stand.live.runner = stand.human
        return (await asking).verdict

    stand = Stand(True)
    assert asyncio.run(play()).response is Response.ALLOW


def test_a_runner_that_does_not_come_back_is_nobody(monkeypatch):
    monkeypatch.setattr("sentinel_guard.daemon.guard.COMES_BACK", 0.01)
    stand = Stand(True)
    stand.live.runner = None
    verdict = stand.verdict("deploy production")
    assert verdict.response is Response.DENY and "nobody can be asked" in verdict.decisive.why


@pytest.mark.parametrize(
    ("asks", "told"), [(True, ["", WAITING]), (False, [""])], ids=["a person is asked", "nobody is"]
)
def test_before_its_agent_goes_on_without_it_a_waiting_call_says_so_once(monkeypatch, asks, told):
    monkeypatch.setattr("sentinel_guard.daemon.waiting_launcher.SOON", 0.01)

    async def play():
        peer, stand = PatientPeer(), Stand()
        if asks:
            stand.sessions.note(stand.live, [encode_entries.state("s1", stand.now(), Event.ASK)])
        telling = Telling(peer, stand.live, lambda: 0.02)
        await telling.hold()
        await asyncio.sleep(0.1)
        telling.close()
        return peer.held

    assert asyncio.run(play()) == told


def test_what_a_git_hook_found_is_asked_about_after_another_question_too():
    staged = Finding("leak", Response.ASK, "a.py", rule="pii.email", ask=Ask("COMMIT", "A.PY"))
    stand = Stand(True, False)
    action = stand.action("deploy production")
    judged = asyncio.run(stand.guard.handle(stand.live, action, PatientPeer(), (staged,)))
    assert judged.verdict.response is Response.DENY
    assert [q.ask.action for q in stand.human.asked] == ["DEPLOY", "COMMIT"]


def test_a_yes_to_a_call_is_none_to_what_its_step_brings_beside_what_was_shown():
    staged = Finding("leak", Response.ASK, "a.py", rule="pii.email", ask=Ask("COMMIT", "A.PY"), evidence="line 1")
    stand = Stand(True, False)
    call = stand.action("git commit -m x")
    assert asyncio.run(stand.guard.handle(stand.live, call, PatientPeer(), (staged,))).verdict.response < Response.ASK
    for evidence, response in (("line 1", Response.ALLOW), ("line 9", Response.DENY)):
        step, brought = stand.action("git commit -m x", parent=call.id), (replace(staged, evidence=evidence),)
        assert asyncio.run(stand.guard.handle(stand.live, step, PatientPeer(), brought)).verdict.response is response


def test_two_yeses_to_one_call_are_both_given_to_its_step():
    staged = Finding("leak", Response.ASK, "a.py", rule="pii.email", ask=Ask("COMMIT", "A.PY"), evidence="line 1")
    stand = Stand(True, True)
    call = stand.action("deploy production")
    assert asyncio.run(stand.guard.handle(stand.live, call, PatientPeer(), (staged,))).verdict.response < Response.ASK
    step = stand.action("deploy production", parent=call.id)
    assert asyncio.run(stand.guard.handle(stand.live, step, PatientPeer(), (staged,))).verdict.response < Response.ASK
    assert len(stand.human.asked) == 2, "nobody is asked again"


@pytest.mark.parametrize(("user", "asked"), [(0, 1), (1000, 0)], ids=["root has them already", "they are lost there"])
def test_where_calls_are_held_only_root_is_asked_about_a_setuid_programs_rights(monkeypatch, user, asked):
    monkeypatch.setattr(guard.os, "geteuid", lambda: user)
    stand = Stand(True)
    stand.live.broker = SimpleNamespace(pid=7)
    stand.verdict("sudo systemctl restart nginx")
    assert len(stand.human.asked) == asked


def test_no_secret_is_shown_or_kept_with_a_question():
    stand = Stand(True)
    stand.verdict(f"deploy production --token {TOKEN}")
    [shown] = stand.human.asked
    assert shown.detail.startswith("deploy production --token") and TOKEN not in shown.detail
    assert TOKEN not in str(stand.store.log)


def test_a_step_that_is_left_of_an_ended_session_asks_nobody():
    stand = Stand(True)
    stand.sessions.note(stand.live, [Entry(stand.now(), "s1", "end")])
    assert stand.verdict("deploy production", parent="a1").response is Response.DENY
    assert not stand.human.asked


def test_a_yes_to_what_is_no_longer_so_is_asked_about_anew(monkeypatch):
    """Between the question and its answer the branch has moved: what was shown is not what would happen."""
    seen = iter([("old",), ("new",), ("new",), ("new",)])
    monkeypatch.setattr(question_preview, "look_up", lambda *_: Preview(("row",), "", next(seen)))
    stand = Stand(True, True)
    verdict = stand.verdict("deploy production")
    assert verdict.response is Response.ALLOW and verdict.authorized_by == "user"
    assert [question.preview for question in stand.human.asked] == [("row",), (question_preview.AGAIN, "row")]
    said = [e.data for e in stand.store.log if e.kind == "human"]
    assert [(s["yes"], s["why"]) for s in said] == [(False, "changed"), (True, "")]


# --- a yes for a while ---


def timed(stand, *commands):
    """The responses to commands, the first of which a person lets run for a while."""
    return [stand.verdict(command).response.word for command in commands]


def test_a_yes_for_a_while_asks_once_and_is_on_record_each_time():
    stand = Stand(Reply(True, "terminal", timed=True))
    assert timed(stand, "deploy production", "deploy production", "deploy --fast production") == ["allow"] * 3
    assert len(stand.human.asked) == 1 and stand.human.asked[0].timed == POLICY.gate.timed_seconds
    said = [e.data for e in stand.store.log if e.kind == "human"]
    assert [s["assurance"] for s in said] == ["terminal", "timed-grant", "timed-grant"]
    assert {s["grant"] for s in said} == {"g1"} and all(s["authorized_by"] == "user" for s in said)


ENDS = [
    (lambda stand: setattr(stand.now, "now", stand.now.now + 601), "its time is over"),
    (lambda stand: stand.live.timed.revoke(), "it was revoked"),
]


@pytest.mark.parametrize("end", [row[0] for row in ENDS], ids=[row[1] for row in ENDS])
def test_a_yes_for_a_while_ends(end):
    stand = Stand(Reply(True, "terminal", timed=True), False)
    assert timed(stand, "deploy production") == ["allow"]
    end(stand)
    assert timed(stand, "deploy production") == ["deny"] and len(stand.human.asked) == 2


NOT_COVERED = [
    ("deploy staging", "another target"),
    ("migrate production", "another action"),
    ("deploy production && psql -d shop -c 'DROP TABLE users'", "what is asked about besides"),
]


@pytest.mark.parametrize("command", [row[0] for row in NOT_COVERED], ids=[row[1] for row in NOT_COVERED])
def test_a_yes_for_a_while_lets_nothing_else_run(command):
    stand = Stand(Reply(True, "terminal", timed=True), False, False)
    assert timed(stand, "deploy production", command) == ["allow", "deny"]


def test_no_yes_for_a_while_lets_a_fatal_command_run_and_it_ends_with_one():
    stand = Stand(Reply(True, "terminal", timed=True), False)
    fatal = "deploy production; rm" + " -rf /"
    assert timed(stand, "deploy production", fatal) == ["allow", "kill"]
    assert stand.live.timed.live(0.0) == []


@pytest.mark.parametrize(("tries", "holds"), [(2, True), (3, False)], ids=["a hint does not", "the breaker does"])
def test_what_a_call_came_to_ends_a_yes_for_a_while(tries, holds):
    stand = Stand(Reply(True, "terminal", timed=True))
    assert timed(stand, "deploy production") == ["allow"]
    for _ in range(tries):
        asyncio.run(stand.call("ls nothing", code=2, error="e"))
    assert bool(stand.live.timed.live(stand.now())) is holds


def test_where_policy_offers_none_a_yes_holds_once():
    policy = replace(POLICY, gate=replace(POLICY.gate, timed_seconds=0.0))
    stand = Stand(Reply(True, "terminal", timed=True), False, policy=policy)
    assert timed(stand, "deploy production", "deploy production") == ["allow", "deny"]
    assert [question.timed for question in stand.human.asked] == [0.0, 0.0]


def test_no_yes_for_a_while_is_offered_where_none_can_hold():
    """What a git hook found is no kind of command."""
    staged = Finding("leak", Response.ASK, "a.py", rule="pii.email", ask=Ask("COMMIT", "A.PY"))
    stand = Stand(Reply(True, "terminal", timed=True))
    asyncio.run(stand.guard.handle(stand.live, stand.action("git commit -m x"), PatientPeer(), (staged,)))
    assert [question.timed for question in stand.human.asked] == [0.0]


def test_what_was_spent_while_a_question_was_open_counts():
    """The answer is judged at its own time: the reports came after the call."""

    class Busy(ScriptedHuman):
        async def ask(self, question):
            stand.now.now += 30
            for _ in range(0 if self.asked else 2):
                stand.report(Usage(stand.now(), 60_000, 0, 0, 0))
            stand.now.now += 5
            return await super().ask(question)

    stand = Stand(policy=replace(POLICY, cost=replace(POLICY.cost, cooldown_seconds=0.01)))
    stand.live.runner = Busy(True, True)
    peer = PatientPeer()
    stand.verdict("deploy production", peer=peer)
    assert any("held for" in said for said in peer.held), peer.held
