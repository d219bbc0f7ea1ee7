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
