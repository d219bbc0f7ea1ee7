# ruff: noqa: PTH101, PTH102, PTH103, PTH104, PTH106, PTH108, PTH109, PTH114, PTH208, PTH211 - each is one system call
"""Says, a line each, what strange paths and flags lead to; run bare and held, it must say the same.

Arguments: a folder of its own; with a second one, a number, calls that are drawn by it.

It stands by itself: whoever runs it has no package of ours.
"""

from __future__ import annotations

import errno
import fcntl
import os
import random
import stat
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

OPENS = (
    os.O_WRONLY, os.O_RDWR, os.O_WRONLY | os.O_CREAT, os.O_WRONLY | os.O_CREAT | os.O_EXCL, os.O_WRONLY | os.O_TRUNC,
    os.O_RDONLY | os.O_CREAT, os.O_RDONLY | os.O_TRUNC, os.O_RDWR | os.O_NOFOLLOW, os.O_WRONLY | os.O_DIRECTORY,
    os.O_WRONLY | os.O_APPEND | os.O_CREAT, os.O_RDWR | os.O_TMPFILE, os.O_WRONLY | os.O_NONBLOCK,
    os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC,
)  # fmt: skip
NAMES = (
    "f", "./f", "d", "d/", "f/", "nope", "nope/", "nope/x", "d/../f", "d/../nope/../f", "l", "l/", "dl", "dl/", "dl/g",
    "dangling", "dangling/", "loop", "loop/x", "f/x", "", ".", "..", "/", "//", "/nope/x", "x" * 255, "x" * 256,
    "y/" * 2100, "ro", "rod/x", "none/x", "abs", "abs-dangling", "sock", "nul\udc00l", "é",
)  # fmt: skip
PLACES = (
    "/dev/null", "/dev/full", "/dev/zero", "/proc/self/comm", "/proc/self/fd", "/proc/self/nope", "/proc/1/comm",
    "/proc/1/mem", "/proc/thread-self/comm", "/dev/fd/9", "/proc/self/fd/9", "/proc/self/cwd/f",
    "/proc/self/root/etc/passwd", "/etc/passwd", "/etc/nope",
)  # fmt: skip
PARTS = (
    "f",
    "d",
    "l",
    "dl",
    "dangling",
    "loop",
    "nope",
    "g",
    "abs",
    "ro",
    "rod",
    "none",
    ".",
    "..",
    "",
    "x" * 255,
    "é",
)
STARTS = ("/proc/self/cwd/", "/dev/fd/77/", "//proc//thread-self/cwd/")
UP = 3
"""Folders above the one in which it works, that are its own."""
MODES = (0o000, 0o022, 0o077, 0o027)


FAILED = "failed"


def attempt(name: str, call: Callable[[], object]) -> object:
    """What comes of a call; its result, FAILED where it failed."""
    try:
        result = call()
    except OSError as e:
        print(name, errno.errorcode.get(e.errno or 0, e.errno))
        return FAILED
    except ValueError:
        print(name, "ValueError")
        return FAILED
    print(name, "ok" if result is None or type(result) is int else result)
    return result


def clear() -> None:
    for folder, folders, _ in os.walk("."):
        for name in folders:
            if not os.path.islink(f"{folder}/{name}"):
                os.chmod(f"{folder}/{name}", 0o700)
    for folder, folders, files in os.walk(".", topdown=False):
        for name in files:
            os.unlink(f"{folder}/{name}")
        for name in folders:
            path = f"{folder}/{name}"
            os.unlink(path) if os.path.islink(path) else os.rmdir(path)


def prepare() -> None:
    clear()
    os.mkdir("d")
    Path("f").write_text("content")
    Path("d/g").write_text("g")
    for name, target in (("l", "f"), ("dl", "d"), ("dangling", "nope"), ("loop", "loop")):
        os.symlink(target, name)
    os.symlink(f"{os.getcwd()}/f", "abs")
    os.symlink(f"{os.getcwd()}/nope", "abs-dangling")
    Path("ro").touch(0o444)
    os.mkdir("rod", 0o555)
    os.mkdir("none", 0o000)
    os.mknod("sock", stat.S_IFSOCK | 0o644)


ABOVE = -1
"""Its parent, held open: a program that cannot enter it cannot name it."""


def stands(top: int) -> str:
    """The folder that was begun in, with what each name is."""
    said = [oct(os.fstat(top).st_mode)]
    for folder in (top, ABOVE):
        if stat.S_IMODE(os.fstat(folder).st_mode) != 0o755:
            os.fchmod(folder, 0o755)
    for name in sorted(os.listdir(".")):
        s = os.lstat(name)
        size = s.st_size if stat.S_ISREG(s.st_mode) else ""
        said.append(f"{name[:20]}:{s.st_mode:o}:{size}:{s.st_nlink}")
    return ",".join(said)


def open_everything() -> None:
    for path in (*NAMES, *PLACES):
        for flags in OPENS:
            if path.endswith("/comm") and flags & os.O_TRUNC:
                continue  # it would name this process anew
            fd = attempt(f"open {path[:30]!r} {flags:o}", lambda path=path, flags=flags: os.open(path, flags, 0o666))
            if isinstance(fd, int):
                s = os.fstat(fd)
                kept = fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_NOFOLLOW
                print(
                    "  ",
                    f"{s.st_mode:o}",
                    s.st_size if stat.S_ISREG(s.st_mode) else "",
                    f"{kept:o}",
                    os.get_inheritable(fd),
                )
                os.close(fd)
            if os.path.lexists("nope"):
                os.unlink("nope")


def change_everything(top: int) -> None:
    """What failed has changed nothing: the next call has what it had."""
    result: object = None
    for path in NAMES:
        calls: dict[str, Callable[[], object]] = {
            "unlink": lambda path=path: os.unlink(path),
            "rmdir": lambda path=path: os.rmdir(path),
            "truncate": lambda path=path: os.truncate(path, 3),
            "chmod": lambda path=path: os.chmod(path, 0o640),
            "chown": lambda path=path: os.chown(path, -1, os.getgid()),
            "lchown": lambda path=path: os.lchown(path, -1, os.getgid()),
            "symlink": lambda path=path: os.symlink("f", path),
            "link to": lambda path=path: os.link("f", path),
            "link from": lambda path=path: os.link(path, "new"),
            "link itself": lambda path=path: os.link(path, "new", follow_symlinks=False),
            "rename to": lambda path=path: os.rename("f", path),
            "rename from": lambda path=path: os.rename(path, "new"),
            "rename a folder to": lambda path=path: os.rename("d", path),
            "mknod": lambda path=path: os.mknod(path, 0o644 | stat.S_IFREG),
            "setxattr": lambda path=path: os.setxattr(path, "user.x", b"1"),
            "exec": lambda path=path: os.posix_spawn(path, [path], {}) and "started",
        }
        for name, call in calls.items():
            if result != FAILED:
                prepare()
            result = attempt(f"{name} {path[:30]!r}", call)
            print("  ", stands(top))


def make_with_masks(top: int) -> None:
    for mask in MODES:
        os.umask(mask)
        prepare()
        attempt("open", lambda: os.close(os.open("made", os.O_CREAT | os.O_WRONLY, 0o777)))
        attempt("mknod", lambda: os.mknod("pipe", stat.S_IFIFO | 0o666))
        attempt("mkdir", lambda: os.mkdir("folder"))
        print(f"umask {mask:o}", stands(top))
    os.umask(0o022)


def use_descriptors(file: int) -> None:
    prepare()
    folder = os.open("d", os.O_RDONLY)
    for name, at in (("folder", folder), ("file", file), ("none", 999)):
        attempt(f"openat {name}", lambda at=at: os.close(os.open("new", os.O_CREAT | os.O_WRONLY, dir_fd=at)))
        attempt(f"unlinkat {name}", lambda at=at: os.unlink("new", dir_fd=at))
        attempt(f"renameat {name}", lambda at=at: os.rename("g", "h", src_dir_fd=at, dst_dir_fd=at))
    _, pipe = os.pipe()
    for name, fd in (("none", 998), ("a pipe", pipe), ("memory", os.memfd_create("x"))):
        attempt(f"fchmod {name}", lambda fd=fd: os.fchmod(fd, 0o600))
    made: list[object] = []
    work = [
        threading.Thread(target=lambda n=n: made.append(os.close(os.open(f"n{n}", os.O_CREAT | os.O_WRONLY))))
        for n in range(20)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    print("threads", len(made))


def draw(seed: str, top: int) -> None:
    """Calls on paths that are put together at random; none climbs out of the folder."""
    r = random.Random(seed)
    for n in range(60):
        prepare()
        folder = os.open("d", os.O_RDONLY)
        os.dup2(folder, 77)
        for k in range(25):
            draw_call(f"{n}.{k}", r, (None, None, folder, top, 999))
            print("  ", stands(top))
        os.close(folder)


def drawn_path(r: random.Random) -> str:
    names = r.choices(PARTS, k=r.randint(1, 4))
    inside = [name for k, name in enumerate(names) if name != ".." or names[:k].count("..") < UP]
    return r.choice(("", "", "", "", f"{os.getcwd()}/", *STARTS)) + "/".join(inside) + r.choice(("", "", "", "/"))


def draw_call(n: str, r: random.Random, folders: Sequence[int | None]) -> None:
    one, other, at, to = drawn_path(r), drawn_path(r), r.choice(folders), r.choice(folders)
    flags, follow = r.choice(OPENS), r.random() < 0.5
    calls: dict[str, Callable[[], object]] = {
        "open": lambda: os.close(os.open(one, flags, 0o666, dir_fd=at)),
        "unlink": lambda: os.unlink(one, dir_fd=at),
        "rmdir": lambda: os.rmdir(one, dir_fd=at),
        "rename": lambda: os.rename(one, other, src_dir_fd=at, dst_dir_fd=to),
        "link": lambda: os.link(one, other, src_dir_fd=at, dst_dir_fd=to, follow_symlinks=follow),
        "symlink": lambda: os.symlink(other, one, dir_fd=at),
        "mknod": lambda: os.mknod(one, 0o644 | stat.S_IFREG, dir_fd=at),
        "chmod": lambda: os.chmod(one, 0o700, dir_fd=at),
        "truncate": lambda: os.truncate(one, 2),
    }
    name = r.choice([*calls])
    attempt(f"{n} {name} {one[-60:]!r} {other[-60:]!r} {flags:o} {follow}", calls[name])


def main() -> None:
    os.chdir(sys.argv[1])
    os.makedirs("/".join("123"), exist_ok=True)
    os.chdir("/".join("123"))
    top = os.open(".", os.O_RDONLY)
    global ABOVE  # noqa: PLW0603 - as the folder itself, but for one use
    ABOVE = os.open("..", os.O_RDONLY)
    prepare()
    if sys.argv[2:]:
        draw(sys.argv[2], top)
        return
    file = os.open("f", os.O_RDONLY)
    os.dup2(file, 9)
    open_everything()
    print(stands(top))
    make_with_masks(top)
    change_everything(top)
    use_descriptors(file)


main()
