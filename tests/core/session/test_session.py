import itertools

import pytest

from sentinel_guard.core.model import Entry, Outcome, TestRun
from sentinel_guard.core.peer import Peer
from sentinel_guard.core.session.session import NEXT, WINDOW, Event, Session, State, outcome_data, outcome_from

LIVE = {State.ACTIVE, State.COOLING, State.PAUSED, State.ASKING, State.AWAITING_HUMAN}
HELPED = {State.ACTIVE, State.COOLING, State.PAUSED}
WORKS = {State.ACTIVE, State.COOLING, State.ASKING}
PAIRS = tuple(itertools.product(State, Event))


@pytest.mark.parametrize(("state", "event"), PAIRS, ids=[f"{s}-{e}" for s, e in PAIRS])
def test_every_pair_goes_where_the_table_says_or_stays(state, event):
    session = Session("s", state=state, until=7.0, reason="why")
    after = session.to(event, until=9.0, reason="new")
    if (state, event) in NEXT:
        assert (after.state, after.until, after.reason) == (NEXT[state, event], 9.0, "new")
        assert (session.to(event).until, session.to(event).reason) == (0.0, ""), "what is not told holds no longer"
    else:
        assert after is session


RULES = (
    (lambda s, e: s in LIVE or (s, e) not in NEXT, "killed and ended are final"),
    (
        lambda s, e: e is not Event.KILL or s not in LIVE or NEXT[s, e] is State.KILLED,
        "every live session can be killed",
    ),
    (
        lambda s, e: s is not State.AWAITING_HUMAN or e is Event.RESUME or NEXT.get((s, e)) is not State.ACTIVE,
        "only /resume ends the beacon",
    ),
    (
        lambda s, e: s is not State.ASKING or e is Event.ANSWERED or NEXT.get((s, e)) is not State.ACTIVE,
        "only an answer ends a question",
    ),
    (
        lambda s, e: e not in (Event.COOL, Event.ASK) or s is not State.PAUSED or (s, e) not in NEXT,
        "nothing softens a pause",
    ),
    (
        lambda s, e: e is not Event.BREAK or s not in WORKS or NEXT.get((s, e)) is State.PAUSED,
        "the breaker opens whatever the session is at, a question too",
    ),
    (
        lambda s, e: e is not Event.ASK or s not in {State.ACTIVE, State.COOLING} or NEXT.get((s, e)) is State.ASKING,
        "who cools down can ask",
    ),
    (
        lambda s, e: e is not Event.HELP or s not in HELPED or NEXT.get((s, e)) is State.AWAITING_HUMAN,
        "who is at a stop can call for help",
    ),
)


@pytest.mark.parametrize(("rule", "why"), RULES, ids=[r[1] for r in RULES])
def test_the_table_keeps(rule, why):
    assert all(rule(s, e) for s, e in PAIRS)


def entry(kind, at=1.0, **data):
    return Entry(at, "s", kind, data)


def fold(*entries, session=None):
    for e in entries:
        session = (session or Session("s")).after(e)
    return session


def call(ident, operation="o", at=1.0, **data):
    return entry("verdict", at, id=ident, operation=operation, tool="shell", call=True, **data)


def state(event, at=1.0, **data):
    return entry("state", at, event=event, **data)


def test_a_session_begins():
    session = fold(
        entry("session", 5.0, root="/w", start_hash="abc", command=["x", "-y"], owner=[7, 9], interactive=True)
    )
    assert (session.root, session.start_hash, session.started) == ("/w", "abc", 5.0)
    assert (session.command, session.owner, session.interactive) == (("x", "-y"), Peer(7, 9), True)
    assert not fold(entry("session", root="/w")).interactive, "nobody can be asked where nothing says so"


def test_a_session_of_which_nothing_is_said_began_at_no_time_and_waits_for_nothing():
    session = Session("s")
    assert (session.started, session.until, session.interactive, session.client) == (0.0, 0.0, False, ("", ""))


CLIENTS = (
    (["claude", "c1", "more"], ("claude", "c1"), "the agent's name and its own id"),
    (("codex", "c2"), ("codex", "c2"), "as a tuple"),
    ("claude", ("", ""), "what is no pair names nobody"),
)


@pytest.mark.parametrize(("client", "read", "why"), CLIENTS, ids=[r[2] for r in CLIENTS])
def test_the_client_whose_hooks_report_a_session(client, read, why):
    assert fold(entry("session", root="/w", client=client)).client == read


@pytest.mark.parametrize("state", State)
def test_only_a_killed_or_ended_session_is_over(state):
    assert Session("s", state=state).over is (state not in LIVE)


def test_an_unknown_kind_changes_nothing():
    session = Session("s")
    assert session.after(entry("watch")) is session


def test_calls_and_their_outcomes():
    session = fold(
        call("a"),
        entry("verdict", id="step", operation="o"),
        call("b", poll=True, installs=True),
        entry("outcome", 2.0, id="a", code=3),
    )
    assert [(c.action, c.poll, c.installs, c.outcome.code if c.outcome else None) for c in session.calls] == [
        ("a", False, False, 3),
        ("b", True, True, None),
    ]


def test_the_window_slides():
    session = fold(*(call(f"a{n}") for n in range(WINDOW + 5)))
    assert (WINDOW, len(session.calls), session.calls[0].action) == (64, 64, "a5")


MADE = (
    (0, {"container db"}, "what succeeded has made it"),
    (1, set(), "what failed has not"),
    (-1, set(), "nor what a signal ended"),
)


@pytest.mark.parametrize(("code", "made", "why"), MADE, ids=[r[2] for r in MADE])
def test_what_a_call_makes_is_the_sessions_own_once_it_succeeded(code, made, why):
    assert fold(call("a", makes=["container db"])).made == set(), "it has not ended"
    assert fold(call("a", makes=["container db"]), entry("outcome", 2.0, id="a", code=code)).made == made


def test_of_two_calls_of_one_name_the_first_says_what_the_end_means():
    """The id of a call is the client's: a second one of the same name closes no breaker and makes nothing."""
    half_open = fold(state("break", until=61.0, operations=["o"]), state("expire", 61.0))
    session = fold(call("a", "o"), call("a", "p", makes=["port 1"]), session=half_open)
    session = fold(entry("outcome", 62.0, id="a", code=0), session=session)
    assert (session.half_open, session.made) == (True, set())


def test_strikes_are_counted_without_a_call():
    first = entry("verdict", id="a", strike="guard.settings")
    assert fold(first).strikes == ("guard.settings",)
    assert fold(first, entry("verdict", id="b", strike="guard.operator")).strikes == (
        "guard.settings",
        "guard.operator",
    )
    assert fold(*(entry("watch", strike=no) for no in ("", None, 3))).strikes == (), "no rule, no strike"


def test_what_trips_the_breaker_anew_takes_the_place_of_what_did_before():
    """The second trip is told with all that it is about: what tripped first may be tried again."""
    session = fold(
        state("break", until=61.0, operations=["o"]), state("expire", 61.0), state("break", operations=["p"])
    )
    assert session.tripped == {"p"}


def test_the_end_of_a_call_that_left_the_window_does_not_close_the_breaker():
    half_open = fold(call("a"), state("break", until=61.0, operations=["o"]), state("expire", 61.0), call("b", "p"))
    assert half_open.half_open
    assert fold(entry("outcome", 62.0, id="long gone", code=0), session=half_open).half_open
    assert not fold(entry("outcome", 62.0, id="b", code=0), session=half_open).half_open


def test_the_breaker_opens_half_opens_and_closes():
    session = fold(call("a"), state("break", until=61.0, reason="loop", operations=["o"]))
    assert (session.state, session.until, session.tripped) == (State.PAUSED, 61.0, {"o"})
    session = fold(state("expire", 61.0), session=session)
    assert (session.half_open, session.calls) == (True, ())
    same = fold(call("b"), entry("outcome", 62.0, id="b", code=1), session=session)
    assert same.half_open
    step = fold(entry("outcome", 62.0, id="a step", code=0), session=session)
    assert step.half_open, "what is no call of the window closes nothing"
    other = fold(call("c", "other"), entry("outcome", 63.0, id="c", code=1), session=session)
    assert not other.half_open


def test_what_ends_during_the_pause_closes_no_breaker():
    begun = fold(call("c", "other"), call("a"), state("break", until=61.0, operations=["o"]))
    session = fold(entry("outcome", 2.0, id="c", code=0), state("expire", 61.0), session=begun)
    assert session.half_open, "it had begun before the breaker opened"


def test_the_person_clears_the_record():
    session = fold(call("a"), state("break", until=61.0, operations=["o"]), state("help"), state("resume"))
    assert (session.state, session.calls, session.tripped) == (State.ACTIVE, (), frozenset())


def test_cooling_down_starts_the_count_anew_and_remembers_when():
    session = fold(
        entry("usage", 10.0, output=5),
        state("cool", 11.0, until=41.0),
        state("expire", 41.0),
        state("cool", 700.0, until=730.0),
    )
    assert (session.usage, session.cooldowns) == ((), (700.0,))
    session = fold(*(state("cool", at) for at in (800.0, 1100.0, 1250.0)), session=session)
    assert session.cooldowns == (700.0, 800.0, 1100.0, 1250.0), "those of ten minutes"
    session = fold(state("cool", 1300.0), session=session)
    assert session.cooldowns == (800.0, 1100.0, 1250.0, 1300.0), "ten minutes old is too old"


def test_what_was_used_within_ten_minutes_counts_after_a_cool_down_too():
    session = fold(
        *(entry("usage", at, output=n) for n, at in enumerate((1010.0, 1100.0, 1400.0))), state("cool", 1700.0)
    )
    assert [u.at for u in session.usage] == [1400.0]


def test_cooling_down_hides_no_loop():
    assert [c.action for c in fold(call("a"), state("cool", until=41.0), state("expire", 41.0)).calls] == ["a"]


def test_old_usage_is_forgotten():
    session = fold(entry("usage", 1.0, input=5, cache_write=2), entry("usage", 700.0, output=7, cache_read=9))
    assert [u.work for u in session.usage] == [7]
    session = fold(entry("usage", 1.0, output=5), entry("usage", 600.5, output=7), entry("usage", 601.0, output=9))
    assert [u.work for u in session.usage] == [7, 9], "ten minutes old is too old"
    session = fold(entry("usage", 1_700_000_000.0, output=5), entry("usage", 1_700_000_601.0, output=7))
    assert [u.work for u in session.usage] == [7], "at any time of day"


def reply(at, key, **data):
    return entry("usage", at, source="claude", key=key, **data)


def test_what_is_told_of_a_reply_later_is_no_second_one():
    session = fold(reply(10.0, "m1", output=1), reply(11.0, "m2", output=5), reply(12.0, "m1", output=90))
    assert [(u.key, u.output) for u in session.usage] == [("m2", 5), ("m1", 90)]
    session = fold(reply(13.0, "m1", output=0), session=session)
    assert [(u.key, u.output, u.at) for u in session.usage] == [("m2", 5, 11.0), ("m1", 90, 10.0)], "nor is it less"
    session = fold(entry("usage", 12.0, source="codex", key="m1", output=7), session=session)
    assert sum(u.output for u in session.usage) == 102, "another client's reply of the same name is another reply"


def test_a_reply_counts_at_its_own_time():
    session = fold(reply(100.0, "m1", output=1, replied=40.5))
    assert [u.at for u in session.usage] == [40.5]


def test_that_tokens_are_not_known_is_a_fact_of_the_session():
    session = fold(entry("usage", 1.0, source="claude", unread="there is no record"))
    assert (session.token_sources, session.usage, session.tokens_unread) == (frozenset(), (), "there is no record")
    session = fold(entry("usage", 2.0, source="claude", unread=""), reply(3.0, "m1", output=0), session=session)
    assert (session.token_sources, session.tokens_unread) == ({"claude"}, ""), "and 0 is known, too"


def test_of_very_many_reports_the_newest_count():
    session = fold(*(entry("usage", 10.0, output=n) for n in range(1001)))
    assert (len(session.usage), session.usage[-1].output) == (1000, 1000)


@pytest.mark.parametrize(("last", "over"), [("kill", True), ("cool", False)])
def test_over(last, over):
    assert fold(state(last)).over is over


def test_the_end_is_the_end():
    assert fold(entry("end"), state("kill"), state("resume")).state is State.ENDED


OUTCOMES = (
    (Outcome("a", 2.0, 0), "success"),
    (Outcome("a", 2.0, 1, "e", "o", "boom", TestRun("pytest", frozenset("ab"), 2), 1.5, "t", "u"), "everything"),
    (Outcome("a", 2.0, 1, tests=TestRun("make", frozenset(), 3)), "a red run whose failed tests have no names"),
)


@pytest.mark.parametrize(("outcome", "why"), OUTCOMES, ids=[r[1] for r in OUTCOMES])
def test_outcomes_survive_the_log(outcome, why):
    assert outcome_from(Entry(2.0, "s", "outcome", outcome_data(outcome))) == outcome


def test_what_an_outcome_does_not_say_is_nothing():
    assert outcome_from(entry("outcome", id="a")) == Outcome("a", 1.0, 0)
    said = entry("outcome", id="a", code="?", duration="?", tests={"runner": "make", "count": "?"})
    assert outcome_from(said) == Outcome("a", 1.0, 0, tests=TestRun("make", frozenset(), 0))
    assert outcome_data(Outcome("a", 1.0, 0, duration=1.23456789))["duration"] == 1.2346


def test_a_persons_pause_has_no_end_of_its_own():
    paused = fold(state("pause"), session=Session("s"))
    assert paused.paused_by_person and not paused.waited(1e12)
    assert fold(state("resume"), session=paused).state is State.ACTIVE
    breaker = fold(state("break", until=61.0, operations=["o"]), session=Session("s"))
    assert not breaker.paused_by_person
    assert [breaker.waited(now) for now in (60.0, 61.0, 62.5)] == [False, True, True]
    assert not fold(state("break", until=-1.0), session=Session("s")).waited(5.0), "a time below 0 is none"
    assert fold(state("break", until=0.5), session=Session("s")).waited(0.5), "one within the first second is"
    assert fold(state("break", until="soon"), session=Session("s")).until == 0.0, "what is no number is no time"
    held = fold(state("pause", 2.0), session=breaker)
    assert held.paused_by_person and held.tripped == {"o"}, "the breaker's memory stays"
