"""The console's chat with the agent of one session (R8).

Rules of this file:
1. What stands there is what is on record: words of the agent and of the person, in whatever terminal they were said.
2. ``/resume`` gives the agent its autonomy back; Escape only leaves the chat.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.screen import ModalScreen
from textual.widgets import Input, RichLog, Static

from sentinel_guard.commands.local_time import when
from sentinel_guard.core.model import Entry
from sentinel_guard.core.text.control_characters import visible

CALLS, WORDS = "help", "chat"
"""Event of the entry of a call for help; kind of the entry of what a person says."""
WAITS = "The agent asks for your help, and waits."
READS = "Your agent is paused. It reads this when it goes on."


class ChatScreen(ModalScreen[None]):
    """``ask``: has the daemon do something, and returns the words of a refusal, or none."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss", "back")]
    CSS = """
    ChatScreen { align: center middle; }
    #said { width: 90%; height: 60%; padding: 0 2; border: round $primary; background: $surface; }
    #head { width: 90%; padding: 0 2; background: $surface; } #line { width: 90%; }
    """

    def __init__(self, session: str, ask: Callable[..., str], tell: Callable[[str], None]) -> None:
        super().__init__()
        self.session, self._ask, self._tell = session, ask, tell
        self._seen = 0
        """Number of the newest entry that stands there."""

    def compose(self) -> ComposeResult:
        yield Static(id="head", markup=False)
        yield RichLog(id="said", wrap=True)
        yield Input(
            id="line", placeholder="Enter sends a line; /resume gives the agent its autonomy back; Escape: back"
        )

    def on_mount(self) -> None:
        self.query_one("#line", Input).focus()

    def show(self, state: str, spoken: list[Entry]) -> None:
        """``state``: the session's; ``spoken``: what was said since the person last gave autonomy back."""
        self.query_one("#head", Static).update(
            f"{self.session} is {state}. {WAITS if state == 'AWAITING_HUMAN' else READS}"
        )
        for entry in (e for e in spoken if e.seq > self._seen):
            who, said = ("you", entry.data["text"]) if entry.kind == WORDS else ("agent", entry.data["reason"])
            line = f"{when(entry.at)[11:16]} {who}: {visible(str(said))}"
            self.query_one("#said", RichLog).write(Text(line, "bold" if who == "agent" else ""))
            self._seen = entry.seq

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        line = event.value.strip()
        event.input.clear()
        if line == "/resume":
            self._tell(self._ask("resume", session=self.session))
            self.dismiss()
        elif line:
            self._tell(self._ask("say", session=self.session, text=line))


def spoken(entries: list[Entry]) -> list[Entry]:
    """What was said since the person last gave autonomy back: of entries of one session, oldest first."""
    resumed = max((n for n, e in enumerate(entries) if _event(e) == "resume"), default=-1)
    return [e for e in entries[resumed + 1 :] if e.kind == WORDS or _event(e) == CALLS]


def _event(entry: Entry) -> Any:
    return entry.data.get("event") if entry.kind == "state" else ""
