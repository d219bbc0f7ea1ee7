"""Which lines of a Makefile count, and what its own variables hold."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.programs.files.make_conditionals import taken
from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import REPO, effects_of, repository


def deleted(command, text):
    world = repository({"Makefile": text, "sub/Makefile": text})
    return [e.target for e in effects_of(command, world) if e.kind is Kind.DELETE]


ROWS = [
    ("ifeq ($(A),)\nx\nelse\ny\nendif", "x", "a variable that nobody sets is empty"),
    ("ifeq ($(B),1)\nx\nelse\ny\nendif", "x", "one that is set"),
    ('ifneq "b" "2"\nx\nendif\nz', "x z", "quoted"),
    ("ifdef B\nx\nelse\ny\nendif", "x", "defined"),
    ("ifndef B\nx\nelse ifeq ($(A),)\ny\nelse\nz\nendif", "y", "an else with a condition"),
    ("ifdef ENV\nx\nendif", "x", "from the environment"),
    ("ifdef UNKNOWN\nx\nelse\ny\nendif", "x y", "what cannot be told: both"),
    ("ifeq ($(shell uname),Linux)\nx\nelse\ny\nendif", "x y", "a function: both"),
    ("ifdef A\nifdef B\nx\nendif\ny\nendif\nz", "z", "a branch in one that does not count"),
    ("ifeq ($(B), 1)\nx\nendif # B", "x", "blanks, and a comment"),
    ("\tifdef A\nx", "\tifdef A x", "a recipe's line is none"),
    ("else\nendif\nx", "x", "what belongs nowhere"),
    ("A = 1 # on\nifdef A\nx\nendif", "A = 1 # on x", "what the file sets is not decided"),
    ("  A = 1\nifeq ($(A),1)\nx\nelse\ny\nendif", "  A = 1 x y", "nor where it is indented"),
    ("A != echo 1\nifeq ($(A),1)\nx\nendif", "A != echo 1 x", "nor what a command prints"),
    ("ifeq ($(MAKELEVEL),0)\nx\nendif", "x", "nor what make sets itself"),
    ("define D\nifdef A\nendef\nx", "define D endef x", "a definition holds no conditional"),
    ("include c.mk\nifdef A\nx\nendif", "include c.mk x", "an included file may set it"),
    ("$(eval A = 1)\nifdef A\nx\nendif", "$(eval A = 1) x", "and so may a function"),
    ("ifdef foo-bar\nx\nendif", "x", "a name that is no word"),
    ("ifdef $(A)\nx\nendif", "x", "a name that is computed"),
]


@pytest.mark.parametrize(("text", "lines", "why"), ROWS, ids=[row[-1] for row in ROWS])
def test_the_lines_that_count(text, lines, why):
    given = {"ENV": "1", "UNKNOWN": None}
    assert " ".join(taken(text.splitlines(), {"B": "1"}, lambda name: given.get(name, ""))) == lines, why


MAKEFILES = [
    ('all:\n\trm -rf "$(CURDIR)/bin/"\n', "make", "the folder of make"),
    ("all:\n\trm -rf $(CURDIR)/bin\n", "make -C sub", "another folder"),
    ("X := /\nifeq ($(DESTDIR),)\nX := build\nendif\nall:\n\trm -rf $(X)\n", "make", "a condition over nothing"),
    ("B ?= build\nall:\n\trm -rf $(B)\n", "make", "a default"),
]


@pytest.mark.parametrize(("text", "command", "why"), MAKEFILES, ids=[row[-1] for row in MAKEFILES])
def test_nothing_outside_of_the_project_goes(text, command, why):
    found = deleted(command, text)
    assert found and all(target.startswith(f"{REPO}/") for target in found), why


HARMFUL = [
    ("CURDIR := /\nall:\n\trm -rf $(CURDIR)etc\n", "make", "a folder that the file sets"),
    ("all:\n\t$(SHELL) -c 'rm -rf /etc'\n", "make", "make's own shell"),
    ("override X = /etc\nall:\n\trm -rf $(X)\n", "make X=build", "what outweighs the command line"),
    ("X = build\nifdef Y\n  X = /etc\nendif\nall:\n\trm -rf $(X)\n", "Y=1 make", "from the environment"),
    ("X = build\nifdef Y\n  X = /etc\nendif\nall:\n\trm -rf $(X)\n", "env Y=1 make", "the same by env"),
    ("X = build\nifdef Y\nX = /etc\nendif\nall:\n\trm -rf $(X)\n", "make Y=1", "from the command line"),
    ("X = build\nifdef Y\nX = /etc\nendif\nall:\n\trm -rf $(X)\n", "make Y=$(cat y)", "which nobody knows"),
]


@pytest.mark.parametrize(("text", "command", "why"), HARMFUL, ids=[row[-1] for row in HARMFUL])
def test_what_make_would_delete_is_seen(text, command, why):
    assert "/etc" in deleted(command, text), why


def test_a_variable_of_makes_own_is_unknown_and_not_empty():
    assert "/bin" not in deleted("make", "all:\n\trm -rf $(MAKECMDGOALS)/bin\n")


def test_the_command_line_outweighs_the_file():
    assert deleted("make X=/srv", "X := build\nall:\n\trm -rf $(X)\n") == ["/srv"]
