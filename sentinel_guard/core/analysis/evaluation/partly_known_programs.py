"""Guesses the program from a command word that is partly unknown: ``$VENV/bin/python`` is python, wherever it lies.

Rules of this file:
1. Only the name is guessed; a shell or a wrapper is not, and stays opaque.
2. An unquoted word is one word only where its unknown part cannot hold blanks that somebody chose: a variable that the
   text does not assign, or the output of a program that prints one path.
"""

from __future__ import annotations

import re

from sentinel_guard.core.analysis.expansion.command_and_options import SHELLS
from sentinel_guard.core.analysis.expansion.shell_state import Field, Scope
from sentinel_guard.core.analysis.programs.command_wrappers import WRAPPERS

_QUOTED = re.compile(r"\"[^\"`\\]*(?:/|\"(?:/[\w.+-]+)*/)([A-Za-z][\w.+-]*)\"?")
"""A quoted word whose last component is plain text, inside the quotes or behind them."""
_BARE = re.compile(
    r"\$(?:\{(?P<braced>\w+)\}|(?P<name>[A-Za-z_]\w*)|\((?P<printer>[^()]*)\))"
    r"(?:/[\w.+-]+)*/(?P<last>[A-Za-z][\w.+-]*)"
)
_WHOLE = re.compile(r"\"?\$(?:\{(\w+)\}|(\w+))\"?")
_PRINTERS = re.compile(
    r"\s*(?:npm (?:bin|root|prefix)|yarn bin|pnpm (?:bin|root)|go env \w+|brew --prefix(?: [\w@.+-]+)?"
    r"|poetry env info (?:-p|--path)"
    r"|pipenv --venv|bundle (?:show|info --path) [\w-]+|conda info --base|pyenv (?:root|prefix)|rbenv (?:root|prefix)"
    r"|git rev-parse --show-toplevel|xcrun --show-sdk-path|llvm-config --bindir|pg_config --bindir"
    r"|python3? -m site --user-base|uv python dir|mise where \w+|asdf where \w+|yarn global (?:bin|dir)"
    r"|npm config get prefix"
    r"|gem environment gemdir|rustc --print sysroot|stack path --local-install-root|bazel info bazel-[a-z]+"
    r"|swift build(?: -c \w+)? --show-bin-path|composer (?:global )?config bin-dir(?: --absolute)?"
    r"|cargo metadata [^|]*\| *jq -r \.target_directory)(?: -[a-z]+)*(?: 2>\s*/dev/null)?\s*"
)
"""What prints one path, and nothing that somebody else chose."""
_PLACES = r" --(?:builddir|with-compiler|project-file|project-dir) [\w./:~+-]+"
_OPTIONS = rf"(?: -[\w-]+(?:=[\w./:,@~+-]+)?|{_PLACES})*"
_GIVEN = re.compile(rf" -[\w-]+=|{_PLACES}")
"""Options with values, which may lead into what was fetched."""
_FINDERS = re.compile(
    r"\s*(?:(?:pyenv|rbenv|nodenv|goenv|volta|rustup|mise|asdf|stack exec(?: --)?) which|cabal list-bin|yarn bin"
    rf"|xcrun (?:-f|--find)){_OPTIONS} (?:[\w.+-]+:)*(?P<found>[A-Za-z][\w.+-]*){_OPTIONS}(?: 2>\s*/dev/null)?\s*"
)
"""What prints where one program lies."""
_SUBSTITUTED = re.compile(r"\"?\$\((.*)\)\"?", re.DOTALL)
_NAMES = {
    "PYTHON": "python3", "PYTHON3": "python3", "PIP": "pip", "NODE": "node", "NPM": "npm", "GO": "go", "CARGO": "cargo",
    "RUSTC": "rustc", "CC": "cc", "CXX": "c++", "CPP": "cpp", "LD": "ld", "AR": "ar", "MAKE": "make", "CMAKE": "cmake",
    "NINJA": "ninja", "DOCKER": "docker", "KUBECTL": "kubectl", "JAVA": "java", "MVN": "mvn", "PYTEST": "pytest",
    "RUFF": "ruff", "GIT": "git", "PAGER": "less", "EDITOR": "vi", "VISUAL": "vi", "BROWSER": "xdg-open",
}  # fmt: skip
"""Variables that by custom hold a program, and which."""


def guess_program(first: Field, scope: Scope, *, fetched: bool) -> Field | None:
    """The program that a command word names; None where that cannot be told. ``fetched``: whether the text fetched
    anything before.
    """
    source = first.source
    if named := _QUOTED.fullmatch(source):
        return _taken(named[1], first, source.replace('"', ""))
    if (bare := _BARE.fullmatch(source)) and _is_one(bare, scope):
        return _taken(bare["last"], first, source)
    whole = _WHOLE.fullmatch(source)
    name = (whole[1] or whole[2]) if whole else ""
    if found := _found(scope.written.get(name, "") if name in scope.variables else source, scope, fetched=fetched):
        return Field(found, source=source)
    if name in _NAMES and name not in scope.variables and name not in scope.environ:
        return Field(_NAMES[name], source=source)
    return None


def _is_one(bare: re.Match[str], scope: Scope) -> bool:
    if bare["printer"] is not None:
        return _PRINTERS.fullmatch(bare["printer"]) is not None
    name = bare["braced"] or bare["name"]
    return (name not in scope.variables and name not in scope.functions) or prints_path(scope.written.get(name, ""))


def prints_path(source: str) -> bool:
    """Whether an assigned value is the output of a program that prints one path."""
    match = _SUBSTITUTED.fullmatch(source)
    return match is not None and _PRINTERS.fullmatch(match[1]) is not None


def _found(source: str, scope: Scope, *, fetched: bool) -> str:
    """The program whose place a substitution prints; empty for none, and where another program may print it."""
    match = _SUBSTITUTED.fullmatch(source)
    printed = _FINDERS.fullmatch(match[1]) if match else None
    name = printed[0].split()[0] if printed else ""
    if printed is None or "PATH" in scope.variables or name in scope.functions or name in scope.aliases:
        return ""
    if fetched and _GIVEN.search(printed[0]):
        return ""
    found = printed["found"]
    return "" if found in SHELLS or found in WRAPPERS else found


def _taken(last: str, first: Field, text: str) -> Field | None:
    refused = last in SHELLS or last in WRAPPERS
    return None if refused or not first.text.endswith(f"/{last}") else Field(text, source=first.source)
