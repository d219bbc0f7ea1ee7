"""Fixed phrases in messages to agents: the strings that the specification quotes, and each response's prefix."""

from __future__ import annotations

from sentinel_guard.core.model import Response

INTERVENTION = (
    "SYSTEM INTERVENTION: Loop Detected. You have tried this exact operation 3 times and failed. "
    "You are prohibited from retrying the same inputs. "
    "You must either (A) Ask the user for help, or (B) Revert your changes."
)
"""R5."""

USER_DENIED = "UserDenied: Authorization refused."
"""R7."""

BREAKER = "SYSTEM INTERVENTION:"
KILL_SWITCH = "SENTINEL KILL SWITCH:"

OPENING = {
    Response.HINT: "SENTINEL HINT:",
    Response.COOL_DOWN: "SENTINEL COOL DOWN:",
    Response.ASK: "403 SENTINEL BLOCKED:",
    Response.DENY: "403 SENTINEL BLOCKED:",
    Response.BREAK: BREAKER,
    Response.KILL: KILL_SWITCH,
}

SPOKEN = (BREAKER, KILL_SWITCH, USER_DENIED)
"""A finding that begins so already speaks the protocol's words: nothing is put before it."""


WAITING = (
    "SENTINEL: a person is being asked about this command. It runs as soon as they say yes: "
    "wait for its end, and do not start it again."
)
"""What a call prints before its agent would go on without it."""

NOBODY_HERE = "No human can be reached from here."
"""Why a call for help is refused (R8)."""
UNGUARDED = "No session guards this process."

OVER = "This session is over: nothing more of it runs."
"""What stands after the reason of a kill, in place of another way (R4)."""


def sentence(text: str) -> str:
    """The text, closed by a full stop where it has no end of its own."""
    text = text.strip()
    return text if not text or text[-1] in ".!?:…" else f"{text}."


def seconds(left: float) -> str:
    """``left`` seconds as a person reads them, never less than 1."""
    return f"{max(1, round(left))} s"
