"""Containers, ports, databases, clusters and other ends that a text makes, proved by its success.

``docker run --name x`` and ``createdb x`` fail where the name is taken. So where the command that made a name had to
succeed for the text to succeed, the name is the session's own from then on (ADR 0022). What is proved is a name, not a
text: what a script, a recipe or ``bash -c`` makes may have failed there, unseen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from sentinel_guard.core.analysis.expansion.file_overlay import Overlay
from sentinel_guard.core.analysis.parser import bash_parser
from sentinel_guard.core.analysis.parser.syntax_tree import (
    CommandSub,
    DoubleQuoted,
    Group,
    List,
    Node,
    Pipeline,
    Simple,
    Subshell,
    simple_commands,
)
from sentinel_guard.core.model import Effect, Kind

_KINDS = (
    *("container ", "compose project ", "port ", "published ", "database ", "role ", "topic ", "kubeconfig "),
    *("current cluster", "machines of ", "cluster ", "mc ", "mc! ", "repository ", "context ", "volume ", "plan "),
)
_AWAY = "mc! "
"""A name that leads to another machine, for good: none of them may be missed."""
_CHOSEN = ("compose project ", "volume ", "plan ", _AWAY)
"""What starts one succeeds where it is there, too: that nothing says its name is the witness, and no exit code; of a
plan of Terraform's the birth of its file says whether it was there.
"""
MOST = 20
"""Names of one text."""


def effects(world: Overlay, text: str | None) -> Iterator[Effect]:
    """One for each name that this text (None: one command) makes, and could not make where it is taken; and for each
    that it chose.
    """
    names = sorted(name for name in world.own if name.startswith(_KINDS))
    if names:
        proof = None if text is None else _proof(bash_parser.parse(text).body)
        names = [name for name in names if name.startswith(_CHOSEN) or _is_proved(world, name, proof)]
    away = [name for name in names if name.startswith(_AWAY)]
    for name in (*away, *[name for name in names if name not in away][:MOST]):
        yield Effect(Kind.EXECUTE, name, how=frozenset(("makes",)))


def _is_proved(world: Overlay, name: str, proof: Mapping[str, Simple] | None) -> bool:
    maker = world.makers.get(name)
    if maker is None or proof is None:
        return proof is None and name not in world.makers  # one command, and none that hides whether it failed
    return maker in proof and not (name.startswith(_BY_CLIENTS) and _may_fail_unseen(proof[maker]))


def replaced(own: Collection[str], found: Sequence[Effect]) -> Iterator[str]:
    """The repositories, clusters and plans among these names in whose place the effects put something else."""
    for name in own:
        kind, _, folder = name.partition(" ")
        places = (folder, f"{folder}/.git")
        if kind in ("repository", "cluster", "plan") and any(
            _covers(effect, place) for effect in found for place in places
        ):
            yield name


def _covers(effect: Effect, place: str) -> bool:
    return effect.kind in (Kind.WRITE, Kind.DELETE) and f"{place}/".startswith(f"{effect.target.rstrip('/')}/")


def lost(names: Collection[str]) -> Iterator[Effect]:
    """One for each name that the session made before, and that is no longer its own, however this text ends."""
    for name in sorted(names):
        yield Effect(Kind.EXECUTE, name, how=frozenset(("unmakes",)))


_HANDS_BACK = frozenset(
    (
        *("time", "env", "nice", "ionice", "sudo", "doas", "timeout", "nohup", "stdbuf", "command"),
        *("docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc"),
    )
)
"""What runs one command and ends as that does."""
_RUN_SCRIPTS = frozenset(("npm", "pnpm", "yarn", "bun", "make"))
"""What runs scripts of a project's and ends as they do, unless it is told to go on (``make -i``)."""


def note(world: Overlay, maker: str) -> None:
    """The names that nobody made before in this text were made by this command of it."""
    for name in world.own - world.makers.keys():
        world.makers[name] = maker


def note_program(world: Overlay, via: Sequence[str], *, replaced: bool) -> None:
    """Names were made by a program that these started: where one of them may hide a failure, or it may be another
    program of that name, nothing proves them.
    """
    if replaced or not (_HANDS_BACK | _RUN_SCRIPTS).issuperset(word.partition(" ")[0] for word in via):
        for name in world.own - world.makers.keys():
            world.makers[name] = None


def note_script(world: Overlay, before: Collection[str], text: str, via: str) -> None:
    """Names were made by a script: what had to succeed for it to succeed is proved by the success of who ran it."""
    runner, _, rest = via.partition(" ")
    if runner in _RUN_SCRIPTS and not rest.startswith("-"):
        proof = _proof(bash_parser.parse(text).body)
        for name in world.own.difference(before):
            if _is_proved(world, name, proof):
                del world.makers[name]
            else:
                world.makers[name] = None


def may_fail(world: Overlay, before: Collection[str]) -> set[str]:
    """Takes back the names that were made since, where what follows runs though their making failed."""
    gone = {name for name in world.own.difference(before) if name.startswith(_KINDS) and not name.startswith(_CHOSEN)}
    world.own -= gone
    return gone


def _proof(body: List) -> dict[str, Simple]:
    """The simple commands that succeeded where a text did, by their source: those of its last ``a && b && c``."""
    if any(map(_hides_failure, simple_commands(body))):
        return {}
    return {node.source: node for node in _succeeding(body) if not _only_speaks(node)}


_SPEAKS = re.compile(r"--(?:help|ver\w*)|-[V?]")


def _only_speaks(node: Simple) -> bool:
    """Help and versions end well, and make nothing."""
    words = [word.literal or "" for word in node.words]
    return any(map(_SPEAKS.fullmatch, words)) or (words[0] in _HANDS_BACK and words[1:2] == ["-v"])


def _succeeding(body: List) -> Iterator[Simple]:
    chain = len(body.items) - 1
    while chain > 0 and body.items[chain - 1][1] == "&&":
        chain -= 1
    if not body.items or body.items[-1][1] == "&" or (chain and body.items[chain - 1][1] == "||"):
        return
    for item, _ in body.items[chain:]:
        yield from _commands_of(item)


def _commands_of(item: Node) -> Iterator[Simple]:
    if isinstance(item, Pipeline) and len(item.commands) == 1 and not item.negated:
        yield from _commands_of(item.commands[0])
    elif isinstance(item, Group | Subshell):
        yield from _succeeding(item.body)
    elif isinstance(item, Simple) and item.words:
        yield item
    elif isinstance(item, Simple) and len(item.assignments) == 1:
        parts = item.assignments[0].value.parts
        parts = parts[0].parts if len(parts) == 1 and isinstance(parts[0], DoubleQuoted) else parts
        if len(parts) == 1 and isinstance(parts[0], CommandSub):
            yield from _succeeding(parts[0].script.body)


_BY_CLIENTS = ("database ", "role ")
_FAILS = re.compile(r"[1-9]\d*")


def _hides_failure(node: Simple) -> bool:
    """An end of the text before its last command, which may be a success: ``exit 0``, a trap."""
    words = [word.literal or "" for word in node.words[:2]]
    if words[:1] == ["trap"]:
        return True
    return words[:1] in (["exit"], ["return"]) and not (len(words) > 1 and _FAILS.fullmatch(words[1]))


_CLIENTS = {
    "psql": re.compile(r"-[AatqXwW]*c(?:\W.*)?|--command(?:=.*)?", re.DOTALL),
    "mysql": re.compile(r"-[BNsv]*e(?:\W.*)?|--execute(?:=.*)?", re.DOTALL),
    "sqlcmd": re.compile(r"-Q.*", re.DOTALL),
}
_CLIENTS["mariadb"] = _CLIENTS["mysql"]
"""Clients of databases, with the option that gives them one text: they end as it does."""
_GOES_ON = re.compile(r"-[A-Za-z]*f|--force|--file(?:=.*)?|-i.*|--help|--version|-f.*", re.DOTALL)
_REMARK = re.compile(r"--(?:\s|$)|/\*|#|\\")


def _may_fail_unseen(node: Simple) -> bool:
    """A client of databases goes on behind a statement that failed, in a file, in what it reads, and by option."""
    words = [word.source for word in node.words]
    at = next((n for n, word in enumerate(words) if word.rpartition("/")[2] in _CLIENTS), None)
    if at is None:
        return False
    client = words[at].rpartition("/")[2]
    texts = [word for word in words[at + 1 :] if _CLIENTS[client].fullmatch(word)]
    if len(texts) != 1 or any(r.op.startswith("<") for r in node.redirects):
        return True
    if client == "sqlcmd" and "-b" not in words:
        return True
    behind = words[words.index(texts[0], at) :][:2]
    return any(_GOES_ON.fullmatch(word) for word in words[at + 1 :]) or any(map(_REMARK.search, behind))
