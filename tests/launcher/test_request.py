"""What the launcher tells the guard (docs/protocol.md, "Launcher to daemon")."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.support.launcher_guard import answers, exit_code, value, values

REFUSE = answers([exit_code(7)])

FACES = [
    ("bash", "bash", "shell", "a shell"),
    ("sh", "sh", "shell", "the other shell"),
    ("bash", "-bash", "shell", "a login shell"),
    ("zsh", "/usr/bin/zsh", "shell", "a shell by its path"),
    ("fish", "fish", "shell", "fish"),
    ("dash", "dash", "shell", "dash"),
    ("ksh", "ksh", "shell", "ksh"),
    ("git", "git", "shim", "a program"),
    ("bash-completion", "bash-completion", "shim", "a name that only begins like a shell"),
    ("sentinel-hook", "sentinel-hook", "hook", "an agent's hook"),
    ("git", "bash", "shim", "an argv[0] that lies about being a shell"),
    ("bash", "git", "shell", "an argv[0] that lies about being a program"),
    ("sentinel-launcher", "bash", "shell", "under its own name, argv[0] decides"),
]


@pytest.mark.parametrize(("file", "called", "face", "why"), FACES, ids=[row[-1] for row in FACES])
def test_face(guard, file, called, face, why):
    g = guard(REFUSE)
    done = subprocess.run([called, "x"], executable=g.shim(file), stdin=subprocess.DEVNULL, check=False)
    assert done.returncode == 7
    assert value(g.requests[0], "F") == face.encode()


NAMES = [
    ("git", "git", b"git", "as it was called"),
    ("git", "/any/where/git", b"/any/where/git", "with its path"),
    ("bash", "-bash", b"-bash", "a login shell keeps its dash"),
    ("git", "status", b"git", "an invented name is put right"),
    ("git", "", b"git", "an empty name is put right"),
]


@pytest.mark.parametrize(("file", "called", "told", "why"), NAMES, ids=[row[-1] for row in NAMES])
def test_the_name_that_is_judged_is_that_of_the_file(guard, file, called, told, why):
    g = guard(REFUSE)
    subprocess.run([called, "push"], executable=g.shim(file), check=False)
    assert values(g.requests[0], "A") == [told, b"push"]


TEXT = 'echo "$0"; ! printenv BASH_EXECUTION_STRING; no-such-command'
WAYS = [
    ([TEXT], {}, "a word"),
    ([], {"BASH_EXECUTION_STRING": TEXT}, "bash's own variable, in which a bash that became its shim has left it"),
]


@pytest.mark.parametrize(("words", "variable", "why"), WAYS, ids=[row[-1] for row in WAYS])
def test_what_is_called_by_its_shims_path_bears_its_plain_name(guard, words, variable, why):
    g = guard(answers([(b"X", b"/bin/bash")]))
    given = [g.shim("bash"), "-c", *words]
    done = subprocess.run(given, env=os.environ | variable, capture_output=True, check=False)
    assert values(g.requests[0], "A") == [b"bash", b"-c", TEXT.encode()], why
    assert (done.stdout, done.stderr) == (b"bash\n", b"bash: line 1: no-such-command: command not found\n")


def test_version_comes_first(guard):
    g = guard(REFUSE)
    g.run("git")
    assert g.requests[0][0] == (b"V", b"1 0.1.0")


def test_bytes_that_are_no_text_pass_raw(guard, tmp_path):
    g = guard(REFUSE)
    folder = tmp_path / os.fsdecode(b"\xff\xfe\n")
    folder.mkdir()
    arguments = [b"\xff\x80", b"", b"a\nb", "ü".encode(), b"\x1b[31m"]
    g.run("git", *arguments, cwd=folder, env={"PATH": "/bin", b"GIT_DIR": b"\xff="})
    (request,) = g.requests
    assert values(request, "A")[1:] == arguments
    assert value(request, "D") == os.fsencode(folder.resolve())
    assert b"GIT_DIR=\xff=" in values(request, "E")


def test_a_deleted_directory_is_empty(guard, tmp_path):
    g = guard(REFUSE)
    gone = tmp_path / "gone"
    gone.mkdir()
    g.shim("git")
    script = f"cd '{gone}' && rmdir '{gone}' && exec '{g.shims}/git'"
    assert subprocess.run(["/bin/sh", "-c", script], check=False).returncode == 7
    assert value(g.requests[0], "D") == b""


def test_only_named_variables_are_sent(guard):
    g = guard(REFUSE)
    env = {
        "PATH": "/bin",
        "HOME": "/h",
        "SECRET": "x",
        "GIT_DIR": "",
        "GIT_DIRECTORY": "no",
        "LD_PRELOAD": "/l.so",
        "IFS": " ",
    }
    g.run("git", env=env)
    assert sorted(values(g.requests[0], "E")) == [b"GIT_DIR=", b"HOME=/h", b"IFS= ", b"LD_PRELOAD=/l.so", b"PATH=/bin"]


SIZES = [
    ([b"x" * 131000], "one argument as long as Linux has them"),
    ([b"x" * 131000] * 14, "a few long arguments"),
    ([b"ab"] * 150_000, "very many short arguments"),
]


@pytest.mark.parametrize(("arguments", "why"), SIZES, ids=[row[-1] for row in SIZES])
def test_large_command_lines(guard, arguments, why):
    g = guard(REFUSE)
    assert g.run("git", *arguments).returncode == 7
    assert values(g.requests[0], "A")[1:] == arguments


TERMINALS = [
    ("", b"", "no terminal anywhere"),
    ("0", b"0", "only standard input"),
    ("12", b"12", "output and error"),
]


@pytest.mark.parametrize(("which", "told", "why"), TERMINALS, ids=[row[-1] for row in TERMINALS])
def test_terminals(guard, which, told, why):
    g = guard(REFUSE)
    outer, inner = os.openpty()
    streams = {
        name: inner if str(i) in which else subprocess.DEVNULL for i, name in enumerate(("stdin", "stdout", "stderr"))
    }
    g.run("git", capture_output=False, start_new_session=True, **streams)
    os.close(outer)
    os.close(inner)
    assert value(g.requests[0], "T") == told


CLOSED = [(">&-", "output"), ("2>&-", "error"), ("<&-", "input"), ("<&- >&- 2>&-", "all three")]


@pytest.mark.parametrize(("how", "why"), CLOSED, ids=[row[-1] for row in CLOSED])
def test_closed_standard_descriptors_do_no_harm(guard, how, why):
    """The connection must not get number 1 or 2, where a print would land in it."""
    g = guard(answers([(b"P", b"1one"), (b"P", b"2two"), exit_code(3)]))
    assert (
        subprocess.run(["/bin/sh", "-c", f"exec '{g.shim('git')}' {how}"], check=False, capture_output=True).returncode
        == 3
    )
    assert len(g.requests) == 1


HOOKS = [
    (b"", "nothing"),
    (b'{"tool": "Bash"}', "a small event"),
    (bytes(range(256)) * 16384, "4 MiB, the most"),
]


@pytest.mark.parametrize(("event", "why"), HOOKS, ids=[row[-1] for row in HOOKS])
def test_hook_sends_its_input_whole(guard, event, why):
    g = guard(answers([(b"P", b'1{"ok": 1}'), (b"P", b"2words"), exit_code(2)]))
    done = g.run("sentinel-hook", "claude-code", input=event)
    assert (done.returncode, done.stdout, done.stderr) == (2, b'{"ok": 1}', b"words")
    assert value(g.requests[0], "I") == event
    assert values(g.requests[0], "A")[1:] == [b"claude-code"]


def test_hook_refuses_more_than_4_mib_so_that_the_agent_stops(guard):
    g = guard()
    done = g.run("sentinel-hook", "claude-code", input=b"x" * ((4 << 20) + 1))
    assert done.returncode == 2
    assert done.stderr.startswith(b"403 SENTINEL BLOCKED: the agent's call was not run: ")
    assert g.requests == []


def test_shims_leave_standard_input_alone(guard):
    g = guard(REFUSE)
    outer, inner = os.pipe()
    os.write(inner, b"untouched")
    g.run("git", stdin=outer)
    assert os.read(outer, 100) == b"untouched"
    assert values(g.requests[0], "I") == []
