"""A person in another terminal: they answer a question of a session, pause it, let it go on, end it. Real processes."""

from __future__ import annotations

import time

import pexpect
import pytest

from tests.support.wait_until import until

BLOCK = "Action: DEPLOY\r\nTarget: PRODUCTION\r\nRisk: HIGH\r\nConfirm? (Y/N):"


@pytest.fixture
def gated(stage):
    stage.commit()
    stage.policy('[confirm]\ndeploy = ["deploy"]\n[gate]\nseconds = 60\n')
    return stage


def asked(stage):
    return until(lambda: stage.sentinel("questions").stdout.startswith("q"), seconds=20)


def test_a_no_from_another_terminal_reaches_the_agent_with_its_reason(gated):
    person = gated.on_terminal("deploy production")
    person.expect_exact(BLOCK)
    assert asked(gated)
    denied = gated.sentinel("deny", "--reason", "use the staging target")
    assert (denied.returncode, denied.stdout) == (0, "It was refused.\n")
    person.expect(pexpect.EOF)
    [told] = gated.seen()
    assert told["code"] == 126
    assert told["err"].strip() == "UserDenied: Authorization refused. use the staging target."
    [answer] = gated.log(kind="human")
    assert (answer["data"]["assurance"], answer["data"]["reason"]) == ("other-terminal", "use the staging target")
    assert gated.sentinel("deny").returncode == 1, "it is open no more"


def test_a_yes_is_typed_at_a_terminal_and_runs_it_once(gated):
    person = gated.on_terminal("deploy production")
    person.expect_exact(BLOCK)
    assert asked(gated)
    piped = gated.sentinel("approve")
    assert piped.returncode == 1 and "typed at a terminal" in piped.stderr
    other = gated.terminal("sentinel-guard", "approve")
    other.expect_exact(BLOCK)
    other.sendline("y")
    other.expect_exact("It runs.")
    person.expect(pexpect.EOF)
    [told] = gated.seen()
    assert (told["code"], told["out"]) == (0, "stub deploy: production\n")
    [answer] = gated.log(kind="human")
    assert (answer["data"]["authorized_by"], answer["data"]["assurance"]) == ("user", "other-terminal")


def test_what_an_agent_starts_waits_while_it_is_paused(stage):
    stage.commit()
    agent = stage.on_terminal("touch first", 2, "touch second")
    assert until((stage.repo / "first").exists, seconds=20)
    assert stage.sentinel("pause").returncode == 0
    again = stage.sentinel("resume", "no-such-session")
    assert again.returncode == 1 and "no live session" in again.stderr
    time.sleep(4)
    assert not (stage.repo / "second").exists(), "it waits"
    assert "PAUSED" in stage.sentinel("status").stdout
    assert stage.sentinel("resume").returncode == 0
    agent.expect(pexpect.EOF)
    assert [told["code"] for told in stage.seen()] == [0, 0] and (stage.repo / "second").exists()
    events = [(e["data"]["event"], e["data"].get("authorized_by")) for e in stage.log(kind="state")]
    assert events == [("pause", "user"), ("resume", "user")]
    assert stage.sentinel("resume").returncode == 1, "it is over"


ENDS = [((), "kept"), (("--rollback",), "rolled back")]


@pytest.mark.parametrize("row", ENDS, ids=[row[1] for row in ENDS])
def test_a_session_is_ended_and_its_files_stay_or_go_back(stage, row):
    options, after = row
    stage.commit()
    agent = stage.on_terminal("echo mine > made.txt", "sleep 600")
    assert until((stage.repo / "made.txt").exists, seconds=20)
    assert stage.sentinel("kill", *options).returncode and agent.isalive(), "it asks first, and silence is a no"
    ended = stage.sentinel("kill", "--yes", *options)
    assert ended.returncode == 0, ended.stderr
    agent.expect_exact("the user ended this session")
    agent.expect(pexpect.EOF)
    agent.close()
    assert agent.exitstatus == 137
    assert (stage.repo / "made.txt").exists() == (after == "kept")
    [report] = (stage.repo / "docs" / "incidents").glob("INCIDENT-*.md")
    said = report.read_text()
    assert "the user ended the session of" in said and ("without a rollback" in said) == (after == "kept")


INSIDE = ("sentinel-guard pause", "sentinel-guard kill --yes", "sentinel-guard approve", "sentinel-guard deny")


def test_an_agent_steers_no_session(stage):
    stage.commit()
    _, seen = stage.agent(*INSIDE)
    assert [told["code"] for told in seen] == [126] * len(INSIDE)
    assert all("outside of this session" in told["err"] for told in seen)
