"""Programs that make, wipe, partition and destroy disks and volumes: argv -> effects.

``raw`` rows write a device under its file system; ``volume`` rows destroy or change what has a name of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.subcommand_tables import Row, table
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_LOOKS = "-l|--list|-V|--version|-h|--help|-n|--no-act|--dry-run"
_MAKES = table(quiet=f"** {_LOOKS}|-N", raw="**")

_RAW: dict[str, tuple[Row, ...]] = {
    **dict.fromkeys(("mke2fs", "mkdosfs", "mkntfs", "newfs", "mkudffs", "mkreiserfs", "mkexfatfs", "newfs_msdos",
                     "newfs_hfs", "newfs_apfs", "mkfs", "mkswap"), _MAKES),
    **dict.fromkeys((f"mkfs.{kind}" for kind in (
        "ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "fat", "ntfs", "f2fs", "exfat", "minix", "msdos", "jfs",
        "reiserfs", "nilfs2", "gfs2", "ocfs2", "udf", "bfs", "cramfs", "hfsplus", "hfs", "erofs", "zonefs", "apfs",
        "bcachefs", "xiafs", "lustre")), _MAKES),
    "wipefs": table(quiet=f"** {_LOOKS}", raw="** -a|--all|-o|--offset|-t|--types|-f|--force"),
    "fdisk": table(quiet=f"** {_LOOKS}|-x|--list-details|-s|--getsz", raw="**"),
    "cfdisk": table(quiet=f"** {_LOOKS}", raw="**"),
    "cgdisk": table(raw="**"),
    "gdisk": table(quiet="** -l", raw="**"),
    "sfdisk": table(quiet=f"** {_LOOKS}|-d|--dump|-J|--json|--verify|-F|--list-free|-s|--show-size|-g|--show-geometry|"
        f"-T", raw="**"),
    "sgdisk": table(
        raw="** -Z|--zap-all|-z|--zap|-o|--clear|-d|--delete|-n|--new|-N|--largest-new|-t|--typecode|-l|--load-backup|"
            "-g|"
        "--mbrtogpt|-m|--gpttombr|-R|--replicate|-G|--randomize-guids|-u|--partition-guid|-U|--disk-guid|-e|-r|"
        "--transpose|-s|--sort|-h|--hybrid|-c|--change-name|-A|--attributes|-j|-k|-L",
    ),
    "parted": table(quiet=f"** {_LOOKS}|-m, ** print|help|align-check", raw="**"),
    "hdparm": table(raw="** --security-erase|--security-erase-enhanced|--security-set-pass|--trim-sector-ranges|"
        "--write-sector|"
                    "--make-bad-sector|--trim-sector-ranges-stdin|--fwdownload|--dco-restore|--security-disable|"
                        "--sanitize-block-erase|"
                    "--sanitize-crypto-scramble|--sanitize-overwrite"),
    "cryptsetup": table(raw="luksFormat|erase|luksErase|luksKillSlot|luksRemoveKey|reencrypt|luksHeaderRestore|format"),
    "nvme": table(raw="format|sanitize|write-zeroes|write|write-uncor|delete-ns|dsm|security-send|fw-download|"
        "fw-commit|resv-*"),
    "badblocks": table(raw="** -w|-n"),
    "blkdiscard": table(quiet="** --help|--version|-h|-V", raw="**"),
    **dict.fromkeys(("pvremove", "pvcreate", "vgcreate"), table(quiet="** -t|--test|--help|--version", raw="**")),
    "sg_format": table(raw="** --format|-F|--resize"),
    **dict.fromkeys(("scrub", "nwipe", "dban", "wipe"), table(quiet="** --help|--version|-V", raw="**")),
    "mdadm": table(raw="** --zero-superblock|--create|-C", volume="** --stop|-S|--remove|--fail|--manage"),
    "zpool": table(raw="labelclear", volume="destroy|remove|detach|offline|replace|split|create|export|reguid|"
        "rollback"),
}  # fmt: skip
_GONE = "** -t|--test|--help|--longhelp|-h|-?|--version"
_VOLUMES: dict[str, tuple[Row, ...]] = {
    "zfs": table(quiet="** -n", volume="destroy|rollback|unmount|rename|receive|recv"),
    **dict.fromkeys(("lvremove", "vgremove", "lvreduce", "vgreduce", "lvresize", "pvmove", "vgcfgrestore"),
        table(quiet=_GONE, volume="**")),
    "lvchange": table(volume="** -a|--activate"),
    "btrfs": table(volume="subvolume|sub|subvol delete, device|dev delete|remove|del, balance start, rescue *, check "
        "--repair, filesystem resize, "
                   "replace start, device|dev add, quota disable"),
    "dmsetup": table(volume="remove|remove_all|wipe_table|clear|suspend|create|load|rename"),
    "diskutil": table(volume="erase*|partitionDisk|zeroDisk|randomDisk|secureErase|reformat|unmountDisk|"
        "mergePartitions|splitPartition|resizeVolume, "
                      "cs delete*, apfs delete*|erase*|resize*|deleteContainer, coreStorage delete*, eject|unmount"),
    "hdiutil": table(volume="resize|compact"),
    "tmutil": table(volume="delete*|disable|removedestination|deletelocalsnapshots"),
    "lxc-destroy": table(volume="**"),
    "multipath": table(volume="** -F|-f"),
}  # fmt: skip
_CHECKS: dict[str, tuple[Row, ...]] = {
    "tune2fs": table(quiet="** -l", volume="**"),
    **dict.fromkeys(("resize2fs", "xfs_repair", "ntfsfix", "ntfsresize", "testdisk", "photorec", "xfs_growfs",
        "e2label", "fatlabel"),
                    table(quiet="** -n|-P|--help|-V|--info|-i", volume="**")),
    **dict.fromkeys(("e2fsck", "fsck", "fsck.ext4", "fsck.ext3", "fsck.vfat", "fsck.fat", "dosfsck", "fsck.xfs",
        "fsck.exfat"),
                    table(quiet="** -n|-N|--help|-V", volume="** -y|-p|-a|-f|-r|-w")),
    "debugfs": table(volume="** -w"),
}  # fmt: skip
"""They mend the file system on a device; on the image of one they hurt nobody."""


def raw(call: Call) -> Effects:
    """What is on a device, or in an image of one, is made anew or wiped."""
    program = call.command.program
    found = subcommand_tables.what(call, _RAW[program])
    if found == "volume":
        yield call.effect(Kind.PRIVILEGE, "volume")
    elif found == "raw":
        for item in _devices(call):
            yield from _onto(call, item, "mkfs")


def _onto(call: Call, item: Field, *how: str) -> Effects:
    """Writing, also to what is not known and has left no text: ``mkfs.ext4 "$DISK"``."""
    nameless = not item.known and not item.text
    return (call.opaque(item.source.strip("\"'") or "$", "write"),) if nameless else call.write(item, *how)


def _devices(call: Call) -> list[Field]:
    """Operands that are paths, else the last one: ``cd /dev && mkfs.ext4 sda1``."""
    named = [item for item in call.operands if "/" in item.text or not item.known]
    if call.command.program in ("parted", "hdparm"):
        return named[:1] or call.operands[:1]
    return named or [item for item in call.operands if not item.text.isdigit()][-1:]


_ENDLESS = ("/dev/zero", "/dev/urandom", "/dev/random")


def dd(call: Call) -> Effects:
    """dd, dcfldd, dc3dd: ``of=``; without ``count=`` what never ends fills the disk."""
    given = [(*item.text.partition("=")[::2], item.known) for item in call.operands]
    targets = [Field(value, known) for name, value, known in given if name in ("of", "ofs", "hof", "wipe", "hwipe")]
    nothing = any(name == "if" and value in (*_ENDLESS, "/dev/null") for name, value, _ in given)
    for target in targets:
        empty = ("empty",) if nothing and not target.text.startswith("/dev/") else ()
        yield from _onto(call, target, "truncate", *empty)
        if call.stdin and not target.text.startswith("/dev/"):
            call.save(target, call.stdin)
    for name, value, known in given:
        if name == "if":
            yield from call.read(Field(value, known))
            for target in targets:
                call.copy(Field(value, known), target)
    endless = any(name == "if" and value in _ENDLESS for name, value, _ in given)
    bounded = any(name == "count" for name, _, _ in given) or "timeout" in call.command.via
    if endless and not bounded and any(not _is_stream(target) for target in targets):
        yield call.effect(Kind.PRIVILEGE, "endless")


def _is_stream(target: Field) -> bool:
    """What has an end of its own, or keeps nothing: a device, ``/dev/null``."""
    return target.known and target.text.startswith("/dev/")


def onto_last(call: Call) -> Effects:
    """ddrescue, qemu-img convert, bmaptool copy: an image, then what it is written onto."""
    if call.command.program == "ddrescue":
        targets = call.operands[1:2]
    else:
        copies = call.command.program == "rpi-imager" or call.command.subcommand in ("convert", "dd", "copy")
        targets = call.operands[-1:] if copies else []
    for item in targets:
        yield from call.write(item, "truncate")


def volume(call: Call) -> Effects:
    yield from subcommand_tables.effects(call, _VOLUMES[call.command.program])


def lvm(call: Call) -> Effects:
    """``lvm lvremove x`` is ``lvremove x``."""
    yield from call.runner.run(call.fields[1:], call, "lvm")


def check(call: Call) -> Effects:
    """Fsck and its kin, on devices only."""
    if any(not item.known or paths.is_device(call.locate(item)) for item in call.operands):
        yield from subcommand_tables.effects(call, _CHECKS[call.command.program])


OPTIONS = {
    **{name: options("-L= -U= -O= -E= -m= -n=") for name in _RAW if name.startswith("mkfs.")},
    "ddrescue": options("-b= -c= -i= -o= -s= -r= -K= -a= -e= -T= -m= -L="),
    "qemu-img": options("-f= -O= -o= -S= -m= -n -p -c | sub"),
    "bmaptool": options("--bmap= | sub"),
    "mkswap": options("-L= -p= -U="),
    "wipefs": options("-o= --offset= -t= --types= -O= -J"),
    **dict.fromkeys(("cryptsetup", "nvme", "zpool", "zfs", "btrfs", "dmsetup", "diskutil", "tmutil"), options("-o= | "
        "sub")),
    "zfs": options("| sub"),
    "sgdisk": options("-n= --new= -d= --delete= -t= --typecode= -c= --change-name= -b= --backup= -i= --info= -u= -U= "
        "-A= -s= "
                      "-l= --load-backup= -R= -N="),
    "badblocks": options("-b= -c= -o= -i= -p= -t= -d= -e="),
    "tune2fs": options("-O= -L= -U= -c= -i= -m= -r= -e= -E= -o= -j="),
    "hdparm": options("--user-master= --security-erase= --security-erase-enhanced= --security-set-pass= "
        "--write-sector= --make-bad-sector="),
}  # fmt: skip

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    **dict.fromkeys(_RAW, raw),
    **dict.fromkeys(_VOLUMES, volume),
    **dict.fromkeys(_CHECKS, check),
    "lvm": lvm,
    **dict.fromkeys(("dd", "gdd", "dcfldd", "dc3dd"), dd),
    **dict.fromkeys(("ddrescue", "qemu-img", "bmaptool", "rpi-imager"), onto_last),
}
