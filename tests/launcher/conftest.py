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


@pytest.fixture
def guard(binary: Path) -> Iterator[Callable[..., Guard]]:
    """Makes guards: ``guard(handler)``; they end with the test."""
    made: list[Guard] = []

    def make(*args, **kwargs) -> Guard:
        made.append(Guard(binary, *args, **kwargs))
        return made[-1]

    yield make
    for one in made:
        one.close()
