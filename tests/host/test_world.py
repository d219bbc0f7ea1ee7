"""The real world and the fake one, through the same contract; then what only a real disk has."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from sentinel_guard.core.analysis import secret_names
from sentinel_guard.core.analysis.world import MAX_READ, Peek
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.core.policy.policy import Paths, Policy
from sentinel_guard.host import glob_search
from sentinel_guard.host import world as host
from sentinel_guard.host.policy_files import builtin
from sentinel_guard.host.world import HostWorld
from tests.support.fakes import FakeWorld

FILES = {
    "a.py": "print()",
    "b.txt": "b",
    ".env": "SECRET=1",
    "src/c.py": "c",
    "src/deep/d.py": "d",
    ".hidden/e.py": "e",
    ".git/f.py": "f",
}


@pytest.fixture(params=["real", "fake"])
def made(request, tmp_path):
    """A world, and the folder that holds FILES and a few links."""
    top = os.path.realpath(tmp_path)
    if request.param == "fake":
        files = {f"{top}/{name}": text for name, text in FILES.items()}
        links = {f"{top}/link": "src", f"{top}/broken": "nowhere", f"{top}/loop": "loop"}
        return FakeWorld(files, folders=(f"{top}/empty",), links=links, home=top), top
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "empty").mkdir()
    for name, target in (("link", "src"), ("broken", "nowhere"), ("loop", "loop")):
        (tmp_path / name).symlink_to(target)
    return HostWorld({"HOME": top, "PATH": "/usr/bin:/bin"}), top


RESOLVED = [
    ("a.py", "a.py", "a file"),
    ("link/c.py", "src/c.py", "through a link"),
    ("link/../a.py", "a.py", "up from where the link leads"),
    ("not/there/../x", "not/x", "what does not exist"),
    ("broken", "nowhere", "a link to nothing"),
    (".//src/./deep/..", "src", "dots and slashes"),
]


@pytest.mark.parametrize(("path", "expected"), [pytest.param(*r[:2], id=r[2]) for r in RESOLVED])
def test_resolve(made, path, expected):
    world, top = made
    assert world.resolve(f"{top}/{path}") == f"{top}/{expected}"


def test_resolve_never_raises(made):
    world, top = made
    assert world.resolve(f"{top}/loop/x").startswith("/")


KINDS = [
    ("a.py", "file"),
    ("src", "dir"),
    ("link", "link"),
    ("broken", "link"),
    ("nothing", ""),
    ("link/c.py", "file"),
    ("", "dir"),
]


@pytest.mark.parametrize(("path", "expected"), KINDS)
def test_kind(made, path, expected):
    world, top = made
    assert world.kind(f"{top}/{path}") == expected


GLOBS = [
    ("*.py", ["a.py"], "a suffix"),
    ("?.*", ["a.py", "b.txt"], "a question mark"),
    ("[ab].*", ["a.py", "b.txt"], "a class"),
    ("[^a].*", ["b.txt"], "a negated class"),
    (".e*", [".env"], "hidden names are named"),
    ("*env", [], "and not matched by a star"),
    ("src/*", ["src/c.py", "src/deep"], "a folder's content"),
    ("*/c.py", ["link/c.py", "src/c.py"], "a folder in the middle"),
    ("**/*.py", [".hidden/e.py", "a.py", "src/c.py", "src/deep/d.py"], "any depth, hidden too, .git apart"),
    ("a.py", ["a.py"], "no wildcard"),
    ("nothing*", [], "no match"),
]


@pytest.mark.parametrize(("pattern", "expected"), [pytest.param(*r[:2], id=r[2]) for r in GLOBS])
def test_glob(made, pattern, expected):
    world, top = made
    found = [path.removeprefix(f"{top}/") for path in world.glob(f"{top}/{pattern}")]
    if isinstance(world, FakeWorld):  # it does not look for names behind a link
        expected = [e for e in expected if not e.startswith("link/")]
    assert found == sorted(expected)


def test_read(made):
    world, top = made
    assert world.read(f"{top}/link/c.py") == "c"
    assert world.read(f"{top}/src") is None
    assert world.read(f"{top}/nothing") is None


def test_peek(made):
    world, top = made
    assert world.peek(f"{top}/link/c.py") == Peek("c", whole=True)
    assert world.peek(f"{top}/src") is None
    assert world.peek(f"{top}/nothing") is None


def test_home(made):
    world, top = made
    assert world.home == top


@pytest.fixture
def real(tmp_path):
    return HostWorld({"HOME": str(tmp_path), "PATH": f"{tmp_path}/shims:{tmp_path}/bin"}, shims=(f"{tmp_path}/shims",))


def test_only_small_texts_are_read(real, tmp_path):
    (tmp_path / "big").write_bytes(b"x" * (MAX_READ + 1))
    (tmp_path / "fits").write_bytes(b"x" * MAX_READ)
    (tmp_path / "binary").write_bytes(b"\x7fELF\0")
    (tmp_path / "latin").write_bytes(b"\xe9")
    os.mkfifo(tmp_path / "fifo")
    assert real.read(f"{tmp_path}/big") is None
    assert real.read(f"{tmp_path}/fits") == "x" * MAX_READ
    assert real.read(f"{tmp_path}/binary") is None
    assert real.read(f"{tmp_path}/latin") == "\udce9"
    assert real.read(f"{tmp_path}/fifo") is None, "a pipe is not waited for"
    assert real.read("/dev/zero") is None
    assert real.peek(f"{tmp_path}/big") == Peek("x" * MAX_READ, whole=False), "the beginning of what is too large"
    assert real.peek(f"{tmp_path}/fits") == Peek("x" * MAX_READ, whole=True)
    assert real.peek(f"{tmp_path}/binary") is None
    assert real.peek(f"{tmp_path}/fifo") is None


def test_odd_paths_raise_nothing(real):
    for path in ("a\0b", "x" * 5000, "\udce9"):
        assert real.kind(path) == ""
        assert real.read(path) is None
        assert isinstance(real.resolve(path), str)
        assert real.glob(path) == ()


BRACKETS = [
    ("[ab", ["[ab"], "a bracket that nothing closes is itself"),
    ("[[a]b", ["[b", "ab"], "a bracket in a class"),
    ("]*[", ["]x["], "closed before it was opened"),
    ("*[", ["[x[", "]x["], "behind a star"),
    ("[]", ["[]"], "an empty class is none"),
]


@pytest.mark.parametrize(("pattern", "expected"), [pytest.param(*r[:2], id=r[2]) for r in BRACKETS])
def test_brackets(real, tmp_path, pattern, expected):
    for name in ("[ab", "[b", "ab", "]x[", "[x[", "[]"):
        (tmp_path / name).touch()
    assert [path.rpartition("/")[2] for path in real.glob(f"{tmp_path}/{pattern}")] == expected


HOSTILE = ["[[" * 30_000, "[[" * 1990, "[" * 3900 + "]", "[]" * 1990, "[!]" * 1300, "*a" * 1990, "*/../" * 99,
           "./" * 1990, "**/" * 99, "**/*/" * 49]  # fmt: skip


@pytest.mark.parametrize("pattern", HOSTILE, ids=[f"{p[:6]} x {len(p)}" for p in HOSTILE])
def test_a_hostile_pattern_ends(real, tmp_path, pattern):
    for n in range(200):
        (tmp_path / f"d{n}").mkdir()
    began = time.process_time()
    real.glob(f"{tmp_path}/{pattern}*")
    assert time.process_time() - began < 2, "seconds; it took minutes"


RIDDLES = [
    (".e[" + "n" * 5000 + "]*", "a class of thousands"),
    ("./" * 3000 + ".e*", "folders that are none"),
    ("d/../" * 700 + ".e*", "down and up again"),
    ("*" * 5000, "a part that is too long matches every name"),
]


@pytest.mark.parametrize("pattern", [r[0] for r in RIDDLES], ids=[r[1] for r in RIDDLES])
def test_a_riddle_hides_no_file(real, tmp_path, pattern):
    (tmp_path / "d").mkdir()
    (tmp_path / ".env").touch()
    assert any(path.endswith("/.env") for path in real.glob(f"{tmp_path}/{pattern}"))


def counted_looks(monkeypatch) -> list[str]:
    """The folders that are looked into from now on, each time."""
    looks, scandir = [], os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: looks.append(folder) or scandir(folder))
    return looks


@pytest.mark.parametrize(("limit", "value"), [("SECONDS", 0.0), ("ENTRIES_IN_ALL", 600)], ids=["time", "entries"])
def test_globs_together_are_bounded(tmp_path, monkeypatch, limit, value):
    monkeypatch.setattr(glob_search, limit, value)
    for n in range(250):
        (tmp_path / f"d{n}").mkdir()
    world = HostWorld({"HOME": str(tmp_path)})
    world.glob(f"{tmp_path}/*/nothing*")
    looks = counted_looks(monkeypatch)
    for _ in range(10):
        assert world.glob(f"{tmp_path}/d1*"), "a folder's own names are always looked at"
        world.glob(f"{tmp_path}/*/nothing*")
        assert world.cut
    assert len(looks) < 10 * glob_search.AT_LEAST


def test_files_of_commits_are_asked_for_until_their_time_is_over(tmp_path, monkeypatch):
    asked = []
    for seconds in (host.WAITS, 1e-9):
        monkeypatch.setattr(host, "WAITS", seconds)
        world = HostWorld({"HOME": str(tmp_path)}, committed=lambda *given: asked.append(given) or "x")
        assert [world.committed("/r", "HEAD:a") for _ in range(3)].count("x") == (3 if seconds > 0.1 else 1)
    assert asked == [("/r", "HEAD:a")] * 4
    assert HostWorld({"HOME": str(tmp_path)}).committed("/r", "HEAD:a") is None


def test_pushes_are_looked_at_until_their_time_is_over(tmp_path, monkeypatch):
    monkeypatch.setattr(host, "LOOKS", 0.05)
    given = []
    world = HostWorld({"HOME": str(tmp_path)}, pushes=lambda *push: given.append(push[-1]) or time.sleep(0.03) or "x")
    world.asks = True
    found = [world.push("/r", "origin", (), "") for _ in range(5)]
    assert found == ["x", "x", None, None, None]
    assert given[0] == 0.05 and given[1] < 0.03, "the second has what is left"


def test_of_too_many_files_those_that_matter_are_among_the_found(tmp_path, monkeypatch):
    monkeypatch.setattr(glob_search, "MAX_MATCHES", 3)
    for name in (*(f"f{n}" for n in range(20)), "id_rsa", "a.pem", "live.cfg", "shop.sqlite3"):
        (tmp_path / name).touch()
    policy = replace(merge(builtin()), paths=Paths(restricted=("live.cfg",)))
    world = HostWorld({"HOME": str(tmp_path)}, policy=policy, root=str(tmp_path))
    found = {path.rpartition("/")[2] for path in world.glob(f"{tmp_path}/*")}
    assert {"id_rsa", "a.pem", "live.cfg", "shop.sqlite3"} <= found, "secrets, restricted, and what a rule names"
    assert len(found) <= 7


def test_the_kinds_of_names_that_matter_in_a_folder(tmp_path):
    mine, theirs = Paths(restricted=("live.cfg", "conf/*.prod", "!live.txt"), hidden=("*.memo",)), Paths(("*.own",))
    policy = replace(Policy(), paths=mine, project=theirs)
    world = HostWorld({"HOME": str(tmp_path)}, policy=policy, root=str(tmp_path))
    secrets = secret_names.KINDS
    assert world.kinds_that_matter(f"{tmp_path}/conf") == (secrets, ("live.cfg", "*.prod", "*.own"), ("*.memo",))
    assert world.kinds_that_matter(f"{tmp_path}/x") == (secrets, ("live.cfg", "*.own"), ("*.memo",)), "elsewhere"


def test_a_program_is_not_read_to_its_end(real, tmp_path, monkeypatch):
    (tmp_path / "program").write_bytes(b"\x7fELF\0" + b"x" * MAX_READ)
    (tmp_path / "late").write_bytes(b"x" * host.BEGINNING + b"\0")
    asked = []
    read = os.read
    monkeypatch.setattr(os, "read", lambda fd, size: asked.append(size) or read(fd, size))
    assert real.peek(f"{tmp_path}/program") is None
    assert sum(asked) == host.BEGINNING
    assert real.peek(f"{tmp_path}/late") is None


def test_a_deep_tree_is_no_error(real, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(400):
        Path("d").mkdir()
        os.chdir("d")
    assert len(real.glob(f"{tmp_path}/**/d")) < 400


def test_devices_and_others(real, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    assert real.kind("/dev/null") == "device"
    assert real.kind(f"{tmp_path}/fifo") == "other"


def test_which_passes_the_shims_by(real, tmp_path):
    for folder in ("shims", "bin"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "git").write_text("")
        (tmp_path / folder / "git").chmod(0o755)
    assert real.which("git") == f"{tmp_path}/bin/git"
    assert real.which("nothing") == ""


def test_a_glob_leaves_as_much_for_the_next_one(tmp_path, monkeypatch):
    monkeypatch.setattr(glob_search, "ENTRIES_IN_ALL", 2000)
    for n in range(1500):
        (tmp_path / f"d{n % 150}" / f"e{n}").mkdir(parents=True)
    world = HostWorld({"HOME": str(tmp_path)})
    world.glob(f"{tmp_path}/**/none")
    assert world.cut
    assert len(world.glob(f"{tmp_path}/d*")) == 150
    assert not world.cut


def test_a_glob_ends(tmp_path, monkeypatch):
    for limit, value in (("MAX_ENTRIES", 20), ("AT_LEAST", 20), ("MAX_MATCHES", 5)):
        monkeypatch.setattr(glob_search, limit, value)
    for n in range(50):
        (tmp_path / f"f{n}").touch()
    world = HostWorld({"HOME": str(tmp_path)})
    assert len(world.glob(f"{tmp_path}/*")) == 5
    assert world.glob(f"{tmp_path}/**/none") == ()
    assert world.cut, "and says that it did not see all"
    assert world.glob(f"{tmp_path}/f1") == (f"{tmp_path}/f1",)
    assert not world.cut


def test_hard_links_are_found_below_a_folder(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("x")
    (tmp_path / "sub").mkdir()
    (tmp_path / "node_modules").mkdir()
    for name in ("sub/b", "node_modules/c"):
        (tmp_path / name).hardlink_to(tmp_path / "a")
    (tmp_path / "single").write_text("x")
    made, top = HostWorld({"HOME": str(tmp_path)}), str(tmp_path)
    both = {f"{top}/a": (f"{top}/sub/b",), f"{top}/sub/b": (f"{top}/a",)}
    assert made.names([f"{top}/a"], top) == {f"{top}/a": (f"{top}/sub/b",)}
    assert made.names([f"{top}/{name}" for name in ("single", "sub", "none", "a\0b")], top) == {}
    assert made.names([f"{top}/a"], f"{top}/gone") == {f"{top}/a": ()}
    assert made.names([f"{top}/a", f"{top}/single", f"{top}/sub/b"], top) == both
    looks = counted_looks(monkeypatch)
    assert made.names([f"{top}/a", f"{top}/sub/b"], top) == both
    assert len(looks) == 2, "one look at each folder for all files together"


def test_a_name_is_spelled_as_its_folder_lists_it(tmp_path, monkeypatch):
    made, top = HostWorld({"HOME": str(tmp_path)}), os.path.realpath(tmp_path)
    for name in ("Readme", "1", "caf\u00e9"):
        (tmp_path / name).write_text("x")
    (tmp_path / "README").hardlink_to(tmp_path / "Readme")
    assert [made.spelled(f"{top}/{n}") for n in ("Readme", "README", "1", "caf\u00e9", "no")] == [
        f"{top}/{n}" for n in ("Readme", "README", "1", "caf\u00e9", "no")
    ]
    # A file system that folds case, as far as this code can see one: every spelling leads to the same file.
    real = os.lstat
    listed = {n.casefold(): n for n in ("Readme", "1", "caf\u00e9")}
    (tmp_path / "README").unlink()

    def folding(path, *args, **kwargs):
        folder, _, name = str(path).rpartition("/")
        return real(f"{folder}/{listed.get(name.casefold(), name)}" if folder == top else path, *args, **kwargs)

    monkeypatch.setattr(host.os, "lstat", folding)
    fresh = HostWorld({"HOME": str(tmp_path)})
    assert fresh.spelled(f"{top}/rEADME") == f"{top}/Readme"
    assert fresh.spelled(f"{top}/Readme") == f"{top}/Readme"
    assert fresh.resolve(f"{top}/README") == f"{top}/Readme"
