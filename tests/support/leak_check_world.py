"""Where the tests of the check ``leak`` stand: a repository in memory, a person with secrets of their own."""

from __future__ import annotations

from dataclasses import replace

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.leak import CHECK
from sentinel_guard.core.model import Action, Finding, Layer, Response
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.policy.policy import Leaks
from sentinel_guard.core.secrets.allowlisted_findings import NONE, Allowlist
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import UserSecrets
from sentinel_guard.core.session.session import Session
from sentinel_guard.host.policy_files import builtin
from tests.support.fakes import FakeWorld

HOME = "/home/user"
ROOT = f"{HOME}/project"
# Made up here, never given out; in pieces, so that no scanner takes this file for a leak.
TOKEN = "ghp_" + "x8Kd02jFq7TsLmWc" + "3Vb9ZrPq5YtNh1GuEa4o"
OWN = "plum9Tractor" + "-Vq31xZ" + "-kW7"
"""The person's own value, of no provider's form."""
FILES = {
    ".env": f"APP_TOKEN={OWN}\n",
    "README.md": "x = 1\n",
    "src/a.py": "x = 1\n",
    "secrets/key": "k\n",
    "notes.txt": f"first\ntoken: {TOKEN}\n",
    "tokens.txt": "".join(f"{TOKEN[:-2]}{n}x\n" for n in range(7)),
    "own.txt": f"{OWN}\n",
    "people.csv": "".join(f"person{n}@firm{n}.org\n" for n in range(60)),
    "fixture.json": '{"token": "ghp_' + "x" * 36 + '"}\n',
    "weak.ini": "password = " + "Tr4ctor-plum-91\n",
}
ENVIRON = {
    "HOME": HOME,
    "API_URL": "https://api.example",
    "MSG": "hello",
    "MAX_TOKENS": "1000",
    **dict.fromkeys(("LIVE_TOKEN", "SLACK_TOKEN", "NEWS_API_KEY", "OPENWEATHER_API_KEY", "DB_PASSWORD"), "x" * 9),
}
WORLD = FakeWorld(
    {f"{ROOT}/{n}": t for n, t in FILES.items()} | {f"{HOME}/.aws/credentials": "k"}, home=HOME, environ=ENVIRON
)
POLICY = replace(merge(builtin()), leaks=Leaks(hosts=("partner.example",)))
KNOWN = UserSecrets({OWN: "the value of APP_TOKEN in .env"})


def found(
    text: str = "",
    /,
    *,
    tool: str = "",
    brought: tuple[Finding, ...] = (),
    baseline: Allowlist = NONE,
    **arguments: object,
) -> list[Finding]:
    """What the check says of a shell text, or of an agent's tool call."""
    layer, given = (Layer.HOOK, arguments) if tool else (Layer.SHELL, {"command": text})
    action = Action("1", "s", layer, tool or "shell", given, ROOT, 0.0, ROOT)
    held = tuple(f"{ROOT}/{name}" for name in (".env", "secrets/key"))
    case = Case(
        action, analyse(action, WORLD), Session("s", ROOT), POLICY, home=HOME, restricted=held,
        look=WORLD.peek, known=lambda: KNOWN, baseline=lambda: baseline, key=b"key", brought=brought,
    )  # fmt: skip
    return list(CHECK(case))


def answered(text: str = "", /, *, tool: str = "", **arguments: object) -> Response:
    return max((f.response for f in found(text, tool=tool, **arguments)), default=Response.ALLOW)
