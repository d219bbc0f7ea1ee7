"""GitHub Copilot CLI: it gives its shell the model's command as it is; of a detached one it notes the process first."""

from __future__ import annotations

import re

from sentinel_guard.agents.base import CodingAgent, Framed

_DETACHED = re.compile(r"echo \$\$ > '/tmp/copilot-detached-[\w-]+\.pid'; (?P<command>.*)", re.DOTALL)
_LOGIN = r"""printf %s '__copilot_login_env_snapshot_\w+__'; if ! command env -0 2>/dev/null; then .*"""


def _unwrap(text: str) -> Framed | None:
    match = _DETACHED.fullmatch(text)
    return Framed(match["command"]) if match else None


AGENT = CodingAgent(
    "copilot",
    frozenset({"copilot"}),
    _unwrap,
    marks=("/copilot-detached-",),
    patience=25.0,  # hands over what there is after 30
    own=(re.compile(_LOGIN, re.DOTALL),),
)
