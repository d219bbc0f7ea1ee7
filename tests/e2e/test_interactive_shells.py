"""An agent types into a shell on a terminal of its own; a person types into theirs. Real bash, daemon and terminals."""

from __future__ import annotations

import json
import sys

import pexpect
import pytest

from tests.support.guarded_repository import BIN
from tests.support.wait_until import settled

# Types lines into a program on a terminal of its own, each when that prompts, and keeps what it showed.
AGENT = """
import json
import sys
from pathlib import Path

import pexpect

PROMPT = "agent> "
task = json.loads(sys.argv[1])
program = pexpect.spawn(task["argv"][0], task["argv"][1:], encoding="utf-8", timeout=20)
program.delaybeforesend = None
shown, ended = "", False
for line in task["lines"]:
    ended = program.expect_exact([PROMPT, pexpect.EOF]) == 1
    shown += program.before
    if ended:
        break
    program.send(f"{line}\\n")
if not ended:
    program.expect(pexpect.EOF)
    shown += program.before
program.close()
Path(sys.argv[2]).write_text(json.dumps({"shown": shown.replace("\\r", ""), "code": program.exitstatus}))
"""
SHELL = ["bash", "-i"]
SECRET = "SECRET_TOKEN=not-a-real-one"


@pytest.fixture
def typed(stage):
    stage.commit(app__py="print(6 * 7)\n")
    stage.write(".env", f"{SECRET}\n")
    (stage.home / ".bashrc").write_text("PS1='agent> '\n")
    return stage


def command(stage, argv, lines) -> list[str]:
    return [sys.executable, "-c", AGENT, json.dumps({"argv": argv, "lines": lines}), str(stage.folder / "seen.json")]


def types(stage, *lines: str, argv=SHELL) -> dict:
    """What an agent without a person sees of what it types."""
    done = stage.sentinel("run", "--", *command(stage, argv, lines))
    assert done.returncode == 0, done.stderr
    return stage.seen()


def judged(stage, layer: str = "line") -> list[tuple[str, str]]:
    """What is on record of a layer: the response and the command."""
    found = [entry["data"] for entry in stage.log(kind="verdict") if entry["data"]["layer"] == layer]
    return [(d["response"], d["arguments"].get("command") or " ".join(d["arguments"]["argv"])) for d in found]


def test_a_secret_is_not_read_and_an_honest_dialogue_goes_on(typed):
    seen = types(
        typed, "cat .env", "mkdir new && cd new", "export A=7; F=../.env", "cat $F", "echo in ${PWD##*/} $A", "exit 3"
    )
    assert SECRET not in seen["shown"]
    assert seen["shown"].count("403 SENTINEL BLOCKED: `cat .") == 2
    assert "in new 7\n" in seen["shown"]
    assert seen["code"] == 3
    assert judged(typed) == [
        ("deny", "cat .env"),
        ("allow", "mkdir new && cd new"),
        ("allow", "export A=7; F=../.env"),
        ("deny", "cat $F"),
        ("allow", "echo in ${PWD##*/} $A"),
        ("allow", "exit 3"),
    ]


def test_a_restricted_file_is_not_written_not_even_by_a_builtin(typed):
    seen = types(typed, "echo x > .env", "{ echo x; } >> .env", "printf y > free.txt", "exit")
    assert typed.repo.joinpath(".env").read_text() == f"{SECRET}\n"
    assert typed.repo.joinpath("free.txt").read_text() == "y"
    assert seen["shown"].count(".env is restricted") == 2


def test_what_a_line_starts_is_a_step_of_the_line(typed):
    types(typed, "git status --short", "bash -c 'echo inner'", "exit")
    entries = [entry["data"] for entry in typed.log(kind="verdict")]
    lines = {d["arguments"]["command"]: d["id"] for d in entries if d["layer"] == "line"}
    assert [d["parent"] for d in entries if d["layer"] == "shim"] == [lines["git status --short"]]
    assert [d["parent"] for d in entries if d["arguments"].get("command") == "echo inner"] == [
        lines["bash -c 'echo inner'"]
    ]


def test_a_line_is_a_step_of_the_call_that_its_shell_is_in(typed):
    types(typed, "true", "exit", argv=["bash", "-c", "bash -i; true"])
    entries = [entry["data"] for entry in typed.log(kind="verdict")]
    [call] = [d["id"] for d in entries if d.get("call")]
    assert {d["parent"] for d in entries if d["layer"] == "line"} == {call}


def test_each_line_has_a_snapshot_of_its_own(typed):
    types(typed, "echo one > app.py; git checkout -q app.py", "echo two > app.py; git checkout -q app.py", "exit")
    found = [entry["data"] for entry in typed.log(kind="verdict") if entry["data"]["layer"] == "line"]
    kept = [f["evidence"] for d in found for f in d.get("findings", []) if f["response"] == "snapshot"]
    assert len(kept) == len(set(kept)) == 2


def test_a_shell_inside_asks_as_well(typed):
    seen = types(typed, "bash", "cat .env", "exit", "exec bash", "cat .env", "exit")
    assert SECRET not in seen["shown"]
    assert judged(typed).count(("deny", "cat .env")) == 2


def test_the_kill_switch_works_from_a_line(typed):
    done = typed.sentinel("run", "--", *command(typed, SHELL, ["echo before", "rm -r .git", "echo after"]))
    assert done.returncode == 137
    assert ("kill", "rm -r .git") in judged(typed)
    assert typed.git("status", "--short") == "?? docs/\n"


TYPED_INTO = (
    (["python3"], "a prompt for code"),
    (["bash", "-c", "python3 -i app.py"], "after a script"),
    (["sh"], "a shell that cannot ask"),
    (["bash", "-c", "exec /bin/bash --norc"], "a bash beside its shim"),
    (["bash", "-c", "cd . && sqlite3 x.db"], "a database"),
)


@pytest.mark.parametrize("argv", [t[0] for t in TYPED_INTO], ids=[t[1] for t in TYPED_INTO])
def test_what_would_be_typed_unseen_does_not_start(typed, argv):
    if argv == ["python3"]:
        argv = ["bash", "-c", "python3"]
    seen = types(typed, "exit", argv=argv)
    assert "typed into" in seen["shown"] and "cannot be judged" in seen["shown"]
    assert seen["code"] == 126


HONEST = (
    (["bash", "-c", "python3 app.py"], "a script"),
    (["bash", "-c", "python3 - <<'E'\nprint(6 * 7)\nE"], "a here-document"),
    (["bash", "-c", "echo 'print(6 * 7)' | python3"], "a pipe"),
    (["bash", "-c", "python3 -c 'print(6 * 7)'"], "a text"),
    (["bash", "-c", "echo 'echo $((6 * 7))' | sh"], "a shell that reads a pipe"),
)


@pytest.mark.parametrize("argv", [h[0] for h in HONEST], ids=[h[1] for h in HONEST])
def test_what_is_given_its_text_runs_on_a_terminal_too(typed, argv):
    seen = types(typed, argv=argv)
    assert (seen["shown"], seen["code"]) == ("42\n", 0)


def test_a_question_is_not_asked_on_a_terminal_of_the_agents_own(typed):
    """Without a person: there the agent would type the Y."""
    typed.policy('[confirm]\ndeploy = ["deploy"]\n')
    seen = types(typed, "deploy production", "Y", "exit")
    assert "Confirm? (Y/N)" not in seen["shown"]
    assert "nobody can be asked here" in seen["shown"]
    assert "stub deploy" not in seen["shown"]


def test_a_person_is_asked_once_for_a_line(typed):
    typed.policy('[confirm]\ndeploy = ["deploy"]\n')
    person = typed.terminal(
        str(BIN / "sentinel-guard"),
        "run",
        "--",
        *command(typed, SHELL, ["deploy production", "echo $((6 * 7))", "exit"]),
    )
    person.expect_exact("Confirm? (Y/N):")
    settled()
    person.send("y")
    person.expect(pexpect.EOF)
    shown = typed.seen()["shown"]
    assert "stub deploy: production\n" in shown and "42\n" in shown
    assert len(typed.log(kind="human")) == 1
    assert judged(typed, "shim") == [("allow", "deploy production")] or judged(typed, "shim") == [
        ("ask", "deploy production")
    ]


def test_a_person_at_the_sessions_own_terminal_is_left_alone(typed):
    person = typed.terminal(str(BIN / "sentinel-guard"), "run", "--", "bash", "-i")
    shown = ""
    for line in ("bash -i", "cat .env; echo PS0=$PS0.", "exit", "python3 -q", "print(6 * 7)", "exit()", "exit 5"):
        person.expect(["agent> $", ">>> $"])
        shown += person.before
        person.sendline(line)
    person.expect(pexpect.EOF)
    person.close()
    assert SECRET in shown and "PS0=.\r\n" in shown and "42\r\n" in shown
    assert person.exitstatus == 5
    assert judged(typed) == []
    assert judged(typed, "shell") == [("allow", "bash -i")]


def test_a_shell_on_a_pipe_that_is_told_to_prompt_asks_too(typed):
    done, [seen] = typed.agent("printf 'cat .env\\necho $((6 * 7))\\n' | bash -i")
    assert done.returncode == 0
    assert SECRET not in seen["out"]
