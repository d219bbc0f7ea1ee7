"""Bash itself as the oracle: runs the snippets of ``argv_generator`` in a cage and tells which argv really ran.

The cage is a directory that holds bash, its libraries and one static program under several names, which appends its
argv to a file. Bash runs there under chroot, as nobody, with limits: no other program, file or device can be reached.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs import registry
from sentinel_guard.core.model import Action, Kind, Layer
from sentinel_guard.host.world import HostWorld
from tests.support.bash.argv_generator import Maker
from tests.support.bash.random_words import FILES, STUBS

NOBODY = 65534
BATCH = 250
"""Snippets of one bash."""
SECONDS = 30
"""For one batch."""
CPU_SECONDS = 2
"""For one snippet, which is a process."""
_STUB = r"""
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    static char record[1 << 20];
    unsigned size = 4;
    for (int at = 0; at < argc; at++) {
        size_t length = strlen(argv[at]) + 1;
        if (size + length > sizeof record) return 3;
        memcpy(record + size, argv[at], length);
        size += length;
    }
    unsigned body = size - 4;
    memcpy(record, &body, 4);
    int fd = open("/log", O_WRONLY | O_APPEND);
    if (fd < 0 || write(fd, record, size) != (ssize_t)size) return 4;
    return argv[0][0] == 'q';
}
"""


@dataclass(frozen=True)
class Snippet:
    seed: int
    text: str
    cwd: str


class Cage:
    """A throw-away tree, on the host for the analysis and, at the same path, inside of the chroot for bash."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="argv-"))
        self.root = self.folder / "cage"
        self.base = self.folder / "base"
        self.environ = {
            "HOME": str(self.base / "home"),
            "PATH": "/stubs",
            "LC_ALL": "C.UTF-8",
        }
        self.world = HostWorld(self.environ)
        for base in (self.base, self.inside(self.base)):
            for name in FILES:
                file = base / "work" / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.touch()
            (base / "home").mkdir()
        for name in ("stubs", "tmp", "dev", "snippets"):
            (self.root / name).mkdir(exist_ok=True)
        (self.root / "tmp").chmod(0o777)
        self.folder.chmod(0o755)
        self._fill()

    def inside(self, path: Path) -> Path:
        return self.root / path.relative_to("/")

    def _fill(self) -> None:
        source = self.root / "stub.c"
        source.write_text(_STUB)
        stub = self.root / "stubs" / "mark"
        subprocess.run(["cc", "-static", "-O1", "-o", stub, source], check=True)
        for name in STUBS:
            os.link(stub, self.root / "stubs" / name)
        bash = shutil.which("bash", path="/bin:/usr/bin") or "/bin/bash"
        said = subprocess.run(["ldd", bash], check=True, capture_output=True, text=True).stdout
        for path in {*re.findall(r"(/\S+) \(", said)}:
            self._copy(path, path)
        self._copy(bash, "/bin/bash")
        locale = Path("/usr/lib/locale/C.utf8")
        if locale.is_dir():
            shutil.copytree(locale, self.inside(locale))

    def _copy(self, source: str, target: str) -> None:
        place = self.inside(Path(target))
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, place)

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- running ----

    def snippet(self, seed: int) -> Snippet:
        maker = Maker(seed)
        text = maker.snippet()
        return Snippet(seed, text, str(self.folder / f"outs/{seed}" if maker.writes else self.base / "work"))

    def run(self, snippets: Sequence[Snippet]) -> Iterator[list[list[str]] | None]:
        """What each really ran, in order; None for one that did not end."""
        log = self.root / "log"
        log.write_bytes(b"")
        log.chmod(0o666)
        lines = []
        for at, snippet in enumerate(snippets):
            (self.root / "snippets" / str(at)).write_text(snippet.text + "\n")
            if not snippet.cwd.endswith("work"):
                for folder in (Path(snippet.cwd), self.inside(Path(snippet.cwd))):
                    folder.mkdir(parents=True, exist_ok=True)
                    folder.chmod(0o777)
            lines.append(f"(\ncd {snippet.cwd}; unset OLDPWD\n. /snippets/{at}\nwait )\nmark {at}\n")
        (self.root / "driver").write_text("".join(lines))
        argv = ["/bin/bash", "--norc", "--noprofile", "/driver"]
        with subprocess.Popen(
            [*self._caged(), *argv], env=self.environ, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, preexec_fn=_limits,  # noqa: PLW1509 - one thread
            start_new_session=True,
        ) as bash:  # fmt: skip
            try:
                bash.wait(SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(bash.pid, signal.SIGKILL)
        yield from _per_snippet(log.read_bytes(), len(snippets))

    def _caged(self) -> list[str]:
        if os.geteuid() == 0:
            return ["/usr/sbin/chroot", f"--userspec={NOBODY}:{NOBODY}", str(self.root)]
        return ["unshare", "--user", "--map-root-user", f"--root={self.root}"]

    # ---- foreseeing ----

    def foresee(self, snippet: Snippet) -> tuple[list[tuple[Field, ...]], bool]:
        """The argv that the analysis tells, in order, and whether something in it is opaque."""
        seen: list[tuple[Field, ...]] = []

        def record(call: Call) -> Iterable[None]:
            seen.append(tuple(call.fields))
            return ()

        with pytest.MonkeyPatch.context() as patch:
            for name in STUBS:
                patch.setitem(registry.PROGRAMS, name, record)
            action = Action(
                "1", "s", Layer.SHELL, "shell", {"command": snippet.text}, snippet.cwd, 0.0, root=snippet.cwd
            )
            effects = analyse(action, self.world)
        failed = [e.target for e in effects if "error" in e.how]
        assert not failed, (snippet, failed)
        if "cd" in snippet.text or "pushd" in snippet.text:  # where nobody knows the folder, a glob stands for itself
            seen = [tuple(replace(f, known=f.known and not f.pattern) for f in fields) for fields in seen]
        blind = {"name", "code", "parse"}
        return seen, any(e.kind is Kind.OPAQUE and e.how & blind for e in effects)


def _limits() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 24, 1 << 24))
    resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _per_snippet(log: bytes, count: int) -> Iterator[list[list[str]] | None]:
    ran: list[list[str]] = []
    at = done = 0
    while at < len(log):
        (size,) = struct.unpack_from("=I", log, at)
        argv = log[at + 4 : at + 4 + size].decode("utf-8", "surrogateescape").split("\0")[:-1]
        at += 4 + size
        if argv[0] == "mark":
            yield ran
            ran = []
            done += 1
        else:
            ran.append(argv)
    yield from [None] * (count - done)


# ---- comparing ----


def compare(
    real: Sequence[Sequence[str]],
    ours: Sequence[Sequence[Field]],
    opaque: bool,
    *,
    ordered: bool = True,
    again: bool = False,
) -> str:
    """``same``, ``partly`` (a field of ours is unknown), ``opaque`` (said to be so), or ``wrong``."""
    verdict, at = "same", 0
    left = list(ours)
    for argv in real:
        best = next((n for n in range(at, len(left)) if fits(argv, left[n])), None)
        if best is None:
            return "opaque" if opaque else "wrong"
        verdict = verdict if _exact(argv, left[best]) else "partly"
        if ordered:
            at = best + 1
        elif all(f.known for f in left[best]) and not again:
            del left[best]
    return verdict


def _exact(argv: Sequence[str], fields: Sequence[Field]) -> bool:
    return [f.text for f in fields] == list(argv)


def fits(argv: Sequence[str], fields: Sequence[Field]) -> bool:
    """Unknown fields stand for any number of words. As with a glob, only the last one is ever tried again."""
    at = want = 0
    star, mark = -1, 0
    while at < len(argv):
        if want < len(fields) and fields[want].known and fields[want].text == argv[at]:
            at, want = at + 1, want + 1
        elif want < len(fields) and not fields[want].known:
            star, mark, want = want, at, want + 1
        elif star >= 0:
            mark += 1
            at, want = mark, star + 1
        else:
            return False
    return all(not f.known for f in fields[want:])


def differences(
    cage: Cage, seeds: Iterable[int]
) -> Iterator[tuple[str, Snippet, list[list[str]] | None, list[tuple[Field, ...]]]]:
    """``(verdict, snippet, what ran, what was foreseen)`` of each."""
    todo = list(seeds)
    for start in range(0, len(todo), BATCH):
        batch = [cage.snippet(seed) for seed in todo[start : start + BATCH]]
        for snippet, real in zip(batch, list(cage.run(batch)), strict=True):
            ours, opaque = cage.foresee(snippet)
            text = snippet.text
            # Stages of a pipe run at once, traps at the end, and a loop of unknown length is told of with two rounds.
            ordered = not re.search(r"(?<!\|)\|(?!\|)|trap|while|until|break|continue|eval|for \w+;", text)
            yield (
                "hung"
                if real is None
                else compare(
                    real,
                    ours,
                    opaque,
                    ordered=ordered,
                    again=re.search(r"DEBUG|while|until|break|continue|eval|for \w+;", text) is not None,
                ),
                snippet,
                real,
                ours,
            )
