"""Ports of this machine at which a project's compose file has a database whose data goes with its container."""

from __future__ import annotations

import re

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.programs.cloud import compose_files, engine_witness

_PORTS = re.compile(r"\bports['\"]?[ \t]*:[ \t]*(\[[^\]]*\]|(?:\n[ \t]*(?:-[ \t].*|#.*))+)")
_PORT = re.compile(
    r"['\"]?(?:(?:127\.0\.0\.1|localhost|0\.0\.0\.0):)?(\d+):\d+(?:/tcp)?['\"]?(?=\s*(?:[,\]#]|$))", re.MULTILINE
)
_IMAGE = re.compile(r"(?m)^[ \t]*['\"]?image['\"]?[ \t]*:[ \t]*['\"]?([\w./:@-]+)['\"]?[ \t]*(?:#.*)?$")
_OTHERWISE = re.compile(
    r"\b(?:build|entrypoint|network_mode|env_file|extends|profiles|replicaof|slaveof)\b|\$|<<|\*\w"
    r"|\bcommand['\"]?[ \t]*:(?![\s\[\-'\"]*(?:-|postgres|mysqld|mariadbd|redis-server|valkey-server|mongod)\b)"
)
"""What may make another program of a service than its image is."""
_VARIABLE = re.compile(r"\b([A-Z][A-Z0-9_]*)['\"]?[ \t]*[:=]")
_FILES = re.compile(r"(?:docker-)?compose[\w.-]*\.ya?ml")


def lost_with_container(world: Overlay, folder: str) -> frozenset[str]:
    """The ports in the compose file of a folder; none that another file there speaks of, or whose service keeps its
    data by one, and none where the text has written such a file.
    """
    near = (*world.glob(f"{folder}/*compose*"), *world.glob(f"{folder}/*/*compose*"))
    found = [path for path in near if _FILES.fullmatch(paths.base(path))]
    usual = next((path for name in compose_files.NAMES if (path := f"{folder}/{name}") in found), "")
    text = compose_files.without_comments(world.read(usual) or "") if usual else ""
    written = any(path in world.made() or path in world.copies or world.is_unseen(path) for path in found)
    if written or compose_files.ELSEWHERE.search(text) or world.fulfils(f"{folder}/.env", compose_files.chooses):
        return frozenset()
    others = [compose_files.without_comments(world.read(path) or "") for path in found if path != usual]
    kept = {name for name, lines in compose_files.joined(others).items() if compose_files.keeps(lines)}
    services = {name: lines for name, lines in compose_files.joined([text]).items() if name not in kept}
    ports = {port for lines in services.values() if _goes(lines) for port in _published(lines)}
    return frozenset(
        port for port in ports if len(re.findall(rf"(?<!\d){port}(?!\d)", "\n".join([text, *others]))) == 1
    )


def _published(lines: str) -> list[str]:
    return [port for block in _PORTS.findall(lines) for port in _PORT.findall(block)]


def _goes(lines: str) -> bool:
    """Whether a service is a server by its image, led nowhere else, and keeps nothing."""
    image = _IMAGE.search(lines)
    known = image is not None and engine_witness.is_server(image[1])
    told = any(map(engine_witness.says_server, _VARIABLE.findall(lines)))
    return known and not told and not _OTHERWISE.search(lines) and not compose_files.keeps(lines)
