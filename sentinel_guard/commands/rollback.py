"""``sentinel-guard rollback``: put the repository back to where a session started, by hand (R10)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sentinel_guard.client import Operator
from sentinel_guard.errors import ConfigError, DaemonError, SentinelError
from sentinel_guard.host import repository, snapshots
from sentinel_guard.host.places import Places

INCIDENTS = "docs/incidents/"
SHOWN = 40


def rollback(places: Places, cwd: Path, session: str, *, dry_run: bool, confirm: Callable[[str], bool] | None) -> int:
    """Show what would change, ask with ``confirm`` (None: do not), and do it. What is removed goes to quarantine."""
    baseline = _baseline(places, cwd, session)
    changes = snapshots.plan(baseline, _is_report)
    if not changes:
        print("Nothing to do: the repository is as it was when the session started.")
        return 0
    for change in changes[:SHOWN]:
        print(f"  {change}")
    if len(changes) > SHOWN:
        print(f"  ... and {len(changes) - SHOWN} more")
    if dry_run:
        return 0
    if confirm and not confirm("Put these back to where they were?"):
        print("Nothing was changed.")
        return 1
    _refuse_while_live(places, baseline.root)
    report = snapshots.rollback(baseline, _is_report)
    for problem in report.problems:
        print(f"  not done: {problem}")
    print(f"Restored {len(report.restored)}, moved {len(report.quarantined)} to {baseline.folder / 'quarantine'}.")
    return 0 if report.ok else 1


def _is_report(path: str) -> bool:
    return path.startswith(INCIDENTS)


def _baseline(places: Places, cwd: Path, session: str) -> snapshots.Baseline:
    folder = places.state / "sessions"
    if session:
        if "/" in session or not (folder / session / "baseline").is_dir():
            raise ConfigError(f"There is no session {session!r} with a baseline.", "sentinel-guard log shows them.")
        return snapshots.load(folder / session / "baseline")
    root = repository.top(str(cwd))
    for candidate in sorted(folder.glob("*/baseline"), reverse=True):
        baseline = snapshots.load(candidate)
        if baseline.root == root:
            return baseline
    raise ConfigError("No session was recorded in this repository.", "Sessions begin with 'sentinel-guard run'.")


def _refuse_while_live(places: Places, root: str) -> None:
    try:
        with Operator(places, start=False) as operator:
            live = [s for s in operator.request("status")["sessions"] if s["root"] == root and s["state"] != "KILLED"]
    except DaemonError:
        return
    if live:
        raise SentinelError(f"Session {live[0]['session']} is working here.", "End its agent first.")
