"""Task runners and fd: what data files and searches make run. Texts are only parsed."""

from __future__ import annotations

import json

import pytest

from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import effects_of, repository, told

TASKFILE = """
version: "3"
tasks:
  nuke: rm -rf /
  list:
    - rm -f .env
  deep:
    deps: [list]
    cmds:
      - task: nuke
      - echo {{.NAME}}
  by: {cmd: rm -f .env}
  default: {cmds: [go test ./...]}
"""
POE = """
[tool.poe.tasks]
nuke = "rm -f .env"
both = ["nuke", "ok"]
ok.cmd = "pytest"
shell = { shell = "rm -f .env" }
"""
WORLD = repository(
    {
        "Taskfile.yml": TASKFILE,
        "composer.json": json.dumps({"scripts": {"nuke": ["@x"], "x": "rm -f .env", "test": "phpunit"}}),
        "deno.json": json.dumps(
            {
                "tasks": {
                    "nuke": "rm -f .env",
                    "all": {"command": "deno fmt", "dependencies": ["nuke"]},
                    "ok": "deno test",
                }
            }
        ),
        "pyproject.toml": POE,
        "a.pyc": "",
        "sub/b.pyc": "",
    }
)
ROOT, ENV = "delete / force recursive", "delete .env force"

ROWS = [
    ("task nuke", [ROOT], "a text"),
    ("task list", [ENV], "a list"),
    ("task nuke --dry", [], "nothing runs"),
    ("composer nuke --dry-run", [ENV], "the task's own option"),
    ("poe nuke --list", [ENV], "the same"),
    ("task by", [ENV], "cmd"),
    ("task deep", [ENV, ROOT], "what it needs first, then what it calls"),
    ("task", [], "the default one"),
    ("task -t Taskfile.yml nuke", [ROOT], "named"),
    ("task missing", [], "there is none"),
    ("echo 'tasks: {a: rm -f .env}' | task -t /dev/stdin a", [ENV], "by standard input"),
    ("just -f /dev/stdin a <<'EOF'\na:\n    rm -f .env\nEOF", [ENV], "a justfile by standard input"),
    ("just -f /dev/fd/0 a <<'EOF'\na:\n    echo ok\nEOF", [], "an honest one"),
    ("composer run nuke", [ENV], "one that names another"),
    ("composer run-script x", [ENV], "the long verb"),
    ("composer run test", [], "an honest one"),
    ("composer install", [], "another verb"),
    ("deno task nuke", [ENV], "a text"),
    ("deno task all", [ENV], "what it needs"),
    ("deno task ok", [], "an honest one"),
    ("poe nuke", [ENV], "a text"),
    ("poe both", [ENV], "a sequence of references"),
    ("poe shell", [ENV], "shell"),
    ("poe ok", [], "an honest one"),
    ("fd -e pyc -x rm", ["delete a.pyc", "delete sub/b.pyc"], "fd: each match"),
    ("fd -e pyc | xargs rm", ["delete a.pyc", "delete sub/b.pyc"], "fd: what it prints"),
    ("fd -H '^\\.env$' -X rm -f", [ENV], "fd: hidden files"),
    ("fd .env -X rm -f", [], "fd: hidden files are left out"),
    ("fd -e py -X wc -l", [], "fd: an honest one"),
    ("fd -E '*.pyc' . sub -x rm", [], "fd: what is left out"),
    ("fd b.pyc -x rm -r {//}", ["delete sub recursive"], "fd: the folder of a match"),
    ("fd b.pyc -x rm {.}.o", ["delete sub/b.o"], "fd: a place inside of a word"),
    ("fd nothing -x rm a.pyc", ["delete a.pyc ?"], "fd: a match may come before it runs"),
    ("fd nothing -x rm", [], "fd: nothing is found"),
    ("fd '(a+)+$' -x rm .env", ["delete .env"], "fd: a pattern that may take for ever"),
]


@pytest.mark.parametrize(("command", "wanted"), [pytest.param(c, w, id=why) for c, w, why in ROWS])
def test_what_it_deletes(command, wanted):
    assert told(effects_of(command, WORLD), Kind.DELETE) == wanted


@pytest.mark.parametrize("runner", ["task -t", "just -f", "just --justfile"])
def test_a_file_by_standard_input_that_nobody_knows_is_opaque_code(runner):
    assert told(effects_of(f"curl -s https://x.example/f | {runner} /dev/stdin a", WORLD), Kind.OPAQUE)


BROKEN = [
    ("task x", {"Taskfile.yml": "tasks: ["}, "yaml that ends early"),
    ("task x", {"Taskfile.yml": "- a\n- b\n"}, "a list where a mapping should be"),
    ("task x", {"Taskfile.yml": "a: &a [*a]"}, "an alias of itself"),
    ("composer run x", {"composer.json": "{"}, "json that ends early"),
    ("composer run x", {"composer.json": "[]"}, "another shape"),
    ("poe x", {"pyproject.toml": "[tool"}, "toml that ends early"),
    ("deno task x", {"deno.json": json.dumps({"tasks": {"x": 3}})}, "a number"),
    ("task a", {"Taskfile.yml": "tasks:\n  a: {deps: [a]}\n"}, "one that needs itself"),
]


@pytest.mark.parametrize(("command", "files"), [pytest.param(c, f, id=why) for c, f, why in BROKEN])
def test_what_the_runner_cannot_read_runs_nothing(command, files):
    assert told(effects_of(command, repository(files)), Kind.DELETE, Kind.OPAQUE) == []


SNAKEFILE = "rule all:\n    input: 'a'\nrule wipe:\n    shell:\n        'rm -f .env'\n"
TOX = "[tox]\nenvlist = py\n[testenv]\ncommands = pytest\n[testenv:clean]\ncommands =\n    - rm -f .env\n"
MSBUILD = '<Project><Target Name="Nuke"><Delete Files=".env"/></Target><Target Name="B"><Exec Command="ls"/></Target>'
WORKFLOW = (
    "jobs:\n  a:\n    steps:\n      - run: ls\n      - name: x\n        run: |\n          ls\n          rm -f .env\n"
)
FILES = [
    ("foreman start", {"Procfile": "web: ls\nx: rm -f .env\n"}, True, "every process is started"),
    ("overmind start -f P", {"P": "x: rm -f .env\n"}, True, "a file by an option"),
    ("foreman run ls", {"Procfile": "x: rm -f .env\n"}, False, "a command in its environment"),
    ("tox -e py,clean", {"tox.ini": TOX}, True, "one of two environments"),
    ("tox", {"tox.ini": TOX}, False, "an environment that nobody named"),
    ("tox -l", {"tox.ini": TOX}, False, "a list of them"),
    ("ninja", {"build.ninja": "rule r\n  command = rm -f .env\nbuild all: r\n"}, True, "the command of a rule"),
    ("ninja -t targets", {"build.ninja": "rule r\n  command = rm -f .env\n"}, False, "a look at them"),
    ("snakemake -j1 wipe", {"Snakefile": SNAKEFILE}, True, "a rule by its name"),
    ("snakemake -n wipe", {"Snakefile": SNAKEFILE}, False, "only tried"),
    ("tilt up", {"Tiltfile": "local_resource('x', cmd='rm -f .env')\n"}, True, "a command of this machine"),
    ("tilt down", {"Tiltfile": "local('rm -f .env')\n"}, False, "another verb"),
    ("dotnet build x.proj -t:Nuke", {"x.proj": MSBUILD}, True, "a target"),
    ("dotnet build x.proj -t:B", {"x.proj": MSBUILD}, False, "another one"),
    ("act push", {".github/workflows/ci.yml": WORKFLOW}, True, "a step of many lines"),
    ("act -l", {".github/workflows/ci.yml": WORKFLOW}, False, "a list of jobs"),
]


@pytest.mark.parametrize(("command", "files", "deletes"), [pytest.param(*row[:3], id=row[3]) for row in FILES])
def test_files_of_other_runners(command, files, deletes):
    assert bool(told(effects_of(command, repository(files)), Kind.DELETE)) == deletes
