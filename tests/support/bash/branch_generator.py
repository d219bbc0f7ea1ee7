"""Random bash with branches that depend on programs of unknown outcome, in every combination of their outcomes.

A condition is the stub ``p`` (which ends well) or ``q`` (which fails), so that one text for each combination runs
along every path; the stub ``r-2`` shows what the variables hold there.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

SHOW = 'r-2 "$x" "$y" "$z"'
OUTCOMES = 4
"""Conditions of one text."""
_NAMES = ("x", "y", "z")
_SLOT = "@"


class Branches:
    """One random text; the same seed gives the same text."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._slots = 0
        known = self._pick("x=a y=b z=", "x=a y=b z=", self._assignment())
        self.template = "\n".join([known, *(self._statement(2) for _ in range(4)), SHOW])

    def texts(self) -> Iterator[str]:
        """The text with every combination of outcomes."""
        first, *parts = self.template.split(_SLOT)
        for outcomes in itertools.product("pq", repeat=len(parts)):
            yield first + "".join(itertools.chain.from_iterable(zip(outcomes, parts, strict=True)))

    def _pick(self, *options: str) -> str:
        return self._random.choice(options)

    def _name(self) -> str:
        return self._random.choice(_NAMES)

    def _assignment(self) -> str:
        name = self._name()
        return self._pick(
            f"{name}=a", f"{name}=b", f"{name}=", f"{name}=${self._name()}", f"{name}=${{{self._name()}}}c",
            f"{name}+=d", f"unset {name}", f"export {name}=e", f"{name}=${{{self._name()}:-f}}", f"x=1 y=2 r-2 ${name}",
        )  # fmt: skip

    def _condition(self) -> str:
        name = self._name()
        if self._slots < OUTCOMES and self._random.random() < 0.6:
            self._slots += 1
            return f"{_SLOT} c"
        test = self._pick(
            f'[ -n "${name}" ]', f'[ -z "${name}" ]', f'[ "${name}" = a ]', f"[[ -z ${name} ]]", f"[[ ${name} != b ]]",
            f'test "${name}"', f'[ ! -n "${name}" ]', f"[[ -n ${name} && ${self._name()} = a ]]",
        )  # fmt: skip
        return self._pick(test, test, f"! {test}", f"{test} && {self._plain_condition()}")

    def _plain_condition(self) -> str:
        return self._pick(f'[ -n "${self._name()}" ]', f'[ "${self._name()}" != "" ]')

    def _body(self, depth: int) -> str:
        ends = self._pick("", "", "", "", "", "; exit") if depth < 2 else ""
        return "; ".join(self._statement(depth - 1) for _ in range(self._random.randint(1, 2))) + ends

    def _statement(self, depth: int) -> str:
        if depth <= 0:
            return self._pick(self._assignment(), self._assignment(), SHOW)
        return self._random.choice(_STATEMENTS)(self, depth)

    def either(self, depth: int) -> str:
        otherwise = self._pick("", f"; else {self._body(depth)}")
        return f"if {self._condition()}; then {self._body(depth)}{otherwise}; fi"

    def either_of_three(self, depth: int) -> str:
        first = f"if {self._condition()}; then {self._body(depth)}"
        second = f"elif {self._condition()}; then {self._body(depth)}"
        return f"{first}; {second}; else {self._body(depth)}; fi"

    def case(self, depth: int) -> str:
        arms = f"a) {self._body(depth)};; b|c) {self._body(depth)}{self._pick(';;', ';&', ';;&')}"
        rest = self._pick("", f" *) {self._body(depth)};;")
        return f'case "${self._name()}" in {arms}{rest} esac'

    def chain(self, _depth: int) -> str:
        chain = [self._condition()]
        for _ in range(self._random.randint(1, 3)):
            chain += [self._pick("&&", "||"), self._pick(self._assignment(), self._condition(), SHOW)]
        return " ".join(chain)

    def group(self, depth: int) -> str:
        return f"{self._condition()} {self._pick('&&', '||')} {{ {self._body(depth)}; }}"

    def loop(self, depth: int) -> str:
        leave = self._pick(
            "break", "continue", f"{self._condition()} && break", f"{self._condition()} || continue", ":"
        )
        body = f"{self._statement(depth - 1)}; {leave}; {self._statement(depth - 1)}"
        return f"for {self._name()} in a b; do {body}; done"

    def loop_while(self, depth: int) -> str:
        body = f"{self._statement(depth - 1)}; {self._statement(depth - 1)}"
        return f"while {self._condition()}; do {body}; break; done"

    def function(self, depth: int) -> str:
        leave = self._pick("return", f"{self._condition()} && return", f"{self._condition()} || return 1")
        local = self._pick("", f"local {self._name()}; ", "local x=$x; ")
        return f"f() {{ {local}{self._statement(depth - 1)}; {leave}; {self._statement(depth - 1)}; }}; f"

    def plain(self, _depth: int) -> str:
        return self._pick(self._assignment(), SHOW)


_STATEMENTS = (
    Branches.either,
    Branches.either_of_three,
    Branches.case,
    Branches.chain,
    Branches.group,
    Branches.loop,
    Branches.loop_while,
    Branches.function,
    Branches.plain,
)
