from dataclasses import replace

import pytest

from sentinel_guard.core import report
from sentinel_guard.core.model import Entry, Finding, Response, Verdict
from sentinel_guard.core.report import DIFF_LINES, SEAL, STEPS, Incident, incident, machine_part
from sentinel_guard.core.session import Session
from tests.core.cases import action

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
FACTS = Incident(
    "INCIDENT-1",
    VERDICT,
    Session("s", "/w", "abc123", command=("agent", "-y")),
    ENTRIES,
    stat=" a.py | 2 +-\n",
    diff="diff --git a/a.py b/a.py\n+token = 'abc123'\n",
    patch="docs/incidents/x.patch",
    impact=("Every process was ended.",),
    rescue="refs/sentinel/rescue/s",
    head="f00d",
)

LINES = (
    ("# INCIDENT-1", "its name"),
    ("Kill switch (system.delete): 'rm -rf /': it deletes the system.", "summary"),
    ("| Severity | L4 FATAL |", "severity"),
    ("| When | 10:11:12.042 on 2026-11-21 (UTC) |", "milliseconds"),
    ("| Start commit | abc123 |", "start hash"),
    ("- Evidence: delete /.", "evidence"),
    ("- Every process was ended.", "impact"),
    ("| 1 | 10:11:03.042 | session | agent -y |  |", "a session's beginning"),
    ("| 2 | 10:11:04.042 | verdict | make \\| tee 'log' | allow |", "a bar and a backtick in a command"),
    ("| 3 | 10:11:04.542 | outcome | call a | exit 2 boom |", "an outcome"),
    ("| 4 | 10:11:06.042 | observation | call a | hint: loop: twice |", "a hint"),
    ("| 5 | 10:11:07.042 | human | DEPLOY PROD | yes |", "a yes"),
    ("| 6 | 10:11:08.042 | human | DROP | no |", "a no"),
    ("| 7 | 10:11:09.042 | usage | tokens reported | input 5 |", "usage"),
    ("| 8 | 10:11:10.042 | state | kill | rm -rf / |", "a state"),
    ("| 9 | 10:11:10.142 | verdict | git log | allow |", "an argv"),
    ("| 10 | 10:11:10.242 | verdict | Write {'path': 'x'} | deny |", "a tool"),
    ("| 11 | 10:11:10.342 | verdict | Old |  |", "an entry of another version"),
    ("| 12 | 10:11:10.442 | verdict | git clean -fdx | deny: paths.restricted: .env is restricted |", "the decisive"),
    ("+token = '<redacted>'", "the diff is redacted"),
    ("The whole patch: `docs/incidents/x.patch`.", "the patch beside it"),
    ("- 10:11:07.042: DEPLOY PROD: yes (authorized_by: user, assurance: terminal)", "approvals"),
    ("- look at it: `git diff HEAD refs/sentinel/rescue/s`", "how to restore"),
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
    ("Nothing was changed by the guard.", "no impact"),
    ("No step is on record.", "no entries"),
    ("No file was changed during the session.", "no diff"),
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
    long = "\n".join(f"+line {n}" for n in range(DIFF_LINES + 7))
    text = incident(replace(FACTS, entries=many, diff=long))
    assert "| 50 |" in text
    assert "| 51 |" not in text
    assert "| c19 |" not in text
    assert f"+line {DIFF_LINES - 1}\n" in text
    assert "7 more lines." in text


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
    facts = replace(FACTS, verdict=seen, entries=entries, diff=text, stat=text, impact=(text,), head=text, rescue=text)
    whole = incident(facts)
    assert whole.count(SEAL) == 1
    assert "\x1b" not in whole
    assert "\n# heading" not in whole.replace("\n| a | b |\n# heading", "")
    rows = [line for line in whole.splitlines() if line.startswith("| 1 |")]
    assert len(rows) == 1


def test_the_seal_divides_the_machines_part_from_the_agents():
    whole = incident(FACTS)
    assert machine_part(whole) == machine_part(whole + "more from the agent")
    assert machine_part(whole) != machine_part(whole.replace("L4 FATAL", "L2"))
    assert "Root cause" not in machine_part(whole)


def test_the_file_is_named_by_the_moment():
    assert report.name(AT, "s1") == "INCIDENT-2026-11-21T101112Z-s1.md"
