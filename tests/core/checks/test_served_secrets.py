"""File servers over folders that hold secrets: refused where others reach them, passed anywhere else."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Response
from tests.support.judge_cases import said_of_last

ALLOW, DENY = Response.ALLOW, Response.DENY
SERVE = "python3 -m http.server 8080"
KEY = "PRIVATE_KEY=0x4c0883a69102937d6231471b5dbb6204\n"
BESIDE = {".env": KEY, "dist/index.html": "x", "index.html": "x"}
PEM = "-----BEGIN RSA PRIVATE KEY-----\nx\n"

ROWS = [
    (SERVE, BESIDE, DENY, "all interfaces, where no word says which"),
    ("cd . && " + SERVE + " >/dev/null 2>&1 &", BESIDE, DENY, "in the background"),
    ("python3 -u -m http.server", BESIDE, DENY, "behind another option"),
    (SERVE + " --bind 0.0.0.0", BESIDE, DENY, "as a word says"),
    *((text, BESIDE, DENY, "in another spelling") for text in (
        "python3 -mhttp.server 8000", "python3 -um http.server", "python2 -m SimpleHTTPServer", "php -S 0:8000",
        "php -S 192.168.1.7:8000")),
    *((text, BESIDE, DENY, "another server's address is not where it listens") for text in (
        "npx http-server -p 8080 --proxy http://localhost:3000", "npx http-server -P http://localhost:3000",
        "npx http-server --cors=http://localhost:3000", "npx live-server --open=http://localhost")),
    *((text, BESIDE, DENY, "another server") for text in (
        "npx serve", "npx serve -l 5000 .", "npx http-server -p 8080", "npx live-server", "php -S 0.0.0.0:8000",
        "ruby -run -e httpd . -p 8000", "caddy file-server --listen :8080")),
    *((text, BESIDE, ALLOW, "this machine alone") for text in (
        SERVE + " --bind 127.0.0.1", SERVE + " -b localhost", SERVE + " --bind=127.0.0.1",
        "npx http-server -a 127.0.0.1",
        "npx serve -l tcp://127.0.0.1:5000", "php -S localhost:8000", "php -S 127.0.0.1:8000 -t .",
        "npx live-server --host=localhost", "busybox httpd -f -p 127.0.0.1:8080",
        "npx http-server -a localhost --proxy http://localhost:3000")),
    *((text, BESIDE, ALLOW, "a folder without") for text in (
        SERVE + " -d dist", "cd dist && " + SERVE, "npx serve -s dist", "npx http-server dist -p 8123")),
    *((text, BESIDE, ALLOW, "a folder that is yet to be built") for text in (
        "npm run build && npx serve -s build -l 4173", "npx serve out", "npx http-server build -p 8080 --cors",
        "npx live-server --port=8080 build", "php -S 0.0.0.0:8000 -t public", "ruby -run -e httpd build -p 8000",
        "caddy file-server --root build --listen :8080", "updog -d build -p 9000")),
    *((text, BESIDE, DENY, "a value is no folder") for text in (
        "npx serve -p 3000", "npx serve -c serve.json", "npx http-server -p 8080 -c-1 -o",
        "php -S 0.0.0.0:8000 router.php",
        "caddy file-server --listen :8080 --root .", "ruby -run -e httpd -p 8000", "npx serve -s . -l 80")),
    ("npx serve -l tcp://localhost:3000 .", BESIDE, ALLOW, "this machine alone, and a folder behind it"),
    ('npx serve "$OUT"', BESIDE, ALLOW, "nobody knows what"),
    (SERVE, {"certs/localhost+2-key.pem": PEM, "server.test.key": PEM}, ALLOW, "keys of this machine and of tests"),
    (SERVE, {"index.html": "x"}, ALLOW, "nothing secret lies there"),
    (SERVE, {".env.example": KEY}, ALLOW, "an example"),
    (SERVE, {".env": "PORT=3000\nVITE_API_URL=https://api.acme.io\n"}, ALLOW, "settings without a secret"),
    (SERVE, {".env": "DB_PASSWORD=postgres\nJWT_SECRET=dev-only-not-a-key\nAPI_KEY=your-key-here\n"}, ALLOW,
     "for nobody"),
    (SERVE, {".env": "DATABASE_URL=postgres://app:app12345@localhost:5432/app\n"}, ALLOW, "a login of this machine"),
    (SERVE, {".env": "DATABASE_URL=postgres://app:kJ8sPq2x@db.acme.io/app\n"}, DENY, "a login elsewhere"),
    (SERVE, {"api/.env.local": "export STRIPE_SECRET_KEY='rk_9f8a7b6c5d4e'\n"}, DENY, "a little below"),
    (SERVE, {"packages/api/.env": KEY}, DENY, "in a package"),
    (SERVE, {"server.pem": PEM}, DENY, "a key"),
    (SERVE, {"server.pem": "-----BEGIN CERTIFICATE-----\nx\n"}, ALLOW, "a certificate"),
    (f"docker compose exec web {SERVE}", BESIDE, ALLOW, "in a container"),
    (f"cd $X && {SERVE}", BESIDE, ALLOW, "nobody knows where"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "files", "response", "why"), ROWS, ids=[f"{row[0][:50]}: {row[3]}" for row in ROWS])
def test_a_file_server_over_secrets(text, files, response, why):
    assert said_of_last((text,), files) is response, why
