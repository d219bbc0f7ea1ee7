"""A coding agent, reduced: runs shell commands one after the other and writes down what it was told.

argv: the file of its tasks (a JSON list; a string is a command, a number a nap in seconds, a pair a file and what it
appends to it by itself), the file for what it saw.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

seen = []
for task in json.loads(Path(sys.argv[1]).read_text()):
    if isinstance(task, int | float):
        time.sleep(task)
        continue
    if isinstance(task, list):
        with Path(task[0]).open("a") as file:
            file.write(task[1])
        continue
    began = time.monotonic()
    done = subprocess.run(["bash", "-c", task], capture_output=True, text=True, errors="replace", check=False)
    took = time.monotonic() - began
    seen.append({"task": task, "code": done.returncode, "out": done.stdout, "err": done.stderr, "seconds": took})
    Path(sys.argv[2]).write_text(json.dumps(seen))
