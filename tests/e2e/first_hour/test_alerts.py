"""Alerts from a real session: a real daemon posts to a real listener, and says on record when it cannot."""

from __future__ import annotations

from tests.host.test_alert_channels import Listener
from tests.support.wait_until import until

LOOP = ["false-command"] * 3


def test_a_breaker_is_told_and_a_channel_that_fails_is_on_record(stage):
    listener = Listener()
    try:
        stage.commit(a__txt="a\n")
        stage.policy(f'[alerts]\nurls = ["json://127.0.0.1:1/", "{listener.url}"]\n')
        _, seen = stage.agent(*LOOP)
        assert "SYSTEM INTERVENTION" in seen[-1]["out"] + seen[-1]["err"]
        until(lambda: listener.posts)
        assert "L3" in listener.posts[0]["title"] and "Loop Detected" in listener.posts[0]["message"]
        failed = until(lambda: [e for e in stage.log(kind="daemon") if e["data"].get("event") == "alert-failed"])
        assert failed[0]["data"]["what"] == "An alert was not sent: address 1 (json) did not take it."
    finally:
        listener.close()
