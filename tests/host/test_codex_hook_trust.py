"""Codex's app-server that fails: a program in its place ends as the real one did once. That it works is shown with the
real one (``tests/real_agents``).
"""

from __future__ import annotations

import os

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host import codex_hook_trust

ANSWERS = """#!/usr/bin/env python3
import json, pathlib, sys
starts = pathlib.Path("@starts@")
starts.write_text(starts.read_text() + "x")
if len(starts.read_text()) <= @failing@:
    sys.exit("thread 'main' panicked\\x1b[2J")
hooks = [{"command": "ours", "trustStatus": "trusted"}, {"command": "theirs", "trustStatus": "trusted"}]
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        said = {"data": [{"hooks": hooks}]} if asked["method"] == "hooks/list" else {}
        print(json.dumps({"id": asked["id"], "result": said}), flush=True)
"""


def server(tmp_path, failing: int):
    starts, program = tmp_path / "starts", tmp_path / "codex"
    starts.write_text("")
    program.write_text(ANSWERS.replace("@starts@", str(starts)).replace("@failing@", str(failing)))
    program.chmod(0o755)
    return str(program), starts


@pytest.mark.parametrize(("failing", "starts"), [(0, 1), (1, 2)], ids=["it works", "it ends once"])
def test_a_server_that_ends_without_an_answer_is_started_once_more(tmp_path, failing, starts):
    program, started = server(tmp_path, failing)
    assert codex_hook_trust.trusted(program, "/", os.environ, lambda command: command == "ours") == 1
    assert len(started.read_text()) == starts


def test_one_that_ends_each_time_is_told_with_its_last_words(tmp_path):
    program, started = server(tmp_path, 9)
    with pytest.raises(HostError) as raised:
        codex_hook_trust.trust(program, "/", os.environ, lambda _: True)
    assert len(started.read_text()) == codex_hook_trust.ATTEMPTS
    assert "started 2 times" in raised.value.message and "exit code 1" in raised.value.message
    assert "panicked" in raised.value.message and "\x1b" not in raised.value.message
    assert "/hooks" in raised.value.hint
