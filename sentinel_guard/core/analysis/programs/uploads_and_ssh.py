"""File transfer, mail, sockets and keys (scp, sftp, netcat, sendmail, gpg, ssh-keygen): argv -> effects."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from sentinel_guard.core.analysis import network_addresses, paths
from sentinel_guard.core.analysis.expansion.command_and_options import SHELLS, UNKNOWN, Call, options
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.databases import other_stores
from sentinel_guard.core.analysis.socket_rights import ENGINE, GUARD, is_guards, right
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]


def copy(call: Call) -> Effects:
    """scp: ``host:path`` is elsewhere."""
    *sources, target = call.operands or [Field("", known=True)]
    away = [item for item in call.operands if paths.is_remote(item.text)]
    for item in sources:
        if not paths.is_remote(item.text):
            yield from call.read(item)
    for item in away:
        yield call.effect(Kind.NETWORK, item.text, *(("data",) if item is target else ()))
    if network_addresses.is_remote_system_path(target.text):
        yield call.effect(Kind.DEPLOY, target.text)
    if sources and not paths.is_remote(target.text):
        for item in sources if call.is_folder(target) else ():
            yield from call.write(call.into(target, Field(item.text.rpartition(":")[2], item.known)), "truncate")
        yield from call.write(target, "truncate") if not call.is_folder(target) else ()


def _served(call: Call, text: str, known: bool) -> Effects:
    """A command that another machine talks to: a shell is the machine."""
    effects = call.runner.script(text, call, call.command.program)
    if not known or any(e.kind is Kind.EXECUTE and e.target in SHELLS for e in effects):
        yield call.effect(Kind.PRIVILEGE, "remote shell")
    yield from effects


_KEYED = ("6379", "6380", "11211")
"""Ports of redis and memcached."""


def socket(call: Call, item: Field, *, asks: bool) -> Effects:
    """A socket of this machine that is talked to: an engine's gives away the machine, one of a program is its own."""
    path = call.locate(item) if item.known else item.text
    if is_guards(path):
        yield call.effect(Kind.PRIVILEGE, GUARD, sure=False)
    if gives := right(path) if item.known else "":
        only_asks = asks and gives == ENGINE
        yield from () if only_asks else (call.effect(Kind.PRIVILEGE, gives, sure=False),)
    elif item.known and not path.startswith(("/run/", "/var/run/", *paths.TEMPORARY)):
        yield from call.write(item, "append")


def netcat(call: Call) -> Effects:
    """nc, ncat, socat, telnet: whatever is piped in leaves; ``-e`` runs a command."""
    if any(port in item.text for item in call.operands for port in _KEYED):
        yield from other_stores.stdin_commands(call)
    elif call.stdin and subcommand_tables.typed_loss(call.stdin):
        yield call.effect(Kind.DEPLOY, call.command.program, "delete", sure=False)
    for item in call.operands if call.has("-U", "--unixsock") else ():
        yield from socket(call, item, asks=False)
    for item in call.parsed.values("-e", "--exec", "-c", "--sh-exec"):
        yield from _served(call, item.text, item.known) if call.operands or call.has("-l", "--listen") else ()
    for item in call.operands:
        kind, colon, rest = item.text.partition(":")
        if colon and kind.upper() in ("EXEC", "SYSTEM", "SHELL"):
            yield from _served(call, rest.partition(",")[0], item.known)
        elif colon and kind.upper() in ("UNIX-CONNECT", "UNIX-CLIENT", "UNIX"):
            yield from socket(call, Field(rest.partition(",")[0], item.known), asks=False)
        elif colon and kind.upper() in ("OPEN", "FILE", "GOPEN"):
            yield from call.read(Field(rest.partition(",")[0], item.known))
        elif colon and kind.upper() in ("CREATE", "CREAT"):
            yield from call.write(Field(rest.partition(",")[0], item.known), "truncate")
    if call.operands:
        how = () if call.has("-z") else ("data", *unseen(call))
        sent = call.effect(Kind.NETWORK, " ".join(item.text for item in call.operands[:2]), *how)
        runs = call.has("-e", "--exec", "-c", "--sh-exec")
        yield replace(sent, data=UNKNOWN) if runs and not call.has("-l", "--listen") else sent


_PUTS = ("put", "mput", "send", "reput", "append")
_GETS = ("get", "mget", "recv", "reget", "pget")
_REMOVES = ("rm", "delete", "mdelete", "rmdir", "mrm")


def session(call: Call) -> Effects:
    """sftp, ftp, lftp, smbclient: their commands stand in options, in a batch file, on standard input."""
    yield from copy(call) if call.command.program == "sftp" else ()
    host = call.operands[0].text if call.operands else call.command.program
    texts = [item.text for item in call.parsed.values("-e", "-c") if call.command.program in ("lftp", "smbclient")]
    for item in call.parsed.values("-b", "-f"):
        yield from call.read(item)
        texts.append((call.world.read(call.locate(item)) if item.known else None) or "")
    for text in (*texts, call.stdin):
        for line in text.replace(UNKNOWN, "").replace(";", "\n").splitlines():
            yield from _spoken(call, line, host)
    if call.stdin:
        yield call.effect(Kind.NETWORK, host, "data")


def _spoken(call: Call, line: str, host: str) -> Iterator[Effect]:
    """One command of a session."""
    if line.lstrip().startswith("!"):
        yield from call.runner.script(line.lstrip()[1:], call, call.command.program)
        return
    verb, *rest = _words(line) or [""]
    names = [word for word in rest if word[:1] != "-"]
    if verb in _PUTS or (verb == "mirror" and {"-R", "--reverse"} & set(rest)):
        for name in names[:1] if verb != "mput" else names:
            yield from call.read(Field(name))
        yield call.effect(Kind.NETWORK, host, "data")
        if verb == "mirror" and {"--delete", "-e", "--delete-first"} & set(rest):
            yield call.effect(Kind.DEPLOY, host, "delete")
    elif verb in _GETS and names:
        yield from call.write(Field(names[1] if len(names) > 1 and verb == "get" else paths.base(names[0])), "truncate")
    elif verb in _REMOVES and names:
        yield call.effect(Kind.DEPLOY, host, "delete")


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def ssh_import(call: Call) -> Effects:
    """Keys of others that may log in from now on."""
    if call.operands and not call.has("-r", "--remove"):
        yield call.effect(Kind.WRITE, f"{call.world.home}/.ssh/authorized_keys", "append")


def mail(call: Call) -> Effects:
    """mail, mutt, sendmail, swaks: the text from standard input and what is attached leaves."""
    files = call.parsed.values("-a", "-A", "--attach", "--attach-body", "--body", "-i", "--attachment")
    files += call.operands if call.command.program in ("mutt", "neomutt", "mpack") else []
    for item in files:
        yield from call.read(Field(item.text.lstrip("@"), item.known))
    yield call.effect(Kind.NETWORK, call.operands[-1].text if call.operands else "mail", "data")
    words = [item.text for item in call.fields[1:]]
    if any(map(_TO_MANY.search, words)) and not any(map(_is_caught, words)):
        yield call.effect(Kind.DEPLOY, "a letter to many", sure=False)


_CATCHING_PORT = re.compile(r"(?:.*=)?1025")


def _is_caught(word: str) -> bool:
    return bool(network_addresses.CATCHES_MAIL.search(word) or _CATCHING_PORT.fullmatch(word))


_TO_MANY = re.compile(
    r"(?i)(?:^|[\s,<:=])(?:[\w.]+[-_])?(?:all|everyone|everybody|staff|company|customers|users|subscribers|announce\w*|"
    r"newsletter|employees)(?:[-_][\w.]+)?@"
)
"""Addresses behind which many read."""


_NO_VERB = ("onionshare-cli", "qrcp")


def hand(call: Call) -> Effects:
    """croc, wormhole, ffsend: ``send FILE``."""
    words = [item.text for item in call.operands]
    alone = call.command.program in _NO_VERB and not {"receive", "--receive"} & {item.text for item in call.fields[1:]}
    if words[:1] and (alone or words[0] in ("send", "upload", "share", "up", "add")):
        for item in call.operands[0 if alone else 1 :]:
            yield from call.read(item)
        sent = call.effect(Kind.NETWORK, call.command.program, "data")
        yield replace(sent, data=UNKNOWN) if call.stdin else sent


def tftp(call: Call) -> Effects:
    """``tftp HOST -c put FILE``, ``ftpput HOST FILE``."""
    words = [item.text for item in (*call.parsed.values("-c"), *call.operands)]
    if "put" in words or call.command.program in ("ftpput", "ncftpput"):
        for item in call.operands:
            yield from call.read(item)
        yield call.effect(Kind.NETWORK, call.operands[0].text if call.operands else "tftp", "data")


def message(call: Call) -> Effects:
    """mosquitto_pub, logger: a message or a file, to ``-h HOST``, ``-n HOST``; without one it stays here."""
    host = (
        call.parsed.value("-h", "-L")
        if call.command.program == "mosquitto_pub"
        else call.parsed.value("-n", "--server")
    )
    if host is not None:
        for item in call.parsed.values("-f", "--file"):
            yield from call.read(item)
        yield call.effect(Kind.NETWORK, host.text, "data", sure=host.known)
        if call.command.program == "mosquitto_pub" and host.text not in ("localhost", "127.0.0.1", "::1"):
            yield call.effect(Kind.DEPLOY, f"what listens at {host.text}", sure=False)


_PACKS = re.compile(r"\s*(?:sudo )?(?:tar|zip|7z|cpio|find|cat|base64|gzip|openssl|gpg|xxd|dd|pg_dump|mysqldump)\b")


def unseen(call: Call) -> tuple[str, ...]:
    """The word of what goes out by a bare connection, where a program packed it and nobody can say what it is."""
    packed = UNKNOWN in call.stdin and _PACKS.match(call.scope.feeds)
    here = any(network_addresses.is_local_address(item.text) for item in call.fields[1:] if item.text[:1] != "-")
    return ("raw",) if packed and not here else ()


def openssl(call: Call) -> Effects:
    for item in call.parsed.values("-in"):
        yield from call.read(item)
    for item in call.parsed.values("-out", "-keyout", "-writerand", "-sigopt-out"):
        yield from call.write(item, "truncate")
    if call.command.subcommand == "s_client" and call.stdin:
        where = call.parsed.value("-connect", "-host")
        yield call.effect(Kind.NETWORK, where.text if where is not None else "openssl", "data", *unseen(call))


def gpg(call: Call) -> Effects:
    """Keys that are deleted, and the file that is written."""
    for item in call.operands:
        yield from call.read(item)
    for item in call.parsed.values("-o", "--output"):
        yield from call.write(item, "truncate")
    if any(flag.startswith("--export-secret-") for flag in call.command.flags):
        yield call.effect(Kind.READ, f"{call.world.home}/.gnupg/keys", "shown")
    if any(flag.startswith("--delete-") for flag in call.command.flags):
        yield call.effect(Kind.DELETE, f"{call.world.home}/.gnupg/keys")


def ssh_keygen(call: Call) -> Effects:
    """A new key is written; ``-R`` takes a host out of a file; the rest only looks."""
    given = call.parsed.value("-f")
    if call.has("-R", "-H"):
        yield from call.write(given or Field(f"{call.world.home}/.ssh/known_hosts"), "inplace")
    elif call.has("-l", "-y", "-F", "-B", "-L", "-e", "-i", "-Y", "-Q", "-s", "-D", "-r"):
        for item in call.parsed.values("-f"):
            yield from call.read(item)
    else:
        kind = call.parsed.value("-t")
        name = given or Field(f"{call.world.home}/.ssh/id_{kind.text if kind is not None else 'ed25519'}")
        yield from call.write(name, "truncate")
        if not call.has("-p", "-c"):
            yield from call.write(Field(f"{name.text}.pub", name.known), "truncate")


def ssh_copy_id(call: Call) -> Effects:
    for item in call.operands if not call.has("-n") else ():
        yield call.effect(Kind.DEPLOY, f"who may log in on {item.text}", sure=item.known)


_CHANGES_ZONE = re.compile(r"(?im)^\s*(?:update\s+)?(?:add|del(?:ete)?)\s")
_LOOKS_AT_ZONE = frozenset(("-V", "-h"))


def nsupdate(call: Call) -> Effects:
    """https://bind9.readthedocs.io/en/stable/manpages.html#nsupdate: records of a zone change as the text says."""
    texts = [call.stdin] if not call.operands else []
    for item in call.operands:
        yield from call.read(item)
        texts.append(call.script_text(call.locate(item)) or UNKNOWN if item.known else UNKNOWN)
    if _LOOKS_AT_ZONE.isdisjoint(f.text for f in call.fields):
        for text in texts:
            if UNKNOWN in text or _CHANGES_ZONE.search(text):
                yield call.effect(Kind.DEPLOY, "records of a zone", "delete", sure=False)


_MAIL = options(
    "-s= -a= -A= -c= -b= -r= -S= -q= -F= -e= -H= -i= --attach= --body= --to= --from= --server= --header= "
    "-t --attachment="
)
OPTIONS = {
    "scp": options("-c= -D= -F= -i= -J= -l= -o= -P= -S= -X="),
    "sftp": options("-b= -B= -c= -D= -F= -i= -J= -l= -o= -P= -R= -S= -s= -X="),
    "lftp": options("-e= -c= -f= -u= -p="),
    "ftp": options("-s= -P="),
    "smbclient": options("-c= -U= -I= -p= -W= -A="),
    "nc": options("-e= --exec= -c= --sh-exec= -p= -s= -w= -i= -q= -x= -X="),
    "tftp": options("-c= -m= -l= -r="),
    **dict.fromkeys(("ftpput", "ncftpput"), options("-u= -p= -P=")),
    **dict.fromkeys(("mail", "mailx", "s-nail", "mutt", "neomutt", "swaks", "mpack"), _MAIL),
    "sendmail": options("-f= -F= -o= -O= -C= -t"),
    "openssl": options(
        "-in= -out= -keyout= -connect= -host= -port= -key= -cert= -CA= -CAkey= -CAfile= -CApath= -config= -days= "
            "-subj= "
        "-newkey= -pass= -passin= -passout= -k= -K= -iv= -S= -inform= -outform= -keyform= -name= -curve= -algorithm= "
        "-pkeyopt= -extensions= -extfile= -inkey= -certfile= -servername= -starttls= -cipher= -writerand= -rand= -md= "
        "-sign= -verify= -signature= -addext= -set_serial= -iter= | sub words"
    ),
    "gpg": options("-o= --output= -u= --local-user= -r= --recipient= --homedir= --passphrase= --passphrase-file= "
        "--keyserver= "
                   "--pinentry-mode= --default-key= --status-fd= --batch --yes --armor"),
    "ssh-keygen": options("-t= -b= -f= -C= -N= -P= -R= -F= -a= -m= -n= -I= -V= -O= -Y= -s= -D= -E= -z= -w= -Z= -r="),
    "mosquitto_pub": options("-h= -L= -p= -t= -m= -f= -u= -P= -i= -q= --cafile= --cert= --key="),
    "logger": options("-n= --server= -P= --port= -f= --file= -p= --priority= -t= --tag= -u= --socket= -S= --size="),
    "nsupdate": options("-k= -y= -t= -u= -r= -p= -C= -L= -A= -K= -E= -H="),
    "ssh-copy-id": options("-i= -p= -o= -F= -t="),
}  # fmt: skip
_NETCATS = ("nc", "ncat", "netcat", "nc.openbsd", "nc.traditional")
OPTIONS |= dict.fromkeys(_NETCATS, OPTIONS["nc"])
OPTIONS["gpg2"] = OPTIONS["gpg"]

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    "scp": copy, "pscp": copy, "rcp": copy, **dict.fromkeys(("sftp", "ftp", "lftp", "ncftp", "smbclient", "psftp"),
        session),
    **dict.fromkeys((*_NETCATS, "socat", "telnet"), netcat), "mosquitto_pub": message, "logger": message,
    **dict.fromkeys(("mail", "mailx", "s-nail", "mutt", "neomutt", "sendmail", "msmtp", "ssmtp", "swaks", "mpack"),
        mail),
    **dict.fromkeys(("croc", "wormhole", "magic-wormhole", "ffsend", "qrcp", "onionshare-cli"), hand),
    **dict.fromkeys(("tftp", "ftpput", "ncftpput"), tftp),
    "openssl": openssl, "gpg": gpg, "gpg2": gpg, "ssh-keygen": ssh_keygen, "ssh-copy-id": ssh_copy_id,
    "nsupdate": nsupdate,
    **dict.fromkeys(("ssh-import-id", "ssh-import-id-gh", "ssh-import-id-lp"), ssh_import),
}  # fmt: skip
