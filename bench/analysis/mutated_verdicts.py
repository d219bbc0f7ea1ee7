"""``make mutated``: the CPU time of verdicts on mutated commands, the same in each run (``SEED=7`` for others).

Samples of the rules, dangerous commands and generated scripts, cut, doubled and mixed with what a shell reads in its
own way; judged as ``sentinel-guard check`` does, in a small repository on this machine. Nothing of them is ever run.
What takes over 50 ms is judged three times more, and counted where it takes that in the fastest, too. A processor that
is shared is at times half as fast as at others, in CPU time too: a fixed piece of work beside each says how fast it
was, and its time counts as it would at the best that was seen. What a daemon loads before it is asked is loaded.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Iterator

from bench.analysis.bash_script_generator import Generator
from bench.analysis.rewritings import TABLE
from bench.verdict_accuracy import Fixture
from sentinel_guard.commands.check import Checker
from sentinel_guard.core.analysis.programs.databases import sql_statements
from sentinel_guard.core.frame_stack import with_room
from sentinel_guard.core.response_text import visible
from sentinel_guard.daemon.assembly import keep_what_is_loaded
from sentinel_guard.host.machine.state_paths import places
from tests.core.analysis.test_mutated_texts import SAMPLES, mutated

COUNT = 100_000
LIMIT = 0.05
AGAIN = 3
SHOWN = 5


def texts(seed: int, count: int) -> Iterator[str]:
    """``count`` mutated texts; one in ten is of a generated script."""
    known = [*SAMPLES, *TABLE["commands"], *TABLE["dangerous"]]
    chance = random.Random(seed)
    for _ in range(count):
        own = chance.getrandbits(32)
        yield mutated(Generator(own).script() if own % 10 == 0 else chance.choice(known), own)


def seconds(checker: Checker, text: str, cwd: str) -> float:
    began = time.thread_time()
    checker.verdict(text, cwd)
    return time.thread_time() - began


def pace() -> float:
    """Seconds of CPU that a fixed piece of work takes just now."""
    began = time.thread_time()
    for number in range(20_000):
        str(number).partition("7")
    return time.thread_time() - began


def measured(wanted: Iterator[str]) -> list[tuple[float, float, str]]:
    """Of each text: seconds at first, and in the fastest of all its runs, at the best pace."""
    found = []
    best = min(pace() for _ in range(200))
    with Fixture() as fixture:
        cwd, checker = str(fixture.repository), Checker(places())
        checker.verdict("ls", cwd)
        sql_statements.load()
        keep_what_is_loaded()
        for text in wanted:
            first = least = seconds(checker, text, cwd)
            if first > LIMIT:
                least = min(_at_best(checker, text, cwd, best) for _ in range(AGAIN))
            found.append((first, least, text))
    return found


def _at_best(checker: Checker, text: str, cwd: str, best: float) -> float:
    before = pace()
    took = seconds(checker, text, cwd)
    return took * min(1.0, best / ((before + pace()) / 2))


def main() -> int:
    seed, count = int(os.environ.get("SEED", "1")), int(os.environ.get("COUNT", COUNT))
    found = with_room(lambda: measured(texts(seed, count)))
    first, over = [row for row in found if row[0] > LIMIT], [row for row in found if row[1] > LIMIT]
    times = sorted(row[0] for row in found)
    print(
        f"{len(found):,} mutated commands, seed {seed}: {len(over)} over {LIMIT * 1000:.0f} ms ({len(first)} at first)"
    )
    print(f"median {times[len(times) // 2] * 1000:.2f} ms, longest {times[-1] * 1000:.1f} ms")
    for at, least, text in sorted(found, reverse=True)[:SHOWN]:
        print(f"{at * 1000:7.1f} ms, at best {least * 1000:.1f}: {visible(text)[:150]}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
