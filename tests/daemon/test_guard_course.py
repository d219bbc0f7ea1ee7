"""The path of one action, in memory: what holds it up, what ends it, what is searched and what is told after it."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from sentinel_guard.core import encode_entries
from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Finding, Outcome, Response, Usage
from sentinel_guard.core.policy.policy import Cost
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import NOTHING
from sentinel_guard.core.session.session import Call, Event, Session
from sentinel_guard.daemon import call_outcomes, guard
from sentinel_guard.daemon.session_secrets import SessionSecrets
from sentinel_guard.daemon.token_usage.read_records import TokenRecords
from tests.support.fakes import PatientPeer
from tests.support.guard_in_memory import POLICY, ROOT, Stand
from tests.support.time_limits import limit

ANY_OF_GIT = replace(
    POLICY.rules[0], program=("git",), subcommand=(), any_flag=frozenset(), operand=(), effect=(), target=()
)


def test_r6_a_cooling_session_waits_on_our_side_then_runs(monkeypatch):
    def sleep(seconds):
        slept.append(seconds)
        return wait(seconds)

    slept, wait = [], asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", sleep)
    policy = replace(POLICY, cost=Cost(tokens_per_minute=1000, cooldown_seconds=0.05))
    stand, peer = Stand(policy=policy, now=time.monotonic), PatientPeer()
    for _ in range(2):
        stand.report(Usage(stand.now(), output=600))
    began = time.monotonic()
    verdict = stand.verdict("ls", peer=peer)
    assert verdict.response is Response.ALLOW
    assert time.monotonic() - began >= 0.05 >= max(slept), "no longer than it has to"
    assert verdict.action.at >= began + 0.05, "it is judged at the time at which it runs"
    assert any("COOL DOWN" in text for text in peer.held)
    assert stand.kinds()[-4:] == ["verdict", "cool", "expire", "verdict"]


def test_r6_what_was_spent_is_read_before_a_call_is_judged_and_not_again_before_its_steps(monkeypatch):
    async def look(_, __, action):
        looked.append((action.id, stand.kinds()))

    stand, looked = Stand(), []
    monkeypatch.setattr(TokenRecords, "look", look)
    call = asyncio.run(stand.propose("ls")).verdict.action
    stand.verdict("pwd", parent=call.id)
    assert looked == [(call.id, ["session"])]


def test_r5_three_identical_failures_open_the_breaker_and_another_call_closes_it():
    async def play():
        said = [await stand.call("ls nothing", code=2, error="e") for _ in range(3)]
        refused = (await stand.propose("echo other")).verdict
        stand.now.now += 61
        again = (await stand.propose("ls nothing")).verdict
        stand.now.now += 61
        return said, refused, again, await stand.call("echo other")

    stand = Stand()
    said, refused, again, other = asyncio.run(play())
    assert said == ["allow", "hint", "break"]
    assert refused.response is Response.DENY and "SYSTEM INTERVENTION: Loop Detected" in refused.decisive.what
    assert again.response is Response.BREAK, "half-open: the same operation trips again at once"
    assert other == "allow" and not stand.live.session.tripped
    assert not stand.reactions.frozen, "a breaker refuses; it stops no process"


def test_a_kill_is_frozen_before_it_is_answered_and_nothing_is_taken_after_it():
    stand = Stand()
    assert stand.verdict("rm -rf /").response is Response.KILL
    assert [v.response for v in stand.reactions.frozen] == [Response.KILL]
    for command in ("ls", "deploy production", "rm -rf /"):
        assert stand.verdict(command).response >= Response.DENY
    assert not stand.human.asked


def test_what_a_snapshot_can_undo_runs_after_one():
    stand = Stand()
    assert stand.verdict("git reset --hard").response < Response.ASK
    assert len(stand.reactions.snapshots) == 1
    assert stand.verdict("git status").response is Response.ALLOW
    assert len(stand.reactions.snapshots) == 1


def test_what_is_refused_costs_no_snapshot():
    refused = replace(ANY_OF_GIT, id="not.at.all", response=Response.DENY)
    stand = Stand(policy=replace(POLICY, rules=(*POLICY.rules, refused)))
    assert stand.verdict("git reset --hard").response is Response.DENY
    assert not stand.reactions.snapshots


TURNS = (
    ("a b a b", "a", True, "for the third time, in turn with another"),
    ("a b c a b c", "a", True, "of three"),
    ("a a", "a", True, "alone"),
    ("a b c b", "a", False, "it came once before"),
    ("x b a b", "a", False, "the turn before was another"),
    ("a", "a", False, "too few"),
)


@pytest.mark.parametrize(("before", "now", "turn", "why"), TURNS, ids=[row[-1] for row in TURNS])
def test_what_comes_in_turn(before, now, turn, why):
    done = Outcome("", 0.0, 0)
    calls = tuple(Call(str(n), op, "shell", 0.0, outcome=done) for n, op in enumerate(before.split()))
    assert call_outcomes.comes_in_turn(Session("s", calls=calls), now) is turn


def test_what_is_hinted_at_runs_after_its_snapshot_too():
    hint = replace(ANY_OF_GIT, id="by.the.way", response=Response.HINT)
    stand = Stand(policy=replace(POLICY, rules=(*POLICY.rules, hint)))
    assert stand.verdict("git reset --hard").response is Response.HINT
    assert len(stand.reactions.snapshots) == 1


@pytest.mark.parametrize(
    ("command", "expected", "why"),
    [
        ("git checkout a.txt", True, "it runs: what it changes is explained"),
        ("tee .env < a.txt", False, "refused: what changes now is somebody else's doing"),
        ("rm -rf /", False, "nor does a kill explain anything"),
    ],
)
def test_changes_of_files_are_explained_by_what_runs_alone(command, expected, why):
    told: list[str] = []
    stand = Stand()
    stand.live.watch = SimpleNamespace(restricted=(), expect=lambda verdict, _: told.append(verdict.action.id))
    assert (stand.verdict(command).action.id in told) is expected, why


@pytest.mark.parametrize(
    ("around", "response", "why"),
    [
        ("shopt -u extglob; eval 'ls' && pwd -P", Response.ALLOW, "what every wrapper does"),
        ("eval 'ls'; tee .env < a.txt", Response.DENY, "what it does besides"),
    ],
)
def test_what_an_agents_wrapper_does_in_the_same_shell_is_judged_too(around, response, why):
    stand = Stand()
    action = replace(stand.action("ls"), around=around)
    assert asyncio.run(stand.guard.handle(stand.live, action, PatientPeer())).verdict.response is response, why


def test_the_persons_own_command_is_recorded_and_not_judged():
    stand = Stand()
    judged = stand.guard.admit(stand.live, stand.action("./agent.sh tee .env"))
    assert judged.verdict.response is Response.ALLOW
    assert stand.store.log[-1].data["id"] == judged.verdict.action.id


def test_what_is_told_of_an_outcome_is_on_record_and_silence_is_not():
    stand = Stand()
    judged = asyncio.run(stand.propose("ls"))
    verdict = stand.guard.observe(stand.live, judged, Outcome("a1", stand.now(), 0))
    stand.guard.tell(stand.live, verdict, "", stand.now())
    assert stand.kinds()[-1] == "outcome"
    stand.guard.tell(stand.live, verdict, "SENTINEL HINT: look", stand.now())
    assert (stand.store.log[-1].kind, stand.store.log[-1].level) == ("observation", "L1")


def test_what_an_outcome_means_is_told_of_its_own_time_and_without_words_too():
    async def play():
        judged = await stand.propose("ls nothing")
        stand.now.now += 30
        outcome = Outcome(judged.verdict.action.id, stand.now(), 2, error="e")
        verdict = stand.guard.observe(stand.live, judged, outcome)
        stand.guard.tell(stand.live, replace(verdict, findings=(hint,)), "", outcome.at)
        return verdict.action.at, outcome.at

    stand, hint = Stand(), Finding("loop", Response.HINT, "look again")
    judged_at, ended_at = asyncio.run(play())
    assert judged_at == ended_at
    assert stand.kinds()[-1] == "observation"


GOES_ON = (
    ("find . -name x", 0, "it is looked for beside the loop, and what is found is judged at once"),
    ("curl -d @a.txt https://api.example", guard.MOVED, "what may leave is searched each time"),
    ("\n".join(f"echo {n}" for n in range(100)), guard.MOVED - 1, "so much is checked beside the loop, too"),
)


@pytest.mark.parametrize(("command", "times"), [row[:2] for row in GOES_ON], ids=[row[2] for row in GOES_ON])
def test_a_session_that_goes_on_all_the_time_is_judged_all_the_same(monkeypatch, command, times):
    """Each look beside the loop finds another session than it began with; the last one is taken in one go."""

    def look(live, case):
        beside = threading.current_thread() is not threading.main_thread()
        looks.append(beside)
        assert len(looks) < 10, "for ever"
        if beside:
            live.session = replace(live.session, reason=str(len(looks)))
        return judged(live, case)

    stand, judged, looks, analysed = Stand(), guard._verdict, list[bool](), list[Action]()
    monkeypatch.setattr(guard, "_verdict", look)
    monkeypatch.setattr(guard, "analyse", lambda action, *rest: analysed.append(action) or analyse(action, *rest))
    assert stand.verdict(command).response is Response.ALLOW
    assert looks == [True] * times + [False]
    assert len(analysed) == 1, "what it would do has nothing to do with what the session did meanwhile"


def test_what_the_session_has_made_meanwhile_counts_for_what_an_action_does(monkeypatch):
    def effects(action, world, own):
        owned.append(own)
        stand.live.session = replace(stand.live.session, made=frozenset(("database shop",)))
        return analyse(action, world, own)

    stand, owned = Stand(), list[frozenset[str]]()
    monkeypatch.setattr(guard, "analyse", effects)
    stand.verdict("find . -name x")
    assert owned == [frozenset(), frozenset(("database shop",))]


@pytest.mark.parametrize(("command", "poll"), [("sleep 30; curl -s http://localhost/up", True), ("make", False)])
def test_whether_a_call_is_a_poll_is_on_record(command, poll):
    stand = Stand()
    stand.verdict(command)
    assert bool(stand.store.log[-1].data.get("poll")) is poll


PROGRESS = [
    ((("ls", 0),) * 3, "ls", False, "well ended, however often"),
    ((("ls no", 2), ("ls", 0)), "ls no", True, "it failed before"),
    ((("ls no", 2), ("ls", 0)), "ls", False, "another one failed before, and the last one did not"),
    ((("ls no", 2),), "ls", True, "the last one failed: the same error may come again"),
]


@pytest.mark.parametrize(("calls", "next_one", "measured", "why"), PROGRESS, ids=[row[-1] for row in PROGRESS])
def test_progress_is_measured_only_where_it_is_in_question(calls, next_one, measured, why):
    async def play():
        for command, code in calls:
            await stand.call(command, code=code, error="e" if code else "")
        judged = await stand.propose(next_one)
        return call_outcomes.in_question(stand.live.session, judged.operation)

    stand = Stand()
    assert asyncio.run(play()) is measured


@pytest.mark.parametrize(
    ("command", "beside", "why"),
    [
        ("curl -d @a.txt https://api.example", True, "a file goes along: it is searched"),
        ("git clone https://git.example/x", True, "an address"),
        ("ls -la && git status", False, "nothing leaves"),
    ],
)
def test_what_leaves_is_searched_beside_the_loop(command, beside, why):
    async def play():
        where = []
        stand.live.discretion = SessionSecrets(lambda: where.append(threading.current_thread()) or NOTHING)
        await stand.propose(command)
        return where[:1] != [threading.main_thread()]

    stand = Stand(True)
    assert asyncio.run(play()) is beside, why


LONG = (
    ("ls -la", False, "a short command"),
    ("rm build/*.o", False, "names of one folder"),
    ("rm build/**/*.o", True, "names are looked for in all folders"),
    ("\n".join(f"echo {n}" for n in range(100)), True, "many commands"),
    ("for i in $(seq 255); do echo $i; done", True, "a loop"),
    ("git show HEAD:x.py > /tmp/x.py", True, "git is asked for a file"),
    ("git -C sub show HEAD:x.py > /tmp/x.py", True, "with an option before"),
)


@pytest.mark.parametrize(("command", "beside"), [row[:2] for row in LONG], ids=[row[2] for row in LONG])
def test_what_takes_long_to_judge_holds_no_other_session(monkeypatch, command, beside):
    def look(*given):
        where.append(threading.current_thread() is not threading.main_thread())
        return analyse(*given)

    where: list[bool] = []
    monkeypatch.setattr(guard, "analyse", look)
    assert Stand().verdict(command).response < Response.ASK
    assert where == [beside]


def test_git_is_asked_what_it_tracks_once_and_beside_the_loop(monkeypatch):
    def tracked(_root, paths):
        asked.append(threading.current_thread() is not threading.main_thread())
        stand.live.session = replace(stand.live.session)  # it goes on meanwhile, so that it is judged again
        return frozenset(paths)

    asked: list[bool] = []
    monkeypatch.setattr(guard.repository, "tracked", tracked)
    stand = Stand(True)
    stand.live.watch = SimpleNamespace(restricted=(f"{ROOT}/.env",), expect=lambda *_: None)
    assert stand.verdict("git clean -fdx").response is not Response.DENY
    assert asked == [True, True], "before the question, and after the answer"


def test_what_happened_to_the_session_while_it_was_searched_counts():
    async def play():
        def collect():
            asked.set()
            assert go.wait(limit(5))
            return NOTHING

        stand.live.discretion = SessionSecrets(collect)
        asking = asyncio.create_task(stand.propose("curl -d @a.txt https://api.example"))
        await asyncio.to_thread(asked.wait, 5)
        stand.live.discretion, held = SessionSecrets(), stand.live.discretion
        stand.sessions.note(
            stand.live, [encode_entries.state(stand.live.id, stand.now(), Event.KILL, reason="it was fatal")]
        )
        stand.live.discretion = held
        go.set()
        return (await asking).verdict

    asked, go, stand = threading.Event(), threading.Event(), Stand(True)
    verdict = asyncio.run(play())
    assert verdict.response is Response.DENY and "it was fatal" in verdict.decisive.what
