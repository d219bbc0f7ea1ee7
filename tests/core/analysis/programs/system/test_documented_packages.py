"""Packages of the system that files of the project ask for: sudo installs these, and nothing else, unasked."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Response
from tests.support.judge_cases import said_of_last

ALLOW, ASK = Response.ALLOW, Response.ASK
ROWS = [
    ("sudo apt-get update && sudo apt-get install -y stow", {"README.md": "Needs `stow`.\n"}, ALLOW, "by its README"),
    ("sudo DEBIAN_FRONTEND=noninteractive apt install -y jq", {"Dockerfile": "RUN apk add jq"}, ALLOW, "by its image"),
    ("sudo apt-get install -y stow", {"README.md": "Needs stowaway.\n"}, ASK, "nobody asks for it"),
    ("sudo apt-get install -y stow -o DPkg::Pre-Invoke::=id", {"README.md": "stow"}, ASK, "a program runs first"),
    ("sudo apt-get install -y ./stow.deb", {"README.md": "./stow.deb"}, ASK, "a file"),
    ("sudo apt-get install -y postgresql-", {"Dockerfile": "RUN apt install postgresql-${PG}"}, ASK, "taken away"),
    ("echo stow >> README.md && sudo apt-get install -y stow", {"README.md": "x"}, ASK, "the text asks for it itself"),
    ("sudo apt-get remove -y stow", {"README.md": "stow"}, ASK, "taken away"),
    ("sudo -u root apt-get update", {}, ASK, "an option of sudo"),
    ("sudo APT_CONFIG=/tmp/x apt-get update", {}, ASK, "settings that may name a program"),
]


@pytest.mark.parametrize(
    ("text", "files", "response", "why"), ROWS, ids=[f"{n}: {row[3]}" for n, row in enumerate(ROWS)]
)
def test_what_sudo_installs(text: str, files: dict[str, str], response: Response, why: str) -> None:
    assert said_of_last((text,), files) is response, why
