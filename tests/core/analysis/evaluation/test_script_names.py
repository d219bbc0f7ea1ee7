"""A script knows by which name it was started: where it lies, and what it deletes there."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Kind, Layer
from tests.support.fakes import HOME, FakeWorld

ROOT = f"{HOME}/project"
ROWS = [
    ('cd "$(dirname "$0")"', "bash run.sh", ROOT, "by its name in the folder that is current"),
    ('cd "$(dirname "$0")"', "scripts/run.sh", f"{ROOT}/scripts", "by a path"),
    ('cd "$(dirname "$0")/.."', "bash scripts/run.sh 1", ROOT, "the folder above"),
    ('cd -- "$(dirname -- "${BASH_SOURCE[0]}")"', "./scripts/run.sh", f"{ROOT}/scripts", "as bash calls it"),
    ('D="$(cd "$(dirname "$0")/.." && pwd)"; cd "$D"', "scripts/run.sh", ROOT, "in a variable"),
    ('cd "${0%/*}"', "sh scripts/run.sh", f"{ROOT}/scripts", "by an expansion"),
    ('cd "$(dirname "$0")"', "cd /tmp && bash ~/project/scripts/run.sh", f"{ROOT}/scripts", "from elsewhere"),
    ('cd "$1"', "bash run.sh scripts", f"{ROOT}/scripts", "its words are its own"),
    ('cd "$(dirname "$0")"', 'bash -c \'cd "$(dirname "$0")"; rm -f a.db\'', "", "a text that is no file has no name"),
    ('cd "$(dirname "$0")"', "cat run.sh | bash", "", "what comes in has none"),
]


@pytest.mark.parametrize(("line", "command", "folder"), [r[:3] for r in ROWS], ids=[r[3] for r in ROWS])
def test_where_a_script_lies(line: str, command: str, folder: str) -> None:
    text = f"#!/usr/bin/env bash\nset -eu\n{line}\nrm -f a.db\n"
    files = {f"{ROOT}/{name}": text for name in ("run.sh", "scripts/run.sh")}
    world = FakeWorld(files, folders=(ROOT, f"{ROOT}/scripts", "/tmp"))
    effects = analyse(Action("a", "s", Layer.HOOK, "bash", {"command": command}, ROOT, 1.0, ROOT), world)
    deleted = {(e.target, e.sure) for e in effects if e.kind is Kind.DELETE}
    assert deleted == {(f"{folder}/a.db", True)} if folder else not any(sure for _, sure in deleted)
