"""What a baseline asks about is narrowed by the policy's patterns, and none that is restricted is lost by it."""

from __future__ import annotations

import pytest

from sentinel_guard.host import policy_files
from sentinel_guard.host.machine.state_paths import places
from sentinel_guard.host.recovery import api
from tests.support.recovery.repository import template

NAMES = (
    ".env", ".env.local", "src/.env", "sub/secrets/x", "secrets", "a.pem", "build/b.pem", "build/deep/secrets/y",
    "id_rsa", "id_rsa.pub", "sentinel.toml", "src/sentinel.toml", "plain.txt", "my-secrets-not/z", ".env.example",
    "pem",
)  # fmt: skip
TRACKED = ("src/.env", "a.pem", "pem")


@pytest.mark.parametrize("narrowed", [True, False], ids=["by the policy's patterns", "all are asked about"])
def test_restricted_files_are_those_that_the_policy_names(tmp_path, narrowed):
    repo = template(tmp_path / "repo")
    for name in NAMES:
        repo.write(name, "x")
    repo.git("add", "-f", *TRACKED)
    repo.git("commit", "-qm", "some are tracked")
    root = str(repo.root)
    policy = policy_files.load_paths(places({"SENTINEL_HOME": str(tmp_path / "g")}), root)
    asked = []

    def restricts(path: str) -> bool:
        asked.append(path[len(root) + 1 :])
        return bool(policy.restricts(path, root))

    patterns = [p for p in policy.paths.restricted if not p.startswith("!")] if narrowed else ("*",)
    found = api.begin(root, tmp_path / "s" / "baseline", restricts, patterns=patterns).restricted
    assert set(found) == {n for n in NAMES if policy.restricts(f"{root}/{n}", root)}
    assert ("plain.txt" in asked) is not narrowed
