"""A coding agent that types: starts a program on a terminal of its own, types lines into it and keeps what it showed.

argv: what it does (JSON: ``argv`` and ``lines``), the file for what it saw.
"""

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
    program.send(f"{line}\n")
if not ended:
    program.expect(pexpect.EOF)
    shown += program.before
program.close()
Path(sys.argv[2]).write_text(json.dumps({"shown": shown.replace("\r", ""), "code": program.exitstatus}))
