"""Folders that a text copied: what lies at their new names is what the machine holds at the old ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sentinel_guard.core.analysis.secret_names import may_hold_secret
from sentinel_guard.core.analysis.step_budget import Budget
from sentinel_guard.core.analysis.world import World


class CopiedFolders:
    """Copies in their order. What the text itself has written there stands in the overlay, and comes first."""

    def __init__(self, world: World, budget: Budget) -> None:
        self._world, self._budget = world, budget
        self._copies: list[tuple[str, str]] = []
        """The new name, and the old one on the machine."""
        self.doubted = set[str]()
        """New names of copies that may not have been made."""

    @property
    def count(self) -> int:
        return len(self._copies)

    def add(self, source: str, target: str) -> None:
        """From here on all that lies in the source, other copies included, lies at the target, too."""
        inner = [(moved(new, source, target), old) for new, old in self._copies if _is_in(new, source)]
        outer = [moved(source, new, old) for new, old in self._copies if _is_in(source, new)]
        self._copies += [(target, source), *((target, old) for old in outer), *inner]
        self._budget.spend(len(self._copies))

    def doubt(self, target: str) -> None:
        """What was copied there may not have been."""
        if any(new == target for new, _ in self._copies):
            self.doubted.add(target)

    def is_doubted(self, path: str) -> bool:
        """Whether what lies there came by such a copy, if at all."""
        return any(_is_in(path, new) for new in self.doubted)

    def origin(self, path: str) -> str:
        """Where what lies there lay before; empty for what no copy brought. The last copy counts."""
        self._budget.spend(len(self._copies) >> 2)
        found = (moved(path, new, old) for new, old in reversed(self._copies) if _is_in(path, new))
        return next(filter(self._world.kind, found), "")

    def kind(self, path: str) -> str:
        return self._world.kind(origin) if (origin := self.origin(path)) else ""

    def read(self, path: str) -> tuple[str | None] | None:
        """The text of what a copy brought, in a tuple; a secret, and what lies behind a link, is not looked at."""
        origin = self.origin(path)
        if not origin:
            return None
        plain = self._world.resolve(origin) == origin
        return (self._world.read(origin) if plain and not may_hold_secret(origin) else None,)

    def glob(self, pattern: str, search: Callable[[str], tuple[str, ...]]) -> Iterator[str]:
        """What matches below the new names; wildcards in the names of the copies themselves find nothing."""
        for new, old in self._copies:
            if _is_in(pattern, new) and not set("*?[") & set(new + old):
                yield from (moved(path, old, new) for path in search(moved(pattern, new, old)))


def moved(path: str, source: str, target: str) -> str:
    """A path in one folder as it is called in the other."""
    return target + path[len(source) :]


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
