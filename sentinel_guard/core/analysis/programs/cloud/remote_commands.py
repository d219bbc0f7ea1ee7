"""Commands that a program runs on another machine, or hands on: ``fly ssh console -C "rm -rf /data"``, ``srun rm x``.

Where a table says where the command stands, it is taken from there. Elsewhere words tell it: the program's name or one
of its first words says that it runs what follows (``coder ssh dev -- …``), and behind ``--``, or with the name of a
program that destroys, a command begins. A platform's own command runs there; of a program that nobody knows it may run
here, so that paths are ours, unsurely.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from sentinel_guard.core.analysis import paths, places
from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.cloud import compose_files
from sentinel_guard.core.analysis.programs.cloud.containers import away
from sentinel_guard.core.model import Effect, Kind

_BODIES: dict[str, tuple[tuple[str, ...], tuple[str, ...], int]] = {
    "heroku": (("run", "run:detached"), (), 0),
    "knife": (("ssh",), (), 1),
    "oc": (("rsh",), (), 1),
    "nomad": (("alloc exec",), (), 1),
    "kamal": (("app exec", "server exec"), (), 0),
    "fly": (("ssh console",), ("-C", "--command"), 0),
    "flyctl": (("ssh console",), ("-C", "--command"), 0),
    "gcloud": (("compute ssh",), ("--command",), 0),
    "aws": (("ecs execute-command",), ("--command",), 0),
    "eb": (("ssh",), ("-c", "--command"), 0),
    "vagrant": (("ssh",), ("-c", "--command"), 0),
    "cf": (("ssh",), ("-c", "--command"), 0),
    "copilot": (("svc exec", "task exec"), ("-c", "--command"), 0),
    "railway": (("ssh",), (), 0),
    "doctl": (("compute ssh",), ("--ssh-command",), 0),
}
"""Verbs that run a command there, the option that holds it, or the operands before it."""


_HOST = r"(?!127\.|0\.0\.0\.0)(?P<{}>[\w-]+(?:\.[\w-]+)+)"
_ADDRESSED = re.compile(
    rf"://(?:[^@/\s]*@)?{_HOST.format('url')}"
    rf"|(?:(?<![\w-])-[hHS] ?|--(?:host|hostname|server)[ =]|\bhost(?:addr)?=)['\"]?{_HOST.format('told')}"
)
_OF_CLUSTER = (".svc", ".cluster.local", ".internal", ".local")


def names_other(call: Call) -> bool:
    """Whether words of a command, or its input, name a server beyond the cluster, or machine, that it speaks to."""
    text = " ".join((*call.command.argv, call.stdin))
    hosts = (match["url"] or match["told"] for match in _ADDRESSED.finditer(text))
    return any(not host.endswith(_OF_CLUSTER) for host in hosts) or places.CONNECTS.search(text) is not None


def leading_on(call: Call, found: Iterable[Effect]) -> Iterator[Effect]:
    """Of what a command in a pod, or on a machine, of here does what is somebody's all the same: what it loses at
    another server, in a cloud, or in the folder that a machine shares with this one.
    """
    losses = (Kind.DEPLOY, Kind.DATABASE)
    yield from (effect for effect in found if effect.kind not in losses or _leads_on(call, effect))


def _leads_on(call: Call, effect: Effect) -> bool:
    argv = call.command.argv
    if effect.command is None or effect.command == call.command:
        shared = call.command.program == "vagrant" and any("/vagrant" in word for word in argv)
        return shared or ("--" in argv and names_other(call))
    return names_other(call) or not (effect.kind is Kind.DATABASE or compose_files.is_lost_beside(effect))


def of_table(call: Call) -> Iterator[Effect]:
    """What a verb of the table runs there."""
    spoken, names, skip = _BODIES.get(call.command.program, ((), (), 0))
    if (verb := verb_of(call, spoken)) is None:
        return
    items = call.parsed.values(*names) if names else _rest(call, verb.count(" ") + skip)
    known = all(item.known for item in items)
    one = not items or len(items) == 1 or " " in items[0].text
    body = " ".join(item.text for item in items[:1]) if one else items
    yield from away(call, body, known=known, target=f"{call.command.program} {verb}")


def _rest(call: Call, skip: int) -> Sequence[Field]:
    """The command behind a verb, with options of its own: ``heroku run bash -c CODE``."""
    rest = call.operands[skip:]
    if not rest:
        return []
    at = next((n for n, item in enumerate(call.fields) if item is rest[0]), len(call.fields))
    return call.fields[at:]


def verb_of(call: Call, spoken: Sequence[str]) -> str | None:
    """Which of these verbs the call has, of one word or more."""
    words = [call.command.subcommand, *(item.text for item in call.operands[:3])]
    return next((verb for verb in spoken if verb and words[: verb.count(" ") + 1] == verb.split()), None)


_LOGS_IN = re.compile(
    r"(?:^| |(?<=[\w][-_:.]))(?:ssh|rsh|rexec|remote|adhoc|terminal) "
    r"|^(?:plink|dbclient|winrs|psexec|et|mosh|salt-ssh|pyinfra) "
)
_STARTS = re.compile(
    r"(?:^| |(?<=[\w][-_:.]))(?:exec|execute|run|shell|enter|invoke|command|cmd|submit|spawn|launch|attach) "
    r"|^(?:srun|mpirun|mpiexec|[qbj]sub) "
)
"""In the first words, each with a blank behind it."""
_PLACES = 5
"""Words among which the one that says so stands."""
_WORDS = 16
"""Words among which the command begins."""
_DESTROYS = frozenset(
    (
        *("rm", "rmdir", "unlink", "shred", "dd", "wipefs", "truncate", "mv", "find", "chmod", "chown", "tee", "sed"),
        *("sh", "bash", "zsh", "sudo", "su", "env", "psql", "mysql", "mongosh", "redis-cli", "sqlite3", "dropdb"),
        *("kill", "pkill", "killall", "reboot", "shutdown", "halt", "poweroff", "systemctl", "service", "iptables"),
        *("ufw", "userdel", "passwd", "docker", "kubectl", "python", "python3", "node", "ruby", "perl", "php", "rails"),
        *("cmd", "cmd.exe", "powershell", "pwsh", "rd", "del", "erase", "crontab", "git", "mkfs", "parted"),
    )
)
"""Names with which a command begins that is worth a look, where no ``--`` says where it does."""
_OF_CMD = ("rd", "del", "erase")
_VALUE = re.compile(r"[\w-]+=(?=[\"']?\w)")
"""``command='…'``, as an operand."""


@lru_cache(maxsize=4096)
def may_tell(word: str) -> bool:
    """Whether one of the first words lets ``told_by_words`` find anything; of most commands none does."""
    return bool(_LOGS_IN.search(f"{word} ") or _STARTS.search(f"{word} "))


def told_by_words(call: Call, *, there: bool = True) -> Iterator[Effect]:
    """What is found by the words alone; ``there``: the program is known to be a platform's."""
    words = [call.command.program, *call.command.argv[1:_PLACES]]
    if not any(map(may_tell, words)):
        return
    text = " ".join(words) + " "
    logs_in = _LOGS_IN.search(text) is not None
    if not (logs_in or _STARTS.search(text)):
        return
    found = _begun(call.fields[1:_WORDS], call.fields)
    if not found:
        return
    if there or logs_in:
        body = found[0].text if len(found) == 1 else found
        yield from away(call, body, known=all(item.known for item in found), target=" ".join(words[:3]))
        return
    program = call.command.program
    effects = (
        call.runner.script(found[0].text, call, program) if len(found) == 1 else call.runner.run(found, call, program)
    )
    yield from (replace(effect, sure=False) for effect in effects if effect.kind is not Kind.OPAQUE)


def _begun(looked_at: Sequence[Field], fields: Sequence[Field]) -> list[Field]:
    """The command among the words; a single one with blanks is a shell text."""
    for at, item in enumerate(looked_at, 1):
        if item.text == "--":
            rest = list(fields[at + 1 :])
            return rest if rest and rest[0].text[:1] != "-" else []
        text = _VALUE.sub("", item.text, count=1).strip("\"'") if item.known else ""
        name, blank, _ = text.partition(" ")
        if paths.base(name) not in _DESTROYS:
            continue
        if blank:
            return [Field(text)]
        found = list(fields[at:])
        return [Field("cmd"), Field("/c"), *found] if name in _OF_CMD else found if at < len(fields) - 1 else []
    return []


def kubectl(call: Call) -> Iterator[Effect]:
    """``kubectl exec POD -- COMMAND``: on another machine."""
    texts = [item.text for item in call.fields]
    if "--" in texts:
        command = call.fields[texts.index("--") + 1 :]
    else:  # the old form: kubectl exec POD COMMAND
        pod = next((n for n, item in enumerate(call.fields) if call.operands and item is call.operands[0]), len(texts))
        command = call.fields[pod + 1 :]
    if command:
        yield from away(call, command, target=f"{call.command.program} exec")


def machine(call: Call) -> Iterator[Effect]:
    """Lxc exec, incus exec, machinectl shell, multipass exec."""
    texts = [item.text for item in call.fields]
    verb = call.command.subcommand
    if verb in ("exec", "shell"):
        named = next((n for n, item in enumerate(call.fields) if item is call.operands[0]), 0) if call.operands else 0
        body = call.fields[texts.index("--") + 1 if "--" in texts else named + 1 :] if named else ()
        yield from away(call, body, target=f"{call.command.program} {verb}")
    elif verb in ("delete", "destroy", "rm", "purge", "terminate", "remove"):
        yield call.effect(Kind.DEPLOY, call.command.program, "delete")


_MACHINES = ("lxc", "incus", "machinectl", "multipass")
OPTIONS = dict.fromkeys(_MACHINES, options("| sub"))
PROGRAMS: dict[str, Callable[[Call], Iterable[Effect]]] = dict.fromkeys(_MACHINES, machine)
