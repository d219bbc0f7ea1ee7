"""``make sessions SESSIONS=FOLDER``: how many commands of whole honest sessions are disturbed.

Each session is a line of FOLDER/*.jsonl: ``{"session": NAME, "files": {PATH: TEXT}, "steps": [{"run": TEXT} or
{"edit": PATH, "text": TEXT}, ...]}``. The files are committed (what .gitignore names lies there only); there is an
origin. A record of another machine may say ``"root": PATH``, where the repository lay there: it and the home there are
those of here, wherever a step names them. The steps are told by Claude Code's hooks to a real daemon, and run, in a
cage (bubblewrap): nothing of the machine can be written, there is no network, and its processes end with it. Whatever
comes of a step there, the guard is told that it succeeded: the machine lacks most of the programs. Of these only kind
and k3d have a stand-in, since the file that they leave is looked at.

Disturbed: refused, asked about, or a commit that the git hooks refuse. Hints are counted apart.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

from bench.transparency import REFUSED, TEMPORARY, cage, only_in_cage
from bench.verdict_latency import WHO
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.text.redact_by_pattern import redact
from tests.support.agents.hook_client import HookClient
from tests.support.guarded_repository import Stage

HOME = Path("/home")
"""What lies in a temporary folder may be deleted: the repositories lie elsewhere."""
HOMES = re.compile(r"(?<![\w.])/(?:Users|home)/(?!sg-)[\w.-]+")
"""A home of another machine; the stages lie below ``sg-``."""
SECONDS = 2
CLUSTER = r"""#!/bin/sh
name=kind file=${KUBECONFIG:-$HOME/.kube/config} made=
for word; do
    case $before in --name) name=$word ;; --kubeconfig) file=$word ;; esac
    case "$before $word" in *-* | *\ cluster) ;; create\ *) name=$word ;; esac
    [ "$before $word" = "create cluster" ] || [ "$before $word" = "cluster create" ] && made=1
    before=$word
done
[ "$made" ] || exit 0
mkdir -p "$(dirname "$file")" && cat > "$file" <<END
apiVersion: v1
kind: Config
clusters:
- cluster: {certificate-authority-data: LS0tLS1CRUdJTg==, server: "https://127.0.0.1:41234"}
  name: ${0##*/}-$name
contexts:
- context: {cluster: ${0##*/}-$name, user: ${0##*/}-$name}
  name: ${0##*/}-$name
current-context: ${0##*/}-$name
users:
- name: ${0##*/}-$name
  user: {client-certificate-data: LS0tLS1CRUdJTg==}
END
"""
"""In place of kind and k3d: the kubeconfig that they would leave."""
NOTHING: Mapping[str, str] = MappingProxyType({})
LONGEST = 300
"""Characters of a text that are printed."""


class Said(NamedTuple):
    """What a step of a session was told."""

    step: str
    words: str
    stopped: bool


class Session:
    """One session in a repository and with a guard of its own."""

    def __init__(
        self, files: Mapping[str, str], below: Path | None = HOME, *, root: str = "", left: Mapping[str, str] = NOTHING
    ) -> None:
        """``files`` are committed; then ``left`` is written, in the repository or, as ``~/NAME``, in the home."""
        self.stage, self.count, self.root = Stage(below), 0, root
        programs = self.stage.folder / "bin"
        shutil.rmtree(programs)  # stand-ins for what other tests must not run
        programs.mkdir()
        for name in ("kind", "k3d"):
            (programs / name).write_text(CLUSTER)
            (programs / name).chmod(0o755)
        self.stage.environ |= WHO
        self.stage.git("init", "-q", "-b", "main")
        for name, text in files.items():
            self.stage.write(name, text).chmod(0o755 if text.startswith("#!") else 0o644)
        if self.stage.sentinel("install").returncode:
            sys.exit("The git hooks cannot be installed.")
        self.stage.git("add", "-A")
        self.stage.git("commit", "-q", "--no-verify", "--allow-empty", "-m", "start")
        self.stage.git("clone", "-q", "--bare", ".", "../origin.git")
        self.stage.git("remote", "add", "origin", "../origin.git")
        self.stage.git("fetch", "-q", "origin")
        for name, text in left.items():
            path = self.path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        if self.stage.sentinel("install", "--agent", "claude").returncode:
            sys.exit("The agent's hooks cannot be installed.")
        self.client = HookClient(self.stage)
        self.client.claude("SessionStart", source="startup")

    def path(self, name: str) -> Path:
        return self.stage.home / name[2:] if name.startswith("~/") else self.stage.repo / name

    def close(self) -> None:
        self.client.close()
        self.stage.close()

    def take(self, step: Mapping[str, Any]) -> Said:
        """A step of a list."""
        return self.run(step["run"]) if "run" in step else self.edit(step["edit"], step["text"])

    def run(self, text: str) -> Said:
        """A call of the agent's shell tool."""
        text = self._here(text)
        said = self._asked("Bash", command=text)
        if said.stopped:
            return said
        printed = _run(text, self.stage)
        refused = REFUSED.search(printed)
        return Said(text, printed, stopped=True) if refused else self._ended(said, printed)

    def edit(self, name: str, text: str) -> Said:
        """A file that the agent writes by a tool of its own."""
        name = self._here(name)
        said = self._asked("Write", file_path=str(self.stage.repo / name), content=text)
        if said.stopped:
            return said
        with contextlib.suppress(OSError):  # a folder of that name, if the step before did not come to it here
            self.stage.write(name, text)
        return self._ended(said, "")

    def _here(self, text: str) -> str:
        if not self.root:
            return text
        return HOMES.sub(str(self.stage.home), text.replace(self.root, str(self.stage.repo)))

    def _asked(self, tool: str, **given: str) -> Said:
        self.count += 1
        self.tool = {"tool_name": tool, "tool_input": given, "tool_use_id": f"toolu_{self.count}"}
        said = self.client.claude("PreToolUse", **self.tool)
        decision = said.json.get("hookSpecificOutput", {})
        stopped = said.code != 0 or decision.get("permissionDecision") in {"deny", "ask"}
        step = given.get("command") or f"(writes {given['file_path']})"
        return Said(step, str(decision.get("permissionDecisionReason") or said.stdout or said.stderr), stopped)

    def _ended(self, said: Said, printed: str) -> Said:
        # Empty and the same each time would be a loop.
        response = {"stdout": printed or f"done: {self.count}", "stderr": "", "interrupted": False}
        after = self.client.claude("PostToolUse", **self.tool, tool_response=response)
        words = said.words or after.stdout or after.stderr
        return Said(said.step, words, after.json.get("decision") == "block" or after.json.get("continue") is False)


def _run(text: str, stage: Stage) -> str:
    """Runs a shell text for what it leaves behind; what it printed."""
    with tempfile.TemporaryFile() as out:
        with subprocess.Popen(
            ["bash", "-c", text], cwd=stage.repo, env=stage.environ, stdin=subprocess.DEVNULL,
            stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
        out.seek(0)
        return out.read(100_000).decode(errors="replace")


def told(session: Mapping[str, Any], below: Path | None = HOME) -> Iterator[Said]:
    """What each step of a session was told."""
    with contextlib.closing(Session(session["files"], below, root=session.get("root", ""))) as running:
        yield from map(running.take, session["steps"])


def clear() -> None:
    """Takes away what a session left in the temporary folders of the cage."""
    only_in_cage()
    for left in (path for folder in TEMPORARY for path in folder.iterdir()):
        shutil.rmtree(left, ignore_errors=True) if left.is_dir() else left.unlink(missing_ok=True)


def in_cage(module: str, files: list[Path]) -> NoReturn:
    """Becomes ``module``, in the cage: it is given the files, which lie in one folder."""
    bound = ("--ro-bind", str(files[0].parent), "/mnt", "--tmpfs", str(HOME))
    names = [f"/mnt/{file.name}" for file in files]
    # Whoever runs it in a git hook has variables that name a repository of theirs.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    words = [*cage(), *bound, sys.executable, "-m", module, "caged", *names]
    os.execvpe(words[0], words, environ)


def shown(text: str) -> str:
    short = re.sub(r"\s*\n\s*", " ⏎ ", text.strip())
    return visible(redact(short if len(short) <= LONGEST else f"{short[:LONGEST]}…"))


def main(files: list[Path]) -> int:
    only_in_cage()
    sessions = [json.loads(line) for file in files for line in file.read_text().splitlines() if line.strip()]
    steps = disturbed = hinted = broken = 0
    for session in sessions:
        said = [*told(session)]
        clear()
        stopped = [one for one in said if one.stopped]
        steps, disturbed, broken = steps + len(said), disturbed + len(stopped), broken + bool(stopped)
        hinted += sum(bool(one.words) for one in said) - len(stopped)
        for one in said:
            if one.words:
                word = "stopped" if one.stopped else "hint"
                print(f"{session['session']}: {word}: {shown(one.step)}\n    {shown(one.words)}", flush=True)
    print(
        f"{disturbed} of {steps:,} steps disturbed ({disturbed / max(steps, 1) * 1000:.1f} per 1,000), in {broken} of "
        f"{len(sessions)} sessions; {hinted} hints"
    )
    return 0


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["caged", *files]:
            sys.exit(main([Path(file) for file in files]))
        case [folder] if found := sorted(Path(folder).absolute().glob("*.jsonl")):
            in_cage("bench.honest_sessions", found)
        case _:
            sys.exit("SESSIONS=FOLDER names a folder with sessions (*.jsonl); nothing was measured.")
