"""Programs that put a poorer picture in the place of each (mogrify, jpegoptim …): argv -> effects."""

from __future__ import annotations

from collections.abc import Iterable

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.model import Effect, Kind

_PICTURES = ("jpg", "jpeg", "png", "gif", "tif", "tiff", "heic", "webp", "mp3")


def shrink(call: Call) -> Iterable[Effect]:
    """What was there cannot be made again of what comes in its place."""
    into = call.has("-path", "-outdir", "-d", "--dest", "-dir", "--dir", "-out")
    for item in call.operands if not into else ():
        path = call.locate(item) if item.known else ""
        if path and paths.base(path).rpartition(".")[2].lower() in _PICTURES:
            yield call.effect(Kind.DELETE, path, "truncate", sure=call.certain(item.text))


OPTIONS = {"mogrify": options("-resize= -quality= -path= -crop= -rotate= -format= -geometry= | words")}
