"""Finds the variables in an unexpanded word that hold a secret, from the environment or from a file that was loaded."""

from __future__ import annotations

import re

from sentinel_guard.core.analysis.expansion.shell_state import Scope
from sentinel_guard.core.analysis.secret_names import may_hold_secret, names_credential

ANY = "*"
"""For all variables that the text did not assign by name: ``source .env``."""
_TAKEN = re.compile(r"\$(?:\{!?([A-Za-z_]\w*+)(?!:?\+)|([A-Za-z_]\w*))|\bprintenv\s+([A-Za-z_]\w*)")
"""Uses of a variable's value, or of a part of it: ``${x:+y}`` and ``${#x}`` are none."""
ENVIRONMENT = "/dev/environment"
"""For a variable that was set from one of the environment."""


def secret_variables(source: str, scope: Scope) -> list[str]:
    """The variables that a word, as written, takes a secret from which this text did not make itself."""
    names = (next(filter(None, found)) for found in _TAKEN.findall(source))
    return [name for name in names if _is_given(name, scope)]


def _is_given(name: str, scope: Scope) -> bool:
    """Whether a variable holds a secret of the environment, or of a file that was loaded."""
    if files := scope.loaded.get(name):
        return any(file == ENVIRONMENT or may_hold_secret(file) for file in files)
    if not names_credential(name):
        return False
    inherited = name not in scope.variables and bool(scope.environ.get(name))
    return inherited or any(map(may_hold_secret, scope.loaded.get(ANY, ())))
