"""Archivers and compressors (tar, zip, gzip, 7z, cpio …), and rsync: argv -> effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sentinel_guard.core.analysis import network_addresses, paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN, Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_KEEPS = ("-c", "--stdout", "--to-stdout", "-k", "--keep", "-t", "--test", "-l", "--list")
_STAYS = ("zstd", "unzstd", "lz4", "pzstd")
"""They keep the file that they pack, unless they are told not to."""


def compress(call: Call) -> Effects:
    """Gzip and its kin put another file in the place of each; ``-r`` goes into folders."""
    keeps = call.has(*_KEEPS) or (call.command.program in _STAYS and not call.has("--rm"))
    deep = ("recursive", "contents") if call.has("-r", "--recursive") else ()
    for item in call.operands:
        yield from call.read(item)
        if not keeps:
            yield from call.delete([item], "move", *(deep if call.is_folder(item) else ()), follow=True)
    for item in call.parsed.values("-o", "--output-filename") if call.command.program in _STAYS else ():
        yield from call.write(item, "truncate")


def rsync(call: Call) -> Effects:
    for item in call.parsed.values("-e", "--rsh"):
        yield from call.runner.script(item.text, call, "rsync") if item.known else ()
    dry = call.has("-n", "--dry-run", "--list-only") and not call.has("--no-n", "--no-dry-run")
    *sources, target = call.operands or [Field("")]
    for item in sources:
        if paths.is_remote(item.text):
            yield call.effect(Kind.NETWORK, item.text)
        else:
            yield from call.read(item)
            if call.has("--remove-source-files") and not dry:
                yield from call.delete([item], "recursive", "move", *call.leaves(target), follow=True)
    if paths.is_remote(target.text):
        yield call.effect(Kind.NETWORK, target.text, "data")
        if not dry and any(flag.startswith("--del") for flag in call.command.flags):
            yield call.effect(Kind.DEPLOY, target.text, "delete")
        elif not dry and network_addresses.is_remote_system_path(target.text):
            yield call.effect(Kind.DEPLOY, target.text)
    elif sources and not dry:
        safe = call.has("--ignore-existing", "-u", "--update", "-b", "--backup")
        yield from call.write(target, *(("append",) if safe else unpacked(call, target)))
        if target.known and any(flag.startswith("--del") for flag in call.command.flags):
            yield call.contents(target.text)
        if _ALL_OF_IT.issuperset(call.command.flags):
            _follow(call, sources, target)


_DEEP = ("-a", "--archive", "-r", "--recursive")
_ALL_OF_IT = frozenset(
    (
        *(*_DEEP, "-v", "--verbose", "-q", "--quiet", "-z", "--compress", "-h", "-i", "-P", "--partial", "--progress"),
        *("--stats", "--info", "-l", "-p", "-t", "-o", "-g", "-D", "-H", "-A", "-X", "-E", "--delete"),
    )
)
"""Options with which nothing is left out."""


def _follow(call: Call, sources: Iterable[Field], target: Field) -> None:
    """What was copied here from here lies at the target, too; of a folder with a slash what is in it."""
    for item in sources:
        into = target if item.text.endswith(("/", "/.")) else call.into(target, item)
        if call.is_folder(item) and call.has(*_DEEP):
            call.copy(item, into)
        elif not call.is_folder(item) and not paths.is_remote(item.text):
            call.copy(item, into if call.is_folder(target) else target)


def unpacked(call: Call, folder: Field) -> tuple[str, ...]:
    """How members that nobody named arrive in a folder: over what is there, if it is one."""
    return ("append", "unpack") if call.is_folder(folder) or folder.text in ("", ".") else ("append",)


def tar(call: Call) -> Effects:
    """Extraction writes the members that are named, else into the folder; creation writes the archive."""
    flags, files, items = set(call.command.flags), call.parsed.values("-f", "--file"), list(call.operands)
    if call.fields[1:] and (bundle := call.fields[1].text)[:1] != "-":
        flags.update(f"-{letter}" for letter in bundle)
        items = items[1:]
        if "f" in bundle and items:
            files = [items.pop(0)]
    folder = call.parsed.value("-C", "--directory") or Field(".")
    if flags & {"-x", "--extract", "--get"}:
        if flags & {"-P", "--absolute-names"}:
            yield call.effect(Kind.WRITE, "/", "append", sure=False)
        over = call.has("--overwrite", "--unlink-first", "--recursive-unlink") or not any(f.text != "-" for f in files)
        arrive = unpacked(call, folder) if over else ("append",)
        for item in items or [Field("")]:
            path = (
                item if item.text.startswith("/") else Field(f"{folder.text}/{item.text}", item.known and folder.known)
            )
            yield from call.write(path, *(arrive if item.text == "" else ("truncate",)))
    elif flags & {"-c", "--create", "-r", "--append", "-u", "--update", "--delete"}:
        for item in items:
            plain = item.text.startswith("/") or folder.text == "."
            yield from call.read(item if plain else Field(f"{folder.text}/{item.text}", item.known and folder.known))
        for item in files:
            yield from call.write(item, "truncate")
    if call.has("--remove-files"):
        yield from call.delete(items, "recursive", follow=True)
    for item in call.parsed.values("--to-command", "--use-compress-program", "-I"):
        yield from call.runner.script(item.text, call, "tar")
    for item in call.parsed.values("--checkpoint-action"):
        if item.text.startswith("exec="):
            yield from call.runner.script(item.text[5:], call, "tar")


def unzip(call: Call) -> Effects:
    if not call.has("-l", "-t", "-p", "-Z", "-v"):
        folder = call.parsed.value("-d") or Field(".")
        for member in call.operands[1:]:
            yield from call.write(call.into(folder, member), "truncate")
        yield from call.write(folder, *(unpacked(call, folder) if call.has("-o") else ("append",)))


_UNPACKS = ("x", "e", "-x", "-e")


def zip_(call: Call) -> Effects:
    """``zip ARCHIVE FILES``: the archive is written; ``-m`` moves the files into it."""
    archive, *items = call.operands or [Field("")]
    for item in items:
        yield from call.read(item)
    if archive.text and not call.has("-sf", "-T", "-h", "--help", "-d", "--show-files"):
        yield from call.write(archive, "append")
    if call.has("-m", "--move"):
        yield from call.delete(items, *(("recursive",) if call.has("-r", "--recurse-paths") else ()), follow=True)


def seven(call: Call) -> Effects:
    """7z, rar, unrar: a letter says what; ``-oDIR`` or a last operand that ends in ``/`` says where to."""
    verb, *items = call.operands or [Field("")]
    texts = [item.text for item in call.fields[1:]]
    if verb.text in _UNPACKS:
        folder = next((Field(text[2:]) for text in texts if text.startswith("-o") and len(text) > 2), None)
        if folder is None and call.command.program in ("unrar", "rar") and items[-1:] and items[-1].text.endswith("/"):
            folder = items.pop()
        for item in items[1:]:
            yield from call.write(call.into(folder, item) if folder is not None else item, "truncate")
        over = "-y" in texts or "-o+" in texts or "-aoa" in texts
        yield from call.write(folder or Field("."), *(unpacked(call, folder or Field(".")) if over else ("append",)))
    elif verb.text in ("a", "u", "m", "d", "rn", "f"):
        for item in items[:1]:
            yield from call.write(item, "append")
        for item in items[1:] if verb.text in "aumf" else ():
            yield from call.read(item)
        if "-sdel" in texts or "-df" in texts or (verb.text == "m" and call.command.program == "rar"):
            yield from call.delete(items[1:], "recursive", follow=True)


def ar(call: Call) -> Effects:
    """``ar rcs LIB FILES`` writes the library, ``ar x LIB`` its members."""
    letters, *items = call.operands or [Field("")]
    mode = letters.text if call.operands else ""
    mode = mode or "".join(flag.lstrip("-") for flag in call.command.flags)
    if set(mode) & set("rqdms") and not set(mode) & set("tpx"):
        for item in items[:1]:
            yield from call.write(item, "append")
        for item in items[1:]:
            yield from call.read(item)
    elif "x" in mode:
        for item in items[1:]:
            yield from call.write(Field(item.text, item.known), "truncate")


def cpio(call: Call) -> Effects:
    """Out: the archive of the names on standard input; in and pass: files below a folder."""
    archive = call.parsed.values("-F", "--file", "-O")
    names = [] if UNKNOWN in call.stdin else [Field(line) for line in call.stdin.splitlines() if line]
    if call.has("-o", "--create"):
        for item in names:
            yield from call.read(item)
        for item in archive:
            yield from call.write(item, "truncate")
    elif call.has("-i", "--extract") and not call.has("-t", "--list"):
        folder = call.parsed.value("-D", "--directory")
        for item in call.operands:
            yield from call.write(call.into(folder, item) if folder is not None else item, "truncate")
        yield from call.write(folder or Field("."), *unpacked(call, folder or Field(".")))
    elif call.has("-p", "--pass-through"):
        for item in call.operands[-1:]:
            yield from call.write(item, "append")


OPTIONS = {
    "rsync": options(
        "-e= --rsh= --exclude= --include= --exclude-from= --include-from= --files-from= -f= --filter= --rsync-path= "
        "-B= --block-size= -M= --remote-option= -T= --temp-dir= -@= --modify-window= --address= --backup-dir= "
        "--bwlimit= --checksum-choice= --checksum-seed= --chmod= --chown= --compare-dest= --compress-choice= "
        "--compress-level= --contimeout= --copy-as= --copy-dest= --debug= --early-input= --groupmap= --iconv= --info= "
        "--link-dest= --log-file= --log-file-format= --max-alloc= --max-delete= --max-size= --min-size= --out-format= "
        "--outbuf= --partial-dir= --password-file= --port= --protocol= --read-batch= --skip-compress= --sockopts= "
        "--stderr= --stop-after= --stop-at= --suffix= --timeout= --usermap= --write-batch= --only-write-batch="
    ),
    "tar": options(
        "-f= --file= -C= --directory= -T= --files-from= -X= --exclude= --exclude-from= -I= --use-compress-program= "
        "--to-command= --checkpoint-action= --transform= --strip-components= --owner= --group= --mode="
    ),
    "unzip": options("-d= -x= -P="),
    "zip": options("-x= -i= -b= -n= -t= -tt= -P= -s= -O= --exclude= --include= --temp-path= --out="),
    "cpio": options("-F= --file= -O= -I= -D= --directory= -H= --format= -C= -R= --owner= -E="),
    **dict.fromkeys(("gzip", "pigz", "bzip2", "pbzip2", "xz", "lzma"), options("-S= --suffix= -T= --threads= -p= "
        "--processes=")),
    **dict.fromkeys(("zstd", "pzstd", "lz4"), options("-o= -T= --threads= -D= -M= -B=")),
    **dict.fromkeys(("7z", "7za", "7zr", "7zz", "p7zip", "rar", "unrar"), options("| words")),
}  # fmt: skip

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    "rsync": rsync, "tar": tar, "bsdtar": tar, "gtar": tar, "unzip": unzip, "zip": zip_, "ar": ar, "cpio": cpio,
    **dict.fromkeys(("7z", "7za", "7zr", "7zz", "p7zip", "rar", "unrar"), seven),
    **dict.fromkeys(("gzip", "gunzip", "pigz", "unpigz", "bzip2", "bunzip2", "pbzip2", "xz", "unxz", "lzma",
        "unlzma", "lzip",
                     "lz4", "unlz4", "zstd", "unzstd", "pzstd", "compress", "uncompress", "brotli"), compress),
}  # fmt: skip
