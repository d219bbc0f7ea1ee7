"""Options whose value is a command. Every command here is only ever parsed."""

from __future__ import annotations

import pytest

from tests.core.analysis.programs.test_registry import rows, shown

HANDED = [
    ("man -P 'rm -f .env' ls", True, "a pager"),
    ("man --pager='rm -f .env' ls", True, "glued with an equals sign"),
    ("less '+!rm -f .env' README.md", True, "a first command of less"),
    ("zip -T -TT 'rm -f .env #' x.zip a", True, "a test of zip"),
    ("split --filter='rm -f .env' README.md", True, "a filter"),
    ("sort --compress-program='rm -f .env' README.md", True, "a packer"),
    ("tar -xf x.tar --info-script='rm -f .env'", True, "a script of tar"),
    ("scp -o ProxyCommand='rm -f .env' a b:c", True, "a proxy"),
    ("cargo watch -s 'rm -f .env'", True, "a watcher"),
    ("cargo test -s 'rm -f .env'", False, "another verb"),
    ("go test -exec 'rm -f .env' ./...", True, "who runs the tests"),
    ("zellij run -- rm -f .env", True, "behind two dashes"),
    ("yarn workspaces foreach -A exec rm -f .env", True, "in each workspace"),
    ("TAR_OPTIONS='--checkpoint-action=exec=rm -f .env' tar cf x README.md", True, "options from the environment"),
    ("tar -I zstd -cf x.tar README.md", False, "an honest packer"),
    ("man ls", False, "no pager"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "runs"), rows(HANDED))
def test_the_value_is_run(command, runs):
    assert ("delete .env force" in shown(command)) is runs


OWN = [
    ("yarn rimraf -f .env", ["delete .env force recursive"], "an option before the first word"),
    ("pnpm --silent shx rm -f .env", ["delete .env force"], "behind an option of the runner's own"),
    ("yarn jest --watch", [], "an option alone"),
    ("bun rm rm", [], "bun's own verb"),
    ("bun rimraf rimraf", ["delete rimraf force recursive"], "a word that is called as the program"),
]


@pytest.mark.parametrize(("command", "done"), rows(OWN))
def test_a_program_of_the_project_is_run_with_its_own_words(command, done):
    assert shown(command) == done
