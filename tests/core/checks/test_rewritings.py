"""A dangerous command stays as dangerous in every other way of writing it (``tests/vectors/rewritings.toml``).

Metamorphic: bash itself says that a rewriting starts the very same command, in a cage where its program is a stub; and
the verdict on it is at least as strict as the one on the plain command.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tomllib
from pathlib import Path

import pytest

from sentinel_guard.core.model import Response
from tests.core.checks.test_bypasses import response
from tests.support.bash.rewriting_cage import RewritingCage

TABLE = tomllib.loads((Path(__file__).parents[2] / "vectors" / "rewritings.toml").read_text(encoding="utf-8"))
COMMANDS: dict[str, list[str]] = {text: text.split() for text in TABLE["commands"]}
ROWS = [
    pytest.param(row, text, row["text"].replace("%s", text), id=f"{row['text']} - {text}")
    for row in TABLE["rewriting"]
    for text in ([row["of"]] if "of" in row else COMMANDS)
    if text not in row.get("hides", ())
]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[str]]]:
    """What each text really started. Where several processes share the tests, one of them asks bash."""
    folder = tmp_path_factory.getbasetemp()
    kept = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "rewritings.json"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_text(json.dumps(_started()))
    said: dict[str, list[list[str]]] = json.loads(kept.read_text())
    if not said:
        pytest.skip("no cage can be made here (user namespaces)")
    return said


def _started() -> dict[str, list[list[str]]]:
    cage = RewritingCage([argv[0] for argv in COMMANDS.values()])
    try:
        texts = list(dict.fromkeys(row.values[2] for row in ROWS))
        texts += [f"echo '{text}'" for text in COMMANDS]
        return dict(zip(texts, cage.started(texts), strict=True)) if cage.works() else {}
    finally:
        cage.close()


@pytest.mark.parametrize(("row", "plain", "text"), ROWS)
def test_a_rewriting_starts_the_same_command(
    row: dict[str, str], plain: str, text: str, started: dict[str, list[list[str]]]
) -> None:
    if reason := row.get("unproved"):
        pytest.skip(reason)
    if (program := row.get("needs")) and shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    assert COMMANDS[plain] in started[text]


@pytest.mark.parametrize(("row", "plain", "text"), ROWS)
def test_its_verdict_is_at_least_as_strict(row: dict[str, str], plain: str, text: str) -> None:
    assert response(text) >= response(plain)


def test_what_only_speaks_of_a_command_starts_none_and_is_let_pass(started: dict[str, list[list[str]]]) -> None:
    for text in COMMANDS:
        assert started[f"echo '{text}'"] == []
        assert response(f"echo '{text}'") < response(text)


HONEST = (
    ("exec < /dev/tty; read -p 'sure? ' x", "a hook asks the person"),
    ("exec < /dev/null; bash build.sh", "nothing to read"),
    ('exec 3< README.md; while read -r -u 3 line; do echo "$line"; done', "a file is read"),
    ('input=$(cat); echo "$input"', "a hook reads what it is given"),
    ("mapfile -t -C 'echo read' -c 10 lines < README.md", "a callback that prints"),
    ("complete -C aws_completer aws", "a completion"),
    ("setarch $(uname -m) -R ./a.out", "a program without random addresses"),
    ("parallel python -c 'print(\"ok\")' ::: ok", "a text for python"),
    ("make -f - <<< 'x: ; echo hi'", "a harmless makefile"),
    ("printf 'V := $(shell date)\\nall: ; gcc -o a $(OBJS)\\n' > m.mk; make -f m.mk", "a new makefile with variables"),
    ("mkdir -p build && cd $_", "the last word"),
    ("unset 'a[0]'; [[ ${a[$i]} -eq 1 ]]; test -v 'a[1]'", "plain subscripts"),
    ("declare -A m; m['a b']=1; echo \"${m['a b']}\"", "names as keys"),
    ("echo hi | gzip | gunzip", "packed and unpacked"),
    ("expect -c 'spawn npm login; expect Username; send \"me\\r\"; expect eof'", "a dialogue"),
    ("tclsh <<< 'puts [expr 1+1]'", "arithmetic"),
    ("ssh localhost uptime", "this machine"),
    ("git ls-files | xargs cat | wc -l", "names that are read"),
)


@pytest.mark.parametrize(("text", "why"), HONEST, ids=[row[-1] for row in HONEST])
def test_honest_work_that_looks_alike_goes_on(text: str, why: str) -> None:
    assert response(text) <= Response.HINT
