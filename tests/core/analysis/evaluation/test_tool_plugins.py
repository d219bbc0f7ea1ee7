"""Code that a text writes and that a tool loads: plugins by an option or by settings, hooks by their commands."""

import pytest

from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import REPO, effects_of, repository, told

WORLD = repository({"src/a.py": "x\n", ".pre-commit-config.yaml": ""}, folders=(f"{REPO}/src",))
JS = "require('fs').rmSync('src', {recursive: true})"
PY = "import shutil; shutil.rmtree('src')"
GONE = "delete src recursive"


def wrote(name: str, text: str, then: str) -> str:
    return f"cat > {name} <<'END'\n{text}\nEND\n{then}"


ROWS = [
    (wrote("p.js", JS, "npx prettier --plugin=./p.js src"), True, "an option that names it"),
    (wrote("p.js", JS, "npx prettier --plugin ./p.js src"), True, "as two words"),
    (wrote("rules/r.js", JS, "npx eslint --rulesdir rules ."), True, "by its folder"),
    (wrote("p.py", PY, "pylint --load-plugins=p src"), True, "by the name of the module"),
    (wrote("p.rb", 'system("rm -r src")', "rubocop -r ./p.rb"), True, "a file behind a letter"),
    (wrote("p.py", PY, "printf '[mypy]\\nplugins = p.py\\n' > mypy.ini; mypy src"), True, "settings that name it"),
    (wrote(".pylintrc", 'init-hook="' + PY.replace('"', "'") + '"', "pylint src"), True, "code in settings"),
    (f'pylint --init-hook="{PY}" src', True, "code in an option"),
    (wrote(".pre-commit-config.yaml", "- repo: local\n  hooks:\n  - id: x\n    entry: rm -r src", "pre-commit run -a"),
     True, "a hook's command"),
    (wrote("lefthook.yml", "pre-commit:\n  commands:\n    x:\n      run: rm -r src", "lefthook run pre-commit"), True,
     "another manager's"),
    (wrote("p.js", JS, "npx prettier --plugin=./q.js src"), False, "another plugin"),
    (wrote("p.js", JS, "npx prettier --write p.js"), False, "a file that is formatted"),
    (wrote("dist/p.js", JS, "scp -r dist host:"), False, "a folder that is copied"),
    (wrote("p.py", PY, "printf '[mypy]\\nstrict = true\\n' > mypy.ini; mypy src"), False, "settings without it"),
    (wrote("p.py", PY, "grep -r p src"), False, "a pattern"),
    (wrote(".pre-commit-config.yaml", "- repo: local\n  hooks:\n  - id: x\n    entry: rm -r src", "git status"), False,
     "no hook runs"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "loses"), [row[:2] for row in ROWS], ids=[row[2] for row in ROWS])
def test_what_a_tool_loads_is_run(text: str, loses: bool) -> None:
    assert (GONE in told(effects_of(text, WORLD), Kind.DELETE)) is loses
