"""The human in the loop on a real terminal: the gate (R7), the beacon (R8), and what they do from another terminal."""

from __future__ import annotations

import json
import time

import pexpect
import pytest

from tests.support.wait_until import settled, until

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


def test_a_no_with_a_reason_reaches_the_agent(gated):
    person = gated.on_terminal("deploy production")
    person.expect_exact("target as written: production")
    person.expect_exact(PROMPT)
    settled()
    person.send("r")
    person.expect_exact("Reason for the agent, and Enter: ")
    person.send("use the staging target\r")
    person.expect(pexpect.EOF)
    [told] = gated.seen()
    assert told["code"] == 126
    assert told["err"].strip() == "UserDenied: Authorization refused. use the staging target."


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


def test_the_beacon_as_a_tool_of_the_mcp_server(stage):
    stage.commit()
    call = {"name": "request_human_help", "arguments": {"context": "I am stuck on the regex"}}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}}
    messages = [(1, "initialize", hello), (2, "tools/call", call)]
    lines = (json.dumps({"jsonrpc": "2.0", "id": n, "method": m, "params": p}) for n, m, p in messages)
    stage.write("calls", "\n".join(lines) + "\n")
    serve = "{ cat calls; until grep -q '\"id\": 2' answers; do sleep 0.1; done; } | sentinel-guard mcp > answers"
    person = stage.on_terminal(serve)
    person.expect_exact("I am stuck on the regex")
    settled()
    person.send("try a raw string\r")
    settled()
    assert stage.log(kind="state")[-1]["data"]["event"] == "help", "the session waits, R8"
    person.send("/resume\r")
    person.expect(pexpect.EOF)
    answers = [json.loads(line) for line in (stage.repo / "answers").read_text().splitlines()]
    assert [a["id"] for a in answers] == [1, 2], "and the client's own dialog was not needed"
    assert "The user says: try a raw string" in answers[1]["result"]["content"][0]["text"]


def test_without_a_terminal_the_beacon_says_so(stage):
    stage.commit()
    _, [told] = stage.agent('sentinel-guard help-me "lost"')
    assert told["code"] == 126 and "No human can be reached" in told["err"]


def test_the_title_shows_the_state_and_the_end_has_a_summary(gated):
    person = gated.on_terminal("deploy production", "sentinel-guard --version")
    person.expect_exact("\x1b]2;guarded: ")
    person.expect_exact("\x1b]2;SENTINEL ASKS: ")
    person.expect_exact(PROMPT)
    settled()
    person.send("n")
    person.expect_exact("\x1b]2;guarded: ")
    person.expect_exact("\x1b[23;2t")
    person.expect(r"(\d+) commands?, 1 refused, 1 asked, \d+ s held. More: sentinel-guard log --session (\w+)")
    assert int(person.match[1]) >= 1
    session = person.match[2].decode() if isinstance(person.match[2], bytes) else person.match[2]
    person.expect(pexpect.EOF)
    assert "UserDenied" in gated.sentinel("log", "--session", session).stdout


def test_what_the_person_says_in_the_menus_chat_is_told_with_the_next_command(stage):
    stage.commit()
    agent = stage.on_terminal("touch first", 4, "touch second")
    assert until((stage.repo / "first").exists, seconds=20)
    agent.send("\x1c")
    agent.expect_exact("Your choice: ")
    settled()
    agent.send("c")
    agent.expect_exact("Your agent reads it when it goes on.")
    settled()
    agent.send("no more files, please\r")
    agent.expect_exact("you: no more files, please")
    time.sleep(5)
    assert not (stage.repo / "second").exists(), "it is paused meanwhile"
    agent.send("/resume\r")
    agent.expect(pexpect.EOF)
    first, second = stage.seen()
    assert "user says" not in first["err"]
    assert (second["code"], second["err"]) == (0, "SENTINEL: the user says: no more files, please\n")
    said = [(e["data"].get("text"), e["data"]["authorized_by"]) for e in stage.log(kind="chat")]
    assert said == [("no more files, please", "user")]


# --- from another terminal ---


def is_asked(stage):
    return until(lambda: stage.sentinel("questions").stdout.startswith("q"), seconds=20)


def test_a_no_from_another_terminal_reaches_the_agent_with_its_reason(gated):
    person = gated.on_terminal("deploy production")
    person.expect_exact(PROMPT)
    assert is_asked(gated)
    denied = gated.sentinel("deny", "--reason", "use the staging target")
    assert (denied.returncode, denied.stdout) == (0, "It was refused.\n")
    person.expect(pexpect.EOF)
    [told] = gated.seen()
    assert told["code"] == 126
    assert told["err"].strip() == "UserDenied: Authorization refused. use the staging target."
    [answer] = gated.log(kind="human")
    assert (answer["data"]["assurance"], answer["data"]["reason"]) == ("other-terminal", "use the staging target")
    assert gated.sentinel("deny").returncode == 1, "it is open no more"


def test_a_yes_for_a_while_is_shown_in_status_and_ended_by_revoke(gated):
    person = gated.on_terminal("deploy production", "deploy production", 4, "deploy production")
    person.expect_exact("t: yes to this kind for 10 min")
    person.expect_exact(PROMPT)
    settled()
    person.send("t")
    assert until(lambda: len(gated.log(kind="human")) == 2, seconds=20), "the second ran by the same yes"
    assert "yes to DEPLOY PRODUCTION for " in gated.sentinel("status").stdout
    ended = gated.sentinel("revoke")
    assert ended.returncode == 0 and ended.stdout.startswith("Ended g1 of ")
    assert gated.sentinel("revoke").returncode == 1, "there is none any more"
    person.expect_exact(PROMPT)
    settled()
    person.send("n")
    person.expect(pexpect.EOF)
    assert [told["code"] for told in gated.seen()] == [0, 0, 126]
    words = [(e["data"]["assurance"], e["data"].get("why", "")) for e in gated.log(kind="human")]
    assert words == [("terminal", ""), ("timed-grant", ""), ("other-terminal", "revoked"), ("terminal", "")]


def test_a_yes_is_typed_at_a_terminal_and_runs_it_once(gated):
    person = gated.on_terminal("deploy production")
    person.expect_exact(PROMPT)
    assert is_asked(gated)
    piped = gated.sentinel("approve")
    assert piped.returncode == 1 and "typed at a terminal" in piped.stderr
    other = gated.terminal("sentinel-guard", "approve")
    other.expect_exact(PROMPT)
    other.sendline("y")
    other.expect_exact("It runs.")
    person.expect(pexpect.EOF)
    [told] = gated.seen()
    assert (told["code"], told["out"]) == (0, "stub deploy: production\n")
    [answer] = gated.log(kind="human")
    assert (answer["data"]["authorized_by"], answer["data"]["assurance"]) == ("user", "other-terminal")


def test_where_a_word_is_demanded_no_yes_comes_from_another_terminal(gated):
    gated.policy('[confirm]\ndeploy = ["deploy"]\n[gate]\nseconds = 60\ntyped_word = true\n')
    person = gated.on_terminal("deploy production")
    person.expect_exact(PROMPT)
    assert is_asked(gated)
    other = gated.terminal("sentinel-guard", "approve")
    other.expect_exact(PROMPT)
    other.sendline("y")
    other.expect_exact("own terminal only")
    assert person.isalive() and not gated.log(kind="human"), "the question is still open"
    assert gated.sentinel("deny").returncode == 0
    person.expect(pexpect.EOF)


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


def test_a_call_for_help_that_is_ended_elsewhere_leaves_no_chat_on_the_screen(stage):
    stage.commit()
    agent = stage.on_terminal('sentinel-guard help-me "I am stuck"', "touch on", "cat > typed; true")
    agent.expect_exact("I am stuck")
    assert stage.sentinel("resume").returncode == 0
    assert until((stage.repo / "typed").exists, seconds=20), "the agent goes on"
    agent.expect_exact("\x1b[?1049l")
    settled()
    agent.sendline("for the agent")
    agent.sendeof()
    agent.expect(pexpect.EOF)
    assert (stage.repo / "typed").read_text() == "for the agent\n", "what is typed is the agent's again"


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


def test_the_menu_pauses_resumes_and_rolls_back(stage):
    stage.commit()
    agent = stage.on_terminal("touch first", 4, "touch second", "sleep 600")
    assert until((stage.repo / "first").exists, seconds=20)

    def choose(*keys):
        agent.send("\x1c")
        agent.expect_exact("Your choice: ")
        settled()
        for key in keys:
            agent.send(key)
            settled()

    choose("p")
    assert until(lambda: "PAUSED" in stage.sentinel("status").stdout)
    time.sleep(5)
    assert not (stage.repo / "second").exists(), "it waits"
    choose("r")
    assert until((stage.repo / "second").exists, seconds=20)
    choose("b", "y")
    agent.expect_exact("the user ended this session")
    agent.expect(pexpect.EOF)
    agent.close()
    assert agent.exitstatus == 137
    assert not (stage.repo / "first").exists() and not (stage.repo / "second").exists()
    said = [(e["data"]["event"], e["data"].get("assurance")) for e in stage.log(kind="state")]
    assert said == [("pause", "terminal"), ("resume", "terminal"), ("kill", None)]
