"""The parser against bash and shfmt: every command of a script that bash accepts is found, or an error says so.

The scripts are generated, every command name is unique (``c1``, ``c2`` …), and they are only parsed: ``bash -n`` as an
unprivileged user, from standard input, and ``shfmt --to-json``.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sentinel_guard.core.analysis.bash import parse
from sentinel_guard.core.analysis.syntax import simple_commands

SCRIPTS = 150
BASH = ["bash", "--norc", "--noprofile", "-n"]
UNPRIVILEGED = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
SHFMT = Path(sys.executable).with_name("shfmt")
PLAIN = [
    "a",
    "-x",
    "'q r'",
    '"d $v"',
    "${v}",
    "*.c",
    "{x,y}",
    "~/z",
    "a\\ b",
    "$'e\\n'",
    "--o=p",
    "==",
    "!",
    "n#",
    "[a]",
    "a=b",
]
REDIRECTS = [">o", ">>o", "2>&1", "<i", "&>o", "<<<h", '<<<"$v"', ">|o", "{fd}>o"]


class Generator:
    """Random bash, valid most of the time."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.heredocs: list[str] = []

    def one_of(self, *choices):
        return self.random.choice(choices)

    def name(self) -> str:
        self.count += 1
        return self.one_of("", "", "", "\\", "/bin/") + f"c{self.count}"

    def plain(self) -> str:
        return self.name() + " " + self.one_of(*PLAIN)

    def word(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.5:
            return self.one_of(*PLAIN)
        return self.one_of(
            lambda: f"$({self.inline(depth - 1)})",
            lambda: f'"$({self.inline(depth - 1)})"',
            lambda: f"`{self.plain()}`",
            lambda: f'"`{self.plain()}`"',
            lambda: f"<({self.inline(depth - 1)})",
            lambda: f"${{v:-$({self.plain()})}}",
            lambda: f"${{v/x/$({self.plain()})}}",
            lambda: f"$((1 + $({self.plain()})))",
            lambda: "w",
        )()

    def simple(self, depth: int) -> str:
        text = self.one_of("", "", "", "A=1 ") + self.name()
        text += "".join(" " + self.word(depth) for _ in range(self.random.randint(0, 3)))
        if self.random.random() < 0.25:
            text += " " + self.one_of(*REDIRECTS)
        if depth > 0 and self.random.random() < 0.12:
            text += self.heredoc()
        return text

    def heredoc(self) -> str:
        tag = f"E{self.count}"
        quote = self.one_of("", "'", "\\")
        body = self.one_of("text", "it's $v", "a\nb", f"$({self.name()})" if not quote else "$(x)")
        self.heredocs.append(f"{body}\n{tag}\n")
        return f" <<{quote}{tag}{quote if quote != chr(92) else ''}"

    def newline(self) -> str:
        bodies, self.heredocs = "".join(self.heredocs), []
        return "\n" + bodies

    def block(self, depth: int) -> str:
        text = self.inline(depth - 1)
        return text + (self.newline() if self.heredocs else self.one_of("; ", "\n"))

    def compound(self, depth: int) -> str:
        return self.one_of(
            lambda: f"if {self.block(depth)}then {self.block(depth)}else {self.block(depth)}fi",
            lambda: f"for i in a b; do {self.block(depth)}done",
            lambda: f"for ((i=0;i<3;i++)); do {self.block(depth)}done",
            lambda: f"while {self.block(depth)}do {self.block(depth)}done",
            lambda: f"{{ {self.block(depth)}}} >o",
            lambda: f"( {self.block(depth)})",
            lambda: f"case $v in a) {self.block(depth)};; *) {self.block(depth)};; esac".replace("; ;;", " ;;"),
            lambda: f"f{self.count}() {{ {self.block(depth)}}}",
            lambda: "[[ -f x && $v == *.c ]]",
            lambda: "(( i++ ))",
        )()

    def pipeline(self, depth: int) -> str:
        def command() -> str:
            return self.compound(depth) if depth > 0 and self.random.random() < 0.3 else self.simple(depth)

        prefix = self.one_of(*[""] * 12, "! ", "time ", "time -p ")
        stages = [command() for _ in range(self.one_of(1, 1, 1, 2, 3))]
        return prefix + self.one_of(" | ", "|", " |& ").join(stages)

    def inline(self, depth: int) -> str:
        text = self.pipeline(depth)
        for _ in range(self.one_of(0, 1, 2)):
            text += self.newline() if self.heredocs else self.one_of("; ", " && ", " || ", " & ", "\n")
            text += self.pipeline(depth)
        return text + (self.newline() if self.heredocs else "")

    def script(self) -> str:
        depth = self.one_of(0, 1, 1, 2)
        lines = [self.inline(depth) + self.newline() for _ in range(self.random.randint(1, 3))]
        return self.one_of("", "# c\n").join(lines)


def bash_accepts(text: str) -> bool:
    user = UNPRIVILEGED if os.geteuid() == 0 else []
    done = subprocess.run([*user, *BASH], input=text.encode(), capture_output=True, cwd="/", timeout=20, check=False)
    return done.returncode == 0 and not done.stderr


def found(text: str) -> tuple[set[str], tuple[str, ...]]:
    tree = parse(text)
    first = [c.words[0].literal or "" for c in simple_commands(tree) if c.words]
    return {name.rpartition("/")[2] for name in first}, tree.errors


@pytest.fixture(scope="module")
def scripts() -> list[str]:
    return [Generator(seed).script() for seed in range(SCRIPTS)]


@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("setpriv")), reason="needs bash and setpriv")
def test_no_command_of_a_script_that_bash_accepts_is_missed_silently(scripts):
    valid = [text for text in scripts if bash_accepts(text)]
    assert len(valid) > SCRIPTS // 2
    for text in valid:
        names, errors = found(text)
        missing = set(re.findall(r"\bc\d+\b", text)) - names
        assert not missing or errors, (missing, text)


def test_most_valid_scripts_have_no_error(scripts):
    flagged = [text for text in scripts if parse(text).errors]
    assert [text for text in flagged if bash_accepts(text)] == []


@pytest.mark.skipif(not SHFMT.exists(), reason="needs shfmt")
def test_shfmt_names_the_same_commands(scripts):
    compared = 0
    for text in scripts[:40]:
        done = subprocess.run(
            [SHFMT, "-ln", "bash", "--to-json"], input=text.encode(), capture_output=True, check=False
        )
        if done.returncode == 0:
            compared += 1
            names, errors = found(text)
            assert set(called(json.loads(done.stdout), text.encode())) == names, text
            assert errors == ()
    assert compared > 20


def called(tree: object, text: bytes) -> Iterator[str]:
    """Base names of the commands in shfmt's tree."""
    if isinstance(tree, dict):
        if tree.get("Type") in (None, "CallExpr") and tree.get("Args"):
            word = tree["Args"][0]
            written = text[word["Pos"]["Offset"] : word["End"]["Offset"]].decode()
            yield written.lstrip("\\").rpartition("/")[2]
        for child in tree.values():
            yield from called(child, text)
    elif isinstance(tree, list):
        for child in tree:
            yield from called(child, text)
