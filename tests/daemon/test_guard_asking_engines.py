"""When the guard asks an engine of containers: where a person would be asked, and never before."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from sentinel_guard.core.model import Response
from sentinel_guard.daemon.live_sessions import Live
from tests.core.checks.made_in_session.test_engine_witness import DB, DROP, FULL, MINE, FakeEngine, of
from tests.support.fakes import FakeWorld
from tests.support.guard_in_memory import ROOT, Stand, world

OLD = of(DB._replace(is_new=False))
ROWS = [
    (DROP, MINE, Response.ALLOW, 1, "a question that the engine answers"),
    (DROP, OLD, Response.ASK, 2, "one that it does not: once more behind the person's answer"),
    ("psql -h localhost -p 5432 -c 'select 1'", MINE, Response.ALLOW, 0, "no question"),
    ("git status && make test", MINE, Response.ALLOW, 0, "none of its matters"),
    ("terraform destroy", MINE, Response.ASK, 0, "a question of which it knows nothing"),
    ("docker stop n8n && docker rm n8n", FULL, Response.ASK, 2, "none, of which the engine makes one"),
    ("docker rm n8n", None, Response.ALLOW, 1, "none, and it does not answer"),
    ("docker compose ps && docker logs x", MINE, Response.ALLOW, 0, "a look"),
    (f"{DROP}; terraform destroy", MINE, Response.ASK, 2, "two questions, of which it answers one"),
]


class AskingWorld(FakeWorld):
    """As the real one: it answers where it was told that a person's answer is at stake."""

    answered = False

    def engine(self, program: str, *, at_stake: bool = False) -> FakeEngine | None:
        if not self.asks:
            self.wonders = True
            self.doubts = self.doubts or at_stake
            return None
        assert threading.current_thread() is not threading.main_thread(), "the loop waits for no engine"
        self.answered = True
        return self.engines.get(program)  # type: ignore[return-value]


@pytest.mark.parametrize(("text", "engine", "response", "times", "why"), ROWS)
def test_when_it_is_asked(
    monkeypatch: pytest.MonkeyPatch, *, text: str, engine: FakeEngine | None, response: Response, times: int, why: str
) -> None:
    made: list[AskingWorld] = []

    def begin(*_: object) -> AskingWorld:
        made.append(AskingWorld(world().files, folders=(ROOT,), engines={"docker": engine} if engine else {}))
        made[-1].asks = False
        return made[-1]

    stand = Stand(True, True)
    monkeypatch.setattr(stand.guard, "_world", begin)
    verdict = stand.verdict(text)
    assert (verdict.response if not verdict.granted else Response.ASK) is response, why
    assert sum(one.answered for one in made) == times, why


def test_a_session_that_never_rests_is_judged_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[AskingWorld] = []

    def begin(live: Live, _: object) -> AskingWorld:
        live.session = replace(live.session, made=live.session.made | {f"container x{len(made)}"})
        made.append(AskingWorld(world().files, folders=(ROOT,), engines={"docker": MINE}))
        made[-1].asks = False
        return made[-1]

    stand = Stand(True, True)
    monkeypatch.setattr(stand.guard, "_world", begin)
    assert stand.verdict(DROP).granted, "the loop waits for no engine: a person says it"
