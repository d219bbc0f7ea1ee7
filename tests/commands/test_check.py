"""``sentinel-guard check``: a verdict, nothing run, nothing kept, no daemon."""

from __future__ import annotations

import io
import json
import subprocess
from pathlib import Path

import pytest

import sentinel_guard
from sentinel_guard.commands.check import Checker, check, lines
from sentinel_guard.core.model import Response
from sentinel_guard.host.machine.state_paths import StatePaths


@pytest.fixture
def places(tmp_path):
    return StatePaths(tmp_path / "state", tmp_path / "run", tmp_path / "config")


@pytest.fixture
def repo(tmp_path):
    root = tmp_path / "repo"
    (root / "secrets").mkdir(parents=True)
    (root / ".env").write_text("MODE=debug\n")
    (root / "secrets" / "a.pem").write_text("x")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return root


COMMANDS = (
    (("ls -l",), 0, "allow", "ordinary work"),
    (("tee .env",), 126, "deny (L2)", "a restricted file"),
    (("tee", ".env"), 126, "deny (L2)", "several words are an argv"),
    (("echo", "x > .env"), 0, "allow", "a word of an argv is no redirection"),
    (("git push --force origin main",), 3, "ask", "the two-key gate"),
    (("git reset --hard",), 0, "snapshot", "what a snapshot can undo"),
    (("rm -rf /",), 137, "kill (L4)", "a threat to the system"),
    (("mv secrets elsewhere",), 126, "deny (L2)", "a folder that holds restricted files"),
    (("",), 0, "allow", "nothing at all"),
)


@pytest.mark.parametrize("row", COMMANDS, ids=[c[3] for c in COMMANDS])
def test_what_would_be_said(places, repo, capsys, row):
    command, code, word, _ = row
    assert check(places, command, repo, as_json=False) == code
    assert capsys.readouterr().out.splitlines()[0] == word


def test_nothing_runs_and_nothing_is_kept(places, repo, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    check(places, ("touch created; tee .env",), repo, as_json=True)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_finding_says_what_why_and_what_to_do_instead(places, repo, capsys):
    check(places, ("tee .env",), repo, as_json=True)
    [said] = json.loads(capsys.readouterr().out)["verdicts"]
    assert set(said) == {"response", "level", "findings"}
    assert (said["response"], said["level"]) == ("deny", "L2")
    [found] = said["findings"]
    assert found["rule"] == "paths.restricted" and found["why"] and found["instead"]
    check(places, ("tee .env",), repo, as_json=False)
    assert f"{found['rule']}: {found['what']}: {found['why']}" in capsys.readouterr().out


def test_brackets_in_a_command_are_no_markup(places, repo, capsys):
    check(places, ("tee '.env' '[/red]' '[bold]'",), repo, as_json=False)
    assert "[/red]" in capsys.readouterr().out


def test_the_policy_of_where_it_would_run_counts(places, repo, tmp_path):
    (repo / "sentinel.toml").write_text('version = 1\n[confirm]\nship = ["./ship.sh"]\n')
    other = tmp_path / "other"
    other.mkdir()
    checker = Checker(places)
    assert checker.verdict("./ship.sh now", str(repo)).response is Response.ASK
    assert checker.verdict("./ship.sh now", str(other)).response is Response.ALLOW
    assert checker.verdict("tee sentinel.toml", str(repo)).response is Response.DENY, "the guard's own settings"


def test_the_guards_own_code_is_kept_unless_it_is_what_is_worked_on(places, repo):
    code = Path(sentinel_guard.__file__).resolve()
    said = [Checker(places).verdict(f"rm {code}", str(cwd)).response for cwd in (repo, code.parent)]
    assert said[0] is Response.DENY and said[1] < Response.ASK


def feed(places, *asked: object) -> tuple[int, list[dict]]:
    sink = io.StringIO()
    code = lines(places, [a if isinstance(a, str) else json.dumps(a) for a in asked], sink)
    return code, [json.loads(line) for line in sink.getvalue().splitlines()]


def test_many_commands_in_one_go_in_their_order(places, repo):
    code, said = feed(places, {"command": "ls", "cwd": str(repo)}, "  ", {"command": "tee .env", "cwd": str(repo)})
    assert code == 0
    assert [s["response"] for s in said] == ["allow", "deny"]


BAD = (
    ("{", "no JSON"),
    ("[]", "no object"),
    ("3", "a number"),
    ({"cwd": "/"}, "no command"),
    ({"command": "ls", "cwd": 3}, "a folder that is no text"),
    ({"tool": "Write", "input": "x"}, "an input that is no object"),
)


@pytest.mark.parametrize("asked", [b[0] for b in BAD], ids=[b[1] for b in BAD])
def test_a_bad_line_gets_an_error_and_the_next_is_judged(places, repo, asked):
    code, said = feed(places, asked, {"command": "ls", "cwd": str(repo)})
    assert code == 1
    assert "a line is" in said[0]["error"]
    assert said[1]["response"] == "allow"


def test_tool_calls_stand_among_commands(places, repo):
    write = {"tool": "Write", "input": {"file_path": ".env", "content": "x"}, "cwd": str(repo)}
    code, said = feed(places, write, {"tool": "Think", "cwd": str(repo)}, {"command": "ls", "cwd": str(repo)})
    assert code == 0
    assert [s["response"] for s in said] == ["deny", "allow", "allow"]


def test_a_folder_that_is_not_there_is_outside_of_any_repository(places):
    code, said = feed(places, {"command": "rm -rf /", "cwd": "/no/such/folder"})
    assert code == 0 and said[0]["response"] == "kill"


def test_bytes_that_are_no_text(places, repo):
    _, said = feed(places, {"command": "tee .env \udcff", "cwd": str(repo)})
    assert said[0]["response"] == "deny"
    assert Path(repo, ".env").read_text() == "MODE=debug\n"


def test_a_policy_that_is_not_in_force_is_told_once_on_standard_error(places, repo, capsys):
    (repo / "sentinel.toml").write_text("[pats]\n")
    code, said = feed(places, *[{"command": "ls", "cwd": str(repo)}] * 2)
    assert code == 0 and len(said) == 2
    err = capsys.readouterr().err
    assert err.count("SENTINEL WARNING") == 1 and "did you mean paths?" in err and "\\n" not in err
