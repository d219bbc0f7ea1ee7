"""Measures what a guarded session does while its guard is harmed: commands that ran free, entries that were lost.

    make faults              FAULTS="kill stop ..." for some of them

Real daemon, sessions, git and files in a folder that is thrown away. Each command has a number of its own: free is one
that ran although no verdict that allows it was ever on record; lost is an entry that was read once and is gone.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from bench.verdict_latency import WHO
from tests.support.guarded_repository import BIN, Stage
from tests.support.time_limits import limit

RESULTS = Path(__file__).with_suffix(".json")
ALLOWING = ("allow", "snapshot", "hint")
AGENT = """
import json, os, subprocess, sys, time
folder, name, first, count, pause = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
told = []
for number in range(first, first + count):
    if number - first == pause:
        open(f"{folder}/ready-{name}", "w").close()
        while not os.path.exists(f"{folder}/gate"):
            time.sleep(0.02)
    time.sleep(0.05)
    done = subprocess.run(["bash", "-c", f"echo {number} > ran-{number}"], capture_output=True, text=True)
    told.append([number, done.returncode, done.stderr])
    with open(f"{folder}/told-{name}.new", "w") as file:
        json.dump(told, file)
    os.replace(f"{folder}/told-{name}.new", f"{folder}/told-{name}.json")
"""


@dataclass
class Trial:
    """One guard that is harmed, and what was on its record when."""

    stage: Stage
    seen: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Entries that were read at any time: hash -> kind and data."""
    tried: int = 0
    words: list[str] = field(default_factory=list)
    note: str = ""
    """What else was found."""
    kept: dict[str, object] = field(default_factory=dict)
    """The result, where it must be taken before the folder goes."""

    def read(self) -> set[str]:
        """Hashes of the entries that are on record now."""
        log = self.stage.guard / "state" / "audit.sqlite3"
        try:
            with contextlib.closing(sqlite3.connect(f"file:{log}?mode=ro", uri=True, timeout=10)) as db:
                db.text_factory = lambda raw: raw.decode(errors="surrogateescape")
                found = {h: (kind, data) for h, kind, data in db.execute("SELECT hash, kind, data FROM log")}
        except sqlite3.Error:
            return set()
        self.seen |= found
        return set(found)

    def begin(self, name: str = "a", first: int = 1, count: int = 40, pause: int = -1) -> subprocess.Popen[str]:
        self.tried += count
        agent = [sys.executable, "-c", AGENT, str(self.stage.folder), name, *map(str, (first, count, pause))]
        return subprocess.Popen(
            [str(BIN / "sentinel-guard"), "run", "--", *agent], cwd=self.stage.repo, env=self.stage.environ, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    def ready(self, name: str = "a") -> None:
        deadline = time.monotonic() + 120
        while not (self.stage.folder / f"ready-{name}").exists():
            if time.monotonic() > deadline:
                sys.exit(f"the agent {name!r} did not come as far as the fault")
            time.sleep(0.02)
        self.read()

    def go(self) -> None:
        (self.stage.folder / "gate").touch()

    def ended(self, agent: subprocess.Popen[str]) -> None:
        self.words += agent.communicate(timeout=120)[1].splitlines()

    def pid(self) -> int:
        return next(iter(self.stage.daemons()), 0)

    def result(self) -> dict[str, object]:
        now = self.read()
        verdicts = [json.loads(data, strict=False) for kind, data in _readable(self.seen.values()) if kind == "verdict"]
        allowed = {
            str(v["arguments"].get("command", ""))
            for v in verdicts
            if isinstance(v.get("arguments"), dict) and v.get("response") in ALLOWING
        }
        told = [row for p in self.stage.folder.glob("told-*.json") for row in json.loads(p.read_text())]
        # A rollback takes the files away.
        ran = {int(p.name.removeprefix("ran-")) for p in self.stage.repo.glob("ran-*")}
        ran |= {number for number, code, _ in told if code == 0}
        refused = [err for _, code, err in told if code != 0 and err]
        verified = self.stage.sentinel("log", "verify")
        words = [line for line in [*refused, *self.words] if "SENTINEL" in line or "sentinel-guard" in line]
        return {
            "tried": self.tried, "ran": len(ran), "refused": len(refused),
            "free": sum(f"echo {n} > ran-{n}" not in allowed for n in ran), "lost": len(set(self.seen) - now),
            "verify": (verified.stdout or verified.stderr).strip().splitlines()[0][:110],
            "code": verified.returncode, "note": self.note, "words": words[0].splitlines()[0][:110] if words else "",
        }  # fmt: skip


def _readable(entries: object) -> Iterator[tuple[str, str]]:
    for kind, data in entries:  # type: ignore[attr-defined]
        with contextlib.suppress(ValueError):
            json.loads(data, strict=False)
            yield kind, data


def kill(trial: Trial) -> None:
    """The daemon is killed (SIGKILL) again and again."""
    kills = 0
    agent = trial.begin(count=200, pause=4)
    trial.ready()
    trial.go()
    while agent.poll() is None:
        time.sleep(limit(0.7))  # a daemon that is killed before it has begun proves nothing
        trial.read()
        if pid := trial.pid():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                kills += 1
    trial.ended(agent)
    trial.note = f"{kills} times"


def stop(trial: Trial) -> None:
    """The daemon is stopped (SIGSTOP) for 8 s."""
    agent = trial.begin(count=12, pause=4)
    trial.ready()
    pid = trial.pid()
    os.kill(pid, signal.SIGSTOP)
    trial.go()
    time.sleep(8)
    os.kill(pid, signal.SIGCONT)
    trial.ended(agent)


def state(trial: Trial) -> None:
    """The state folder is deleted: the log, the shims, the baseline."""
    agent = trial.begin(pause=4)
    trial.ready()
    trial.go()
    shutil.rmtree(trial.stage.guard / "state", ignore_errors=True)
    trial.ended(agent)


def shims(trial: Trial) -> None:
    """The session's shims are deleted."""
    agent = trial.begin(pause=4)
    trial.ready()
    trial.go()
    for folder in (trial.stage.guard / "state" / "sessions").glob("*/shims"):
        shutil.rmtree(folder)
    trial.ended(agent)


def enospc(trial: Trial) -> None:
    """The disk of the state folder is full."""
    place = trial.stage.guard / "state"
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(place)], check=True)
    try:
        agent = trial.begin(count=200, pause=4)
        trial.ready()
        with contextlib.suppress(OSError), (place / "fill").open("wb") as file:
            while True:
                file.write(bytes(4096))
        trial.go()
        trial.ended(agent)
        (place / "fill").unlink()
        trial.kept = trial.result()
    finally:
        trial.stage.sentinel("daemon", "stop", "--force")
        subprocess.run(["umount", "-l", str(place)], check=False)


def eio(trial: Trial) -> None:
    """Every other write and sync of the daemon fails (EIO)."""
    agent = trial.begin(count=20, pause=4)
    trial.ready()
    inject = "inject=pwrite64,fdatasync,fsync:error=EIO:when=3+2"
    with subprocess.Popen(
        ["strace", "-f", "-qq", "-o", "/dev/null", "-p", str(trial.pid()), "-e", inject], stderr=subprocess.DEVNULL
    ) as tracer:
        time.sleep(1)
        trial.go()
        trial.ended(agent)
        tracer.terminate()


def swap(trial: Trial) -> None:
    """The log is replaced by an older copy while no daemon runs."""
    log = trial.stage.guard / "state" / "audit.sqlite3"
    first = trial.begin("old", 1, 5)
    trial.ended(first)
    trial.stage.sentinel("daemon", "stop", "--force")
    shutil.copy(log, trial.stage.folder / "older")
    second = trial.begin("new", 6, 5)
    trial.ended(second)
    trial.read()
    trial.stage.sentinel("daemon", "stop", "--force")
    for name in ("-wal", "-shm"):
        log.with_name(log.name + name).unlink(missing_ok=True)
    shutil.copy(trial.stage.folder / "older", log)


def flips(trial: Trial) -> None:
    """A bit of a row's data flips; and bits anywhere in the file, with a session after each."""
    trial.ended(trial.begin(count=10))
    trial.stage.sentinel("daemon", "stop", "--force")
    log = trial.stage.guard / "state" / "audit.sqlite3"
    whole, rng, unseen = log.read_bytes(), random.Random(1), 0
    head = log.with_suffix(".head")
    named = head.read_bytes()
    with contextlib.closing(sqlite3.connect(log)) as db:
        rows = db.execute("SELECT seq, CAST(data AS BLOB) FROM log").fetchall()
    for _ in range(15):
        seq, raw = rng.choice(rows)
        at = rng.randrange(len(raw))
        with contextlib.closing(sqlite3.connect(log)) as db:
            db.execute("DROP TRIGGER IF EXISTS log_no_update")
            harmed = raw[:at] + bytes([raw[at] ^ 1 << rng.randrange(8)]) + raw[at + 1 :]
            db.execute("UPDATE log SET data = CAST(? AS TEXT) WHERE seq = ?", (harmed, seq))
            db.commit()
        done = trial.stage.sentinel("log", "verify")
        unseen += done.returncode == 0 or "Traceback" in done.stderr
        trial.stage.sentinel("daemon", "stop", "--force")
        log.write_bytes(whole)
    seen, begun = 0, 0
    for _ in range(15):
        harmed = bytearray(whole)
        harmed[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        log.write_bytes(harmed)
        for tail in ("-wal", "-shm"):
            log.with_name(log.name + tail).unlink(missing_ok=True)
        seen += trial.stage.sentinel("log", "verify").returncode != 0
        begun += trial.stage.sentinel("run", "--", "true").returncode == 0
        trial.stage.sentinel("daemon", "stop", "--force")
        for left in log.parent.glob("audit.*"):
            left.unlink()
        log.write_bytes(whole)
        head.write_bytes(named)
    trial.note = f"{15 - unseen} of 15 in rows seen, {seen} of 15 anywhere (the rest where no entry stands)"
    trial.note += f"; {begun} of 15 sessions began after one"


def together(trial: Trial) -> None:
    """50 sessions begin at once."""
    agents = [trial.begin(f"s{n}", n * 100, 2, 0) for n in range(50)]
    for n in range(50):
        trial.ready(f"s{n}")
    trial.go()
    for agent in agents:
        trial.ended(agent)


def silent(trial: Trial) -> None:
    """1,000 connections that say nothing."""
    agent = trial.begin(pause=4)
    trial.ready()
    held = []
    for n in range(1000):
        peer = socket.socket(socket.AF_UNIX)
        peer.settimeout(5)
        with contextlib.suppress(OSError):
            peer.connect(str(trial.stage.guard / "run" / ("agent.sock", "operator.sock")[n % 2]))
            held.append(peer)
    trial.note = f"{len(held)} connected"
    trial.go()
    trial.ended(agent)
    for peer in held:
        peer.close()


FAULTS: dict[str, Callable[[Trial], None]] = {
    f.__name__: f for f in (kill, stop, enospc, eio, state, shims, flips, swap, together, silent)
}


_UNSEEN = "what runs in the moment until it is seen (a tenth of a second as a session begins) is judged by nobody"
REASONS = {
    "state": f"{_UNSEEN}; the entries were in the folder",
    "shims": _UNSEEN,
    "swap": "the entries are those that the older copy lacks: this is the fault",
}
"""Why commands ran free, or entries are gone."""


def table() -> str:
    """The measured faults as a table."""
    found = json.loads(RESULTS.read_text())
    rows = ["| fault | tried | ran | free | lost | `log verify` | words |", "|---|---|---|---|---|---|---|"]
    for name, fault in FAULTS.items():
        if row := found.get(name):
            title = (fault.__doc__ or "").removesuffix(".") + (f" ({row['note']})" if row["note"] else "")
            lost = f"{row['lost']} *" if row["lost"] else "0"
            free = f"{row['free']} *" if row["free"] else "0"
            verify = "holds" if row["code"] == 0 else _cell(row["verify"])
            cells = (title, row["tried"], row["ran"], free, lost, verify, _cell(row["words"]))
            rows.append(f"| {' | '.join(map(str, cells))} |")
    notes = [f"\\* {FAULTS[n].__doc__} {why[0].upper()}{why[1:]}.\n" for n, why in REASONS.items() if n in found]
    return "\n".join([*rows, "", *notes])


def _cell(text: str) -> str:
    return re.sub(r"/\S*/", "", text).replace("|", "/")[:90]


def once(fault: Callable[[Trial], None]) -> dict[str, object]:
    stage = Stage(Path("/var/tmp"))
    stage.environ |= WHO
    try:
        stage.commit()
        trial = Trial(stage)
        fault(trial)
        return trial.kept or trial.result()
    finally:
        stage.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("faults", nargs="*", metavar="FAULT", help=", ".join(FAULTS))
    for name in parser.parse_args().faults or FAULTS:
        if (name == "eio" and not shutil.which("strace")) or (name == "enospc" and os.geteuid() != 0):
            print(f"{name}: not tried, {'strace is not there' if name == 'eio' else 'a tmpfs needs root'}")
            continue
        found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        found[name] = once(FAULTS[name])
        RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
        print(name, json.dumps(found[name]), flush=True)


if __name__ == "__main__":
    main()
