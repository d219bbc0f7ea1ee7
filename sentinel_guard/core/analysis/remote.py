"""Programs that fetch from and send to other machines: argv -> effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.commands import Call, options
from sentinel_guard.core.analysis.interpreters import SHELLS
from sentinel_guard.core.analysis.scope import Field
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]


def curl(call: Call) -> Effects:
    parsed = call.parsed
    sent = parsed.values(
        "-d",
        "--data",
        "--data-binary",
        "--data-raw",
        "--data-urlencode",
        "-F",
        "--form",
        "-T",
        "--upload-file",
        "--json",
    )
    for item in sent:
        yield from _attached(call, item)
    method = parsed.value("-X", "--request")
    how = ["data"] if sent else _unknown(call)
    how += ["delete"] if method is not None and method.text.upper() == "DELETE" else []
    for item in (*call.operands, *parsed.values("--url")):
        yield call.effect(Kind.NETWORK, item.text, *how, sure=item.known)
    for item in parsed.values("-o", "--output"):
        yield from call.write(item, "truncate")
    if call.has("-O", "--remote-name"):
        for item in call.operands:
            yield from call.write(Field(paths.base(item.text.partition("?")[0]), item.known), "truncate")
    for item in parsed.values("-K", "--config", "-b", "--cookie", "--netrc-file"):
        yield from call.read(item)
    for item in parsed.values("-c", "--cookie-jar", "-D", "--dump-header"):
        yield from call.write(item, "truncate")


def _unknown(call: Call) -> list[str]:
    """Words that are values of this machine: an address or a header may carry what was read."""
    return [] if all(item.known for item in call.fields) else ["data", "value"]


def _attached(call: Call, item: Field) -> Effects:
    """``@file``, ``name=@file``, ``name=<file``; the plain name behind -T."""
    if item in call.parsed.values("-T", "--upload-file"):
        yield from call.read(item)
        return
    for mark in ("@", "=<"):
        _, found, name = item.text.partition(mark)
        if found:
            yield from call.read(Field(name.partition(";")[0], item.known))


def wget(call: Call) -> Effects:
    sent = call.parsed.values("--post-file", "--body-file")
    for item in sent:
        yield from call.read(item)
    for item in call.operands:
        how = ["data"] if sent or call.has("--post-data") else _unknown(call)
        yield call.effect(Kind.NETWORK, item.text, *how, sure=item.known)
    target = call.parsed.value("-O", "--output-document")
    folder = call.parsed.value("-P", "--directory-prefix") or Field(".", known=True)
    if target is not None:
        yield from call.write(target, "truncate")
    else:
        for item in call.operands:
            name = paths.base(item.text.partition("?")[0].rstrip("/"))
            yield from call.write(Field(f"{folder.text}/{name}", folder.known and item.known), "append")


def copy(call: Call) -> Effects:
    """scp, sftp: ``host:path`` is elsewhere."""
    *sources, target = call.operands or [Field("", known=True)]
    away = [item for item in call.operands if paths.is_remote(item.text)]
    for item in sources:
        if not paths.is_remote(item.text):
            yield from call.read(item)
    for item in away:
        yield call.effect(Kind.NETWORK, item.text, *(("data",) if item is target else ()))
    if sources and not paths.is_remote(target.text):
        yield from call.write(target, "truncate")


def _served(call: Call, text: str, known: bool) -> Effects:
    """A command that another machine talks to: a shell is the machine."""
    effects = call.runner.script(text, call, call.command.program)
    if not known or any(e.kind is Kind.EXECUTE and e.target in SHELLS for e in effects):
        yield call.effect(Kind.PRIVILEGE, "remote shell")
    yield from effects


def netcat(call: Call) -> Effects:
    """nc, ncat, socat, telnet: whatever is piped in leaves; ``-e`` runs a command."""
    for item in call.parsed.values("-e", "--exec", "-c", "--sh-exec"):
        yield from _served(call, item.text, item.known) if call.operands or call.has("-l", "--listen") else ()
    for item in call.operands:
        kind, colon, rest = item.text.partition(":")
        if colon and kind.upper() in ("EXEC", "SYSTEM", "SHELL"):
            yield from _served(call, rest.partition(",")[0], item.known)
        elif colon and kind.upper() in ("OPEN", "FILE", "GOPEN"):
            yield from call.read(Field(rest.partition(",")[0], item.known))
        elif colon and kind.upper() in ("CREATE", "CREAT"):
            yield from call.write(Field(rest.partition(",")[0], item.known), "truncate")
    if call.operands:
        yield call.effect(Kind.NETWORK, " ".join(item.text for item in call.operands[:2]), "data")


def lookup(call: Call) -> Effects:
    """dig, host, ping: a name that holds data leaves by DNS."""
    for item in call.operands:
        yield call.effect(Kind.NETWORK, item.text, *(() if item.known else ("data",)), sure=item.known)


OPTIONS = {
    "curl": options(
        "-d= --data= --data-binary= --data-raw= --data-urlencode= -F= --form= -T= --upload-file= --json= --url= -o= "
        "--output= -X= "
        "--request= -H= --header= -u= --user= -A= --user-agent= -e= --referer= -b= --cookie= -c= --cookie-jar= -K= "
        "--config= -m= "
        "--max-time= --connect-timeout= -w= --write-out= -x= --proxy= --retry= -D= --dump-header= --cacert= --cert= "
        "-E= --key= "
        "-r= --range= --limit-rate= --resolve= -C= --continue-at= -z= --netrc-file= -Y= -y= -Q= --remote-name "
        "--location --silent"
    ),
    "wget": options(
        "-O= --output-document= -P= --directory-prefix= -o= --output-file= -a= -U= --user-agent= --header= "
        "--post-data= --post-file= "
        "--body-file= --method= -t= --tries= -T= --timeout= -w= --wait= -Q= -A= -R= -D= -l= --user= --password= -e= "
        "-i= --input-file="
    ),
    "scp": options("-c= -D= -F= -i= -J= -l= -o= -P= -S= -X="),
    "nc": options("-e= --exec= -c= --sh-exec= -p= -s= -w= -i= -q= -x= -X="),
    "dig": options("-b= -c= -f= -k= -m= -p= -q= -t= -x= -y="),
}
OPTIONS["ncat"] = OPTIONS["nc"]

PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    "curl": curl, "wget": wget, "scp": copy, "sftp": copy, "http": lookup, "https": lookup,
    **dict.fromkeys(("nc", "ncat", "netcat", "socat", "telnet"), netcat),
    **dict.fromkeys(("dig", "host", "nslookup", "ping", "traceroute", "whois"), lookup),
}  # fmt: skip
