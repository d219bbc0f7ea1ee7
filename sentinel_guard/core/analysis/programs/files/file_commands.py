"""File commands (rm, mv, cp, tee, grep …) that read, write, move and delete files: argv -> effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.files import archives, file_attributes, pictures, searches
from sentinel_guard.core.analysis.programs.files.patch_files import enveloped, patched_paths
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]


def rm(call: Call) -> Effects:
    how = []
    if call.has("-r", "-R", "--recursive"):
        how.append("recursive")
    if call.has("-f", "--force"):
        how.append("force")
    return call.delete(call.operands, *how)


def rimraf(call: Call) -> Effects:
    return call.delete(call.operands, "recursive", "force")


def rmdir(call: Call) -> Effects:
    """Only a folder goes, and only an empty one."""
    folders = [item for item in call.operands if not (item.known and _is_no_folder(call, item))]
    return call.delete(folders, "empty")


def _is_no_folder(call: Call, item: Field) -> bool:
    return not item.pattern and call.world.kind(call.locate(item, follow=False)) != "dir"


def unlink(call: Call) -> Effects:
    return call.delete(call.operands)


def shred(call: Call) -> Effects:
    for item in call.operands:
        if item.known and paths.is_device(call.locate(item)):
            yield from call.write(item, "truncate")
        else:
            yield from call.delete([item], "truncate", follow=True)


def _moved(call: Call) -> tuple[list[Field], Field | None, bool]:
    """Sources, destination, and whether that is a folder to put them in: the common grammar of cp, mv, ln, install."""
    into = call.parsed.value("-t", "--target-directory")
    items = call.operands
    if into is not None:
        return items, into, True
    if len(items) < 2:
        return items, None, False
    folder = len(items) > 2 or (not call.has("-T", "--no-target-directory") and call.is_folder(items[-1]))
    return items[:-1], items[-1], folder


_KEEPS = ("-n", "--no-clobber", "-i", "--interactive", "-u", "--update")
"""With these what is there already may stay."""


def _landings(call: Call) -> Iterator[tuple[Field, Field, bool]]:
    """Each source with what it is written to, and whether it surely is; not what is there and is to be kept."""
    sources, target, folder = _moved(call)
    keeps = call.has("-n", "--no-clobber") and not call.has("-f", "--force", "-i", "--interactive")
    for source in sources:
        if target is not None:
            onto = call.into(target, source) if folder else target
            path = call.locate(onto) if onto.known else ""
            there = bool(path) and call.world.kind(path) != ""
            if there and call.has("-b", "--backup", "-S", "--suffix"):
                _keep_backup(call, onto)
            if not (keeps and path and call.world.kind(path) == "file" and path not in call.world.made()):
                yield source, onto, not (there and call.has(*_KEEPS))


_BACKUPS = 20


def _keep_backup(call: Call, item: Field) -> None:
    """What is there gets another name before: ``x~``, or by a number."""
    suffix = call.parsed.value("-S", "--suffix")
    names = [f"{item.text}{suffix.text if suffix is not None and suffix.known else '~'}"]
    numbered = (f"{item.text}.~{number}~" for number in range(1, _BACKUPS))
    names += [name for name in numbered if not call.world.kind(call.locate(name))][:1]
    for name in names:
        call.copy(item, Field(name), sure=False)


def mv(call: Call) -> Effects:
    sources, into, _ = _moved(call)
    if into is None and all(item.known for item in sources):
        return  # mv without a destination only complains
    sure = into is None or into.known
    for effect in call.delete(sources, "move", *call.leaves(into)):
        yield effect if sure else replace(effect, sure=False)
    for source, target, sure in _landings(call):
        yield from call.write(target, "move")
        call.copy(source, target, sure=sure and _takes_the_place(call, target))


def _takes_the_place(call: Call, target: Field) -> bool:
    """Whether what is put there under its name is what is read by it: a link may be replaced itself."""
    return not target.known or call.world.is_replaced_by_name(target.text, call.cwd)


def cp(call: Call) -> Effects:
    how = ["recursive"] if call.has("-r", "-R", "--recursive", "-a", "--archive") else []
    link = ["link"] if call.has("-l", "--link", "-s", "--symbolic-link") else []
    replaces = call.command.program == "install" or call.has("--remove-destination")
    for source, target, sure in _landings(call):
        yield from call.read(source, *link)
        deep = ("unpack",) if how and call.is_folder(target) else ()
        empty = ("empty",) if source.text == "/dev/null" else ()
        yield from call.write(target, *how, *(link or ("truncate",)), *deep, *empty)
        if how or not call.is_folder(source):
            call.copy(source, target, sure=sure and not (replaces and not _takes_the_place(call, target)))
            if link and source.known and target.known:
                call.world.twin(call.locate(source), call.locate(target))


def install(call: Call) -> Effects:
    mode = call.parsed.value("-m", "--mode")
    if mode is not None and file_attributes.SETUID.fullmatch(mode.text):
        yield call.effect(Kind.PRIVILEGE, "setuid")
    if call.has("-d", "--directory"):
        yield from mkdir(call)
    else:
        yield from cp(call)


def ln(call: Call) -> Effects:
    sources, target, folder = _moved(call)
    target = target or Field(".")
    for source in sources:
        name = call.into(target, source) if folder or target.text == "." else target
        yield from _link(call, source, name)


def _link(call: Call, source: Field, name: Field) -> Effects:
    """A relative symbolic link is relative to where it stands."""
    path = call.locate(name, follow=False) if name.known else ""
    if call.has("-s", "--symbolic") and source.known and path and not source.text.startswith("/"):
        source = Field(f"{paths.parent(path)}/{source.text}")
    yield from call.read(source, "link")
    if not path:
        yield call.opaque(name, "write")
        return
    if call.has("-f", "--force") and call.world.kind(path) == "file":
        yield call.effect(Kind.DELETE, path, sure=call.certain(name.text))
    yield call.effect(Kind.WRITE, path, "link", sure=call.certain(name.text))
    if source.known:
        there = call.world.kind(path) != ""
        if there and call.has("-b", "--backup", "-S", "--suffix"):
            _keep_backup(call, name)
        call.world.link(path, call.locate(source), sure=not there or call.has("-f", "--force"))


def in_place(call: Call) -> Effects:
    """fallocate, dos2unix, exiftool and others that change their operands."""
    holes = call.command.program == "fallocate" and call.has(*_HOLES)
    for item in call.operands:
        yield from call.write(item, "truncate" if holes else "inplace")


_HOLES = ("-p", "--punch-hole", "-z", "--zero-range", "-c", "--collapse-range")
"""With which fallocate(1) takes away what a file holds."""


def link(call: Call) -> Effects:
    """``link OLD NEW``."""
    for source, name in zip(call.operands[:1], call.operands[1:2], strict=False):
        yield from _link(call, source, name)


def split(call: Call) -> Effects:
    """split, csplit: the pieces bear a prefix, which is a file's own name where it is meant to be."""
    yield from (effect for item in call.operands[:1] for effect in call.read(item))
    prefix = call.parsed.value("-f", "--prefix") if call.command.program == "csplit" else None
    for item in (prefix,) if prefix is not None else call.operands[1:2] if call.command.program == "split" else ():
        yield from call.write(item, "truncate")


def renamer(call: Call) -> Effects:
    """rename, prename: an expression, then the files; util-linux takes two texts."""
    if call.has("-n", "--nono", "--no-act", "--dry-run", "--just-print", "-V", "--version"):
        return
    skip = 0 if call.has("-e") else 1
    files = call.operands[skip:]
    yield from call.delete([item for item in files if item.known and call.world.kind(call.locate(item))], "move")


def mmv(call: Call) -> Effects:
    """Mmv, mcp: ``FROM TO`` with wildcards."""
    if not call.has("-n"):
        yield from call.delete(call.operands[:1], "move")
        for item in call.operands[1:2]:
            yield from call.write(item, "move")


def trash(call: Call) -> Effects:
    """What can be had back from the bin is moved there; ``gio trash``, ``trash-empty``."""
    program, items = call.command.program, call.operands
    if program == "gio":
        if call.command.subcommand == "trash" and call.has("--empty"):
            yield call.contents(f"{call.world.home}/.local/share/Trash")
        if call.command.subcommand not in ("trash", "remove") or call.has("--empty", "--list", "--restore"):
            return
        how = ("move", "out") if call.command.subcommand == "trash" else ()
        yield from call.delete(items, *how)
    elif program == "trash-empty":
        yield call.contents(f"{call.world.home}/.local/share/Trash")
    else:
        yield from call.delete(items, "move", "out")


def exif(call: Call) -> Effects:
    """Exiftool writes where a tag is assigned."""
    if any("=" in item.text or item.text.startswith("-overwrite") for item in call.fields[1:] if item.text[:1] == "-"):
        yield from in_place(call)
    else:
        yield from reader(call)


def tee(call: Call) -> Effects:
    append = call.has("-a", "--append")
    emptied = call.scope.feeds and not call.stdin  # what it reads is a pipe, and nothing comes by it
    how = ("append",) if append else ("truncate", "empty") if emptied else ("truncate",)
    for item in call.operands:
        yield from call.write(item, *how)
        call.save(item, call.stdin, append=append)


def sponge(call: Call) -> Effects:
    return tee(call)


def truncate(call: Call) -> Effects:
    size = call.parsed.value("-s", "--size")
    empty = ("empty",) if size is not None and size.text.strip("<>=/%") in ("0", "0K", "0M", "0G") else ()
    for item in call.operands:
        yield from call.write(item, "truncate", *empty)


def touch(call: Call) -> Effects:
    for item in call.operands:
        yield from call.write(item, "append")


def mkdir(call: Call) -> Effects:
    for item in call.operands:
        yield from call.write(item, "append", "folder")
        if item.known:
            call.world.folder(call.locate(item))


def reader(call: Call) -> Effects:
    for item in call.operands:
        yield from call.read(item)


def sort(call: Call) -> Effects:
    yield from reader(call)
    for item in call.parsed.values("-o", "--output"):
        yield from call.write(item, "truncate")


def patch(call: Call) -> Effects:
    """The files that the patch names; only those if one is given."""
    source = call.parsed.value("-i", "--input")
    text: str | None = call.stdin
    if source is not None:
        text = call.world.read(call.locate(source)) if source.known else None
    if call.has("--dry-run"):
        return
    if call.operands:
        yield from call.write(call.operands[0], "inplace")
    elif text is None or UNKNOWN in text:
        yield call.opaque("patch", "write")
    else:
        strip = call.parsed.value("-p", "--strip")
        folder = call.parsed.value("-d", "--directory")
        yield from patched(call, text, int(strip.text) if strip and strip.text.isdigit() else 1, folder)


def patched(call: Call, text: str, strip: int, folder: Field | None = None) -> Effects:
    """The effects of applying a patch text."""
    yield from _touched(call, patched_paths(text, strip), folder)


def apply_patch(call: Call) -> Effects:
    """Agents take such a text for their own tool: the patch as an operand, or what is read."""
    given = call.operands[0] if call.operands else None
    text = call.stdin if given is None else given.text if given.known else None
    if text is None or UNKNOWN in text:
        yield call.opaque("apply_patch", "write")
    else:
        yield from _touched(call, enveloped(text))


def _touched(call: Call, files: Iterable[tuple[str, bool]], folder: Field | None = None) -> Effects:
    for name, removed in files:
        item = Field(f"{folder.text}/{name}" if folder else name, known=folder.known if folder else True)
        yield from call.delete([item]) if removed else call.write(item, "inplace")


OPTIONS = {
    **archives.OPTIONS,
    **pictures.OPTIONS,
    "split": options(
        "-b= --bytes= -l= --lines= -n= --number= -a= --suffix-length= -C= --line-bytes= -t= "
        "--additional-suffix= --filter="
    ),
    "csplit": options("-f= --prefix= -b= --suffix-format= -n= --digits="),
    "fallocate": options("-l= --length= -o= --offset="),
    "gio": options("| sub"),
    "setfattr": options("-n= --name= -v= --value= -x= --remove= --restore="),
    "chcon": options("-t= --type= -u= --user= -r= --role= -l= --range= --reference="),
    "rename": options("-e= -E= -s= -S="),
    "exiftool": options("| words"),
    "rm": options(
        "--force --recursive --interactive --one-file-system --no-preserve-root --preserve-root --dir --verbose"
    ),
    "shred": options("-n= --iterations= -s= --size= --random-source= --remove --zero --force --exact --verbose"),
    "mv": options(
        "-t= --target-directory= -S= --suffix= --backup --force --no-clobber --no-target-directory --verbose"
        " --interactive --update"
    ),
    "cp": options(
        "-t= --target-directory= -S= --suffix= --recursive --archive --link --symbolic-link --no-target-directory"
        " --no-clobber --force --interactive --update --backup --remove-destination"
    ),
    "ln": options("-t= --target-directory= -S= --suffix= --symbolic --force --no-target-directory --relative --backup"),
    "install": options("-t= --target-directory= -m= --mode= -o= --owner= -g= --group= -S= --suffix= --directory"),
    "truncate": options("-s= --size= -r= --reference="),
    "chmod": options("--reference= --recursive"),
    "chown": options("--reference= --from= --recursive"),
    "chgrp": options("--reference= --recursive"),
    "chattr": options("-v= -p="),
    "setfacl": options("-m= --modify= -x= --remove= -M= -X= --set= --set-file= --recursive"),
    "touch": options("-d= --date= -t= -r= --reference= --time="),
    "mkdir": options("-m= --mode="),
    "head": options("-n= --lines= -c= --bytes="),
    "tail": options("-n= --lines= -c= --bytes= -s= --pid="),
    "cut": options("-d= --delimiter= -f= --fields= -c= --characters= -b= --bytes= --output-delimiter="),
    "sort": options(
        "-o= --output= -k= --key= -t= --field-separator= -T= --temporary-directory= -S= --buffer-size= --parallel="
    ),
    "base64": options("-w= --wrap="),
    "xxd": options("-l= -s= -c= -g= -o="),
    "od": options("-A= -j= -N= -t= -w="),
    "grep": options("-e= --regexp= -f= --file= -m= --max-count= -A= -B= -C= --include= --exclude= --exclude-dir="),
    "rg": options(
        "-e= --regexp= -f= --file= -m= --max-count= -A= -B= -C= -g= --glob= --iglob= -t= --type= -T= --type-not="
    ),
    "jq": options("-f= --from-file= --indent="),
    "patch": options(
        "-i= --input= -p= --strip= -d= --directory= -o= --output= -D= --ifdef= -r= --reject-file= -B= -z="
    ),
}
OPTIONS |= dict.fromkeys(("egrep", "fgrep", "zgrep", "ugrep"), OPTIONS["grep"])

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    "rm": rm, "srm": rm, "rimraf": rimraf, "del-cli": rimraf, "trash": trash,
    **archives.PROGRAMS,
    "link": link, "split": split, "csplit": split, "mmv": mmv, "exiftool": exif,
    **dict.fromkeys(("rename", "prename", "perl-rename", "file-rename", "rename.ul"), renamer),
    **dict.fromkeys(("gio", "trash-put", "trash-empty", "gvfs-trash", "rmtrash", "rm-safe", "safe-rm", "recycle"),
        trash),
    **dict.fromkeys(("fallocate", "dos2unix", "unix2dos", "mac2unix", "fromdos", "todos", "strip", "patchelf"),
        in_place),
    **dict.fromkeys(("mogrify", "jpegoptim", "optipng", "oxipng", "exiftran", "mp3gain"), pictures.shrink),
    **dict.fromkeys(("setfattr", "chcon", "restorecon"), file_attributes.labels),
    "rmdir": rmdir, "unlink": unlink, "shred": shred, "mv": mv, "cp": cp,
    "install": install,
    "ln": ln, "tee": tee, "sponge": sponge, "truncate": truncate, "chmod": file_attributes.chmod,
    "chown": file_attributes.chown, "chgrp": file_attributes.chown, "chattr": file_attributes.chattr,
    "setfacl": file_attributes.setfacl, "touch": touch, "mkdir": mkdir, "sort": sort,
    "patch": patch, "apply_patch": apply_patch, "applypatch": apply_patch, "jq": searches.searcher,
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep", "ugrep", "rg"), searches.searcher),
    **dict.fromkeys(
        ("cat", "tac", "less", "more", "head", "tail", "nl", "bat", "strings", "xxd", "od", "hexdump",
        "base64", "base32",
         "cut", "uniq", "wc", "diff", "cmp", "comm", "paste", "join", "rev", "fold", "column", "sha256sum", "md5sum",
         "sha1sum",
         "zcat", "batcat", "source-highlight", "pr", "fmt", "expand", "cksum", "b2sum", "sha512sum"), reader),
}  # fmt: skip
