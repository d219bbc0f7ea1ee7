"""Small real repositories for the tests of what git hooks decide, and secrets that no one ever had."""

from __future__ import annotations

import os
import random
import string
import subprocess
import zlib
from pathlib import Path


def git(folder: Path, *args: str, check: bool = True, **more: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, **more}
    command = ["git", *args]
    return subprocess.run(
        command, cwd=folder, check=check, capture_output=True, text=True, errors="replace", env=environ
    )


def made(folder: Path) -> Path:
    """A repository with one commit."""
    git(folder.parent, "init", "-q", str(folder))
    put(folder, "README.md", "hello\n")
    committed(folder, "first")
    return folder


def put(root: Path, name: str, text: str | bytes = "x\n") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def committed(root: Path, message: str = "change", *more: str) -> str:
    """All that is in the work tree as a commit, past any hook; its id."""
    git(root, "add", "-f", "-A", ".")
    git(root, "commit", "-q", "--no-verify", "--allow-empty", "-m", message, *more)
    return head(root)


def head(root: Path, name: str = "HEAD") -> str:
    return git(root, "rev-parse", name).stdout.strip()


def token(seed: int = 1) -> str:
    """A GitHub token by its form and checksum, made here."""
    letters = string.digits + string.ascii_uppercase + string.ascii_lowercase
    body = "".join(random.Random(seed).choices(letters, k=30))
    rest, check = zlib.crc32(body.encode()), ""
    while rest:
        rest, digit = divmod(rest, 62)
        check = letters[digit] + check
    return "ghp" + "_" + body + check.rjust(6, "0")


TOKEN = token()


def card(seed: int = 1) -> str:
    """A number as payment cards have, by its form and check digit, made here."""
    digits = [4, 7, 3, *random.Random(seed).choices(range(10), k=12)]
    doubled = [sum(divmod(2 * d, 10)) if n % 2 == 0 else d for n, d in enumerate(digits)]
    text = "".join(map(str, [*digits, -sum(doubled) % 10]))
    return " ".join(text[at : at + 4] for at in range(0, 16, 4))
