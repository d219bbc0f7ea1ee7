"""Read-only interface to the machine for the analysis: file system, environment variables, lookup in PATH."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol

from sentinel_guard.core.analysis.engine_facts import Engine
from sentinel_guard.core.analysis.running_processes import Running, Selection

MAX_READ = 256 * 1024
"""Bytes of a script that are looked at."""


class Peek(NamedTuple):
    """The beginning of a text file."""

    text: str
    whole: bool
    """False: there is more."""


class World(Protocol):
    """From host/world.py in the product, from tests/support/fakes.py in tests.

    All paths absolute, ``surrogateescape`` text.
    """

    home: str
    environ: Mapping[str, str]
    """The environment at the start of the session."""

    shims: tuple[str, ...]
    """Folders of PATH with the guard's own programs; none outside of a session."""

    @property
    def cut(self) -> bool:
        """True where the last glob was not looked at whole: what it gave proves nothing."""

    def resolve(self, path: str) -> str:
        """The path with every symbolic link followed, as far as it exists. Never raises."""

    def kind(self, path: str) -> str:
        """``file``, ``dir``, ``link``, ``device``, ``other`` or ``""`` for nothing there; links are not followed."""

    def spelled(self, path: str) -> str:
        """The path with its last name as the folder lists it, where names that differ in case or in the encoding of
        their accents are one file; elsewhere, and for what is not there, the path itself.
        """

    def names(self, paths: Iterable[str], top: str) -> Mapping[str, tuple[str, ...]]:
        """Path -> other names below ``top`` of the very same file (hard links), in one look; most files have none."""

    def glob(self, pattern: str) -> tuple[str, ...]:
        """Existing paths that match a shell pattern, sorted, at most 1,000."""

    def matters(self, path: str) -> bool:
        """Whether a path counts by its own name, however many others a pattern takes in: it may hold secrets, it is
        restricted, or a rule names it.
        """

    def kinds_that_matter(self, folder: str) -> tuple[tuple[str, ...], ...]:
        """Patterns of names that would matter in this folder: of secrets, of restricted files, of hidden ones."""

    def read(self, path: str) -> str | None:
        """The text of a file of at most MAX_READ bytes; None for anything else."""

    def peek(self, path: str) -> Peek | None:
        """The first MAX_READ bytes of a text file of any size; None for anything else."""

    def committed(self, folder: str, name: str) -> str | None:
        """The text of a file as a commit has it, by ``COMMIT:PATH`` as git reads it in a folder; None for anything
        that is no text of at most MAX_READ bytes, or not sure.
        """

    def engine(self, program: str, *, at_stake: bool = False) -> Engine | None:
        """What the person's own engine of this machine tells (``docker``, ``podman``); None where it is not asked, does
        not answer, or the session had a hand in which one that is. ``at_stake``: its answer may make a question.
        """

    def others(self, chosen: Selection) -> tuple[Running, ...]:
        """The processes of this user that are chosen, and are neither the session's nor the repository's; none where
        they cannot be seen.
        """

    def push(self, folder: str, remote: str, refs: Sequence[str], said: str) -> str | None:
        """What a push of these refspecs to a remote (none: what the settings say) from the repository that holds a
        folder would send of secrets and restricted files, all that may be committed there before included, with these
        words: redacted, ``""`` for nothing. None where it is not asked, or not all of it is known: what there is, or
        that the remote is one of before the session.
        """

    def which(self, name: str) -> str:
        """The program that PATH gives for a name, shims apart; ``""`` for none."""


class AskingWorld(World, Protocol):
    """One that asks engines of containers, and other repositories, only where it is told that a person's answer is at
    stake.
    """

    asks: bool
    wonders: bool
    """It would have asked."""
    doubts: bool
    """So it would, and the answer may make a question of what is none."""
