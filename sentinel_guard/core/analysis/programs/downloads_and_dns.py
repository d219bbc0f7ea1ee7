"""HTTP clients, downloaders, DNS lookups (curl, wget, dig): argv -> effects. Other senders: ``uploads_and_ssh.py``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple, Self

from sentinel_guard.core.analysis import network_addresses, paths
from sentinel_guard.core.analysis.expansion.command_and_options import (
    UNKNOWN,
    Call,
    options,
    without_option,
)
from sentinel_guard.core.analysis.expansion.option_files import options_of_file
from sentinel_guard.core.analysis.expansion.secret_variables import secret_variables
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs import credential_hosts, uploads_and_ssh
from sentinel_guard.core.analysis.programs.cloud import http_changes
from sentinel_guard.core.analysis.secret_names import is_secret
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_SENDS = (
    *("-d", "--data", "--data-ascii", "--data-binary", "--data-raw", "--data-urlencode", "-F", "--form", "--json"),
    *("-T", "--upload-file", "--url-query"),
)
_MAY_READ = ("-H", "--header", "--proxy-header")
"""``-H @file`` sends the file's lines."""
_KEEPS = ("-c", "--cookie-jar", "-D", "--dump-header", "--stderr", "--trace", "--trace-ascii", "--libcurl", "--hsts",
          "--alt-svc", "--etag-save")  # fmt: skip


def _with_options(call: Call, files: Sequence[Field]) -> Effects:
    """The same with the options that stand in files, in their place."""
    taken = [call.fields[0], *without_option(call.fields[1:], _CURL, "-K", "--config")]
    for item in files:
        yield from call.read(item)
        text = call.stdin if call.is_stdin(item) else call.world.read(call.locate(item)) if item.known else None
        told = options_of_file((text or "").replace(UNKNOWN, ""))
        taken += told or []
        yield from [call.opaque(item, "code")] if told is None else ()
        taken += [Field("-T"), item] if is_secret(call.locate(item)) else []
    ran = call.runner.run(taken, call, "curl")
    yield from (e.with_how(e.how - {"login"}) for e in ran if e.kind is not Kind.EXECUTE)


def curl(call: Call) -> Effects:
    parsed = call.parsed
    if files := parsed.values("-K", "--config"):
        yield from _with_options(call, files)
        return
    sent = parsed.values(*_SENDS) + [item for item in parsed.values(*_MAY_READ) if _is_file(item)]
    for item in sent:
        yield from _attached(call, item)
    cookies = [item for item in parsed.values("-b", "--cookie") if "=" not in item.text]
    for item in (*cookies, *parsed.values("--netrc-file")):
        yield from call.read(item)
    urls = [*call.operands, *parsed.values("--url")]
    talks = any(item.text.startswith(("telnet:", "smtp:", "gopher:")) for item in urls) and call.stdin
    method = parsed.value("-X", "--request")
    asks = not sent and (method is None or method.text.upper() in ("GET", "HEAD"))
    for item in parsed.values("--unix-socket", "--abstract-unix-socket"):
        yield from uploads_and_ssh.socket(call, item, asks=asks)
    packed = any(item.text.endswith("-") and item.text[:1] in "@-=f" for item in sent) or "=@-" in " ".join(
        item.text for item in sent
    )
    how = (
        ["data", *(uploads_and_ssh.unseen(call) if packed else ())]
        if cookies or talks or any(_tells(call, item) for item in sent)
        else _unknown(call)
    )
    how = [*how, "login"] if credential_hosts.logs_in(call, urls, sent) else how
    for item in urls:
        yield from _address(call, item, how, method)
    yield from _kept(call)


def _tells(call: Call, item: Field) -> bool:
    """Whether what is sent is of this machine: a file, standard input, a value; a literal is the agent's own words."""
    files = call.parsed.values("-T", "--upload-file")
    return _carried(item) or "@" in item.text or "=<" in item.text or item in files


def _is_file(item: Field) -> bool:
    return item.text.startswith("@")


def _address(call: Call, item: Field, how: Sequence[str], method: Field | None = None) -> Effects:
    """What asking for an address does; to delete on this machine is a developer's own business."""
    if item.text.lower().startswith("file:"):
        yield from call.read(Field(re.sub(r"^file:(?://[^/]*)?", "", item.text, flags=re.IGNORECASE), item.known))
        return
    name, away = method.text.upper() if method is not None else "", not network_addresses.is_local_address(item.text)
    sent = [given.text for given in call.parsed.values(*_SENDS)]
    deletes = away and http_changes.deletes(name, item.text, sent)
    changes = name in ("PUT", "PATCH", "POST")
    live = changes and _LIVE.search(" ".join(call.command.argv))
    if away and not deletes and (live or http_changes.changes(name, item.text, sent)):
        yield call.effect(Kind.DEPLOY, item.text, sure=False)
    if (http_changes.CHATS.search(item.text) or http_changes.CHATS.search(item.source)) and call.parsed.values(*_SENDS):
        yield call.effect(Kind.DEPLOY, item.text or item.source, sure=False)
    if http_changes.MAILS.search(item.text) and (call.parsed.values(*_SENDS) or changes):
        yield call.effect(Kind.DEPLOY, item.text, sure=False)
    if not deletes and _empties(call, item, method):
        yield call.effect(Kind.DATABASE, item.text, "delete")
    yield call.effect(Kind.NETWORK, item.text, *how, *(("delete",) if deletes else ()), sure=item.known)


_LIVE = re.compile(r"(?i)(?:environment\w*|env|stage)[\"']?\s*[=:/]{1,2}\s*[\"']?(?:prod|production|live)\b")
"""Words of a request that say that it is about what others use."""
_WHOLE = re.compile(r"[^?]*:\d+/(?:_all|\*|_data_stream/\*)/?(?:\?.*)?")
_ALL = re.compile(r"\"match_all\"|\*:\*")


def _empties(call: Call, item: Field, method: Field | None) -> bool:
    """Whether a store on this machine loses all it has: ``DELETE :9200/_all``, ``_delete_by_query`` of everything."""
    if method is not None and method.text.upper() == "DELETE":
        return _WHOLE.fullmatch(item.text) is not None
    sent = call.parsed.values(*_SENDS)
    queries = "_delete_by_query" in item.text or ("/update" in item.text and any("delete" in s.text for s in sent))
    return queries and any(_ALL.search(s.text) for s in sent)


def _kept(call: Call) -> Effects:
    """The files that curl writes."""
    parsed = call.parsed
    folder = parsed.value("--output-dir")
    names = list(parsed.values("-o", "--output"))
    if call.has("-O", "--remote-name", "--remote-name-all"):
        names += [Field(paths.base(item.text.partition("?")[0]), item.known) for item in call.operands]
    for item in names:
        plain = folder is None or item.text.startswith(("/", "-"))
        yield from call.write(item if plain or folder is None else call.into(folder, item), "truncate")
    for item in parsed.values(*_KEEPS):
        yield from call.write(item, "truncate")


def _carried(item: Field) -> bool:
    """Whether a word may hold what was read: it is not known, or it is not as it was written."""
    return not item.known or "$" in item.source or "`" in item.source


class SentWords(NamedTuple):
    """What the words of a command say of all that it sends, however many addresses it names."""

    written: tuple[str, ...]
    dumps: bool
    """It is fed what a database holds, or names a file of one."""
    credentials: tuple[credential_hosts.Hosts, ...]
    carries: bool
    """A word that is sent may hold what was read."""

    @classmethod
    def of(cls, call: Call) -> Self:
        curls = call.command.program in ("curl", "curlie", "wget", "wget2")
        sent = [*call.parsed.values(*_SENDS, "--post-data", "--body-data"), *call.operands] if curls else call.fields
        return cls(
            _written(call),
            bool(_DUMPS.match(call.scope.feeds)) or any(_STORE_FILE.fullmatch(f.text) for f in call.fields[1:]),
            credential_hosts.owners((item.source for item in call.fields), call.scope.variables),
            any(map(_carried, sent)),
        )

    def annotated(self, effect: Effect) -> Effect:
        """With UNKNOWN for what was loaded before: in an address or a header that is for logging in."""
        effect = replace(effect, written=self.written) if self.written else effect
        if self.dumps and "data" in effect.how and not network_addresses.is_local_address(effect.target):
            return replace(effect, how=effect.how | {"raw"}, data=UNKNOWN)
        if self.credentials and credential_hosts.goes_astray(effect.target, self.credentials):
            return replace(effect, how=effect.how | {"data", "foreign"})
        return replace(effect, data=UNKNOWN) if self.carries and "data" in effect.how else effect


_STORE_FILE = re.compile(
    r"(?:--[\w-]+=|\w+=)?@?[^@\s]*\.(?:db|sqlite3?|dump|bak|rdb|mdb|accdb|pst|mbox|kdbx|vmdk|qcow2|sql\.gz|dump\.gz)"
)
"""A file that holds a whole database, or somebody's mail."""
_DUMPS = re.compile(
    r"\s*(?:psql|pg_dump|pg_dumpall|mysql|mysqldump|mariadb|mariadb-dump|mongoexport|mongodump|bq|snowsql|clickhouse-client|"
    r"sqlcmd|redis-cli|sqlite3|aws (?:dynamodb|athena|rds-data)|heroku pg)\b"
)
"""Who hands on what a database holds."""


def _written(call: Call) -> tuple[str, ...]:
    """The words of a command that is given secrets in variables, with these as they are written."""
    found = [_secrets(item, call) if _carried(item) else [] for item in call.fields]
    if not any(found):
        return ()
    return tuple(_shown(item, names) for item, names in zip(call.fields, found, strict=True))


def _secrets(item: Field, call: Call) -> list[str]:
    """A name that still stands in a word whose text is known was quoted."""
    names = secret_variables(item.source, call.scope)
    return [name for name in names if not (item.known and re.search(rf"\$\{{?{name}\b", item.text))]


def _shown(item: Field, names: Sequence[str]) -> str:
    """A word with no other dollars than those of these names."""
    if not names:
        return item.text.replace("$", "")
    plain = re.sub(r"\$\(\s*printenv\s+(\w+)\s*\)|\$\{!?(\w+)[^{}]*\}", r"${\1\2}", item.source)
    return re.sub(r"\$(?!\{?(?:" + "|".join(names) + r")\b)|[\"']", "", plain)


def _unknown(call: Call) -> list[str]:
    """Words that are values of this machine: an address or a header may carry what was read."""
    return ["data", "value"] if any(_carried(item) for item in call.fields) else []


def _attached(call: Call, item: Field) -> Effects:
    """``@file``, ``name=@file,other``, ``name=<file``; the plain name behind -T."""
    if item in call.parsed.values("-T", "--upload-file"):
        yield from call.read(item)
        return
    for mark in ("@", "=<"):
        _, found, name = item.text.partition(mark)
        for one in name.partition(";")[0].split(",") if found else ():
            yield from call.read(Field(one.strip('"'), item.known))


def wget(call: Call) -> Effects:
    parsed = call.parsed
    sent = parsed.values("--post-file", "--body-file", "-i", "--input-file")
    for item in sent:
        yield from call.read(item)
    how = ["data"] if sent or call.has("--post-data", "--body-data") else _unknown(call)
    for item in call.operands or parsed.values("-i", "--input-file"):
        yield from _address(call, item, how, parsed.value("--method"))
    for item in parsed.values("-o", "--output-file", "-a", "--append-output", "--save-cookies"):
        yield from call.write(item, "append")
    target = parsed.value("-O", "--output-document")
    if target is not None:
        yield from call.write(target, "truncate")
    elif not call.has("--spider"):
        yield from _named_by_address(call, parsed.value("-P", "--directory-prefix"), "append")


def _named_by_address(call: Call, folder: Field | None, how: str) -> Effects:
    into = folder or Field(".")
    for item in call.operands:
        name = paths.base(item.text.partition("?")[0].rstrip("/"))
        yield from call.write(Field(f"{into.text}/{name}", into.known and item.known), how)


_METHOD_NAMES = frozenset(("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"))
_OFFLINE = ("--offline", "--no-offline")
_ITEM = re.compile(r"[\w.\[\]-]*(?::=|=|:|)@(.+)")


def httpie(call: Call) -> Effects:
    """http, https, xh: ``[METHOD] URL [name=value name=@file name@file]``."""
    items = list(call.operands)
    method = items.pop(0) if items and items[0].text.upper() in _METHOD_NAMES else None
    files = [
        Field(match[1].partition(";")[0], item.known) for item in items[1:] if (match := _ITEM.fullmatch(item.text))
    ]
    for item in files:
        yield from call.read(item)
    sends = files or call.stdin or len(items) > 1 or call.has("--raw")
    told = [item.text for item in call.fields if item.text in _OFFLINE]
    for item in items[:1] if told[-1:] != ["--offline"] else ():  # else the request is printed, and not sent
        yield from _address(call, item, ["data"] if sends else _unknown(call), method)
    for item in call.parsed.values("-o", "--output"):
        yield from call.write(item, "truncate")


def downloader(call: Call) -> Effects:
    """aria2c, axel, yt-dlp: what they fetch, where they put it, what they run behind it."""
    parsed = call.parsed
    for item in parsed.values("-i", "--input-file", "-a", "--batch-file"):
        yield from call.read(item)
    how = _unknown(call)
    for item in call.operands:
        yield from _address(call, item, how)
    folder, name = parsed.value("-d", "--dir", "-P"), parsed.value("-o", "--out", "--output", "-O")
    if call.command.program == "lwp-download":
        name = call.operands[1] if call.operands[1:] else None
    if name is not None:
        yield from call.write(call.into(folder, name) if folder is not None else name, "truncate")
    else:
        yield from _named_by_address(call, folder, "append")
    for item in parsed.values("--exec", "--on-download-complete", "--on-download-start", "--on-download-stop"):
        yield from call.runner.script(item.text, call, call.command.program)


_PATTERNS = frozenset(("ping", "ping6", "hping3", "nping"))


def lookup(call: Call) -> Effects:
    """dig, host, ping: a name that holds data leaves by DNS; a pattern or a file in the packets themselves."""
    for item in call.parsed.values("-E", "--file") if call.command.program == "hping3" else ():
        yield from (*call.read(item), call.effect(Kind.NETWORK, "a host", "data"))
    for item in call.parsed.values("-p", "--pattern", "-e", "--sign") if call.command.program in _PATTERNS else ():
        if _carried(item):
            yield replace(call.effect(Kind.NETWORK, "a host", "data", "value", sure=False), data=UNKNOWN)
    for item in call.operands:
        yield call.effect(Kind.NETWORK, item.text, *(("data", "value") if _carried(item) else ()), sure=item.known)


_WINDOWS = ("xdg-open", "open", "wslview", "sensible-browser")  # the person sees it, and nobody else


def browse(call: Call) -> Effects:
    """lynx, w3m, xdg-open: a page is asked for, or a file is shown."""
    posts = [item for flag in ("-post_data", "-post") for item in _behind(call, flag)]
    for item in posts if call.command.program == "w3m" else ():
        yield from call.read(item)
    how = ["data"] if posts else _unknown(call)
    for item in call.operands:
        if "://" in item.text:
            yield from _address(call, item, how)
        elif call.command.program not in _WINDOWS and item not in posts:
            yield from call.read(item)


def _behind(call: Call, flag: str) -> list[Field]:
    """The word behind an option of one dash."""
    return [after for item, after in pairwise(call.fields) if item.text == flag]


def getent(call: Call) -> Effects:
    if call.operands and call.operands[0].text in ("hosts", "ahosts", "ahostsv4", "ahostsv6", "query"):
        yield from lookup(call)


_OTHER_DOWNLOADERS = ("fetch", "lwp-download", "lwp-request", "wcurl", "saldl", "snarf", "gdown", "you-get")
_CURL = options(
    "-d= --data= --data-ascii= --data-binary= --data-raw= --data-urlencode= -F= --form= --form-string= -T= "
    "--upload-file= --json= --url= --url-query= -o= --output= --output-dir= -X= --request= -H= --header= "
    "--proxy-header= -u= --user= -A= --user-agent= -e= --referer= -b= --cookie= -c= --cookie-jar= -K= --config= "
    "-m= --max-time= --connect-timeout= -w= --write-out= -x= --proxy= --retry= --retry-delay= --retry-max-time= "
    "-D= --dump-header= --cacert= --capath= --cert= -E= --key= --pass= -r= --range= --limit-rate= --resolve= "
    "--connect-to= --interface= -C= --continue-at= -z= --time-cond= --netrc-file= -Y= -y= -Q= --quote= -P= -t= "
    "--stderr= --trace= --trace-ascii= --libcurl= --hsts= --alt-svc= --etag-save= --etag-compare= --unix-socket= "
    "--max-filesize= --max-redirs= --mail-from= --mail-rcpt= --oauth2-bearer= --aws-sigv4= --ciphers= --noproxy= "
    "--proxy-user= --parallel-max= --rate= --socks5= --socks5-hostname= --doh-url= --dns-servers= --tls-max= "
    "--variable= --expand-url= --expand-data= --keepalive-time= --remote-name --remote-name-all "
    "--remote-header-name --location --silent --show-error --fail --include --head --get --insecure --compressed "
    "--verbose --create-dirs --fail-with-body"
)
OPTIONS = {
    "curl": _CURL,
    "curlie": _CURL,
    "wget": options(
        "-O= --output-document= -P= --directory-prefix= -o= --output-file= -a= --append-output= -U= --user-agent= "
        "--header= --post-data= --post-file= --body-data= --body-file= --method= -t= --tries= -T= --timeout= -w= "
        "--wait= -Q= --quota= -A= --accept= -R= --reject= -D= --domains= -l= --level= --user= --password= -e= "
        "--execute= -i= --input-file= "
        "--save-cookies= --load-cookies= -B= --base= -X= -I= --limit-rate= --waitretry= --referer= "
        "--ca-certificate= --certificate= --private-key= --cut-dirs= --default-page= --spider --quiet --no-verbose "
        "--continue --recursive --mirror --no-check-certificate"
    ),
    **dict.fromkeys(
        ("http", "https", "xh", "xhs"),
        options("-o= --output= -a= --auth= -A= --auth-type= --session= -s= --style= -p= --print= --timeout= --proxy= "
                "--verify= --cert= --cert-key= --raw= --max-redirects= --bearer="),
    ),
    "aria2c": options("-o= --out= -d= --dir= -i= --input-file= -x= -s= -j= -k= --header= -U= --on-download-complete= "
                      "--on-download-start= --on-download-stop= -l= --log= --max-tries= -t= -m="),
    **dict.fromkeys(_OTHER_DOWNLOADERS, options("-o= --output= -O= -m= -d= --dir= -t= -T= --out=")),
    "axel": options("-o= --output= -n= -s= -H= -U= -T="),
    **dict.fromkeys(("yt-dlp", "youtube-dl"), options("-o= --output= -f= --format= -P= --exec= -a= --batch-file= "
        "--cookies= --cookies-from-browser= -S=")),
    "dig": options("-b= -c= -f= -k= -m= -p= -q= -t= -x= -y="),
    **dict.fromkeys(("ping", "ping6"), options("-c= -i= -I= -l= -m= -M= -p= -Q= -s= -S= -t= -T= -w= -W=")),
    "hping3": options("-E= --file= -e= --sign= -d= --data= -p= -c= -i= -I= -a= -s="),
    "host": options("-c= -m= -N= -R= -t= -W="),
    "traceroute": options("-f= -g= -i= -m= -N= -p= -q= -s= -w= -z="),
    "whois": options("-h= -p="),
}  # fmt: skip
PROGRAMS: dict[str, Callable[[Call], Effects]] = {
    "curl": curl, "curlie": curl, "wget": wget, "wget2": wget,
    **dict.fromkeys(("http", "https", "xh", "xhs"), httpie),
    **dict.fromkeys(("aria2c", "axel", "yt-dlp", "youtube-dl", *_OTHER_DOWNLOADERS), downloader),
    **dict.fromkeys(("dig", "host", "nslookup", "ping", "ping6", "traceroute", "whois", "drill", "kdig", "dog",
                     "doggo", "mtr", "tracepath", "fping", "arping", "hping3", "delv"), lookup),
    **dict.fromkeys(("lynx", "w3m", "links", "elinks", *_WINDOWS), browse),
    "getent": getent, "resolvectl": getent, "systemd-resolve": lookup,
    **uploads_and_ssh.PROGRAMS,
}  # fmt: skip
OPTIONS |= uploads_and_ssh.OPTIONS
