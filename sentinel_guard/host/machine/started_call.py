"""Calls that run beside the caller, each in a thread of its own: ``concurrent.futures`` takes longer to import than git
takes to tell most of what it is asked.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Generic, Self, TypeVar

T = TypeVar("T")


class StartedCall(Generic[T]):
    """A call that is under way. As a context manager it is waited for at the end, however that comes."""

    def __init__(self, work: Callable[[], T], *, holds: bool = True) -> None:
        """``holds``: the process does not end before it."""
        self._work, self._found = work, list[T]()
        self._error: BaseException | None = None
        context = contextvars.copy_context()
        self._thread = threading.Thread(target=context.run, args=(self._run,), daemon=not holds)
        self._thread.start()

    def result(self) -> T:
        """What it returned. Raises what it raised."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found[0]

    def ends_within(self, seconds: float) -> bool:
        """Wait for it, at most so long; whether it has ended."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._thread.join()

    def _run(self) -> None:
        try:
            self._found.append(self._work())
        except BaseException as e:  # noqa: BLE001 - whoever asks for the result gets it
            self._error = e


def together(*calls: Callable[[], T]) -> list[T]:
    """The results of calls that run at the same time. Raises what the first of them raised, once all have ended."""
    started = [StartedCall(call) for call in calls]
    for call in started:
        call.ends_within(threading.TIMEOUT_MAX)
    return [call.result() for call in started]
