"""What a program says to be loaded into a shell: completions, hooks, settings (``<(kubectl completion bash)``).

It is what that program could do by itself, and runs unasked as the program does. Not where this text wrote or fetched
the program, or a word of it: then it is what the text says, or what nobody has seen.
"""

from __future__ import annotations

import re

from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.expansion.partly_known_output import ToBeLoaded
from sentinel_guard.core.analysis.expansion.shell_state import Field, Scope
from sentinel_guard.core.analysis.parser import bash_parser
from sentinel_guard.core.analysis.parser.syntax_tree import CommandSub, DoubleQuoted, Simple

_TRUSTED = re.compile(
    r"\"?\$\(\s*(?:\S*/)?(?:ssh-agent|direnv|pyenv|rbenv|nodenv|goenv|conda|mamba|micromamba|brew|starship|zoxide|fnm|mise|asdf|opam|"
    r"dircolors|lesspipe|keychain|gpg-agent|minikube|docker-machine|resize|thefuck|atuin|luarocks|register-python-argcomplete|perl(?=[^)|;&]*-Mlocal::lib))\b"
)
"""Programs whose output is made to be evaluated."""
_SET_UP = re.compile(
    r"\"?(?:<|\$)\(\s*[\w./-]+(?:\s+[\w./=-]+)*?\s+"
    r"(?:--?)?(?:shell-)?(?:completions?|complete|completion-script|generate-shell-completion|init|hook|shellenv|activate|bash|zsh)"
    r"(?:[\s=]+[\w./=-]+)*\s*\)\"?"
)
_WORDS = re.compile(r"[\w./=-]+")
_OTHERS_WORDS = frozenset(
    (
        *("curl", "wget", "nc", "ssh", "cat", "echo", "printf", "base64", "fetch", "http"),
        *("head", "tail", "tac", "less", "more", "sed", "awk", "dd", "tee", "sort", "api", "gist", "get", "show"),
    )
)
"""Whoever says what others said, behind whatever starts it; and verbs by which a program does."""
_ENGINES, _STARTS = frozenset(("docker", "podman", "nerdctl", "kubectl", "oc")), frozenset(("exec", "run"))
"""Those who start a program elsewhere, and how."""
_NAMED = re.compile(
    r"\"?(?:\$\{?([A-Za-z_]\w*)(?:\[0\])?(?:%/\*)?\}?|\$\((?:dirname|brew|conda|git|readlink|realpath|rustc|pyenv|rbenv|asdf)"
    r"\b[^;|&`()]*\))\"?(?:/(?!\.\.)[\w.@+-]+)+\"?"
)
"""A folder from the environment, or from a program that says where it lives, then names."""


def is_evaluated(source: str, scope: Scope, world: Overlay) -> bool:
    """Whether what ``eval`` is given, as written, is such a program's output, and nothing else."""
    return (_TRUSTED.match(source) is not None and _is_alone(source)) or _is_said(source, scope, world)


def _is_alone(source: str) -> bool:
    """Whether a word is one substitution, in which the first command alone speaks; a filter may stand behind it."""
    script = bash_parser.parse(source)
    word = script.body.items[0][0] if len(script.body.items) == 1 and not script.errors else None
    if not (isinstance(word, Simple) and len(word.words) == 1):
        return False
    parts = [one for part in word.words[0].parts for one in (part.parts if isinstance(part, DoubleQuoted) else (part,))]
    if not (len(parts) == 1 and isinstance(parts[0], CommandSub)):
        return False
    _, *others = (item for item, _ in parts[0].script.body.items)
    return all(isinstance(item, Simple) and item.source in _SILENT for item in others)


_SILENT = ("true", ":")


def is_loaded(item: Field, scope: Scope, world: Overlay) -> bool:
    """The same of a file that ``source`` is given: a substitution, or what this text printed into it."""
    if _is_said(item.source, scope, world):
        return True
    path = world.located(item.text, scope.cwd) if item.known and scope.cwd is not None else ""
    return bool(path) and not world.is_unseen(path) and isinstance(world.read(path), ToBeLoaded)


def printed(text: str, source: str, scope: Scope, world: Overlay) -> str:
    """What a command prints into a file, if the command is such a program: nobody knows it, and it may be loaded."""
    return ToBeLoaded() if text == UNKNOWN and _is_said(f"$({source})", scope, world) else text


def _is_said(source: str, scope: Scope, world: Overlay) -> bool:
    if _SET_UP.fullmatch(source) is None:
        return False
    words, made = _WORDS.findall(source), world.made()
    if not _OTHERS_WORDS.isdisjoint(words) or not (_ENGINES.isdisjoint(words) or _STARTS.isdisjoint(words)):
        return False
    if scope.cwd is not None and any(world.kind(world.located(word, scope.cwd)) == "file" for word in words[1:]):
        return False  # which it may print
    for path in (world.located(word, scope.cwd or "/") for word in words):
        copied = any(f"{path}/".startswith(f"{copy}/") for copy in world.copies)
        if copied or path in made or world.is_unseen(path):
            return False
    return True


def lies_in_set_up(text: str, scope: Scope) -> bool:
    """``"$NVM_DIR/nvm.sh"``: a file of a name that is known, in a folder that the person's own set-up names."""
    match = _NAMED.fullmatch(text)
    return match is not None and (match[1] is None or match[1] not in scope.variables)
