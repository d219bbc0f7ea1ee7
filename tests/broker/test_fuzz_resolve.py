"""Random paths lead where the kernel says, and never to the broker's own process; under sanitizers.

``SENTINEL_FUZZ`` sets how many (``make fuzz-broker``).
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from pathlib import Path

import pytest

import hatch_build
from tests.broker.conftest import SANITIZED, USER, built_once

COUNT = int(os.environ.get("SENTINEL_FUZZ", "20000"))
PARTS = "resolve_path name_folder mount_names match_names walk_path task task_identity other_process"
SOURCES = tuple(f"{name}.c" for name in PARTS.split())


def test_random_paths(repo):
    compiler = hatch_build.system_compiler(hatch_build.COMPILERS[1:])
    if not compiler:
        pytest.skip("no C compiler")
    sources = [Path(__file__).with_name("fuzz_resolve.c"), *(hatch_build.BROKER / name for name in SOURCES)]

    def build(target):
        command = [*compiler, *hatch_build.FLAGS, "-I", hatch_build.BROKER, "-o", target, *sources]
        if subprocess.run([*command, *SANITIZED, "-g"], capture_output=True, check=False).returncode:
            subprocess.run(command, check=True)

    built = built_once("fuzz_resolve", [*sources, *hatch_build.BROKER.glob("*.h")], build)
    target = shutil.copy2(built, repo)
    (repo / "tree").mkdir()
    os.chown(repo / "tree", USER, USER)
    seed = secrets.randbelow(1 << 30)
    as_user = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"] if USER else []
    run = [*as_user, target, repo / "tree", str(seed), str(COUNT)]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), f"seed {seed}"
