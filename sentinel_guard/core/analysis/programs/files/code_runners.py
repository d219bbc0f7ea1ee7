"""Programs that run a file of code which they are given: behind which options and words it stands.

``jupyter nbconvert --execute X``, ``cmake -P X``, ``gradle -I X``: what X holds runs with the rights of the person.
Who reads it is another file's business; here is said only which words are such files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from sentinel_guard.core.analysis.expansion.shell_state import Field


class CodeRunner(NamedTuple):
    """Where the code stands among a program's words, as its help names it."""

    options: frozenset[str] = frozenset()
    """Options whose value is a file of code: behind a blank, behind ``=``, or right behind ``:``."""
    operands: bool = False
    """The first operand behind the verbs is one, too."""
    verbs: frozenset[str] = frozenset()
    """First words that are skipped."""
    needs: frozenset[str] = frozenset()
    """One of these words must be among the first, else nothing runs."""
    short: bool = False
    """``OWNER/NAME`` is an address."""
    last: frozenset[str] = frozenset()
    """Those of the options behind whose value stand the words of what is run: ``-jar X ...``."""


def _row(
    options: str = "", verbs: str = "", *, file: bool = False, needs: str = "", short: bool = False, last: str = ""
) -> CodeRunner:
    named, skipped, needed, ending = (frozenset(text.split()) for text in (options, verbs, needs, last))
    return CodeRunner(named, file, skipped, needed, short, ending)


def _all(names: str, row: CodeRunner) -> dict[str, CodeRunner]:
    return dict.fromkeys(names.split(), row)


_FILE = _row(file=True)
CODE_RUNNERS: dict[str, CodeRunner] = {
    # builds and tasks
    **_all("gradle gradlew", _row("-I --init-script -b --build-file -c --settings-file")),
    **_all("mvn mvnw", _row("-f --file -s --settings -gs")),
    "ant": _row("-f -file -buildfile -lib"),
    "cmake": _row("-P -C -DCMAKE_TOOLCHAIN_FILE -DCMAKE_PROJECT_INCLUDE --toolchain"),
    "ctest": _row("-S --script"),
    "ninja": _row("-f"),
    "samu": _row("-f"),
    "bmake": _row("-f"),
    "remake": _row("-f --file"),
    "scons": _row("-f --file --sconstruct --makefile --site-dir"),
    **_all("rake thor cap", _row("-f --rakefile -r --require -R --rakelibdir")),
    **_all("task go-task", _row("-t --taskfile")),
    "just": _row("-f --justfile"),
    "mask": _row("--maskfile"),
    "run": _row("-r --runfile"),
    "nox": _row("-f --noxfile"),
    "tox": _row("-c --conf"),
    "doit": _row("-f --file"),
    **_all("fab invoke inv", _row("-c --collection -r --search-root -f --config --fabfile")),
    **_all("gulp grunt jake", _row("-f --gulpfile --gruntfile --jakefile --tasks")),
    "earthly": _FILE,
    "dagger": _row("-m --mod"),
    "act": _row("-W --workflows"),
    "bake": _FILE,
    **_all("foreman honcho overmind hivemind goreman", _row("-f --procfile", "start run", file=True)),
    "tilt": _row("-f --file"),
    "skaffold": _row("-f --filename -m --module"),
    "devspace": _row("-c --config"),
    "lefthook": _row("-c --config"),
    "pre-commit": _row("-c --config"),
    # work flows and data
    "jupyter": _row("", "nbconvert execute run notebook", file=True, needs="--execute execute run"),
    "jupyter-nbconvert": _row("", file=True, needs="--execute"),
    "jupyter-execute": _FILE,
    **_all("papermill runipy ploomber treon testbook", _FILE),
    "quarto": _row("", "render preview run", file=True, needs="render preview run"),
    "nextflow": _row("-c -C -config", "run pull kuberun", file=True, needs="run pull kuberun", short=True),
    "snakemake": _row("-s --snakefile --profile"),
    "snakedeploy": _row("", "deploy-workflow", file=True),
    **_all("cwltool cwl-runner toil-cwl-runner arvados-cwl-runner womtool", _FILE),
    "miniwdl": _row("", "run localize", file=True),
    "cromwell": _row("", "run submit", file=True),
    "mlflow": _row("", "run projects", file=True, needs="run"),
    "k6": _row("", "run cloud", file=True, needs="run cloud"),
    "artillery": _row("", "run", file=True, needs="run"),
    "newman": _row("", "run", file=True, needs="run"),
    "locust": _row("-f --locustfile"),
    "scrapy": _row("", "runspider", file=True, needs="runspider"),
    "playwright": _row("-c --config"),
    # applications from one file
    **_all(
        "streamlit marimo chainlit solara flet modal taipy mesop shiny fastapi dagster textual "
        "nicegui", _row("-f --python-file", "run edit serve dev deploy job shell", file=True)),
    **_all("gradio voila", _FILE),
    **_all("panel bokeh", _row("", "serve", file=True, needs="serve")),
    # scripts that a program takes along
    **_all("mitmdump mitmproxy mitmweb", _row("-s --scripts")),
    **_all("gdb lldb rr", _row("-x --command -s --source -S --source-before-file -ix")),
    **_all("emacs emacsclient", _row("-l --load --script -script -load")),
    **_all("vim nvim vi view gvim", _row("-S -u -l")),
    **_all("blender FreeCAD freecad freecadcmd", _row("-P --python -M")),
    **_all("godot godot4", _row("-s --script")),
    "qgis": _row("--code -f"),
    **_all("frida frida-trace", _row("-l --load -S")),
    **_all("radare2 r2 rizin", _row("-i -I -p")),
    "tshark": _row("-X"),
    "nmap": _row("--script"),
    **_all("ansible-playbook ansible-runner", _FILE),
    "packer": _row("", "build", file=True, needs="build"),
    "guix": _row("-f --file -l --load -m --manifest"),
    **_all("nix-build nix-shell nix-instantiate", _FILE),
    "tmux": _row("-f", "source-file source", file=True, needs="source-file source"),
    "bpftrace": _FILE,
    "stap": _FILE,
    "dtrace": _row("-s"),
    "sqlite3": _row("-init"),
    "duckdb": _row("-init"),
    "awk": _row("-f --file"),
    "gawk": _row("-f --file"),
    "mawk": _row("-f --file"),
    "sed": _row("-f --file"),
    # runtimes
    **_all("wine wine64 mono box64 box86 proton winetricks qemu-x86_64", _FILE),
    **_all("wasmtime wasmer wasm3 wasmedge iwasm spin lunatic wasmi", _row("", "run up", file=True)),
    "java": _row("-jar -javaagent -agentpath -cp -classpath --class-path @", file=True, last="-jar -m --module"),
    **_all("kotlin groovy amm bsh jshell kscript zx", _FILE),
    "jbang": _row("", "app install run", file=True),
    "scala": _row("", "run", file=True),
    "scala-cli": _row("", "run repl package compile", file=True),
    "kotlinc": _row("-script", file=True),
    "sbt": _row("--sbt-jar -sbt-jar --sbt-launch-jar"),
    "crystal": _row("", "run eval", file=True),
    "cargo": _row("", "script", file=True, needs="script"),
    "rust-script": _FILE,
    "dotnet-script": _FILE,
    "dotnet": _row("", "script run exec", file=True, needs="script exec"),
    "stack": _row("--setup-info-yaml", "script runghc", file=True, needs="script runghc"),
    **_all(
        "tclsh wish expect jimsh guile racket ecl clisp csi gosh janet fennel hy bb joker raku rakudo "
        "runghc runhaskell ocaml utop swift nim dart octave octave-cli gforth gnuplot maxima gp swipl "
        "escript squeak pharo io red rebol v tcc cling evcxr rdmd R sage nu elvish xonsh osh oil ysh "
        "murex ion", _row("-f --script", "run r script e", file=True)),
    **_all("sbcl ccl abcl", _row("--load -l --script", file=True)),
}  # fmt: skip
"""As the help of each names them (2026)."""
MOST = 40
"""Words that are looked at."""
_SWITCH = re.compile(
    r"--?(?:y|q|v|s|e|E|A|n|f|yes|quiet|silent|verbose|batch|no-\S+|headless|trust\S*|power|ci|execute|\w+=\S*)"
)
"""Options without a value, most likely."""


def given(program: str, words: Sequence[Field]) -> Iterator[Field]:
    """The words of a call (without the program) that are files of code; some may be an option's value instead."""
    row = CODE_RUNNERS[program]
    words = words[:MOST]
    if row.last and (ends := [at for at, item in enumerate(words) if item.text in row.last]):
        words = words[: ends[0] + 2]
    if row.needs and row.needs.isdisjoint(item.text for item in words):
        return
    for item, behind in pairwise((*words, Field(""))):
        name, mark, value = item.text.partition("=")
        if item.text in row.options and behind.text:
            yield behind
        elif mark and name in row.options:
            yield Field(value, item.known)
        elif ":" in item.text and (option := item.text.partition(":"))[0] in row.options:
            yield Field(option[2].partition("=")[0], item.known)
        elif item.text[:2] in row.options and len(item.text) > len("-f") and item.text[1:2] != "-":
            yield Field(item.text[2:], item.known)
    yield from _operands(row, words) if row.operands else ()


def _operands(row: CodeRunner, words: Sequence[Field]) -> Iterator[Field]:
    """The first word that is no option and no verb; of those before it that may be an option's value, all."""
    for before, item in pairwise((Field(""), *words)):
        if item.text[:1] == "-" and len(item.text) > 1:
            continue
        if item.text in row.verbs or before.text in row.options:
            continue
        yield item
        if before.text[:1] != "-" or _SWITCH.fullmatch(before.text):
            return
