"""``sentinel-guard allow``: what is asked of the daemon, and what is said. A fake daemon on a real socket."""

from __future__ import annotations

import time

import pytest

from sentinel_guard.commands.allow_paths import allow, show
from sentinel_guard.errors import ConfigError, DaemonError
from sentinel_guard.host.machine.state_paths import places
from tests.support.fake_daemon import FakeDaemon


@pytest.fixture
def where(tmp_path):
    return places({"SENTINEL_HOME": str(tmp_path / "g")})


@pytest.fixture
def daemon(where):
    fake = FakeDaemon(where)
    fake.replies["allow"] = {"until": time.time() + 600}
    yield fake
    fake.close()


SPANS = [("30s", 30), ("10m", 600), ("2h", 7200), ("24h", 86400), ("0s", 0)]


@pytest.mark.parametrize("row", SPANS, ids=[s[0] for s in SPANS])
def test_a_span_in_seconds(where, daemon, tmp_path, row, capsys):
    span, seconds = row
    assert allow(where, tmp_path, [".env"], span) == 0
    asked = daemon.wait("allow")
    assert (asked["path"], asked["span"]) == (str(tmp_path / ".env"), seconds)
    assert ("closed" if not seconds else "stays") in capsys.readouterr().out


BAD = ["", "10", "m", "10d", "-5m", "25h", "0m", "1.5h", "10m10s", "10 m", "9999999999s", "10m\n1"]


@pytest.mark.parametrize("span", BAD)
def test_a_span_that_is_none(where, daemon, tmp_path, span):
    with pytest.raises(ConfigError, match="no time for a window"):
        allow(where, tmp_path, [".env"], span)


def test_paths_are_told_absolute_and_a_link_stays_a_link(where, daemon, tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "way").symlink_to(real)
    (real / ".env").symlink_to("/etc/hostname")
    allow(where, tmp_path / "way", [".env", "secrets/", "../real/x", "."], "10m")
    asked = [m["path"] for m in daemon.heard if m["op"] == "allow"]
    assert asked == [str(real / name) for name in (".env", "secrets", "x")] + [str(real)]


def test_open_windows_are_listed(where, daemon, tmp_path, capsys):
    daemon.replies["windows"] = {"sessions": ["s1"], "windows": [{"session": "s1", "path": "/r/\x1b[2J", "until": 5.0}]}
    assert show(where, tmp_path) == 0
    assert r"/r/\x1b[2J: what you change until" in capsys.readouterr().out
    daemon.replies["windows"] = {"sessions": ["s1"], "windows": []}
    show(where, tmp_path)
    assert "No window is open" in capsys.readouterr().out


def test_without_a_session_the_words_say_so(where, tmp_path):
    for ask in (lambda: allow(where, tmp_path, [".env"], "10m"), lambda: show(where, tmp_path)):
        with pytest.raises(DaemonError, match="No guarded session is running here") as caught:
            ask()
        assert "Edit the file" in caught.value.hint
    fake = FakeDaemon(where)
    fake.replies["windows"] = {"sessions": [], "windows": []}
    try:
        with pytest.raises(DaemonError, match="No guarded session"):
            show(where, tmp_path)
    finally:
        fake.close()
