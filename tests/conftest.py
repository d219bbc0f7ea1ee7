"""Guard rails: no test touches the real home, and none needs another's leavings."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

from sentinel_guard.host.machine.pseudo_terminal import MULTIPLEXERS
from tests.support.time_limits import limit

# Seconds that one test may take on a quiet machine.
os.environ.setdefault("PYTEST_TIMEOUT", "120")

# The same examples in every run: a gate does not throw dice. HYPOTHESIS_PROFILE=explore looks further.
# Nor does it take a busy machine for slow strategies.
BUSY = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile("gate", derandomize=True, deadline=None, suppress_health_check=BUSY)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=2000, suppress_health_check=BUSY)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gate"))

# Started by nohup or in the background of a script, every program that a test starts would ignore these, too.
for _number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else signal.SIG_DFL)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """How long a test may take goes by how busy the machine is when it begins; pytest-timeout looks after that."""
    marker = item.get_closest_marker("timeout")
    seconds = float(marker.args[0] if marker else os.environ["PYTEST_TIMEOUT"])
    item.add_marker(pytest.mark.timeout(limit(seconds)), append=False)
    return (yield)


def pytest_collection_finish() -> None:
    """The tests stay until the end: no collection of garbage looks through 20,000 of them again."""
    gc.freeze()


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


_HAD_TERMINAL = _has_terminal()


def _hang_up(*_: object) -> None:
    """The kernel hangs up a process group that is orphaned while one of it stands still (setpgid(2)), and tests stop
    processes: without a terminal, in CI or under nohup, that is this one. Programs that tests start have the default.
    """
    if _HAD_TERMINAL and not _has_terminal():
        os._exit(128 + signal.SIGHUP)


signal.signal(signal.SIGHUP, _hang_up)
GIT_IDENTITY = {
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.com",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.com",
    "GIT_CONFIG_NOSYSTEM": "1",
}


@pytest.fixture(autouse=True, scope="session")
def _no_real_home():
    """HOME and every path of ours point below a throw-away folder for the whole run."""
    before = dict(os.environ)
    # Short, because a Unix socket path holds 107 bytes.
    home = tempfile.mkdtemp(prefix="sg-")
    ours = ("GIT_", "SENTINEL_", "XDG_", *MULTIPLEXERS)
    for key in [*(k for k in os.environ if k.startswith(ours)), "BASH_ENV", "ENV"]:
        os.environ.pop(key, None)
    os.environ.update({"HOME": home, "SENTINEL_HOME": f"{home}/sentinel", **GIT_IDENTITY})
    Path(home, ".gitconfig").write_text("[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n")
    yield
    os.environ.clear()
    os.environ.update(before)
    shutil.rmtree(home, ignore_errors=True)
