"""Carries out what a person answers, chooses or enters on their terminal, by the daemon's operations."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from sentinel_guard.commands.run.pty_proxy import Modal, PtyProxy
from sentinel_guard.commands.session_control import KILL_SECONDS
from sentinel_guard.humans.approval_gate import Gate
from sentinel_guard.humans.session_menu import CHAT, KILL, PASS, PAUSE, RESUME, ROLL_BACK, Menu, key_codes, key_name
from sentinel_guard.humans.terminal_prompts import Chat


class PersonActions:
    def __init__(self, session: str, key: str, request: Callable[..., Any], *, shared: bool) -> None:
        """``key``: a ``[terminal] menu_key``; ``request``: asks the daemon; ``shared``: an agent could type there."""
        self._session, self._key, self._request, self._shared = session, key, request, shared
        self.codes = key_codes(key)

    def menu(self, state: str) -> Menu:
        return Menu(self._session, state, key_name(self._key))

    def hear(self, stage: PtyProxy, event: Mapping[str, object]) -> None:
        """The agent calls for help: a chat opens, or goes on; or the person has said something in another terminal."""
        chat, said = stage.chat(), event.get("text")
        if said is None and chat is None:
            stage.show(Chat(str(event.get("context", ""))), time.monotonic())
        elif chat:
            chat.hear(str(event.get("context", ""))) if said is None else chat.add("you", str(said))

    def carry_out(self, modal: Modal, stage: PtyProxy) -> None:
        """``stage``: what the modal stood on."""
        if isinstance(modal, Menu):
            self._chosen(modal, stage)
        elif isinstance(modal, Gate):
            self._answered(modal)
        else:
            self._entered(modal)

    def _chosen(self, menu: Menu, stage: PtyProxy) -> None:
        choice = menu.choice
        if choice == PASS:
            stage.type(self.codes[0])
        elif choice == CHAT:
            if menu.paused or self._request("pause", session=self._session, shared=self._shared):
                stage.show(Chat(), time.monotonic())
        elif choice in (PAUSE, RESUME):
            self._request(choice, session=self._session, shared=self._shared)
        elif choice in (KILL, ROLL_BACK):
            rollback = choice == ROLL_BACK
            self._request("kill", session=self._session, rollback=rollback, seconds=KILL_SECONDS)

    def _answered(self, gate: Gate) -> None:
        shared: dict[str, Any] = {"shared": True} if self._shared else {}
        shared |= {"code" if gate.wants_code else "word": gate.typed} if gate.wants_code or self._shared else {}
        reason = {"reason": gate.reason} if gate.reason else {}
        timed = {"timed": True} if gate.timed else {}
        self._request("answer", question=gate.id, yes=gate.answer is True, **shared, **reason, **timed)

    def _entered(self, chat: Chat) -> None:
        lines, chat.entered[:] = [*chat.entered], []
        for line in lines:
            said = self._request("say", session=self._session, text=line, shared=self._shared)
            chat.add("you" if said is not None else "you (not delivered)", line)
        if chat.done:
            self._request("resume", session=self._session, shared=self._shared)
