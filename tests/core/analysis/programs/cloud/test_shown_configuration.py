"""What ``docker compose config`` shows: variables that are filled in, or passed on, may hold secrets."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Response
from tests.support.judge_cases import said_of_last

ALLOW, ASK = Response.ALLOW, Response.ASK
BEGINS = "services:\n  api:\n    "
FILES = {
    ".env": "x\n",
    "plain.yml": f"{BEGINS}build: .\n    environment:\n      PORT: '8080'\n",
    "filled.yml": f"{BEGINS}environment:\n      TOKEN: ${{TOKEN}}\n",
    "passed.yml": f"{BEGINS}environment:\n      - API_TOKEN\n",
    "small.yml": f"{BEGINS}environment:\n      - api_token\n    image: x\n",
    "null.yml": f"{BEGINS}environment:\n      TOKEN: null\n    image: x\n",
    "none.yml": f"{BEGINS}environment:\n      TOKEN:\n    image: x\n",
    "literal.yml": f"{BEGINS}environment:\n      - PORT=8080\n      # of the web\n    image: x\n",
    "flow.yml": f"{BEGINS}environment:\n      PORT: 1\n      PROXY: {{A: 1}}\n  web: {{environment: [API_TOKEN]}}\n"
    "    image: x\n",
}
ROWS = [
    ("docker compose -f plain.yml config", ALLOW, "no more than the file"),
    ("docker compose -f filled.yml config", ASK, "a value that is filled in"),
    ("docker compose -f literal.yml config", ALLOW, "a list with values, and a remark"),
    ("docker compose -f small.yml config", ASK, "one that is passed on, in small letters"),
    ("docker compose -f null.yml config", ASK, "one without a value"),
    ("docker compose -f none.yml config", ASK, "one with nothing behind it"),
    ("docker compose -f flow.yml config", ASK, "one in brackets"),
    ("docker compose -f passed.yml config", ASK, "a variable that is passed on"),
]


@pytest.mark.parametrize(("text", "response", "why"), ROWS, ids=[row[2] for row in ROWS])
def test_what_the_configuration_of_containers_shows(text: str, response: Response, why: str) -> None:
    assert said_of_last((text,), FILES) is response, why
