"""Several restorers as one: each path belongs to the first that wants it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sentinel_guard.host.file_integrity.file_change import Tampering
from sentinel_guard.host.file_integrity.restore_restricted_files import RestrictedFileRestorer

Member = tuple[Callable[[str], bool], RestrictedFileRestorer]
"""Whether an absolute path is a restorer's, and the restorer."""


class RestorerGroup:
    """The restorers of one session; paths absolute. Safe to call from several threads."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._members = tuple(members)
        self.restorers = tuple(restorer for _, restorer in members)

    def check(self, path: str) -> Tampering | None:
        """Look at one path."""
        restorer = self._of(path)
        return restorer.check(path) if restorer else None

    def check_below(self, folder: str) -> list[Tampering]:
        """Look at every original below a folder that went away."""
        return [found for restorer in self.restorers for found in restorer.check_below(folder)]

    def sweep(self, *, by_content: bool = False) -> list[Tampering]:
        """Look at every original."""
        return [found for restorer in self.restorers for found in restorer.sweep(by_content=by_content)]

    def knows(self, path: str) -> bool:
        """Whether a path has an original."""
        restorer = self._of(path)
        return restorer is not None and restorer.knows(path)

    def announce(self, path: str, until: float, since: float = 0.0) -> None:
        """Open a window for a path, in every restorer whose tree holds it."""
        for restorer in self.restorers:
            if restorer.holds(path):
                restorer.announce(path, until, since)

    def let_create(self, path: str) -> None:
        """The session may make this file, at which nothing is."""
        if restorer := self._of(path):
            restorer.let_create(path)

    def close(self, path: str) -> bool:
        """End the windows of a path; False where none is open."""
        closed = [restorer.close(path) for restorer in self.restorers if restorer.holds(path)]
        return any(closed)

    def windows(self) -> dict[str, float]:
        """The open windows: path -> until (epoch seconds)."""
        return {path: until for restorer in self.restorers for path, until in restorer.windows().items()}

    def expect_git(self, until: float) -> None:
        """Until then (epoch seconds) git may bring files to what its index holds."""
        for restorer in self.restorers:
            restorer.expect_git(until)

    def expects_git(self, path: str) -> bool:
        """Whether git may bring a path to what its index holds now."""
        restorer = self._of(path)
        return restorer is not None and restorer.expects_git

    def settle(self, path: str, *, yes: bool) -> Tampering | None:
        """A person's word on a change that was in question."""
        restorer = self._of(path)
        return restorer.settle(path, yes=yes) if restorer else None

    @property
    def in_question(self) -> tuple[str, ...]:
        """Paths whose change waits for a person's word."""
        return tuple(path for restorer in self.restorers for path in restorer.in_question)

    def versions(self, tampering: Tampering) -> tuple[bytes | None, bytes | None]:
        """The bytes before and after."""
        restorer = self._of(tampering.path)
        return restorer.versions(tampering) if restorer else (None, None)

    def _of(self, path: str) -> RestrictedFileRestorer | None:
        return next((restorer for wants, restorer in self._members if wants(path)), None)
