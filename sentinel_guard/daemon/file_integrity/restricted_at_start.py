"""What of the policy a session's watch goes by to its end: what was restricted when the session began."""

from __future__ import annotations

import json
from pathlib import Path

from sentinel_guard.core.policy.policy import Paths, Policy
from sentinel_guard.host.machine.atomic_files import write_json


def restricted_at_start(folder: Path, policy: Policy) -> tuple[Policy, bool]:
    """What was restricted when the session began is, to its end: only of that the originals are known.

    And whether it began before now: then nobody has watched since the daemon fell.
    """
    memory = folder / "restricted.json"
    try:
        said = json.loads(memory.read_bytes())
        return Policy(Paths(tuple(said["paths"])), Paths(tuple(said["project"]))), True
    except (OSError, ValueError, KeyError):
        # Of use to a daemon that is started anew while the session's agent runs.
        write_json(memory, {"paths": policy.paths.restricted, "project": policy.project.restricted}, durable=False)
        return policy, False
