"""``sentinel-guard install``: the policy file and the git hooks of a repository."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

from sentinel_guard.agents import registry
from sentinel_guard.commands import require_human
from sentinel_guard.errors import HostError
from sentinel_guard.host import installed_repositories, policy_files, shims
from sentinel_guard.host.githooks import install_hooks
from sentinel_guard.host.machine import atomic_files
from sentinel_guard.host.machine.state_paths import StatePaths, places

INSIDE = "From inside a guarded session the guard is neither installed nor uninstalled."
PROGRAM = "sentinel-guard"
_MODE = 0o644
_FROM_NOW_ON = (
    "Commits and pushes are looked at from now on. What is there already: sentinel-guard secrets scan",
    "Next, for an agent: sentinel-guard run -- YOUR AGENT",
)

TEMPLATE = """\
# What sentinel-guard watches in this repository.
# This file can only tighten what is built in; what loosens it goes into your own
# ~/.config/sentinel-guard/sentinel.toml. `sentinel-guard policy show` prints every key as it is in force.
version = 1

[paths]
# gitignore patterns. Restricted: no write, delete, rename, chmod, link, commit. Hidden: not read either.
# Built in: .env .env.* (not .env.example), *.pem, id_rsa*, secrets/, sentinel.toml, .sentinel-secrets.toml
restricted = []
hidden = []

[confirm]
# Commands that a person is asked about first (the two-key gate), by the name of the action.
# deploy = ["./scripts/deploy*", "npm run deploy"]

[loop]
# The last calls that are looked at, and how often the same failing one may be repeated.
# window = 10
# repeats = 3
# strict = true            # the literal rule: 3 identical calls trip, whatever changed between them

[failures]
# So many failing test runs within so many seconds open the breaker.
# runs = 5
# seconds = 60

[breaker]
# How long a session is paused, in seconds.
# seconds = 60

[cost]
# tokens_per_minute = 50_000
# cooldown_seconds = 30
# telemetry = true         # Claude Code sends its counts here, too: for runs of which it keeps no record
# estimate = true          # tokens of an agent that tells none are estimated

# A rule of your own. It loads only if its examples hold: every hit matches, no miss does.
# [[rule]]
# id = "project.no-migrate"
# program = "python"
# operand = ["*manage.py"]
# response = "ask"           # snapshot, hint, ask, deny, kill
# action = "MIGRATE"
# why = "it changes the shared database"
# hit = ["python manage.py migrate"]
# miss = ["python script.py"]
"""


def install(folder: Path, template: Path | None = None) -> int:
    """Writes sentinel.toml if there is none and puts the git hooks in place; says what it did.

    ``template``: a template folder of git init, which gets the hooks instead: repositories made from it have them.
    Raises HostError, SentinelError while a session works here.
    """
    where = places()
    if template:
        require_human.require_human(where, template, INSIDE)
        _tell(install_hooks.install_template(template, **_programs(where)), f"The hooks are already in {template}.")
        installed_repositories.remember(where, template, installed_repositories.TEMPLATE)
        print(f"Next: git config --global init.templateDir {template.absolute()}")
        return 0
    repo = install_hooks.find(folder)
    root, policy = repo.root, repo.root / policy_files.NAME
    require_human.require_human(where, root, INSIDE)
    said = install_hooks.install(folder, **_programs(where))
    installed_repositories.remember(where, root)
    if not repo.bare and not policy.exists():
        atomic_files.write(policy, TEMPLATE.encode(), _MODE)
        said.append(f"Wrote {policy}: what is watched here, with comments. Commit it, so that it holds for all.")
    if said and (root / ".gitmodules").exists():
        said.append("Submodules have hooks of their own: git submodule foreach --recursive sentinel-guard install")
    _tell([*said, *_FROM_NOW_ON] if said else [], f"sentinel-guard is already installed in {root}.")
    return 0


def _programs(where: StatePaths) -> dict[str, str]:
    """What the hooks call: the launcher, which asks the daemon; where there is none, Python."""
    try:
        where.make()
        launcher = str(shims.place_hooks(where, registry.hook_forms()).with_name(shims.GITHOOK))
    except HostError as e:
        print(f"sentinel-guard: {e} The hooks work without it, more slowly.", file=sys.stderr)
        launcher = ""
    absent = policy_files.load(where).git_hooks.without_guard
    return {"launcher": launcher, "socket": str(where.agent_socket), "program": _program(), "absent": absent}


def _program() -> str:
    """The command, which goes with the package when it is uninstalled; empty where it was started as a module."""
    beside, scripts = Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))
    ours = (Path(sys.argv[0]).absolute(), beside / PROGRAM, scripts / PROGRAM)
    return next((str(p) for p in ours if p.name == PROGRAM and p.is_file()), "")


def _tell(said: list[str], nothing: str) -> None:
    print("\n".join(said) or nothing)
