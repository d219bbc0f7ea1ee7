"""Our hooks with the tools themselves: SENTINEL_REAL_TOOLS=1 runs them (npm, network)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest

from sentinel_guard.host.githooks import install_hooks
from tests.support.hook_tools import OURS, Way, call, meta, ran, scripts
from tests.support.installed_hooks import Hooked, git


def npm(package: str, *command: str, **settings: object) -> Callable[[Hooked], None]:
    def again(repo: Hooked) -> None:
        if not (repo.root / "node_modules").exists():
            (repo.root / "package.json").write_text(json.dumps({"name": "x", "private": True, **settings}))
            call(repo, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "-D", package)
            repo.put(".gitignore", "node_modules\n", 0o644)
        call(repo, *command, INIT_CWD=str(repo.root), npm_config_user_agent="npm/6.0.0 node/v12", CI="")

    return again


SAY = "sh scripts/pre-commit"


def real(*works: Callable[[Hooked], None]) -> Callable[[Hooked], None]:
    def again(repo: Hooked) -> None:
        scripts(repo, "scripts")
        for work in works:
            work(repo)

    return again


def _husky_script(repo: Hooked) -> None:
    repo.put(".husky/pre-commit", f"{SAY}\n")


def _lefthook_settings(repo: Hooked) -> None:
    repo.put("lefthook.yml", f"pre-commit:\n  commands:\n    a:\n      run: {SAY}\n", 0o644)


def staged(repo: Hooked) -> list[str]:
    """As ``ran``, with a file in the commit: lefthook passes by what holds none."""
    with (repo.root / "file").open("a") as file:
        file.write("x\n")
    git(repo.root, "add", "file")
    return ran(repo)


REAL = (
    Way("husky 9", real(npm("husky@9", "node", "node_modules/husky/bin.js"), _husky_script)),
    Way("husky 8", real(npm("husky@8", "node", "node_modules/husky/lib/bin.js", "install"), _husky_script)),
    Way(
        "husky 4",
        real(npm("husky@4", "node", "node_modules/husky/husky.js", "install", husky={"hooks": {"pre-commit": SAY}})),
    ),
    Way(
        "simple-git-hooks",
        real(
            npm(
                "simple-git-hooks@2",
                "node",
                "node_modules/simple-git-hooks/cli.js",
                **{"simple-git-hooks": {"pre-commit": SAY}},
            )
        ),
    ),
    Way(
        "lefthook",
        real(_lefthook_settings, npm("lefthook@2", "node_modules/.bin/lefthook", "install")),
        survives=False,
        by="lefthook install",
    ),
)


@pytest.mark.skipif(
    not os.environ.get("SENTINEL_REAL_TOOLS"), reason="needs npm and the network: SENTINEL_REAL_TOOLS=1"
)
@pytest.mark.timeout(120)
@pytest.mark.parametrize("way", REAL, ids=[w.name for w in REAL])
def test_the_tool_itself(repo: Hooked, way: Way) -> None:
    way.again(repo)
    assert staged(repo)[-1] == "theirs pre-commit"
    hooks = {k for k in meta(repo) if ".git/" in k}
    repo.install()
    assert staged(repo) == [*sorted(OURS), "theirs pre-commit"]
    way.again(repo)
    assert ("ours pre-commit" in staged(repo)) == way.survives
    assert way.by in install_hooks.complaint(install_hooks.find(repo.root))
    repo.install()
    assert staged(repo) == [*sorted(OURS), "theirs pre-commit"]
    way.again(repo)
    repo.uninstall()
    assert staged(repo) == ["theirs pre-commit"]
    assert {k for k in meta(repo) if ".git/" in k} == hooks
