"""A client whose hooks ask the guard: a real process that runs the hook program as coding agents do, below a shell."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from typing import NamedTuple

from tests.support.guarded_repository import Stage
from tests.support.time_limits import limit

# Below a shell, as every client runs its hooks; it reads a request a line and prints an answer a line.
CLIENT = """
import json, subprocess, sys
for line in sys.stdin:
    asked = json.loads(line)
    shell = ['"$0" "$@"; exit $?', *asked["argv"]] if asked["by_hand"] else [" ".join(asked["argv"])]
    command = [*asked["above"], "/bin/sh", "-c", *shell]
    done = subprocess.run(command, input=asked["payload"].encode(errors="surrogateescape"), capture_output=True)
    print(json.dumps([done.returncode, done.stdout.decode(), done.stderr.decode()]), flush=True)
"""

CHILD = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
IDS = itertools.count()
SESSION_NAMES = ("session_id", "sessionId", "agentId", "parentAgentId")


class Said(NamedTuple):
    """What a hook program said."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> dict:
        return json.loads(self.stdout) if self.stdout.strip() else {}


class HookClient:
    """One process; several sessions may be in it. ``server``: it looks like opencode's server."""

    def __init__(self, stage: Stage, *, server: bool = False) -> None:
        self.stage, cwd = stage, stage.repo
        command = [sys.executable, "-c", CLIENT]
        if server:
            (stage.folder / "serve").write_text(CLIENT)
            command, cwd = ["opencode", "serve"], stage.folder
        self.process = subprocess.Popen(
            command, executable=sys.executable, cwd=cwd, env=stage.environ, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def ask(self, client: str, event: str, payload: object, above: str = "", *, by_hand: bool = False) -> Said:
        """Run one hook; a payload that is a text is sent as it is. ``above``: a Python interpreter by whatever name, as
        a child of which the hook is run. ``by_hand``: as a program does that the model has run.
        """
        hook = str(self.stage.guard / "state" / "hooks" / "sentinel-hook")
        if isinstance(payload, dict):  # the sessions of other stages have other names
            payload = payload | {k: f"{payload[k]} {self.stage.folder.name}" for k in SESSION_NAMES if k in payload}
        text = payload if isinstance(payload, str) else json.dumps(payload)
        assert self.process.stdin and self.process.stdout
        asked = {"argv": [hook, client, event], "payload": text, "by_hand": by_hand}
        asked |= {"above": [above, "-c", CHILD] if above else []}
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return Said(*json.loads(self.process.stdout.readline()))

    def claude(self, event: str, session: str = "s1", **fields: object) -> Said:
        """A payload as Claude Code sends it."""
        common = {"session_id": session, "cwd": str(self.stage.repo), "hook_event_name": event}
        return self.ask("claude", event, {**common, **fields})

    def call(self, tool: str, session: str = "s1", ident: str = "", **arguments: object) -> Said:
        """A tool call that Claude Code is about to make."""
        ident = ident or f"toolu_{next(IDS)}"
        return self.claude("PreToolUse", session, tool_name=tool, tool_input=arguments, tool_use_id=ident)

    def ended(self, seconds: float = 20) -> bool:
        """Whether the guard has ended it."""
        try:
            return self.process.wait(limit(seconds)) is not None
        except subprocess.TimeoutExpired:
            return False

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                pipe.close()
