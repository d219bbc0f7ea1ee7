"""Mutation testing: changes the code in small ways, and names each change that no test notices (cosmic-ray).

    make mutants                           a sample of 55 changes, spread over all TARGETS; minutes
    make mutants SEED=7 SAMPLE=110         another one, of another size
    make mutants MUTANTS="guard checks"    each change of these; "all" for each of TARGETS: hours
    make mutants MUTANTS=guard SAMPLE=20   a sample of these

Works on a copy of what is committed, a target on each processor. A sample takes a place in the code at most once. A
survivor is a test that is missing, or code that does nothing; some mean the same.
"""

from __future__ import annotations

import os
import random
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bench.benchmark_results import Row, show

ROOT = Path(__file__).parent.parent
COMPILED = ("sentinel_guard/launcher/sentinel-launcher", "sentinel_guard/broker/sentinel-broker")
SAMPLE = 55
# ``is`` and ``==`` are the same for members of an enumeration; annotations change nothing.
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


# The slow ones first: the others run beside them.
TARGETS = {
    "rollback": Target(
        ("host/recovery/rollback",),
        (
            *("tests/daemon/test_prune_old_sessions.py", "tests/commands/rollback", "tests/host/recovery/rollback"),
            *(f"tests/host/recovery/test_{part}.py" for part in ("unusual_repositories", "unusual_machines")),
            *(f"tests/host/recovery/test_{part}.py" for part in ("nested_repositories", "baseline_and_snapshots")),
        ),
    ),
    "guard": Target(
        ("daemon/guard.py",), tuple(f"tests/daemon/test_guard_{part}.py" for part in ("asking", "course", "rules"))
    ),
    "audit": Target(("audit/sqlite.py",), ("tests/audit",)),
    "checks": Target(
        ("core/checks/loop.py", "core/checks/error_rate.py", "core/checks/cost.py"),
        tuple(f"tests/core/checks/test_{part}.py" for part in ("loop", "counting_checks", "session_state")),
    ),
    "judge": Target(("core/judge.py",), ("tests/core/test_judge.py",)),
    "session": Target(("core/session/session.py",), ("tests/core/session",)),
    "chain": Target(("core/hash_chain.py",), ("tests/core/test_hash_chain.py",)),
}


class Found(NamedTuple):
    """How many changes were made, and those that no test noticed, as differences."""

    made: int
    left: tuple[str, ...]


def survivors(target: Target, sample: int | None, seed: int) -> Found:
    """Makes ``sample`` changes of the target's modules one by one, None for each that there is, and runs its tests."""
    with tempfile.TemporaryDirectory(prefix="sg-mutants-") as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "clone", "-q", str(ROOT), str(tree)], check=True)
        for program in COMPILED:
            shutil.copy2(ROOT / program, tree / program)
        config, work = tree / "cosmic-ray.toml", tree / "cosmic-ray.sqlite"
        modules = ", ".join(f'"sentinel_guard/{module}"' for module in target.modules)
        tests = ("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", *target.tests)
        began = time.monotonic()
        _run(sys.executable, *tests, tree=tree)  # tests that fail anyway would notice everything
        patience = 30 + 5 * (time.monotonic() - began)
        config.write_text(
            f"[cosmic-ray]\nmodule-path = [{modules}]\ntimeout = {patience:.1f}\nexcluded-modules = []\n"
            f"test-command = '{shlex.join((sys.executable, *tests))}'\n[cosmic-ray.distributor]\nname = 'local'\n"
            f"[cosmic-ray.filters.operators-filter]\nexclude-operators = {list(SAME)}\n"
        )
        _run("cosmic-ray", "init", str(config), str(work), "--force", tree=tree)
        _run("cr-filter-operators", str(work), str(config), tree=tree)
        with closing(sqlite3.connect(work)) as database, database:
            _keep(database, tree, sample, random.Random(seed))
        _run("cosmic-ray", "exec", str(config), str(work), tree=tree)
        with closing(sqlite3.connect(work)) as database:
            return _found(database)


def _keep(database: sqlite3.Connection, tree: Path, sample: int | None, chance: random.Random) -> None:
    """Only ``sample`` of the changes, none that means the same."""
    rows = database.execute(
        "SELECT module_path, start_pos_row, start_pos_col, operator_name, occurrence, job_id FROM mutation_specs"
        " WHERE job_id NOT IN (SELECT job_id FROM work_results) ORDER BY 1, 2, 3, 4, 5"
    ).fetchall()
    lines = {name: (tree / name).read_text().splitlines() for name in {row[0] for row in rows}}
    rows = [row for row in rows if not _means_nothing(lines[row[0]][row[1] - 1], row[2])]
    if sample is not None:
        chance.shuffle(rows)
        rows = list({row[:3]: row for row in rows}.values())[:sample]
    database.execute("DELETE FROM work_results")
    kept = [row[-1] for row in rows]
    for table in ("mutation_specs", "work_items"):
        database.execute(f"DELETE FROM {table} WHERE job_id NOT IN ({', '.join('?' * len(kept))})", kept)


def _means_nothing(line: str, column: int) -> bool:
    """Whether a change there is one of ``slots`` or ``frozen``, or of the mark before keyword-only parameters."""
    return line.startswith("@") or line[column:].startswith("*,")


def _found(database: sqlite3.Connection) -> Found:
    rows = database.execute("SELECT test_outcome, diff, output FROM work_results ORDER BY diff").fetchall()
    if broken := [output for outcome, _, output in rows if outcome not in ("SURVIVED", "KILLED")]:
        sys.exit(f"A change could not be made, or its tests not be run:\n{broken[0]}")
    return Found(len(rows), tuple(diff for outcome, diff, _ in rows if outcome == "SURVIVED"))


def _run(program: str, *words: str, tree: Path) -> None:
    command = [str(Path(sys.executable).parent / program), *words]
    environ = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=environ, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{program} {words[0]} failed:\n{(done.stdout + done.stderr)[-2000:]}")


def shares(sample: int | None, names: Sequence[str]) -> list[int | None]:
    """How many changes each target gets: as many as the others, or one more."""
    if sample is None:
        return [None] * len(names)
    return [sample // len(names) + (at < sample % len(names)) for at in range(len(names))]


def main(names: Sequence[str], sample: int | None, seed: int) -> None:
    rows = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        wanted = zip(names, shares(sample, names), strict=True)
        running = {pool.submit(survivors, TARGETS[name], share, seed): name for name, share in wanted}
        for done in as_completed(running):
            name, (made, left) = running[done], done.result()
            for diff in left:
                print(f"{name}:\n{diff}", flush=True)
            noticed = 100 * (made - len(left)) / max(made, 1)
            rows.append(Row(f"changes of {name} that a test notices", None, noticed, "%", f"{made} made"))
    show(rows)


if __name__ == "__main__":
    named, size = os.environ.get("MUTANTS", "").split(), os.environ.get("SAMPLE", "")
    main(
        list(TARGETS) if named in ([], ["all"]) else named,
        int(size) if size else None if named else SAMPLE,
        int(os.environ.get("SEED") or 1),
    )
