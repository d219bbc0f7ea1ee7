"""Measures what held system calls cost: single calls, and work of every day, bare and held in turn.

Run with ``python -m bench.kernel_layer_cost`` on a machine that does nothing else, or as a part of ``make bench``.
Times are taken inside, without the start of the session, which has a row of its own.
"""

from __future__ import annotations

import itertools
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hatch_build
from bench.benchmark_results import Row, show
from tests.support.kernel_session import BROKER, KernelSession

ROUNDS = 7
CALLS = 4000
MICROSECONDS = """
import os, sys, time
calls = int(sys.argv[1])
call = compile(sys.argv[2], "call", "exec")
prepare = compile(sys.argv[3], "prepare", "exec")
taken = []
for _ in range(5):
    exec(prepare)
    began = time.perf_counter()
    for n in range(calls): exec(call)
    taken.append(time.perf_counter() - began)
print(sorted(taken)[2] / calls * 1e6)
"""
SINGLE = (
    ("open for writing", 12.0, CALLS, "os.close(os.open('f', os.O_WRONLY | os.O_CREAT))", "pass", "descriptor"),
    ("open for reading", None, CALLS, "os.close(os.open('f', os.O_RDONLY))", "open('f', 'w').close()", ""),
    (
        "unlink",
        12.0,
        CALLS,
        "os.unlink(f'u{n}')",
        f"[os.close(os.open(f'u{{n}}', os.O_CREAT)) for n in range({CALLS})]",
        "number",
    ),
    ("rename", None, CALLS, "os.rename(f'r{n % 2}', f'r{1 - n % 2}')", "open('r0', 'w').close()", ""),
    ("chmod", None, CALLS, "os.chmod('f', 0o644)", "open('f', 'w').close()", ""),
    ("exec, with fork and wait", 60.0, 500, "os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)", "pass", "exec"),
)
"""What, its budget in microseconds over the bare call, how many calls, the call, what goes before them, and how
``least_held_call.c`` answers it: the least that any broker costs this program. A number is told without the call."""
LEAST = (
    ("", "judged by nobody"),
    ("+path", "its path read, judged by nobody"),
    ("+folder", "its path read, made in its folder, judged by nobody"),
)
"""What the supervisor that judges nothing does besides, and how that is called."""
FILES = 'mkdir -p d; for i in $(seq 1400); do echo "line $i" > d/f$i; done; '
GIT = "git -c user.name=a -c user.email=a@b"
TESTS = """import os, tempfile, time
for n in range(300):
    folder = tempfile.mkdtemp()
    open(f"{folder}/a", "w").close()
    time.sleep(0.003)
    os.rename(f"{folder}/a", f"{folder}/b")
"""
SOURCES = """for i in $(seq 40); do echo "int f$i(void){return $i;}" > f$i.c; done
echo 'all: $(patsubst %.c,%.o,$(wildcard *.c))' > Makefile"""
GREP = ("grep -r in 1,400 files, 5 times", 1.03, FILES, "for i in 1 2 3 4 5; do grep -r nothing d; done")
WORK = (
    (
        "checkout of 1,400 files",
        1.35,
        f"git init -q a; cd a; {FILES}git add .; {GIT} commit -qm a; cd ..; git clone -qn a b; cd b",
        "git checkout -q HEAD -- .",
    ),
    ("make -j2, 40 files of C", 1.05, SOURCES, "make -s -j2"),
    ("300 tests of 3 ms", 1.10, f"cat > t.py <<'END'\n{TESTS}END", "python3 t.py"),
    GREP,
    ("1,000 spawns", 1.15, "true", "for i in $(seq 1000); do /bin/true; done"),
    ("rm of 1,400 files", None, FILES, "rm -r d"),
)
"""What, the most of the bare time, what is prepared, and what is measured; scripts of bash."""

FILTERED = """
import ctypes, os, struct, sys
allow = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0x7FFF0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow)))
prctl = ctypes.CDLL(None, use_errno=True).prctl
if prctl(38, 1, 0, 0, 0) or prctl(22, 2, program):
    sys.exit("the kernel takes no seccomp filter")
os.execvp(sys.argv[1], sys.argv[1:])
"""
"""Wears a filter that lets all calls go on: what no session with a filter can be below."""


class Bench:
    """Programs run bare, and in a session with rules as a repository has them.

    Each run has a folder of its own, and all are removed at the end: ext4 gives no number of a file that was deleted
    within the last 35 s to a new one, and looks at each of them; behind the deletion of thousands a new file takes a
    millisecond.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sg-", dir="/var/tmp"))
        self.runs = itertools.count()
        names = (".env", ".env.*", "*.pem", "id_rsa*", "secrets", "sentinel.toml", ".sentinel-secrets.toml")
        rules = [("name", "ask", str(self.folder), name) for name in names]
        rules += [("below", "ask", f"/var/lib/{n}") for n in range(12)]
        rules += [("program", "ask", path) for path in ("/usr/bin/gdb", "/usr/bin/ssh")]
        self.session = KernelSession([*rules, ("socket", "ask", "*/docker.sock")])

    def run(self, *command: str, held: bool) -> str:
        """What the program says, on both streams."""
        folder = self.folder / str(next(self.runs))
        folder.mkdir()
        if held:
            done = self.session.run(*command, cwd=folder)
        else:
            done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
        if done.returncode:
            sys.exit(f"{command}: {done.returncode}\n{done.stderr.decode()}")
        return done.stdout.decode() + done.stderr.decode()

    def close(self) -> None:
        self.session.close()
        shutil.rmtree(self.folder)


def _timed(before: str, work: str) -> tuple[str, ...]:
    """Prints how many seconds the work takes."""
    return ("bash", "-c", f"{{ {before}\n}} > /dev/null; TIMEFORMAT=%R; time {{ {work}; }} > /dev/null 2>&1; true")


def _ratio(what: str, limit: float | None, pairs: list[list[float]]) -> Row:
    bare = statistics.median(pair[0] for pair in pairs)
    ratio = statistics.median(other / bare for bare, other in pairs)
    return Row(what, limit, ratio, "", f"bare {bare * 1000:.0f} ms")


def _build_least(folder: str) -> str | None:
    """The supervisor that judges nothing; None without a compiler."""
    compiler = hatch_build.system_compiler(hatch_build.COMPILERS[1:])
    if not compiler:
        return None
    program = str(Path(folder) / "least_held_call")
    source = Path(__file__).with_name("least_held_call.c")
    subprocess.run([*compiler, *hatch_build.FLAGS, "-o", program, str(source)], check=True)
    return program


def _calls(bench: Bench) -> Iterator[Row]:
    """What single calls cost over the bare ones: held, and where nobody judges them."""
    with tempfile.TemporaryDirectory() as folder:
        least = _build_least(folder)
        for what, budget, calls, call, before, answer in SINGLE:
            command = ("python3", "-c", MICROSECONDS, str(calls), call, before)
            ways: list[tuple[tuple[str, ...], bool]] = [(command, False), (command, True)]
            parts = LEAST[: 1 if answer == "exec" else None] if least and answer else ()
            ways += [((str(least), answer + more, *command), False) for more, _ in parts]
            turns = [[float(bench.run(*argv, held=held)) for argv, held in ways] for _ in range(3)]
            bare, held, *judged_by_nobody = (statistics.median(column) for column in zip(*turns, strict=True))
            yield Row(f"held call: {what}, over the bare one", budget, held - bare, "us", f"bare {bare:.1f} us")
            for figure, (_, way) in zip(judged_by_nobody, parts, strict=True):
                yield Row(f"{way}: {what}, the whole call", None, figure, "us", f"bare {bare:.1f} us")
                yield Row(f"held call: {what}, of the time of one: {way}", None, held / figure, "", "")


def rows() -> Iterator[Row]:
    told = subprocess.run([BROKER, "probe"], capture_output=True, text=True, check=False)
    if told.returncode:
        print(f"the kernel layer: {told.stdout.strip()}: not measured")
        return
    bench = Bench()
    try:
        yield from _calls(bench)
        for what, limit, before, work in WORK:
            script = _timed(before, work)
            pairs = [[float(bench.run(*script, held=h).split()[-1]) for h in (False, True)] for _ in range(ROUNDS)]
            yield _ratio(f"held: {what}, of the bare time", limit, pairs)
        script = _timed(*GREP[2:])
        filtered = ("python3", "-c", FILTERED, *script)
        pairs = [[float(bench.run(*w, held=False).split()[-1]) for w in (script, filtered)] for _ in range(ROUNDS)]
        yield _ratio(f"not held, under a filter that lets all go on: {GREP[0]}", None, pairs)
    finally:
        bench.close()


if __name__ == "__main__":
    show(rows())
