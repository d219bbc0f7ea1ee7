"""``sentinel-guard uninstall``: takes out what ``install`` put in, here or everywhere."""

from __future__ import annotations

from pathlib import Path

from sentinel_guard.commands import daemon, require_human
from sentinel_guard.commands.agent_hooks import install_agent_hooks
from sentinel_guard.commands.install import INSIDE, TEMPLATE
from sentinel_guard.errors import SentinelError
from sentinel_guard.host import installed_repositories, policy_files
from sentinel_guard.host.git.commit_contents import git
from sentinel_guard.host.githooks import install_hooks
from sentinel_guard.host.machine.state_paths import StatePaths, places
from sentinel_guard.host.recovery.snapshots import snapshot_store


def uninstall(folder: Path, template: Path | None = None) -> int:
    """Takes the hooks away, and sentinel.toml where nobody edited or committed it; says what it did.

    ``template``: a template folder of git init instead. Raises HostError, SentinelError while a session works here.
    """
    where = places()
    print("\n".join(_template(where, template) if template else _repository(where, folder)))
    return 0


def uninstall_all() -> int:
    """The same for every repository, template and agent that ``install`` was called for; then stops the daemon, where
    it guards nobody, and says what is left.

    Exit code 1 where one of them could not be done. Raises SentinelError inside of a session.
    """
    where = places()
    require_human.require_human(where, None, INSIDE)
    known, failed = installed_repositories.known(where), 0
    for folder, kind in known.items():
        print(f"{folder}:")
        try:
            said = _everywhere(where, folder, kind)
        except SentinelError as e:
            failed += 1
            said = [f"not done: {e}"]
        print("\n".join(f"  {line}" for words in said for line in words.splitlines()))
    print("\n".join(install_agent_hooks.take_out(where, lambda _file, _agent: True)))
    if not known:
        print("No repository is remembered where sentinel-guard install was called.")
    if failed:
        print("Mend what is said above, then run it again.")
        return 1
    try:
        daemon.stop(where, force=False)
    except SentinelError as e:
        print(e)
    print("Next, the program: pipx uninstall sentinel-guard (or pip uninstall sentinel-guard)")
    print(f"What stays until you delete it: {where.state} (the log, snapshots), {where.config} (your policy)")
    return 0


def _everywhere(where: StatePaths, folder: Path, kind: str) -> list[str]:
    if not folder.exists():
        installed_repositories.forget(where, folder)
        return ["It is gone."]
    return _template(where, folder) if kind == installed_repositories.TEMPLATE else _repository(where, folder)


def _template(where: StatePaths, template: Path) -> list[str]:
    require_human.require_human(where, template, INSIDE)
    said = install_hooks.uninstall_template(template)
    installed_repositories.forget(where, template)
    return said or [f"No hooks of sentinel-guard are in {template}."]


def _repository(where: StatePaths, folder: Path) -> list[str]:
    repo = install_hooks.find(folder)
    root, policy = repo.root, repo.root / policy_files.NAME
    require_human.require_human(where, root, INSIDE)
    said = install_hooks.uninstall(folder)
    installed_repositories.forget(where, root)
    if not repo.bare and policy.is_file():
        said.append(_policy(root, policy))
    said = said or [f"sentinel-guard is not installed in {root}."]
    if kept := 0 if repo.bare else len(snapshot_store.list_snapshots(str(root))):
        said.append(f"Snapshots stay ({kept}). When you need them no more: sentinel-guard snapshots drop --all")
    return said


def _policy(root: Path, policy: Path) -> str:
    if git(root, "ls-files", "--", policy_files.NAME):
        return f"Left {policy} where it is: it is under version control, and others may go by it."
    if policy.read_bytes() != TEMPLATE.encode():
        return f"Left {policy} where it is: you edited it."
    policy.unlink()
    return f"Took {policy} away: nobody had edited it."
