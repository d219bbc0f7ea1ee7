"""What is computed of a file after ``sed -i``, beside what sed makes of it."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.programs.files import sed_edits
from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import effects_of, repository, told

TEXTS = ("a1\nb2\nc3\nd4\nb5\ne6\n", "  foo = 1\nbar\n\nfoo bar foo\nend\n", "x")
FOLLOWED = (
    *("1a X", "1i X", "2c X", "$a X", "/b/a\\\nX", "a X", "s/a/z/;1a Y; z", r"1a a\tb\nc"),
    *("2,3d", "2,3s/./Q/", "/b/,/d/d", "/b/,/d/s/[a-z]/Q/", "/b/,+1d", "2,$d", "0,/b/d", "0,/a/d", "1,/a/d", "3,1d"),
    *("2!d", "$!d", "/b/!s/./Q/", "2,3!d", "/b/ , /d/ d", "2 , 3 s/./Q/;4d", "/b/,2s/./Q/", "1d;2d", "1d;s/b/x/"),
    *("2{s/b/q/;s/2/9/}", "/foo/{s/foo/X/g;s/bar/Y/}", "/b/,/d/{/c/d;s/./Z/}", "2{d}", "/b/{/2/{s/b/q/}}"),
    *("2,3{i X\n}", "/b/{a\\\nX\ns/b/c/\n}", "/a/i Q\ns/Q/z/", "s/a/b/;/b/d", "1c q\n1s/q/r/"),
    *("s/^[[:space:]]*foo/X/", r"s/[[:digit:]]\+/N/g", r"s/\<foo\>/W/g", "s#/#|#", "s/.*/&&/", r"s/\(a\)\(.\)/\2\1/"),
    *(r"s/o/\n/;s/^.*$/<&>/", r"s/1/\n/;s/a.b*/Q/", r"s/1/\n/;/^$/d", r"s/o/\n/;s/[^f]*$/E/", r"s/ /\n/g;s/\n/,/"),
    *(r"s/a\|b/Q/", "s/b*$/E/", "/FOO/Id", "s/FOO/z/I", "d", "/x/,/y/d"),
)
UNFOLLOWED = (
    *("s/foo/\\U&/", "s/o/0/2", "5q", "y/ab/xy/", "n;d", "2,3c X", "}", "{", "2{", "s/a/b", "s/x*/-/g", r"1a a\x41"),
    *("N;s/a/b/", "s/a/b/w out", "s/a/b/e", r"s/o*\b/-/g", "/[[.a.]]/d", "3d;2,+1d"),
    *("s/f\n/X/", "s/f/X\n/", "1\nd", "1a  ", r"s/\`f/X/", r"s/o\'/X/"),
)


@pytest.mark.parametrize("script", FOLLOWED)
def test_a_script_does_what_sed_does(script: str) -> None:
    for text in TEXTS:
        done = subprocess.run(["sed", script], input=text, capture_output=True, text=True, check=True)
        assert sed_edits.sed([script], text, extended=False) == done.stdout


@pytest.mark.parametrize("script", UNFOLLOWED)
def test_what_is_not_followed_leaves_nothing_known(script: str) -> None:
    assert sed_edits.sed([script], TEXTS[1], extended=False) == UNKNOWN


IN_PLACE = (
    ("-i s/one/two/", "two", "plainly"),
    ("-Ei 's/(one)/two/'", "two", "extended"),
    ("-i -r 's/(one)/two/'", "two", "as GNU has it, too"),
    ("-i -e s/one/two/", "two", "an expression"),
    ("-i --expression=s/one/two/ --follow-symlinks", "two", "in long words"),
    ("-iE 's/(one)/two/'", "one", "E is what the old file's name gets"),
    ("-i.bak s/one/two/", "two", "the new file"),
    ("--in-place=.bak s/one/two/", "two", "the same"),
    ("--help -i s/one/two/", "", "nothing is edited"),
    ("--foo -i s/one/two/", "", "an option that sed refuses"),
    ("-i -W s/one/two/", "", "the same"),
    ("-ni s/one/two/", "", "lines are not printed"),
    ("-i -f x.sed", "", "a script of its own"),
)


@pytest.mark.parametrize(("words", "name"), [pytest.param(*row[:2], id=f"{row[0]}: {row[2]}") for row in IN_PLACE])
def test_what_is_left_of_a_file(words: str, name: str) -> None:
    world = repository({"f": "mkdir one\n"})
    done = told(effects_of(f"sed {words} f; sh f", world), Kind.WRITE, Kind.OPAQUE)[-1]
    assert done.startswith(f"write {name} " if name else "opaque ")


def test_the_old_file_is_left_beside_it() -> None:
    done = effects_of("sed -i.bak s/one/two/ f; sh f.bak", repository({"f": "mkdir one\n"}))
    assert "write one append folder" in told(done, Kind.WRITE)


ATOMS = (
    *("a", "b", "ab", "x", "1", " ", ".", "*", "^", "$", "[ab]", "[^a]", "[[:digit:]]", r"\+", r"\?", "+", "?", r"\("),
    *("(", r"\)", ")", r"\|", "|", "{1}", r"\{2\}", "{", "}", r"\.", r"\<", r"\>", r"\b", r"\w", r"\n", r"\1", "["),
)
TEXTS_TO_EDIT = st.sampled_from(("a1\nb2\nab\n12 x\n", "aab ab\n\nb*x+\na$b^\n(ab)|{x}\n"))
EXPRESSIONS = st.lists(st.sampled_from(ATOMS), max_size=4).map("".join)
PLACES = st.sampled_from(("", "1", "3", "$", "0", "2,4", "2,+1", "1!", "/a/,$"))
NEW = st.lists(st.sampled_from(("Q", "&", r"\1", r"\n", r"\&", r"\U", "")), max_size=2).map("".join)
REPLACED = st.builds("s/{}/{}/{}".format, EXPRESSIONS, NEW, st.sampled_from(("", "g", "I", "2")))
OTHERS = st.sampled_from(("d", "a X\n", "i X\n", "c\\\n X\n", "n", "{s/a/b/;d}", "{/b/d;a Y\n}"))
COMMANDS = st.builds("{}{}".format, st.one_of(PLACES, EXPRESSIONS.map("/{}/".format)), st.one_of(REPLACED, OTHERS))
SCRIPTS = st.lists(COMMANDS, min_size=1, max_size=3).map(";".join)


@settings(max_examples=150, deadline=None)
@given(
    script=SCRIPTS,
    extended=st.booleans(),
    text=st.sampled_from(("a1\nb2\nab\n12 x\n", "aab ab\n\nb*x+\na$b^\n(ab)|{x}\n")),
)
def test_what_is_followed_is_what_sed_makes(script: str, text: str, *, extended: bool) -> None:
    found = sed_edits.sed([script], text, extended=extended)
    words = ["sed", *(["-E"] if extended else []), "-e", script]
    done = subprocess.run(
        words, input=text, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"}
    )
    assert found in (UNKNOWN, text if done.returncode else done.stdout)
