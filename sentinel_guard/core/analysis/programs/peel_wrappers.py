"""Take a wrapper command (sudo, env, ssh ...) off: the command that it runs, and what it changes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sentinel_guard.core.analysis import paths
from sentinel_guard.core.analysis.expansion.command_and_options import Parsed, parse
from sentinel_guard.core.analysis.expansion.shell_state import Field
from sentinel_guard.core.analysis.programs.command_wrappers import Wrapper

MAX_WRAPPERS = 10
"""``sudo nice env sudo …``: what is wrapped deeper is opaque."""
_SCRIPT = re.compile(r"(?:npm|yarn|pnpm|bun|node):([^\s'\"]+)")
"""``concurrently "npm:dev:*"``: scripts of package.json by their names."""
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_OTHER_HOST = re.compile(r"\s*(?:hostname|port|proxy\w*)\b", re.IGNORECASE)
"""Settings of ssh that lead to another machine."""


@dataclass(slots=True)
class Peeled:
    """What a wrapper holds."""

    rest: list[Field] = field(default_factory=list)
    """The command; empty where there is none."""
    texts: list[Field] = field(default_factory=list)
    """Shell texts."""
    assignments: list[tuple[str, Field]] = field(default_factory=list)
    cwd: Field | None = None
    parsed: Parsed = field(default_factory=Parsed)


def peel(fields: Sequence[Field], wrapper: Wrapper) -> Peeled | None:
    """Takes one wrapper off; None where this use of the program wraps nothing (``uv sync``)."""
    words, behind = fields[1:], None
    if (at := next((n for n, item in enumerate(words) if item.text in wrapper.behind), None)) is not None:
        words, behind = words[:at], list(words[at + 1 :])
    parsed = parse(_without_pairs(words, wrapper.pairs) if wrapper.pairs else words, wrapper.options)
    peeled = Peeled(list(parsed.operands), parsed.values(*wrapper.text), parsed=parsed, cwd=parsed.value(*wrapper.cwd))
    rest, again = peeled.rest, parsed
    if wrapper.verbs:
        if not rest or rest[0].text not in wrapper.verbs:
            return None
        again = parse(rest[1:], wrapper.options)
        rest[:] = again.operands
    rest[:] = rest if behind is None else behind
    for item in parsed.values("-S", "--split-string") if wrapper.assignments else ():
        split = [Field(w, item.known) for w in split_string(item.text)]
        rest[:] = parse([*split, *rest], wrapper.options).operands
    while wrapper.assignments and rest and (_ASSIGNMENT.match(rest[0].text) or rest[0].text == "-"):
        name, _, value = rest[0].text.partition("=")
        peeled.assignments.append((name, Field(value, rest[0].known)))
        del rest[0]
    if wrapper.python and rest:
        rest[:0] = _python(rest[0].text, again)
    _drop_operands(peeled, wrapper)
    if wrapper.joined and rest:
        peeled.texts.append(Field(" ".join(f.text for f in rest), all(f.known for f in rest)))
        rest.clear()
    if wrapper.each:
        peeled.texts += [Field(_SCRIPT.sub(r"run-s '\1'", item.text), item.known) for item in rest]
        rest.clear()
    if wrapper.each and wrapper.pairs:
        peeled.texts[:] = _filled(peeled.texts, words, wrapper.pairs)
    rest[:0] = parsed.values(*wrapper.named)
    if rest and paths.base(fields[0].text) in _PACKAGE_RUNNERS:
        rest[0] = program_of_package(rest[0])
    return peeled


_PACKAGE_RUNNERS = frozenset(("npx", "bunx", "pnpx", "uvx", "pipx"))
_REQUIREMENT = re.compile(r"((?:@[\w.-]+/)?\w[\w.-]*)(?:\[[\w,.\s-]*\])?(?:@[^/:]*|\s*[=<>!~;][^/:]*|(?<=\]))")
"""A package's name with the extras or versions of it that are wanted. An address is none: it may be anybody's code."""
_ALIAS = re.compile(r"^(?:@[\w.-]+/)?[\w.-]+@npm:")
"""Of npm: a package under another name, whose program is what runs."""
_PACKAGES = {
    "eas-cli": "eas", "netlify-cli": "netlify", "firebase-tools": "firebase", "aws-cdk": "cdk", "twilio-cli": "twilio",
    "appcenter-cli": "appcenter", "code-push-standalone": "code-push", "contentful-cli": "contentful",
    "@sentry/cli": "sentry-cli", "@shopify/cli": "shopify", "@railway/cli": "railway", "@aws-amplify/cli": "amplify",
    "@capgo/cli": "capgo", "@vscode/vsce": "vsce", "@salesforce/cli": "sf", "@hubspot/cli": "hs",
    "@bitwarden/cli": "bw",
    "@infisical/cli": "infisical", "@changesets/cli": "changeset", "@electron-forge/cli": "electron-forge",
    "@launchdarkly/ldcli": "ldcli", "@angular/cli": "ng", "@sanity/cli": "sanity", "appwrite-cli": "appwrite",
    "sequelize-cli": "sequelize", "@mikro-orm/cli": "mikro-orm",
    "@wordpress/env": "wp-env", "@stripe/cli": "stripe", "@pulumi/cli": "pulumi",
}  # fmt: skip
"""Packages of npm whose program has another name. registry.npmjs.org, 2026."""


def program_of_package(item: Field) -> Field:
    """The program that a package's name starts, whichever version it is: ``eas-cli@latest`` is ``eas``. A pattern or a
    variable in the version leaves the name as it is.
    """
    item = replace(item, text=_ALIAS.sub("", item.text))
    match = _REQUIREMENT.fullmatch(item.text)
    if match is None or not (item.known or item.source.lstrip("'\"").startswith(item.text[: match.end(1) + 1])):
        return replace(item, text=_PACKAGES.get(item.text, item.text))
    return Field(_PACKAGES.get(match[1], match[1]))


def _python(word: str, parsed: Parsed) -> list[Field]:
    """What runs the word where that is Python: a file, a script whatever it is called, a module."""
    if not parsed.flags.keys().isdisjoint(("-m", "--module")):
        return [Field("python3"), Field("-m")]
    script = (
        word.endswith(".py") or word == "-" or not parsed.flags.keys().isdisjoint(("-s", "--script", "--gui-script"))
    )
    return [Field("python3")] if script else []


def leads_elsewhere(wrapper: Wrapper, parsed: Parsed) -> bool:
    """Whether the command runs on another machine or root: ``ssh HOST``, but not ``ssh localhost``."""
    if not wrapper.elsewhere or wrapper.here is None or not parsed.operands:
        return wrapper.elsewhere
    where = parsed.operands[0]
    if any(_OTHER_HOST.match(item.text) for item in parsed.values("-o")):
        return True
    return not (where.known and wrapper.here.fullmatch(where.text)) or not parsed.flags.keys().isdisjoint(wrapper.moves)


def _without_pairs(fields: Sequence[Field], pairs: Sequence[str]) -> list[Field]:
    """The fields without these options and the two values of each."""
    left, at = [], 0
    while at < len(fields):
        skipped = fields[at].text in pairs
        if not skipped:
            left.append(fields[at])
        at += 3 if skipped else 1
    return left


_FILLED = 50
"""Texts that are made of those with values to be filled in."""


def _filled(texts: Sequence[Field], fields: Sequence[Field], pairs: Sequence[str]) -> list[Field]:
    """Texts with what stands for ``{NAME}`` in them: each value of ``-L NAME a,b``, the first of ``-P NAME 1 9``; not
    known where they would be many.
    """
    for option, name, values in zip(fields, fields[1:], fields[2:], strict=False):
        mark, given = f"{{{name.text}}}", values.text.split(",")
        meant = [text for text in texts if option.text in pairs and mark in text.text]
        few = values.known and len(meant) * len(given) <= _FILLED
        made = [replace(text, text=text.text.replace(mark, value)) for text in meant for value in given if few]
        rest = [text for text in texts if text not in meant]
        texts = [*rest, *(made or (replace(text, known=False) for text in meant))]
    return list(texts)


def _drop_operands(peeled: Peeled, wrapper: Wrapper) -> None:
    rest = peeled.rest
    if wrapper.text and peeled.texts and not wrapper.joined and not wrapper.each:
        rest.clear()
        return
    if rest and rest[0].text == "-":
        del rest[0]
    if rest and rest[0].text[:1] != "-":
        del rest[: wrapper.operands]
    if wrapper.optional is not None and rest and wrapper.optional.fullmatch(rest[0].text if rest[0].known else ""):
        rest[:] = parse(rest[1:], wrapper.options).operands
    if wrapper.joined and rest and rest[0].text[:1] == "-":
        rest[:] = parse(rest, wrapper.options).operands  # ssh takes options behind the host, too
    if rest and rest[0].text in wrapper.text:
        peeled.texts += rest[1:2]
        rest.clear()
    elif rest and rest[0].text == "--":
        del rest[0]


def split_string(text: str) -> list[str]:
    """The words of ``env -S``: blanks and quotes."""
    return [m[1] or m[2] or m[3] or "" for m in re.finditer(r"\"([^\"]*)\"|'([^']*)'|(\S+)", text)]
