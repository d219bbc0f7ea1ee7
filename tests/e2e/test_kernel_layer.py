"""The kernel layer in real sessions: what no analysis sees is held before it happens, and honest work is not."""

from __future__ import annotations

import platform
import resource
import shutil
import subprocess
import sys
import time

import pexpect
import pytest

from tests.support.guarded_repository import BIN
from tests.support.time_limits import limit
from tests.support.wait_until import settled, until

LISTENER = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
insn = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(insn)))
libc.prctl(38, 1, 0, 0, 0)
os.set_inheritable(libc.syscall(317, 1, 8, program), True)
os.execv(sys.argv[1], sys.argv[1:])
"""


def program(stage, name, code):
    """The command that runs a program which changes a file: no analysis knows the file's name before it runs."""
    stage.write("name.txt", name)
    stage.write("program.py", f"import os, sys, time\nname = open('name.txt').read()\n{code}\n")
    return f"{sys.executable} program.py"


def kernel_verdicts(stage):
    return [e["data"] for e in stage.log(kind="verdict") if e["data"]["layer"] == "kernel"]


def test_a_write_that_no_analysis_sees_fails_and_is_on_record(held):
    _, [seen] = held.agent(program(held, ".env", "open(name, 'w')"))
    assert seen["code"] == 1 and "403 SENTINEL BLOCKED" in seen["err"] and "PermissionError" in seen["err"]
    [verdict] = kernel_verdicts(held)
    assert verdict["arguments"]["object"] == str(held.repo / ".env") and verdict["parent"], "a step of its call"
    assert held.log(kind="watch") == [] and (held.repo / ".env").read_text() == "MODE=debug\n"


def test_what_the_agent_computes_counts_as_the_runners(held):
    """``time sentinel-guard run -- make`` tells the truth."""
    computes = "import os, sys; sum(i * i for i in range(1_000_000)); print(os.times().user, file=sys.stderr)"
    command = [str(BIN / "sentinel-guard"), "run", "--", sys.executable, "-c", computes]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run(
        command, cwd=held.repo, env=held.environ, stdin=subprocess.DEVNULL, capture_output=True, check=True, text=True
    )
    alone = float(done.stderr.splitlines()[-1])
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before > alone > 0


def test_a_thread_is_known_as_its_process(held):
    code = "import threading; time.sleep(0.1); t = threading.Thread(target=open, args=(name, 'w')); t.start(); t.join()"
    _, [seen] = held.agent(program(held, ".env", code))
    assert "403 SENTINEL BLOCKED: `write" in seen["err"] and len(kernel_verdicts(held)) == 1


FREE = (
    ("b.txt", "open(name, 'w')", "an ordinary file"),
    (".env.example", "open(name, 'w')", "a name that the policy takes back"),
    (
        ".venv/certifi/cacert.pem",
        "os.makedirs('.venv/certifi'); open(name, 'w')",
        "what is installed where nothing is watched",
    ),
    ("", "os.system('/usr/bin/git log --oneline; /usr/bin/git gc -q')", "git by its path, and what it starts"),
    ("", "sys.exit(os.system('unshare -Urn true'))", "a namespace of its own, as agents' sandboxes make it"),
)


@pytest.mark.parametrize(("name", "code"), [row[:2] for row in FREE], ids=[row[2] for row in FREE])
def test_honest_work_goes_on(held, name, code):
    _, [seen] = held.agent(program(held, name, code))
    assert (seen["code"], seen["err"]) == (0, "")
    # That the policy changed, as it does for each test here, may be put on record late.
    assert not [e for e in held.log() if e["level"] and e["kind"] != "daemon"]


SEEN_BY_ALL = (
    "os.system('git commit -qm two --allow-empty; /usr/bin/git commit -qm three --allow-empty; git checkout -qb c')"
)


def test_what_shim_kernel_and_git_hook_see_counts_once(held):
    """They see steps of one call, whose end alone counts."""
    assert held.sentinel("install").returncode == 0
    _, [seen] = held.agent(program(held, "", SEEN_BY_ALL))
    assert (seen["code"], seen["err"]) == (0, "")
    call, *steps = [e["data"] for e in held.log(kind="verdict")]
    assert [(v["layer"], v["parent"]) for v in steps if v["layer"] != "git"] == [
        (layer, call["id"]) for layer in ("shim", "kernel", "shim")
    ], "a git that its shim has asked about is not asked about again"
    assert [v["parent"] for v in steps if v["layer"] == "git"] == [call["id"]] * 3, "one for both hooks of a commit"
    assert [e["data"]["id"] for e in held.log(kind="outcome")] == [call["id"]]


def test_git_may_bring_a_tracked_file_to_another_branch_and_nobody_else_may(held):
    held.write("server.pem", "one\n")
    held.git("add", "-f", "server.pem")
    held.git("commit", "-qm", "one")
    held.git("checkout", "-qb", "new")
    held.write("server.pem", "two\n")
    held.git("commit", "-qam", "two")
    _, [seen] = held.agent(f"git checkout -q main && {program(held, 'server.pem', 'open(name, chr(119))')}")
    assert seen["code"] == 1 and "PermissionError" in seen["err"]
    assert (held.repo / "server.pem").read_text() == "one\n"


def test_a_window_of_the_persons_lets_a_program_write(held):
    code = """
while True:
    try: open(name, 'w').write('MODE=mine'); break
    except OSError: time.sleep(0.1)"""
    child = held.on_terminal(program(held, ".env", code))
    assert until(lambda: kernel_verdicts(held), limit(20))
    assert held.sentinel("allow", ".env", "--for", "1m").returncode == 0
    child.expect(pexpect.EOF)
    assert (held.repo / ".env").read_text() == "MODE=mine"


@pytest.mark.parametrize(("key", "code", "pushed"), [("y", 0, True), ("n", 1, False)])
def test_a_person_is_asked_before_a_program_runs_by_its_path(held, key, code, pushed):
    held.git("init", "-q", "--bare", "../remote.git")
    held.git("remote", "add", "origin", "../remote.git")
    runs = "words = name.split(); os.execv(words[0], words)"
    child = held.on_terminal(program(held, f"{shutil.which('git')} push --force origin main", runs))
    child.expect("Action: ")
    settled()
    child.send(key)
    child.expect(pexpect.EOF)
    assert held.seen()[0]["code"] == code
    assert bool(held.git("--git-dir=../remote.git", "branch")) is pushed
    assert [e["data"]["authorized_by"] for e in held.log(kind="human")] == ["user" if pushed else ""]
    ran = [data["arguments"]["argv"][1:] for data in kernel_verdicts(held)]
    served = [["receive-pack", "../remote.git"]] if pushed else []
    assert ran == [["push", "--force", "origin", "main"], *served], "what git starts by a shell is judged, too"


WIPE = """
import pathlib, shutil
shutil.rmtree(name)
other = pathlib.Path(name).parent / "b.txt"
other.write_text("")"""


@pytest.fixture
def beside(held):
    """Another project of the person's, with two folders and a file."""
    for name in ("other/src/a.txt", "other/src/deep/a.txt", "other/b.txt", "other/node_modules/i.js"):
        (held.home / name).parent.mkdir(parents=True, exist_ok=True)
        (held.home / name).write_text("theirs")
    return held


def test_a_program_deletes_nothing_of_the_persons_where_nobody_can_be_asked(beside):
    _, [seen] = beside.agent(program(beside, str(beside.home / "other/src"), WIPE))
    assert seen["code"] == 1 and "403 SENTINEL BLOCKED" in seen["err"]
    assert {p.read_text() for p in (beside.home / "other").rglob("*") if p.is_file()} == {"theirs"}


def test_a_person_is_asked_once_for_a_folder(beside):
    child = beside.on_terminal(program(beside, str(beside.home / "other/src"), WIPE))
    child.expect("Action: DELETE_OUTSIDE")
    child.expect(r"other/ \(now src/")
    settled()
    child.send("y")
    child.expect(pexpect.EOF)
    assert not (beside.home / "other/src").exists() and (beside.home / "other/b.txt").read_text() == ""
    assert [e["data"]["authorized_by"] for e in beside.log(kind="human")] == ["user"]


def test_a_no_holds_for_the_folder_and_what_the_call_still_tries_there(beside):
    stubborn = WIPE.replace("tree(name)", "tree(name, True)")
    child = beside.on_terminal(program(beside, str(beside.home / "other/src"), stubborn))
    child.expect("Action: DELETE_OUTSIDE")
    settled()
    child.send("n")
    child.expect(pexpect.EOF)
    assert {p.read_text() for p in (beside.home / "other").rglob("*") if p.is_file()} == {"theirs"}
    assert [e["data"]["authorized_by"] for e in beside.log(kind="human")] == [""]
    assert len(kernel_verdicts(beside)) == 3, "each of the three files was refused on record"


@pytest.mark.parametrize(
    "command",
    ["rm -rf ~/other/src", "rm -rf ~/other/node_modules", "echo x > ~/other/b.txt", "echo 'alias a=b' >> ~/.bashrc"],
)
def test_what_a_command_was_let_do_is_not_asked_again(beside, command):
    (beside.home / ".bashrc").write_text("mine\n")
    child = beside.on_terminal(command)
    questions = 0 if "node_modules" in command else 1
    for _ in range(questions):
        child.expect("Action: ")
        settled()
        child.send("y")
    child.expect(pexpect.EOF)
    assert beside.seen()[0]["code"] == 0, beside.seen()
    assert len(beside.log(kind="human")) == questions


FREE_OUTSIDE = (
    ("go/pkg/x.o", {}, "a toolchain's folder"),
    ("tools/state.db", {"TOOLS_HOME": "tools"}, "a folder that a variable names"),
    (".config/x/settings.json", {}, "a hidden folder"),
    ("venvs/a/lib/x.py", {}, "a virtual environment"),
    ("other/dist/x.js", {}, "what is built"),
)


@pytest.mark.parametrize(("name", "environ"), [row[:2] for row in FREE_OUTSIDE], ids=[row[2] for row in FREE_OUTSIDE])
def test_programs_keep_their_own_outside(held, name, environ):
    """Replaced, written over, with a journal of a database beside it."""
    names = [held.home / name, held.home / f"{name}-wal"]
    for path in names:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("old")
    (held.home / "venvs/a").mkdir(parents=True, exist_ok=True)
    (held.home / "venvs/a/pyvenv.cfg").write_text("home = /usr/bin\n")
    held.environ |= {key: str(held.home / folder) for key, folder in environ.items()}
    code = """
for path in name.split():
    open(path, 'r+').write('over'); open(path, 'w').write('anew'); open(path + '.new', 'w').write('x')
    os.replace(path + '.new', path); os.unlink(path)"""
    time.sleep(0.02)  # a time of birth counts in steps of a few ms
    _, [seen] = held.agent(program(held, "\n".join(map(str, names)), code))
    assert (seen["code"], seen["err"]) == (0, "") and not any(path.exists() for path in names)


RENAMEAT2 = 276 if platform.machine() == "aarch64" else 316
EXCHANGE = f"""
import ctypes
exchange = lambda a, b: ctypes.CDLL(None).syscall({RENAMEAT2}, -100, a, -100, b, 2)
"""
MOVES = (
    ("", "os.rename(name, name + '2')", "the folder"),
    (".git", "os.rename(name, 'old')", "its history"),
    (".git", "os.mkdir('x'); exchange(b'x', name.encode())", "exchanged for another"),
    (".git", "os.mkdir('x'); exchange(name.encode(), b'x')", "the other way round"),
)  # fmt: skip


@pytest.mark.parametrize(("name", "code"), [row[:2] for row in MOVES], ids=[row[2] for row in MOVES])
def test_the_repository_is_not_moved_away(held, name, code):
    words = program(held, str(held.repo / name), EXCHANGE + code)
    done = held.sentinel("run", "--", *held.tasks(words))
    assert held.git("log", "--format=%s") == "start\n" and not held.repo.with_name("repo2").exists()
    assert held.log(kind="watch") == [], "it did not happen"
    assert done.returncode == 137 and "SENTINEL KILL SWITCH: `move" in done.stderr


def test_a_search_path_frees_nothing(beside):
    beside.environ |= {"PYTHONPATH": str(beside.home / "other"), "PROJECT_HOME": str(beside.home / "other")}
    _, [seen] = beside.agent(program(beside, str(beside.home / "other/b.txt"), "os.unlink(name)"))
    assert "403 SENTINEL BLOCKED" in seen["err"] and (beside.home / "other/b.txt").exists()


def test_what_a_database_does_outside_is_no_attack(beside):
    """A file of another project's is asked about, whatever other rule would say of a command that deletes it."""
    (beside.home / "other/x.db-wal").write_text("old")
    done, [seen] = beside.agent(program(beside, str(beside.home / "other/x.db-wal"), "os.unlink(name)"))
    assert done.returncode == 0 and "403 SENTINEL BLOCKED" in seen["err"] and "KILL" not in done.stderr


def test_a_program_changes_nothing_that_runs_at_the_login(held):
    (held.home / ".bashrc").write_text("mine\n")
    (held.home / ".config/git").mkdir(parents=True)
    code = """
for path in name.split():
    try: open(path, 'a').write('x'); print(path)
    except PermissionError: pass
"""
    names = (".bashrc", ".gitconfig", ".ssh/authorized_keys", "other/.git/hooks/pre-commit", ".config/app.ini")
    for folder in (".ssh", "other/.git/hooks"):
        (held.home / folder).mkdir(parents=True)
    _, [seen] = held.agent(program(held, "\n".join(str(held.home / name) for name in names), code))
    assert seen["out"].split() == [str(held.home / ".config/app.ini")]
    assert (held.home / ".bashrc").read_text() == "mine\n"
    assert len(kernel_verdicts(held)) == len(names) - 1


@pytest.mark.parametrize(
    ("mode", "code", "words"),
    [("auto", 0, "kernel layer: none"), ("require", 1, 'Set [kernel] mode = "auto"'), ("off", 0, "")],
)
def test_where_calls_cannot_be_held_the_mode_says_what_becomes_of_the_session(held, mode, code, words):
    held.policy(f'[kernel]\nmode = "{mode}"\n')
    held.sentinel("daemon", "start")
    run = [str(BIN / "sentinel-guard"), "run", "--", "echo", "ran"]
    done = subprocess.run(
        [sys.executable, "-c", LISTENER, *run], cwd=held.repo, env=held.environ, capture_output=True, text=True,
        timeout=limit(60), check=False,
    )  # fmt: skip
    assert done.returncode == code and words in done.stderr, done
    assert ("ran" in done.stdout) is (code == 0)


def test_a_person_is_told_that_calls_are_held(held):
    child = held.terminal(str(BIN / "sentinel-guard"), "run", "--", shutil.which("true"))
    child.expect("by the kernel layer too")
    child.expect(pexpect.EOF)


def test_a_restricted_file_that_was_open_for_writing_before_begins_no_session(held):
    with (held.repo / ".env").open("a") as out:
        run = [str(BIN / "sentinel-guard"), "run", "--", "echo", "EVIL"]
        done = subprocess.run(
            run, cwd=held.repo, env=held.environ, stdout=out, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 126 and "descriptor 1 is open for writing on a restricted file" in done.stderr
    assert (held.repo / ".env").read_text() == "MODE=debug\n"
