"""The check ``loop`` (R5): detects an agent that repeats the same failing calls.

Rules of this file:
1. Progress is no loop: another output, another error, a package that was installed, or a changed file between two tries
   is progress; so is what another try changes itself.
   Without words (none were said, or nobody saw them) a failure is the same one for the same operation only.
2. An error is a failed call (``core.session.failure_exit_codes``), never a word in an output.
3. Each pattern names the calls that repeat; how many are too many depends on what they are (``_limits``).
4. A hint comes one step (of a cycle: one round) before the trip, once, and after a call that failed.
5. Only what failed is a loop of death: repeated success is hinted at and trips later, and a poll later still. Different
   tries that fail alike are given more room than one that comes again.
6. The breaker is keyed to all operations of the pattern, so that no member of a cycle goes on alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.call_history import (
    changed_files,
    error_words,
    files_unchanged,
    finished_calls,
    result,
)
from sentinel_guard.core.model import Finding, Response
from sentinel_guard.core.response_phrases import INTERVENTION, seconds
from sentinel_guard.core.session.failure_exit_codes import failed, infrastructure
from sentinel_guard.core.session.session import Call
from sentinel_guard.core.text.normalize_output import BLANK

NAME = "loop"

MAX_PERIOD = 5
DESPITE_CHANGES = 5
"""The same error so often is a loop even where files change between, or each try is another one."""
SUCCESS_HINT, SUCCESS_TRIP = 4, 8
"""Rounds of the same successes."""
INFRASTRUCTURE = 8
"""Errors of a network or a service have their own budget."""
POLL_HINT, POLL_TRIP = 10, 20
APART = 60.0
"""Seconds of quiet between two tries that make them a poll."""

Calls = Sequence[Call]


@dataclass(frozen=True, slots=True)
class Pattern:
    """Calls that repeat, oldest first, the newest last."""

    calls: tuple[Call, ...]
    why: str
    """What repeats, for the agent; ``{n}`` stands for how often."""
    trip: int
    """Calls at which failing ones are a loop."""
    period: int = 0
    """Length of the cycle; 0 where the calls stand anywhere in the window."""
    literal: bool = False
    """True: ``trip`` counts, whatever the calls are (strict)."""


class Loop:
    """Looks at outcomes only: the breaker opens when the last try has failed."""

    name = NAME

    def __call__(self, case: Case) -> Iterable[Finding]:
        calls = finished_calls(case)
        if not calls:
            return
        if case.policy.loop.strict:
            patterns = _strict(case, calls)
        else:
            patterns = _patterns(case, calls)
        found = [f for p in patterns if (f := _finding(case, p))]
        yield from sorted(found, key=lambda f: -f.response)[:1]


CHECK = Loop()


def _patterns(case: Case, calls: Calls) -> Iterator[Pattern]:
    repeats, window = case.policy.loop.repeats, calls[-case.policy.loop.window :]
    yield from _cycles(calls, repeats)
    if not failed(calls[-1].outcome):
        return
    tried = _since_install(window)
    yield Pattern(_same_operation(tried), "the same operation failed {n} times in the same way", repeats)
    if error_words(result(calls[-1])):
        why, same = "the same error came {n} times", _same_error(tried, still=True)
        varied = len({c.operation for c in same}) == len(same)
        yield Pattern(same, f"{why}, and no file changed between", DESPITE_CHANGES if varied else repeats)
        yield Pattern(_same_error(window, still=False), f"{why}, whatever was changed between", DESPITE_CHANGES)
    if returned := _returned(window):
        yield Pattern(returned, "the files are back in an earlier state for the second time", len(returned))


def _strict(case: Case, calls: Calls) -> Iterator[Pattern]:
    """R5 to the letter: the last 3 calls identical in tool and arguments, or the last 3 error outputs identical."""
    repeats, window = case.policy.loop.repeats, calls[-case.policy.loop.window :]
    last = tuple(window[-repeats:])
    if len({c.operation for c in last}) == 1:
        yield Pattern(last, "the last {n} calls are identical", repeats, literal=True)
    errors = tuple(c for c in window if failed(c.outcome))[-repeats:]
    if errors and errors[-1] is window[-1] and len({result(c).error for c in errors}) == 1:
        yield Pattern(errors, "the last {n} error outputs are identical", repeats, literal=True)


# What repeats


def _cycles(calls: Calls, repeats: int) -> Iterator[Pattern]:
    """The calls at the end that repeat every 1 to 5 calls with the same outcomes."""
    last = calls[-1].operation
    # Most calls are none that came a turn before.
    periods = [p for p in range(1, min(MAX_PERIOD, len(calls) // 2) + 1) if calls[-1 - p].operation == last]
    keys = [_key(c) for c in calls] if periods else []
    for period in periods:
        block = keys[-period:]
        if any(period % d == 0 and all(map(_alike, block, block[d:])) for d in range(1, period)):
            continue
        length = period
        # With all of its turn, not with the next alone: a worktree that was not looked at would join two that differ.
        while length < len(keys) and all(_alike(keys[-length - 1], k) for k in keys[-length - 1 + period :: period]):
            length += 1
        length += _first_round(keys, length, period)
        if length >= 2 * period:
            what = "the same call came {n} times" if period == 1 else f"{period} calls came in turn, {{n}} in all"
            yield Pattern(tuple(calls[-length:]), f"{what}, with the same outcome", repeats * period, period)


def _first_round(keys: Sequence[tuple[object, ...]], length: int, period: int) -> int:
    """Calls before a cycle of several that differ from their turn in the files only: the rest repeats what they did."""
    done = 0
    while done < period - 1 and length + done < len(keys):
        at = len(keys) - length - done - 1
        if keys[at][:-1] != keys[at + period][:-1]:
            break
        done += 1
    return done


def _key(call: Call) -> tuple[object, ...]:
    done = result(call)
    return call.operation, done.code, done.error, done.output, done.after


def _alike(one: tuple[object, ...], two: tuple[object, ...]) -> bool:
    """True for two keys that differ at most in that the worktree was not looked at after one of the calls."""
    return one[:-1] == two[:-1] and (one[-1] == two[-1] or not (one[-1] and two[-1]))


def _since_install(window: Calls) -> Calls:
    """The calls after the newest one that installed packages."""
    done = [i for i, c in enumerate(window) if c.installs and not failed(c.outcome)]
    return window[done[-1] + 1 :] if done else window


def _same_operation(window: Calls) -> tuple[Call, ...]:
    """Tries of the newest operation, backwards until one ended otherwise or a file changed before the next."""
    return _tail([c for c in window if c.operation == window[-1].operation], _same_outcome)


def _same_error(window: Calls, *, still: bool) -> tuple[Call, ...]:
    """Failures with the newest error, of any operation; ``still``: with no change of files between."""
    same = [c for c in window if failed(c.outcome) and result(c).error == result(window[-1]).error]
    if still:
        return _tail(same, _nothing_changed)
    # Files changed and so did what was printed: that is progress, even under the same last words.
    return tuple(c for c in same if result(c).output == result(window[-1]).output)


def _nothing_changed(earlier: Call, later: Call) -> bool:
    """Whether no file changed between two tries, nor by the later one where it is another: ``sed -i … f && make``."""
    return files_unchanged(earlier, later) and (later.operation == earlier.operation or not changed_files(later))


def _same_outcome(earlier: Call, later: Call) -> bool:
    one, two = result(earlier), result(later)
    return (one.code, one.error, one.output) == (two.code, two.error, two.output) and files_unchanged(earlier, later)


def _failure(call: Call) -> object:
    """What tells a failure from another: its words; without any, what was tried and the exit code."""
    return error_words(result(call)) or (call.operation, result(call).code)


def _tail(calls: Calls, alike: Callable[[Call, Call], bool]) -> tuple[Call, ...]:
    """The calls at the end of which each is like the one before."""
    start = len(calls) - 1
    while start > 0 and alike(calls[start - 1], calls[start]):
        start -= 1
    return tuple(calls[start:])


def _returned(window: Calls) -> tuple[Call, ...]:
    """The calls since the files were first as they are now, where they came back twice, failing the same way."""
    states = [(i, after) for i, c in enumerate(window) if (after := result(c).after)]
    now = result(window[-1]).after
    first = [i for n, (i, after) in enumerate(states) if after == now and (n == 0 or states[n - 1][1] != now)]
    visits = first[-3:]
    if not now or len(visits) < 3:
        return ()
    laps = [window[a + 1 : b + 1] for a, b in pairwise(visits)]
    errors = [{_failure(c) for c in lap if failed(c.outcome)} for lap in laps]
    return tuple(window[visits[0] :]) if errors[0] & errors[1] else ()


# How often is too often


def _finding(case: Case, pattern: Pattern) -> Finding | None:
    hint, trip = _limits(pattern)
    count = len(pattern.calls)
    why = pattern.why.format(n=count)
    if count >= trip:
        operations = frozenset(c.operation for c in pattern.calls)
        said = f"{why[:1].upper()}{why[1:]}. This session is paused for {seconds(case.policy.breaker.seconds)}"
        way = "after the pause change a file or run another command; the same operation stops you again at once"
        return Finding(NAME, Response.BREAK, INTERVENTION, said, way, operations=operations)
    # A call that the window is about to lose is none that the next one adds to.
    stays = pattern.period or pattern.calls[0] in finished_calls(case)[1 - case.policy.loop.window :]
    return _hint(pattern, why, trip) if count == hint > 1 and stays else None


def _hint(pattern: Pattern, why: str, trip: int) -> Finding | None:
    """What is said before the trip; None after a success among failures, which said it themselves."""
    bad = [failed(c.outcome) for c in pattern.calls]
    if any(bad) and not bad[-1] and len(bad) < POLL_HINT and not pattern.literal:
        return None
    if not any(bad):
        way = "go on with what it showed the first time, or ask the user"
    elif any(infrastructure(result(c)) for c in pattern.calls):
        way = "find out whether the service runs, or wait longer before the next try"
    else:
        way = "change something before you try again, or try another way"
    return Finding(NAME, Response.HINT, why, _warning(pattern, trip - len(bad)), way)


def _warning(pattern: Pattern, left: int) -> str:
    more = {pattern.period: "one more round", 1: "the same once more"}.get(left, f"nothing new came of it; {left} more")
    return f"{more} and the circuit breaker stops you"


def _limits(pattern: Pattern) -> tuple[int, int]:
    """The numbers of calls at which a pattern is hinted at, and trips."""
    calls, step, whole = pattern.calls, max(1, pattern.period), 3 * pattern.period
    if pattern.literal:
        return pattern.trip - 1, pattern.trip
    if any(c.poll for c in calls) or _apart(pattern):
        return max(POLL_HINT, whole), max(POLL_TRIP, whole)
    if any(infrastructure(result(c)) for c in calls):
        return (INFRASTRUCTURE - 1) * step, INFRASTRUCTURE * step
    if any(failed(c.outcome) for c in calls):
        return pattern.trip - step, pattern.trip
    if not all(result(c).output for c in calls):
        # A success whose output nobody saw is no evidence of anything.
        return len(calls) + 1, len(calls) + 2
    if result(calls[-1]).after:
        hint = max(SUCCESS_HINT, whole, _compared(pattern))
        return hint, hint + max(SUCCESS_TRIP - SUCCESS_HINT, step)
    if all(result(c).output == BLANK for c in calls):
        return len(calls) + 1, len(calls) + 2
    return max(POLL_HINT, whole), max(POLL_TRIP, whole)


def _compared(pattern: Pattern) -> int:
    """The number of calls from which on successes are known to have changed no file: each may have been right after an
    edit that is no call.
    """
    unknown = next((i for i, c in enumerate(pattern.calls) if result(c).after), len(pattern.calls))
    return unknown + pattern.period + 1


def _apart(pattern: Pattern) -> bool:
    """True where each try came at least a minute after the end of the one that it repeats."""
    pairs = zip(pattern.calls, pattern.calls[max(1, pattern.period) :], strict=False)
    gaps = [later.at - result(earlier).at for earlier, later in pairs]
    return bool(gaps) and min(gaps) >= APART
