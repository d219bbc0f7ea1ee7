"""Where settings files of agents are on a real machine: links, folders that are not there or that nobody may read."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sentinel_guard.host.file_integrity.agent_settings_files import find


@pytest.fixture
def place(tmp_path):
    for name in ("home", "home/repo/packages/a", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def write(path, text="{}"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def found(place, cwd="", **environ):
    repo = place / "home/repo"
    return find(str(repo), str(repo / cwd), {"HOME": str(place / "home")} | environ)


def test_what_is_there_is_found_in_the_project_and_in_the_home(place):
    home, repo = place / "home", place / "home/repo"
    there = {write(home / ".claude.json"), write(home / ".codex/rules/default.rules"), write(repo / ".mcp.json")}
    write(home / ".claude/history.jsonl"), write(repo / "packages/a/.mcp.json")
    (repo / ".claude/settings.json").mkdir(parents=True)
    files = found(place)
    assert set(files.present()) == there | {str(repo / ".claude/settings.json")}, (
        "a folder in a file's place is told, too"
    )
    assert not files.links


def test_a_session_below_the_top_has_the_folders_above_it_as_projects(place):
    a, repo = place / "home/repo/packages/a", place / "home/repo"
    files = found(place, "packages/a")
    assert all(files.concerns(f"{folder}/.mcp.json") for folder in (repo, repo / "packages", a))
    assert not files.concerns(f"{a}/src/.mcp.json") and not files.concerns(f"{place}/home/.mcp.json")


def test_the_environment_moves_an_agents_folder(place):
    there = write(place / "elsewhere/config.toml")
    files = found(place, CODEX_HOME=str(place / "elsewhere"))
    assert [*files.present()] == [there]
    assert not files.concerns(str(place / "home/.codex/config.toml"))


def test_a_file_is_named_by_its_real_path_and_each_link_on_the_way_is_watched(place):
    home = place / "home"
    real = write(place / "elsewhere/claude/settings.json")
    (home / ".claude").symlink_to("../elsewhere/claude")
    (home / ".codex").mkdir()
    (home / ".codex/config.toml").symlink_to(write(place / "elsewhere/codex.toml"))
    files = found(place)
    assert set(files.links) == {str(home / ".claude"), str(home / ".codex/config.toml")}
    assert set(files.present()) == {*files.links, real, str(place / "elsewhere/codex.toml")}
    assert files.row(real).file.path == "settings.json"
    assert files.row(str(place / "elsewhere/claude/settings.local.json")), (
        "what is not there yet lies behind the link, too"
    )


def test_links_in_a_circle_end(place):
    (place / "home/.claude").symlink_to(".claude")
    (place / "home/.codex").symlink_to(place / "home/.codex2")
    (place / "home/.codex2").symlink_to(place / "home/.codex")
    assert str(place / "home/.claude") in found(place).links


def test_a_link_in_a_folders_place_is_told_and_a_folder_or_a_file_is_not(place):
    home = place / "home"
    (home / ".gemini/extensions/mine").mkdir(parents=True)
    files = found(place)
    assert not files.concerns(str(home / ".gemini")) and files.may_hold(str(home / ".gemini"))
    write(home / ".gemini/extensions/enablement.json")
    assert not files.concerns(str(home / ".gemini/extensions/enablement.json")), "a file of the agent's own"
    (home / ".codex").symlink_to(place / "elsewhere")
    assert files.concerns(str(home / ".codex"))
    (home / ".gemini/extensions/other").symlink_to(place / "elsewhere")
    assert files.concerns(str(home / ".gemini/extensions/other")), "it stands where an extension's folder would"


def test_the_folders_to_watch_are_those_that_are_there_and_where_others_would_come(place):
    home, repo = place / "home", place / "home/repo"
    (home / ".codex/rules").mkdir(parents=True)
    files = found(place)
    watched = {str(p) for p in (home, repo, home / ".codex", home / ".codex/rules")}
    assert files.folders() == watched, "and none of ~/.config, ~/Documents: they are not there"
    (home / "Documents").mkdir()
    assert files.folders() == watched | {str(home / "Documents")}
    assert files.leads_to(str(home / "Documents/Cline")) and not files.leads_to(str(home / "Documents/Letters"))
    assert not files.leads_to(str(home / ".codex/sessions"))


def test_without_a_home_there_is_the_project(place):
    repo = str(place / "home/repo")
    files = find(repo, repo, {})
    assert all(f.path.startswith(repo) for f in files.files) and files.files


@pytest.mark.skipif(os.getuid() != 0, reason="becomes another user")
def test_a_home_that_cannot_be_read_is_none(place):
    program = (
        "import sys; from sentinel_guard.host.file_integrity.agent_settings_files import find;"
        "files = find(sys.argv[1], sys.argv[1], {'HOME': sys.argv[2]});"
        "print(len([*files.present()]), len(files.folders()))"
    )
    top = Path(tempfile.mkdtemp(prefix="sg-"))
    try:
        repo, home = top / "repo", top / "home"
        write(home / ".claude.json"), write(home / ".codex/rules/a.rules"), write(repo / ".mcp.json")
        top.chmod(0o755), home.chmod(0)
        as_nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        command = [*as_nobody, sys.executable, "-c", program, str(repo), str(home)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout.split() == ["1", "2"], done.stderr
    finally:
        home.chmod(0o700)
        shutil.rmtree(top)
