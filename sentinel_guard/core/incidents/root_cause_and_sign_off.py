"""Root cause, action items and sign-off of an incident report (R9): the part below the generated, sealed one.

Rules of this file:
1. Not a byte of the machine's part changes: what is written comes after ``SEAL``.
2. A review cites steps that exist; what is empty or only the template is none.
3. What is filled in can end neither the part nor a heading: it is text.
"""

from __future__ import annotations

import enum
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sentinel_guard.core.incidents import timeline
from sentinel_guard.core.model import Entry
from sentinel_guard.core.text.control_characters import visible
from sentinel_guard.core.text.markdown_escape import COMMENT, line, no_link
from sentinel_guard.core.text.redact_by_pattern import redact
from sentinel_guard.errors import ConfigError

SEAL = f"{COMMENT} end of the machine's part -->"
CAUSE, ACTIONS = "## Root cause", "## Action items"
TO_FILL = "To be filled in by the agent"
SIGNED = "Signed off by the user"
FILLED, SIGN_OFF, ASKED = "filled", "signed-off", "asked"
"""Events of entries of the kind ``incident``; the report itself has none."""
_STEPS = re.compile(r"(?i)(?:\bsteps?\s+#?|#)(\d+(?:(?:\s*(?:,|-|\u2013|to|and|or|through)\s*)+#?\d+)*)")
_SPAN = re.compile(r"(\d+)(?:\s*(?:-|\u2013|to|through)\s*#?(\d+))?")
_ITEM = re.compile(r"(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?")
_TAG = re.compile(r"<(?=[A-Za-z/?])")
_STRUCTURE = ("#", "[", "_", "---", "===", SIGNED)
_MEND = 'sentinel-guard incidents fill NAME --root-cause "Step 12 ..., because ..." --action "..."'


class Seal(enum.StrEnum):
    """What the audit log says of a report."""

    UNCHANGED = "sealed, unchanged"
    CHANGED = "CHANGED since it was written"
    UNKNOWN = "not on record here"


class State(enum.StrEnum):
    """How far a report is."""

    OPEN = "open"
    FILLED = "filled"
    SIGNED = "signed off"


@dataclass(frozen=True, slots=True)
class Review:
    """The agent's part."""

    cause: str
    actions: tuple[str, ...]


def machine_part(report: str) -> str:
    """The part that is sealed: up to and with the seal; all of it where the seal is gone."""
    head, seal, _ = report.replace("\r\n", "\n").partition(SEAL)
    return head + seal


def seal(report: str) -> str:
    """SHA-256 of the machine's part. Line ends do not count: git may have changed them."""
    return hashlib.sha256(machine_part(report).encode(errors="surrogateescape")).hexdigest()


def seal_status(report: str, name: str, entries: Iterable[Entry]) -> Seal:
    """Whether the machine's part is as it was written; ``entries``: those of the kind ``incident``."""
    seals = {str(e.data.get("seal")) for e in entries_of(name, entries) if e.data.get("seal")}
    if not seals:
        return Seal.UNKNOWN
    return Seal.UNCHANGED if seal(report) in seals else Seal.CHANGED


def entries_of(name: str, entries: Iterable[Entry]) -> list[Entry]:
    """The entries about one report."""
    return [e for e in entries if (e.data.get("name") or _stem(str(e.data.get("path", "")))) == name]


def template(steps: int) -> str:
    """The agent's part before it is filled in."""
    span = f"1 to {steps}" if steps else "none"
    return f"""
{CAUSE}

{TO_FILL} after recovery. Cite the steps of the timeline by number ({span}): which step was the first
wrong one, and what was believed then that was not true.

{ACTIONS}

{TO_FILL}: what it will do differently, each item with the step that it would have changed.
"""


def read(report: str) -> Review:
    """The agent's part of a report, whoever wrote it, the template's words left out."""
    after = report.replace("\r\n", "\n").partition(SEAL)[2]
    return parse(after)


def parse(text: str) -> Review:
    """A review written as Markdown: what stands below the two headings; each ``-`` at the margin begins an item."""
    cause, rest = _below(_below(text.replace("\r\n", "\n"), CAUSE)[1], ACTIONS)
    rest = rest.partition(f"\n{SIGNED}")[0].partition("\n_")[0]
    items = re.split(r"(?m)^(?=(?:[-*+]|\d+[.)])\s)", rest)
    actions = tuple(_ITEM.sub("", item.strip(), count=1) for item in items if item.strip())
    return Review(_own(cause), tuple(a for a in map(_own, actions) if a))


def check(review: Review, report: str) -> None:
    """Raises ConfigError with what is missing."""
    if not review.cause:
        raise ConfigError("The root cause is empty.", _MEND)
    if not any(review.actions):
        raise ConfigError("There is no action item: say what will be done differently.", _MEND)
    there = {row.number for row in timeline.rows(report)}
    words = "\n".join((review.cause, *review.actions))
    # "#7" may be an issue of the project as well; "step 7" may not.
    if unknown := sorted(n for n in cited_steps(words.replace("#", "")) if n not in there):
        some = ", ".join(map(str, unknown[:5]))
        raise ConfigError(f"The timeline has no step {some}.", f"Its steps are 1 to {len(there)}.")
    if there and not cited_steps(review.cause) & there:
        span = f"the steps are 1 to {len(there)}"
        raise ConfigError("The root cause cites no step.", f"Name the first wrong one, such as 'step 1'; {span}.")


def fill_in(report: str, review: Review, by: str) -> str:
    """The report with the agent's part filled in. ``by``: who, when and where, in words. Raises ConfigError."""
    check(review, report)
    head, mark, rest = report.partition(SEAL)
    if not mark:
        raise ConfigError("The report has no machine's part any more.", "Bring the file back from git or a backup.")
    if _signed(rest):
        raise ConfigError("The report is signed off: nothing is filled in any more.")
    items = "\n".join(f"- {_indented(_text(a))}" for a in review.actions if a)
    return f"{head}{mark}\n\n{CAUSE}\n\n{_text(review.cause)}\n\n{ACTIONS}\n\n{items}\n\n_{line(by)}_\n"


def add_sign_off(report: str, when: str, note: str) -> str:
    """The report with the person's sign-off below the agent's part."""
    said = f": {line(note)}" if note else "."
    return f"{report.rstrip()}\n\n{SIGNED}, {when}{said}\n"


def state(report: str, name: str, entries: Iterable[Entry]) -> State:
    """How far a report is; a sign-off counts only if it is on record. ``entries``: those of the kind ``incident``."""
    if any(e.data.get("event") == SIGN_OFF for e in entries_of(name, entries)):
        return State.SIGNED
    try:
        check(read(report), report)
    except ConfigError:
        return State.OPEN
    return State.FILLED


def cited_steps(text: str) -> set[int]:
    """Numbers of the steps that a text names: ``step 12``, ``steps 3-5 and 9``, ``#7``."""
    found: set[int] = set()
    for match in _STEPS.finditer(text):
        for first, last in _SPAN.findall(match[1]):
            low, high = int(first[:9]), int((last or first)[:9])
            # Both ends tell whether a span exists; what lies between them does, too.
            found |= {low, high, *range(low, min(high, low + timeline.STEPS))}
    return found


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _below(text: str, heading: str) -> tuple[str, str]:
    """What stands before the line that is a heading, and what stands after it."""
    before, _, after = f"\n{text}\n".partition(f"\n{heading}\n")
    return before, after


def _own(text: str) -> str:
    """Without the template's paragraphs."""
    parts = (part.strip() for part in text.split("\n\n"))
    return "\n\n".join(part for part in parts if part and not part.startswith(TO_FILL))


def _signed(rest: str) -> bool:
    return any(said.startswith(SIGNED) for said in rest.split("\n"))


def _text(text: str) -> str:
    """Text of others, several lines, none of which is a heading, a comment or ours."""
    said = visible(redact(text.strip().replace("\r\n", "\n").expandtabs()), keep="\n").replace("<!--", "<! --")
    said = _TAG.sub("&lt;", no_link(said))
    return "\n".join(f"\\{part}" if part.startswith(_STRUCTURE) else part for part in said.split("\n"))


def _indented(text: str) -> str:
    """The lines of one item."""
    return text.replace("\n", "\n  ")


def advice(paths: Sequence[str]) -> str:
    """What an agent is asked about reports that nobody has filled in yet, the newest first; empty for none."""
    if not paths:
        return ""
    more = f" ({len(paths) - 1} more after it)" if len(paths) > 1 else ""
    name = _stem(paths[-1])
    return (
        f"SENTINEL: {name} is not explained yet{more}: read {visible(paths[-1])}, then run: "
        f'sentinel-guard incidents fill {name} --root-cause "Step N ..., because ..." --action "..."'
    )
