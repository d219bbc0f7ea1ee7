"""Where paths lead, beside what os.path.realpath says."""

from __future__ import annotations

import os

import pytest

from sentinel_guard.host.machine.real_path import real_path

PATHS = [
    ("", "the folder itself"),
    ("/link/file", "through a link to a folder"),
    ("/link/../x (deleted)", "a name that ends as one does that is gone"),
    ("/link/../file", "up from where a link leads"),
    ("/to-file", "a link to a file"),
    ("/to-file/", "a file with a slash behind it"),
    ("/broken/x", "below a link to nothing"),
    ("/loop", "a link to itself"),
    ("//folder/./deep//../deep", "dots and slashes"),
    ("/pipe", "a FIFO that nobody writes to: it is not opened"),
    ("/folder/none", "what is not there"),
]


@pytest.mark.parametrize("path", [pytest.param(path, id=why) for path, why in PATHS])
def test_a_path_leads_where_realpath_says(tmp_path, path):
    (tmp_path / "folder/deep").mkdir(parents=True)
    (tmp_path / "folder/file").touch()
    (tmp_path / "x (deleted)").touch()
    os.mkfifo(tmp_path / "pipe")
    for name, target in (("link", "folder"), ("to-file", "link/file"), ("broken", "nowhere"), ("loop", "loop")):
        (tmp_path / name).symlink_to(target)
    assert real_path(f"{tmp_path}{path}") == os.path.realpath(f"{tmp_path}{path}")


@pytest.mark.parametrize("path", ["/proc/self/exe", "/proc/self/fd/0", "/dev/stdin", "/"])
def test_links_of_proc_lead_where_realpath_says(path):
    assert real_path(path) == os.path.realpath(path)
