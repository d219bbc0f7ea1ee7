"""A folder that is bound to another name keeps its rules there, also for names that are new."""

from __future__ import annotations

import os

import pytest

from tests.broker.conftest import USER

BINDS = (
    (".", ".env.new", "the folder"),
    ("..", "{name}/.env.new", "a folder above it"),
    ("deep/er", ".env.new", "a folder below it, in which all names like it are restricted"),
    ("secrets", "fresh", "a folder that is restricted itself"),
    ("secrets/old", "fresh", "a folder in it"),
)
"""What is bound; the new name; why."""
ROWS = pytest.mark.parametrize(("what", "name"), [row[:2] for row in BINDS], ids=[row[2] for row in BINDS])
BY_ROOT = 'mount --bind "$0" "$1" && shift && exec "$@"'
BY_ITSELF = 'mount --bind "$0" "$1" && echo EVIL > "$1/$2"'


@pytest.fixture
def folders(repo):
    for name in ("deep/er", "secrets/old"):
        (repo / name).mkdir(parents=True)
    for path in (repo / "deep", repo / "deep/er", repo / "secrets/old"):
        os.chown(path, USER, USER) if USER else None
    (repo.parent / f"{repo.name}-bound folder").mkdir()
    yield repo, repo.parent / f"{repo.name}-bound folder"
    (repo.parent / f"{repo.name}-bound folder").rmdir()


@pytest.mark.skipif(not USER, reason="root binds")
@ROWS
def test_bound_by_root_before_the_session(session, folders, what, name):
    repo, bound = folders
    as_root = ("unshare", "-m", "sh", "-c", BY_ROOT, str(repo / what), str(bound))
    new = name.format(name=repo.name)
    words = f'echo EVIL > "{bound}/{new}"'
    done = session.run("bash", "-c", words, cwd="/", user=USER, prefix=as_root)
    assert b"Permission denied" in done.stderr and not (repo / what / new).exists(), done
    assert [q.objects[0] for q in session.asked] == [os.path.normpath(repo / what / new)], "by its name there"
    session.answer = lambda _: True
    session.run("bash", "-c", words, cwd="/", user=USER, prefix=as_root)
    assert (repo / what / new).read_text() == "EVIL\n"


@pytest.mark.skipif(not USER, reason="root binds")
def test_what_is_ordinary_there_is_asked_about_by_nobody(session, folders):
    repo, bound = folders
    as_root = ("unshare", "-m", "sh", "-c", BY_ROOT, str(repo), str(bound))
    words = f'cd "{bound}" && echo x > new && mv new a.txt && rm a.txt'
    done = session.run("bash", "-c", words, cwd="/", user=USER, prefix=as_root)
    assert (done.returncode, done.stderr, session.asked) == (0, b"", [])


@pytest.mark.skipif(not USER, reason="root binds")
def test_root_covers_no_restricted_file_with_another(session, repo):
    done = session.run("mount", "--bind", "a.txt", ".env", cwd=repo, prefix=("unshare", "-m"))
    assert done.returncode and [q.what for q in session.asked] == ["replace"], done


@ROWS
def test_bound_in_a_namespace_of_its_own(session, folders, what, name):
    repo, bound = folders
    command = ["unshare", "-Urm", "bash", "-c", BY_ITSELF, str(repo / what), str(bound), name.format(name=repo.name)]
    done = session.run(*command, cwd="/", user=USER)
    assert b"Permission denied" in done.stderr and [q.what for q in session.asked] == ["write"], done
    assert not (repo / what / name.format(name=repo.name)).exists()
