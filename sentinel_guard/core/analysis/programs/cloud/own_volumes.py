"""Volumes that the session made: to make one succeeds where it is there, so that its name is the witness."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.command_and_options import Call, Parsed
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.cloud import container_engines, engine_witness, own_containers

_OF_TRIALS = re.compile(
    r"(?i)(?:.*[_.-])?(?:tests?|scratch|tmp|temp|trial|throwaway|probe|repro|sandbox)(?:[_.-].*|\d*)"
)
_OF_ANYBODY = re.compile(
    r"(?i)(?:pg|postgres(?:ql)?|my_?sql|maria(?:db)?|mongo(?:db)?|redis|db|app|minio|rabbit(?:mq)?|kafka|elastic\w*)?"
    r"[_-]?(?:data|db|cache|volume|storage|store|backup)?s?"
)
"""Names that another project's volume may well have."""
_OF_BUILDS = re.compile(r"(?i).+[_.-](?:build|target|cargo|ccache|gradle|m2|node_modules|deps|npm|pip)")
"""Names of volumes that hold what a build makes, or fetches, again."""
_PLAIN = frozenset(
    ("type", "source", "src", "target", "destination", "dst", "readonly", "ro", "volume-nocopy", "volume-subpath")
)
_LEADS_AWAY = re.compile(r"--(?:driver|opt)(?:=.*)?|-[do].*")
"""Options by which a volume is a folder of this machine, or another machine's."""


class Mount(NamedTuple):
    """What a container is given."""

    source: str
    """A volume's name or a folder; else the text of the option, which is nobody's name."""
    inside: str
    is_volume: bool


def mounted(parsed: Parsed) -> Iterator[Mount]:
    """All that ``-v`` and ``--mount`` name."""
    for item in parsed.values("-v", "--volume"):
        source, colon, rest = item.text.partition(":")
        yield Mount(source, rest.partition(":")[0], bool(colon and source) and source[0] not in "/.~$")
    for item in parsed.values("--mount"):
        keys = dict(pair.partition("=")[::2] for pair in item.text.split(","))
        is_volume = keys.get("type", "volume") == "volume"
        name = keys.get("source") or keys.get("src") or ""
        inside = keys.get("target") or keys.get("destination") or keys.get("dst") or ""
        yield Mount(name if is_volume and _PLAIN.issuperset(keys) else item.text, inside, is_volume)


def note(call: Call, name: str) -> None:
    """A volume comes, or was there already, under a name that says what it is for."""
    if not re.fullmatch(r"[\w.-]+", name) or _OF_ANYBODY.fullmatch(name) or not container_engines.is_here(call):
        return
    if not (_OF_TRIALS.fullmatch(name) or _OF_BUILDS.fullmatch(name)) or call.has("--volume-driver"):
        return
    if not own_containers.is_somebodys(call, name):
        call.world.own.add(f"volume {name}")


def note_created(call: Call) -> None:
    """``docker volume create [OPTIONS] NAME``."""
    name = call.operands[-1]
    if name.known and not any(_LEADS_AWAY.fullmatch(item.text) for item in call.fields[1:]):
        note(call, name.text)


def is_own(call: Call, item: Field) -> bool:
    """Whether the session made a volume, by its name or as the engine says."""
    if not item.known or not container_engines.is_here(call):
        return False
    return call.world.is_own(f"volume {item.text}") or engine_witness.is_own_volume(call, item.text)
