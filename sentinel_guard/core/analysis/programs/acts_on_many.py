"""Acts that other people see, done on each of a list that nobody has read: by xargs, or in a loop."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sentinel_guard.core.analysis import network_addresses, paths
from sentinel_guard.core.analysis.package_runners import RUNNERS
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.model import Effect, Kind

_REACHES = frozenset(
    (
        *("gh", "glab", "jira", "linear", "scancel", "stripe", "slack", "acli", "pd", "opsgenie", "zendesk", "twilio"),
        *("tea", "trello", "asana", "clickup", "notion", "hubspot", "sf", "sfdx", "paddle", "mail", "mailx", "mutt"),
        *("sendmail", "swaks", "msmtp", "aws", "gcloud", "az", "heroku", "fly", "flyctl", "auth0", "okta", "intercom"),
    )
)
"""Programs that act on things which other people see."""
_ACTS = re.compile(
    r"close|reopen|edit|lock|merge|cancel|refunds?|create|comment|transfer|archive|send|assign|resolve|label|invite|remove|"
    r"review|approve|void|publish|update|disable|suspend|send-\w+|stop-\w+|disable-\w+|\w+:create|\w+:update"
)
_MAILS = frozenset(("scancel", "mail", "mailx", "mutt", "sendmail", "swaks", "msmtp"))
"""They act without a verb."""
_TAKES = re.compile(r"(?:.*[-:])?(?:rm|remove|delete|uninstall|purge|destroy|drop|rmi|unpin|yank|erase|kill|stop|down)")
_BY_THEMSELVES = frozenset(
    (
        *("rm", "rmdir", "unlink", "trash", "git", "docker", "podman", "nerdctl", "kill", "pkill", "find", "xargs"),
        *("echo", "kubectl", "oc", "tmux", "screen", "sh", "bash", "python", "python3", "node", "sed", "awk", "grep"),
        *("rg", "mv", "cp"),
    )
)
"""Programs whose losses are told by their own rows, or run what they are given."""


def takes(words: Sequence[str]) -> bool:
    """Whether a command takes away what it is given: of a list that nobody has read, whatever it is called.

    What an installer, or another program of this machine alone, takes can be fetched or made again, but for a whole
    environment.
    """
    program = paths.base(words[0]) if words else ""
    if program in _BY_THEMSELVES or not any(map(_TAKES.fullmatch, words[1:4])):
        return False
    made_anew = program in subcommand_tables.MADE_ANEW or _installs(program)
    return not made_anew or any(word == "env" or subcommand_tables.weighs(word) for word in words[1:4])


def _installs(program: str) -> bool:
    row = RUNNERS.get(program)
    return row is not None and not {"install", "add"}.isdisjoint(row.verbs)


MANY = 10
"""Rounds of a loop that are more than a handful."""


def reaches(words: Sequence[str]) -> bool:
    """Whether a command acts on what other people see."""
    if not words or paths.base(words[0]) not in _REACHES:
        return False
    return paths.base(words[0]) in _MAILS or any(map(_ACTS.fullmatch, words[1:5]))


def in_loop(found: Sequence[Effect], *, counted: bool) -> str:
    """What a loop does to others in each round, of the effects of its rounds; empty for nothing.

    ``counted``: all its rounds are known, so that their number counts.
    """
    ran = ((e, e.command) for e in found if e.kind is Kind.EXECUTE)
    acts = [e for e, command in ran if command and command.program in _REACHES and reaches(command.argv)]
    sent = [e for e in found if e.kind is Kind.NETWORK and "data" in e.how and _is_away(e.target)]
    for each in (acts, sent):
        if each and (not counted or len(each) > MANY):
            return each[0].target
    return ""


def _is_away(target: str) -> bool:
    return "://" in target and not network_addresses.is_local_address(target)
