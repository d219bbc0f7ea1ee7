"""What is told of a change: where each find stands, what of it is shown, what does not count or was not looked at."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_guard.core.secrets.allow_comments import allows
from sentinel_guard.core.secrets.formats.base import fake
from sentinel_guard.core.secrets.model import Grade, Piece, SecretFind
from sentinel_guard.core.secrets.redacted_excerpt import MOST as WIDTH
from sentinel_guard.core.secrets.redacted_excerpt import ScannedText
from sentinel_guard.core.secrets.scan_outgoing_content import FEW, LONGEST, MOST, scan_pieces
from sentinel_guard.core.secrets.scan_text import scan
from sentinel_guard.core.secrets.skipped_files import is_test_or_document, skipped
from sentinel_guard.core.secrets.user_secrets.find_user_secrets import NOTHING, UserSecrets

PAT = "ghp_" + fake(36)
OTHER = "gho_" + fake(36)
OWN = "q7Wn2Zt9" + "Lk4Vx8Rb3Ym6"
KNOWN = UserSecrets({OWN: "the value of TOKEN in .env"})
CARDS = ["4539 1488 " + "0343 6400", "5271 3346 " + "0917 4283", "4916 7452 " + "0983 1168"]


def hits(text, path="src/a.py", *, known=NOTHING, line=1, **options):
    return scan_pieces([Piece(text, path, line)], known=known, **options).hits


PLACES = [
    (PAT, 1, (1, 1), "at the start"),
    (f"x = '{PAT}'", 1, (1, 6), "in a line"),
    (f"a\nb\n\t{PAT}\n", 1, (3, 2), "on the third line"),
    (f"a\n{PAT}", 40, (41, 1), "in a piece that starts further down"),
    (f"İ\U0001f600 {PAT}", 1, (1, 4), "columns count characters"),
]


@pytest.mark.parametrize(("text", "line", "place", "why"), PLACES, ids=[row[3] for row in PLACES])
def test_a_find_has_its_line_and_column(text, line, place, why):
    (hit,) = hits(text, line=line)
    assert (hit.line, hit.column) == place


EXCERPTS = [
    (f"x = '{PAT}'  # mine\ny", "x = '<ghp_… 40 characters>'  # mine", "the line with its mask"),
    (f"{PAT} {OTHER}", "<ghp_… 40 characters> <gho_… 40 characters>", "every find of the line is masked"),
    (f"{PAT} {OWN}", "<ghp_… 40 characters> <… 20 characters>", "also what only this person knows"),
    (f"{PAT} to a.person@nordwind.de", "<ghp_… 40 characters> to <… 20 characters>", "also what does not count alone"),
    (f"{PAT} password=hunter2", "<ghp_… 40 characters> password=<redacted>", "also what is known by its place"),
    (f"{PAT}\x1b[2J\u202e", r"<ghp_… 40 characters>\x1b[2J\u202e", "nothing that a terminal would obey"),
    (f'apiKey: "{PAT}",', 'apiKey: "<ghp_… 40 characters>",', "a value is masked once, in quotes too"),
    (f"Authorization: Bearer {PAT}", "Authorization: Bearer <ghp_… 40 characters>", "and behind a word"),
    (f"password=hunter2 {PAT}", "password=<… 7 characters> <ghp_… 40 characters>", "two values are two masks"),
    (f"https://me:{PAT}@github.com", "https://me:<ghp_… 40 characters>@github.com", "in an address"),
    (f"    {PAT}\r\n", r"<ghp_… 40 characters>", "without the blanks round it"),
    (f"{'a ' * 400}{PAT}{' b' * 400}", None, "a long line is cut on both sides"),
]


@pytest.mark.parametrize(("text", "shown", "why"), EXCERPTS, ids=[row[2] for row in EXCERPTS])
def test_an_excerpt_is_masked_visible_and_short(text, shown, why):
    hit = hits(text, known=KNOWN)[0]
    assert shown is None or hit.excerpt == shown
    assert len(hit.excerpt) <= WIDTH
    assert hit.excerpt.isprintable()
    assert "<ghp_… 40 characters>" in hit.excerpt


def test_the_excerpt_of_a_key_of_many_lines_is_its_first():
    key = "-----BEGIN RSA " + "PRIVATE KEY-----\n" + "\n".join(fake(n) for n in range(60, 64)) + "\n-----END RSA "
    (hit,) = hits(f"KEY = '''{key}PRIVATE KEY-----'''\n")
    assert hit.line == 2
    assert hit.excerpt.startswith(r"KEY = '''-----BEGIN RSA PRIVATE KEY-----\n<… ")
    assert not any(line in hit.excerpt for line in key.split("\n")[1:-1])


def test_the_excerpt_of_a_key_names_its_heading():
    (hit,) = hits(f"k: |\n  -----BEGIN {'PRIVATE'} KEY-----\n\n  {fake(64)}\n")
    assert (hit.line, hit.excerpt) == (4, r"-----BEGIN PRIVATE KEY-----\n\n  <… 64 characters>")


COMMENTS = [
    ("  # sentinel: allow", True, "ours"),
    ("  // SENTINEL:ALLOW", True, "in capitals"),
    ("  # gitleaks:allow", True, "of gitleaks"),
    ("  # pragma: allowlist secret", True, "of detect-secrets"),
    ("  # pragma: whitelist secret", True, "of detect-secrets, once"),
    ("  # sentinel: allowed?", False, "another word"),
    ("  # allow", False, "too little"),
    ("\n# sentinel: allow", False, "on another line"),
]


@pytest.mark.parametrize(("comment", "allowed", "why"), COMMENTS, ids=[row[2] for row in COMMENTS])
def test_a_comment_on_the_line_allows_a_find(comment, allowed, why):
    (hit,) = hits(f"x = '{PAT}'{comment}\n")
    assert hit.allowed == ("comment" if allowed else "")
    assert hits(f"x = '{PAT}'{comment}\n", comments=False)[0].allowed == ""
    assert allows(comment.split("\n")[0]) is allowed


def test_no_comment_allows_a_value_of_the_persons_own():
    (hit,) = hits(f"x = '{OWN}'  # sentinel: allow", known=KNOWN)
    assert (hit.leak.kind, hit.allowed) == ("known", "")


SKIPPED = [
    ("logo.svg", True, "a drawing"),
    ("web/package-lock.json", True, "a lock file"),
    ("go.sum", True, "sums"),
    ("dist/app.MIN.js", True, "minified"),
    ("dist/app.js.map", True, "a map of minified code"),
    ("src/lock.py", False, "a name like one"),
    ("svg", False, "a name like an ending"),
    ("", False, "no file"),
]


@pytest.mark.parametrize(("path", "skip", "why"), SKIPPED, ids=[row[2] for row in SKIPPED])
def test_files_that_programs_write_are_searched_for_own_values_only(path, skip, why):
    assert skipped(path) is skip
    assert [hit.leak.kind for hit in hits(f"{PAT}\n{OWN}", path, known=KNOWN)] == ["secret", "known"][skip:]


UNATTENDED = [
    ("tests/test_login.py", True, "a test"),
    ("src/login.spec.ts", True, "a test beside its code"),
    ("app/fixtures/users.json", True, "a fixture"),
    ("README.md", True, "a document"),
    (".env.example", True, "an example"),
    ("config/app.sample.yml", True, "a sample"),
    ("docs/setup/index.py", True, "below the documents"),
    ("src/latest/login.py", False, "a word that ends so"),
    ("config/settings.py", False, "code"),
    ("notes.txt", False, "a note"),
    ("", False, "no file"),
]


@pytest.mark.parametrize(("path", "apart", "why"), UNATTENDED, ids=[row[2] for row in UNATTENDED])
def test_made_up_passwords_of_tests_and_documents_are_let_be(path, apart, why):
    assert is_test_or_document(path) is apart
    assert bool(hits('password = "kX9!mm' + 'pq_2v"', path)) is not apart
    assert hits(PAT, path)


def test_a_policys_pattern_allows_a_file_and_no_other():
    assert hits(f"{PAT} {OWN}", "samples/a.py", known=KNOWN, allow=("samples/",)) == ()
    assert hits(PAT, "src/a.py", allow=("samples/",))
    assert hits(PAT, "", allow=("*",))


def test_personal_data_is_weighed_by_the_file():
    def graded(*pieces):
        return [(hit.leak.rule, hit.leak.grade, hit.path) for hit in scan_pieces(pieces).hits]

    apart = [Piece(f"card {card}\n", f"f{n}.csv") for n, card in enumerate(CARDS)]
    assert graded(*apart) == [("pii-card", Grade.WARN, f"f{n}.csv") for n in range(3)]
    together = [Piece(piece.text, "f.csv", 10 * n) for n, piece in enumerate(apart)]
    assert graded(*together) == [("pii-card", Grade.BLOCK, "f.csv")] * 3
    assert scan_pieces(together, pii=False).hits == ()
    assert hits("write to a.person@nordwind.de") == ()


def test_a_list_is_told_once_and_no_comment_allows_it():
    rows = [f"person.{n}@nordwind.de\n" for n in range(FEW + 57)]
    (hit,) = hits("".join(rows).replace("\n", " # sentinel: allow\n", 1), "people.csv")
    assert (hit.leak.what, hit.count) == ("60 e-mail addresses", 60)
    assert (hit.leak.grade, hit.line, hit.allowed) == (Grade.BLOCK, 1, "")


MANY = [
    ([f"card {card}\n" for card in [*CARDS, CARDS[0]]], "4 payment card numbers", "of several issuers"),
    ([f"ssn {n}36-45-6789\n" for n in range(1, 6)], "5 US social security numbers", "a number of a country"),
]


@pytest.mark.parametrize(("lines", "what", "why"), MANY, ids=[row[2] for row in MANY])
def test_a_list_is_named_as_many(lines, what, why):
    (hit,) = hits("".join(lines), "people.csv")
    assert (hit.leak.what, hit.count, hit.line) == (what, len(lines), 1)


def test_a_key_whose_heading_changed_is_no_news():
    key = "\n".join(fake(64)[n:] + fake(64)[:n] for n in range(20))
    text = f'PRIV = """-----BEGIN RSA {"PRIVATE"} KEY-----\n{key}\n-----END RSA {"PRIVATE"} KEY-----"""\n'

    def new(*numbers):
        lines = lambda leak: range(text.count("\n", 0, leak.start), text.count("\n", 0, leak.end) + 1)  # noqa: E731 - short
        return lambda _piece, leak: not set(lines(leak)).isdisjoint(numbers)

    assert not hits(text, new=new(0, 21))
    (hit,) = hits(text, new=new(0, 8, 21))
    assert (hit.line, hit.leak.value) == (2, key)


def test_what_was_not_looked_at_is_said():
    seen = scan_pieces([Piece(f"{OWN} {PAT}\n" + "a" * LONGEST, "big\x1b.txt")], known=KNOWN)
    assert [hit.leak.kind for hit in seen.hits] == ["known"]
    assert seen.notes == (r"big\x1b.txt: 4,000,062 characters, too long to be searched for forms of secrets",)


def test_what_is_not_told_is_counted():
    seen = scan_pieces([Piece(f"{PAT}\n" * (MOST + 7), "a.txt")])
    assert len(seen.hits) == MOST
    assert seen.notes == ("a.txt: 7 more finds are not listed",)


def test_what_is_not_new_does_not_count_and_is_masked():
    (hit,) = hits(f"{PAT} {OTHER}", new=lambda _piece, leak: leak.value == OTHER)
    assert (hit.leak.value, hit.excerpt) == (OTHER, "<ghp_… 40 characters> <gho_… 40 characters>")


def test_any_line_can_be_shown():
    page = ScannedText(f"a\x1b\nb = '{PAT}'\n", scan(f"a\x1b\nb = '{PAT}'\n"))
    assert [page.line(n) for n in range(5)] == ["", r"a\x1b", "b = '<ghp_… 40 characters>'", "", ""]


def test_hits_keep_the_order_of_pieces_and_know_their_commit():
    pieces = [Piece(PAT, "b.py", 3, "c1"), Piece(OTHER, "a.py", 5, "c2"), Piece("nothing", "a.py", 9, "c2")]
    assert [(hit.path, hit.line, hit.commit) for hit in scan_pieces(pieces).hits] == [
        ("b.py", 3, "c1"),
        ("a.py", 5, "c2"),
    ]
    assert scan_pieces([]).hits == scan_pieces([]).notes == ()


PARTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [PAT, OTHER, OWN, "\n", "a.person@nordwind.de", "password=", '"', "hunter22x!9", *CARDS, "\x1b[0m", "\udc80"]
    ),
)


@given(st.lists(PARTS, max_size=14).map("".join), st.sampled_from(["", "a.py", "tests/a.py", "x.svg"]))
@settings(max_examples=200)
def test_no_excerpt_holds_a_value(text, path):
    seen = hits(text, path, known=KNOWN)
    values = {leak.value for leak in [*scan(text), *KNOWN.find(text)]} | {hit.leak.value for hit in seen}
    for hit in seen:
        assert isinstance(hit.leak, SecretFind)
        assert hit.excerpt.isprintable()
        assert len(hit.excerpt) <= WIDTH
        assert not any(value in hit.excerpt for value in values if len(value) >= 8)
