"""Carries out what a person chooses in the menu of a session, by the daemon's operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sentinel_guard.commands.session_control import KILL_SECONDS
from sentinel_guard.humans.session_menu import KILL, PASS, PAUSE, RESUME, ROLL_BACK, Menu, key_codes, key_name


class MenuActions:
    def __init__(self, session: str, key: str, request: Callable[..., Any], *, shared: bool) -> None:
        """``key``: a ``[terminal] menu_key``; ``request``: asks the daemon; ``shared``: an agent could type there."""
        self._session, self._key, self._request, self._shared = session, key, request, shared
        self.codes = key_codes(key)

    def menu(self, state: str) -> Menu:
        return Menu(self._session, state, key_name(self._key))

    def carry_out(self, choice: str | None, give: Callable[[bytes], None]) -> None:
        """``give``: gives the agent what was typed."""
        if choice == PASS:
            give(self.codes[0])
        elif choice in (PAUSE, RESUME):
            self._request(choice, session=self._session, shared=self._shared)
        elif choice in (KILL, ROLL_BACK):
            rollback = choice == ROLL_BACK
            self._request("kill", session=self._session, rollback=rollback, seconds=KILL_SECONDS)
