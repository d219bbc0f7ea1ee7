"""Each of the studied attacks has its test: a table of both, read here, so that no test goes away unnoticed."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
STUDIED = tomllib.loads(HERE.joinpath("studied_attacks.toml").read_text())["attack"]
COUNT = 74


def collected(files):
    """The tests of these files, as they are named on the command line of pytest."""
    command = [sys.executable, "-m", "pytest", "-o", "addopts=", "-p", "no:cacheprovider", "--collect-only", "-q"]
    environ = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(
        [*command, *files], cwd=HERE.parents[1], env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done
    return set(done.stdout.splitlines())


def test_each_has_its_test():
    assert len(STUDIED) == len({row["name"] for row in STUDIED}) == COUNT
    wanted = {row["name"]: os.path.normpath(f"tests/broker/{row['test']}") for row in STUDIED}
    found = collected(sorted({test.partition("::")[0] for test in wanted.values()}))
    assert {name: test for name, test in wanted.items() if test not in found} == {}
    assert len({*wanted.values()}) == COUNT, "one test shows one attack"
