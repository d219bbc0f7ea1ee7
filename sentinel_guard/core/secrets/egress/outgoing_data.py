"""Find what an action's effects send to other machines, and what they write outside of the workspace.

Rules of this file:
1. A file is looked into only where an effect sends it: an action that sends nothing costs a look at its effects.
2. Who logs in must say who they are: credentials (headers, ``-u``, the user in an address) are told from content.
3. Of git only the addresses are looked at: what it pushes is judged by the repository's hooks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from sentinel_guard.core.analysis import network_addresses, paths
from sentinel_guard.core.analysis.expansion.command_and_options import UNKNOWN
from sentinel_guard.core.analysis.programs import credential_hosts
from sentinel_guard.core.analysis.secret_names import is_secret
from sentinel_guard.core.analysis.world import Peek
from sentinel_guard.core.model import Action, Effect, Kind
from sentinel_guard.core.secrets.egress import agent_tool_calls, secret_variables
from sentinel_guard.core.secrets.egress.sent_arguments import (
    ASKERS,
    FORGES,
    Sending,
    addressed,
    apart,
    host_of,
    is_certain,
    pieces,
    posted,
    split,
)
from sentinel_guard.core.secrets.model import Piece

Look = Callable[[str], Peek | None]
"""An absolute path -> the beginning of the text file there."""

MAX_FILES, MAX_TEXT = 20, 512 * 1024
"""Files of one sending that are looked into, and characters of them all: about a sixth of a second."""
_STDIN = frozenset(("-", "@-", "/dev/stdin", "@/dev/stdin", "--input"))
_TOLD = frozenset(("curl", "curlie", "wget", "wget2", "gh", "glab", "hub", "tea", "aws", "gsutil", "gcloud"))
"""They read standard input only where a word says so; the others that send read it anyway."""


class Deposit(NamedTuple):
    """A text that is written outside of the workspace."""

    path: str
    content: tuple[Piece, ...]


def sendings(action: Action, effects: Sequence[Effect], look: Look, root: str) -> Iterator[Sending]:
    """What an action sends, place by place. What stays on this machine is not sent."""
    carried: dict[tuple[object, ...], _Carried] = {}
    for effect in effects:
        found: Sending | None = None
        if effect.kind is Kind.NETWORK and leaves(effect):
            if effect.command:
                key = id(effect.command), effect.how, effect.data
                if key not in carried:  # one command sends the same to each of a hundred words that may be hosts
                    carried[key] = _carried(effect, effects, look, root)
                found = _sent(effect, carried[key])
            else:
                found = agent_tool_calls.asked(action, effect)
        elif effect.kind is Kind.EXECUTE and effect.target in FORGES and effect.command:
            found = posted(effect.command)
        elif effect.kind is Kind.EXECUTE and effect.target in ASKERS and effect.command:
            yield from addressed(effect.command)
        if found is not None:
            yield found
    if served := agent_tool_calls.served(action, effects):
        yield served


def is_looked_into(action: Action, effects: Sequence[Effect], root: str, home: str) -> bool:
    """Whether anything may leave, so that contents are searched; the search may take long."""
    sends = any(e.kind is Kind.NETWORK or (e.kind is Kind.EXECUTE and e.target in FORGES) for e in effects)
    if sends or agent_tool_calls.served(action, effects) is not None:
        return True
    asks = any(
        e.kind is Kind.EXECUTE and e.target in ASKERS and e.command and any(addressed(e.command)) for e in effects
    )
    return asks or any(True for _ in deposits(action, effects, root, home))


def leaves(effect: Effect) -> bool:
    """Whether a NETWORK effect leads to another machine, by other ways than git's."""
    return not (effect.command and effect.command.program == "git") and not network_addresses.is_local_address(
        effect.target
    )


def goes_along(read: Effect, sends: Effect) -> bool:
    """Whether the content of a file goes with a sending: the sender reads it, or gets what is not known in advance."""
    return read.command is not None and (read.command is sends.command or UNKNOWN in sends.data)


def deposits(action: Action, effects: Iterable[Effect], root: str, home: str) -> Iterator[Deposit]:
    """Texts that are written outside of the workspace and its temporary folders, where secrets are not kept anyway."""
    if not root:
        return
    below = f"{root}/"
    for effect in effects:
        if effect.kind is not Kind.WRITE or effect.target.startswith(below) or effect.target == root:
            continue
        path = effect.target
        if paths.is_temporary(path, root, home) or is_secret(path) or path.startswith("/dev/"):
            continue
        texts = [effect.data] if effect.command else list(chain(*agent_tool_calls.texts(action.arguments)))
        if content := pieces(texts):
            yield Deposit(path, content)


class _Carried(NamedTuple):
    """What a command sends, wherever it sends it."""

    given: str
    """What it reads from standard input and sends on."""
    content: tuple[Piece, ...]
    credentials: tuple[Piece, ...]
    notes: tuple[str, ...]


def _carried(effect: Effect, effects: Iterable[Effect], look: Look, root: str) -> _Carried:
    assert effect.command is not None
    words, logins = split(effect.command)
    given = _input(effect)
    text, said = apart(given)
    files, notes = _files(effect, effects, look, root)
    return _Carried(given, (*pieces([*words, text]), *files), pieces([*logins, *said]), notes)


def _sent(effect: Effect, carried: _Carried) -> Sending:
    published = effect.target in FORGES
    host = FORGES.get(effect.target) or host_of(effect.target)
    sure = effect.sure and is_certain(effect.target, host)
    names = tuple(secret_variables.variables(effect, carried.given))
    where, (_, content, credentials, notes) = host or effect.target, carried
    return Sending(where, host, content, credentials, sure, published, notes, names)


def _input(effect: Effect) -> str:
    """What it reads from standard input and sends on."""
    words = effect.command.argv if effect.command else ()
    told = not words or words[0].rpartition("/")[2] not in _TOLD
    said = any(word in _STDIN or word.endswith(("@-", "=-")) for word in words)
    return effect.data.replace(UNKNOWN, "") if told or said else ""


def _files(sends: Effect, effects: Iterable[Effect], look: Look, root: str) -> tuple[list[Piece], tuple[str, ...]]:
    """The contents of the files that go along."""
    if "data" not in sends.how:
        return [], ()
    found: dict[str, Piece] = {}
    notes: list[str] = []
    for effect in effects:
        path = effect.target
        if effect.kind is not Kind.READ or path[:1] != "/" or path in found or not goes_along(effect, sends):
            continue
        if credential_hosts.is_used(effect, sends):
            continue
        if len(found) >= MAX_FILES or sum(len(piece.text) for piece in found.values()) >= MAX_TEXT:
            notes.append(f"not looked at: {path} and what follows")
            break
        seen = Peek(effect.data.replace(UNKNOWN, ""), whole=True) if effect.data else look(path)
        if seen is None:
            continue
        found[path] = Piece(seen.text, path[len(root) + 1 :] if root and path.startswith(f"{root}/") else path)
        notes += [] if seen.whole else [f"not looked at: {path} beyond its first {len(seen.text) // 1024} KB"]
    return list(found.values()), tuple(notes)
