"""What Python code knows beside its own text: files of data, the options of its command, where it lies itself."""

from __future__ import annotations

import json
import shlex

import pytest

from tests.core.analysis.programs.test_registry import REPO, rows, shown
from tests.support.fakes import FakeWorld


def meant(command, files):
    return shown(command, world=FakeWorld({f"{REPO}/{name}": text for name, text in files.items()}))


MADE = "import json, argparse, os, shutil, sys, pathlib\n"
EXEC = "exec(''.join(c['source']))"
DATA = [
    ("exec(json.load(open('code.json'))['run'])", ["read code.json", "delete .env"], "code that a file of data holds"),
    ("exec(json.loads(pathlib.Path('code.json').read_text())['run'])", ["read code.json", "delete .env"], "its text"),
    (f"[{EXEC} for c in json.load(open('safe.ipynb'))['cells']]", ["read safe.ipynb"], "cells of a notebook"),
    (f"[{EXEC} for c in json.load(open('harm.ipynb'))['cells']]", ["read harm.ipynb", "delete .env"], "with harm"),
    (
        "import nbformat\nexec('\\n'.join(c.source for c in nbformat.read('harm.ipynb', 4).cells))",
        ["read harm.ipynb", "delete .env"],
        "through nbformat",
    ),
    (f"for c in json.load(open(sys.argv[1]))['cells']: {EXEC}", ["opaque a value run as code code ?"], "what file?"),
    (
        "d = json.load(open('safe.json')); d['run'] = 'os.remove(\".env\")'; exec(d['run'])",
        ["read safe.json", "delete .env"],
        "changed before it is run",
    ),
    (
        "d = json.load(open('safe.json')); d[x] = 'os.remove(\".env\")'; exec(d['run'])",
        ["read safe.json", "opaque a value run as code code ?"],
        "changed nobody knows where",
    ),
    (
        "d = json.load(open('safe.json')); d.update({'run': 'os.remove(\".env\")'}); exec(d['run'])",
        ["read safe.json", "delete .env"],
        "updated",
    ),
    (
        "d = json.load(open('safe.json')); d['run'] += '; os.remove(\".env\")'; exec(d['run'])",
        ["read safe.json", "delete .env"],
        "lengthened",
    ),
    (
        "json.dump(x, open('safe.json', 'w')); exec(json.load(open('safe.json'))['run'])",
        ["write safe.json truncate", "read safe.json", "opaque a value run as code code ?"],
        "written before it is read",
    ),
    ("exec(json.load(open('none.json'))['run'])", ["read none.json", "opaque a value run as code code ?"], "not there"),
]  # fmt: skip
FILES = {
    "code.json": {"run": "import os; os.remove('.env')"},
    "safe.json": {"run": "print(1)"},
    "safe.ipynb": {"cells": [{"cell_type": "code", "source": ["import os\n", "print(1)\n"]}]},
    "harm.ipynb": {"cells": [{"cell_type": "code", "source": ["import os\n", "os.remove('.env')\n"]}]},
}


@pytest.mark.parametrize(("text", "expected"), rows(DATA))
def test_code_in_a_file_of_data_is_read(text, expected):
    files = {name: json.dumps(held) for name, held in FILES.items()}
    assert meant(f"python3 -c {shlex.quote(MADE + text)}", files) == expected


OPTIONS = [
    ("", [], "build", "the default"),
    ("--out dist", [], "dist", "given"),
    ("--out=dist", [], "dist", "in one word"),
    ("-o dist", [], "dist", "by its letter"),
    ("-odist", [], "dist", "in one word"),
    ("--ou dist", [], "dist", "by its beginning"),
    ("--out dist --out src", [], "src", "the last one counts"),
    ("--quick --out dist", ["'--quick', action='store_true'"], "dist", "beside a switch"),
    ("a --out dist", ["'name'"], "dist", "beside a place"),
    ("--out $X", [], "$(a value)", "a word that is not known"),
    ("--out dist", ["'--out2', fromfile=1"], "dist", "another of a longer name"),
]


@pytest.mark.parametrize(("words", "more", "path", "why"), OPTIONS, ids=[row[3] for row in OPTIONS])
def test_options_of_argparse_are_what_the_command_gives_or_their_default(words, more, path, why):
    lines = ["import argparse, shutil", "ap = argparse.ArgumentParser()", "g = ap.add_argument_group('x')"]
    lines += ["g.add_argument('-o', '--out', default='build')", *(f"ap.add_argument({row})" for row in more)]
    lines += ["a = ap.parse_args()", "shutil.rmtree(a.out)"]
    target = f"opaque {path} delete ?" if "$" in path else f"delete {path} recursive"
    code = shlex.quote("\n".join(lines))
    assert shown(f"python3 -c {code} {words}") == [target], why


UNKNOWN_OPTIONS = [
    ("argparse.ArgumentParser(fromfile_prefix_chars='@')", "'--out', default='build'", "words may come from a file"),
    ("argparse.ArgumentParser()", "'--out', default='build', type=place", "a function makes another word of it"),
    ("argparse.ArgumentParser()", "'--out'", "no default"),
    ("argparse.ArgumentParser()", "NAME, default='build'", "a name that is not known"),
]


@pytest.mark.parametrize(("parser", "option", "why"), UNKNOWN_OPTIONS, ids=[row[2] for row in UNKNOWN_OPTIONS])
def test_what_argparse_may_make_anything_of_is_not_known(parser, option, why):
    code = f"import argparse, shutil; ap = {parser}; ap.add_argument({option}); shutil.rmtree(ap.parse_args().out)"
    assert shown(f"python3 -c {shlex.quote(code)}") == ["opaque $(a value) delete ?"], why


PLACES = [
    ("os.remove(__file__)", "delete tools/x.py", "the script itself"),
    ("shutil.rmtree(os.path.join(os.path.dirname(__file__), 'out'))", "delete tools/out recursive", "beside it"),
    ("shutil.rmtree(pathlib.Path(__file__).parent.parent / 'out')", "delete out recursive", "above it"),
]


@pytest.mark.parametrize(("text", "expected", "why"), PLACES, ids=[row[2] for row in PLACES])
def test_a_script_knows_where_it_lies(text, expected, why):
    found = meant("python3 tools/x.py", {"tools/x.py": MADE + text})
    assert [line for line in found if not line.startswith("read")] == [expected], why


COUNTS = [
    ("", "build", "none is given"),
    ("dist", "dist", "one is"),
    ("dist x", "dist", "more than one"),
    ("$X", "$(a value)", "one that may be any number"),
]


@pytest.mark.parametrize(("words", "path", "why"), COUNTS, ids=[row[2] for row in COUNTS])
def test_a_choice_by_the_number_of_arguments_is_known(words, path, why):
    code = "import shutil, sys; shutil.rmtree(sys.argv[1] if len(sys.argv) > 1 else 'build')"
    target = f"opaque {path} delete ?" if "$" in path else f"delete {path} recursive"
    assert shown(f"python3 -c {shlex.quote(code)} {words}") == [target], why
