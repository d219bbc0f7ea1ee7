"""A real bash on a pty that asks about each line: what is refused does not run, and nothing else is to be seen of it.

A script stands for the launcher: it keeps what it was told, and refuses a line with ``secret`` in it.
"""

from __future__ import annotations

import itertools
import os
import re
import shutil
import stat
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pexpect
import pytest

from sentinel_guard.host import bash_line_reader
from tests.support.time_limits import limit

BASH = shutil.which("bash") or "/bin/bash"
LAUNCHER = f"""#!{BASH} -p
printf '%s\\0%s\\0' "$2" "$3" >> @asked@
case $2 in *secret* | '') echo 'REFUSED' >&2; exit 1 ;; esac
"""
PROMPT = "P$ "
# Both prompts, so that a command of many lines is fed line by line.
STARTUP = "PS1='P$ ' PS2='P$ '\n"


@dataclass
class Said:
    """A dialogue with a bash."""

    screen: str
    code: int | None
    history: str


class Ground:
    def __init__(self, folder: Path) -> None:
        self.home, self.shims, self.asked_file = folder / "home", folder / "the shims", folder / "asked"
        self.home.mkdir()
        self.shims.mkdir()
        launcher = self.shims / bash_line_reader.LINE
        launcher.write_text(LAUNCHER.replace("@asked@", f"'{self.asked_file}'"))
        launcher.chmod(stat.S_IRWXU)
        bash_line_reader.write(self.shims)
        self.write(".bashrc", STARTUP)

    def write(self, name: str, text: str) -> None:
        (self.home / name).write_text(text)

    def asked(self) -> list[tuple[str, str]]:
        """The lines that were asked about, each with what the shell knows of its words."""
        text = self.asked_file.read_text() if self.asked_file.exists() else ""
        return list(itertools.pairwise(text.split("\0")[:-1]))[::2]

    def talk(self, *lines: str, argv: tuple[str, ...] = ("bash", "-i"), guarded: bool = True, **more: str) -> Said:
        """Type lines into a bash, each when it prompts; the last one must end it."""
        environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "TERM": "dumb", "PS1": PROMPT, "PS2": PROMPT}
        environ |= more
        words = [*argv]
        if guarded:
            words, settings = bash_line_reader.start(argv, str(self.shims), str(self.home), more.get("ENV"))
            environ |= settings
        (self.home / ".bash_history").unlink(missing_ok=True)
        start = ["-c", f"import os, sys; os.execv({BASH!r}, sys.argv[1:])", *words]
        shell = pexpect.spawn(
            sys.executable, start, cwd=str(self.home), env=environ, encoding="utf-8", timeout=limit(20)
        )
        shell.delaybeforesend = None
        screen = ""
        for line in lines:
            shell.expect_exact(PROMPT)
            screen += shell.before + shell.after
            shell.send(f"{line}\n")
        shell.expect(pexpect.EOF)
        shell.close()
        history = self.home / ".bash_history"
        screen = re.sub(r"\[(\d)\] \d+", r"[\1] PID", (screen + shell.before).replace("\r", ""))
        return Said(screen, shell.exitstatus, history.read_text() if history.exists() else "")


@pytest.fixture
def ground(tmp_path):
    return Ground(tmp_path)


DIALOGUES = (
    (("false", "echo $?", "(exit 3)", "echo $?"), "the status of the last command"),
    (("true", "false | true", 'echo "${PIPESTATUS[@]}" $?'), "and of each in a pipe"),
    (("echo a b", "echo $_", "echo $_"), "the last word"),
    (("set -x", "echo x; (exit 4)", "echo $?", "set +x"), "a trace shows nothing of ours"),
    (("set -eu", "echo $-", "true"), "set -eu"),
    (("trap 'echo D:$BASH_COMMAND' DEBUG", "echo 1; echo 2", "", "trap - DEBUG"), "the user's own DEBUG trap"),
    (("trap 'echo ERR' ERR; set -E", "false", "true", ""), "and the one on errors"),
    (("trap 'echo bye' EXIT", "trap -p"), "and the one at the end"),
    (("IFS=:", "x=a:b; echo $x", "unset IFS"), "another IFS"),
    (("cat <<E", "one $((1 + 1))", "E", "echo $?"), "a here-document"),
    (("for i in 1 2", "do echo $i", "done", "echo 'two", "lines'"), "commands of many lines"),
    (("# a comment", "", "echo x # another", "echo $((1+1))"), "comments and empty lines"),
    (("echo one", "!!", "echo !$", "!no-such"), "history expansion"),
    (("sleep 0.2 &", "jobs", "wait; echo $?", "true"), "jobs"),
    (("alias ll='echo A'", "ll 1", "f() { echo F $1; }", "f 2", "unalias ll"), "aliases and functions"),
    (("set -f; shopt -s nullglob failglob nocasematch extglob", "echo x", "echo $-"), "options of globbing"),
    (("if true; then", "syntax error )", "echo $?", "true"), "errors of syntax"),
    (("set -o posix", "echo posix", "set +o posix"), "posix mode"),
    (("read x y <<< 'a b'; echo $y",), "a command that reads"),
    (("echo $BASH_SUBSHELL $SHLVL $HISTCMD $LINENO", "kill -0 $$; echo $?"), "what the shell is"),
    (("cd /tmp && pwd", "export A=7", "env | grep ^A=; cd - >/dev/null"), "folder and environment"),
    (("compgen -v SENTINEL", "env | grep -c SENTINEL", "declare -p ENV"), "nothing of ours in the environment"),
)


@pytest.mark.parametrize("lines", [d[0] for d in DIALOGUES], ids=[d[1] for d in DIALOGUES])
def test_a_dialogue_is_the_same_as_without_us(ground, lines):
    bare, guarded = (ground.talk(*lines, "exit 5", guarded=guarded) for guarded in (False, True))
    assert guarded == bare
    assert guarded.code == 5


STARTS = (
    (("bash", "-i"), "rc", "its rc file"),
    (("-bash",), "profile", "a login shell by its name"),
    (("bash", "-l"), "profile", "by an option"),
    (("bash", "--login", "-i"), "profile", "by a long option"),
    (("bash", "-il"), "profile", "among others"),
    (("bash", "--rcfile", "other"), "other", "a file that was named"),
    (("bash", "--init-file", "other", "-i"), "other", "by the option's other name"),
    (("bash", "--norc"), "none", "no file"),
    (("bash", "--noprofile", "-l"), "none", "nor a profile"),
    (("bash", "--posix"), "none", "as a POSIX shell"),
    (("bash", "-O", "extglob", "-o", "errtrace", "-s", "word"), "rc", "options with values, and words"),
)


@pytest.mark.parametrize(("argv", "read", "why"), STARTS, ids=[s[2] for s in STARTS])
def test_it_reads_the_files_that_bash_would_read(ground, argv, read, why):
    for name, file in (("rc", ".bashrc"), ("profile", ".bash_profile"), ("other", "other")):
        ground.write(file, f"{STARTUP}FROM={name}\n")
    lines = ('echo "from=${FROM-none}"', 'echo "$-" "$*"; shopt extglob', "set -o | grep -e posix -e errtr", "exit 5")
    bare, guarded = (ground.talk(*lines, argv=argv, guarded=guarded, ENV="/kept") for guarded in (False, True))
    assert f"from={read}" in guarded.screen, why
    # That is the one word in which a shell that is no login shell any more differs.
    bare, guarded = (replace(said, screen=said.screen.replace("logout\n", "exit\n")) for said in (bare, guarded))
    assert guarded == bare
    assert [text for text, _ in ground.asked()] == [*lines]


REFUSED = (
    (("echo secret > made",), "a line"),
    (("{ echo secret; } > made",), "before its redirection"),
    (("f() { echo secret; }; f > made",), "and before its function"),
    (("for i in 1", "do echo secret > made", "done"), "of many lines"),
    ((" echo secret > made",), "with a blank before it"),
    (("x=secret; echo $x > made &",), "in the background"),
    (("HISTCONTROL=ignoreboth HISTIGNORE='*'", " echo secret > made"), "in a shell that would not remember it"),
    (("shopt -u cmdhist", "true; for i in 1; do", "echo secret > made", "done"), "or only its last line"),
    (("HISTSIZE=0", "echo secret > made"), "or keeps no history"),
    (("PS0=", "echo secret > made"), "after the reader was taken away"),
    (("unset PS0; shopt -u promptvars", "echo secret > made"), "or its expansion"),
    (("unset -f __sentinel_ask; __sentinel_ask() { :; }", "echo secret > made"), "or its function"),
    (("alias __sentinel_ask=: builtin=:", "echo secret > made"), "or put aside by an alias"),
    (("builtin() { :; }; kill() { :; }; unset() { :; }", "echo secret > made"), "or by a function"),
    (("PROMPT_COMMAND=:", "HISTCONTROL=ignorespace", " echo secret > made"), "beside another PROMPT_COMMAND"),
    (("set -x", "echo secret > made"), "while a trace goes on"),
    (("trap : EXIT ERR DEBUG", "echo secret > made"), "beside other traps"),
)


@pytest.mark.parametrize("lines", [r[0] for r in REFUSED], ids=[r[1] for r in REFUSED])
def test_a_refused_line_does_not_run(ground, lines):
    said = ground.talk(*lines, "echo still $((40 + 2))", "exit 5")
    assert not (ground.home / "made").exists()
    assert "REFUSED" in said.screen
    assert "still 42" in said.screen
    assert said.code == 5


TRAPPED = (("trap 'echo caught' INT", "a command"), ("trap '' INT", "nothing"))


@pytest.mark.parametrize("trap", [t[0] for t in TRAPPED], ids=[t[1] for t in TRAPPED])
def test_a_shell_that_would_not_give_up_a_line_ends(ground, trap):
    said = ground.talk(trap, "echo secret > made")
    assert not (ground.home / "made").exists()
    assert "trap on INT" in said.screen


FORGETFUL = (
    ("set +o history", "no history"),
    ("unset PROMPT_COMMAND; HISTCONTROL=ignoreboth", "lines may be left out"),
    ("unset PROMPT_COMMAND; HISTIGNORE='echo*'", "or are"),
    ("unset PROMPT_COMMAND; shopt -u cmdhist", "only the last of many lines is kept"),
    ("unset PROMPT_COMMAND; enable -n history", "none can be had"),
)


@pytest.mark.parametrize("line", [f[0] for f in FORGETFUL], ids=[f[1] for f in FORGETFUL])
def test_a_line_that_the_shell_cannot_tell_does_not_run(ground, line):
    said = ground.talk(line, "echo x > made", "echo x > made", "\x04")
    assert not (ground.home / "made").exists()
    assert [text for text, _ in ground.asked()] == [line, "", ""]
    assert said.screen.count("REFUSED") == 2


def test_who_is_not_there_is_a_no(ground):
    (ground.shims / bash_line_reader.LINE).unlink()
    ground.talk("echo x > made", "\x04")
    assert not (ground.home / "made").exists()


KNOWN = (
    (("alias ll='ls -l'", "ll x"), "alias ll='ls -l'\n", "an alias"),
    (("f() { cat $1; }", "f x"), "f () \n{ \n    cat $1\n}\n", "a function"),
    (("F=.bashrc", "cat $F"), "F='.bashrc'\n", "a variable that names a file"),
    (("F='a b'; echo > 'a b'", 'cat "${F}"'), "F='a b'\n", "with a blank in its name"),
    (("T=ghp_0123", "echo $T"), "", "no other variable"),
    (("unset F", "ls $F"), "", "nor one that is not set"),
)


@pytest.mark.parametrize(("lines", "told", "why"), KNOWN, ids=[k[2] for k in KNOWN])
def test_what_a_line_means_goes_with_it(ground, lines, told, why):
    ground.talk(*lines, "exit 5")
    assert ground.asked()[1] == (lines[1], told), why


def test_a_long_function_is_a_program_that_was_loaded(ground):
    ground.write(".bashrc", STARTUP + "f() {\n" + "echo a long one\n" * 200 + "}\n")
    ground.talk("f | head -n 1", "exit 5")
    assert ground.asked()[0] == ("f | head -n 1", "")


def test_ctrl_c_while_a_line_is_typed_leaves_no_trace(ground):
    def talk(*, guarded: bool) -> str:
        return ground.talk("echo half\x03", "echo whole", "exit 5", guarded=guarded).screen

    assert talk(guarded=True) == talk(guarded=False)
    assert [text for text, _ in ground.asked()] == ["echo whole", "exit 5"]
