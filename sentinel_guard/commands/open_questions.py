"""``sentinel-guard questions|approve|deny``: the open questions of all sessions, answered in another terminal (R7)."""

from __future__ import annotations

import getpass
import json
import sys
import time
from collections.abc import Callable
from typing import Any

from sentinel_guard.commands.session_control import connected
from sentinel_guard.core import response_text
from sentinel_guard.core.model import Ask, Question
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.errors import DaemonError, SentinelError
from sentinel_guard.host.machine.state_paths import StatePaths

NONE = "No question is open."


def show(places: StatePaths, *, as_json: bool) -> int:
    """Print what the guard asks just now, in all sessions. Raises DaemonError where no daemon runs."""
    with connected(places) as operator:
        found = operator.request("questions")["questions"]
    if as_json:
        print(json.dumps({"questions": found}))
        return 0
    for asked in found:
        left = f", {asked['until'] - time.time():.0f} s left" if asked["until"] else ""
        lines = visible(asked["detail"], keep="\n").splitlines()
        print(f"{asked['question']}  {visible(asked['action'])} {visible(asked['target'])}{left}  ({asked['session']})")
        print("\n".join(f"    | {line}" for line in lines))
        print("".join(f"      {visible(line)}\n" for line in asked.get("preview") or ()), end="")
    print("Answer with: sentinel-guard approve ID, or deny ID --reason TEXT" if found else NONE)
    return 0


def approve(
    places: StatePaths,
    question: str,
    session: str,
    read: Callable[[str], str] = input,
    secretly: Callable[[str], str] = getpass.getpass,
) -> int:
    """Show a question as the gate does, and send the yes that is typed at this terminal; 1 where it is none.

    Raises SentinelError where nobody sits at it, DaemonError where there is no such question.
    """
    if not (sys.stdin and sys.stdin.isatty()):
        raise SentinelError("A yes is typed at a terminal, and standard input is none.", "Run it in a terminal.")
    with connected(places) as operator:
        asked = _pick(operator.request("questions")["questions"], question, session)
        ask = Ask(asked["action"], asked["target"], asked["risk"])
        shown = Question(
            asked["question"],
            asked["session"],
            ask,
            asked["detail"],
            asked["why"],
            0.0,
            0.0,
            preview=tuple(asked.get("preview") or ()),
        )
        try:
            said = read(f"{_offer(asked)}{response_text.gate(shown)}").strip().lower()
        except EOFError:
            said = ""
        timed = said == "t" and bool(asked.get("timed"))
        yes = said == "y" or timed
        about: dict[str, Any] = {"session": asked["session"], "question": asked["question"]}
        if yes and asked.get("code"):
            about["code"] = secretly("Code of your second factor: ")
        operator.request("decide", yes=yes, timed=timed, **about)
    print("It runs." if yes else "It was refused.")
    return 0 if yes else 1


def deny(places: StatePaths, question: str, session: str, reason: str) -> int:
    """Send a no, with what the person says to the agent. Raises DaemonError where there is no such question."""
    with connected(places) as operator:
        asked = _pick(operator.request("questions")["questions"], question, session)
        operator.request("decide", session=asked["session"], question=asked["question"], yes=False, reason=reason)
    print("It was refused.")
    return 0


def _offer(asked: dict[str, Any]) -> str:
    """The answer beside Y and N."""
    return f"t: yes to this kind for {asked['timed'] / 60:.0f} min" if asked.get("timed") else ""


def _pick(found: list[dict[str, Any]], question: str, session: str) -> dict[str, Any]:
    """The open question that is meant: named, or the only one. Raises DaemonError where it is none or several."""
    meant = [q for q in found if question in ("", q["question"]) and str(q["session"]).endswith(session)]
    if len(meant) == 1:
        return meant[0]
    what = "More than one question is open." if meant else f"There is no open question {question}.".replace(" .", ".")
    raise DaemonError(what if found else NONE, "sentinel-guard questions" if found else "")
