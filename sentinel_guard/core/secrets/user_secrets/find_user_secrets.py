"""Find the user's own secret values in a text, as they are or encoded: by exact match, not by format.

Rules of this file:
1. The values live in memory: they are in no repr, in no pickle and in no message.
2. A value is found as it is, percent-encoded, in base64 and as hexadecimal digits, however it lies in what is encoded
   with it, folded into lines too.
3. Time is linear in the text, whatever the number of values.
4. What everybody knows already is no secret: ``public`` is asked, about what was found only.
5. Lines of one key are one find.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple, NoReturn

from sentinel_guard.core.secrets.model import Grade, SecretFind
from sentinel_guard.core.secrets.user_secrets.choose_secret_values import LONG, SHORT, values_in, values_of
from sentinel_guard.core.secrets.user_secrets.encoded_forms import alike, inside, unfolded
from sentinel_guard.core.secrets.user_secrets.truncated_match import Edges
from sentinel_guard.core.text.aho_corasick import KeywordSearch

__all__ = ["MOST", "NOTHING", "UserSecrets", "values_in", "values_of"]

MOST = 2000
"""Values that are looked for."""
_JOINT = re.compile(r".{0,3}|(?:\\[nrt]|%0[AaDd]|[^A-Za-z0-9]){0,40}", re.DOTALL)
"""What stands between two lines of one value, in whatever they are written."""


class _Form(NamedTuple):
    """One way to write one value."""

    value: str
    bound: bool
    """Counts only where no letter or digit is joined to it."""


Public = Callable[[Collection[str]], Collection[str]]
"""Which of some values are known to all."""


class UserSecrets:
    """The values, each with the words that say where it is from."""

    __slots__ = ("_edges", "_forms", "_homes", "_public", "_texts", "_values")

    def __init__(
        self,
        values: Mapping[str, str],
        public: Public = lambda _values: (),
        homes: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        """``values``: value -> words (``the value of TOKEN in .env``). ``homes``: value -> the files that hold it."""
        chosen = [v for v in values if len(v) >= SHORT][:MOST]
        self._values = {v: values[v] for v in chosen}
        self._public, self._homes = public, homes or {}
        # What a value itself is counts more than what it is an encoding of.
        encoded = {text: form for v in chosen for text, form in _encoded(v)}
        rows: dict[str, _Form] = encoded | {v: _Form(v, len(v) < LONG) for v in chosen}
        self._forms, self._texts = KeywordSearch(rows), tuple(rows)
        self._edges: Edges | None = None

    def find(self, text: str, path: str = "") -> list[SecretFind]:
        """Every value that stands in the text, in whatever form; sorted, not overlapping, the longest of each.

        ``path``: the file that is to hold the text; what is at home there is none.
        """
        found = self._every(text, path)
        public = self._public({leak.value for leak in found}) if found else ()
        return _joined(text, (leak for leak in found if leak.value not in public))

    def every(self, text: str) -> list[SecretFind]:
        """As ``find``; what is known to all, too. Asks nobody."""
        return _joined(text, self._every(text)) if self._values else []

    def everywhere(self) -> UserSecrets:
        """The same values, at home in no file: what leaves the machine leaves home."""
        twin = UserSecrets({}, self._public)
        twin._forms, twin._values, twin._texts = self._forms, self._values, self._texts
        return twin

    @property
    def edges(self) -> Edges:
        """What tells a piece of a value where a text was cut."""
        if self._edges is None:
            self._edges = Edges(self._texts)
        return self._edges

    def _every(self, text: str, path: str = "") -> list[SecretFind]:
        places = [
            (start, end, form) for start, end, form in self._forms.places(text) if _stands(text, start, end, form)
        ]
        if folded := list(self._folded(text)):
            places = sorted([*places, *folded], key=lambda place: (place[1], place[0]))
        found = list[SecretFind]()
        for start, end, (value, _) in places:
            if path and path in self._homes.get(value, ()):
                continue
            # They come in the order of their ends: what begins no later than the one before has that one in it.
            while found and found[-1].start >= start:
                found.pop()
            if not found or found[-1].end <= start:
                found.append(SecretFind("known-value", "known", self._values[value], Grade.BLOCK, start, end, value))
        return found

    def _folded(self, text: str) -> Iterator[tuple[int, int, _Form]]:
        """What the end of a line parts."""
        for folded in unfolded(text) if self._values else ():
            for start, end, form in self._forms.places(folded.text):
                first, last = folded.place(start), folded.place(end - 1) + 1
                if last - first > end - start and _stands(folded.text, start, end, form):
                    yield first, last, form

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<{len(self)} known values>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("known values stay in memory")


def _stands(text: str, start: int, end: int, form: _Form) -> bool:
    """Whether it is no part of a longer word, where that counts."""
    before, behind = text[max(0, start - 1) : start + 1], text[end - 1 : end + 1]
    joined = (start > 0 and before.isalnum()) or (len(behind) > 1 and behind.isalnum())
    return not (form.bound and joined)


def _joined(text: str, leaks: Iterable[SecretFind]) -> list[SecretFind]:
    """Finds of the same words that follow one another are the lines of one value."""
    found, last = list[SecretFind](), ""
    for leak in leaks:
        before = found[-1] if found else leak
        if before.what == leak.what and last != leak.value and _JOINT.fullmatch(text, before.end, leak.start):
            found[-1] = replace(before, end=leak.end, value=text[before.start : leak.end])
        else:
            found.append(leak)
        last = leak.value
    return found


def _encoded(value: str) -> Iterator[tuple[str, _Form]]:
    yield from ((text, _Form(value, len(value) < LONG)) for text in alike(value))
    yield from ((text, _Form(value, bound=False)) for text in inside(value) if len(text) >= SHORT)


NOTHING = UserSecrets({})
"""No value is known."""
