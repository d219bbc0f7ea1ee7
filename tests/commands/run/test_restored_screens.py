"""Screens that a gate has covered are given back."""

from __future__ import annotations

import shutil

import pytest

from tests.support.run_on_pty import ASK, Watcher, ended
from tests.support.wait_until import settled


@pytest.mark.parametrize("program", ["vim", "less"])
def test_a_full_screen_program_is_intact_after_a_gate(daemon, terminal, tmp_path, program):
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    (tmp_path / "file").write_text("".join(f"line {n} of the file\n" for n in range(100)))
    options = ["-u", "NONE", "-i", "NONE", "-n"] if program == "vim" else []
    child = terminal(program, *options, "+50", "file", cwd=tmp_path)
    watcher = Watcher(child)
    before = watcher.until(lambda text: "line 50 of" in text)
    where = (watcher.screen.cursor.x, watcher.screen.cursor.y)
    daemon.tell("ask", **ASK)
    asked = watcher.until(lambda text: "Confirm? (Y/N):" in text)
    assert not any("of the file" in line for line in asked)
    settled()
    child.send("n")
    after = watcher.until(lambda text: "line 50 of" in text and "SENTINEL" not in text)
    settled()
    after = watcher.until(lambda text: "line 50 of" in text)
    # The message in the last line (the file's name) is shown once, by either program.
    assert after[:-1] == before[:-1]
    if program == "vim":
        assert (watcher.screen.cursor.x, watcher.screen.cursor.y) == where
    settled()
    child.send(":q\r" if program == "vim" else "q")
    assert ended(child) == 0


def test_a_line_program_is_intact_after_a_gate(daemon, terminal):
    child = terminal("bash", "--norc", "--noprofile", "-i")
    watcher = Watcher(child)
    child.sendline("PS1='prompt> '; clear")
    child.sendline("echo some $((1+1)) output; : half")
    watcher.until(lambda text: "some 2 output" in text)
    child.send("a line that is not fini")
    before = watcher.until(lambda text: "not fini" in text)
    daemon.tell("ask", **ASK)
    watcher.until(lambda text: "Confirm? (Y/N):" in text)
    settled()
    child.send("n")
    assert watcher.until(lambda text: "not fini" in text) == before
    settled()
    child.send("shed\x15exit 8\r")
    assert ended(child) == 8


def test_a_sequence_cut_in_two_by_a_gate_is_whole_afterwards(daemon, terminal, tmp_path):
    go = tmp_path / "go"
    child = terminal(
        "sh", "-c", f"printf 'ready\\033[3'; while [ ! -e {go} ]; do sleep 0.02; done; printf '1mred'; sleep 5"
    )
    watcher = Watcher(child)
    watcher.until(lambda text: "ready" in text)
    daemon.tell("ask", **ASK)
    watcher.until(lambda text: "Confirm? (Y/N):" in text)
    go.touch()
    settled()
    child.send("n")
    watcher.until(lambda text: "readyred" in text)
    assert watcher.screen.buffer[0][6].fg == "red"
