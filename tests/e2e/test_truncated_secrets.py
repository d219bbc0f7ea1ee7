"""No piece of the person's own value stays on record or is told, wherever a text was cut in two."""

from __future__ import annotations

OWN = "qT7vPz3LkW9s" + "Xc5RbN2mYh8G" + "dJ4fUa6E"
PIECE = 6
LOUD = """#!/usr/bin/env python3
import sys
value = open(".env").read().split("=")[1].strip()
what = {"lines": "\\n".join(f"Error line {n} {value}" for n in range(4000)), "row": "E: " + f"{value} " * 4000,
        "first": value + "x\\n" * 40, "error": f"Error: {value * 50}"}[sys.argv[1]]
(sys.stdout if "out" in sys.argv else sys.stderr).write(what + "\\n")
sys.exit(3)
"""


def test_what_is_cut_is_hidden_first(stage):
    stage.commit(a__txt="a\n")
    stage.write(".env", f"DB_PASSWORD={OWN}\n")
    tool = stage.folder / "bin" / "loud"
    tool.write_text(LOUD)
    tool.chmod(0o755)
    _, told = stage.agent(
        f"cat .env '{OWN * 7}'",
        f"git push --force origin HEAD:refs/heads/{OWN * 7}",
        f"x() {{ :; }}; x {' '.join([OWN] * 1500)}; false",
        "loud lines", "loud row", "loud first", "loud error", "loud lines out",
        f"git checkout -b x/{OWN * 4}",
    )  # fmt: skip
    assert [said["code"] for said in told[3:8]] == [3] * 5, "they ran"
    record = stage.sentinel("log", "--json", "--last", "0").stdout
    assert record.count('"excerpt":"') > 4 and "<redacted>" in record
    pieces = [OWN[at : at + PIECE] for at in range(len(OWN) - PIECE + 1)]
    assert [p for p in pieces if p in record] == []
    assert [p for p in pieces if p in told[0]["err"] + told[1]["err"]] == []
