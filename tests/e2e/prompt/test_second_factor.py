"""A yes that needs a code of the person's device (TOTP): real daemon, pty and pyotp."""

from __future__ import annotations

import re
import stat
import time

import pexpect
import pyotp
import pytest

from sentinel_guard.host.machine.state_paths import places
from sentinel_guard.host.second_factor import STEP, USED, WRONG
from tests.support.wait_until import settled

PROMPT = "Confirm? (Y/N):"
CODE = "Code of your second factor, and Enter:"


@pytest.fixture
def stage(alone):
    return alone


@pytest.fixture
def gated(stage):
    stage.commit()
    stage.policy('[confirm]\ndeploy = ["deploy"]\n[gate]\nseconds = 120\nsecond_factor = ["DEPLOY"]\n')
    return stage


class Device:
    """The person's authenticator; each code is given for a step later than the one before, as if time had passed."""

    def __init__(self, stage) -> None:
        person = stage.terminal("sentinel-guard", "totp", "setup")
        person.expect(r"Or type the secret: ([A-Z2-7 ]+)\r\n")
        self.totp = pyotp.TOTP(person.match[1].replace(" ", ""))
        self.given: list[str] = []
        self.step = int(time.time() // STEP) - 1
        person.expect_exact("The code that it shows: ")
        settled()
        person.sendline(self.code())
        person.expect_exact("It is set up.")
        person.expect(pexpect.EOF)

    def code(self) -> str:
        self.step += 1
        self.given.append(self.totp.generate_otp(self.step))
        return self.given[-1]


def say_yes(person, code, *, first=True):
    if first:
        person.expect_exact(PROMPT)
    settled()
    person.send("y")
    person.expect_exact(CODE)
    settled()
    person.send(code + "\r")


def test_a_code_counts_once_and_stands_nowhere(gated):
    device = Device(gated)
    kept = places(gated.environ).state / "second-factor.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    person = gated.on_terminal("deploy production", "deploy staging")
    say_yes(person, device.code())
    used = device.given[-1]
    person.expect_exact("staging")
    say_yes(person, used)
    person.expect_exact(USED.capitalize())
    say_yes(person, device.given[0])
    person.expect_exact(USED.capitalize())
    person.expect_exact(PROMPT)
    settled()
    person.send("n")
    person.expect(pexpect.EOF)
    assert [told["code"] for told in gated.seen()] == [0, 126]
    [yes, no] = gated.log(kind="human")
    assert (yes["data"]["authorized_by"], no["data"]["yes"]) == ("user", False)
    written = [f.read_bytes() for f in gated.guard.rglob("*") if f.is_file()]
    assert written and not [code for code in device.given for data in written if f'"{code}"'.encode() in data]
    log = gated.sentinel("log", "--json", "-v", "-n", "0").stdout
    assert not [code for code in device.given if re.search(rf"\b{code}\b", log)]


def test_without_a_right_code_it_is_a_no(gated):
    device = Device(gated)
    person = gated.on_terminal("deploy production")
    for left in (2, 1, 0):
        say_yes(person, "12345x")
        if left:
            person.expect_exact(WRONG.capitalize())
    person.expect(pexpect.EOF)
    assert gated.seen()[0]["code"] == 126
    assert device.given


def test_where_none_is_set_up_no_yes_counts_and_the_way_out_is_named(gated):
    person = gated.on_terminal("deploy production")
    say_yes(person, "123456")
    person.expect_exact("sentinel-guard totp setup")
    person.expect_exact(PROMPT)
    settled()
    person.send("n")
    person.expect(pexpect.EOF)
    assert gated.seen()[0]["code"] == 126


def test_another_terminal_asks_for_the_code_too(gated):
    device = Device(gated)
    person = gated.on_terminal("deploy production")
    person.expect_exact(PROMPT)
    wrong = gated.terminal("sentinel-guard", "approve")
    wrong.expect_exact(PROMPT)
    wrong.sendline("y")
    wrong.expect_exact("Code of your second factor: ")
    settled()
    wrong.sendline(device.given[0])
    wrong.expect_exact(USED)
    wrong.expect(pexpect.EOF)
    assert person.isalive() and not gated.log(kind="human"), "the question is still open"
    right = gated.terminal("sentinel-guard", "approve")
    right.expect_exact(PROMPT)
    right.sendline("y")
    right.expect_exact("Code of your second factor: ")
    settled()
    right.sendline(device.code())
    right.expect_exact("It runs.")
    person.expect(pexpect.EOF)
    assert gated.seen()[0]["code"] == 0


def test_an_agent_neither_reads_the_secret_nor_sets_one_up(gated):
    Device(gated)
    kept = places(gated.environ).state / "second-factor.json"
    tasks = (
        f"cat {kept}",
        f"cp {kept} here",
        f"cat {kept.parent}/*.json",
        f"cp -r {kept.parent} here",
        "sentinel-guard totp remove",
        "sentinel-guard totp setup",
    )
    _, seen = gated.agent(*tasks)
    assert [told["code"] for told in seen if "secret" in told["out"]] == []
    assert [told["code"] for told in seen] == [126] * len(seen), seen
    assert kept.exists() and not (gated.repo / "here").exists()
