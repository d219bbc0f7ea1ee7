"""Which session ``pause``, ``resume`` and ``kill`` mean, and which question ``approve`` and ``deny``."""

from __future__ import annotations

import pytest

from sentinel_guard.commands import open_questions, session_control
from sentinel_guard.errors import SentinelError
from sentinel_guard.host.machine.state_paths import places
from tests.support.fake_daemon import FakeDaemon


@pytest.fixture
def where(tmp_path):
    return places({"SENTINEL_HOME": str(tmp_path / "g")})


@pytest.fixture
def daemon(where):
    fake = FakeDaemon(where)
    yield fake
    fake.close()


def live(name, root, state="ACTIVE"):
    return {"session": name, "root": root, "state": state, "command": ["agent"]}


ONE, TWO = live("20261125-1-ab", "/one"), live("20261125-2-cd", "/two")
MEANT = (
    ([ONE], "/elsewhere", "", ONE, "the only one"),
    ([ONE, TWO], "/two/src", "", TWO, "the one of this folder"),
    ([ONE, TWO], "/", "ab", ONE, "the last part of its name"),
    ([ONE, TWO], "/", TWO["session"], TWO, "its whole name"),
    ([ONE, live("20261125-3-ab", "/one", "KILLED")], "/", "ab", ONE, "what is over is not meant"),
    ([ONE, TWO], "/twofold", "", None, "a folder whose name only begins so"),
    ([ONE], "/one", "zz", None, "no such name"),
    ([], "/one", "", None, "no session at all"),
)


@pytest.mark.parametrize("row", MEANT, ids=[row[4] for row in MEANT])
def test_the_session_that_is_meant(where, daemon, row):
    sessions, cwd, name, wanted, _ = row
    daemon.replies["status"] = {"sessions": sessions}
    with session_control.connected(where) as operator:
        if wanted:
            assert session_control.pick(operator, cwd, name) == wanted
        else:
            with pytest.raises(SentinelError) as refused:
                session_control.pick(operator, cwd, name)
            assert all(s["session"] in str(refused.value) for s in sessions), "it names those there are"


def question(ident, session):
    said = {
        "action": "DEPLOY",
        "target": "prod\x1b[2J",
        "risk": "HIGH",
        "detail": "deploy prod",
        "why": "x",
        "until": 0,
    }
    return {"question": ident, "session": session, **said}


ASKED = (
    ([question("q1", "s-a")], "", "", "q1", "the only one"),
    ([question("q1", "s-a"), question("q2", "s-b")], "q2", "", "q2", "named"),
    ([question("w1", "s-a"), question("w1", "s-b")], "w1", "b", "w1", "named with its session"),
    ([question("q1", "s-a"), question("q2", "s-b")], "", "", None, "two are open"),
    ([question("q1", "s-a")], "q7", "", None, "no such question"),
    ([], "", "", None, "none is open"),
)


@pytest.mark.parametrize("row", ASKED, ids=[row[4] for row in ASKED])
def test_the_question_that_is_meant(where, daemon, row):
    found, name, session, wanted, _ = row
    daemon.replies["questions"] = {"questions": found}
    if wanted is None:
        with pytest.raises(SentinelError):
            open_questions.deny(where, name, session, "no")
        assert not [m for m in daemon.heard if m["op"] == "decide"]
        return
    assert open_questions.deny(where, name, session, "not today") == 0
    sent = daemon.wait("decide")
    assert (sent["question"], sent["yes"], sent["reason"]) == (wanted, False, "not today")
    assert sent["session"].endswith(session or sent["session"])


def test_questions_are_shown_without_what_a_terminal_obeys(where, daemon, capsys):
    daemon.replies["questions"] = {"questions": [question("q1", "s-a")]}
    assert open_questions.show(where, as_json=False) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown and "    | deploy prod" in shown
