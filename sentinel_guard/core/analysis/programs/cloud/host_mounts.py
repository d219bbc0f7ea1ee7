"""Containers and virtual machines besides docker that are given folders of this machine: apptainer, lxc, lima …

What docker and podman are given stands in ``containers.py``. Here a folder counts where it is the whole machine, a home
or a folder of the system; of who runs it as the same user nobody becomes root, so that it is a question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.command_and_options import Call
from sentinel_guard.core.model import Effect, Kind

_SYSTEM = ("/etc", "/root", "/boot", "/proc", "/sys", "/dev", "/usr", "/var", "/run", "/lib", "/bin")
_HOST = frozenset(("/", "/home", *_SYSTEM))


class _Engine(NamedTuple):
    """How folders are named to an engine."""

    options: tuple[str, ...] = ()
    """``SOURCE[:TARGET]``, lists at commas, or ``source=…`` among them."""
    words: tuple[str, ...] = ()
    """Verbs whose operands are folders: ``multipass mount / vm``."""
    root: bool = False
    """What runs in it is root on this machine."""
    keys: bool = False
    """``source=/`` stands as a word of its own."""


_SAME_USER = _Engine(("-B", "--bind", "--mount", "--scratch"))
_BY_VOLUME = _Engine(("-v", "--volume", "--mount"))
_LXD = _Engine(keys=True, root=True)
_ENGINES = {
    "apptainer": _SAME_USER, "singularity": _SAME_USER, "ch-run": _Engine(("-b", "--bind")),
    "pack": _Engine(("--volume",)), "finch": _BY_VOLUME,
    "buildah": _BY_VOLUME, "udocker": _BY_VOLUME, "distrobox": _BY_VOLUME, "distrobox-create": _BY_VOLUME,
    "enroot": _Engine(("-m", "--mount")), "sarus": _Engine(("--mount",)), "shifter": _Engine(("-V", "--volume")),
    "ctr": _Engine(("--mount",), root=True), "limactl": _Engine(("--mount", "--mount-only")),
    "colima": _Engine(("--mount", "-V")),
    "multipass": _Engine(("--mount",), ("mount",)), "minikube": _Engine(("--mount-string",), ("mount",)),
    "machinectl": _Engine(words=("bind",), root=True), "lxc": _LXD, "incus": _LXD,
    "wasmtime": _Engine(("--dir", "--mapdir")), "wasmer": _Engine(("--dir", "--mapdir", "--volume")),
}  # fmt: skip
_RUNS_AS_USER = frozenset(("apptainer", "singularity"))
_VALUED = frozenset(
    ("-B", "--bind", "--mount", "--env", "--env-file", "-H", "--home", "--pwd", "--cwd", "-W", "--workdir", "-S",
     "--scratch",
     "-o", "--overlay", "--app", "--network", "--hostname", "--dns", "--add-caps", "--drop-caps", "--security", "--net")
)  # fmt: skip


def reached(call: Call) -> Iterator[Effect]:
    """What of this machine lies open in the container, and what its command does where it runs as the same user."""
    engine = _ENGINES[call.command.program]
    for folder in _folders(call, engine):
        path = call.locate(folder)
        if path in _HOST or path.rstrip("/") == call.world.home:
            yield call.effect(Kind.PRIVILEGE, "container host mount", sure=engine.root)
    if call.command.program in ("lxc", "incus") and "security.privileged=true" in call.command.argv:
        yield call.effect(Kind.PRIVILEGE, "container --privileged")
    if call.command.program in _RUNS_AS_USER:
        yield from _started(call)


def _folders(call: Call, engine: _Engine) -> Iterator[str]:
    words = [item.text for item in call.fields[1:]]
    given = [after for word, after in pairwise(words) if word in engine.options]
    given += [word.partition("=")[2] for word in words if word.partition("=")[0] in engine.options and "=" in word]
    if engine.words and words[:1] and words[0] in engine.words:
        given += [word for word in words[1:] if word[:1] in "/~"]
    given += [word for word in words if engine.keys and word.startswith("source=")]
    for value in given:
        for part in value.split(","):
            key, sign, folder = part.partition("=")
            if not sign or key in ("source", "src"):
                yield re.split(r"::?", folder if sign else part)[0]


def _started(call: Call) -> Iterable[Effect]:
    """``apptainer exec [OPTIONS] IMAGE COMMAND``: the home and the current folder are this machine's."""
    fields = call.fields[1:]
    if not fields or fields[0].text != "exec":
        return ()
    at = 1
    while at < len(fields) and fields[at].text[:1] == "-":
        at += 2 if fields[at].text in _VALUED else 1
    return call.runner.run(fields[at + 1 :], call, call.command.program) if fields[at + 1 :] else ()


PROGRAMS: dict[str, Callable[[Call], Iterable[Effect]]] = dict.fromkeys(_ENGINES, reached)
