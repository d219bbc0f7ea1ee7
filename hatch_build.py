"""Builds the native programs into the package, for wheels and for editable installs.

The system's C compiler does it; only where there is none does the build ask for the ``ziglang`` wheel.
A static program needs no libc of the machine it runs on, so its wheel may go anywhere. With musl it starts 0.5 ms
faster in a virtual machine than with glibc, whose start asks the processor what each time leaves the machine.
"""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).resolve().parent
SOURCES = ROOT / "sentinel_guard" / "launcher"
BROKER = ROOT / "sentinel_guard" / "broker"
SHARED = ("base.c", "wire.c", "hmac.c")
"""Of the launcher's sources: what the broker is built with, too."""
FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-O2")
COMPILERS = ("musl-gcc", "cc", "gcc", "clang")


class LauncherBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Compiles ``sentinel_guard/launcher/*.c`` to ``sentinel-launcher`` beside them, and the broker's the same way."""

    def dependencies(self) -> list[str]:
        return [] if system_compiler() else ["ziglang"]

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        static = build_launcher(SOURCES / "sentinel-launcher") and build_broker(BROKER / "sentinel-broker")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{wheel_platform(static=static)}"
        build_data["artifacts"] += [
            "/sentinel_guard/launcher/sentinel-launcher",
            "/sentinel_guard/broker/sentinel-broker",
        ]


def build_launcher(target: Path, sources: Path = SOURCES, *options: str) -> bool:
    """Compiles the launcher to ``target``, static where the system can. Returns whether it is static.

    Raises RuntimeError with the compiler's words where it does not compile.
    """
    return _build(compiler(), sorted(sources.glob("*.c")), target, [*options])


def build_broker(target: Path, *options: str) -> bool:
    """Compiles the broker of held system calls to ``target``, as ``build_launcher``; ``options`` of the compiler."""
    # musl-gcc does not know the kernel's headers.
    command = system_compiler(COMPILERS[1:]) or compiler()
    sources = [*sorted(BROKER.glob("*.c")), *(SOURCES / name for name in SHARED)]
    return _build(command, sources, target, ["-pthread", *options])


def system_compiler(names: Sequence[str] = COMPILERS) -> list[str] | None:
    """The C compiler as a command: $CC, else the first of the names that is there; None where there is none."""
    named = shlex.split(os.environ.get("CC", ""))
    if named and shutil.which(named[0]):
        return named
    return next(([name] for name in names if shutil.which(name)), None)


def compiler() -> list[str]:
    """The system's compiler, else the ``ziglang`` wheel's."""
    return system_compiler() or [sys.executable, "-m", "ziglang", "cc", "-target", f"{platform.machine()}-linux-musl"]


def wheel_platform(*, static: bool) -> str:
    """The wheel tag's last part, e.g. ``manylinux_2_17_x86_64.musllinux_1_1_x86_64``."""
    machine = platform.machine()
    return f"manylinux_2_17_{machine}.musllinux_1_1_{machine}" if static else f"linux_{machine}"


def _version() -> str:
    found = re.search(r'__version__ = "(.+)"', (ROOT / "sentinel_guard" / "__init__.py").read_text())
    if not found:
        raise RuntimeError("sentinel_guard/__init__.py names no __version__")
    return found[1]


def _build(command: list[str], sources: list[Path], target: Path, options: list[str] | None = None) -> bool:
    if _compile(command, sources, target, ["-static", *(options or [])]) is None:
        return True
    words = _compile(command, sources, target, options or [])
    if words is not None:
        raise RuntimeError(f"{target.name} does not compile with {command[0]}:\n{words}")
    return False


def _compile(compiler: list[str], sources: list[Path], target: Path, more: list[str]) -> str | None:
    """None when it worked, else what the compiler said. Written aside, then renamed: the old one may be running."""
    aside = target.with_name(f".{target.name}.{os.getpid()}")
    command = [*compiler, *FLAGS, *more, f'-DSENTINEL_VERSION="{_version()}"', "-s", "-o", str(aside)]
    command += map(str, sources)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        aside.unlink(missing_ok=True)
        return done.stderr
    aside.chmod(0o755)
    aside.replace(target)
    return None
