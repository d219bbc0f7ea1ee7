"""Two other secret scanners and published packages to compare with, for ``bench/secret_scan_accuracy.py``.

All of it is fetched once into a cache outside of the repository. The scanners run without a network (``unshare -n``):
none may send a find anywhere, and none needs to.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sentinel-guard-bench" / "leaks"
TOOLS = ("detect-secrets==1.5.0", "kingfisher-bin==2.14.0")
PYTHON = (
    "ansible-core==2.18.1", "apache-libcloud==3.8.0", "authlib==1.4.0", "boto3==1.35.80", "celery==5.4.0",
    "django==5.1.4", "flask==3.1.0", "httpx==0.28.1", "paramiko==3.5.0", "pyjwt==2.10.1", "pytest==8.3.4",
    "requests==2.32.3", "scrapy==2.12.0", "sphinx==8.1.3", "twisted==24.11.0",
)  # fmt: skip
JAVASCRIPT = (
    "axios@1.7.9", "eslint@9.17.0", "express@4.21.2", "firebase-admin@13.0.2", "jsonwebtoken@9.0.2",
    "mongoose@8.9.2", "nodemailer@6.9.16", "passport@0.7.0", "socket.io@4.8.1", "stripe@17.5.0", "webpack@5.97.1",
)  # fmt: skip
_OFFLINE = ("unshare", "--map-root-user", "--net", "--")

Finds = dict[str, list[tuple[str, int]]]
"""Path below the folder -> rule and line of each find."""


def packages() -> list[Path]:
    """The unpacked packages, a folder each; fetched where they are not there yet."""
    return [_package(name, _from_pypi) for name in PYTHON] + [_package(name, _from_npm) for name in JAVASCRIPT]


def _package(name: str, fetch: Callable[[str, Path], object]) -> Path:
    folder = CACHE / "packages" / name
    if not folder.is_dir():
        packed = CACHE / "packed" / name
        packed.mkdir(parents=True, exist_ok=True)
        fetch(name, packed)
        half = folder.with_name(f"{folder.name}.half")
        for archive in packed.iterdir():
            with tarfile.open(archive) as file:
                file.extractall(half, filter="data")
        half.rename(folder)
    return folder


def _from_pypi(name: str, to: Path) -> None:
    words = ("download", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:", "--dest")
    subprocess.run([sys.executable, "-m", "pip", *words, str(to), name], check=True)


def _from_npm(name: str, to: Path) -> None:
    subprocess.run(["npm", "pack", "--silent", name], cwd=to, check=True, stdout=subprocess.DEVNULL)


def tool(name: str) -> str:
    """A scanner's program, installed in an environment of its own."""
    program = CACHE / "tools" / "bin" / name
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", str(CACHE / "tools")], check=True)
        pip = [str(CACHE / "tools/bin/pip"), "install", "--quiet", "--disable-pip-version-check", *TOOLS]
        subprocess.run(pip, check=True)
    return str(program)


def detect_secrets(folder: Path) -> Finds:
    words = (tool("detect-secrets"), "-C", str(folder), "scan", "--all-files", "--no-verify")
    found = json.loads(_run(*words))["results"]
    return {path: [(row["type"], row["line_number"]) for row in rows] for path, rows in found.items()}


def kingfisher(folder: Path) -> Finds:
    options = (
        "--no-validate",
        "--no-update-check",
        "--git-history",
        "none",
        "--no-dedup",
        "--format",
        "jsonl",
        "--redact",
    )
    found: Finds = defaultdict(list)
    # 200 and 205: it ended well, and there are finds.
    for row in _lines(_run(tool("kingfisher"), "scan", *options, str(folder), ok=(0, 200, 205))):
        rule, finding = row.get("rule"), row.get("finding")
        if isinstance(rule, dict) and isinstance(finding, dict):
            path = os.path.relpath(str(finding["path"]), folder)
            found[path].append((str(rule["id"]), int(finding["line"])))
    return found


def _lines(text: str) -> Iterator[dict[str, object]]:
    yield from (json.loads(line) for line in text.splitlines() if line.startswith("{"))


def _run(*words: str, ok: tuple[int, ...] = (0,)) -> str:
    environ = os.environ | {"KF_RULE_CACHE_DIR": str(CACHE / "rules")}
    done = subprocess.run([*_OFFLINE, *words], capture_output=True, text=True, check=False, env=environ)
    if done.returncode not in ok:
        raise SystemExit(f"{words[0]} ended with {done.returncode}: {done.stderr[-400:]}")
    return done.stdout
