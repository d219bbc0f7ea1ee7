"""Coverage-guided fuzzing of the analysis and the judge: no crash, no hang, and no failure that lets a command pass.

Needs the extra ``fuzz``. Run at the top of the repository: ``python -m bench.analysis.fuzz_atheris``, with
atheris' own options (``-max_total_time=300 -max_len=400``). Inputs start from the corpus (``SENTINEL_CORPUS``) and the
generator of scripts. An input that fails is written to ``crash-…`` in the current folder. Nothing that is analysed is
run.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["sentinel_guard.core"]):
    from sentinel_guard.core.analysis.analyse import analyse
    from sentinel_guard.core.checks.base import Case
    from sentinel_guard.core.checks.registry import CHECKS
    from sentinel_guard.core.judge import judge
    from sentinel_guard.core.model import Action, Kind, Layer
    from sentinel_guard.core.policy.rule_examples import HOME, ROOT, ExampleWorld
    from sentinel_guard.core.session.operation_fingerprint import operation
    from sentinel_guard.core.session.session import Session

from bench.analysis.bash_script_generator import Generator
from sentinel_guard.host.machine.state_paths import places
from sentinel_guard.host.policy_files import Policies

CORPUS = Path(os.environ.get("SENTINEL_CORPUS", "../shared/corpus"))
SEEDS = 400
TOOLS = ("Write", "apply_patch", "WebFetch", "mcp__fs__write_file")

os.environ["SENTINEL_HOME"] = tempfile.mkdtemp(prefix="sg-fuzz-")
POLICY = Policies(places()).load("")
WORLD = ExampleWorld()


def one_input(data: bytes) -> None:
    """Judges one text as a command, or (first byte 0 to 3) as what a tool is given."""
    tool = TOOLS[data[0]] if data[:1] and data[0] < len(TOOLS) else "shell"
    text = data.decode("utf-8", "surrogateescape")
    arguments = {"command": text} if tool == "shell" else {"file_path": text[1:], "content": text, "input": text}
    action = Action("fuzz", "fuzz", Layer.HOOK, tool, arguments, ROOT, 0.0, ROOT)
    effects = analyse(action, WORLD)
    failed = [e.target for e in effects if e.kind is Kind.OPAQUE and "error" in e.how]
    if failed:
        raise AssertionError(failed)
    verdict = judge(
        Case(action, effects, Session("fuzz", root=ROOT), POLICY, None, operation(action), home=HOME), CHECKS
    )
    broken = [f.why for f in verdict.findings if "gave no answer" in f.what]
    if broken:
        raise AssertionError(broken)


def seeds(folder: Path) -> None:
    """Starting points: the visible lists and some scripts by chance."""
    texts = [Generator(seed).script() for seed in range(SEEDS)]
    for name, key in (
        ("dangerous", "command"),
        ("benign", "command"),
        ("peers", "command"),
        ("shell_snippets", "text"),
    ):
        path = CORPUS / f"{name}.jsonl"
        rows = [json.loads(line)[key] for line in path.read_text().splitlines()] if path.exists() else []
        texts += rows[:: max(1, len(rows) // SEEDS)]
    for number, text in enumerate(texts):
        (folder / str(number)).write_bytes(text.encode(errors="surrogateescape"))


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="sg-seeds-") as folder:
        seeds(Path(folder))
        atheris.Setup([sys.argv[0], "-timeout=10", *sys.argv[1:], folder], one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
