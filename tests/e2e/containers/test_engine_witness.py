"""The engine of containers as a witness, with the real daemon and agent; docker itself only says that it ran."""

from __future__ import annotations

import threading
import time

import pytest

from tests.host.containers.test_container_engine import CONTAINER, Server, volume, written

COMPOSE = "services:\n  db:\n    image: postgres:16\n    volumes: [pg:/var/lib/postgresql/data]\nvolumes:\n  pg:\n"
WAITS, LATER = 4.0, 5.0
"""Seconds until the agent asks, and when its container was made: after the session began, not too far from now."""


@pytest.mark.parametrize(("since", "code", "why"), [(LATER, 0, "the session's"), (-900.0, 126, "of before")])
def test_whose_a_project_is(stage, since, code, why):
    stub = stage.folder / "bin" / "docker"
    stub.write_text("#!/bin/sh\necho stub docker\n")
    stub.chmod(0o755)
    stage.commit(compose__yaml=COMPOSE)
    made = time.time() + since
    row = {**CONTAINER, "Created": int(made), "Labels": {"com.docker.compose.project": "repo"}}
    row["Mounts"] = [{**CONTAINER["Mounts"][0], "Name": "repo_pg"}]
    kept = volume(Name="repo_pg", CreatedAt=written(made))
    answers = {"/containers/json?all=1": [row], "/volumes": {"Volumes": [kept]}}
    path = stage.folder / "docker.sock"
    with Server(str(path), answers, "Docker/27.3.1 (linux)", 0, 0) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        stage.environ["DOCKER_HOST"] = f"unix://{path}"
        _, (done, led) = stage.agent(
            WAITS, "docker compose down -v", f"DOCKER_HOST=unix://{path} docker compose down -v"
        )
        server.shutdown()
    assert done["code"] == code, why
    assert led["code"] == 126, "a socket that the text names"
