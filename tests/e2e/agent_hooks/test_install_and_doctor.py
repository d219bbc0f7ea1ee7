"""``install --agent``, ``uninstall`` and what ``doctor`` says of the hooks: the real programs, for every client."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from sentinel_guard.agents import registry
from tests.support.guarded_repository import Stage

DIALECTS = [agent.hooks for agent in registry.AGENTS if agent.hooks]
each_client = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda d: d.client)


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage()
    stage.commit(a__txt="one\n")
    yield stage
    stage.close()


def trial(stage: Stage) -> list[dict]:
    return json.loads(stage.sentinel("doctor", "--json").stdout)["trial"]


def said(told: list[dict], client: str, *words: str) -> list[str]:
    about = [p["what"] for p in told if client in p["what"] and "fails open" not in p["what"]]
    return [what for what in about if all(word in what for word in words)]


def test_doctor_tries_the_registered_hooks_out(stage):
    """Of every client, in one repository: a trial of each starts its programs."""

    def install() -> list[dict]:
        for dialect in DIALECTS:
            done = stage.sentinel("install", "--agent", dialect.client)
            assert done.returncode == 0, (dialect.client, done.stderr)
        return trial(stage)

    told = install()
    for dialect in DIALECTS:
        assert said(told, dialect.client, "in effect", "refused"), dialect.client
        assert not said(told, dialect.client, "NOT IN EFFECT"), dialect.client
    (stage.guard / "state" / "hooks" / "sentinel-hook").unlink()
    told = trial(stage)
    for dialect in DIALECTS:
        assert said(told, dialect.client, "NOT IN EFFECT", "pass"), f"{dialect.client}: the program is gone"
    told = install()
    for dialect in DIALECTS:
        assert not said(told, dialect.client, "NOT IN EFFECT"), f"{dialect.client}: and is put there again"
    for dialect in DIALECTS:
        for file in stage.repo.glob(f"{dialect.places.project}*"):
            for one in [file] if file.is_file() else file.iterdir():
                one.write_text("{}")
    told = trial(stage)
    for dialect in DIALECTS:
        assert said(told, dialect.client, "NOT IN EFFECT", "none of ours"), f"{dialect.client}: taken out by somebody"


def test_doctor_says_where_all_hooks_are_switched_off_and_which_version_lets_failures_pass(stage):
    stage.write(".claude/settings.json", '{"disableAllHooks": true}')
    program = stage.folder / "bin" / "claude"
    program.write_text("#!/bin/sh\necho '2.1.294 (Claude Code)'\n")
    program.chmod(0o755)
    assert stage.sentinel("install", "--agent", "claude").returncode == 0
    probes = {probe["what"]: probe["ok"] for probe in trial(stage)}
    [off] = [what for what in probes if "disableAllHooks" in what and "NOT IN EFFECT" in what]
    [old] = [what for what in probes if "claude 2.1.294 is" in what and what.startswith("fails open")]
    assert (probes[off], probes[old]) == (False, False) and "settings.json)" in off, "another file than ours"


@each_client
def test_what_is_put_in_is_taken_out_again_to_the_byte(stage, dialect):
    before = {p: p.read_bytes() for p in (*stage.home.rglob("*"), *stage.repo.rglob("*")) if p.is_file()}
    for level in ("--user", "--project", "--project"):
        assert stage.sentinel("install", "--agent", dialect.client, level).returncode == 0
    assert stage.sentinel("uninstall", "--agent", dialect.client).returncode == 0
    after = {p: p.read_bytes() for p in (*stage.home.rglob("*"), *stage.repo.rglob("*")) if p.is_file()}
    assert after == before
    assert not [p for p in stage.home.rglob("*") if p.is_dir()], "nor a folder that was made for it"


def test_foreign_hooks_and_later_changes_stay(stage):
    foreign = '{\n  "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "mine"}]}]}\n}'
    file = stage.write(".claude/settings.local.json", foreign)
    assert stage.sentinel("install", "--agent", "claude").returncode == 0
    assert '"command": "mine"' in file.read_text()
    file.write_text(file.read_text().replace("{", '{\n    "model": "x",', 1))
    assert stage.sentinel("uninstall", "--agent", "claude").returncode == 0
    assert json.loads(file.read_text()) == {"model": "x", **json.loads(foreign)}


WRONG = [
    (("--agent", "nobody"), "No hooks are known of nobody"),
    (("--agent", "opencode", "--managed"), "no settings that an agent cannot change"),
    (("--agent", "claude", "--template", "x"), "do not go together"),
]


@pytest.mark.parametrize(("words", "why"), WRONG)
def test_what_cannot_be_installed_is_said(stage, words, why):
    done = stage.sentinel("install", *words)
    assert done.returncode and why in done.stderr and "Traceback" not in done.stderr


def test_settings_that_are_no_json_are_left_alone(stage):
    file = stage.write(".claude/settings.local.json", "{ not json")
    done = stage.sentinel("install", "--agent", "claude")
    assert done.returncode and "cannot be edited" in done.stderr and file.read_text() == "{ not json"


def test_uninstall_all_takes_out_the_hooks_of_agents_too(stage):
    stage.sentinel("install", "--agent", "claude", "--user")
    done = stage.sentinel("uninstall", "--all")
    assert done.returncode == 0 and not (stage.home / ".claude").exists()
