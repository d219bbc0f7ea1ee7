"""Ways past the guard that were tried once and must stay closed; each row says what it tries."""

from __future__ import annotations

import json
import sys
import time

import pytest

from tests.support.time_limits import limit

ORPHAN_SOCKET = """
import json, os, socket, struct, sys, time
def ask(fields):
    # A child connects and is gone; its socket stays with us.
    mine, theirs = socket.socketpair()
    if os.fork() == 0:
        peer = socket.socket(socket.AF_UNIX)
        peer.connect(os.environ["SENTINEL_HOME"] + "/run/" + sys.argv[1] + "." + "sock")
        socket.send_fds(theirs, [b"x"], [peer.fileno()])
        os._exit(0)
    os.wait()
    _, fds, _, _ = socket.recv_fds(mine, 1, 1)
    peer = socket.socket(fileno=fds[0])
    time.sleep(0.3)
    body = json.dumps(fields).encode()
    peer.sendall(b"J" + struct.pack("<I", len(body)) + body + b"." + struct.pack("<I", 0))
    peer.settimeout(5)
    return peer.recv(65536)
for fields in (
    {"op": "end", "session": sys.argv[2], "code": 0},
    {"op": "stop", "force": True},
    {"op": "start", "command": ["x"], "cwd": ".", "pid": os.getpid(), "interactive": True, "path": "", "kind": "run"},
):
    print(ask(fields).decode(errors="replace"))
"""


def test_a_socket_whose_maker_is_gone_has_no_power(stage):
    stage.commit()
    script = stage.folder / "orphan.py"
    script.write_text(ORPHAN_SOCKET)
    stage.policy("")
    attack = f"{sys.executable} {script} operator $SENTINEL_SESSION"
    _, seen = stage.agent(attack, "echo x > .env")
    assert seen[0]["out"].count('"ok": false') == 3, seen[0]
    assert seen[1]["err"].startswith("403"), "the session is still guarded"


PARENT = "os.getppid()"
OF_PARENT = f"int(open(f'/proc/{{{PARENT}}}/stat').read().rpartition(')')[2].split()[1])"


@pytest.mark.parametrize("whom", [PARENT, OF_PARENT], ids=["the leader of the agent's session", "the runner"])
def test_killing_the_runner_ends_what_it_guarded(stage, whom):
    stage.commit()
    beat = stage.folder / "beat"
    code = (
        "import os, signal, time\n"
        f"os.kill({whom}, signal.SIGKILL)\n"
        f"while True: open({str(beat)!r}, 'w').write(str(time.time())); time.sleep(0.05)\n"
    )
    (stage.folder / "k.py").write_text(code)
    stage.sentinel("run", "--", sys.executable, str(stage.folder / "k.py"))
    deadline = time.monotonic() + limit(10)
    while time.monotonic() < deadline and not stage.log(kind="end"):
        time.sleep(0.1)
    last = beat.read_text() if beat.exists() else ""
    time.sleep(0.3)
    assert stage.log(kind="end")
    assert (beat.read_text() if beat.exists() else "") == last


def test_a_forged_call_hides_no_loop(stage):
    environ = "{**os.environ, 'SENTINEL_' + 'CALL': '1.000-1'}"  # by its name a text would be refused
    stage.commit(forge__py=f"import os\nos.execvpe('bash', ['bash', '-c', 'ls no-such-file'], {environ})\n")
    _, seen = stage.agent(*(["python3 forge.py"] * 4))
    assert "SYSTEM INTERVENTION" in seen[2]["err"]


def test_a_call_is_not_forged_by_a_text(stage):
    stage.commit()
    _, [seen] = stage.agent("SENTINEL_CALL=1.000-1 ls")
    assert "it would take the guard's programs out of the way" in seen["err"]


@pytest.mark.parametrize("argv", [["bash", "-c", "echo x > .env"]])
def test_the_persons_own_command_covers_nothing_else(stage, argv):
    stage.commit()
    own = [sys.executable, "-c", f"import os; os.execvp('bash', {argv!r} + {json.dumps(['x'])})"]
    stage.sentinel("run", "--", *own)
    assert (stage.repo / ".env").read_text() == "MODE=debug\n"
