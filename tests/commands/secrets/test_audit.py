"""``secrets audit`` on real repositories; on a real terminal once."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pexpect
import pytest

from sentinel_guard.commands.secrets import audit
from sentinel_guard.core.secrets.allowlisted_findings import NAME
from sentinel_guard.errors import ConfigError, SentinelError
from sentinel_guard.host.machine.state_paths import places
from tests.support.fake_daemon import FakeDaemon
from tests.support.secrets_commands import OTHER, TOKEN, look, said, take_in
from tests.support.time_limits import limit


@pytest.fixture
def taken(root, capsys):
    for n, value in enumerate((TOKEN, OTHER, TOKEN[:-4] + "Pq7W"), 1):
        (root / f"{n}.yml").write_text(f"above: 1\ntoken: {value}\nbelow: 2\n")
    take_in(root)
    capsys.readouterr()
    return root


@pytest.mark.parametrize(
    ("keys", "verdicts"),
    [
        ("yan", ["real", "accepted", "false"]),
        ("sq", ["unreviewed", "unreviewed", "unreviewed"]),
        ("nsn", ["false", "unreviewed", "false"]),
        ("ynbaq", ["real", "accepted", "unreviewed"]),
        ("bby\x1b", ["real", "unreviewed", "unreviewed"]),
        ("?7yq", ["real", "unreviewed", "unreviewed"]),
        ("Nq", ["false", "unreviewed", "unreviewed"]),
    ],
    ids=["one after the other", "skip and quit", "one left out", "back, and another word", "escape ends it",
         "other keys are nothing", "a large letter"],
)  # fmt: skip
def test_keys_mark_rows(taken, capsys, keys, verdicts):
    pressed = iter(keys)
    assert audit.audit(places(), taken, lambda: next(pressed)) == 0
    assert said(taken) == verdicts


def test_a_row_is_shown_in_its_place_and_masked(taken, capsys):
    audit.audit(places(), taken, lambda: "q")
    shown = capsys.readouterr().out
    assert "[1 of 3]  1.yml:2\n" in shown
    assert "        1  above: 1\n  >     2  token: <ghp_… 40 characters>\n        3  below: 2\n" in shown
    assert TOKEN not in shown


def test_a_value_is_asked_about_once_for_all_of_its_places(taken, capsys):
    for n in range(7):
        (taken / f"copy{n}.yml").write_text(f"again: {TOKEN}\n")
    take_in(taken)
    capsys.readouterr()
    audit.audit(places(), taken, iter("aq").__next__)
    shown = capsys.readouterr().out
    assert "[1 of 3]  1.yml:2\n" in shown
    assert "The same value: copy0.yml:1, copy1.yml:1, copy2.yml:1, copy3.yml:1, copy4.yml:1 and 2 more\n" in shown
    assert "Let be there. Said of all 8 places.\n" in shown and shown.endswith(
        f"8 rows marked, 2 left. Commit {NAME}.\n"
    )
    assert said(taken) == ["accepted"] + ["unreviewed"] * 2 + ["accepted"] * 7


def test_another_key_says_which_keys_there_are_once(taken, capsys):
    audit.audit(places(), taken, iter("?f\tq").__next__)
    assert capsys.readouterr().out.count("\nKeys: y, a, n, s, b or q. ") == 1


def test_a_line_beside_a_find_is_masked_though_a_comment_lets_it_be(root, capsys):
    (root / "a.py").write_text(f'A = "{TOKEN}"  # sentinel: allow\nB = "{OTHER}"\n')
    take_in(root)
    audit.audit(places(), root, lambda: "q")
    shown = capsys.readouterr().out
    assert 'A = "<ghp_… 40 characters>"' in shown and TOKEN not in shown


def test_a_real_secret_stays_refused_and_it_says_what_to_do(taken, capsys):
    audit.audit(places(), taken, iter("yaa").__next__)
    assert "make it void where it was given out" in capsys.readouterr().out
    assert look(taken) == 1


def test_a_find_that_has_gone_is_not_asked_about(taken, capsys):
    (taken / "1.yml").unlink()
    audit.audit(places(), taken, iter("nn").__next__)
    assert "1 row no longer found." in capsys.readouterr().out
    assert said(taken) == ["unreviewed", "false", "false"]


def test_when_all_are_reviewed_it_says_so(taken, capsys):
    audit.audit(places(), taken, lambda: "n")
    audit.audit(places(), taken, lambda: "q")
    assert f"All 3 rows of {NAME} are reviewed." in capsys.readouterr().out


def test_without_a_terminal_nobody_is_asked(taken):
    command = [sys.executable, "-m", "sentinel_guard", "secrets", "audit"]
    done = subprocess.run(command, cwd=taken, input="nnn", capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "in a terminal" in done.stderr and said(taken) == ["unreviewed"] * 3


def test_the_list_shows_every_row(taken, capsys):
    assert audit.show(taken) == 0
    shown = capsys.readouterr().out
    assert "unreviewed  1.yml:2  github-pat\n" in shown and shown.endswith("3 unreviewed\n")
    audit.show(taken, as_json=True)
    assert [row["path"] for row in json.loads(capsys.readouterr().out)["rows"]] == ["1.yml", "2.yml", "3.yml"]


def test_no_baseline_is_said(root):
    with pytest.raises(ConfigError, match="There is no"):
        audit.show(root)


@pytest.mark.parametrize("command", ["baseline", "audit"])
@pytest.mark.parametrize("inside", [True, False], ids=["inside of it", "while it works here"])
def test_never_while_a_session_lives_here(taken, monkeypatch, command, inside):
    session = {"session": "of-a-test", "state": "ACTIVE", "root": str(taken)}
    if inside:
        monkeypatch.setenv("SENTINEL_SESSION", "of-a-test")
    before = (taken / NAME).read_bytes()
    (taken / "4.yml").write_text(f"token: {OTHER}\n")
    daemon = FakeDaemon(places())
    daemon.replies["status"] = {"sessions": [session]}
    try:
        with pytest.raises(SentinelError) as caught:
            take_in(taken) if command == "baseline" else audit.audit(places(), taken, lambda: "n")
    finally:
        daemon.close()
    assert ("inside a guarded session" if inside else "is working in") in str(caught.value)
    assert (taken / NAME).read_bytes() == before


def test_a_person_goes_through_it_on_a_terminal(taken):
    command = [sys.executable, "-m", "sentinel_guard", "secrets", "audit"]
    child = pexpect.spawn(
        command[0], command[1:], cwd=str(taken), env=dict(os.environ), encoding="utf-8", timeout=limit(30)
    )
    for key in "nay":
        child.expect("q quit ")
        child.send(key)
    child.expect("3 rows marked, 0 left.")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0 and said(taken) == ["false", "accepted", "real"]
