"""hatch_build.py: which compiler, what the wheel may run on, and the words where it does not compile."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import hatch_build

COMPILERS = [
    ("", ["cc", "musl-gcc"], ["musl-gcc"], "musl starts faster"),
    ("", ["clang", "gcc"], ["gcc"], "gcc before clang"),
    ("", ["clang"], ["clang"], "only clang"),
    ("mycc -m32", ["mycc", "cc"], ["mycc", "-m32"], "what the user named, with its options"),
    ("missing", ["cc"], ["cc"], "a named compiler that is not there"),
    ("", [], None, "none"),
]


@pytest.mark.parametrize(
    ("named", "there", "found"), [row[:-1] for row in COMPILERS], ids=[row[-1] for row in COMPILERS]
)
def test_compiler(monkeypatch, tmp_path, named, there, found):
    for name in there:
        (tmp_path / name).touch(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CC", named)
    assert hatch_build.system_compiler() == found
    assert hatch_build.LauncherBuildHook.dependencies(None) == ([] if found else ["ziglang"])
    assert ("ziglang" in hatch_build.compiler()) == (found is None)


def test_a_static_launcher_runs_on_any_libc():
    machine = os.uname().machine
    assert hatch_build.wheel_platform(static=True) == f"manylinux_2_17_{machine}.musllinux_1_1_{machine}"
    assert hatch_build.wheel_platform(static=False) == f"linux_{machine}"


def test_the_launcher_is_a_program_of_its_own(binary):
    assert os.access(binary, os.X_OK)
    assert list(binary.parent.iterdir()) == [binary], "nothing is left beside it"
    assert subprocess.run([binary], capture_output=True, check=False).returncode == 126


def test_the_compilers_words_are_passed_on(tmp_path):
    (tmp_path / "broken.c").write_text("int main(void) { return missing; }\n")
    with pytest.raises(RuntimeError, match="missing"):
        hatch_build.build_launcher(tmp_path / "out", tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["broken.c"]


def test_every_source_is_short():
    for path in Path(hatch_build.SOURCES).glob("*.[ch]"):
        assert len(path.read_text().splitlines()) < 400, path.name
