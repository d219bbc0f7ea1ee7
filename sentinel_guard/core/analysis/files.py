"""Programs that read, write, move and delete files: argv -> effects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.commands import UNKNOWN, Call, options
from sentinel_guard.core.analysis.patches import touched
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_SETUID = re.compile(r"0*[4-7][0-7]{3}|0*2[0-7]{3}|[ugoa,=+rwxX-]*[+=][rwxX]*s.*")
_MODE_FLAGS = ("-r", "-w", "-x", "-X", "-s", "-t", "-u", "-g", "-o", "-a")


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
    return call.delete(call.operands)


def shred(call: Call) -> Effects:
    how = () if call.has("-u", "--remove") else ("truncate",)
    for item in call.operands:
        if item.known and paths.is_device(call.locate(item)):
            yield from call.write(item, "truncate")
        else:
            yield from call.delete([item], *how, follow=True)


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


def _landings(call: Call) -> Iterator[tuple[Field, Field]]:
    sources, target, folder = _moved(call)
    for source in sources:
        if target is not None:
            yield source, call.into(target, source) if folder else target


def mv(call: Call) -> Effects:
    sources, _, _ = _moved(call)
    yield from call.delete(sources, "move")
    for source, target in _landings(call):
        yield from call.write(target, "move")
        call.copy(source, target)


def cp(call: Call) -> Effects:
    how = ["recursive"] if call.has("-r", "-R", "--recursive", "-a", "--archive") else []
    link = ["link"] if call.has("-l", "--link", "-s", "--symbolic-link") else []
    for source, target in _landings(call):
        yield from call.read(source, *link)
        yield from call.write(target, *how, *(link or ("truncate",)))
        call.copy(source, target)


def install(call: Call) -> Effects:
    mode = call.parsed.value("-m", "--mode")
    if mode is not None and _SETUID.fullmatch(mode.text):
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
    yield call.effect(Kind.WRITE, path, "link", sure=call.certain(name.text))
    if source.known:
        call.world.link(path, call.locate(source))


def tee(call: Call) -> Effects:
    append = call.has("-a", "--append")
    for item in call.operands:
        yield from call.write(item, "append" if append else "truncate")
        call.save(item, call.stdin, append=append)


def sponge(call: Call) -> Effects:
    return tee(call)


def dd(call: Call) -> Effects:
    for item in call.operands:
        name, _, value = item.text.partition("=")
        if name == "of":
            yield from call.write(Field(value, item.known), "truncate")
        elif name == "if":
            yield from call.read(Field(value, item.known))


def truncate(call: Call) -> Effects:
    for item in call.operands:
        yield from call.write(item, "truncate")


def sed(call: Call) -> Effects:
    scripted = call.has("-e", "--expression", "-f", "--file")
    operands = call.operands[1:] if call.operands[:1] and call.operands[0].text == "" else call.operands  # BSD: -i ''
    for item in operands if scripted else operands[1:]:
        if call.has("-i", "-I", "--in-place"):
            yield from call.write(item, "inplace")
        else:
            yield from call.read(item)


_SHUT = re.compile(r"0*[0-3]?\d{2}|0*[0-7]?[0-3]\d{2}|0+\d?|[ua]*(?:-[wxXst]*r[rwxXst]*|=[wxXst]*)(?:,.*)?")
"""Modes with which the owner can no longer read."""


def chmod(call: Call) -> Effects:
    given = call.has("--reference") or call.has(*_MODE_FLAGS)
    files = call.operands if given else call.operands[1:]
    if not given and call.operands and _SETUID.fullmatch(call.operands[0].text):
        yield call.effect(Kind.PRIVILEGE, "setuid")
    shut = not given and call.operands and _SHUT.fullmatch(call.operands[0].text)
    yield from _attributes(call, files, *(("mode", "shut") if shut or call.has("-r") else ("mode",)))


def chown(call: Call) -> Effects:
    return _attributes(call, call.operands if call.has("--reference") else call.operands[1:], "owner")


def chattr(call: Call) -> Effects:
    return _attributes(call, [o for o in call.operands if o.text[:1] not in "+="], "mode")


def setfacl(call: Call) -> Effects:
    return _attributes(call, call.operands, "mode")


def _attributes(call: Call, files: Iterable[Field], *how: str) -> Effects:
    deep = ("recursive",) if call.has("-R", "--recursive") else ()
    for item in files:
        yield from call.write(item, *how, *deep)


def touch(call: Call) -> Effects:
    for item in call.operands:
        yield from call.write(item, "append")


def mkdir(call: Call) -> Effects:
    for item in call.operands:
        yield from call.write(item, "append")
        if item.known:
            call.world.folder(call.locate(item))


def reader(call: Call) -> Effects:
    for item in call.operands:
        yield from call.read(item)


def searcher(call: Call) -> Effects:
    """grep, rg, awk, jq: the first operand is a pattern, unless an option gave it."""
    given = call.has("-e", "--regexp", "-f", "--file", "--from-file")
    for item in call.parsed.values("-f", "--file", "--from-file"):
        yield from call.read(item)
    for item in call.operands if given else call.operands[1:]:
        yield from call.read(item)


def sort(call: Call) -> Effects:
    yield from reader(call)
    for item in call.parsed.values("-o", "--output"):
        yield from call.write(item, "truncate")


def compress(call: Call) -> Effects:
    """Gzip and its kin put another file in the place of each."""
    for item in call.operands:
        yield from call.read(item)
        if not call.has("-c", "--stdout", "-k", "--keep", "-t", "--test", "-l", "--list"):
            yield from call.delete([item], "move", follow=True)


def rsync(call: Call) -> Effects:
    dry = call.has("-n", "--dry-run", "--list-only") and not call.has("--no-n", "--no-dry-run")
    *sources, target = call.operands or [Field("")]
    for item in sources:
        if paths.is_remote(item.text):
            yield call.effect(Kind.NETWORK, item.text)
        else:
            yield from call.read(item)
            if call.has("--remove-source-files") and not dry:
                yield from call.delete([item], "recursive", "move", follow=True)
    if paths.is_remote(target.text):
        yield call.effect(Kind.NETWORK, target.text, "data")
    elif sources and not dry:
        yield from call.write(target, "append")
        if target.known and any(flag.startswith("--del") for flag in call.command.flags):
            yield call.contents(target.text)


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
        for item in items or [Field("")]:
            path = (
                item if item.text.startswith("/") else Field(f"{folder.text}/{item.text}", item.known and folder.known)
            )
            yield from call.write(path, "append" if item.text == "" else "truncate")
    elif flags & {"-c", "--create", "-r", "--append", "-u", "--update", "--delete"}:
        for item in items:
            yield from call.read(Field(f"{folder.text}/{item.text}", item.known and folder.known))
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
        yield from call.write(folder, "append")


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
    for name, removed in touched(text, strip):
        item = Field(f"{folder.text}/{name}" if folder else name, known=folder.known if folder else True)
        yield from call.delete([item]) if removed else call.write(item, "inplace")


def editor(call: Call) -> Effects:
    """vim, ex, ed, nano: the operands are written; ``-c '!…'`` is a shell text."""
    for item in call.parsed.values("-c", "--cmd"):
        command = item.text.lstrip(": ")
        if command.startswith(("!", "silent !", "sil !")):
            yield from call.runner.script(command.partition("!")[2], call, call.command.program)
    for item in call.operands:
        yield from call.write(item, "inplace")


OPTIONS = {
    "rm": options(
        "--force --recursive --interactive --one-file-system --no-preserve-root --preserve-root --dir --verbose"
    ),
    "shred": options("-n= --iterations= -s= --size= --random-source= --remove --zero --force --exact --verbose"),
    "mv": options(
        "-t= --target-directory= -S= --suffix= --backup --force --no-clobber --no-target-directory --verbose"
    ),
    "cp": options(
        "-t= --target-directory= -S= --suffix= --recursive --archive --link --symbolic-link --no-target-directory"
    ),
    "ln": options("-t= --target-directory= -S= --suffix= --symbolic --force --no-target-directory --relative"),
    "install": options("-t= --target-directory= -m= --mode= -o= --owner= -g= --group= -S= --suffix= --directory"),
    "truncate": options("-s= --size= -r= --reference="),
    "sed": options("-e= --expression= -f= --file= -l= --line-length= --in-place --quiet --silent --regexp-extended"),
    "gsed": options("-e= --expression= -f= --file= -l= --line-length= --in-place"),
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
    "rg": options("-e= --regexp= -f= --file= -m= --max-count= -A= -B= -C= -g= --glob= -t= --type= -T= --type-not="),
    "awk": options("-F= -v= -f= --file= --assign= --field-separator="),
    "jq": options("-f= --from-file= --indent="),
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
    "patch": options(
        "-i= --input= -p= --strip= -d= --directory= -o= --output= -D= --ifdef= -r= --reject-file= -B= -z="
    ),
    "vim": options("-c= --cmd= -u= -S= -w= -W= -T= -U= -i="),
    "ed": options("-p= --prompt="),
    "nano": options("-T= -r= -s= -Y="),
}
OPTIONS |= dict.fromkeys(("egrep", "fgrep", "zgrep", "ugrep"), OPTIONS["grep"])
OPTIONS |= dict.fromkeys(("gawk", "mawk", "nawk"), OPTIONS["awk"])
OPTIONS |= dict.fromkeys(("vi", "ex", "nvim", "view"), OPTIONS["vim"])

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    "rm": rm, "srm": rm, "rimraf": rimraf, "del-cli": rimraf, "trash": rm,
    "rmdir": rmdir, "unlink": rmdir, "shred": shred, "mv": mv, "cp": cp,
    "install": install,
    "ln": ln, "tee": tee, "sponge": sponge, "dd": dd, "truncate": truncate, "sed": sed, "gsed": sed, "chmod": chmod,
    "chown": chown, "chgrp": chown, "chattr": chattr, "setfacl": setfacl, "touch": touch, "mkdir": mkdir, "sort": sort,
    "rsync": rsync, "tar": tar, "bsdtar": tar, "unzip": unzip, "patch": patch, "jq": searcher,
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep", "ugrep", "rg"), searcher),
    **dict.fromkeys(("gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lzma"), compress),
    **dict.fromkeys(("vi", "vim", "nvim", "ex", "ed", "nano", "emacs"), editor),
    **dict.fromkeys(
        ("cat", "tac", "less", "more", "head", "tail", "nl", "bat", "view", "strings", "xxd", "od", "hexdump",
        "base64", "base32",
         "cut", "uniq", "wc", "diff", "cmp", "comm", "paste", "join", "rev", "fold", "column", "sha256sum", "md5sum",
         "sha1sum",
         "zcat", "batcat", "source-highlight", "pr", "fmt", "expand", "cksum", "b2sum", "sha512sum"), reader),
}  # fmt: skip
