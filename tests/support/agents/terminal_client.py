"""A coding agent that draws on its terminal all the time, and runs each command on a pseudo-terminal of its own.

argv: the file of its tasks (a JSON list of commands), the file for what it saw, and ``own`` or ``inherited``: whose
terminal its commands get.
"""

import json
import os
import pty
import subprocess
import sys
import threading
import time
from pathlib import Path


def draw() -> None:
    frame = 0
    while True:
        frame += 1
        os.write(1, f"\x1b[1;1H\x1b[2Kthinking, frame {frame} of many\r\n".encode())
        time.sleep(0.005)


def read(fd: int) -> str:
    printed = b""
    try:
        while data := os.read(fd, 4096):
            printed += data
    except OSError:  # EIO: the other end is closed everywhere
        pass
    return printed.decode(errors="replace")


def on_terminal(command: str) -> dict:
    near, far = pty.openpty()
    shell = subprocess.Popen(["bash", "-c", command], stdin=far, stdout=far, stderr=far, start_new_session=True)
    os.close(far)
    printed = read(near)
    return {"task": command, "code": shell.wait(), "err": printed}


seen, own = [], sys.argv[3] == "own"
if own:
    threading.Thread(target=draw, daemon=True).start()
for task in json.loads(Path(sys.argv[1]).read_text()):
    seen.append(on_terminal(task) if own else {"task": task, "code": subprocess.call(["bash", "-c", task]), "err": ""})
    Path(sys.argv[2]).write_text(json.dumps(seen))
