"""Lazy import of a command's module: ``--help`` answers in a moment, since no command is loaded before it is called."""

from __future__ import annotations

import importlib
from types import ModuleType

ANY_COMMAND = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""Context settings of a click command whose last words are a command line of somebody else."""


def command_module(name: str) -> ModuleType:
    """The module of ``sentinel_guard.commands`` with this name; ``run.run`` for one in a folder there."""
    return importlib.import_module(f"sentinel_guard.commands.{name}")
