"""Where things live, and that only their user can look at them."""

from __future__ import annotations

import os
import pwd
import stat
import tempfile
from pathlib import Path

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host.machine import state_paths
from sentinel_guard.host.machine.state_paths import MAX_SOCKET_PATH, StatePaths, places

UID = os.getuid()
USUAL = pwd.getpwuid(UID).pw_dir
HOMES = (
    (
        {"SENTINEL_HOME": "/x", "HOME": "/h", "XDG_STATE_HOME": "/s"},
        ("/x/state", "/x/run", "/x/config"),
        "SENTINEL_HOME moves everything",
    ),
    (
        {"HOME": USUAL},
        (f"{USUAL}/.local/state/sentinel-guard", f"/tmp/sentinel-guard-{UID}", f"{USUAL}/.config/sentinel-guard"),
        "the user's own home",
    ),
    (
        {"HOME": USUAL, "XDG_RUNTIME_DIR": "/r"},
        (f"{USUAL}/.local/state/sentinel-guard", "/r/sentinel-guard", f"{USUAL}/.config/sentinel-guard"),
        "a login with a runtime folder",
    ),
    (
        {"HOME": "/h"},
        ("/h/.local/state/sentinel-guard", f"/tmp/sentinel-guard-{UID}-928e6405", "/h/.config/sentinel-guard"),
        "another home has sockets of its own",
    ),
    (
        {"HOME": "/h", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c", "XDG_RUNTIME_DIR": "/r"},
        ("/s/sentinel-guard", "/r/sentinel-guard-5d28c884", "/c/sentinel-guard"),
        "XDG",
    ),
    (
        {"HOME": "/h", "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": ""},
        ("/h/.local/state/sentinel-guard", f"/tmp/sentinel-guard-{UID}-928e6405", "/h/.config/sentinel-guard"),
        "an empty variable is an unset one",
    ),
)


@pytest.mark.parametrize(("environ", "folders"), [h[:2] for h in HOMES], ids=[h[2] for h in HOMES])
def test_the_folders_that_an_environment_names(environ, folders, monkeypatch):
    # Who runs this test may have a guard: where its daemon listened is remembered in their home.
    monkeypatch.setattr(state_paths, "_listening", lambda _: None)
    found = places(environ)
    assert (str(found.state), str(found.runtime), str(found.config)) == folders
    assert found.home == environ.get("SENTINEL_HOME", "")


def test_a_relative_home_is_made_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert places({"SENTINEL_HOME": "here"}).home == str(tmp_path / "here")


@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_without_a_home_it_says_what_to_set(environ):
    with pytest.raises(HostError, match="SENTINEL_HOME"):
        places(environ)


def test_what_lies_where():
    here = StatePaths(Path("/s"), Path("/r"), Path("/c"))
    assert [str(p) for p in (here.agent_socket, here.operator_socket, here.lock)] == [
        "/r/agent.sock", "/r/operator.sock", "/r/daemon.lock",
    ]  # fmt: skip
    assert str(here.policy) == "/c/sentinel.toml"
    assert str(here.shims("s1")) == "/s/sessions/s1/shims"


def test_a_home_by_another_name_is_the_same(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "link").symlink_to("home")
    runtimes = {places({"HOME": str(tmp_path / name), "XDG_RUNTIME_DIR": "/r"}).runtime for name in ("home", "link")}
    assert len(runtimes) == 1


@pytest.fixture
def home():
    # Short, because a Unix socket path holds 107 bytes.
    with tempfile.TemporaryDirectory(prefix="sg-") as folder:
        yield Path(folder)


def listening(home, **spoilt) -> StatePaths:
    """The folders of a login without XDG_RUNTIME_DIR, where a daemon of another one wrote down its sockets' folder."""
    desktop = places({"HOME": str(home), "XDG_RUNTIME_DIR": str(home / "r")})
    desktop.make()
    desktop._replace(**spoilt).say_where_it_listens()
    return places({"HOME": str(home)})


def test_a_login_of_another_kind_finds_where_the_daemon_listens(home):
    assert listening(home).runtime.parent == home / "r"


NOWHERE = (
    ({"runtime": Path("/gone")}, "the folder went with the login"),
    ({"runtime": Path("/proc/1")}, "a folder of somebody else"),
    ({"runtime": Path("/a\nb")}, "a name of two lines"),
    ({"config": Path("/other")}, "a daemon with another policy"),
)


@pytest.mark.parametrize(("spoilt", "why"), NOWHERE, ids=[w for _, w in NOWHERE])
def test_what_was_written_down_counts_only_where_it_holds(home, spoilt, why):
    if spoilt == {"runtime": Path("/proc/1")} and UID == 0:
        spoilt = {"runtime": Path(f"/proc/{os.getpid()}/gone")}
    assert listening(home, **spoilt).runtime.parent == Path("/tmp"), why


def folders(tmp_path) -> StatePaths:
    return StatePaths(tmp_path / "a" / "state", tmp_path / "run", tmp_path / "config")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folders_are_private_and_made_once(tmp_path):
    made = folders(tmp_path)
    for _ in range(2):
        made.make()
    assert [mode(p) for p in (made.state, made.runtime, made.config)] == [0o700] * 3


def test_a_folder_that_others_may_look_into_is_closed(tmp_path):
    made = folders(tmp_path)
    made.make()
    made.runtime.chmod(0o755)
    made.make()
    assert mode(made.runtime) == 0o700


def spoil_link(made):
    made.runtime.symlink_to(made.config)
    return made


def spoil_file(made):
    made.runtime.write_text("")
    return made


def spoil_owner(made):
    made.runtime.mkdir()
    os.chown(made.runtime, 12345, 12345)
    return made


def spoil_long(made):
    return made._replace(runtime=made.runtime / ("x" * MAX_SOCKET_PATH))


SPOILT = (
    (spoil_link, "is not yours", "a link, that somebody else might have laid"),
    (spoil_file, "Cannot make", "a file in its place"),
    pytest.param(
        spoil_owner, "is not yours", "another user's folder",
        marks=pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away"),
    ),
    (spoil_long, "too long", "a path that no socket can have"),
)  # fmt: skip


@pytest.mark.parametrize(("spoil", "words", "why"), SPOILT)
def test_what_is_not_safe_is_refused_with_the_way_out(tmp_path, spoil, words, why):
    made = folders(tmp_path)
    made.config.mkdir()
    made = spoil(made)
    with pytest.raises(HostError, match=words) as refused:
        made.make()
    assert refused.value.hint, why
