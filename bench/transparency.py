"""Runs thousands of shell texts bare and in a guarded session, and compares what they print, leave and exit with.

    make transparency      minutes; SHELL_WORDS="zsh -c" for another shell, EVERY=10 for a tenth of the texts

SENTINEL_CORPUS names the folder of the lists.

Real daemon, real sessions, the kernel layer where the machine has it; all of it in a cage (bubblewrap): nothing of the
machine can be written, there is no network, and its processes end with it. What the guard refuses is counted apart: the
texts are tests of shells, and many run programs whose names nobody knows beforehand.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

HERE = Path(__file__).absolute().parent
LISTS = Path(os.environ.get("SENTINEL_CORPUS") or HERE.parent.parent / "shared" / "corpus").absolute()
SOURCES = ("oils", "tsbash")
"""Of the list: what is written to be run, and harms nobody."""
KEPT_OUT = ("fork", "rm -rf /", "rm -rf ~", "rm -rf *", "mkfs", "dd if", "|:&", "| :", "|& :", "> /dev/")
FEW = 5
"""Texts of a session: so few that their failures trip no breaker."""
TRIES = 4
"""Runs both ways of a text that differed: its own races are no difference."""
SECONDS = 8
SHELL = os.environ.get("SHELL_WORDS", "/bin/bash -c").split()
WORK = Path("/tmp/work")
CAGE = (
    *("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp"),
    *("--unshare-pid", "--unshare-net", "--unshare-ipc", "--cap-drop", "ALL", "--new-session", "--die-with-parent"),
)
TEMPORARY = (Path("/tmp"), Path("/var/tmp"))
"""What of the cage can be written."""
PROGRAMS = {
    "argv.py": 'printf "[%s]" "$@"; echo',
    "printenv.py": 'for n; do printenv "$n" || echo None; done',
    "stdout_stderr.py": 'echo STDOUT; echo STDERR >&2; exit "${1:-0}"',
}
"""What the texts call besides a machine's own programs, in sh."""
SAID = re.compile(r"^(?:SENTINEL HINT: |Try: ).*\n?", re.MULTILINE)
REFUSED = re.compile("SENTINEL BLOCKED|SYSTEM INTERVENTION|SENTINEL KILL SWITCH")
VARIES = (
    (re.compile(r"real-time non-blocking time .*"), "the limit by which a session's processes are known"),
    (re.compile(r"\d+m\d+\.\d+s"), "times"),
    (re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+"), "dates"),
    (re.compile(r"\b\d{2,9}\b"), "numbers of processes"),
    (re.compile(r"(?<=tmp\.)\w+"), "names of temporary files"),
)
"""What no two runs have in common, and why."""
Outcome = tuple[object, str, str, tuple[str, ...]]
"""Exit code, output, errors, files that were left; without what varies, lines in order of the alphabet."""


def cage() -> list[str]:
    """The words that begin a command in the cage. Who listens at a file (an engine of containers, a desktop's bus)
    would be reached from there as well: nothing of a file that cannot be written keeps from that.
    """
    rows = (line.split(None, 7) for line in Path("/proc/net/unix").read_text().splitlines())
    names = sorted({os.path.realpath(row[7]) for row in rows if len(row) > 7 and row[7][0] == "/"})
    outside = [name for name in names if not any(Path(name).is_relative_to(folder) for folder in TEMPORARY)]
    return [*CAGE, *(word for name in filter(_is_socket, outside) for word in ("--ro-bind", "/dev/null", name))]


def _is_socket(path: str) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISSOCK(os.stat(path).st_mode)  # noqa: PTH116 - as it is told
    return False


def is_caged() -> bool:
    """Whether this runs in the cage: the temporary folders are its own, and nothing else of the machine is written."""
    sealed = os.statvfs("/").f_flag & os.ST_RDONLY
    return bool(sealed) and all(map(os.path.ismount, TEMPORARY)) and Path("/proc/1/comm").read_text() == "bwrap\n"


def only_in_cage() -> None:
    """Ends whoever is not in it: what follows runs what may do harm, and empties the temporary folders."""
    if not is_caged():
        sys.exit("This runs in the cage alone (make sessions, incidents, transparency). Nothing was run.")


def run_all(texts: str, found: str) -> None:
    """The agent: run each text in a folder of its own; write what came of it."""
    only_in_cage()
    rows = []
    for text in json.loads(Path(texts).read_text()):
        shutil.rmtree(WORK, ignore_errors=True)
        (WORK / "home").mkdir(parents=True)
        environ = os.environ | {"HOME": str(WORK / "home")}
        pipe = subprocess.PIPE
        with subprocess.Popen(
            [*SHELL, text], cwd=WORK, env=environ, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe
        ) as process:
            try:
                out, errors = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                out, errors = b"", b"too long"
        left = sorted(str(path.relative_to(WORK)) for path in WORK.rglob("*"))
        rows.append((process.returncode, out.decode(errors="replace"), errors.decode(errors="replace"), left))
    Path(found).write_text(json.dumps(rows))


class Cage:
    """A guarded repository, and both ways of running texts in it."""

    def __init__(self) -> None:
        from bench.verdict_latency import WHO  # noqa: PLC0415 - the agent in the cage does without
        from tests.support.guarded_repository import BIN, Stage  # noqa: PLC0415 - the same

        self.stage, self.guard = Stage(Path("/var/tmp")), str(BIN / "sentinel-guard")
        self.stage.environ |= WHO | {"SHELL_WORDS": " ".join(SHELL)}
        self.stage.policy('[kernel]\nmode = "auto"')
        for name, text in PROGRAMS.items():
            program = self.stage.folder / "bin" / name
            program.write_text(f"#!/bin/sh\n{text}\n")
            program.chmod(0o755)
        self.stage.commit(a__txt="a\n")

    def outcomes(self, texts: list[str], *, guarded: bool) -> list[Outcome]:
        given, found = self.stage.folder / "texts.json", self.stage.folder / "found.json"
        given.write_text(json.dumps(texts))
        found.unlink(missing_ok=True)
        agent = [sys.executable, str(Path(__file__)), "agent", str(given), str(found)]
        done = subprocess.run(
            [self.guard, "run", "--", *agent] if guarded else agent,
            cwd=self.stage.repo,
            env=self.stage.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if not found.exists():
            sys.exit(f"no outcome of {texts}: {done.returncode}\n{done.stderr}")
        return [_plain(*row) for row in json.loads(found.read_text())]


def _plain(code: object, out: str, errors: str, left: list[str]) -> Outcome:
    texts = []
    for text in (out, SAID.sub("", errors), *left):
        for pattern, why in VARIES:
            text = pattern.sub(f"({why})", text)  # noqa: PLW2901 - step by step
        texts.append("\n".join(sorted(text.splitlines())))
    return code, texts[0], texts[1], tuple(texts[2:])


def differing(cage: Cage, text: str) -> tuple[Outcome, Outcome] | None:
    """One outcome of each way, where in all tries no outcome was that of the other way."""
    bare, guarded = set[Outcome](), set[Outcome]()
    for _ in range(TRIES):
        bare.update(cage.outcomes([text], guarded=False))
        guarded.update(cage.outcomes([text], guarded=True))
        if bare & guarded:
            return None
    return bare.pop(), guarded.pop()


def main(texts: list[str]) -> int:
    only_in_cage()
    cage, counts = Cage(), {"the same": 0, "refused or asked about": 0, "otherwise": 0}
    try:
        for at in range(0, len(texts), FEW):
            some = texts[at : at + FEW]
            pairs = zip(cage.outcomes(some, guarded=False), cage.outcomes(some, guarded=True), strict=True)
            for text, (bare, guarded) in zip(some, pairs, strict=True):
                if REFUSED.search(guarded[2]):
                    counts["refused or asked about"] += 1
                elif bare == guarded or not (found := differing(cage, text)):
                    counts["the same"] += 1
                else:
                    counts["otherwise"] += 1
                    print(f"--- otherwise:\n{text}\n    bare:    {found[0]}\n    guarded: {found[1]}", flush=True)
    finally:
        cage.stage.close()
    print(f"{len(texts)} texts for {' '.join(SHELL)}: {', '.join(f'{n} {what}' for what, n in counts.items())}")
    return 1 if counts["otherwise"] else 0


def listed(folder: Path) -> Iterator[str]:
    for line in (folder / "shell_snippets.jsonl").read_text().splitlines():
        row: Mapping[str, str] = json.loads(line)
        if row["source"] in SOURCES and row["bash_valid"] and not any(word in row["text"] for word in KEPT_OUT):
            yield row["text"]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["agent", given, found]:
            run_all(given, found)
        case ["caged"]:
            sys.exit(main([*listed(LISTS)][:: int(os.environ.get("EVERY", "1"))]))
        case _ if not LISTS.is_dir():
            sys.exit(f"There are no lists in {LISTS}. SENTINEL_CORPUS names their folder; nothing was compared.")
        case _:
            os.execvpe(CAGE[0], [*cage(), sys.executable, "-m", "bench.transparency", "caged"], os.environ)
