"""The check ``leak`` (R3): data loss prevention for secrets and personal data that leave machine or workspace.

Rules of this file:
1. BREAK only where it is sure: another machine for certain, and the value seen, or the file named, that goes there.
2. Logging in is no leak: what stands in a header, or goes to whoever gave it out, passes; a value of the person's own
   in a header is asked about.
3. No value is told: its mask, and its keyed hash as evidence.
4. What a git hook found is judged there and told here (``Case.brought``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.programs import credential_hosts
from sentinel_guard.core.analysis.programs.secret_stores import ENVIRONMENT, VARIABLE
from sentinel_guard.core.analysis.secret_names import STORE
from sentinel_guard.core.checks.base import Case
from sentinel_guard.core.checks.finding_texts import evidence, near
from sentinel_guard.core.checks.new_files import NewFiles
from sentinel_guard.core.checks.rules import target_context
from sentinel_guard.core.model import Ask, Command, Effect, Finding, Kind, Response
from sentinel_guard.core.policy.target_placeholders import TargetContext, inside, matches_target
from sentinel_guard.core.secrets.allowlisted_findings import ReviewStatus
from sentinel_guard.core.secrets.egress.outgoing_data import deposits, goes_along, leaves, sendings
from sentinel_guard.core.secrets.egress.sent_arguments import Sending, host_of, is_certain
from sentinel_guard.core.secrets.model import Grade, Hit, Piece, SecretFind
from sentinel_guard.core.secrets.redacted_value import fingerprint, mask
from sentinel_guard.core.secrets.scan_outgoing_content import scan_pieces
from sentinel_guard.core.secrets.scan_text import scan

NAME = "leak"
_LAST = "what has left cannot be taken back"
_SECRETS = (
    *("*/.netrc", "*/.pgpass", "*/.git-credentials", "*/id_dsa", "*/id_ecdsa", "*/id_ed25519", "{home}/.ssh"),
    *("{home}/.aws", "{home}/.aws/credentials", "{home}/.gnupg", "{home}/.gnupg/*", "{home}/.npmrc", "{home}/.pypirc"),
    *("{home}/.kube", "{home}/.kube/config", "{home}/.docker/config.json", "{home}/.config/gh/hosts.yml"),
    *("{home}/.config/gcloud", "{home}/.config/gcloud/*", "/etc/passwd", "/etc/shadow", "/etc/gshadow"),
    *("/etc/sudoers", "/proc/*/environ", f"{STORE}*"),
)
"""What no policy needs to name: whoever has it is somebody else."""
_PUBLIC = frozenset(("sentinel.toml", ".sentinel-secrets.toml"))
"""Restricted for writing: they are committed, and hold no secret."""
_CARRIERS = frozenset(
    ("tar", "bsdtar", "gtar", "zip", "7z", "7za", "rar", "cpio", "rsync", "scp", "aws", "gsutil", "rclone")
)
"""To whom a folder is all that is in it."""
_MATCHERS = frozenset(("grep", "egrep", "fgrep", "zgrep", "ugrep", "rg", "ag", "ack", "git"))
_ANY = frozenset(("", ".", ".*", "^", "$", "=", "^.*$", ".+"))
"""Patterns that match every line, or each line of a file of settings."""
_LOG_IN = "log in with a header, or leave it out; a host that is to have it, the user names under hosts in [leaks]"
_NAMED = 5
"""Values whose hashes are told."""
_KEEPS = frozenset(("secret", "variable"))
"""Subcommands of a forge's program that put settings where settings are kept."""


class LeakCheck:
    """Looks at proposals only."""

    name = NAME

    def __call__(self, case: Case) -> Iterator[Finding]:
        if case.outcome is not None:
            return
        yield from case.brought
        told: set[tuple[str, str]] = set()
        sends = [e for e in case.effects if e.kind is Kind.NETWORK and "data" in e.how and leaves(e)]
        files, others = (_restricted(case, sends), _belongings(case, sends)) if sends else ((), ())
        for finding in (*files, *_sent(case), *_put(case), *others):
            if (finding.rule, finding.what) not in told:
                told.add((finding.rule, finding.what))
                yield finding


CHECK = LeakCheck()


# Restricted files, and those that hold secrets by their nature: by their names


def _restricted(case: Case, sends: Sequence[Effect]) -> Iterator[Finding]:
    """A file that is read by an action that also sends data out."""
    if all(_may_have(case, host_of(e.target)) for e in sends):
        return
    ground = target_context(case, NewFiles(case).is_new)
    for effect in case.effects:
        if effect.kind is not Kind.READ or not (found := _secret(case, effect, ground)):
            continue
        to = next((e for e in sends if goes_along(effect, e)), sends[0])
        if effect.target.startswith(STORE) and (effect.target == VARIABLE or _logs_in(effect, to)):
            continue
        if "key" in effect.how and all(credential_hosts.is_used(effect, e) for e in sends):
            continue
        if _is_loaded(case, effect) and (not to.data or "value" in to.how):
            continue
        yield _file(effect, to, found, ground)


_BODIES = frozenset(
    (
        *("-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--data-urlencode", "-F", "--form", "--json"),
        *("-T", "--upload-file", "--url-query", "--post-data", "--body-data", "--post-file", "--body-file"),
    )
)
"""Options that send something beside headers."""


def _logs_in(read: Effect, send: Effect) -> bool:
    """Whether what is read may be a token to log in with, of the service that it is sent to; the environment as a
    whole, in an address, is none.
    """
    owner = credential_hosts.of_program(read.target.removeprefix(STORE))
    carried = "shown" not in read.how and goes_along(read, send)
    astray = credential_hosts.goes_astray(send.target, (owner,)) if owner else read.target == ENVIRONMENT
    return _only_logs_in(send) and not (carried and astray)


def _only_logs_in(send: Effect) -> bool:
    """Whether all that an HTTP client is given beside the address is headers: a token there is for logging in."""
    command = send.command
    return command is not None and command.program in ("curl", "wget", "http", "https") and not _BODIES & command.flags


def _is_loaded(case: Case, read: Effect) -> bool:
    """Whether a file is sourced: ``. ./.env`` is how a program is given its settings."""
    if read.command is not None:
        return False
    name = paths.base(read.target)
    sourced = (e.command for e in case.effects if e.kind is Kind.EXECUTE and e.target in (".", "source"))
    return any(command and any(paths.base(word) == name for word in command.argv[1:]) for command in sourced)


def _secret(case: Case, effect: Effect, ground: TargetContext) -> tuple[str, str] | None:
    """What a read gives away, and why it must not be: the file itself, or one in a folder that is taken whole."""
    if near(effect.target, ground.root) in _PUBLIC:
        return None
    if case.policy.restricts(effect.target, ground.root):
        return effect.target, "is restricted"
    if matches_target(_SECRETS, effect.target, ground):
        return effect.target, "holds secrets"
    if effect.command is None or not _takes_all(effect):
        return None
    folder = effect.target.removesuffix("/*") or "/"
    held = next((p for p in case.restricted if inside(p, folder)), "")
    return (held, "is restricted") if held else None


def _takes_all(read: Effect) -> bool:
    """Whether all files below a folder are read: by an archive or a copy, each by itself, or line by line."""
    command = read.command
    if command is None or any(flag.startswith(("--exclude", "--include")) for flag in command.flags):
        return False
    if command.program in _MATCHERS:
        return _matches_all(command)
    return command.program in _CARRIERS or read.target.endswith("/*")


def _matches_all(command: Command) -> bool:
    """Whether a search that goes through folders shows every line, also of hidden files."""
    if command.program in ("rg", "ag") and command.flags.isdisjoint(("-u", "--unrestricted", "--hidden", "-.")):
        return False
    if command.flags & {"-v", "--invert-match"}:
        return True
    given = command.argv[1:] if command.flags & {"-e", "--regexp", "-f"} else command.operands[:1]
    return not _ANY.isdisjoint(given)


def _file(read: Effect, sends: Effect, found: tuple[str, str], ground: TargetContext) -> Finding:
    path, why = found
    host = host_of(sends.target)
    what = f"{near(path, ground.root)}, which {why}, would go to {host or sends.target}"
    named = path == read.target and read.sure and sends.sure and goes_along(read, sends)
    response = Response.BREAK if named and is_certain(sends.target, host) else Response.DENY
    if sends.command and sends.command.subcommand in _KEEPS:
        response = Response.ASK
    instead = "leave the file out, or ask the user: sentinel-guard help-me 'what you need'"
    ask = Ask("SEND_SECRET", host or sends.target) if response is Response.ASK else None
    return Finding(NAME, response, what, _LAST, instead, "paths.leak", f"{read.kind} {path}", ask)


_DUMPERS = frozenset(("pg_dump", "pg_dumpall", "mysqldump", "mariadb-dump", "mongodump"))
_MAILERS = frozenset(("mail", "mailx", "s-nail", "mutt", "neomutt", "swaks", "mpack"))
_ELSEWHERE_ONLY = frozenset(("ssh", "mosh", "autossh"))
"""What they read themselves are keys and settings; what is piped into them goes along."""


def _belongings(case: Case, sends: Sequence[Effect]) -> Iterator[Finding]:
    """What is no secret by its name and yet nobody else's: files of the home beside the repository, and the rows that
    a dump pipes out.
    """
    root, home = case.session.root or case.action.root, case.home
    if not root or not home:
        return
    for effect in case.effects:
        dumps = effect.kind is Kind.EXECUTE and effect.target in _DUMPERS
        if not dumps and (not _is_personal(effect, root, home) or case.new(effect.target)):
            continue
        to = next((e for e in sends if (UNKNOWN in e.data if dumps else _is_given(effect, e))), None)
        if to is not None and not _may_have(case, host_of(to.target)):
            what = "rows of a database" if dumps else near(effect.target, root)
            yield _gone(what, host_of(to.target) or to.target, effect)


def _is_given(read: Effect, sends: Effect) -> bool:
    own = read.command is not None and read.command is sends.command and read.command.program in _ELSEWHERE_ONLY
    return goes_along(read, sends) and not own


def _is_personal(read: Effect, root: str, home: str) -> bool:
    """Whether a path lies in the home, in no hidden folder of it, and beside the repository; or a letter takes it."""
    path = read.target
    if read.kind is not Kind.READ or read.command is None:
        return False
    if read.command.program in _MAILERS:
        return not paths.is_temporary(path, root, home)
    keys = path[len(home) :].startswith("/.ssh/") and not path.endswith(".pub")
    hidden = path[len(home) :].startswith("/.") and not keys
    beside = inside(path, home) and not inside(path, root) and not hidden
    return beside and not paths.is_temporary(path, root, home)


def _gone(what: str, host: str, effect: Effect) -> Finding:
    said = f"{what} would go to {host}"
    way = "send what lies in the repository, or ask the user: sentinel-guard help-me 'what you need'"
    return Finding(NAME, Response.ASK, said, _LAST, way, "leak.personal", evidence(effect), Ask("SEND_FILES", host))


# What is in what leaves


def _sent(case: Case) -> Iterator[Finding]:
    root = case.session.root or case.action.root
    sent = list(sendings(case.action, case.effects, case.look, root))
    if not sent:
        return
    contents = _Contents(case)
    for sending in contents.each_once(sent):
        if not _may_have(case, sending.host):
            yield from _content(case, sending, contents)
            yield from _variables(sending)
            yield from _credentials(case, sending, contents)


class _Contents:
    """What goes out in one case: a loop sends the same again and again, a command the same to many places."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._numbers: dict[tuple[Piece, ...], int] = {}
        self._known: dict[int, int] = {}
        """By identity: to compare a content takes as long as it has words."""
        self._found: dict[int, Sequence[Hit]] = {}

    def each_once(self, sent: Sequence[Sending]) -> Iterable[Sending]:
        """``sent`` is kept by the caller as long as this is used."""
        once: dict[tuple[object, ...], Sending] = {}
        for one in sent:
            numbers = self._number(one.content), self._number(one.credentials)
            once.setdefault((*numbers, one._replace(content=(), credentials=())), one)
        return once.values()

    def hits(self, content: tuple[Piece, ...]) -> Sequence[Hit]:
        """The finds in a content, which is looked through once."""
        number = self._number(content)
        if number not in self._found:
            self._found[number] = _hits(self._case, content)
        return self._found[number]

    def _number(self, content: tuple[Piece, ...]) -> int:
        number = self._known.get(id(content))
        if number is None:
            number = self._known[id(content)] = self._numbers.setdefault(content, len(self._numbers))
        return number


def _content(case: Case, sending: Sending, contents: _Contents) -> Iterator[Finding]:
    hits = [hit for hit in contents.hits(sending.content) if not _is_login(hit.leak, sending)]
    grave = [hit for hit in hits if hit.leak.grade is Grade.BLOCK]
    if grave:
        response = Response.BREAK if sending.sure else Response.ASK
        found = _leak(case, response, "SEND_SECRET", grave, sending.where)
        yield replace(found, evidence="; ".join((found.evidence, *sending.notes)))
    elif doubtful := [hit for hit in hits if hit.path]:
        what = f"{_what(doubtful)} goes to {sending.where}"
        yield Finding(
            NAME, Response.HINT, what, _LAST, "look at it once more", _rule(doubtful), _evidence(case, doubtful)
        )


def _variables(sending: Sending) -> Iterator[Finding]:
    """Secrets that are not seen: a variable is called like one."""
    if sending.variables:
        what = f"the secret in {' and '.join(f'${name}' for name in sending.variables)} would go to {sending.where}"
        ask = Ask("SEND_SECRET", sending.where)
        yield Finding(NAME, Response.ASK, what, _LAST, _LOG_IN, "leak.variable", ", ".join(sending.variables), ask)


def _credentials(case: Case, sending: Sending, contents: _Contents) -> Iterator[Finding]:
    """A value of the person's own, said to log in: the person may well mean it, and knows to whom."""
    hits = [hit for hit in contents.hits(sending.credentials) if hit.leak.kind == "known"]
    if hits := [hit for hit in hits if not _is_login(hit.leak, sending)]:
        yield _leak(case, Response.ASK, "LOG_IN", hits, sending.where)


def _put(case: Case) -> Iterator[Finding]:
    """What is written outside of the workspace."""
    root = case.session.root or case.action.root
    for deposit in deposits(case.action, case.effects, root, case.home):
        if grave := [hit for hit in _hits(case, deposit.content) if hit.leak.grade is Grade.BLOCK]:
            yield _leak(case, Response.ASK, "WRITE_SECRET", grave, deposit.path)


def _hits(case: Case, content: Sequence[Piece]) -> Sequence[Hit]:
    """The finds in what goes; no comment in it allows anything, since the agent may have written that, too."""
    if not content:
        return ()
    hits = scan_pieces(content, known=case.known().everywhere(), allow=case.policy.leaks.allow, comments=False).hits
    return [hit for hit in hits if not _is_false(case, hit)] if hits else ()


def _is_false(case: Case, hit: Hit) -> bool:
    """Whether a person said that it is no secret; one that may stay in its file may not leave."""
    row = case.baseline().row(hit)
    return row is not None and row.said is ReviewStatus.FALSE


def _may_have(case: Case, host: str) -> bool:
    """Whether the policy names a host, or a domain above it."""
    return bool(host) and _belongs(host, case.policy.leaks.hosts)


def _is_login(leak: SecretFind, sending: Sending) -> bool:
    """Whether a value goes to whoever gave it out."""
    if sending.published or not sending.host:
        return False
    alike = scan(leak.value, generic=False) if leak.kind == "known" else ()
    return _belongs(sending.host, (*leak.hosts, *(host for other in alike for host in other.hosts)))


def _belongs(host: str, domains: Iterable[str]) -> bool:
    return any(host == domain.lower() or host.endswith(f".{domain.lower()}") for domain in domains)


# In words


def _leak(case: Case, response: Response, action: str, hits: Sequence[Hit], where: str) -> Finding:
    what = f"{_what(hits)} would go to {where}"
    ask = Ask(action, where) if response is Response.ASK else None
    return Finding(NAME, response, what, _LAST, _way(where), _rule(hits), _evidence(case, hits), ask)


def _way(where: str) -> str:
    if where.startswith("/"):
        return "write it without the value, or into a file of the repository that git ignores"
    if "." in where:
        return f"leave the value out; if {where} is to have it, the user names it under hosts in [leaks] of the policy"
    return "leave the value out, or ask the user: sentinel-guard help-me 'what you need'"


def _what(hits: Sequence[Hit]) -> str:
    first = hits[0]
    place = f" in {first.path}:{first.line}" if first.path else ""
    more = f" (and {len(hits) - 1} more)" if len(hits) > 1 else ""
    shown = "" if first.leak.kind == "pii" else f" {mask(first.leak.value, first.leak.rule)}"
    return f"{first.leak.what}{shown}{place}{more}"


def _rule(hits: Sequence[Hit]) -> str:
    return f"leak.{hits[0].leak.kind}"


def _evidence(case: Case, hits: Sequence[Hit]) -> str:
    """Rule and keyed hash of each value, so that equal ones can be matched."""
    said = [f"{hit.leak.rule} {fingerprint(hit.leak.value, case.key) if case.key else '-'}" for hit in hits[:_NAMED]]
    more = [f"{len(hits) - _NAMED} more"] if len(hits) > _NAMED else []
    return ", ".join((*dict.fromkeys(said), *more))
