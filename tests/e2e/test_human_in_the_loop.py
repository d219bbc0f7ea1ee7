"""The human in the loop on a real terminal: the gate (R7) and the beacon (R8)."""

from __future__ import annotations

import time

import pexpect
import pytest

from tests.support.wait_until import settled

PROMPT = "[SENTINEL SECURITY]\r\nAction: DEPLOY\r\nTarget: PRODUCTION\r\nRisk: HIGH\r\nConfirm? (Y/N):"


@pytest.fixture
def gated(stage):
    stage.commit()
    stage.policy('[confirm]\ndeploy = ["deploy"]\n[gate]\nseconds = 15\n')
    return stage


def test_y_lets_it_run_and_is_on_record(gated):
    person = gated.on_terminal("deploy production")
    person.expect_exact(PROMPT)
    settled()
    person.send("y")
    person.expect(pexpect.EOF)
    [told] = gated.seen()
    assert (told["code"], told["out"]) == (0, "stub deploy: production\n")
    [answer] = gated.log(kind="human")
    assert answer["data"]["authorized_by"] == "user" and answer["data"]["assurance"] == "terminal"


def test_n_is_the_protocols_error(gated):
    person = gated.on_terminal("deploy production")
    person.expect_exact(PROMPT)
    settled()
    person.send("n")
    person.expect(pexpect.EOF)
    [told] = gated.seen()
    assert told["code"] == 126 and told["out"] == ""
    assert told["err"].strip() == "UserDenied: Authorization refused."


def test_what_was_typed_ahead_answers_nothing(gated):
    person = gated.on_terminal(1, "deploy production")
    time.sleep(0.5)
    person.send("yyyyyy\r")
    person.expect_exact(PROMPT)
    time.sleep(1)
    assert person.isalive() and not gated.log(kind="human"), "the question is still open"
    person.send("n")
    person.expect(pexpect.EOF)
    assert gated.seen()[0]["code"] == 126


def test_silence_is_a_no(gated):
    gated.policy('[confirm]\ndeploy = ["deploy"]\n[gate]\nseconds = 1\n')
    person = gated.on_terminal("deploy production")
    person.expect_exact(PROMPT)
    person.expect(pexpect.EOF)
    assert gated.seen()[0]["code"] == 126
    assert gated.log(kind="human")[0]["data"]["why"] == "silence"


def test_the_agent_cannot_answer_for_the_person(gated):
    # It writes to every terminal that it can reach, and connects to the operator's socket.
    forge = "(sleep 0.5; echo y > /dev/tty; printf 'y' > /dev/stderr) & deploy production"
    steers = (
        "sentinel-guard daemon stop --force",
        "sentinel-guard run -- deploy production",
        "sentinel-guard allow .env",
    )
    person = gated.on_terminal(forge, *steers)
    person.expect_exact(PROMPT)
    time.sleep(1.5)
    person.send("n")
    person.expect(pexpect.EOF)
    person.close()
    seen = gated.seen()
    assert seen[0]["code"] == 126
    refused = "in another terminal, outside of this session"
    assert all(refused in s["err"] and s["code"] == 126 for s in seen[1:]), "power is refused from inside"
    assert person.exitstatus == 0, "but a command of the person's in the wrong terminal is no attack"


def test_the_beacon_waits_for_resume_and_brings_the_persons_words(stage):
    stage.commit()
    person = stage.on_terminal('sentinel-guard help-me "I am stuck on the regex"', "echo on")
    person.expect_exact("I am stuck on the regex")
    settled()
    person.send("try a raw string\r")
    settled()
    assert stage.log(kind="state")[-1]["data"]["event"] == "help"
    person.send("/resume\r")
    person.expect(pexpect.EOF)
    asked, after = stage.seen()
    assert asked["code"] == 0 and "try a raw string" in asked["out"]
    assert after["out"] == "on\n"


def test_without_a_terminal_the_beacon_says_so(stage):
    stage.commit()
    _, [told] = stage.agent('sentinel-guard help-me "lost"')
    assert told["code"] == 126 and "No human can be reached" in told["err"]
