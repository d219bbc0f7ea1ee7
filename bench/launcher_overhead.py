"""Measures what time the launcher adds to a command: whole processes, bare and guarded in turn (DESIGN section 13).

    python bench/launcher_overhead.py [RUNS]

The guard here answers at once, so what is left is the launcher's own time, one round trip and two context switches.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import statistics
import sys
import tempfile
import time
from pathlib import Path

import hatch_build
from sentinel_guard.core.wire_framing import encode

PROGRAM = "/bin/true"
ANSWERS = {
    "exec": encode([(b"X", PROGRAM.encode())]),
    "supervise": encode([(b"S", PROGRAM.encode())]),
    "refuse": encode([(b"P", b"2"), (b"Z", bytes(4))]),
}


def serve(listener: socket.socket) -> None:
    """The shortest guard: the face's argument names the answer."""
    while True:
        sock, _ = listener.accept()
        with sock:
            request = sock.recv(1 << 16)
            name = next(n for n in ANSWERS if n.encode() in request)
            sock.sendall(ANSWERS[name])
            if name == "supervise" and sock.recv(1 << 18):
                sock.sendall(encode([]))


def once(argv: list[str]) -> float:
    """Milliseconds from start to end of a process; its output goes through pipes, as an agent has it."""
    out, inner = os.pipe()
    began = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, inner, n) for n in (1, 2)])
    os.waitpid(pid, 0)
    took = (time.perf_counter() - began) * 1000
    os.close(out)
    os.close(inner)
    return took


def measure(runs: int, shim: str) -> dict[str, list[float]]:
    ways = {"bare": [PROGRAM], **{name: [shim, name] for name in ANSWERS}}
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(runs + 10):
        for name, argv in ways.items():
            times[name].append(once(argv))
    return {name: taken[10:] for name, taken in times.items()}


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    with tempfile.TemporaryDirectory(prefix="sg-") as folder:
        shim, path = Path(folder) / "true", Path(folder) / "agent.sock"
        hatch_build.build_launcher(shim)
        (Path(folder) / ".sentinel").write_text(f"socket={path}\npython=\n")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen()
            guard = multiprocessing.get_context("fork").Process(target=serve, args=(listener,), daemon=True)
            guard.start()
            times = measure(runs, str(shim))
            guard.terminate()
    bare = statistics.median(times["bare"])
    for name, taken in times.items():
        median, p99 = statistics.median(taken), statistics.quantiles(taken, n=100)[98]
        print(f"{name:10} {median:7.3f} ms p50  {p99:7.3f} ms p99   {median - bare:+.3f} ms over bare")


if __name__ == "__main__":
    main()
