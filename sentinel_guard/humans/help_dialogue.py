"""What a person says to a session's agent, and who of it hears that (R8).

Rules of this file:
1. Every call for help that waits hears each word. Where none waits, the agent's next command tells it.
2. Calls for help beyond ``CALLS`` in ``SECONDS`` are refused: a bell that rings all the time is switched off.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Iterator

CALLS, SECONDS = 3, 60.0
SAID = "SENTINEL: the user says: {}"
UNHEARD = 20
"""Words that are kept for the agent's next command; older ones are on record only."""


class Dialogue:
    """Of one session."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Queue[str | None]] = set()
        self._unheard: deque[str] = deque(maxlen=UNHEARD)
        self._calls: deque[float] = deque(maxlen=CALLS)

    def say(self, text: str) -> None:
        """The person says something."""
        for words in self._waiting:
            words.put_nowait(text)
        self.missed(text)

    def missed(self, text: str) -> None:
        """Who waited was gone when it came: it is kept, but where another one has heard it."""
        if not self._waiting:
            self._unheard.append(text)

    def end(self) -> None:
        """The person has given autonomy back."""
        for words in self._waiting:
            words.put_nowait(None)

    def take_unheard(self) -> list[str]:
        """What nobody has heard yet, oldest first; from then on it is heard."""
        taken = [*self._unheard]
        self._unheard.clear()
        return taken

    async def tell(self, hold: Callable[[str], Awaitable[None]]) -> None:
        """Tell a command of the agent's what nobody has heard yet."""
        for word in self.take_unheard():
            await hold(SAID.format(word))

    def called(self, now: float) -> float:
        """Count a call for help at ``now`` (seconds); seconds until the next one is taken, 0 where this one is."""
        if len(self._calls) == CALLS and (left := self._calls[0] + SECONDS - now) > 0:
            return left
        self._calls.append(now)
        return 0.0

    @contextlib.contextmanager
    def heard(self) -> Iterator[asyncio.Queue[str | None]]:
        """What the person says while this lasts; None where they give autonomy back."""
        words: asyncio.Queue[str | None] = asyncio.Queue()
        self._waiting.add(words)
        try:
            yield words
        finally:
            self._waiting.discard(words)
