"""Reports on real repositories: complete, never written over, and written even where the daemon fell before."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from sentinel_guard.core import encode_entries
from sentinel_guard.core.incidents import root_cause_and_sign_off
from sentinel_guard.core.model import Entry, Finding, Outcome, Response, Verdict
from sentinel_guard.core.policy.policy import Paths, Policy
from sentinel_guard.core.session.session import Session
from sentinel_guard.daemon.live_sessions import Live, Sessions
from sentinel_guard.daemon.snapshots_and_rollback import Recovered, Recovery
from sentinel_guard.daemon.write_incidents import Incidents
from sentinel_guard.errors import HostError
from sentinel_guard.host.git.worktree_tree_hash import Worktrees
from sentinel_guard.host.machine.state_paths import StatePaths
from tests.support.fakes import Clock, MemoryStore
from tests.support.judge_cases import action

LOOP = Finding("loop", Response.BREAK, "SYSTEM INTERVENTION: Loop.", "3 times", operations=frozenset({"op"}))
KILL = Finding("rules", Response.KILL, "`x`", "it deletes", rule="system.delete")


class Bench:
    """A session in a repository, its baseline taken, and what writes its reports."""

    def __init__(self, folder: Path) -> None:
        self.root, self.places = folder / "r", StatePaths(folder / "state", folder / "run", folder / "config")
        self.root.mkdir()
        (self.root / "a.txt").write_text("start\n")
        for command in ("init -q", "add -A", "commit -qm start"):
            subprocess.run(["git", *command.split()], cwd=self.root, check=True)
        (self.root / "mine.txt").write_text("mine\n")
        self.store, self.now = MemoryStore(), Clock(1_795_255_872.0)
        self.sessions = Sessions(self.store, self.places, lambda s: Live(s, Policy))
        self.recovery = Recovery(self.places)
        self.incidents = Incidents(self.places, self.store, self.sessions, self.recovery, self.now)
        self.live = Live(Session("s-ab12"), Policy)
        self.note(Entry(self.now(), "s-ab12", "session", {"root": str(self.root), "command": ["agent"]}))
        self.live.trees = Worktrees(str(self.root), self.places.session("s-ab12") / "baseline")

    def note(self, *entries):
        self.sessions.note(self.live, entries)

    def call(self, ident, edit=None):
        """A failing call of the loop, after which the files are as ``edit`` leaves them."""
        act = action("make", ident=ident, at=self.now())
        act = Verdict(act).action
        entries = encode_entries.of_verdict(Verdict(act), "op", poll=False, policy=Policy())
        self.note(*(self._mine(e) for e in entries))
        if edit:
            edit(self.root)
        done = Outcome(ident, self.now(), 2, error="e", after=self.live.trees.take())
        self.note(self._mine(encode_entries.of_outcome(act, done)))

    def stop(self, finding, ident):
        verdict = Verdict(action("make", ident=ident, at=self.now()), (), (finding,))
        self.note(*map(self._mine, encode_entries.of_observation(verdict, "x", self.now(), Policy())))
        return verdict

    def _mine(self, entry):
        return Entry(entry.at, "s-ab12", entry.kind, entry.data, entry.level)

    def run(self, story):
        async def all_of_it():
            await self.recovery.begin(self.live)
            await self.recovery.settled(self.live)
            return await story()

        return asyncio.run(all_of_it())

    def reports(self):
        return sorted((self.root / "docs/incidents").glob("*.md"))


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def odd_files(root):
    (root / "b | `c`.txt").write_text("token = 'ghp_" + "a" * 36 + "'\n")
    (root / "logo.png").write_bytes(bytes(range(256)))
    (root / b"caf\xe9.txt".decode(errors="surrogateescape")).write_text("not UTF-8 in its name\n")
    (root / "long.txt").write_text("".join(f"line {n}\n" for n in range(10_000)))
    (root / "latin.txt").write_bytes(b"caf\xe9\n")


def test_a_breakers_report_holds_what_changed_in_the_loop_and_in_the_session(bench):
    async def story():
        (bench.root / "before.txt").write_text("before the loop\n")
        bench.call("a1")
        bench.call("a2", lambda root: (root / "a.txt").write_text("tried\n"))
        bench.call("a3")
        return await bench.incidents.write(bench.live, bench.stop(LOOP, "a3"), None)

    path = bench.run(story)
    text = path.read_text()
    loop, _, session = text.partition("## Diff of the failure loop")[2].partition("## Diff of the session")
    assert "+tried" in loop and "before.txt" not in loop
    assert "+tried" in session and "before.txt" in session
    assert "mine.txt" not in text, "what the person had not committed is no work of the session"
    assert f"| Session | {bench.live.id} |" in text
    assert "| 2 ↻ |" in text and "| 7 ↻ |" in text
    assert (path.parent / f"{path.stem}.patch").read_text().startswith("diff --git a/a.txt")
    [entry] = [e for e in bench.store.log if e.kind == "incident"]
    assert entry.data["seal"] == root_cause_and_sign_off.seal(text) and entry.data["call"] == "a3"
    assert bench.live.unexplained == (str(path),)


def test_odd_names_odd_bytes_and_much_of_it(bench):
    async def story():
        bench.call("a1")
        bench.call("a2", odd_files)
        return await bench.incidents.write(bench.live, bench.stop(LOOP, "a2"), None)

    path = bench.run(story)
    text = path.read_bytes().decode()
    patches = b"".join(p.read_bytes() for p in path.parent.glob("*.patch"))
    assert "logo.png | binary" in text and "b | `c`.txt | +1 -0" in text and "caf\\xe9.txt | +1 -0" in text
    assert "long.txt | +10000 -0" in text and "more lines. The whole patch:" in text
    assert "ghp_" not in text and b"ghp_" not in patches
    assert b"line 9999" in patches and b"caf\xe9" in patches
    assert len(list(path.parent.glob("*.patch"))) == 2, "the loop's is cut, too"
    assert len(text.splitlines()) < 1100


def test_what_a_restricted_file_holds_is_in_no_report_wherever_it_was_copied_to(bench):
    (bench.root / ".env").write_text("PLAIN=alpha-beta-7\nMODE=development\n")
    bench.live.policy = lambda: Policy(Paths((".env",)))

    async def story():
        for n in range(3):
            bench.call(f"c{n}", lambda root: (root / "copy.txt").write_text("alpha-beta-7, development\n"))
        verdict = bench.stop(LOOP, "c2")
        return await bench.incidents.write(bench.live, verdict, None)

    path = bench.run(story)
    written = [p.read_text() for p in path.parent.iterdir()]
    assert len(written) > 1
    assert not any("alpha-beta-7" in text for text in written)
    assert all("<redacted>, development" in text for text in written if "copy.txt" in text)


def test_two_within_a_second_are_two_and_hold_nothing_of_each_other(bench):
    async def story():
        bench.call("a1")
        first = await bench.incidents.write(bench.live, bench.stop(LOOP, "a1"), None)
        second = await bench.incidents.write(bench.live, bench.stop(LOOP, "a1"), None)
        return first, second

    first, second = bench.run(story)
    assert second.stem == f"{first.stem}-2"
    assert [p.name for p in bench.reports()] == sorted((first.name, second.name))
    assert first.name not in second.read_text()


@pytest.mark.skipif(not Path("/proc").exists(), reason="Linux")
def test_where_the_folder_cannot_be_written_it_lies_beside_the_state_and_says_so(bench):
    async def story():
        (bench.root / "docs").write_text("a file")
        bench.call("a1")
        return await bench.incidents.write(bench.live, bench.stop(LOOP, "a1"), None)

    path = bench.run(story)
    assert path.parent == bench.places.session("s-ab12") / "incidents"
    assert f"could not be written to {bench.root}/docs/incidents" in path.read_text()


def test_a_repository_without_a_commit_has_a_report_too(bench):
    subprocess.run(["git", "update-ref", "-d", "HEAD"], cwd=bench.root, check=True)

    async def story():
        (bench.root / "new.txt").write_text("new\n")
        bench.call("a1")
        return await bench.incidents.write(bench.live, bench.stop(LOOP, "a1"), None)

    text = bench.run(story).read_text()
    assert "| Start commit | none |" in text and "new.txt | +1 -0" in text


def test_a_kills_report_is_written_after_the_rollback_and_survives_it(bench):
    async def story():
        (bench.root / "a.txt").write_text("evil\n")
        (bench.root / "evil.txt").write_text("evil\n")
        verdict = bench.stop(KILL, "a1")
        return await bench.incidents.write(bench.live, verdict, await bench.recovery.recover(bench.live))

    path = bench.run(story)
    text = path.read_text()
    assert (bench.root / "a.txt").read_text() == "start\n" and path.exists()
    assert "mine.txt" not in text, "what the agent left alone"
    assert "- Put back as it was: a.txt" in text and "- Removed, as it was not there at the start: evil.txt" in text
    [command] = [line for line in text.splitlines() if line.startswith("cp -a -- ") and line.endswith("evil.txt")]
    subprocess.run(["sh", "-c", command], check=True)
    assert (bench.root / "evil.txt").read_text() == "evil\n", "the command brings the agent's version back"


def test_a_daemon_that_was_started_anew_writes_what_the_fallen_one_did_not(bench):
    async def story():
        bench.call("a1")
        bench.stop(LOOP, "a1")
        await bench.incidents.finish(bench.live)
        await bench.incidents.finish(bench.live)

    bench.run(story)
    [report] = bench.reports()
    assert "| Rule | loop |" in report.read_text() and "| 2 ↻ |" in report.read_text()


def test_a_kill_that_was_carried_out_and_not_reported_is_reported_with_what_was_done(bench):
    async def story():
        bench.stop(KILL, "a1")
        done = Recovered(ok=True, start_hash="f00d", restored=["a.txt"])
        bench.note(Entry(bench.now(), "s-ab12", "recovery", done.as_data(), "L4"))
        await bench.incidents.finish(bench.live)

    bench.run(story)
    [report] = bench.reports()
    assert "- The repository was put back to f00d" in report.read_text()


def test_what_cannot_be_reported_stops_no_daemon(bench, caplog):
    async def story():
        bench.note(Entry(bench.now(), "s-ab12", "recovery", {"from": "another version"}, "L4"))
        bench.stop(KILL, "a1")
        await bench.incidents.finish(bench.live)

    bench.run(story)
    assert "could not be reported" in caplog.text


def test_where_nothing_can_be_written_it_is_an_error_and_not_on_record(bench):
    async def story():
        (bench.root / "docs").write_text("a file")
        (bench.places.session("s-ab12") / "incidents").write_text("a file")
        bench.call("a1")
        await bench.incidents.write(bench.live, bench.stop(LOOP, "a1"), None)

    with pytest.raises(HostError, match="could not be written"):
        bench.run(story)
    assert not [e for e in bench.store.log if e.kind == "incident"], "the next daemon tries again"
