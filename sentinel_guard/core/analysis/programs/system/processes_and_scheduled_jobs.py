"""Programs that signal processes, change the kernel or schedule jobs (kill, sysctl, crontab, at): argv -> effects.

``disks.py`` and ``system_admin.py`` have the rest of the machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from sentinel_guard.core.analysis.expansion import process_listing
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.system import disks, system_admin, windows_tools
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]


def kill(call: Call) -> Effects:
    """``kill -9 PID``, ``kill -- -GROUP``, ``kill %1``; signal 0 and lists hurt nobody."""
    signals = _signals(call)
    if signals & {"0", "L", "LIST", "TABLE"}:
        return
    how = ("force",) if signals & {"9", "KILL"} else ()
    for item in call.operands or call.fields[2:]:
        yield from _on_service(call, item, how)
        yield call.effect(Kind.SIGNAL, _process(call, item), *how, sure=item.known)


def _on_service(call: Call, item: Field, how: Iterable[str]) -> Effects:
    """Whoever listens on a port of a service, where a word may stand for that."""
    for port in _service_ports(item.source) if not item.known else ():
        yield call.effect(Kind.SIGNAL, f"of port {port}", *how, sure=False)


def _process(call: Call, item: Field) -> str:
    """The process that a word names, as far as that is known."""
    if item.known:
        return item.text
    if _GUARDS.search(item.source):
        return "sentinel-guard"
    written = call.scope.as_written(item.source).strip('"')
    if written in ("$!", "${!}"):
        return "$!"
    if _means_all(call, item):
        return process_listing.FIRST
    return item.text if written == item.source.strip('"') else written


_GUARDS = re.compile(r"sentinel[-_]guard\S*\.pid")
"""A file of the guard's that holds its process."""
_PORTS = re.compile(r"(?:lsof|fuser|ss|netstat)\b[^|)]*?:?((?:\d{2,5},?)+)")
_SERVICES = frozenset(("22", "1433", "1521", "2181", "2379", "3306", "5432", "5672", "6379", "6443", "9092", "9200",
                       "11211", "26257", "27017"))  # fmt: skip
"""Ports on which databases, queues and the machine's own doors listen."""


def _service_ports(source: str) -> list[str]:
    """Ports of services among those whose listeners a word stands for: ``$(lsof -ti :3000,5432)``."""
    found = [port for match in _PORTS.finditer(source) for port in match[1].split(",")]
    return [port for port in found if port in _SERVICES]


_LISTED = re.compile(r"[\"']?(?:\$\(|`)(.*)[)`][\"']?", re.DOTALL)


def _means_all(call: Call, item: Field) -> bool:
    """Whether ``$(…)`` lists processes that nobody chose."""
    match = _LISTED.fullmatch(item.source)
    found = call.runner.script(f"{match[1]} | xargs kill", call, "kill") if match else []
    return any(effect.kind is Kind.SIGNAL and effect.target == process_listing.FIRST for effect in found)


def pkill(call: Call) -> Effects:
    """By name; without one, by user, terminal or group."""
    signals = _signals(call)
    if signals & {"0", "L", "LIST"}:
        return
    how = ("force",) if signals & {"9", "KILL"} else ()
    for item in call.operands:
        yield call.effect(Kind.SIGNAL, item.text, *how, sure=item.known)
    if call.operands:
        return
    for item in call.parsed.values("-u", "--user", "--euid", "-U", "--uid", "-t", "--terminal"):
        yield call.effect(Kind.SIGNAL, f"of {item.text}", *how)
    for item in call.parsed.values("-P", "--parent", "-g", "--pgroup"):
        yield from _on_service(call, item, how)
        pid = _process(call, item)
        one = _PROCESS.fullmatch(pid) if item.known else pid != process_listing.FIRST
        yield call.effect(Kind.SIGNAL, pid if one else f"of {pid}", *how, sure=item.known)


_PROCESS = re.compile(r"[2-9]|[1-9]\d+")
"""One process, whose children or group are meant: not the first one, and not whoever asks."""


BY_NAME = re.compile(
    r"\"?\$(?:!|\((?:pgrep|pidof) (?:-\w+ )*(?!\S*(?:ssh|systemd|docker|init|login|sudo|agent|sentinel))[\w./-]+\)"
    r"|\((?:cat |< ?)\"?/tmp/(?!\S*(?:ssh|systemd|docker|agent|sentinel))[\w./-]+\.pid\"?\))\"?"
)
"""A process that the text started, or found by its program's name or in a temporary file: the developer's own."""


def core(call: Call) -> Effects:
    """Gcore: all that a process holds in its memory comes into a file."""
    for item in call.operands:
        if not BY_NAME.fullmatch(item.source):
            yield call.effect(Kind.PRIVILEGE, "ptrace")


def kill_all(call: Call) -> Effects:
    """Killall5: everything but its own session."""
    yield call.effect(Kind.SIGNAL, "-1", "force")


def slay(call: Call) -> Effects:
    """All that belongs to a user."""
    for item in call.operands:
        yield call.effect(Kind.SIGNAL, f"of {item.text}", "force", sure=item.known)


def edit(call: Call) -> Effects:
    """Sudoedit: the files are written as root."""
    yield call.effect(Kind.PRIVILEGE, "sudo")
    for item in call.operands:
        yield from call.write(item, "inplace")


def _signals(call: Call) -> set[str]:
    """Signal names and numbers that the options give: ``-9``, ``-KILL``, ``-s SIGKILL``, ``-l``."""
    given = [item.text for item in call.parsed.values("-s", "--signal", "-n")]
    given += [item.text.lstrip("-") for item in call.fields[1:] if item.text.startswith("-")]
    return {text.upper().removeprefix("SIG") for text in given}


def fuser(call: Call) -> Effects:
    if call.has("-k", "--kill"):
        for item in call.operands:
            if (port := item.text.partition("/")[0]) in _SERVICES:
                yield call.effect(Kind.SIGNAL, f"of port {port}", "force", sure=item.known)
            target = call.locate(item) if "/" in item.text and not item.text[0].isdigit() else item.text
            yield call.effect(Kind.SIGNAL, target, "force", sure=item.known)


def by_word(call: Call) -> Effects:
    """fkill, kill-port: names, ports and pids."""
    for item in call.operands:
        yield call.effect(Kind.SIGNAL, item.text, sure=item.known)


def module(call: Call) -> Effects:
    lists = () if call.command.program == "kexec" else ("-l",)
    if not call.has("-n", "--dry-run", "--show", "-D", "--show-depends", *lists):
        yield call.effect(Kind.PRIVILEGE, "kernel module")


def mount(call: Call) -> Effects:
    every = {"losetup": ("-D", "--detach-all"), "mount": ("-a", "--all"), "umount": ("-a", "--all")}
    if call.operands or call.has(*every.get(call.command.program, ())):
        yield call.effect(Kind.PRIVILEGE, "mount")
    binds = call.has("--bind", "-B", "--rbind") and len(call.operands) > 1
    if binds:
        yield from call.write(call.operands[1], "link")


def power(call: Call) -> Effects:
    if not call.has("-c", "--help", "--show"):
        yield call.effect(Kind.PRIVILEGE, "power")


def systemctl(call: Call) -> Effects:
    verb = call.command.subcommand
    if call.has("--dry-run", "--when=show", "--help"):
        return
    if verb in ("reboot", "poweroff", "halt", "kexec", "suspend", "hibernate", "rescue", "emergency", "soft-reboot"):
        yield call.effect(Kind.PRIVILEGE, "power")
    elif verb in ("enable", "link", "preset", "reenable", "edit", "set-default", "set-property", "add-wants"):
        yield call.opaque(f"what runs by itself: {' '.join(item.text for item in call.operands)}", "code")
    elif verb in ("stop", "kill", "disable", "mask", "restart"):
        for item in call.operands:
            guards = "sentinel" in (item.text if item.known else f"{item.text}{item.source}")
            if call.has("--user") and not guards:
                continue  # the person's own service
            target = "sentinel-guard" if guards and not item.known else item.text
            yield call.effect(Kind.SIGNAL, target, sure=item.known)


def sysctl(call: Call) -> Effects:
    if call.has("-w", "--write", "-p", "--load", "--system") or any("=" in item.text for item in call.operands):
        yield call.effect(Kind.PRIVILEGE, "kernel setting")


def setcap(call: Call) -> Effects:
    yield call.effect(Kind.PRIVILEGE, "capabilities")
    for item in call.operands[1:]:
        yield from call.write(item, "mode")


def init(call: Call) -> Effects:
    if call.operands and call.operands[0].text in ("0", "6", "1"):
        yield call.effect(Kind.PRIVILEGE, "power")


def crontab(call: Call) -> Effects:
    """Its lines run later: a table from stdin or a file is a script with five fields before each command."""
    if call.has("-r"):
        yield call.effect(Kind.DELETE, "/var/spool/cron/crontabs", sure=False)
    elif call.has("-l", "-e"):
        return
    elif call.operands:
        item = call.operands[0]
        text = call.stdin if item.text == "-" else (call.world.read(call.locate(item)) if item.known else None)
        yield from _cron_lines(call, UNKNOWN if text is None else text)


def _cron_lines(call: Call, text: str) -> Iterator[Effect]:
    for line in text.replace(UNKNOWN, "\n").splitlines():
        words = line.strip().split(None, 1 if line.lstrip().startswith("@") else 5)
        if words and words[0][:1] != "#" and len(words) in (2, 6):
            yield from call.runner.script(words[-1], call, "crontab")
    if UNKNOWN in text:
        yield call.opaque("crontab", "data")


def at(call: Call) -> Effects:
    """at, batch: the script comes from stdin or ``-f``."""
    if call.has("-l", "-r", "-d", "-c") or call.command.program in ("atq", "atrm"):
        return
    source = call.parsed.value("-f")
    text = call.stdin
    if source is not None:
        text = (call.world.read(call.locate(source)) if source.known else None) or UNKNOWN
    yield from call.runner.script(text, call, "at")
    yield call.opaque("what runs by itself: at", "code")


OPTIONS = {
    "kill": options("-s= --signal= -n="),
    "killall": options("-s= --signal= -u= --user= -o= -y= -n= --ns="),
    "pkill": options(
        "--signal= -u= --euid= -U= --uid= -P= --parent= -g= --pgroup= -G= --group= -t= --terminal= -s= --session= -F="
    ),
    "skill": options("--signal= -u= -U= -t= -c= -p="),
    "fuser": options("-n= --namespace="),
    "gcore": options("-o= -d="),
    "mount": options("-t= --types= -o= --options= -L= -U= -N="),
    "systemctl": options("-H= --host= -M= --machine= -t= --type= -s= --signal= -n= --lines= -o= -p= --property= | sub"),
    "at": options("-f= -q= -t="),
    "sysctl": options("-r= --pattern="),
    **disks.OPTIONS,
    **process_listing.OPTIONS,
    "sudoedit": options("-u= --user= -g= --group= -p= -h="),
    **system_admin.OPTIONS,
    **windows_tools.OPTIONS,
}

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    "kill-port": by_word, "fkill": by_word,
    "kill": kill, "killall": pkill, "pkill": pkill, "skill": pkill, "killall5": kill_all, "slay": slay,
    "sudoedit": edit, "fuser": fuser, "gcore": core,
    "insmod": module, "modprobe": module, "rmmod": module, "kexec": module, "mount": mount, "umount": mount,
    "pivot_root": mount, "losetup": mount, "systemctl": systemctl, "sysctl": sysctl, "setcap": setcap,
    "init": init, "telinit": init, "crontab": crontab, "at": at, "batch": at,
    **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff"), power),
    **disks.PROGRAMS,
    **system_admin.PROGRAMS,
    **windows_tools.PROGRAMS,
}  # fmt: skip
