"""Room for frames: a loop at the end of a chunk asks the kernel for nothing. Pages are counted, not seconds."""

from __future__ import annotations

import resource

from sentinel_guard.core.frame_stack import with_room

CALLS = 300


def called() -> None:
    pass


def new_pages(depth: int) -> int:
    """Pages that the kernel gives while a loop at this depth calls a function."""
    if depth:
        return new_pages(depth - 1)
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    for _ in range(CALLS):
        called()
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before


def test_at_every_depth_a_call_costs_no_page():
    assert with_room(lambda: max(map(new_pages, range(600)))) < CALLS / 2


def test_it_gives_what_its_work_gives_and_raises():
    assert with_room(lambda: "said") == "said"
    try:
        with_room(lambda: 1 // 0)
    except ZeroDivisionError:
        return
    raise AssertionError
