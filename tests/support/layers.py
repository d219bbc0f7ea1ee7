"""The layers of the package: which folder may import which. ``test_architecture`` enforces it, ``docs/architecture.md``
shows it.
"""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "sentinel_guard"
FILES = sorted(p for p in PACKAGE.rglob("*.py") if p.name != "__init__.py")

LAYERS = (
    "errors.py",
    "core/value.py",
    "core/peer.py",
    "core/frame_stack.py",
    "core/model.py",
    "core/json_codec.py",
    "core/hash_chain.py",
    "core/wire_framing.py",
    "core/response_phrases.py",
    "core/analysis/",
    "core/analysis/parser/",
    "core/analysis/expansion/",
    "core/analysis/programs/subcommand_tables.py",
    "core/analysis/programs/acts_on_many.py",
    "core/analysis/programs/xargs.py",
    "core/analysis/programs/files/",
    "core/analysis/programs/git/",
    "core/analysis/programs/cloud/",
    "core/analysis/programs/databases/",
    "core/analysis/programs/system/",
    "core/analysis/programs/",
    "core/analysis/languages/shared/",
    "core/analysis/languages/python/",
    "core/analysis/languages/one_liners/",
    "core/analysis/languages/",
    "core/analysis/programs/registry.py",
    "core/analysis/evaluation/",
    "core/analysis/agent_tools.py",
    "core/analysis/held_calls.py",
    "core/analysis/analyse.py",
    "core/text/aho_corasick.py",
    "core/text/",
    "core/policy/",
    "core/session/",
    "core/secrets/model.py",
    "core/secrets/skipped_files.py",
    "core/secrets/user_secrets/",
    "core/secrets/pii/",
    "core/secrets/egress/",
    "core/secrets/formats/",
    "core/secrets/",
    "core/checks/",
    "core/judge.py",
    "core/verify_policy.py",
    "core/response_text.py",
    "core/endangered_paths.py",
    "core/encode_entries.py",
    "core/decode_entries.py",
    "core/incidents/",
    "agents/",
    "audit/",
    "humans/",
    "host/machine/",
    "host/containers/",
    "host/",
    "host/git/",
    "host/audit_witness.py",
    "host/previews/",
    "host/file_integrity/",
    "host/recovery/baseline/",
    "host/recovery/snapshots/",
    "host/recovery/rollback/",
    "host/recovery/",
    "host/secrets/",
    "host/githooks/",
    "daemon/session_secrets.py",
    "daemon/live_sessions.py",
    "daemon/file_integrity/",
    "daemon/",
    "client.py",
    "doctor.py",
    "commands/",
    "commands/log/",
    "commands/console/",
    "commands/run/",
    "commands/secrets/",
    "cli/",
    "__main__.py",
)
"""Lowest first: a file imports its own layer and those before it. The longest entry that a path begins with is its
layer, so that a file may stand apart from its folder: ``programs/registry.py`` joins tables of the languages, too."""

SISTERS = ("agents", "audit", "humans", "host")
"""Folders that do not know each other, whatever their order above."""


def name(file: Path) -> str:
    """The path below the package."""
    return file.relative_to(PACKAGE).as_posix()


def layer(file: str) -> int:
    """The number of a file's layer. Raises LookupError for a file in none."""
    found = max((e for e in LAYERS if file == e or (e.endswith("/") and file.startswith(e))), key=len, default="")
    if not found:
        raise LookupError(f"{file} stands in no layer: add its folder to LAYERS in tests/support/layers.py")
    return LAYERS.index(found)


def purpose(file: Path) -> str:
    """The first sentence of a module's docstring, on one line."""
    text = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n")[0].split())
