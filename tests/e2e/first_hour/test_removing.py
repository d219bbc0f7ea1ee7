"""Going away: what runs is ended too, but never under a session that works."""

from __future__ import annotations

import pexpect
import pytest

from tests.support.wait_until import until


@pytest.fixture
def stage(alone):
    return alone


def test_the_daemon_goes_with_the_last_repository(stage):
    stage.commit()
    assert stage.sentinel("install").returncode == 0
    stage.agent("echo hi")
    assert stage.daemons()
    told = stage.sentinel("uninstall", "--all")
    assert told.returncode == 0 and "The guard daemon has stopped." in told.stdout
    assert until(lambda: not stage.daemons())


def test_a_session_keeps_its_daemon(stage):
    stage.commit()
    agent = stage.on_terminal("touch begun", 3)
    assert until((stage.repo / "begun").exists, seconds=20)
    told = stage.sentinel("uninstall", "--all")
    assert told.returncode == 0 and "1 guarded session(s) are alive" in told.stdout
    assert stage.daemons()
    agent.expect(pexpect.EOF)
