"""GitHub Copilot CLI: it gives its shell the model's command as it is, once it has read a login shell's environment."""

from __future__ import annotations

import re

from sentinel_guard.agents.base import CodingAgent

_LOGIN = r"""printf %s '__copilot_login_env_snapshot_\w+__'; if ! command env -0 2>/dev/null; then .*"""

AGENT = CodingAgent("copilot", frozenset({"copilot"}), own=(re.compile(_LOGIN, re.DOTALL),))
