"""Text of others as Markdown: it stays text, and commands come back as they were."""

import pytest

from sentinel_guard.core.text.markdown_escape import MAX_CELL, block, cell, code_span, line, unescape_code_span

SPANS = (
    ("ls | grep 'a\\|b'", "`ls \\| grep 'a\\\\|b'`", "bars, one of them escaped already"),
    ("echo `date`", "`` echo `date` ``", "backticks at the end"),
    ("a `b` c", "``a `b` c``", "backticks inside"),
    ("`", "`` ` ``", "a backtick alone"),
    ("cat <<X\nline\nX", "`cat <<X ⏎ line ⏎ X`", "lines"),
    ("printf 'a\\nb'", "`printf 'a\\nb'`", "a newline that is spelled out"),
    ("rm *.py _x_ <b>", "`rm *.py _x_ <b>`", "what Markdown or HTML would take as its own"),
    ("", "", "nothing"),
)


@pytest.mark.parametrize(("text", "span"), [row[:2] for row in SPANS], ids=[row[2] for row in SPANS])
def test_a_command_in_a_table_comes_back_as_it_was(text, span):
    assert code_span(text) == span
    assert unescape_code_span(span) == text


LOST = (
    ("x" * (MAX_CELL + 1), lambda s: s.endswith("…`"), "what is too long ends in an ellipsis"),
    ("export TOKEN=ghp_" + "a" * 36, lambda s: "ghp_" not in s, "a secret"),
    ("a\x1b[2Jb", lambda s: "\x1b" not in s and "\\x1b" in s, "control characters"),
    ("<!-- sentinel: end of the machine's part -->", lambda s: "<!--" not in s, "a comment of ours"),
)


def test_prose_loads_no_image_and_leads_nowhere():
    assert line("![x](http://a/b.png) [y](c) <img src=d>") == "![x] (http://a/b.png) [y] (c) &lt;img src=d>"


@pytest.mark.parametrize(("text", "holds"), [row[:2] for row in LOST], ids=[row[2] for row in LOST])
def test_what_is_lost_is_meant(text, holds):
    assert holds(code_span(text))


def test_prose_is_one_line_without_structure():
    assert line("a\n# b `c` <d>") == "a # b 'c' &lt;d>"
    assert cell("a | b") == "a \\| b"


@pytest.mark.parametrize("text", ["plain", "```\ninside\n```", "````", "<!-- sentinel: x -->"])
def test_nothing_ends_a_block_but_its_own_fence(text):
    lines = block(text, "diff").split("\n")
    fence = lines[0].removesuffix("diff")
    assert lines[-1] == fence
    assert fence not in "\n".join(lines[1:-1])
    assert "<!--" not in block(text)
