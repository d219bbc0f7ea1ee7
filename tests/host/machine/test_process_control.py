"""What other processes of the same user can do to us. Real processes, without root's right to trace all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

WEAKLY = (
    ("setpriv", "--bounding-set=-sys_ptrace,-perfmon,-sys_admin", "--inh-caps=-all", "--") if os.geteuid() == 0 else ()
)
GUARDED = """
import os, subprocess, sys
from sentinel_guard.host.machine import process_control
if "guarded" in sys.argv:
    process_control.forbid_tracing()
look = (
    "import sys\\n"
    "for name in ('environ', 'mem'):\\n"
    "    try: print(name if open(f'/proc/{sys.argv[1]}/{name}', 'rb').read(1) else 'nothing')\\n"
    "    except PermissionError: print('refused')\\n"
    "    except OSError: print(name)\\n"
    "print(open(f'/proc/{sys.argv[1]}/cmdline').read()[:1] != '')\\n"
)
print(subprocess.run([sys.executable, "-c", look, str(os.getpid())], capture_output=True, text=True))
"""


@pytest.mark.skipif(bool(os.geteuid() == 0 and not shutil.which("setpriv")), reason="root may trace everything")
@pytest.mark.parametrize(
    ("words", "told"),
    [((), "environ\\nmem\\nTrue"), (("guarded",), "refused\\nrefused\\nTrue")],
    ids=["bare", "guarded"],
)
def test_a_guarded_process_shows_its_name_and_neither_environment_nor_memory(words, told):
    done = subprocess.run([*WEAKLY, sys.executable, "-c", GUARDED, *words], capture_output=True, text=True, check=True)
    assert f"stdout='{told}\\n'" in done.stdout, done


TURNS = """
import ctypes, os, platform, struct, subprocess, sys, threading
from sentinel_guard.host.machine import process_control

def turn():
    told = ctypes.create_string_buffer(48)
    number = {"x86_64": 315, "aarch64": 275}.get(platform.machine())
    if number is None:  # none are taken where the system's calls are not known
        assert not process_control.take_short_turns()
        sys.exit(print(True, True, os.getpriority(os.PRIO_PROCESS, 0)))
    assert not ctypes.CDLL(None).syscall(number, 0, told, 48, 0)
    return struct.unpack("=IIQiIQQQ", told.raw)[5]

usual = turn()
assert process_control.take_short_turns()
others = []
beside = threading.Thread(target=lambda: others.append(turn()))
beside.start()
beside.join()
print(turn() < usual or not usual, others == [usual], os.getpriority(os.PRIO_PROCESS, 0))
"""


def test_short_turns_are_those_of_one_thread_and_as_nice_as_before():
    done = subprocess.run(["nice", "-n", "5", sys.executable, "-c", TURNS], capture_output=True, text=True, check=True)
    # Before Linux 6.12 a kernel tells of no turns.
    assert done.stdout.split() == ["True", "True", str(min(os.getpriority(os.PRIO_PROCESS, 0) + 5, 19))]


def test_a_policy_of_ones_own_stays():
    code = """
import os
from sentinel_guard.host.machine import process_control
os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
print(process_control.take_short_turns(), os.sched_getscheduler(0) == os.SCHED_BATCH)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"
