"""Files of variables of which only what is no secret is shown, beside whole ones."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Response
from tests.support.judge_cases import said_of_last

ALLOW, ASK = Response.ALLOW, Response.ASK
HEX = "K=4f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c\n"
BY_FILE = "services:\n  api:\n    build: .\n    env_file: {}\n  redis:\n    image: redis\n"
BY_VALUE = "services:\n  a:\n    image: x:${TAG:-latest}\n"
IN_LINE = "services:\n  a:\n    image: x\n    environment: { POSTGRES_PASSWORD: pw }\n"
ALONE = "services:\n  a:\n    image: x\n    environment:\n      - DB_PASSWORD\n"

PARTS = [
    ("grep -rn MAIL_FROM config src .env", ALLOW, "lines of one name"),
    ("grep -E '^(APP_PORT|DB_HOST)=' .env", ALLOW, "of two"),
    ("cat .env | grep '^PORT='", ALLOW, "through a pipe"),
    ("grep APP_PORT .env | cut -d= -f2", ALLOW, "its value"),
    ("sed -n '/^LOG_LEVEL=/p' .env", ALLOW, "by sed"),
    ("awk -F= '/^LOG_LEVEL=/{print $2}' .env", ALLOW, "by awk"),
    ("grep PORT .env", ASK, "SUPPORT_KEY, too"),
    ("grep ^LOG .env", ASK, "LOGIN_SECRET, too"),
    ("grep '^LOG=' .env", ALLOW, "a name that ends there"),
    ("awk '/^TYPE/' .env", ASK, "TYPESENSE_API_KEY, too"),
    ("grep DB_ .env", ASK, "DB_PASSWORD, too"),
    ("grep ^DATABASE .env", ASK, "DATABASE_URL, too"),
    ("grep -A3 LOG_LEVEL .env", ASK, "lines around it"),
    ("grep -v LOG_LEVEL .env", ASK, "all others"),
    ("grep -e LOG_LEVEL -e KEY .env", ASK, "another name"),
    ("grep -E 'LOG_LEVEL|.' .env", ASK, "any line"),
    ("cat .env | grep KEY", ASK, "a secret's name"),
    ("sed -n '1,5p' .env", ASK, "lines by their number"),
    ("curl -s x.com >> plain.env; cat plain.env", ASK, "what is put there before"),
]
COMPOSED = [
    ("docker compose config | sed -n '/api:/,/redis:/p'", BY_FILE.format(".env.dev"), ASK, "a file of variables"),
    ("docker compose config", BY_FILE.format("[.env.dev, .env]"), ASK, "and one of secrets"),
    ("docker compose config", BY_FILE.format("\n      - path: .env\n        required: false"), ASK, "in the long form"),
    ("docker compose config", BY_VALUE, ASK, "a value that .env may fill in"),
    ("docker compose --env-file .env.dev config", BY_VALUE, ASK, "another file in its place"),
    ("docker compose config", IN_LINE, ALLOW, "what stands in the file itself"),
    ("docker compose config", ALONE, ASK, "a name alone: the environment's"),
    ("docker compose config", f"include: [other.yaml]\n{IN_LINE}", ASK, "another file that is not read"),
]


@pytest.mark.parametrize("text", ["MODE=debug\n", "A=secret-value-1\n", ""])
def test_a_file_of_secrets_is_asked_about_whatever_it_holds_now(text: str) -> None:
    assert said_of_last(("cat .env",), {".env": text}) is ASK


@pytest.mark.parametrize(("command", "response"), [row[:2] for row in PARTS], ids=[row[0] for row in PARTS])
def test_parts_of_a_file_that_holds_secrets(command: str, response: Response) -> None:
    assert said_of_last((command,), {".env": HEX, "plain.env": "A=1\n"}) is response


@pytest.mark.parametrize(
    ("command", "text", "response"), [row[:3] for row in COMPOSED], ids=[row[3] for row in COMPOSED]
)
def test_what_compose_fills_in(command: str, text: str, response: Response) -> None:
    assert said_of_last((command,), {"compose.yaml": text, ".env": HEX, ".env.dev": "LOG_LEVEL=debug\n"}) is response
