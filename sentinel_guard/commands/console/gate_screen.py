"""The console's screens over its screen: a question with Y and N, and the gate with its details and its code.

Rule of this file: keys that were typed before a question stood there for ``UNREAD`` seconds are no yes.
"""

from __future__ import annotations

import time
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from sentinel_guard.core import response_text
from sentinel_guard.core.model import Ask, Question
from sentinel_guard.core.text.control_characters import visible

UNREAD = 0.7


class Confirmation(ModalScreen[bool]):
    """A question over the screen: Y or N; anything else stays unanswered, Escape goes back to the console."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("y,Y", "answer(True)", "yes"),
        ("n,N", "answer(False)", "no"),
        ("escape", "back", "later"),
    ]
    CSS = """
    Confirmation { align: center middle; }
    #gate { width: 90%; max-height: 90%; height: auto; padding: 1 2; border: heavy $error; background: $surface; }
    #details { width: 90%; height: 70%; padding: 0 2; border: round $primary; background: $surface; display: none; }
    #code { width: 90%; display: none; } .open#details, .open#code { display: block; }
    """

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text, self._shown = text, time.monotonic()

    def compose(self) -> ComposeResult:
        yield Static(Text(self._text), id="gate", markup=False)

    def action_answer(self, yes: bool) -> None:
        if not yes or time.monotonic() - self._shown >= UNREAD:
            self.dismiss(yes)

    def action_back(self) -> None:
        self.app.pop_screen()


class GateScreen(Confirmation):
    """An open question. What belongs to the answer stands in ``said`` when it is given."""

    BINDINGS: ClassVar[list[BindingType]] = [("d", "details", "details"), ("t", "timed", "yes for a while")]

    def __init__(self, asked: dict[str, Any]) -> None:
        super().__init__(gate_text(asked))
        self._asked, self.said = asked, dict[str, Any]()

    def compose(self) -> ComposeResult:
        yield VerticalScroll(
            Static(Text(visible(str(self._asked.get("details") or ""), keep="\n")), markup=False), id="details"
        )
        yield from super().compose()
        yield Input(password=True, id="code", placeholder="code of your second factor; Enter")

    def action_details(self) -> None:
        """The details above the gate, and away again; arrows and Page Down move in them."""
        if self._asked.get("details"):
            page = self.query_one("#details", VerticalScroll)
            page.toggle_class("open")
            if page.has_class("open"):
                page.focus()

    def action_timed(self) -> None:
        if self._asked.get("timed"):
            self.said["timed"] = True
            self.action_answer(True)

    def action_answer(self, yes: bool) -> None:
        if not (yes and self._asked.get("code")):
            super().action_answer(yes)
        elif time.monotonic() - self._shown >= UNREAD:
            box = self.query_one("#code", Input)
            box.add_class("open")
            box.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self.said["code"] = event.value.strip()
            self.dismiss(True)


def gate_text(asked: dict[str, Any]) -> str:
    """The block of the protocol, with what stands above it: what would happen, and the keys beside Y and N."""
    ask = Ask(asked["action"], asked["target"], asked["risk"])
    question = Question(
        asked["question"], asked["session"], ask, asked["detail"], asked["why"], 0.0, 0.0,
        preview=tuple(asked.get("preview") or ()),
    )  # fmt: skip
    keys = ["d: details"] if asked.get("details") else []
    keys += [f"t: yes to this kind for {asked['timed'] / 60:.0f} min"] if asked.get("timed") else []
    block = response_text.gate(question).strip("\n")
    return visible(f"{'   '.join(keys)}\n{block}" if keys else block, keep="\n")
