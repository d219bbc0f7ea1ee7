"""How often a change of a restricted file is told."""

from __future__ import annotations

from sentinel_guard.daemon.file_integrity.file_change_alerts import FLOOD, FREE, PAUSE, AlertRateLimit


def test_findings_of_a_path_are_told_now_and_then():
    toll = AlertRateLimit()
    told = [toll.times("/r/.env", at / 8) for at in range(250)]
    assert [n for n in told if n] == [1] * FREE + [int(PAUSE * 8)] * 3
    assert toll.times("/r/other", 0) == 1


def test_of_very_many_files_some_are_told_and_then_how_many_more():
    toll = AlertRateLimit()
    told = [toll.times(f"/r/{n}.pem", n / 1000) for n in range(1000)]
    assert [n for n in told if n] == [1] * FLOOD
    assert (toll.hushed(1.0), toll.hushed(PAUSE + 1), toll.hushed(PAUSE + 1)) == (0, 1000 - FLOOD, 0)
