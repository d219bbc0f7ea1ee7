"""Runs texts in real bash in a cage, and tells which commands they started: the programs themselves are stubs.

The cage (namespaces, as nobody) is the file system of this machine, read only, with a throw-away home, no devices, no
network and no other process. Over each program in question, and in front of PATH, lies a stub that appends its argv to
a file, and nothing else; the one of cat also copies what it reads.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.support.time_limits import limit

ROOT = "/home/user/project"
"""Where every text runs: as in core/policy/rule_examples.py."""
SECONDS = 5
"""For one text."""
_STUB = r"""
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static char record[1 << 16];

static void copy(int from) {
    ssize_t size;
    while ((size = read(from, record, sizeof record)) > 0) (void)!write(1, record, size);
}

int main(int argc, char **argv) {
    unsigned size = 0;
    const char *name = strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0];
    for (int at = 0; at < argc; at++) {
        const char *word = at ? argv[at] : name;
        size_t length = strlen(word) + 1;
        if (size + length + 1 > sizeof record) return 3;
        memcpy(record + size, word, length);
        size += length;
    }
    record[size++] = '\n';
    int log = open("/home/cage/log", O_WRONLY | O_APPEND);
    if (log < 0 || write(log, record, size) != (ssize_t)size) return 4;
    if (strcmp(name, "cat")) return 0;
    if (argc < 2) copy(0);
    for (int at = 1; at < argc; at++) copy(strcmp(argv[at], "-") ? open(argv[at], O_RDONLY) : 0);
    return 0;
}
"""
_MARK = "rewriting-cage-mark"
_DEVICES = {"fd": "/proc/self/fd", "ptmx": "pts/ptmx"} | {
    name: f"/proc/self/fd/{number}" for number, name in enumerate(("stdin", "stdout", "stderr"))
}
_BINARIES = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where the programs are that everybody may run, this user nobody too."""
_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
_NAMESPACES = ("--user", "--map-root-user", "--mount", "--net", "--ipc", "--uts", "--pid", "--fork", "--kill-child")
# Where one step fails, nothing runs. What a mount is must be said again, or it may not be made read only.
_ENTER = """
set -e
mount --make-rprivate /
mount -t tmpfs -o size=64m cage /home
mkdir /home/cage /home/user
mount --bind "$1" /home/cage
while read -r _ _ _ _ at options _; do
    case $at in /proc | /proc/* | /home | /home/cage) continue ;; esac
    at=$(printf %b "$at")
    # What another test mounts in a folder of its own is out of reach.
    [ ! -e "$at" ] || mount -o "remount,bind,ro,$options" "$at"
done < /proc/self/mountinfo
mkdir /home/dev /home/dev/pts
for at in null zero full random urandom tty; do touch /home/dev/$at; mount --bind /dev/$at /home/dev/$at; done
while read -r link to; do ln -s "$to" "/home/dev/$link"; done < /home/cage/devices
mount -t devpts -o newinstance,ptmxmode=0666 cage /home/dev/pts
mount --rbind /home/dev /dev
for at in /tmp /var/tmp; do mount -t tmpfs -o size=64m cage $at; done
while read -r stub real; do mount --bind "/home/cage/stubs/$stub" "$real"; done < /home/cage/over
exec env -i HOME=/home/user LC_ALL=C.UTF-8 PATH=/home/cage/stubs:/usr/bin:/bin:/usr/sbin:/sbin sh -c "$2"
"""


class RewritingCage:
    """One throw-away folder with the stubs of these programs."""

    def __init__(self, programs: Sequence[str]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="rewritings-"))
        self.stubs = self.folder / "stubs"
        self.stubs.mkdir()
        source = self.folder / "stub.c"
        source.write_text(_STUB)
        subprocess.run(["cc", "-static", "-O1", "-o", self.stubs / _MARK, source], check=True)
        for name in programs:
            shutil.copy(self.stubs / _MARK, self.stubs / name)
        over = [(name, real) for name in programs if (real := shutil.which(name, path=_BINARIES))]
        (self.folder / "over").write_text("".join(f"{name} {os.path.realpath(real)}\n" for name, real in over))
        (self.folder / "devices").write_text("".join(f"{name} {to}\n" for name, to in _DEVICES.items()))
        self.folder.chmod(0o755)

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def works(self) -> bool:
        """Whether this machine lets one make a cage."""
        return self._run("true").returncode == 0

    def started(self, texts: Sequence[str]) -> list[list[list[str]]]:
        """The argv of the stubs that each text started, in order."""
        log = self.folder / "log"
        log.write_bytes(b"")
        log.chmod(0o666)
        lines = []
        for at, text in enumerate(texts):
            (self.folder / str(at)).write_text(text + "\n")
            lines.append(f"mkdir -p {ROOT}; cd {ROOT}; echo SECRET=1 > .env")
            lines.append(f"timeout {SECONDS} bash --norc --noprofile /home/cage/{at}")
            lines.append(f"{_MARK}; cd /; mv {ROOT} /home/user/{at}")
        (self.folder / "driver").write_text("\n".join(lines) + "\n")
        done = self._run("bash --norc --noprofile /home/cage/driver")
        found: list[list[list[str]]] = [[]]
        for record in log.read_bytes().decode("utf-8", "surrogateescape").split("\0\n")[:-1]:
            argv = record.split("\0")
            if argv == [_MARK]:
                found.append([])
            else:
                found[-1].append(argv)
        assert len(found) == len(texts) + 1, f"the cage's own driver did not end: {done.stderr[-500:]!r}"
        return found[:-1]

    def _run(self, command: str) -> subprocess.CompletedProcess[bytes]:
        words = [*(_NOBODY if os.geteuid() == 0 else ()), "unshare", *_NAMESPACES, "--mount-proc"]
        words += ["/bin/sh", "-c", _ENTER, "sh", str(self.folder), command]
        return subprocess.run(words, check=False, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit(600))
