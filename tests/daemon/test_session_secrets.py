"""The person's own secrets, for a session: looked for when they are needed, and told to nobody."""

from __future__ import annotations

from sentinel_guard.core.model import Action, Ask, Entry, Finding, Layer, Response, Verdict
from sentinel_guard.core.policy.policy import Policy
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import UserSecrets
from sentinel_guard.core.session.session import Session
from sentinel_guard.core.text.redact_by_pattern import MARK
from sentinel_guard.daemon import session_secrets
from sentinel_guard.daemon.live_sessions import Live, Sessions
from sentinel_guard.daemon.session_secrets import SessionSecrets
from sentinel_guard.host.machine.state_paths import StatePaths
from tests.support.fakes import MemoryStore

OWN = "plum9Tractor" + "-Vq31xZ" + "-kW7"


def of(*values: str) -> SessionSecrets:
    return SessionSecrets(lambda: UserSecrets(dict.fromkeys(values, "the value of X in .env")), b"key")


def test_the_values_are_read_again_after_a_moment(monkeypatch) -> None:
    looks: list[int] = []
    monkeypatch.setattr(session_secrets, "FRESH", 0.0)

    def collect() -> UserSecrets:
        looks.append(1)
        return UserSecrets({OWN: "x"})

    asked = SessionSecrets(collect)
    assert [len(asked.known()), len(asked.known())] == [1, 1]
    assert len(looks) == 2


def test_within_a_moment_they_are_not() -> None:
    asked = of(OWN)
    assert asked.known() is asked.known()


def test_a_verdicts_findings_may_be_told_to_anybody() -> None:
    action = Action("1", "s", Layer.SHELL, "shell", {"command": OWN}, "/", 0.0)
    finding = Finding("rules", Response.ASK, f"`x {OWN}`", OWN, "", "r", OWN, Ask("X", f"at {OWN}"))
    told = of(OWN).verdict(Verdict(action, (), (finding,))).findings[0]
    assert (told.what, told.why, told.evidence) == (f"`x {MARK}`", MARK, MARK)
    assert told.ask == Ask("X", f"at {MARK}")
    assert told.response is Response.ASK


def test_what_a_session_notes_goes_through_it(tmp_path) -> None:
    store = MemoryStore()
    live = Live(Session("s"), Policy, discretion=of(OWN))
    places = StatePaths(state=tmp_path / "state", runtime=tmp_path / "run", config=tmp_path / "config")
    Sessions(store, places, lambda session: Live(session, Policy)).note(
        live, [Entry(1.0, "s", "state", {"event": "help", "reason": f"it wants {OWN}"})]
    )
    assert store.log[0].data == {"event": "help", "reason": f"it wants {MARK}"}
    assert OWN not in live.session.reason
