"""Schemas and databases that code makes under a name which nobody has used, and drops again: nothing of anybody's goes.

Such a name bears the number of the process, the time or a random value, as ``$$`` does in a shell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sentinel_guard.core.model import Effect, Kind

_NAMED = re.compile(
    r"(?m)^[ \t]*(?:const\s+)?(?P<name>[A-Za-z_]\w*)\s*=\s*"
    r"(?:`[\w-]*\$\{(?P<value>[^{}`]+)\}`|f([\"'])[\w-]*\{(?P<in_python>[^{}\"']+)\}\3);?[ \t]*$"
)
_NEW = re.compile(
    r"process\.pid|Date\.now\(\)|(?:crypto\.)?randomUUID\(\)(?:\.replace(?:All)?\([^()]*\)|\.slice\([^()]*\))*"
    r"|os\.getpid\(\)|(?:uuid\.)?uuid4\(\)\.hex(?:\[:\d+\])?|secrets\.token_hex\(\d*\)"
)
_DROPS = re.compile(r"\bdrop\s+(?:schema|database)\b", re.IGNORECASE)
_DROPS_NAMED = r"(?i:\bdrop\s+(?:schema|database)\s+(?:if\s+exists\s+)?)\\?\"?%s\\?\"?(?i:\s+cascade)?\s*;?\s*[`\"']"
_DROPPED = re.compile(r"drop\s+(?:schema|database)\s+(?:if\s+exists\s+)?\S*\?\S*(?:\s+cascade)?\s*;?", re.IGNORECASE)


def without(effects: Iterable[Effect], text: str) -> Iterator[Effect]:
    """The effects of a text of code but for the drops of such names."""
    found = [*effects]
    lost = [e for e in found if e.kind is Kind.DATABASE and _DROPPED.fullmatch(e.target)]
    spared = lost if 0 < len(lost) <= _own_drops(text) else []
    yield from (effect for effect in found if effect not in spared)


def _own_drops(text: str) -> int:
    """How many drops stand in a text, where each is of a name that is bound once, to a new one; else none."""
    own = 0
    for match in _NAMED.finditer(text):
        put_in = rf"{'' if match['in_python'] else '[$]'}\{{{match['name']}\}}"
        if _NEW.fullmatch(match["value"] or match["in_python"]) and _is_bound_once(match["name"], put_in, text):
            own += len(re.findall(_DROPS_NAMED % put_in, text))
    return own if own == len(_DROPS.findall(text)) else 0


def _is_bound_once(name: str, put_in: str, text: str) -> bool:
    """Whether a name stands nowhere but where it is bound and where it is put in, or is the value of a key."""
    used = rf"{put_in}|:\s*\[?{name}\b\]?(?=\s*[,}}])|(?m:^[ \t]*(?:const\s+)?{name}\s*=(?!=))"
    named = re.findall(rf"(?<!create )(?<!drop )\b{name}\b", text, re.IGNORECASE)
    return len(re.findall(used, text)) == len(named) and len(re.findall(rf"\b{name}\s*=(?!=)", text)) == 1
