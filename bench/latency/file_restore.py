"""Measures the time from a change of a restricted file until it is restored, as the changing process sees it."""

from __future__ import annotations

import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

sys.path.insert(0, str(Path(__file__).parents[2]))
os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")

from sentinel_guard.client import Operator
from sentinel_guard.host.machine.state_paths import places

GOOD = b"MODE=debug\nKEY=original\n"
PATIENCE = 5.0
TIMES = int(os.environ.get("SENTINEL_BENCH_TIMES", "200"))
BURST = int(os.environ.get("SENTINEL_BENCH_BURST", "100000"))


class Ground:
    """A guarded repository whose session is this process: what it does is the session's doing."""

    def __init__(self, below: str | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sg-", dir=below))
        self.repo, self.outside = self.folder / "repo", self.folder / "outside"
        self.env = self.repo / "app/conf/.env"
        self.env.parent.mkdir(parents=True)
        self.outside.mkdir()
        self.held = 0
        (self.folder / "home").mkdir()
        self.env.write_bytes(GOOD)
        self.env.chmod(0o640)
        self.linked = self.repo / "app/linked.pem"
        self.linked.write_bytes(GOOD)
        os.link(self.linked, self.outside / "other")
        identity = ("-c", "user.name=Bench", "-c", "user.email=bench@example.com")
        for arguments in (("init", "-q"), (*identity, "commit", "-qm", "start", "--allow-empty")):
            subprocess.run(["git", *arguments], cwd=self.repo, check=True)
        os.environ |= {"SENTINEL_HOME": str(self.folder / "guard"), "HOME": str(self.folder / "home")}
        self.operator = Operator(places()).connect()
        begun = self.operator.request(
            "start", command=["bench"], cwd=str(self.repo), pid=os.getpid(), interactive=False, path=os.environ["PATH"],
            kind="run",
        )  # fmt: skip
        self.session, self.daemon = begun["session"], int(self.operator.request("hello")["pid"])
        time.sleep(0.5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.operator.request("end", session=self.session, code=0)
        self.operator.request("stop", force=True)
        self.operator.close()
        limit = time.monotonic() + 5
        while Path(f"/proc/{self.daemon}").exists() and time.monotonic() < limit:
            time.sleep(0.02)
        shutil.rmtree(self.folder, ignore_errors=True)

    def good(self, path: Path) -> bool:
        try:
            seen = path.lstat()
            return not path.is_symlink() and seen.st_mode & 0o777 == self.mode(path) and path.read_bytes() == GOOD
        except OSError:
            return False

    def mode(self, path: Path) -> int:
        return 0o640 if path == self.env else 0o644

    def wait(self, path: Path) -> float:
        """Milliseconds until the file is good again; PATIENCE where it is not."""
        began = time.perf_counter()
        while not self.good(path) and time.perf_counter() - began < PATIENCE:
            time.sleep(0.0002)
        return (time.perf_counter() - began) * 1000

    def cpu(self) -> float:
        """Seconds that the daemon has spent on a processor."""
        fields = Path(f"/proc/{self.daemon}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def write(g: Ground) -> None:
    g.env.write_bytes(b"MODE=evil\n")


def append(g: Ground) -> None:
    with g.env.open("ab") as f:
        f.write(b"EVIL=1\n")


def rename_over(g: Ground) -> None:
    aside = g.env.with_name("x")
    aside.write_bytes(b"evil")
    aside.rename(g.env)


def delete(g: Ground) -> None:
    g.env.unlink()


def swap_link(g: Ground) -> None:
    aside = g.env.with_name("x")
    aside.symlink_to("/etc/hostname")
    aside.rename(g.env)


def chmod(g: Ground) -> None:
    g.env.chmod(0o666)


def truncate(g: Ground) -> None:
    os.truncate(g.env, 0)


def move_out(g: Ground) -> None:
    g.env.rename(g.outside / "taken")


def remove_folder(g: Ground) -> None:
    # It may be back before its folder can go.
    shutil.rmtree(g.env.parent, ignore_errors=True)


def rename_folder(g: Ground) -> None:
    g.env.parent.rename(g.repo / f"app/moved-{time.monotonic_ns()}")


def held_open(g: Ground) -> None:
    # Who held the last one open writes on into it: nothing of that may be seen.
    if g.held:
        os.write(g.held, b"AGAIN")
        os.close(g.held)
        assert g.good(g.env)
    g.held = os.open(g.env, os.O_WRONLY)
    os.write(g.held, b"EVIL")


def hard_link(g: Ground) -> None:
    (g.outside / "other").unlink()
    os.link(g.linked, g.outside / "other")
    (g.outside / "other").write_bytes(b"evil")


KINDS: dict[str, Callable[[Ground], None]] = {
    "write": write,
    "append": append,
    "rename over": rename_over,
    "delete": delete,
    "symlink swap": swap_link,
    "chmod": chmod,
    "truncate": truncate,
    "moved out": move_out,
    "rm -rf folder": remove_folder,
    "folder renamed": rename_folder,
    "held-open writer": held_open,
    "hard link outside (sweep)": hard_link,
}


def tampering(times: int = TIMES) -> dict[str, tuple[float, float]]:
    """Kind -> milliseconds from the change to the original's return: median, p99."""
    found = {}
    with Ground() as ground:
        for kind, tamper in KINDS.items():
            path = ground.linked if tamper is hard_link else ground.env
            samples = []
            for _ in range(times if tamper is not hard_link else max(10, times // 10)):
                tamper(ground)
                samples.append(ground.wait(path))
                time.sleep(0.005)
            samples.sort()
            found[kind] = statistics.median(samples), samples[int(len(samples) * 0.99)]
    return found


def burst(count: int = BURST, below: str | None = None) -> dict[str, float]:
    """``count`` files made at once; a restricted one is changed a hundred times meanwhile, ten new ones come.

    Milliseconds to the original's return (median, p99), how many changes were lost, and the daemon's seconds of CPU.
    """
    with Ground(below) as ground:
        code = f"import sys\nfor n in range({count}): open(f'{{sys.argv[1]}}/{{n}}', 'w').close()"
        folder = ground.repo / "app/many"
        folder.mkdir()
        before, began, samples, made = ground.cpu(), time.perf_counter(), [], []
        with subprocess.Popen([sys.executable, "-c", code, str(folder)]) as maker:
            while maker.poll() is None or len(samples) < 100:
                write(ground)
                samples.append(ground.wait(ground.env))
                if len(made) < 10:
                    new = ground.repo / f"app/new{len(made)}/deep/.env.local"
                    new.parent.mkdir(parents=True)
                    new.write_bytes(b"new")
                    made.append(new)
                time.sleep(0.01)
        took = time.perf_counter() - began
        limit = time.monotonic() + 30
        while any(path.exists() for path in made) and time.monotonic() < limit:
            time.sleep(0.05)
        lost = sum(path.exists() for path in made) + sum(s >= PATIENCE * 1000 for s in samples)
        quiet = time.perf_counter() - began
        busy = ground.cpu() - before
        samples.sort()
        p99 = samples[int(len(samples) * 0.99)]
        with contextlib.suppress(OSError):
            shutil.rmtree(folder)
    found = {"median": statistics.median(samples), "p99": p99, "changes": float(len(samples) + len(made))}
    return found | {"lost": float(lost), "cpu": busy, "burst": took, "settled": quiet}


def main() -> None:
    for kind, (median, p99) in tampering().items():
        print(f"{kind:28} {median:8.2f} ms {p99:8.2f} ms p99")
    print({name: round(value, 2) for name, value in burst(below="/dev/shm").items()})


if __name__ == "__main__":
    main()
