"""``sentinel-guard console``: sessions, questions and the log on one screen, for a terminal beside the agent's.

Rules of this file:
1. A yes is given on the gate's own screen, which shows the protocol's block (``gate_screen``). The daemon takes it from
   outside of every guarded session only.
2. What an agent wrote is text, never markup, and nothing in it is obeyed by a terminal.
"""

from __future__ import annotations

import sys
import time
from typing import ClassVar, TypeVar

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import DataTable, Footer, Input, Label, RichLog, Sparkline, Static

from sentinel_guard.commands.console.chat_screen import ChatScreen, spoken
from sentinel_guard.commands.console.console_feed import MINUTES, Feed, Look, Rates
from sentinel_guard.commands.console.gate_screen import Confirmation, GateScreen
from sentinel_guard.commands.local_time import when
from sentinel_guard.commands.log.log_filter import ASKED, REFUSED
from sentinel_guard.commands.log.log_table import COLOURS, short
from sentinel_guard.commands.require_human import sessions
from sentinel_guard.commands.status import tokens
from sentinel_guard.core.model import Entry
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.text.entry_summary import summary
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.humans.session_menu import PAUSED

W = TypeVar("W", bound=Widget)
EVERY = 1.0
"""Seconds between two looks."""
KILL_SECONDS = 120.0
KEPT = 5000
"""Entries that are kept for the filters."""
HEADINGS = ("session", "state", "left", "calls", "loop", "errors", "tok/min", "agent", "repository")
STATES = {"ACTIVE": "green", "KILLED": "red", "PAUSED": "yellow", "COOLING": "yellow", "ASKING": "bold magenta"}


class Console(App[None]):
    """The guard at a glance."""

    TITLE = "sentinel-guard"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        ("enter,g", "gate", "answer"),
        ("c", "chat", "chat"),
        ("p", "ask('pause')", "pause"),
        ("r", "ask('resume')", "resume"),
        ("k", "kill", "kill"),
        ("b", "only('blocked')", "blocked"),
        ("a", "only('asked')", "asked"),
        ("slash", "filter", "filter"),
        ("q", "quit", "quit"),
    ]
    CSS = """
    #sessions { height: auto; max-height: 8; }
    #rates { height: 3; } #rates Vertical { width: 1fr; padding: 0 1; } Sparkline { height: 2; }
    #question { height: auto; max-height: 10; border: round $warning; display: none; }
    #question.open { display: block; }
    #trouble { color: $error; height: auto; } #filter { display: none; } #filter.open { display: block; }
    RichLog { height: 1fr; border-top: solid $primary; }
    """

    def __init__(self, places: StatePaths) -> None:
        super().__init__()
        self._feed, self._rates = Feed(places), Rates()
        self._entries: list[Entry] = []
        self._look = Look()
        self._only, self._word = "", ""
        self._asked: tuple[str, str] | None = None
        """Session and question of the gate that is shown."""

    def compose(self) -> ComposeResult:
        yield DataTable(id="sessions", cursor_type="row")
        with Horizontal(id="rates"):
            for name in ("tokens", "calls"):
                with Vertical():
                    yield Label(f"{name} a minute, {MINUTES} minutes")
                    yield Sparkline([0.0], id=name)
        yield Static(id="trouble")
        yield Static(id="question")
        yield RichLog(id="log", wrap=True, max_lines=KEPT)
        yield Input(placeholder="only lines with this text; Enter", id="filter")
        yield Footer()

    def on_mount(self) -> None:
        self._part("#sessions", DataTable).add_columns(*HEADINGS)
        self.set_interval(EVERY, self.look)
        self.look()

    def look(self) -> None:
        if self.screen_stack:
            self._read(self.screen.session if isinstance(self.screen, ChatScreen) else "")

    @work(thread=True, exclusive=True)
    def _read(self, chat: str) -> None:
        self.call_from_thread(self._show, self._feed.look(chat))

    def _show(self, look: Look) -> None:
        if not (self.screen_stack and self.screen_stack[0].query("#trouble")):
            return  # a look that comes back while the console is being closed
        self._look = look
        self._take_gate_away()
        if isinstance(self.screen, ChatScreen):
            self.screen.show(self._state(self.screen.session), spoken(look.spoken))
        self._part("#trouble", Static).update(Text(visible(look.trouble, keep="\n")))
        self._show_sessions(look)
        self._show_question()
        self._rates.take(look.entries)
        self._entries = [*self._entries, *look.entries][-KEPT:]
        for entry in filter(self._wanted, look.entries):
            self._write(entry)
        now, session = time.time(), self._chosen()
        self._part("#tokens", Sparkline).data = self._rates.tokens(session, now)
        self._part("#calls", Sparkline).data = self._rates.calls(session, now)

    def _part(self, selector: str, kind: type[W]) -> W:
        """A part of the console, whatever stands over it."""
        return self.screen_stack[0].query_one(selector, kind)

    def _take_gate_away(self) -> None:
        """The first answer counts: where it was given elsewhere, nothing is asked here any more."""
        open_now = {(q["session"], q["question"]) for q in self._look.questions}
        if self._asked and self._asked not in open_now and isinstance(self.screen, Confirmation):
            self._asked = None
            self.pop_screen()
            self.notify("It was answered elsewhere, or nobody answered in time.", markup=False)

    def _show_sessions(self, look: Look) -> None:
        table = self._part("#sessions", DataTable)
        row = table.cursor_row
        table.clear()
        for s in look.sessions:
            left = f"{s['seconds_left']:.0f} s" if s["seconds_left"] else ""
            counts = (str(s["calls"]), str(s["loop_count"]), f"{s['error_rate']:.0%}", tokens(s))
            said = (" ".join(s["command"]), str(s["root"]))
            cells = (short(s["session"]), s["state"], left, *counts, *said)
            texts = [Text(visible(cell)) for cell in cells]
            texts[1].stylize(STATES.get(s["state"], "cyan"))
            table.add_row(*texts, key=s["session"])
        if look.sessions:
            table.move_cursor(row=min(max(row, 0), len(look.sessions) - 1))

    def _show_question(self) -> None:
        panel, asked = self._part("#question", Static), self._look.questions
        calls = [s for s in self._look.sessions if s["state"] == "AWAITING_HUMAN"]
        panel.set_class(bool(asked or calls), "open")
        if calls and not asked:
            said = "".join(f"{short(s['session'])} asks for your help: {s['reason']}\n" for s in calls)
            panel.update(Text(visible(f"{said}c opens the chat with the chosen session.", keep="\n")))
        if asked:
            first = asked[0]
            left = f", {first['until'] - time.time():.0f} s left" if first["until"] else ""
            head = (
                f"{len(asked)} open. {first['action']} on {first['target']}{left} (session {short(first['session'])})"
            )
            panel.update(Text(visible(f"{head}\n{first['detail']}\nEnter shows the gate.", keep="\n")))

    def _write(self, entry: Entry) -> None:
        session = short(entry.session) or "-"
        line = f"{entry.seq:<6} {when(entry.at)[11:19]} {session:<5} {entry.level:<2} {entry.kind:<11} {summary(entry)}"
        self._part("#log", RichLog).write(Text(visible(line), COLOURS.get(entry.level, "")))

    def _wanted(self, entry: Entry) -> bool:
        kind = {"blocked": entry.level in REFUSED, "asked": entry.kind in ASKED}.get(self._only, True)
        return kind and (not self._word or self._word in f"{entry.session} {entry.kind} {summary(entry)}".lower())

    def _again(self) -> None:
        """The log anew, by the filters as they are."""
        log = self._part("#log", RichLog)
        log.clear()
        named = [name for name in (self._only, self._word) if name]
        log.border_title = f"only: {', '.join(named)}" if named else ""
        for entry in filter(self._wanted, self._entries):
            self._write(entry)

    def _chosen(self) -> str:
        row, sessions = self._part("#sessions", DataTable).cursor_row, self._look.sessions
        return str(sessions[row]["session"]) if 0 <= row < len(sessions) else ""

    def _state(self, session: str) -> str:
        return next((str(s["state"]) for s in self._look.sessions if s["session"] == session), "over")

    def _tell(self, words: str) -> None:
        if words:
            self.notify(visible(words, keep="\n"), severity="error", markup=False)

    def action_only(self, what: str) -> None:
        self._only = "" if self._only == what else what
        self._again()

    def action_filter(self) -> None:
        box = self._part("#filter", Input)
        box.add_class("open")
        box.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self._word = event.value.strip().lower()
        event.input.remove_class("open")
        self._part("#sessions", DataTable).focus()
        self._again()

    def action_ask(self, op: str) -> None:
        if session := self._chosen():
            self._tell(self._feed.ask(op, session=session))

    def on_data_table_row_selected(self) -> None:
        self.action_gate()

    def action_gate(self) -> None:
        """The gate of the question that is open longest."""
        if not self._look.questions:
            return
        asked = self._look.questions[0]

        def answered(yes: bool | None) -> None:
            self._asked = None
            about = {"session": asked["session"], "question": asked["question"], **(screen.said if yes else {})}
            self._tell(self._feed.ask("decide", **about, yes=yes is True))

        self._asked, screen = (asked["session"], asked["question"]), GateScreen(asked)
        self.push_screen(screen, answered)

    def action_chat(self) -> None:
        """With the agent of the chosen session, which is held meanwhile; one that calls for help waits already."""
        if not (session := self._chosen()):
            return
        refused = "" if self._state(session) in PAUSED else self._feed.ask("pause", session=session)
        self._tell(refused)
        if not refused:
            self.push_screen(ChatScreen(session, self._feed.ask, self._tell))
            self.look()

    def action_kill(self) -> None:
        session = self._chosen()

        def said(yes: bool | None) -> None:
            if yes:
                self._tell(self._feed.ask("kill", session=session, rollback=False, within=KILL_SECONDS))

        if session:
            self.push_screen(Confirmation(f"End session {short(session)} and all its processes? (Y/N)"), said)


def console(places: StatePaths) -> int:
    """Raises SentinelError inside of a session (nobody answers there, and what its agent opens of the log is held), and
    without a terminal.
    """
    if sessions():
        way = "Open it in a terminal outside of this session; status and log work here."
        raise SentinelError("From inside a guarded session the console is not opened.", way)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SentinelError("The console needs a terminal.", "For programs: sentinel-guard status --json")
    Console(places).run()
    return 0
