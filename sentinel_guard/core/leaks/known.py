"""Values of the person's own that are secret, found wherever they turn up: no form is needed, nothing is guessed.

Rules of this file:
1. The values live in memory: they are in no repr, in no pickle and in no message.
2. A value is found as it is, percent-encoded and in base64, however it lies in what is encoded with it.
3. Time is linear in the text, whatever the number of values.
4. What everybody knows already is no secret: ``public`` is asked, about what was found only.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, NoReturn
from urllib.parse import quote, quote_plus

from sentinel_guard.core.leaks.base import Grade, Leak
from sentinel_guard.core.leaks.known_values import LONG, SHORT, values_in, values_of
from sentinel_guard.core.leaks.needles import Needles

__all__ = ["MOST", "NOTHING", "Known", "values_in", "values_of"]

MOST = 2000
"""Values that are looked for."""


class _Form(NamedTuple):
    """One way to write one value."""

    value: str
    bound: bool
    """Counts only where no letter or digit is joined to it."""


class Known:
    """The values, each with the words that say where it is from."""

    __slots__ = ("_forms", "_public", "_values")

    def __init__(self, values: Mapping[str, str], public: Callable[[str], bool] = lambda _value: False) -> None:
        """``values``: value -> words (``the value of TOKEN in .env``). ``public``: whether a value is known to all."""
        chosen = [v for v in values if len(v) >= SHORT][:MOST]
        self._values = {v: values[v] for v in chosen}
        self._public = public
        # What a value itself is counts more than what it is an encoding of.
        encoded = {text: form for v in chosen for text, form in _encoded(v)}
        self._forms = Needles(encoded | {v: _Form(v, len(v) < LONG) for v in chosen})

    def find(self, text: str) -> list[Leak]:
        """Every value that stands in the text, in whatever form; sorted, not overlapping, the longest of each."""
        found = list[Leak]()
        for start, end, (value, bound) in self._forms.places(text):
            if (bound and _is_joined(text, start, end)) or self._public(value):
                continue
            # They come in the order of their ends: what begins no later than the one before has that one in it.
            while found and found[-1].start >= start:
                found.pop()
            if not found or found[-1].end <= start:
                found.append(Leak("known-value", "known", self._values[value], Grade.BLOCK, start, end, value))
        return found

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<{len(self)} known values>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("known values stay in memory")


def _is_joined(text: str, start: int, end: int) -> bool:
    before, behind = text[max(0, start - 1) : start + 1], text[end - 1 : end + 1]
    return (start > 0 and before.isalnum()) or (len(behind) > 1 and behind.isalnum())


def _encoded(value: str) -> Iterator[tuple[str, _Form]]:
    quoted = {quote(value, safe=safe, errors="surrogateescape") for safe in ("", "/", "/:=+")}
    quoted |= {quote_plus(value, errors="surrogateescape"), value.replace("/", "\\/"), value.replace('"', '\\"')}
    yield from ((text, _Form(value, len(value) < LONG)) for text in quoted)
    encoded = {form for text in _base64(value) for form in (text, text.replace("+", "-").replace("/", "_"))}
    yield from ((text, _Form(value, bound=False)) for text in encoded if len(text) >= SHORT)


def _base64(value: str) -> Iterator[str]:
    """What base64 makes of the value alone, whatever stands before and behind it."""
    data = value.encode("utf-8", "surrogatepass")
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + data).decode()
        yield whole[-(-8 * before // 6) : 8 * (before + len(data)) // 6]


NOTHING = Known({})
"""No value is known."""
