"""The parser against bash and shfmt: every command of a script that bash accepts is found, or an error says so.

A small run; ``python -m bench.analysis.parser_oracles`` is the full one, over the same generator.
"""

from __future__ import annotations

import shutil

import pytest

from bench.analysis.bash_script_generator import SHFMT, Generator, bash_accepts, names, shfmt_commands
from sentinel_guard.core.analysis.parser.bash_parser import parse
from sentinel_guard.core.analysis.parser.syntax_tree import simple_commands

SCRIPTS = 250


@pytest.fixture(scope="module")
def valid() -> list[str]:
    """Generated scripts that bash accepts."""
    if not (shutil.which("bash") and shutil.which("setpriv")):
        pytest.skip("needs bash and setpriv")
    texts = [Generator(seed).script() for seed in range(SCRIPTS)]
    return [text for text, good in zip(texts, bash_accepts(texts), strict=True) if good]


def found(text: str) -> tuple[set[str], tuple[str, ...]]:
    tree = parse(text)
    first = [c.words[0].literal or "" for c in simple_commands(tree) if c.words]
    return {name.rpartition("/")[2] for name in first}, tree.errors


def test_no_command_of_a_script_that_bash_accepts_is_missed_silently(valid):
    assert len(valid) > SCRIPTS // 2
    for text in valid:
        commands, errors = found(text)
        missing = names(text) - commands
        assert not missing or errors, (missing, text)


def test_valid_scripts_have_no_error(valid):
    assert [text for text in valid if parse(text).errors] == []


@pytest.mark.skipif(not SHFMT.exists(), reason="needs shfmt")
def test_shfmt_names_no_command_that_we_do_not(valid):
    compared = 0
    for text in valid[:60]:
        theirs = shfmt_commands(text)
        if theirs is None or "coproc" in text:  # its tree of `coproc NAME args` is an odd one
            continue
        compared += 1
        plain = {word.replace("\\", "").strip("'\"").rpartition("/")[2] for word in theirs}
        assert {word for word in plain if word in names(text)} <= found(text)[0], text
    assert compared > 20


def test_the_generator_writes_what_it_is_there_for():
    text = "\n".join(Generator(seed).script() for seed in range(SCRIPTS))
    for part in ("case ", "select ", "coproc ", "[[ ", "(( ", "<<-", "<<'", "`", "<(", ">(", "@(", "function ", "$["):
        assert part in text
