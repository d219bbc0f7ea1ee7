"""A patch of git's, file by file."""

import pytest

from sentinel_guard.core.incidents import parse_patch

PATCH = """ a.py | 3 ++-
 1 file changed

diff --git a/a.py b/a.py
index 1..2 100644
--- a/a.py
+++ b/a.py
@@ -1,2 +1,3 @@
-x
+y
+diff --git a/fake b/fake
+token = 'ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
@@ -9 +10 @@ def f():
-z
diff --git a/with space b/x.txt b/with space b/x.txt
new file mode 100644
diff --git a/logo.png b/logo.png
index 1..2 100644
Binary files a/logo.png and b/logo.png differ
diff --git "a/q\\"x" "b/q\\"x"
@@ -0,0 +1 @@
+1
diff --git a/docs/incidents/INCIDENT-1.md b/docs/incidents/INCIDENT-1.md
@@ -0,0 +1 @@
+a report
"""
FILES = parse_patch.files(PATCH, without="docs/incidents/")

SEEN = (
    ("a.py", 3, 2, False, "lines that look like a head are content"),
    ("with space b/x.txt", 0, 0, False, "a name with its own ' b/'"),
    ("logo.png", 0, 0, True, "a binary file"),
    ('"q\\"x"', 1, 0, False, "a quoted name"),
)


@pytest.mark.parametrize(
    ("found", "row"), list(zip(FILES, [row[:4] for row in SEEN], strict=True)), ids=[row[4] for row in SEEN]
)
def test_files_are_told_apart_and_counted(found, row):
    assert (found.name, found.added, found.removed, found.binary) == row


def test_the_sum_and_the_text():
    assert parse_patch.stat(FILES) == [
        "a.py | +3 -2",
        "with space b/x.txt | +0 -0",
        "logo.png | binary",
        '"q\\"x" | +1 -0',
        "4 files changed, 4 lines added, 2 removed",
    ]
    text = parse_patch.text(FILES)
    assert text.startswith("diff --git a/a.py") and text.endswith("+1\n")
    assert "a report" not in text
    assert "ghp_" not in text, "the whole patch is redacted, too"


@pytest.mark.parametrize("nothing", ["", "\n", " a | 1 +\n 1 file changed\n"])
def test_no_patch_has_no_files(nothing):
    assert parse_patch.files(nothing) == ()
    assert parse_patch.stat(()) == ["0 files changed, 0 lines added, 0 removed"]


LIMITS = (
    (10**6, "+1\n", "all of it fits"),
    (len(FILES[0].text), "# cut here: 3 files\n", "one file fits"),
    (30, "diff --git a/a.py b/a.py\n# cut here: 4 files\n", "not even one"),
)


@pytest.mark.parametrize(("most", "end"), [row[:2] for row in LIMITS], ids=[row[2] for row in LIMITS])
def test_a_patch_has_a_limit_and_says_where_it_was_cut(most, end):
    assert parse_patch.text(FILES, most).endswith(end)


def test_one_file_one_line():
    assert parse_patch.stat(FILES[3:])[-1] == "1 file changed, 1 line added, 0 removed"
