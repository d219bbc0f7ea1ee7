"""Measures what comes of what programs do while they run, way by way, without the kernel layer and with it.

    make matrix              MATRIX="words" for the ways whose names hold them

Real sessions in a folder that is thrown away; nobody can be asked. The program's code is veiled: no analysis knows
it before it runs. What is found goes into docs/threat-model.md.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.verdict_latency import WHO
from tests.broker import test_held_files
from tests.support.guarded_repository import Stage
from tests.support.wait_until import until

RESULTS = Path(__file__).with_suffix(".json")
WAYS = Path(__file__).with_suffix(".toml")
ATTACKS = Path(test_held_files.__file__).with_name("attacks.toml")
MODES = ("off", "require")
REPOSITORY = "the repository"
"""The group of ways whose harm the person takes back with a rollback, where nothing else did."""
SETTLES = 3.0
"""Seconds in which what the guard puts back is back."""
OUTCOMES = ("before", "undone", "recorded", "rolled back", "missed", "harmless")
CHANGED = '(repo / ".env").read_text() != "MODE=debug\\n" or (repo / ".env").stat().st_mode & 0o777 != 0o644'
NOT_HERE = (
    "push",
    "broken",
    "state/",
    " secrets",
    "> .env.new",
    "x .env.new",
    "fifo .env.new",
    '".env.new", src',
    "a.txt .env.new",
)
"""What attacks of tests/broker are about besides: what is not here, and new names, a session's own (ADR 0022)."""
PROGRAM = "exec(bytes(b ^ 85 for b in open('way.bin', 'rb').read()))\n"
PRELUDE = """
import ctypes, mmap, os, shutil, signal, socket, struct, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
AT, EVIL = -100, b"EVIL\\n"
def put(fd):
    if fd >= 0:
        os.write(fd, EVIL)
"""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to do harm: the program's code, and an expression that is true where the harm was done."""

    group: str
    name: str
    code: str
    harm: str


def ways() -> Iterator[Way]:
    for script, _, name in test_held_files.WAYS:
        if not any(word in script for word in NOT_HERE):
            code = _shell(script.replace("secrets/token", ".env").replace("rm -f", "/bin/rm -f"))
            yield Way("a restricted file", name, code, CHANGED)
    for row in tomllib.loads(ATTACKS.read_text())["attack"]:
        code = row.get("python") or _shell(row["script"])
        if not any(word in code for word in NOT_HERE) or "/.env" in code:
            yield Way("a restricted file", row["name"], code, CHANGED)
    for row in tomllib.loads(WAYS.read_text())["way"]:
        yield Way(row["group"], row["name"], row["python"], row["harm"])


def _shell(script: str) -> str:
    return f"subprocess.run(['/bin/bash', '-c', {script!r}])"


def prepared() -> Stage:
    stage = Stage(Path("/var/tmp"))
    (stage.home / "letters").mkdir()
    for name in ("notes.txt", "letters/a.txt", ".bashrc"):
        (stage.home / name).write_text("theirs")
    stage.commit(a__txt="plain\n", program__py=PROGRAM)
    (stage.repo / "other-name").hardlink_to(stage.repo / ".env")
    (stage.repo / ".env").chmod(0o644)
    stage.git("init", "-q", "--bare", "../remote.git")
    stage.git("remote", "add", "origin", "../remote.git")
    stage.git("push", "-q", "origin", "main")
    stage.git("commit", "-q", "--amend", "-m", "rewritten")
    stage.git("branch", "kept")
    stage.write("untracked.txt", "theirs")
    return stage


def _git(stage: Stage, *words: str) -> str:
    """What git says of the repository; nothing where it finds none."""
    command = ["git", "-C", str(stage.repo), *words]
    done = subprocess.run(command, cwd=stage.folder, env=stage.environ, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def _pushed(stage: Stage) -> str:
    command = ["git", "--git-dir=remote.git", "rev-parse", "main"]
    return subprocess.run(
        command, cwd=stage.folder, env=stage.environ, capture_output=True, text=True, check=True
    ).stdout


def harmed(stage: Stage, way: Way, printed: str, at_start: str) -> bool:
    verified = stage.sentinel("log", "verify", cwd=stage.folder).returncode == 0 if "verified" in way.harm else True
    known = {
        "os": os, "repo": stage.repo, "home": stage.home, "guard": stage.guard, "printed": printed,
        "at_start": at_start,
        "history": _git(stage, "log", "-p", "--format=%s"), "branches": _git(stage, "branch"),
        "pushed": _pushed(stage), "daemons": stage.daemons(), "verified": verified,
    }  # fmt: skip
    try:
        return bool(eval(way.harm, known))
    except OSError:
        return True  # what it looks at is gone


def outcome(way: Way, mode: str) -> str:
    """What becomes of the way in a session; of ``bare``, without a guard, whether it does harm at all."""
    stage = prepared()
    try:
        code = f"HOME, GUARD, GIT = {str(stage.home)!r}, {str(stage.guard)!r}, {shutil.which('git')!r}\n"
        veiled = bytes(b ^ 85 for b in (PRELUDE + code + way.code).encode())
        (stage.repo / "way.bin").write_bytes(veiled)
        at_start = _pushed(stage)
        if mode == "bare":
            done = subprocess.run(
                [sys.executable, "program.py"], cwd=stage.repo, env=stage.environ, capture_output=True, text=True,
                check=False, timeout=60,
            )  # fmt: skip
            return "missed" if harmed(stage, way, done.stdout, at_start) else "harmless"
        stage.policy(f'[kernel]\nmode = "{mode}"\n')
        stage.sentinel("daemon", "start")
        done = stage.sentinel("run", "--", *stage.tasks(f"{sys.executable} program.py"))
        seen = stage.folder / "seen.json"
        printed = "".join(task["out"] for task in stage.seen()) if seen.exists() else done.stdout
        harm = until(lambda: not harmed(stage, way, printed, at_start), SETTLES) is not True
        events = [e for e in stage.log() if e["level"] or e["kind"] == "watch"] if not harm or _has_log(stage) else []
        if not harm:
            held = any(e["kind"] == "verdict" and e["data"]["layer"] == "kernel" for e in events)
            restored = any(e["kind"] == "watch" and e["data"].get("check") != "read" for e in events)
            undone = restored or (done.returncode == 137 and not held)
            return "undone" if undone else "before"
        if events or done.returncode == 137:
            return "recorded"
        if way.group == REPOSITORY:
            stage.sentinel("rollback", "--yes", cwd=stage.repo if stage.repo.exists() else stage.folder)
        return "missed" if harmed(stage, way, printed, at_start) else "rolled back"
    finally:
        stage.close()


def _has_log(stage: Stage) -> bool:
    return stage.sentinel("log", "--json", cwd=stage.folder).returncode == 0


def measure(wanted: str = "") -> list[dict[str, str]]:
    rows = []
    for way in ways():
        if wanted not in way.name:
            continue
        harmless = outcome(way, "bare") == "harmless"
        became = {mode: outcome(way, mode) for mode in MODES}
        if harmless and {*became.values()} == {"before"}:
            became = dict.fromkeys(MODES, "harmless")
        row = {"group": way.group, "name": way.name, **became}
        print(json.dumps(row), flush=True)
        rows.append(row)
    return rows


def table() -> str:
    """The generated part of docs/threat-model.md."""
    rows = json.loads(RESULTS.read_text())
    lines = ["| way | without the kernel layer | with it |", "|---|---|---|"]
    for group in dict.fromkeys(row["group"] for row in rows):
        ours = [row for row in rows if row["group"] == group]
        counts = (
            ", ".join(f"{n} {word}" for word in OUTCOMES if (n := sum(r[m] == word for r in ours))) for m in MODES
        )
        lines.append(f"| **{group}**, {len(ours)} ways | {' | '.join(f'**{count}**' for count in counts)} |")
        lines += [f"| {row['name']} | {row['off']} | {row['require']} |" for row in ours]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    os.environ.update(WHO)
    found = measure(" ".join(sys.argv[1:]))
    if not sys.argv[1:]:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
