"""Baseline and rollback in a process to which modes of files apply: root may do anything, and proves nothing."""

from __future__ import annotations

import ctypes
import dataclasses
import json
import os
import shutil
import time
import traceback
from collections.abc import Callable
from typing import Any

from sentinel_guard.host.recovery import api
from tests.support.recovery.repository import ENV, Repo

WITHOUT_RIGHTS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", "--")
MISSING = os.geteuid() == 0 and not shutil.which("setpriv")
AS_A_USER = WITHOUT_RIGHTS if os.geteuid() == 0 else ()
"""What a command begins with so that modes of files apply to it; without setpriv (``MISSING``) they do not."""
DAC_OVERRIDE, DAC_READ_SEARCH = 1, 2
PR_CAPBSET_DROP, CAPABILITY_VERSION_3 = 24, 0x20080522


def taken(repo: Repo, hours: int = 0) -> api.Baseline:
    """The baseline of a session that begins now; by a clock that was set back before by so many hours."""
    folder, now = repo.root.parent / "session", time.time

    def take() -> None:
        time.time = lambda: now() - 3600 * hours
        api.take(str(repo.root), folder, _restricts, "s1")

    _in_a_child(take)
    return api.load(folder)


def rolled_back(baseline: api.Baseline) -> dict[str, Any]:
    """The report of a rollback, as ``dataclasses.asdict`` gives it."""

    def rollback() -> dict[str, Any]:
        report = api.rollback(api.load(baseline.folder), restricts=_restricts)
        return dataclasses.asdict(report) | {"rescued": sorted(report.rescued)}

    report: dict[str, Any] = _in_a_child(rollback)
    return report


def _restricts(path: str) -> bool:
    return path.endswith("/.env")


def _in_a_child(act: Callable[[], Any]) -> Any:
    """What it returns, by JSON. A process of its own that need not import anything again."""
    answer = os.memfd_create("answer")
    child = os.fork()
    if not child:
        try:
            os.environ.update(ENV)
            _drop_rights()
            os.write(answer, json.dumps(act()).encode())
            os._exit(0)
        except BaseException:  # noqa: BLE001 - the parent says it
            os.write(answer, traceback.format_exc().encode())
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    text = os.pread(answer, os.fstat(answer).st_size, 0).decode()
    os.close(answer)
    assert status == 0, text
    return json.loads(text)


def _drop_rights() -> None:
    """As ``WITHOUT_RIGHTS``, for this process too."""
    if os.geteuid():
        return
    libc, mine = ctypes.CDLL(None, use_errno=True), (ctypes.c_uint32 * 6)()
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    done = [libc.prctl(PR_CAPBSET_DROP, right, 0, 0, 0) for right in (DAC_OVERRIDE, DAC_READ_SEARCH)]
    done.append(libc.capget(header, mine))
    for word in range(3):  # effective, permitted, inheritable
        mine[word] &= ~(1 << DAC_OVERRIDE | 1 << DAC_READ_SEARCH)
    done.append(libc.capset(header, mine))
    assert not any(done), os.strerror(ctypes.get_errno())
