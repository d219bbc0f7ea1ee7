from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hatch_build
from tests.support.launcher_guard import Guard


@pytest.fixture(scope="session")
def binary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The launcher as the package's build makes it."""
    target = tmp_path_factory.mktemp("launcher") / "sentinel-launcher"
    hatch_build.build_launcher(target)
    return target


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A launcher that waits no longer than a second or two where the machine is at rest, and the file in which it reads
    the machine's load.
    """
    folder = tmp_path_factory.mktemp("quick")
    load, program = folder / "load", folder / "sentinel-launcher"
    times = ("-DSTART_MS=1000", "-DFIRST_ANSWER_MS=200", f'-DLOAD="{load}"')
    hatch_build.build_launcher(program, hatch_build.SOURCES, *times)
    return program, load


@pytest.fixture
def guard(binary: Path) -> Iterator[Callable[..., Guard]]:
    """Makes guards: ``guard(handler)``; they end with the test. ``program``: another launcher than the built one."""
    made: list[Guard] = []

    def make(*args, program: Path = binary, **kwargs) -> Guard:
        made.append(Guard(program, *args, **kwargs))
        return made[-1]

    yield make
    for one in made:
        one.close()
