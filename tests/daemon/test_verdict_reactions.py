"""What a verdict sets off: the snapshot, the freeze, the kill carried out to its end. Real processes where they end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from sentinel_guard.core import encode_entries
from sentinel_guard.core.model import Action, Effect, Finding, Kind, Layer, Response, Verdict
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.session.session import Event, State
from sentinel_guard.daemon import verdict_reactions as module
from sentinel_guard.daemon.snapshots_and_rollback import Recovered
from sentinel_guard.daemon.verdict_reactions import Reactions
from sentinel_guard.errors import HostError, StoreError
from sentinel_guard.host.machine import processes
from sentinel_guard.host.shim_integrity import ShimIntegrity
from tests.support.fakes import FullStore
from tests.support.guard_in_memory import ROOT, Stand
from tests.support.time_limits import limit
from tests.support.wait_until import until


class Vault:
    """Recovery in memory: a rescue gives a ref, a rollback what it is told to give."""

    def __init__(self, result=None, *, on_recover=lambda: None) -> None:
        self.result, self.on_recover, self.rescued = result or Recovered(ok=True), on_recover, []
        self.told = []

    async def rescue(self, live, label, *, words="", also=()):
        if isinstance(self.result, Exception):
            raise self.result
        self.rescued.append(label)
        self.told.append((words, sorted(also)))
        return f"refs/sentinel/rescue/{label}"

    async def recover(self, live, *, rollback=True):
        self.on_recover()
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


class Reports:
    """Incidents in memory."""

    def __init__(self, fails: Exception | None = None) -> None:
        self.written, self.fails = [], fails
        self.left: Verdict | None = None

    def unreported(self, live):
        return self.left

    async def write(self, live, verdict, recovered):
        if self.fails:
            raise self.fails
        self.written.append((verdict, recovered))
        return Path("/r/INCIDENT.md")


def reactions(stand, vault=None, reports=None) -> Reactions:
    return Reactions(
        sessions=stand.sessions, recovery=vault or Vault(), incidents=reports or Reports(), now=stand.now
    )  # fmt: skip


def verdict(response: Response, *, who: Peer | None = None) -> Verdict:
    act = Action("a1", "s1", Layer.SHELL, "shell", {"command": "x"}, ROOT, 1.0, ROOT, who=who)
    return Verdict(act, (), (Finding("rules", response, "`x`", "why"),))


def test_rule_1_a_snapshot_is_named_on_the_finding():
    stand, vault = Stand(), Vault()
    kept = asyncio.run(reactions(stand, vault).snapshot(in_repository(stand), verdict(Response.SNAPSHOT)))
    assert kept.response is Response.SNAPSHOT
    assert kept.findings[0].evidence == "refs/sentinel/rescue/a1" and vault.rescued == ["a1"]


def deleting(*paths, parent="", ident="a1", how=()):
    effects = tuple(Effect(Kind.DELETE, p, how=frozenset(how)) for p in paths)
    act = Action(ident, "s1", Layer.SHELL, "shell", {"command": "rm it"}, ROOT, 1.0, ROOT, parent)
    return Verdict(act, effects, (Finding("rules", Response.SNAPSHOT, "`x`", "why"),))


def test_rule_1_a_snapshot_is_told_the_command_and_what_it_would_destroy():
    stand, vault = Stand(), Vault()
    live, reaction = in_repository(stand), reactions(stand, vault)
    asyncio.run(reaction.snapshot(live, deleting(f"{ROOT}/build", f"{ROOT}/x")))
    asyncio.run(reaction.snapshot(live, deleting(f"{ROOT}/y", ident="a2", how=("mode",))))
    assert vault.told == [("rm it", [f"{ROOT}/build", f"{ROOT}/x"]), ("rm it", [])]


def test_the_steps_of_a_call_share_its_snapshot_unless_they_destroy_more():
    stand, vault = Stand(), Vault()
    live, reaction = in_repository(stand), reactions(stand, vault)
    asyncio.run(reaction.snapshot(live, deleting(f"{ROOT}/build")))
    asyncio.run(reaction.snapshot(live, deleting(f"{ROOT}/build", parent="a1", ident="a2")))
    assert len(vault.told) == 1
    live.calls[1] = "a1"
    asyncio.run(reaction.snapshot(live, deleting(f"{ROOT}/dist", parent="a1", ident="a3")))
    asyncio.run(reaction.snapshot(live, deleting(f"{ROOT}/dist", parent="a1", ident="a4")))
    assert len(vault.told) == 2


def test_rule_1_where_the_snapshot_fails_the_action_does_not_run():
    stand, vault = Stand(), Vault(HostError("No room.", "Make room."))
    refused = asyncio.run(reactions(stand, vault).snapshot(in_repository(stand), verdict(Response.SNAPSHOT)))
    assert refused.response is Response.DENY
    assert (refused.decisive.why, refused.decisive.instead) == ("No room.", "Make room.")


def in_repository(stand):
    assert stand.live.session.root == ROOT
    return stand.live


@pytest.fixture
def tree():
    """An owner with two children: one that asks, and one that goes on."""
    script = "sleep 60 & echo $!; sleep 60 & echo $!; wait; read x"
    owner = subprocess.Popen(["/bin/sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    pids = [int(owner.stdout.readline()) for _ in range(2)]
    yield owner.pid, pids
    for pid in pids:
        if processes.identify(pid):
            os.kill(pid, signal.SIGKILL)
    owner.communicate()


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def owned(stand, pid):
    return stand.begin("owned", owner=processes.identify(pid))


def test_rule_2_the_tree_is_stopped_but_for_the_one_that_is_answered(tree):
    owner, (asker, other) = tree
    stand = Stand()
    reactions(stand).freeze(owned(stand, owner), verdict(Response.KILL, who=processes.identify(asker)))
    deadline = time.monotonic() + limit(5)
    while state_of(other) != "T" and time.monotonic() < deadline:
        time.sleep(0.005)
    assert state_of(other) == "T"
    assert {state_of(asker), state_of(owner)} <= {"S", "R"}, "alive and not stopped"


def test_rule_2_everything_has_ended_before_anything_is_restored(tree):
    owner, pids = tree
    stand = Stand()
    left: list[bool] = []
    vault = Vault(on_recover=lambda: left.extend(processes.alive(p) for p in map(processes.identify, pids) if p))
    live = owned(stand, owner)
    asyncio.run(reactions(stand, vault).after(live, verdict(Response.KILL)))
    assert not any(left)
    assert processes.alive(live.session.owner), "the runner lives on to tell the person"


def test_what_was_stopped_is_ended_before_the_one_that_is_answered_has_printed(tree, monkeypatch):
    owner, (asker, other) = tree
    monkeypatch.setattr(module, "PRINTING", 3600.0)
    stand = Stand()
    live, reaction, stopped = owned(stand, owner), reactions(stand), processes.identify(other)
    killed = verdict(Response.KILL, who=processes.identify(asker))

    async def story() -> tuple[bool, bool]:
        reaction.freeze(live, killed)
        following = asyncio.create_task(reaction.after(live, killed))
        ended = await asyncio.to_thread(until, lambda: not processes.alive(stopped))
        printing = processes.alive(killed.action.who) and not following.done()
        following.cancel()
        return ended, printing

    assert asyncio.run(story()) == (True, True)


def test_what_descends_from_the_agent_is_ended_before_there_is_an_answer(tree):
    owner, (asker, other) = tree
    reaction, ended = reactions(stand := Stand()), processes.identify(other)
    killed = verdict(Response.KILL, who=processes.identify(asker))
    reaction.end_processes(owned(stand, owner), killed)
    assert until(lambda: not processes.alive(ended))
    assert processes.alive(killed.action.who), "it is told why"
    assert processes.alive(processes.identify(owner)), "the runner tells the person"


def test_rule_2_what_was_stopped_is_ended_though_its_owner_ended_before_that(tree):
    owner, pids = tree
    stand = Stand()
    live, reaction = owned(stand, owner), reactions(stand)
    stopped = [processes.identify(pid) for pid in pids]
    reaction.freeze(live, verdict(Response.KILL))
    os.kill(owner, signal.SIGKILL)
    assert until(lambda: not processes.alive(live.session.owner))
    asyncio.run(reaction.after(live, verdict(Response.KILL)))
    assert until(lambda: not any(map(processes.alive, stopped))), "nothing stays stopped for ever"


@pytest.fixture
def shimmed(tmp_path):
    folder = tmp_path / "shims"
    folder.mkdir()
    (folder / "git").write_text("the launcher")
    return ShimIntegrity.of(folder), folder


SHIMLESS = (
    (None, ["session", "verdict", "kill", "recovery"], "on record"),
    (FullStore(room=1), ["session"], "the record went with the shims: it is killed all the same"),
)


@pytest.mark.parametrize(("store", "kinds"), [row[:2] for row in SHIMLESS], ids=[row[2] for row in SHIMLESS])
def test_a_session_whose_shims_are_gone_is_killed(shimmed, tree, store, kinds):
    stand = Stand(store=store)
    live, reaction = stand.live, reactions(stand)
    live.shims = shimmed[0]

    async def story():
        await reaction.look_at_shims(live)
        assert not live.session.over, "they stand"
        (shimmed[1] / "git").unlink()
        await reaction.look_at_shims(live)
        assert live.session.state is State.KILLED, "at once: its runner asks"
        await reaction.look_at_shims(live)
        await asyncio.wait_for(live.buried.wait(), limit(20))
        await reaction.finished(live)

    asyncio.run(story())
    assert stand.kinds() == kinds
    [told] = stand.human.told
    assert told["event"] == "killed" and "git is gone" in told["text"]


def test_shims_that_were_cleared_away_when_the_session_had_ended_are_no_harm(shimmed):
    stand = Stand()
    stand.live.shims = shimmed[0]
    reaction = reactions(stand)
    reaction.end(stand.live, 0)
    (shimmed[1] / "git").unlink()
    asyncio.run(reaction.look_at_shims(stand.live))
    assert stand.live.session.state is State.ENDED and not stand.human.told


def kill(stand, vault=None, reports=None):
    asyncio.run(reactions(stand, vault, reports).after(stand.live, verdict(Response.KILL)))


def test_a_kill_is_recovered_reported_and_told():
    stand, reports = Stand(), Reports()
    kill(stand, Vault(Recovered(ok=True, start_hash="abc")), reports)
    assert stand.kinds() == ["session", "recovery"]
    assert reports.written[0][1].start_hash == "abc"
    [told] = stand.human.told
    assert (told["event"], told["incident"]) == ("killed", "/r/INCIDENT.md")
    assert told["text"].startswith("`x`: why.")
    assert stand.live.buried.is_set()


def test_beside_a_rollback_another_sessions_commands_wait_and_nothing_is_called_verified():
    stand, reports, waited = Stand(), Reports(), []
    other, done = stand.begin("s2"), stand.begin("s3")
    stand.sessions.note(done, [encode_entries.state("s3", 1.0, Event.END)])
    vault = Vault(on_recover=lambda: waited.append((acts.whole(other), acts.whole(done))))
    vault.pending = lambda _: False
    acts = reactions(stand, vault, reports)
    asyncio.run(acts.after(stand.live, verdict(Response.KILL)))
    assert waited == [(False, True)], "s3 has ended: nothing of it is left to wait"
    assert acts.whole(other)
    told = [t["text"] for t in stand.human.told if t["event"] == "notice"]
    assert told == [module.BESIDE.format("s1"), module.MOVED.format("s1")]
    [(_, recovered)] = reports.written
    assert (recovered.ok, recovered.problems) == (False, [module.UNVERIFIED.format("s2")])
    assert [e.data["what"] for e in stand.store.entries(session="s2", kinds=("daemon",))] == told[1:]


def test_two_killed_sessions_of_a_repository_are_rolled_back_one_after_the_other():
    stand, order = Stand(), []
    other = stand.begin("s2")

    class Slow(Vault):
        async def recover(self, live, *, rollback=True):
            order.append(f"{live.id} begins")
            await asyncio.sleep(0.02)
            order.append(f"{live.id} ends")
            return Recovered(ok=True)

    async def story():
        acts = reactions(stand, Slow())
        await asyncio.gather(*(acts.after(live, verdict(Response.KILL)) for live in (stand.live, other)))

    asyncio.run(story())
    assert [words.split()[1] for words in order] == ["begins", "ends", "begins", "ends"]


def test_a_session_ends_when_its_reports_are_on_the_disk():
    stand, order = Stand(), []

    class Slow(Reports):
        async def write(self, live, verdict, recovered):
            await asyncio.sleep(0.02)
            order.append("written")
            return Path("/r/INCIDENT.md")

    async def story():
        acts = reactions(stand, None, Slow())
        following = asyncio.create_task(acts.after(stand.live, verdict(Response.BREAK)))
        await asyncio.sleep(0)
        await acts.reported(stand.live)
        order.append("ended")
        await following

    asyncio.run(story())
    assert order == ["written", "ended"]


FAILS = (
    (Vault(HostError("The disk is gone.")), None, None, "the rollback"),
    (Vault(ZeroDivisionError()), None, None, "the rollback, by a fault of ours"),
    (None, Reports(OSError("no room")), None, "the report"),
    (None, Reports(StoreError("no room")), None, "the report's entry"),
    (None, None, FullStore(room=1), "the log"),
)


@pytest.mark.parametrize(("vault", "reports", "store"), [f[:3] for f in FAILS], ids=[f[3] for f in FAILS])
def test_rule_3_a_kill_is_carried_out_to_its_end_even_where_a_step_fails(vault, reports, store):
    stand = Stand(store=store)
    kill(stand, vault, reports)
    assert stand.live.buried.is_set(), "who waits for the end does not wait for ever"
    assert stand.human.told[-1]["event"] == "killed"


def test_rule_3_the_report_says_which_step_failed():
    stand, reports = Stand(), Reports()
    kill(stand, Vault(HostError("The disk is gone.")), reports)
    [(_, recovered)] = reports.written
    assert not recovered.ok and "The disk is gone." in recovered.problems[0]
    assert "sentinel-guard rollback s1" in recovered.problems[0]


def test_a_kill_that_a_fallen_daemon_left_half_done_is_taken_up():
    stand, reports = Stand(), Reports()
    stand.sessions.note(stand.live, [encode_entries.state("s1", 5.0, Event.KILL, reason="`rm -rf /`")])
    reports.left = verdict(Response.KILL)
    asyncio.run(reactions(stand, None, reports).take_up(stand.live))
    assert [why for why, _ in reports.written] == [reports.left], "the verdict that is on record"
    assert stand.live.buried.is_set() and stand.kinds()[-1] == "recovery"


def test_a_breaker_whose_report_cannot_be_written_is_told_all_the_same():
    stand = Stand()
    asyncio.run(reactions(stand, None, Reports(HostError("No room."))).after(stand.live, verdict(Response.BREAK)))
    assert "No incident report could be written: No room." in stand.human.told[0]["text"]


def test_a_breaker_leaves_a_report_and_a_notice_and_undoes_nothing():
    stand, reports = Stand(), Reports()
    asyncio.run(reactions(stand, None, reports).after(stand.live, verdict(Response.BREAK)))
    assert reports.written[0][1] is None
    [notice] = stand.human.told
    assert (notice["event"], notice["level"]) == ("notice", "L3") and "/r/INCIDENT.md" in str(notice["text"])


@pytest.mark.parametrize("response", [Response.ALLOW, Response.HINT, Response.DENY])
def test_what_is_less_sets_nothing_off(response):
    stand, reports = Stand(), Reports()
    asyncio.run(reactions(stand, None, reports).after(stand.live, verdict(response)))
    assert not reports.written and not stand.human.told


def test_an_end_is_recorded_once_and_a_killed_session_stays_killed():
    stand = Stand()
    for _ in range(2):
        reactions(stand).end(stand.live, 3)
    assert stand.kinds() == ["session", "end"] and stand.live.session.state is State.ENDED
    stand = Stand()
    stand.sessions.note(stand.live, [encode_entries.state("s1", 5.0, Event.KILL)])
    reactions(stand).end(stand.live, 137)
    assert stand.live.session.state is State.KILLED
    assert stand.store.live_sessions() == (), "no later daemon takes it up again"


def test_r8_resume_gives_autonomy_back_and_ends_the_chat():
    stand = Stand()
    stand.sessions.note(stand.live, [encode_entries.state("s1", 5.0, Event.HELP)])
    with stand.live.dialogue.heard() as words:
        reactions(stand).resume(stand.live, "terminal")
    assert stand.live.session.state is State.ACTIVE
    said = stand.store.log[-1].data
    assert (said["authorized_by"], said["assurance"]) == ("user", "terminal")
    assert words.get_nowait() is None
