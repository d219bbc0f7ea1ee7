"""Measures the latency of verdicts: launcher, daemon and audit log, in a temporary session (DESIGN section 13).

Run with ``python -m bench.verdict_latency`` at the top of the repository, or as a part of ``make bench``.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.benchmark_results import Row, median_ms, percentile_ms, show, timed
from sentinel_guard import __version__
from sentinel_guard.audit.sqlite import SqliteStore
from sentinel_guard.client import Operator
from sentinel_guard.commands.check import Checker
from sentinel_guard.core.model import Entry
from sentinel_guard.core.wire_framing import Reader, encode
from sentinel_guard.host.machine.state_paths import StatePaths, places
from tests.support.guarded_repository import BIN, Stage

COMMANDS = (
    "ls -la src && git status --short",
    "git log --oneline -20 | head -5",
    "grep -rn 'def main' --include='*.py' . | sort | uniq -c",
    "python -m pytest tests/test_cart.py -q 2>&1 | tail -20",
    'cd src && for f in *.py; do python -m py_compile "$f" || exit 1; done',
    "git add -A && git commit -m 'fix the total of an empty cart'",
    "npm run build --silent > build.log 2>&1; tail -5 build.log",
    "sed -i 's/foo/bar/g' src/cart.py && git diff --stat",
)
CLIENTS = 8
CORPUS = Path(os.environ.get("SENTINEL_CORPUS", "../shared/corpus"))


class Guarded:
    """A throw-away repository with a guarded session whose owner is this process."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sg-"))
        os.environ |= {"SENTINEL_HOME": str(self.folder / "guard"), "HOME": str(self.folder)}
        self.repo = self.folder / "repo"
        config = self.folder / "guard" / "config"
        config.mkdir(parents=True)
        (config / "sentinel.toml").write_text('version = 1\n[shims]\nnames = ["git", "rm", "true"]\n')
        self.repo.mkdir()
        identity = ("-c", "user.name=Bench", "-c", "user.email=bench@example.com")
        for arguments in (("init", "-q"), (*identity, "commit", "-qm", "start", "--allow-empty")):
            subprocess.run(["git", *arguments], cwd=self.repo, check=True)
        self.places: StatePaths = places()
        self.operator = Operator(self.places).connect()
        said = self.operator.request(
            "start", command=["bench"], cwd=str(self.repo), pid=os.getpid(), interactive=False, path=os.environ["PATH"],
            kind="run", seconds=60,
        )  # fmt: skip
        self.session = said["session"]
        self.environ = os.environ | said["environ"]
        self.daemon = int(self.operator.request("hello")["pid"])

    def stop_daemon(self) -> None:
        self.operator.request("stop", force=True)
        self.operator.close()
        while Path(f"/proc/{self.daemon}").exists():
            time.sleep(0.01)

    def close(self) -> None:
        if self.operator.connected:
            self.operator.request("end", session=self.session, code=0)
            self.stop_daemon()
        shutil.rmtree(self.folder, ignore_errors=True)

    def rss_mb(self) -> float:
        pages = int(Path(f"/proc/{self.daemon}/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 1e6


def launcher(guarded: Guarded) -> tuple[float, float]:
    """Milliseconds that the launcher, the verdict and the outcome add to a whole process, median and p99."""
    shim, bare = str(guarded.places.shims(guarded.session) / "true"), shutil.which("true") or "/bin/true"
    added: dict[str, list[float]] = {shim: [], bare: []}
    for number in range(400):
        for program in (bare, shim):
            began = time.perf_counter()
            # Each another operation: the loop check would stop one that comes so often.
            subprocess.run([program, str(number)], env=guarded.environ, cwd=guarded.repo, check=True)
            added[program].append(time.perf_counter() - began)
    p99 = percentile_ms(added[shim], 0.99) - median_ms(added[bare])
    return median_ms(added[shim]) - median_ms(added[bare]), p99


def verdicts(guarded: Guarded) -> tuple[float, float]:
    """Milliseconds of a verdict (parse, effects, all checks) on what an agent types: median, p99."""
    checker, cwd = Checker(guarded.places), str(guarded.repo)
    samples = [s for command in COMMANDS for s in timed(lambda c=command: checker.verdict(c, cwd), 100)]
    return median_ms(samples), percentile_ms(samples, 0.99)


def corpora() -> list[str]:
    """Every command of the lists in ``SENTINEL_CORPUS``, and one in five of its shell texts; none without them."""
    texts: list[str] = []
    for name, key, step in (("dangerous", "command", 1), ("benign", "command", 1), ("peers", "command", 1),
                            ("shell_snippets", "text", 5)):  # fmt: skip
        path = CORPUS / f"{name}.jsonl"
        rows = path.read_text().splitlines() if path.exists() else []
        texts += [json.loads(row)[key] for row in rows[::step]]
    return texts


def over_corpora(guarded: Guarded) -> tuple[float, float] | None:
    """Milliseconds of a verdict over the corpora, the best of three of each text: median, p99."""
    checker, cwd, texts = Checker(guarded.places), str(guarded.repo), corpora()
    samples = [min(timed(lambda t=text: checker.verdict(t, cwd), 3)) for text in texts]
    return (median_ms(samples), percentile_ms(samples, 0.99)) if samples else None


def long_commands(guarded: Guarded) -> Iterator[tuple[str, float]]:
    """Milliseconds of a verdict on 20 KB: as a file that is written, and as a script of 1,150 commands."""
    checker, cwd = Checker(guarded.places), str(guarded.repo)
    script = "\n".join(f"echo step {i} && ls -la dir{i} | grep x > out{i}.txt" for i in range(450))[:20_000]
    heredoc = "cat > src/new.py <<'EOF'\n" + "def f(x):\n    return x['a'] + \"b\"\n" * 580 + "EOF\n"
    for what, text in (("a file in a heredoc", heredoc), ("a script of 1,150 commands", script)):
        yield what, median_ms(timed(lambda t=text: checker.verdict(t, cwd), 9))


def _client(address: str, cwd: str, seconds: float, done: multiprocessing.Queue, *, whole: bool) -> None:
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        argv = (b"bash", b"-c", COMMANDS[count % len(COMMANDS)].encode() + f" # {count}".encode())
        request = [
            (b"V", f"1 {__version__}".encode()),
            (b"F", b"shell"),
            *((b"A", a) for a in argv),
            (b"D", cwd.encode()),
        ]
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(address)
            peer.sendall(encode(request))
            reader, answer = Reader(), None
            while answer is None:
                reader.feed(peer.recv(65536))
                answer = reader.next_message()
            if whole:
                peer.sendall(encode([(b"X", struct.pack("<I", 0))]))
                while peer.recv(65536):
                    pass
        count += 1
    done.put(count)


def throughput(guarded: Guarded, seconds: float, *, whole: bool) -> float:
    """Verdicts (``whole``: with their outcomes), on record, a second of the daemon's CPU time; 8 clients."""
    done: multiprocessing.Queue = multiprocessing.Queue()
    address, before = str(guarded.places.agent_socket), cpu(guarded.daemon)
    clients = [
        multiprocessing.Process(
            target=_client, args=(address, str(guarded.repo), seconds, done), kwargs={"whole": whole}
        )
        for _ in range(CLIENTS)
    ]
    for client in clients:
        client.start()
    count = sum(done.get() for _ in clients)
    for client in clients:
        client.join()
    return count / (cpu(guarded.daemon) - before)


def cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def appends(guarded: Guarded) -> float:
    """Milliseconds until an audit entry is safe against kill -9."""
    store = SqliteStore(guarded.folder / "bench.sqlite3")
    entry = Entry(time.time(), "bench", "verdict", {"id": "1", "tool": "shell", "arguments": {"command": "git status"}})
    try:
        return median_ms(timed(lambda: store.append(entry), 2000))
    finally:
        store.close()


def help_ms() -> float:
    command = [str(Path(sys.executable).parent / "sentinel-guard"), "--help"]
    return median_ms(timed(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL), 15))


WHO = {f"GIT_{who}_{what}": "bench@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
"""Who commits in a repository of a benchmark."""
KILLS = 30
PROCESSES = 20
KILLING = """
[[rule]]
id = "bench.kill"
program = "deploy"
response = "kill"
why = "the kill switch is measured"
instead = "true"
hit = ["deploy now"]
miss = ["ls"]
"""
TIMED_DAEMON = """
import sys, time
from pathlib import Path
from sentinel_guard.commands.daemon import run
from sentinel_guard.core import encode_entries
from sentinel_guard.core.model import Response
from sentinel_guard.host.machine.state_paths import places

encoded = encode_entries.of_verdict

def noted(verdict, *rest, **more):
    if verdict.response is Response.KILL:
        Path(sys.argv[1]).write_text(str(time.monotonic()))
    return encoded(verdict, *rest, **more)

encode_entries.of_verdict = noted
run(places())
"""
"""A daemon that says when a verdict that kills is there, before it is on record."""
KILLED_AGENT = f"""
for n in $(seq {PROCESSES}); do sleep 600 & echo $! >> "$1/pids"; done
echo $$ >> "$1/pids"; mv "$1/pids" "$1/started"
while [ ! -e "$1/gate" ]; do sleep 0.05; done
exec bash -c 'deploy now'
"""


def kill_once() -> tuple[float, float]:
    """Milliseconds from the verdict until all but the launcher that is answered are dead, and until that is."""
    stage = Stage()
    try:
        stage.environ |= WHO
        stage.commit()
        stage.policy(KILLING)
        at = stage.folder / "verdict"
        with subprocess.Popen(
            [sys.executable, "-c", TIMED_DAEMON, str(at)], env=stage.environ, cwd="/", stderr=subprocess.DEVNULL
        ) as daemon:
            _wait(stage.guard / "run" / "agent.sock")
            run = [str(BIN / "sentinel-guard"), "run", "--", "bash", "-c", KILLED_AGENT, "agent", str(stage.folder)]
            quiet = subprocess.DEVNULL
            with subprocess.Popen(run, cwd=stage.repo, env=stage.environ, stdin=quiet, stdout=quiet, stderr=quiet):
                times = _deaths(stage.folder, at)
            daemon.terminate()
    finally:
        stage.close()
    return times


def _deaths(folder: Path, verdict: Path) -> tuple[float, float]:
    _wait(folder / "started")
    time.sleep(0.5)  # until the session's baseline is whole
    ends = {os.pidfd_open(int(pid)): 0.0 for pid in (folder / "started").read_text().split()}
    (folder / "gate").touch()
    poll = select.poll()
    for end in ends:
        poll.register(end, select.POLLIN)
    while not all(ends.values()):
        for end, _ in poll.poll():
            ends[end] = time.monotonic()
            poll.unregister(end)
    began, (*others, asker) = float(verdict.read_text()), ends.values()
    for end in ends:
        os.close(end)
    return (max(others) - began) * 1000, (asker - began) * 1000


def _wait(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not (path.exists() and (path.is_socket() or path.stat().st_size)):
        assert time.monotonic() < deadline, path
        time.sleep(0.01)


def kills() -> Iterator[Row]:
    """Of a session whose agent has started many processes. The command that kills it is harmless: a rule says so."""
    found = [kill_once() for _ in range(KILLS)]
    others, asker = (sorted(times) for times in zip(*found, strict=True))
    middle, longest = KILLS // 2, others[-1]
    yield Row("kill switch, verdict to the last process dead, p50", 10, others[middle], "ms", f"longest {longest:.1f}")
    yield Row("the same, of the launcher that says why", None, asker[middle], "ms", f"longest {asker[-1]:.1f}")


def rows() -> Iterator[Row]:
    guarded = Guarded()
    try:
        p50, p99 = launcher(guarded)
        yield Row("launcher + verdict + outcome over the bare command, p50", 1.5, p50, "ms")
        yield Row("the same, p99", 4, p99, "ms")
        p50, p99 = verdicts(guarded)
        yield Row("verdict, typical agent command, p50", 0.25, p50, "ms")
        yield Row("the same, p99", 1, p99, "ms")
        if figures := over_corpora(guarded):
            yield Row("verdict over the corpora, p50", 0.25, figures[0], "ms")
            yield Row("the same, p99", 1, figures[1], "ms")
        for what, figure in long_commands(guarded):
            yield Row(f"verdict, 20 KB command, {what}", 30, figure, "ms")
        yield Row("verdicts a second of daemon CPU", 1200, throughput(guarded, 5, whole=False), "/s", at_least=True)
        yield Row("the same with their outcomes", 1000, throughput(guarded, 5, whole=True), "/s", at_least=True)
        yield Row("daemon RSS after that", 80, guarded.rss_mb(), "MB")
        yield Row("audit append, durable against kill -9", 0.1, appends(guarded), "ms")
        yield Row("sentinel-guard --help", 150, help_ms(), "ms")
    finally:
        guarded.close()
    yield from kills()


if __name__ == "__main__":
    show(rows())
