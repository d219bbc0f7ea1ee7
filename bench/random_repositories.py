"""Generates random git repositories, the same in every run: for ``bench/recovery_speed.py`` and for use by hand.

``python -m bench.random_repositories [FILES]`` makes them and prints where. Nested folders, text of 1 to 20 KB, ten
commits that each touch some files, an ignored folder half as large, ``.env``. Made once below the temporary folder.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

SIZES = (200, 5_000, 40_000)
VERSION = 1
"""Counts up where what is made changes: what lies in the cache is then made anew."""
COMMITS = 10
TOUCHED = 50
"""Files of which a later commit changes one."""
WHO = "Bench <bench@example.com>"
EPOCH = 1_700_000_000
WORDS = ("self", "value", "total", "index", "order", "cart", "price", "return", "if", "not", "for", "in", "and", "None")
IGNORED = "build/\n.env\n*.log\n"


def repository(count: int) -> Path:
    """The top of a clean repository with so many tracked files; whoever changes it puts it back as it was."""
    cache = Path(tempfile.gettempdir(), f"sentinel-bench-{VERSION}")
    root = cache / str(count)
    if not root.exists():
        aside = cache / f"{count}.new"
        shutil.rmtree(aside, ignore_errors=True)
        _make(aside, count)
        aside.rename(root)
    # The index of a folder that was renamed or lay long knows other change times.
    git(root, "update-index", "-q", "--refresh")
    return root


def git(root: Path, *arguments: str, stdin: bytes | None = None) -> bytes:
    command = ["git", "-c", "core.fsmonitor=false", "-c", "gc.auto=0", *arguments]
    return subprocess.run(command, cwd=root, check=True, input=stdin, stdout=subprocess.PIPE).stdout


def names(count: int) -> list[str]:
    """Tracked files: some 20 in a folder, up to five folders deep."""
    return [f"{_folder(number // 20)}/module_{number}.py" for number in range(count)]


def _folder(number: int) -> str:
    parts = [f"area{number % 7}"]
    while number := number // 7:
        parts.append(f"part{number % 7}")
    return "/".join(parts)


class Texts:
    """Source-like text by chance."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._lines = ["    " * self._chance.randrange(4) + self._line() for _ in range(4_000)]

    def _line(self) -> str:
        return " ".join(self._chance.choices(WORDS, k=self._chance.randrange(2, 14))) + "\n"

    def next(self) -> bytes:
        """1 to 20 KB, most of them small."""
        size = min(20_000, int(1_000 * self._chance.paretovariate(1.2)))
        first = self._chance.randrange(len(self._lines))
        text = f"# {self._chance.getrandbits(64):x}\n" + "".join(self._lines[first : first + size // 40])
        return text.encode()


def _make(root: Path, count: int) -> None:
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    texts = Texts(count)
    git(root, "fast-import", "--quiet", stdin=b"".join(_history(names(count), texts)))
    git(root, "reset", "-q", "--hard")
    for number in range(count // 2):
        built = root / "build" / f"out{number % 50}" / f"{number}.o"
        built.parent.mkdir(parents=True, exist_ok=True)
        built.write_bytes(texts.next())
    (root / ".env").write_text("TOKEN=not-a-secret\n")


def _history(files: list[str], texts: Texts) -> Iterator[bytes]:
    """The commits as git's fast-import reads them."""
    for number in range(COMMITS):
        touched = files if number == 0 else files[number::TOUCHED]
        words = f"commit {number}".encode()
        yield f"commit refs/heads/main\ncommitter {WHO} {EPOCH + number} +0000\ndata {len(words)}\n".encode() + words
        if number == 0:
            yield _file(".gitignore", IGNORED.encode())
        for name in touched:
            yield _file(name, texts.next())


def _file(name: str, data: bytes) -> bytes:
    return f"\nM 100644 inline {name}\ndata {len(data)}\n".encode() + data


if __name__ == "__main__":
    for wanted in [int(word) for word in sys.argv[1:]] or SIZES:
        print(repository(wanted))
