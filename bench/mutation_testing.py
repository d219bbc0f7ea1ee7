"""Mutation testing: changes the code in small ways, and names each change that no test notices (cosmic-ray).

    make mutants                          what decides: judge, session, chain
    make mutants MUTANTS="guard checks"   others; "all" for each of TARGETS: hours

Works on a copy of what is committed. A survivor is a test that is missing, or code that does nothing; some mean the
same.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.benchmark_results import Row, show

ROOT = Path(__file__).parent.parent
LAUNCHER = "sentinel_guard/launcher/sentinel-launcher"
USUAL = "judge session chain"
# ``is`` and ``==`` are the same for members of an enumeration; annotations and keyword-only marks change nothing.
SAME = (
    "core/ReplaceComparisonOperator_Is_.*",
    "core/ReplaceComparisonOperator_Eq_Is",
    "core/ReplaceBinaryOperator_BitOr_.*",
)


@dataclass(frozen=True, slots=True)
class Target:
    """Modules, and the tests that must notice a change of them."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


TARGETS = {
    "judge": Target(("core/judge.py",), ("tests/core/test_judge.py",)),
    "session": Target(("core/session/session.py",), ("tests/core/session",)),
    "chain": Target(("core/hash_chain.py",), ("tests/core/test_hash_chain.py",)),
    "checks": Target(
        ("core/checks/loop.py", "core/checks/error_rate.py", "core/checks/cost.py"),
        tuple(f"tests/core/checks/test_{part}.py" for part in ("loop", "counting_checks", "session_state")),
    ),
    "guard": Target(
        ("daemon/guard.py",), tuple(f"tests/daemon/test_guard_{part}.py" for part in ("asking", "course", "rules"))
    ),
    "audit": Target(("audit/sqlite.py",), ("tests/audit",)),
    "rollback": Target(("host/recovery/rollback",), ("tests/host/recovery/rollback",)),
}


def survivors(target: Target, tree: Path) -> tuple[int, list[str]]:
    """How many changes were made, and those that no test noticed, as differences."""
    config, session = tree / "cosmic-ray.toml", str(tree / "cosmic-ray.sqlite")
    modules = ", ".join(f'"sentinel_guard/{module}"' for module in target.modules)
    command = f"{sys.executable} -m pytest -q -x -p no:cacheprovider {shlex.join(target.tests)}"
    config.write_text(
        f"[cosmic-ray]\nmodule-path = [{modules}]\ntimeout = 120.0\nexcluded-modules = []\ntest-command = '{command}'\n"
        f"[cosmic-ray.distributor]\nname = 'local'\n"
        f"[cosmic-ray.filters.operators-filter]\nexclude-operators = {list(SAME)}\n"
    )
    for words in (
        ("cosmic-ray", "init", str(config), session, "--force"),
        ("cr-filter-operators", session, str(config)),
        ("cosmic-ray", "exec", str(config), session),
    ):
        _run(*words, tree=tree)
    said = _run("cr-report", "--show-diff", "--surviving-only", session, tree=tree)
    jobs = re.search(r"complete: (\d+)", said)
    diffs = re.findall(r"^=== DIFF ===\n(.*?)(?=^=====)", said, re.MULTILINE | re.DOTALL)
    return int(jobs[1]) if jobs else 0, diffs


def _run(program: str, *words: str, tree: Path) -> str:
    command = [str(Path(sys.executable).parent / program), *words]
    environ = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{program} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def main(names: list[str]) -> None:
    rows = []
    for name in TARGETS if names == ["all"] else names:
        with tempfile.TemporaryDirectory(prefix="sg-mutants-") as folder:
            tree = Path(folder) / "tree"
            subprocess.run(["git", "clone", "-q", str(ROOT), str(tree)], check=True)
            shutil.copy2(ROOT / LAUNCHER, tree / LAUNCHER)
            made, left = survivors(TARGETS[name], tree)
        for diff in left:
            print(f"{name}:\n{diff}")
        rows.append(
            Row(
                f"changes of {name} that a test notices",
                None,
                100 * (made - len(left)) / max(made, 1),
                "%",
                f"{made} made",
            )
        )
    show(rows)


if __name__ == "__main__":
    main(os.environ.get("MUTANTS", USUAL).split() or USUAL.split())
