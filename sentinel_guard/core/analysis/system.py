"""Programs that touch devices, processes, the kernel, users: argv -> effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sentinel_guard.core.analysis.commands import UNKNOWN, Call, options
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_ERASES = ("-a", "--all", "-o", "--offset", "-f", "--force", "-t", "--types")
_LISTS = ("-l", "--list", "-V", "--version", "-h", "--help")


def mkfs(call: Call) -> Effects:
    """Makes, wipes or partitions what is on a device (or in an image file)."""
    if call.has(*_LISTS, "-n", "--no-act", "--dry-run") or (
        call.command.program == "wipefs" and not call.has(*_ERASES)
    ):
        return
    for item in call.operands:
        if "/" in item.text or not item.known:
            yield from _device(call, item, "mkfs")


def partition(call: Call) -> Effects:
    if call.has(*_LISTS, "-n", "--no-act", "-d", "--dump", "-J", "--json", "--verify") or any(
        item.text == "print" for item in call.operands
    ):
        return
    for item in call.operands[:1]:
        yield from _device(call, item, "mkfs")


def hdparm(call: Call) -> Effects:
    if any(
        flag.startswith(("--security-erase", "--trim", "--write-sector", "--make-bad")) for flag in call.command.flags
    ):
        for item in call.operands[-1:]:
            yield from _device(call, item, "mkfs")


def volume(call: Call) -> Effects:
    """cryptsetup, lvremove, mdadm, zpool, blkdiscard and the like."""
    program = call.command.program
    if program in ("cryptsetup", "zpool", "mdadm", "zfs", "btrfs"):
        verbs = {"luksFormat", "erase", "luksErase", "destroy", "labelclear", "--zero-superblock", "--stop", "delete"}
        words = {item.text for item in call.operands} | call.command.flags
        if not verbs & words:
            return
    if call.has(*_LISTS, "--longhelp", "-t", "--test") or (program == "zfs" and call.has("-n")):
        return
    for item in call.operands[-1:]:
        if program in _NAMED and not item.text.startswith("/"):
            yield call.effect(Kind.PRIVILEGE, "volume", sure=item.known)
        else:
            yield from _device(call, item, "mkfs")


def _device(call: Call, item: Field, how: str) -> Iterator[Effect]:
    yield from call.write(item, how)


def kill(call: Call) -> Effects:
    """``kill -9 PID``, ``kill -- -GROUP``, ``kill %1``; signal 0 and lists hurt nobody."""
    signals = _signals(call)
    if signals & {"0", "L", "LIST", "TABLE"}:
        return
    how = ("force",) if signals & {"9", "KILL"} else ()
    for item in call.operands or call.fields[2:]:
        yield call.effect(Kind.SIGNAL, item.text, *how, sure=item.known)


def pkill(call: Call) -> Effects:
    """By name; without one, by user, terminal or group."""
    signals = _signals(call)
    if signals & {"0", "L", "LIST"}:
        return
    how = ("force",) if signals & {"9", "KILL"} else ()
    for item in call.operands:
        yield call.effect(Kind.SIGNAL, item.text, *how, sure=item.known)
    for item in call.parsed.values("-u", "--euid", "-U", "--uid", "-P", "-g", "-t") if not call.operands else ():
        yield call.effect(Kind.SIGNAL, f"of {item.text}", *how)


def _signals(call: Call) -> set[str]:
    """Signal names and numbers that the options give: ``-9``, ``-KILL``, ``-s SIGKILL``, ``-l``."""
    given = [item.text for item in call.parsed.values("-s", "--signal", "-n")]
    given += [item.text.lstrip("-") for item in call.fields[1:] if item.text.startswith("-")]
    return {text.upper().removeprefix("SIG") for text in given}


def fuser(call: Call) -> Effects:
    if call.has("-k", "--kill"):
        for item in call.operands:
            target = call.locate(item) if "/" in item.text and not item.text[0].isdigit() else item.text
            yield call.effect(Kind.SIGNAL, target, "force", sure=item.known)


def module(call: Call) -> Effects:
    lists = () if call.command.program == "kexec" else ("-l",)
    if not call.has("-n", "--dry-run", "--show", "-D", "--show-depends", *lists):
        yield call.effect(Kind.PRIVILEGE, "kernel module")


def mount(call: Call) -> Effects:
    if call.operands:
        yield call.effect(Kind.PRIVILEGE, "mount")
    binds = call.has("--bind", "-B", "--rbind") and len(call.operands) > 1
    if binds:
        yield from call.write(call.operands[1], "link")


def firewall(call: Call) -> Effects:
    """Whatever does not just list: iptables, nft, ufw."""
    lists = call.has("-L", "--list", "-S", "--list-rules", "-C", "--check", "--list-all", "--state")
    if call.fields[1:] and not lists and not {"list", "status", "show"} & {item.text for item in call.operands[:1]}:
        yield call.effect(Kind.PRIVILEGE, "firewall")


def power(call: Call) -> Effects:
    if not call.has("-c", "--help", "--show"):
        yield call.effect(Kind.PRIVILEGE, "power")


def systemctl(call: Call) -> Effects:
    verb = call.command.subcommand
    if verb in ("reboot", "poweroff", "halt", "kexec", "suspend", "hibernate", "rescue", "emergency", "soft-reboot"):
        yield call.effect(Kind.PRIVILEGE, "power")
    elif verb in ("stop", "kill", "disable", "mask", "restart") and not call.has("--user"):
        for item in call.operands:
            yield call.effect(Kind.SIGNAL, item.text)


def service(call: Call) -> Effects:
    words = [item.text for item in call.operands]
    if words[1:2] and words[1] in ("stop", "restart", "force-reload"):
        yield call.effect(Kind.SIGNAL, words[0])


def sysctl(call: Call) -> Effects:
    if call.has("-w", "--write", "-p", "--load", "--system") or any("=" in item.text for item in call.operands):
        yield call.effect(Kind.PRIVILEGE, "kernel setting")


def setcap(call: Call) -> Effects:
    yield call.effect(Kind.PRIVILEGE, "capabilities")
    for item in call.operands[1:]:
        yield from call.write(item, "mode")


def users(call: Call) -> Effects:
    yield call.effect(Kind.PRIVILEGE, "users")


def swap(call: Call) -> Effects:
    yield call.effect(Kind.PRIVILEGE, "kernel setting")


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


OPTIONS = {
    "kill": options("-s= --signal= -n="),
    "killall": options("-s= --signal= -u= --user= -o= -y= -n= --ns="),
    "pkill": options(
        "--signal= -u= --euid= -U= --uid= -P= --parent= -g= --pgroup= -G= --group= -t= --terminal= -s= --session= -F="
    ),
    "fuser": options("-n= --namespace="),
    "mkswap": options("-L= -p= -U="),
    "wipefs": options("-o= --offset= -t= --types= -O= -J"),
    "mount": options("-t= --types= -o= --options= -L= -U= -N="),
    "systemctl": options("-H= --host= -M= --machine= -t= --type= -s= --signal= -n= --lines= -o= -p= --property= | sub"),
    "at": options("-f= -q= -t="),
    "sysctl": options("-r= --pattern="),
}

_PARTITION = ("fdisk", "parted", "sfdisk", "cfdisk", "gdisk", "sgdisk", "cgdisk")
_VOLUME = (
    "cryptsetup",
    "lvremove",
    "vgremove",
    "pvremove",
    "mdadm",
    "zpool",
    "zfs",
    "blkdiscard",
    "nvme",
    "badblocks",
    "btrfs",
)
_NAMED = ("zpool", "zfs", "lvremove", "vgremove")
"""They take the name of a volume, which is no path."""
_FIREWALL = ("iptables", "ip6tables", "nft", "ufw", "firewall-cmd", "iptables-restore", "ipset", "ebtables")
_USERS = (
    "useradd", "userdel", "usermod", "groupadd", "groupdel", "groupmod", "passwd", "chpasswd", "visudo", "adduser",
    "deluser",
    "addgroup", "delgroup", "gpasswd", "vipw", "chsh", "newusers",
)  # fmt: skip

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    "wipefs": mkfs, "mkswap": mkfs, "mke2fs": mkfs, "mkdosfs": mkfs, "mkntfs": mkfs, "newfs": mkfs, "hdparm": hdparm,
    **dict.fromkeys(_PARTITION, partition), **dict.fromkeys(_VOLUME, volume), **dict.fromkeys(_FIREWALL, firewall),
    **dict.fromkeys(_USERS, users),
    **dict.fromkeys((f"mkfs.{kind}" for kind in ["ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "fat", "ntfs",
    "f2fs", "exfat", "minix", "msdos"]), mkfs),
    "mkfs": mkfs, "kill": kill, "killall": pkill, "pkill": pkill, "skill": pkill, "fuser": fuser, "insmod": module,
    "modprobe": module, "rmmod": module, "kexec": module, "mount": mount, "umount": mount, "sysctl": sysctl,
    "setcap": setcap,
    "pivot_root": mount, "losetup": mount, "swapoff": swap, "swapon": swap, "systemctl": systemctl,
    "service": service, "init": init, "telinit": init,
    "crontab": crontab, "at": at, "batch": at,
    **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff"), power),
}  # fmt: skip
