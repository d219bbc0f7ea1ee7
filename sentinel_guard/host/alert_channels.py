"""Alerts to addresses outside of the terminal (``[alerts] urls``): what is on record is looked at, and sent by a thread
of its own with Apprise, which is an extra.

Rules of this file:
1. Nothing waits for a channel: who puts an entry on record goes on at once.
2. What is on record is redacted; nothing else is sent.
3. Of a level one alert goes out within ``PAUSE``; what comes meanwhile is told with the next.
4. A channel that fails is told, at most once in ``TOLD_AGAIN``, without what is secret in its address.
"""

from __future__ import annotations

import html
import logging
import queue
import subprocess
import threading
import time
from collections.abc import Callable, Sequence

from sentinel_guard.core.model import Entry
from sentinel_guard.core.policy.policy import AlertChannels
from sentinel_guard.core.text.alert_texts import LEVELS, Alert, alert_of, joined

DESKTOP = "desktop:"
"""The address of the person's own desktop; needs no Apprise."""
DESKTOP_SECONDS = 10.0
MISSING = "apprise is not installed: pip install 'sentinel-guard[alerts]'"
PAUSE = 20.0
TOLD_AGAIN = 600.0
WAITING = 1000
"""Alerts that wait to be sent; more are dropped: they are on record."""
CLOSING = 5.0
"""Seconds for which a daemon that ends waits for what is being sent."""
log = logging.getLogger(__name__)


def send(urls: Sequence[str], title: str, text: str) -> list[str]:
    """Send it to each. Returns what failed, in words without what is secret in an address. May block for a minute."""
    failed = [words for url in urls if url == DESKTOP and (words := _on_desktop(title, text))]
    elsewhere = [(number, url) for number, url in enumerate(urls, 1) if url != DESKTOP]
    return failed + (_by_apprise(elsewhere, title, text) if elsewhere else [])


def _on_desktop(title: str, text: str) -> str:
    """Why it is not shown; empty where it is."""
    # The body of a notification is markup (Desktop Notifications Specification).
    command = ["notify-send", "--app-name=sentinel-guard", "--urgency=critical", title, html.escape(text, quote=False)]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=DESKTOP_SECONDS)
    except FileNotFoundError:
        return "notify-send is not installed (libnotify)"
    except (OSError, subprocess.SubprocessError) as e:
        return f"notify-send failed: {type(e).__name__}"
    return f"notify-send ended with {done.returncode} (no desktop there?)" if done.returncode else ""


def _by_apprise(urls: Sequence[tuple[int, str]], title: str, text: str) -> list[str]:
    try:
        import apprise  # noqa: PLC0415 - an extra, and 0.2 s to load
    except ImportError:
        return [MISSING]
    failed = []
    for number, url in urls:
        channel = apprise.Apprise()
        name = f"address {number} ({url.partition(':')[0]})"
        if not channel.add(url):
            failed.append(f"{name} is none that Apprise knows")
        elif not channel.notify(body=text, title=title):
            failed.append(f"{name} did not take it")
    return failed


class Alerts:
    """Looks at the entries that are put on record. Any thread may call it."""

    def __init__(
        self,
        policy: Callable[[], AlertChannels],
        failed: Callable[[str], None],
        send: Callable[[Sequence[str], str, str], list[str]] = send,
        pause: float = PAUSE,
    ) -> None:
        """``failed`` is told in words, from another thread, which channel did not work."""
        self._policy, self._failed, self._send, self._pause = policy, failed, send, pause
        self._queue: queue.Queue[Alert | None] = queue.Queue(WAITING)
        self._thread: threading.Thread | None = None
        self._waiting: dict[str, list[Alert]] = {}
        self._next: dict[str, float] = {}
        self._told: dict[str, float] = {}

    def see(self, entry: Entry) -> None:
        """Take an entry that is on record. Never raises, never waits."""
        if not alert_of(entry, LEVELS[0]):
            return  # most; that the policy changed is an entry, too, and it is told while the policy is loaded
        try:
            channels = self._policy()
            alert = alert_of(entry, channels.level) if channels.urls else None
            if alert:
                self._begin()
                self._queue.put_nowait(alert)
        except queue.Full:
            log.warning("an alert was dropped: %d wait", WAITING)
        except Exception:
            log.exception("an entry could not be made an alert")

    def close(self) -> None:
        """Send what waits, for a moment."""
        if self._thread:
            self._queue.put(None)
            self._thread.join(CLOSING)

    def _begin(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="alerts", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            try:
                alert = self._queue.get(timeout=self._rest())
            except queue.Empty:
                self._flush()
                continue
            if alert is None:
                self._flush(all_of_them=True)
                return
            self._waiting.setdefault(alert.level, []).append(alert)
            self._flush()

    def _rest(self) -> float | None:
        """Seconds until the next level may be told; None where nothing waits."""
        due = [self._next.get(level, 0.0) for level in self._waiting]
        return max(0.001, min(due) - time.monotonic()) if due else None

    def _flush(self, *, all_of_them: bool = False) -> None:
        now = time.monotonic()
        for level in [level for level in self._waiting if all_of_them or self._next.get(level, 0.0) <= now]:
            self._next[level] = now + self._pause
            self._tell(joined(self._waiting.pop(level)))

    def _tell(self, alert: Alert) -> None:
        try:
            failed = self._send(self._policy().urls, alert.title, alert.text)
        except Exception as e:
            log.exception("an alert could not be sent")
            failed = [f"it failed: {e}"]
        now = time.monotonic()
        for words in failed:
            if now >= self._told.get(words, 0.0):
                self._told[words] = now + TOLD_AGAIN
                self._failed(f"An alert was not sent: {words}.")
