"""Generates random bash scripts, and parses scripts with bash and shfmt: for ``parser_oracles.py`` and tests.

Rules of this file:
1. Every command of a generated script has a name of its own (``c1``, ``c2`` …), and such a name stands nowhere else.
2. A script is only parsed: ``bash -n`` as an unprivileged user in an empty folder, and ``shfmt --to-json``.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

UNPRIVILEGED = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
SHFMT = Path(sys.executable).with_name("shfmt")
BATCH = 500
"""Scripts of one driver. One process stays for each of them: bash has no way to parse a text and go on."""

_DRIVER = r"""
for file in "$@"; do
  if said=$(timeout 20 bash --norc --noprofile -O extglob -n "$file" 2>&1 </dev/null) && [ -z "$said" ]
  then echo 1; else echo 0; fi
done
"""

# The grammar: one letter in braces is another row, or what ``Generator`` makes itself:
# N a new name, I commands that may hold newlines, B the same with what closes them, P a short command on one line,
# L a newline with the heredocs that are due, H a heredoc.
PLAIN = (
    *("a", "-x", "'q r'", '"d $v"', "${v}", "*.c", "{x,y}", "~/z", "a\\ b", "$'e\\n'", "--o=p", "==", "!", "n#", "[a]"),
    *("a=b", "$'it\\'s'", '$"t"', "{", "}", "if", "done", "time", "[[", "]]", "case", "in", "esac", "function", "%s"),
    *(
        "w\\\nx",
        "\\\n y",
        '"a\nb"',
        "'#'",
        '"\'"',
        "'\"'",
        "\\'",
        '\\"',
        "\\`",
        "\\$(x",
        "$",
        "a$",
        "@",
        "=",
        "-",
        "--",
    ),
    *("$#", "$$", "$?", "$!", "$*", '"$@"', "${#v}", "${!v}", "${v%%.*}", '${v#"a}"}', "${v//\\//x}", "${v:1:2}"),
    *("${a[0]}", "${a[@]:1}", "${!a[@]}", "${v^^}", "${v@Q}", "$((1+2))", "$((i++ ? 1 << 2 : (3)))", "$[1+2]"),
    *("\\;", "\\&", "'a;b'", '"a|b"', "a'b'\"c\"d", "x{1..3}y", "^x", "]", "a]b", "a,b", "50%", "+x", "~", "a:b"),
)
ROWS: dict[str, tuple[str, ...]] = {
    "W": (
        *("$({I})", '"$({I})"', "`{P}`", '"`{P}`"', "`{N} \\`{P}\\``", "<({I})", ">({I})", "${v:-$({P})}"),
        *('"${v:-"$({P})"}"', "${v/x/$({P})}", "${a[$({P})]}", "$((1 + $({P})))", "$(( (1+2) * `{P}` ))"),
        *("$[1 + $({P})]", "@(a|$({P}))", "!(a|b*)", "+([0-9])x", "?(a)@(b|c)", 'x"$({P})"y', '$"a $({P})"'),
        *("{a,$({P})}", "a=$({P})", '"a $( {N} "b $({P}) c" ) d"', '"`{N} \\"q\\"`"', "${v:=`{P}`}", "$( ( {I} ) )"),
        *(
            "$({N} # it's{L})",
            "$({L}{I})",
            "$(<f)",
            "$({N};)",
            "$( {C})",
            '"${a["$({P})"]}"',
            "${v%$({P})}",
            "$((`{P}`))",
        ),
    ),
    "P": ("{N}", "{N} a", "{N} 'q r'", "{N} {A}", "! {N}", "{N} | {N}", "{N};{N}", "A=1 {N} b", "{N}&&{N}", " ({N} )"),
    "A": tuple(PLAIN[:23]),
    "R": (
        *(">o", ">>o", "2>&1", "<i", "&>o", "<<<h", '<<<"$v"', ">|o", "{fd}>o", ">&2", ">&-", "2>&-", "<&0", "3<>f"),
        *("&>>o", "{fd}<&-", ">&o", "> o", '>"a b"', "<<<$v", ">$({P})", "<<<$({P})", '<<<"a $({P})"', "< <({I})"),
        *("> >({I})", "2> >({P})", "10>o", ">\\\no", "{H}", "{H}", "{H} {R}", "{H} {H}"),
    ),
    "V": ("A=1", "A=$({P})", "A=", "a[1]=2", "a[$({P})]=3", "A+=x", "A='b c'", 'A="$({P})"', "A=`{P}`", "A=~/x:~"),
    "S": (
        *("{N}", "{N} {W}", "{N} {W} {W}", "{V} {N} {W}", "{N} {W} {R}", "{R} {N} {W}", "{N} {R} {W}", "{N} {R} {R}"),
        *("{V} {V} {N}", "{V}", "{V} {V}", "a=({W} {W})", "a+=({W}{L}{W} # c'{L})", "a=([1]={W} [x y]={W})"),
        *("export A={W}", "declare -a a=({W} x)", "local A B={W}", "{N} {W} \\\n {W}", "{N}\\\n {W}", "{R}"),
        *(
            "{N} if then fi",
            "{N} do done",
            "{N} {W} }",
            "{N} for i in",
            "{N} {H} | {N}",
            "{N} {H} && {N} {H}",
            "{N} [[ ]]",
            "{N} coproc until",
        ),
    ),
    "C": (
        *("if {B}then {B}fi", "if {B}then {B}else {B}fi", "if {B}then {B}elif {B}then {B}else {B}fi"),
        *("for i in a {W}; do {B}done", "for i; do {B}done", "for i do {B}done", "for i in a{L}do {B}done"),
        *("for i in; do {B}done", "for i in a; { {B}}", "for ((i=0;i<3;i++)); do {B}done", "for ((;;)) { {B}}"),
        *("for (( i = $({P}) ; i < 3 ; )) do {B}done", "while {B}do {B}done", "until {B}do {B}done"),
        *(
            "select i in a {W}; do {B}done",
            "{ {B}}",
            "{{L}{B}}",
            "( {B})",
            "({I})",
            "( ( {B}) )",
            "{ {B}} {R}",
            "( {B}) {R}",
        ),
        *("case {W} in a) {B};; *) {B};; esac", "case $v in (a|'b c') {B};& b*) {B};;& esac", "case x in esac"),
        *("case $v in{L}# c'{L}a | b ) {N} {W};;{L}in) {N};;{L}*) {B}esac", "case $({P}) in $({P})) {N} ;; esac"),
        *("case x in if) {N};; [a-c]) ;; \\)) {N};; esac", "f{K}() { {B}}", "f{K} () ( {B})", "function f{K} { {B}}"),
        *("function f{K}() { {B}} {R}", "f{K}(){L}{ {B}}", "f{K}() if {B}then {B}fi", "f{K}() [[ -f x ]]"),
        *(
            "function f{K}{L}{ {B}}",
            "f-{K}() for i; do {B}done",
            "coproc {N} {W}",
            "coproc { {B}}",
            "coproc NAME { {B}}",
        ),
        *("coproc while {B}do {B}done", "coproc X ( {B})", "[[ -f x && $v == *.c ]]", "[[ $({P}) == a* || ! -f {W} ]]"),
        *("[[ ( a < b ) && x > $({P}) ]]", "[[ $v =~ ^(a|b)+[0-9]$ ]]", "[[ $v =~ $({P}) ]]", "[[{L} a{L}&& b ]]"),
        *("[[ a == @(b|c) ]]", "[[ -n `{P}` ]] {R}", "(( i++ ))", "(( i = $({P}) + (2 * `{P}`) ))", "((i<<2))"),
        *("if {C}; then {C}; fi", "while :; do {C}; done {R}", "(( $({P}) )) {R}", "for i in $({I}); do {C}; done"),
    ),
    "X": ("", "", "", "", "", "", "", "", "", "", "", "! ", "time ", "time -p ", "time -- ", "! time ", "time ! "),
    "|": (" | ", "|", " |& ", " |{L}", " | \\\n", " |{L}# c{L}"),
    ";": (
        "; ",
        ";",
        " & ",
        "{L}",
        "{L}",
        "{L}{L}",
        " && ",
        " || ",
        "&&",
        "||",
        " &&{L}",
        ' # it\'s ("c"{L}',
        ";{L}",
        "&{L}",
    ),
}
TAGS = (
    ("E{K}", "E{K}"),
    ("'E{K}'", "E{K}"),
    ('"E {K}"', "E {K}"),
    ("\\E{K}", "E{K}"),
    ("E'{K}'", "E{K}"),
    ("-E{K}", "\tE{K}"),
)
TEXTS = (
    "text",
    "it's $v",
    "a\nb",
    'a "b',
    "`{P}`",
    "$({P})",
    "x $({N} 'a') y",
    "${v:-$({P})}",
    "\\$(x)",
    "$((1+$({P})))",
    "",
)
QUOTED = ("text", "it's", "$(x", "`x", "${x", 'a "b', "\\", "a\nb", "")


class Generator:
    """Random bash, valid most of the time."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.heredocs: list[str] = []

    def script(self) -> str:
        depth = self.random.choice((0, 1, 1, 2, 2, 3))
        lines = [self.inline(depth) + self.newline() for _ in range(self.random.randint(1, 3))]
        return self.random.choice(("", "# it's a comment\n")).join(lines)

    def fill(self, row: str, depth: int) -> str:
        """A row with its letters replaced, from left to right."""
        return re.sub(r"\{([A-Z])\}", lambda m: self._letter(m[1], depth), row)

    def _letter(self, letter: str, depth: int) -> str:
        if letter == "N":
            self.count += 1
            name = f"c{self.count}"
            return self.random.choice((name, name, name, name, f"\\{name}", f"/bin/{name}", f"'{name}'", f'"{name}"'))
        if letter == "K":
            self.count += 1
            return str(self.count)
        if letter == "L":
            return self.newline()
        if letter == "I":
            return self._inside(depth - 1)
        if letter == "B":
            text = self.inline(depth - 1)
            return text + (self.newline() if self.heredocs else self.random.choice(("; ", "\n", " ;\n", " # c'\n")))
        if letter == "H":
            return self._heredoc() if depth > 0 else "<i"
        if letter in "WR" and (depth <= 0 or self.random.random() < 0.55):
            return self.random.choice(PLAIN if letter == "W" else ROWS["R"][:22])
        if letter == "C" and depth <= 0:
            return self.fill("{N}", depth)
        return self.fill(self.random.choice(ROWS[letter]), depth if letter == "P" else depth - 1)

    def _inside(self, depth: int) -> str:
        """Commands in a substitution: the heredocs around it wait."""
        outer, self.heredocs = self.heredocs, []
        text = self.inline(depth)
        text += self.newline() if self.heredocs else ""
        self.heredocs = outer
        return text

    def _heredoc(self) -> str:
        written, closing = (part.replace("{K}", str(self.count)) for part in self.random.choice(TAGS))
        self.count += 1
        plain = written[0] not in "'\"\\" and "'" not in written
        outer, self.heredocs = self.heredocs, []
        body = self.fill(self.random.choice(TEXTS if plain else QUOTED), 0)
        self.heredocs = [*outer, f"{body}\n{closing}\n" if body else f"{closing}\n"]
        return "<<" + written

    def newline(self) -> str:
        bodies, self.heredocs = "".join(self.heredocs), []
        return "\n" + bodies

    def pipeline(self, depth: int) -> str:
        def command() -> str:
            compound = depth > 0 and self.random.random() < 0.35
            return self.fill(self.random.choice(ROWS["C" if compound else "S"]), depth)

        text = self.random.choice(ROWS["X"]) + command()
        for _ in range(self.random.choice((0, 0, 0, 1, 2))):
            text += self.fill(self.random.choice(ROWS["|"]), 0) + command()
        return text

    def inline(self, depth: int) -> str:
        text = self.pipeline(depth)
        for _ in range(self.random.choice((0, 1, 2))):
            between = self.fill(self.random.choice(ROWS[";"]), 0)
            text += (self.newline() if self.heredocs else between) + self.pipeline(depth)
        return text


def names(text: str) -> set[str]:
    """The commands of a generated script."""
    return set(re.findall(r"\bc\d+\b", text))


def bash_accepts(texts: Sequence[str]) -> list[bool]:
    """What ``bash -n`` says of each, warnings being a no."""
    user = UNPRIVILEGED if os.geteuid() == 0 else []
    answers: list[bool] = []
    with tempfile.TemporaryDirectory(prefix="sg-scripts-") as folder:
        Path(folder).chmod(0o755)
        for start in range(0, len(texts), BATCH):
            files = []
            for number, text in enumerate(texts[start : start + BATCH]):
                files.append(f"{folder}/{number}")
                Path(files[-1]).write_bytes(text.encode(errors="surrogateescape"))
            argv = [*user, "bash", "--norc", "--noprofile", "-c", _DRIVER, "bash", *files]
            done = subprocess.run(argv, capture_output=True, text=True, cwd=folder, timeout=600, check=True)
            answers += [line == "1" for line in done.stdout.split()]
    assert len(answers) == len(texts)
    return answers


def shfmt_commands(text: str) -> list[str] | None:
    """First words of the commands in shfmt's tree, as written; None where it refuses the text."""
    raw = text.encode(errors="surrogateescape")
    argv = [str(SHFMT), "-ln", "bash", "--to-json"]
    done = subprocess.run(argv, input=raw, capture_output=True, check=False, timeout=60)
    return list(_called(json.loads(done.stdout), raw)) if done.returncode == 0 else None


def _called(tree: object, text: bytes) -> Iterator[str]:
    if isinstance(tree, dict):
        if tree.get("Type") in (None, "CallExpr") and tree.get("Args"):
            word = tree["Args"][0]
            yield text[word["Pos"]["Offset"] : word["End"]["Offset"]].decode(errors="surrogateescape")
        for child in tree.values():
            yield from _called(child, text)
    elif isinstance(tree, list):
        for child in tree:
            yield from _called(child, text)
