"""Random words of bash for ``argv_generator``: constants, parameters, arrays, substitutions.

Nothing here can do harm: no absolute path is ever written, the only programs are stubs.
"""

from __future__ import annotations

import random
from collections.abc import Callable

STUBS = ("p", "q", "r-2")
FILES = (
    *("a.txt", "b.txt", "c.md", ".hidden", ".h.txt", "sp ace.txt", "UP.TXT", "[br].txt", "num1", "num2", "num10"),
    *("dir/x.txt", "dir/y.md", "dir/.z", "dir/sub/deep.txt", "dor/x.txt"),
)
NAMES = ("v", "w", "x", "y")
VALUES = (
    "", "one", "a b", "  lead  trail ", "x:y::z", "a,b,c", "*.txt", "num?", "Hello World", "don't", 'say "hi"',
    "a\tb", "line1\nline2", "$HOME", "`p no`", "back\\slash", "~", "-n", "7", "010", "-3", "0x1f", "v", "w", "é",
    "[a]", "archive.tar.gz", "/one/two/three", "aXbXc", "p", "q", "{a,b}", "rm", "mr", "AbC", "r-2", "&", "!", "#c",
    "a=b",
)  # fmt: skip
PATTERNS = (
    "a", "*", "?", "[a-c]", "*:", ":*", "*o", '"*"', "\\*", "$w", '"$w"', "[!a]*", "*[[:space:]]", "[[:upper:]]", "X",
    "t*", "*.", ".*", "*/", "/*", "l", "'a b'", "[^a]", "${x}", "??", "", "one", "[]a]", "[a", "*e*",
)  # fmt: skip
GLOBS = (
    "*", "*.txt", "?.txt", "[ab].txt", "[!a].txt", "[^a].txt", "[a-c]*", "num[0-9]", "num?", "num*", "dir/*",
    "*/x.txt", ".*", ".h*", "d[io]r", "d?r/*.txt", "*/", "no*", "[[:upper:]]*", "[[:alpha:]].txt", "\\*.txt",
    '"*".txt', "'*'", "sp*", "[[]br].txt", "\\[*", "[b]r*", "{a,b,z}.txt", "{a,n}*", "./*.md", "dir/../*.md", "*.TXT",
    "[z-a]*", "[]x]*", "dir//*", "*\\.txt", "num[!12]*",
)  # fmt: skip
BRACES = (
    "{a,b}", "{a,b}{1,2}", "x{a,{b,c}}y", "{1..4}", "{4..1}", "{01..03}", "{1..9..3}", "{9..1..-4}", "{a..e}",
    "{e..a..2}", "{-2..2}", "{-01..1}", "{a}", "{a,}", "{,a}", "{,}", "{}", "{a..}", "{1..b}", "{1..2..}", "{a,b",
    "a,b}", "{'a b',c}", '{"a,b",c}', "{a\\,b,c}", "\\{a,b}", "{a,b\\}", "${v}{1,2}", "{$v,$w}", "x{1..2}{a..b}y",
    "{{a,b},c}", "{{1..2},x}", "{a,b}}", "{{a,b}", "{a b,c}", "pre{*.txt,z}", "{a,$(echo b c)}", '{"$v",z}', "{~,a}",
    "{1..3}{", "}{a,b}", "{A..c}", "a{b,c}d{e}f", "{a..c}{,x}", "{10..08}", "{001..3..2}", "{x,y}'{a,b}'",
    "${v:-{a,b}}", "{a,b}${v:+x}", "{1.2}", "{0..-3}",
)  # fmt: skip
TILDES = (
    "~", "~/x", "~+", "~-", "~+/a", "~nobody9", "a~", "'~'", "\\~", "~\\/x", '~"/x"', "x=~/a", "~/a:~/b", ":~",
    "--o=~/x",
)  # fmt: skip
SUMS = (
    "1+2*3", "7/2", "-7/2", "-7%3", "2**10", "1<<4|1", "6&3", "6^3", "~5", "!0", "!7", "3>2", "3<=2", "3==3&&2!=2",
    "0||5", "1?2:3", "0?2:3", "1,2,5", "010+1", "0x1F", "2#1011", "16#ff", "36#z", "64#_", "(1+2)*3", "v", "w+1",
    "v=5", "v+=2", "v++", "++v", "v--", "--v", "v++ + ++v", "$v+1", "${v}*2", "v>1?v:9", "n=3,n*n", "v<<=2", "-v",
    "- -3", "3 - -2", "a[1]", "a[1]=4", "a[0]+a[1]", "1 ? 2 ? 3 : 4 : 5", "2**3**2", "-2**2", "10%4*2", "100>>2>>1",
    "1<2<3", "v=w=4", "5&~1", "!v", "undefd+1", "x*=3", "x-=1", "(v=3)*v", "v&&(w=9)", "0&&(w=8)", "'3'+4", '"3"+4',
    "1 +\n 2", "9223372036854775807+1", "08",
)  # fmt: skip
ESCAPES = (
    "a\\tb", "\\x41", "\\x4", "\\101", "\\0101", "\\u00e9", "\\u41", "\\U0001F600", "\\n", "\\\\", "\\'", '\\"',
    "\\a", "\\e", "\\E[0m", "\\cA", "\\q", "\\?", "x\\x72m", "\\162\\155", "\\v\\f\\b", "\\x", "\\u", "\\x{41}",
    "a b", "$v", "`", "\\c\\\\",
)  # fmt: skip
FORMATS = (
    "'%s\\n'", "'%s-'", "%d", "'%5s|'", "'%-5s|'", "%05d", "%x", "%X", "%o", "%c", "%b", "%q", "%%", "'\\x70'",
    "'%s %s\\n'", "'\\160'", "'a\\tb'", "%i", "%.2s", "'%3.1s|'", "%+d", "'%s=%d,'", "'%b\\n'", "%s", "'no\\cmore'",
    "%u", "%*d", "%.3d",
)  # fmt: skip
ODD_NAMES = (
    *(
        "\\p",
        "'p'",
        '"p"',
        "p''",
        "$'\\x70'",
        "${nope:-p}",
        "$(echo p)",
        "$(printf '\\x70')",
        "`echo p`",
        "${n_o-p}",
    ),
    *(
        "v=p; $v",
        "v=pp; ${v:0:1}",
        "v=P; ${v,,}",
        "v=xp; ${v#x}",
        "w=p; v=w; ${!v}",
        "a=(p x); ${a[@]}",
        "set -- p y; $@",
    ),
    *(
        'set -- p z; "$@"',
        "printf -v v p; $v",
        "read v <<< p; $v",
        "IFS=,; v=p,1,2; $v",
        "{p,1,2}",
        "v='p  1'; $v",
    ),
    *(
        "eval p",
        "command p",
        "builtin eval p",
        "v=; $v p",
        "$nope p",
        '"${v:-p}"',
        "p\\\n",
        'v=(p); "${v[@]}"',
        "exec p",
    ),
    *(
        "declare -n r=v; v=p; $r",
        "declare -u v; v=p; r-2 $v",
        "declare -A m=([k]=p); ${m[k]}",
        "mapfile -t a <<< p; $a",
    ),
)
"""The program ``p`` under names that are not plainly its own."""


class Words:
    """Words and the dice that they are thrown with; the same seed gives the same text."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.writes = False
        """The snippet needs a folder that it may write to."""

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def quoted(self, value: str) -> str:
        """The value in one of bash's spellings."""
        kind = self.random.randrange(5)
        if kind == 0:
            return "'" + value.replace("'", "'\\''") + "'"
        if kind == 1:
            return '"' + "".join("\\" + c if c in '"$`\\' else c for c in value) + '"'
        if kind == 2:
            hexed = "".join(
                f"\\x{ord(c):02x}" if self.chance(0.3) and c.isascii() and c.isprintable() else c for c in value
            )
            return "$'" + "".join("\\'" if c == "'" else c for c in hexed.replace("back\\s", "back\\\\s")) + "'"
        if kind == 3 and value and "\n" not in value:
            return "".join(c if c.isalnum() else "\\" + c for c in value)
        return "''".join(f"'{c}'" if c != "'" else '"\'"' for c in value) or "''"

    def value(self) -> str:
        value = self.random.choice(VALUES)
        return value if value.isalnum() and self.chance(0.5) else self.quoted(value)

    def name(self) -> str:
        return self.random.choice(NAMES)

    def word(self, depth: int = 1) -> str:
        parts = [self.part(depth) for _ in range(self.random.choice((1, 1, 1, 2, 3)))]
        return "".join(parts) or "''"

    def words(self, depth: int = 1) -> str:
        return " ".join(self.word(depth) for _ in range(self.random.randint(1, 3)))

    def part(self, depth: int) -> str:
        kinds: tuple[Callable[[], str], ...] = (
            lambda: self.pick("a", "-x", "b.c", "1", "--o=", "@", "%", ":", "="),
            self.value,
            lambda: f"${self.name()}",
            lambda: f'"${self.name()}"',
            lambda: self.parameter(depth),
            lambda: f'"{self.parameter(depth)}"',
            lambda: self.random.choice(BRACES),
            lambda: self.random.choice(GLOBS),
            lambda: self.random.choice(TILDES),
            self.arithmetic,
            lambda: self.substitution(depth),
            lambda: f'"{self.substitution(depth)}"',
            lambda: f"$'{self.random.choice(ESCAPES)}{self.random.choice(ESCAPES)}'",
            lambda: f'$"{self.pick("a b", "$v", "x")}"',
            lambda: self.pick(
                '"$@"', "$@", '"$*"', "$*", "$1", "${2}", "$#", "${10}", '"${@:2}"', '"x$@y"', '"${*:1:2}"'
            ),
            self.array,
            lambda: f'"{self.pick("a", "b c")}{self.array()}{self.pick("", "z")}"',
            lambda: self.pick("a\\\nb", "\\\n", '"a\\\nb"', "'a\\\nb'", "\\a\\b", "\\ ", '"\\a\\$\\""', "a'b'\"c\""),
            lambda: self.pick("$IFS", "${IFS}", "a${IFS}b", '"$IFS"', "$", "a$", "$%", "\\$v", "$'\\x24'v"),
        )
        return self.random.choice(kinds)()

    def parameter(self, depth: int) -> str:
        name, pattern = self.name(), self.random.choice(PATTERNS)
        argument = self.word(depth - 1) if depth > 0 else self.pick("d", "'d e'", '"d e"', "$w", "")
        kinds = (
            *(f"${{{name}}}", f"${{#{name}}}"),
            *(f"${{{name}:-{argument}}}", f"${{{name}-{argument}}}", f"${{{name}:=d e}}"),
            *(f"${{{name}:+{argument}}}", f"${{{name}+{argument}}}"),
            *(f"${{nope:-{argument}}}", "${nope:=z}", f"${{n_o-{argument}}}"),
            *(f"${{{name}#{pattern}}}", f"${{{name}##{pattern}}}", f"${{{name}%{pattern}}}", f"${{{name}%%{pattern}}}"),
            f"${{{name}/{pattern}/{self.pick('R', '', '$w', 'a b', '/', 'x/y')}}}",
            f"${{{name}//{pattern}/{self.pick('R', '', '$w', '-')}}}",
            f"${{{name}/{self.pick('#', '%')}{pattern}/{self.pick('R', '')}}}",
            f"${{{name}{self.pick('/', '//')}{pattern}}}",
            f"${{{name}:{self.pick('0', '1', ' -2', '(-3)', '$((1))', '9', '1+1')}}}",
            f"${{{name}:{self.pick('0', '1', ' -3', '2')}:{self.pick('1', '2', '-1', '0', '9')}}}",
            f"${{{name}{self.pick('^', '^^', ',', ',,', '~', '~~')}{self.pick('', '', '[a-c]', '?', 'o')}}}",
            f"${{!{name}}}",
            self.pick("${!v@}", "${!n*}", '"${!x*}"'),
            f"${{{name}@{self.pick('Q', 'U', 'L', 'u', 'E', 'A', 'a')}}}",
        )  # fmt: skip
        return self.random.choice(kinds)

    def arithmetic(self) -> str:
        total = self.random.choice(SUMS)
        return self.pick(f"$(({total}))", f"$(( {total} ))", f'"$(({total}))"', f"$[{total}]")

    def array(self) -> str:
        return self.pick(
            *(
                "${a[@]}",
                "${a[*]}",
                "${#a[@]}",
                "${a[0]}",
                "${a[1]}",
                "${a[-1]}",
                "${a}",
                "${!a[@]}",
                "${a[@]:1}",
                "${a[@]:1:1}",
            ),
            *(
                "${a[@]: -1}",
                "${a[@]#*e}",
                "${a[@]/a/b}",
                "${a[@]^}",
                "${a[v]}",
                "${a[$v]}",
                "${a[1+1]}",
                "${#a[0]}",
                "${a[@]@Q}",
            ),
            *(
                "${a[@]:-none}",
                "${a[@]:+some}",
                "${m[k]}",
                '${m["k 2"]}',
                "${m[$v]}",
                "${#m[@]}",
                "${m[k]:-none}",
                "${m[$w]#*a}",
            ),
        )

    # ---- constant commands ----

    def constant(self, depth: int) -> str:
        """Builtins with a constant output."""
        kinds = (
            f"echo {self.words(depth - 1)}",
            f"echo -n {self.word(depth - 1)}",
            f"echo -e '{self.random.choice(ESCAPES).replace(chr(39), '')}'",
            f"printf {self.random.choice(FORMATS)} {self.words(depth - 1)}",
            f"printf {self.random.choice(FORMATS)} {self.pick('1', '2 3', '0x1f 7', '010', '-4', 'a b c', '')}",
            f"echo {self.word(0)}; echo {self.word(0)}",
            f"v={self.value()}; echo $v",
            "pwd" if self.chance(0.3) else "echo $PWD",
            f"for i in {self.words(0)}; do echo $i; done",
            f"if true; then echo {self.word(0)}; fi",
            f"{{ echo {self.word(0)}; }}",
            f"(echo {self.word(0)})",
            f"cd . && echo {self.pick('*', '$PWD', '*.md')}",
            f"true && echo {self.word(0)}",
            f"read z <<< {self.word(0)}; echo $z",
            f"eval echo {self.word(0)}",
            "",
        )
        return self.random.choice(kinds)

    def substitution(self, depth: int) -> str:
        if depth <= 0:
            return "$(echo s)"
        inner = self.constant(depth - 1)
        if self.chance(0.2) and not set("`\\\"'") & set(inner):
            return f"`{inner}`"
        return f"$({inner})"

    # ---- statements ----
