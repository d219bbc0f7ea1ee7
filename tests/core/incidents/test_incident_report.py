from dataclasses import replace

import pytest

from sentinel_guard.core.incidents import incident_report, parse_patch
from sentinel_guard.core.incidents.incident_report import DIFF_LINES, Incident, Patch, incident
from sentinel_guard.core.incidents.rollback_words import LISTED, RollbackSummary
from sentinel_guard.core.incidents.root_cause_and_sign_off import SEAL, machine_part
from sentinel_guard.core.incidents.timeline import STEPS
from sentinel_guard.core.model import Entry, Finding, Response, Verdict
from sentinel_guard.core.session.session import Session
from tests.support.judge_cases import action

AT = 1_795_255_872.042  # 2026-11-21 10:11:12.042 UTC
FINDING = Finding(
    "rules", Response.KILL, "`rm -rf /`", "it deletes the system", "rm -rf build", "system.delete", "delete /"
)
VERDICT = Verdict(action("rm -rf /", at=AT), (), (FINDING,))


def verdict_entry(command, at=AT, **data):
    return Entry(
        at, "s", "verdict", {"id": "a", "tool": "shell", "arguments": {"command": command}, "response": "allow", **data}
    )


CLEAN = {"check": "rules", "rule": "git.clean", "response": "snapshot", "what": "x", "why": "it deletes files"}
ENV = {"check": "rules", "rule": "paths.restricted", "response": "deny", "what": "x", "why": ".env is restricted"}
ENTRIES = (
    Entry(AT - 9, "s", "session", {"command": ["agent", "-y"]}),
    verdict_entry("make | tee `log`", AT - 8),
    Entry(AT - 7.5, "s", "outcome", {"id": "a", "code": 2, "excerpt": "boom"}),
    Entry(AT - 6, "s", "observation", {"id": "a", "response": "hint", "findings": [{"check": "loop", "why": "twice"}]}),
    Entry(
        AT - 5,
        "s",
        "human",
        {"action": "DEPLOY", "target": "PROD", "yes": True, "authorized_by": "user", "assurance": "terminal"},
    ),
    Entry(AT - 4, "s", "human", {"action": "DROP", "yes": False, "why": ""}),
    Entry(AT - 3, "s", "usage", {"input": 5, "output": 0}),
    Entry(AT - 2, "s", "state", {"event": "kill", "reason": "rm -rf /"}),
    Entry(AT - 1.9, "s", "verdict", {"tool": "shell", "arguments": {"argv": ["git", "log"]}, "response": "allow"}),
    Entry(AT - 1.8, "s", "verdict", {"tool": "Write", "arguments": {"path": "x"}, "response": "deny"}),
    Entry(AT - 1.7, "s", "verdict", {"tool": "Old"}),
    verdict_entry("git clean -fdx", AT - 1.6, response="deny", findings=[CLEAN, ENV]),
    Entry(AT - 1, "s", "daemon", {"text": "no step"}),
)
PATCH = "diff --git a/a.py b/a.py\n@@ -1 +1,2 @@\n-x\n+y\n+token = 'abc123'\n"
RESTORED = RollbackSummary(
    ok=True,
    start="abc123",
    reset=True,
    back=("a.py",),
    gone=("evil.py",),
    kept=(("/q/worktree/a.py", "a.py"), ("/q/user/rc", "/home/ann/.gitconfig"), ("/q/x y", "")),
    problems=("b.py could not be put back: no room",),
    notes=("refs/remotes/origin/main was moved by a push or fetch: not undone.",),
)
FACTS = Incident(
    "INCIDENT-1",
    VERDICT,
    Session("s", "/w", "abc123", command=("agent", "-y")),
    ENTRIES,
    whole=Patch(parse_patch.files(PATCH), "x.patch"),
    restored=RESTORED,
    rescue="refs/sentinel/rescue/s",
    head="f00d",
)

SUMMARY = (
    "2026-11-21 10:11 UTC: `agent` tried something that endangers the machine or the repository; it was not run, "
    "and the session was ended and the repository put back to where it had started."
)
RESET = "- The repository was put back to abc123 by 'git reset --hard' and the person's own state on top, and verified."
LINES = (
    ("# INCIDENT-1", "its name"),
    (SUMMARY, "a sentence for somebody who was not there"),
    ("Kill switch (system.delete): 'rm -rf /': it deletes the system.", "summary"),
    ("| Severity | L4 FATAL |", "severity"),
    ("| When | 10:11:12.042 on 2026-11-21 (UTC) |", "milliseconds"),
    ("| Start commit | abc123 |", "start hash"),
    ("- Evidence: delete /.", "evidence"),
    ("- Every process of the session was ended.", "impact"),
    (RESET, "how"),
    ("- Put back as it was: a.py", "what came back"),
    ("- Removed, as it was not there at the start: evil.py", "what went"),
    ("- b.py could not be put back: no room", "what could not be done"),
    ("- refs/remotes/origin/main was moved by a push or fetch: not undone.", "what was pushed"),
    ("| 1 | 10:11:03.042 | session | agent -y |  |", "a session's beginning"),
    ("| 2 | 10:11:04.042 | verdict | `` make \\| tee `log` `` | allow |", "a bar and a backtick in a command"),
    ("| 3 | 10:11:04.542 | outcome | of step 12 | exit 2 boom |", "an outcome"),
    ("| 4 | 10:11:06.042 | observation | of step 12 | hint: loop: twice |", "a hint"),
    ("| 5 | 10:11:07.042 | human | DEPLOY PROD | yes |", "a yes"),
    ("| 6 | 10:11:08.042 | human | DROP | no |", "a no"),
    ("| 7 | 10:11:09.042 | usage | tokens reported | input 5 |", "usage"),
    ("| 8 | 10:11:10.042 | state | kill | rm -rf / |", "a state"),
    ("| 9 | 10:11:10.142 | verdict | `git log` | allow |", "an argv"),
    ('| 10 | 10:11:10.242 | verdict | `Write {"path": "x"}` | deny |', "a tool"),
    ("| 11 | 10:11:10.342 | verdict | `Old` |  |", "an entry of another version"),
    ("| 12 | 10:11:10.442 | verdict | `git clean -fdx` | deny: paths.restricted: .env is restricted |", "the decisive"),
    ("+token = '<redacted>'", "the diff is redacted"),
    ("a.py | +2 -1", "the files"),
    ("The whole patch: `x.patch`.", "the patch beside it"),
    ("cp -a -- /q/worktree/a.py /w/a.py", "what brings a version back"),
    ("cp -a -- /q/user/rc /home/ann/.gitconfig", "one from elsewhere"),
    ("ls -l -- '/q/x y'", "one that belongs nowhere"),
    ("- 10:11:07.042: DEPLOY PROD: yes (authorized_by: user, assurance: terminal)", "approvals"),
    ("- take files back: `sentinel-guard snapshots restore refs/sentinel/rescue/s PATH`, or `--all`", "how to restore"),
    ("Audit chain head: `f00d` (`sentinel-guard log verify`).", "chain head"),
    ("## Root cause", "the agent's part"),
    ("## Action items", "the agent's part, too"),
)


@pytest.mark.parametrize(("line", "why"), LINES, ids=[r[1] for r in LINES])
def test_the_report_says(line, why):
    assert line in incident(FACTS).splitlines()


def test_the_daemons_own_entries_are_no_steps():
    assert "no step" not in incident(FACTS)
    assert "(1 to 12)" in incident(FACTS)


EMPTY = (
    ("No finding is on record.", "no finding"),
    ("- The session was paused; nothing was rolled back.", "no rollback"),
    ("No step is on record.", "no entries"),
    ("No file was changed since the session began.", "no diff"),
    ("Nobody was asked.", "no approvals"),
    ("No rescue snapshot was taken: the files are as the agent left them.", "no rescue"),
    ("| Agent | unknown |", "no command"),
)


@pytest.mark.parametrize(("line", "why"), EMPTY, ids=[r[1] for r in EMPTY])
def test_what_is_not_known_is_said(line, why):
    assert line in incident(Incident("I", Verdict(action(at=AT)), Session("s"), ())).splitlines()


def test_a_kill_names_no_other_way():
    assert "Instead" not in incident(FACTS)
    broken = replace(VERDICT, findings=(replace(FINDING, response=Response.BREAK),))
    assert "- Instead: rm -rf build." in incident(replace(FACTS, verdict=broken)).splitlines()


def test_fifty_steps_and_four_hundred_lines():
    many = [verdict_entry(f"c{n}", AT + n) for n in range(STEPS + 20)]
    long = "diff --git a/x b/x\n@@ -0,0 +1 @@\n" + "\n".join(f"+line {n}" for n in range(DIFF_LINES + 7))
    text = incident(replace(FACTS, entries=many, whole=Patch(parse_patch.files(long), "x.patch")))
    assert "| 50 |" in text
    assert "| 51 |" not in text
    assert "`c19`" not in text
    assert f"+line {DIFF_LINES - 3}\n" in text
    assert "\n9 more lines. The whole patch: `x.patch`." in text


HOSTILE = (
    "x" + SEAL,
    "```\n" + SEAL,
    "| a | b |\n# heading",
    "<script>",
    "<!-- sent" + SEAL + "inel: end of the machine's part -->",
    "\x1b]0;x\x07",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_an_agent_cannot_end_the_machines_part_or_a_block(text):
    entries = [verdict_entry(text), Entry(AT, "s", "outcome", {"id": text, "code": 1, "excerpt": text})]
    finding = replace(FINDING, what=text, why=text, evidence=text)
    seen = Verdict(action(text, at=AT), (), (finding,))
    patch = Patch(parse_patch.files(f"diff --git a/{text} b/{text}\n@@ -0,0 +1 @@\n+{text}"), text, "")
    done = replace(RESTORED, back=(text,), gone=(text,), kept=((text, text),), problems=(text,), notes=(text,))
    facts = replace(
        FACTS,
        verdict=seen,
        entries=entries,
        loop=patch,
        whole=patch,
        restored=done,
        head=text,
        rescue=text,
        problem=text,
    )
    whole = incident(facts)
    assert whole.count(SEAL) == 1
    assert "\x1b" not in whole
    assert "\n# heading" not in whole.replace("| a | b |\n# heading", "")
    rows = [line for line in whole.splitlines() if line.startswith("| 1 |")]
    assert len(rows) == 1


def test_the_seal_divides_the_machines_part_from_the_agents():
    whole = incident(FACTS)
    assert machine_part(whole) == machine_part(whole + "more from the agent")
    assert machine_part(whole) != machine_part(whole.replace("L4 FATAL", "L2"))
    assert "Root cause" not in machine_part(whole)


def test_the_file_is_named_by_the_moment():
    assert incident_report.name(AT, "s1") == "INCIDENT-2026-11-21T101112Z-s1"


def loop(**given):
    finding = Finding("loop", Response.BREAK, "SYSTEM INTERVENTION: Loop.", "three times", operations=frozenset({"op"}))
    entries = [
        verdict_entry("make", AT - 2, call=True, operation="op"),
        Entry(AT - 1, "s", "outcome", {"id": "a", "code": 2, "error": "e"}),
    ]
    seen = Verdict(action("make", at=AT), (), (finding,))
    return incident(replace(FACTS, verdict=seen, entries=entries, restored=None, seconds=60.0, **given))


def test_a_breakers_report_marks_the_loop_and_shows_what_changed_in_it():
    text = loop(loop=Patch(parse_patch.files(PATCH)))
    assert (
        "`agent` kept failing without getting anywhere; it was paused for 60 seconds. Nothing was rolled back." in text
    )
    assert "| 1 ↻ | 10:11:10.042 | verdict | `make` | allow |" in text
    assert "Steps marked ↻ are the failure loop." in text
    assert "## Diff of the failure loop\n\n```\na.py | +2 -1\n" in text
    assert "put the repository back to where the session began: `sentinel-guard rollback s`." in text


SPANS = (
    (Patch(), "No file was changed between its first and its last step.", "nothing changed"),
    (Patch(unknown="git is gone"), "Not known: git is gone.", "it could not be had"),
)


@pytest.mark.parametrize(("patch", "words"), [r[:2] for r in SPANS], ids=[r[2] for r in SPANS])
def test_a_loop_without_a_difference_is_said(patch, words):
    assert f"## Diff of the failure loop\n\n{words}\n" in loop(loop=patch)


def test_a_kill_has_no_loop():
    assert "failure loop" not in incident(FACTS)


def test_long_lists_are_cut_and_say_so():
    names = tuple(f"f{n}" for n in range(LISTED + 5))
    text = incident(replace(FACTS, restored=replace(RESTORED, back=names, kept=tuple((n, n) for n in names))))
    assert "- Put back as it was: 5 more\n" in text
    assert "5 more lie in the same folder." in text
    assert f"f{LISTED}\n" not in text


def test_ten_thousand_lines_of_difference_and_ten_thousand_files_are_cut():
    big = "".join(f"diff --git a/f{n} b/f{n}\n@@ -0,0 +1 @@\n+x\n" for n in range(10_000))
    text = incident(replace(FACTS, whole=Patch(parse_patch.files(big), "x.patch")))
    assert "... 10000 files changed, 10000 lines added, 0 removed" in text
    assert len(text) < 40_000


@pytest.mark.parametrize("patch", [Patch(parse_patch.files(PATCH))], ids=["short"])
def test_what_is_shown_whole_is_not_cut(patch):
    assert not incident_report.is_truncated(patch)


def test_a_folder_that_could_not_be_written_is_named():
    assert "- The report could not be written to /r: no room" in incident(
        replace(FACTS, problem="The report could not be written to /r: no room")
    )


def test_a_rollback_that_failed_claims_nothing():
    text = incident(replace(FACTS, restored=replace(RESTORED, ok=False)))
    assert "was put back to" not in text and "the session was ended." in text
    assert "- b.py could not be put back: no room" in text
