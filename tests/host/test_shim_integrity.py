"""What is harm to a session's shims, and what is not: real shims, real files."""

from __future__ import annotations

import errno
import mmap
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from sentinel_guard.errors import HostError
from sentinel_guard.host import shim_integrity, shims
from sentinel_guard.host.machine import changed_paths
from sentinel_guard.host.machine.changed_paths import ChangedPaths
from sentinel_guard.host.machine.state_paths import StatePaths
from sentinel_guard.host.shim_integrity import ShimIntegrity

PATH = "/usr/bin:/bin"


@pytest.fixture
def where():
    with tempfile.TemporaryDirectory(prefix="sg-") as folder:
        base = Path(folder)
        made = StatePaths(base / "state", base / "run", base / "config", str(base))
        made.make()
        yield made
        subprocess.run(["chmod", "-R", "u+rwX", folder], check=True)


@pytest.fixture
def folder(where):
    shims.make(where, "s1", ("git", "rm"), PATH)
    return where.shims("s1")


def write(path: Path, data: bytes, at: int = 0) -> None:
    path.chmod(0o700)
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)
    path.chmod(0o500)


def put_in_place(path: Path, data: bytes, mode: int = 0o500) -> None:
    path.unlink()
    path.write_bytes(data)
    path.chmod(mode)


def keep_times(path: Path, change) -> None:
    before = path.stat()
    change(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def as_link(path: Path) -> None:
    path.rename(path.with_name("moved"))
    path.symlink_to(path.with_name("moved"))


def as_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o500)


HARMS = (
    (shutil.rmtree, "the folder is gone", "the folder was deleted"),
    (lambda f: shutil.rmtree(f.parents[2]), "the folder is gone", "the whole state was deleted"),
    (lambda f: f.rename(f.with_name("old")), "the folder is gone", "the folder was moved"),
    (lambda f: f.parent.rename(f.parents[1] / "old"), "the folder is gone", "a folder above it was moved"),
    (as_link, "they cannot be read", "the folder is a link, whose end is another one later"),
    (lambda f: put_in_place(f / "git", b""), "git was changed", "an empty file"),
    (lambda f: (f / "git").unlink(), "git is gone", "one shim was deleted"),
    (lambda f: as_link(f / "git"), "git was changed", "a shim is a link"),
    (lambda f: as_pipe(f / "git"), "git was changed", "a pipe, of which no read would end"),
    (lambda f: (f / "bash").chmod(0o400), "was changed", "it cannot be run: the next one on PATH is"),
    (lambda f: (f / ".bash_env").chmod(0o200), ".bash_env was changed", "it cannot be read"),
    (lambda f: (f / ".bash_env").write_text(""), ".bash_env was changed", "a login bash gets no shims back"),
    (lambda f: (f / ".sentinel").write_text("socket=/x\n"), ".sentinel was changed", "another daemon is asked"),
    (lambda f: write(f / "git", b"x", 1000), "was changed", "one byte of the file that all of them are"),
    (
        lambda f: keep_times(f / ".sentinel", lambda p: write(p, b"S")),
        ".sentinel was changed",
        "one byte, and the old time is put back: ctime shows it",
    ),
    (lambda f: put_in_place(f / "rm", Path("/bin/true").read_bytes()), "rm was changed", "another program"),
)


@pytest.mark.parametrize(("change", "words"), [row[:2] for row in HARMS], ids=[row[2] for row in HARMS])
@pytest.mark.parametrize("settled", [0, shim_integrity.SETTLED], ids=["quick look", "whole look"])
def test_what_is_harm(folder, monkeypatch, change, words, settled):
    monkeypatch.setattr(shim_integrity, "SETTLED", settled)
    stands = ShimIntegrity.of(folder)
    assert stands.harm() == ""
    time.sleep(0 if settled else 0.02)  # the clock of a file system ticks
    change(folder)
    assert words in stands.harm()
    assert words in stands.harm(), "it is seen again"


@pytest.mark.parametrize("change", [row[0] for row in HARMS], ids=[row[2] for row in HARMS])
@pytest.mark.parametrize("later", [False, True], ids=["at once", "after the same bytes in another file"])
def test_the_kernel_tells_of_all_that_is_harm(folder, change, later):
    changes = ChangedPaths(ShimIntegrity.of(folder).paths)
    try:
        assert not changes.take()
        if later:
            again(folder / "git")
            assert changes.take() and not changes.take()
        subprocess.run([folder / "rm", "--version"], check=False, capture_output=True)
        assert not changes.take(), "to run them is no change"
        change(folder)
        assert changes.take()
    finally:
        changes.close()


def test_instances_are_left_for_others(folder, monkeypatch):
    ChangedPaths([str(folder)], spare=3).close()
    given, closed = iter([100_001, -1, -1]), []
    monkeypatch.setattr(
        changed_paths.ctypes, "CDLL", lambda *_, **__: SimpleNamespace(inotify_init1=lambda _: next(given))
    )
    monkeypatch.setattr(changed_paths, "os", SimpleNamespace(close=closed.append, O_CLOEXEC=0, O_NONBLOCK=0))
    with pytest.raises(OSError, match="no inotify instance is left"):
        ChangedPaths([str(folder)], spare=2)
    assert closed == [100_001]


def test_a_file_that_is_written_by_a_name_elsewhere_is_told_of(folder):
    outside = folder.parent / "outside"
    os.link(folder / "git", outside)
    changes = ChangedPaths(ShimIntegrity.of(folder).paths)
    write(outside, b"x", 1000)
    assert changes.take()
    changes.close()
    changes.close()


def test_what_is_written_through_a_mapping_is_told_of_when_it_can_run(folder):
    """Nobody hears of such a write, but while the mapping lasts the file cannot be executed."""
    (folder / "git").chmod(0o700)
    changes = ChangedPaths(ShimIntegrity.of(folder).paths)
    with (folder / "git").open("r+b") as file:
        mapped = mmap.mmap(file.fileno(), 0)
    mapped[1000:1001] = b"x"
    with pytest.raises(OSError, match="Text file busy"):
        subprocess.run([folder / "git", "--version"], check=False)
    mapped.close()
    assert changes.take()
    changes.close()


USED_UP = """
import sys
from sentinel_guard.host.machine.changed_paths import ChangedPaths
print(ChangedPaths(sys.argv[1:]).complete)
"""


@pytest.mark.parametrize(("limit", "complete"), [("2", "False"), ("1000", "True")], ids=["too few", "enough"])
def test_whether_there_are_watches_enough_is_known(folder, limit, complete):
    """An agent of the same user can use them up."""
    words = f'echo {limit} > /proc/sys/user/max_inotify_watches && exec "$@"'
    python = [sys.executable, "-c", USED_UP, *ShimIntegrity.of(folder).paths]
    line = ["unshare", "--user", "--map-root-user", "sh", "-c", words, "sh", *python]
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    if done.returncode and "unshare" in done.stderr:
        pytest.skip("no user namespaces here")
    assert done.stdout == f"{complete}\n", done.stderr


MOUNTED = """
import select, subprocess, sys
from sentinel_guard.host.machine.changed_paths import ChangedMounts
mounts, told = ChangedMounts(), select.poll()
told.register(mounts.fileno(), select.POLLIN)
for command in ((), ("mount", "-t", "tmpfs", "none", sys.argv[1]), (), ("umount", sys.argv[1])):
    subprocess.run(command or ["true"], check=True)
    print(len(told.poll(2000 if command else 100)))
    mounts.take()
mounts.close()
mounts.close()
"""


def test_what_is_mounted_over_them_is_told_of(folder):
    line = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, "-c", MOUNTED, folder]
    done = subprocess.run(line, check=False, capture_output=True, text=True)
    if done.returncode and "unshare" in done.stderr:
        pytest.skip("no user namespaces here")
    assert done.stdout.split() == ["0", "1", "0", "1"], done.stderr


def again(path: Path) -> None:
    aside = path.with_name("aside")
    shutil.copy2(path, aside)
    aside.replace(path)


def upgrade(folder: Path) -> None:
    """As pip does: the package's launcher is replaced, and the next session gets the new one."""
    new = folder.parents[2] / "new-launcher"
    new.write_bytes(shims.LAUNCHER.read_bytes() + b"\0")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shims, "LAUNCHER", new)
        where = StatePaths(folder.parents[2], folder.parents[3] / "run", folder.parents[3] / "config")
        shims.make(where, "s2", ("git",), PATH)
        assert (where.shims("s2") / "git").read_bytes() == new.read_bytes()
        shims.place_hooks(where, {}).with_name(shims.GITHOOK)


HONEST = (
    (lambda f: None, "nothing"),
    (lambda f: [os.utime(p) for p in [f, *f.iterdir()]], "touch"),
    (lambda f: [os.utime(p, (0, 0)) for p in f.iterdir()], "times of long ago"),
    (lambda f: [p.read_bytes() for p in f.iterdir()], "a backup that reads them, and changes atime"),
    (lambda f: shutil.copytree(f, f.parents[2] / "copy"), "a copy of the folder"),
    (lambda f: [p.chmod(p.stat().st_mode | 0o200) for p in f.iterdir()], "chmod -R u+w"),
    (lambda f: again(f / "git"), "the same bytes in another file, as a restored backup has them"),
    (lambda f: os.link(f / "git", f.parent / "kept"), "a hard link of a backup changes ctime"),
    (lambda f: (f / "new").write_text("x"), "a name that came later"),
    (lambda f: shutil.copytree(f, f.with_name("x")) and shutil.rmtree(f.with_name("x")), "a copy that went"),
    (upgrade, "sentinel-guard was upgraded while the session lives"),
)


@pytest.mark.parametrize("change", [row[0] for row in HONEST], ids=[row[1] for row in HONEST])
def test_what_is_no_harm(folder, change):
    stands = ShimIntegrity.of(folder)
    change(folder)
    assert [stands.harm() for _ in range(3)] == ["", "", ""]
    assert ShimIntegrity(folder, stands.record).harm() == "", "nor is it for a daemon that is started anew"


NO_DESCRIPTORS = """
import os, resource, sys
from pathlib import Path
from sentinel_guard.host.shim_integrity import ShimIntegrity
folder = Path(sys.argv[1])
stands = ShimIntegrity.of(folder)
os.utime(folder / "git")  # so that the bytes are read
later = ShimIntegrity(folder, stands.record)
used = os.open("/", os.O_RDONLY)
resource.setrlimit(resource.RLIMIT_NOFILE, (used + 1, used + 1))
print([stands.harm(), stands.harm(), later.harm(), later.harm()])
os.close(used)
print([stands.harm(), later.harm()])
os.unlink(folder / "git")
print(bool(stands.harm()), bool(later.harm()))
"""


def test_a_process_without_descriptors_looks_again(folder):
    done = subprocess.run(
        [sys.executable, "-c", NO_DESCRIPTORS, str(folder)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["['', '', '', '']", "['', '']", "True True"]
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 10, "that was the other process"


REFUSALS = (
    (errno.EIO, ["", "they cannot be read: Input/output error"], "a disk that may recover"),
    (errno.ESTALE, ["", "they cannot be read: Stale file handle"], "a server of files that was started anew"),
    (errno.ENOMEM, ["", ""], "no memory: that says nothing of the files"),
    (errno.EINTR, ["", ""], "a signal"),
    (errno.EACCES, ["they cannot be read: Permission denied"] * 2, "no shell reaches them either"),
)


@pytest.mark.parametrize(("number", "said"), [row[:2] for row in REFUSALS], ids=[row[2] for row in REFUSALS])
def test_what_a_disk_refuses_for_a_moment_is_harm_the_second_time(folder, monkeypatch, number, said):
    stands = ShimIntegrity.of(folder)

    def refuse(_):
        raise OSError(number, os.strerror(number))

    def harm(at, *, refused):
        # No disk here fails at will.
        with monkeypatch.context() as patch:
            patch.setattr(shim_integrity, "time", SimpleNamespace(monotonic=lambda: at, time_ns=time.time_ns))
            if refused:
                patch.setattr(os, "lstat", refuse)
                patch.setattr(os.path, "lexists", lambda _: True)
            return stands.harm()

    looks = [harm(at, refused=True) for at in (10.0, 10.1, 10.0 + shim_integrity.AGAIN)]
    assert looks == [said[0], *said], "the second: two looks at one time"
    assert harm(20.0, refused=False) == ""
    assert harm(20.1, refused=True) == said[0], "a good look in between: the first time again"


@pytest.fixture
def looked_at(folder, monkeypatch):
    """Shims that were looked at as a whole, long after they were made; and the names that a look asks for."""
    monkeypatch.setattr(shim_integrity, "SETTLED", 0)
    stands, asked, lstat = ShimIntegrity.of(folder), [], os.lstat
    assert stands.harm() == ""
    monkeypatch.setattr(os, "lstat", lambda path: asked.append(str(path)) or lstat(path))
    return stands, asked


def test_a_look_between_two_whole_ones_asks_for_the_folder_and_each_file_once(folder, looked_at):
    stands, asked = looked_at
    assert stands.harm() == ""
    files = {path.lstat().st_ino for path in folder.iterdir()}
    assert asked[0] == str(folder)
    assert len(asked) == 1 + len(files) < len([*folder.iterdir()])


def test_such_a_look_is_a_whole_one_after_a_while(folder, looked_at, monkeypatch):
    stands, asked = looked_at
    monkeypatch.setattr(shim_integrity, "WHOLE", 0.0)
    assert stands.harm() == ""
    assert len(asked) > len([*folder.iterdir()])


def test_what_was_just_changed_is_looked_at_as_a_whole_each_time(folder, looked_at, monkeypatch):
    stands, asked = looked_at
    monkeypatch.setattr(shim_integrity, "SETTLED", 10**18)
    (folder / "new").touch()
    assert [stands.harm(), stands.harm()] == ["", ""]
    assert len(asked) > 2 * len([*folder.iterdir()])


def test_a_daemon_that_is_started_anew_knows_them_by_what_is_on_record(folder):
    record = ShimIntegrity.of(folder).record
    assert ShimIntegrity(folder, record).harm() == ""
    write(folder / ".bash_env", b"x")
    assert ShimIntegrity(folder, record).harm() == "they are not those that were made"
    assert ShimIntegrity(folder).harm() == "", "an older version recorded none: as the first look finds them"
    with pytest.raises(HostError, match="not those that were made"):
        ShimIntegrity.of(folder, record)
    shutil.rmtree(folder)
    assert ShimIntegrity(folder).harm() == "the folder is gone"
    with pytest.raises(HostError, match="cannot be read"):
        ShimIntegrity.of(folder)
