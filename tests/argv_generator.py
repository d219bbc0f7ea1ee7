"""Random bash whose only programs are stubs that print their argv: what ``argv_oracle`` runs.

Nothing here can do harm: command names are the stubs ``p``, ``q`` (fails) and ``r-2``, builtins, functions and aliases;
redirections go to relative names; no absolute path is ever written. One ``Maker`` gives one snippet.
"""

from __future__ import annotations

import random
import re
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
_APART = re.compile(r"<<|alias|\b(?:cd|pushd|popd|declare -n|function)\b|f\(\)")
"""Under a condition these would leave nothing known behind them."""
JOINS = ("; ", "\n", "; ", " && ", "\n")


class Maker:
    """One random snippet; the same seed gives the same text."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.writes = False
        """The snippet needs a folder that it may write to."""

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def snippet(self) -> str:
        """What writes files stays where it is: elsewhere it may not."""
        while True:
            self.writes = False
            text = self._snippet()
            # Beside a quoted "$@" that is empty bash splits words in ways of its own.
            text = text if "; set -- " in text[:200] else f"set -- 'a  b' c\n{text}"
            if not (self.writes and re.search(r"\b(?:cd|pushd|popd)\b", text)):
                return text

    def _snippet(self) -> str:
        statements = [self.prelude()] if self.chance(0.6) else []
        statements += [self.statement(2) for _ in range(self.random.choice((1, 1, 2, 2, 3, 4)))]
        if self.chance(0.5):
            statements.append('p "$v" $w "${x}" ${y} "$@" "${a[@]}" ${#a[@]}')
        text = statements[0]
        for statement in statements[1:]:
            plain = not _APART.search(statement + text)
            text += (self.pick(*JOINS) if plain else "\n") + statement
        return text

    def prelude(self) -> str:
        """Values for the names, so that what is known is not blurred by what is not."""
        names = [f"{name}={self.value()}" for name in NAMES]
        return " ".join([*names, f"a=({self.value()} {self.value()})"]) + self.pick(
            "", f"; set -- {self.value()} 'p q' z"
        )

    def statement(self, depth: int) -> str:
        weight = _STATEMENTS if depth > 0 else _FLAT
        return self.random.choice(weight)(self, depth)

    # ---- words ----

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

    def command(self, depth: int) -> str:
        return f"{self.pick('p', 'p', 'p', 'r-2')} {self.words(depth)}"

    def odd_name(self, _depth: int) -> str:
        name = self.pick(
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
        return f"{name} {self.words(0)}"

    def assigning(self, depth: int) -> str:
        name, word = self.name(), self.word(depth)
        return self.pick(
            f"{name}={self.value()}",
            f"{name}={self.value()}",
            f"{name}={word}",
            f"{name}+={self.value()}",
            f"{name}={word} w=${name}",
            f"{self.pick('declare', 'export', 'typeset', 'readonly')} {name}={self.value()}",
            f"export {name}",
            f"{name}=~/a:~/b",
            f"{name}={self.random.choice(BRACES)}",
            f"unset {name}",
            f"declare -i {name}; {name}={self.pick('2+3', '7', 'w', '010')}",
            f"declare -{self.pick('u', 'l')} {name}={self.value()}",
            f"declare -n ref={name}; ref={self.value()}; p $ref",
            f"printf -v {name} {self.random.choice(FORMATS)} {self.words(0)}",
            f"let {name}={self.pick('1+2', '5', '2**3', 'w+1')}",
            f"(({name}{self.pick('=4', '++', '+=3', '=1?7:8')}))",
        )

    def arrays(self, _depth: int) -> str:
        return self.pick(
            f"a=({self.words(0)})",
            f"a=({self.value()} {self.value()} 'c d')",
            f"a+=({self.words(0)})",
            f"a[{self.pick('0', '1', '3', '-1', '1+1', '$#')}]={self.value()}",
            f"a=([2]={self.value()} x [0]=y)",
            f"a=(); a[1]={self.value()}",
            f"unset 'a[{self.pick('0', '1', '-1')}]'",
            f"declare -a a=({self.value()} z)",
            f"declare -A m=([k]={self.value()} ['k 2']=two)",
            f"declare -A m; m[k]={self.value()}; m[$v]=vv",
            "a=(*.txt)",
            'a=($v "$w")',
            f"a={self.value()}",
            'a=("${a[@]:1}")',
            'a=("${a[@]}" "$@")',
            f"mapfile -t a <<< {self.value()}",
            f"read -ra a <<< {self.value()}",
            f"IFS=: read -r -a a <<< {self.value()}",
        )  # fmt: skip

    def positional(self, _depth: int) -> str:
        return self.pick(
            f"set -- {self.words(0)}",
            f"set -- {self.value()} {self.value()} b",
            "shift",
            "set -- a b c d e f g h i j k; shift 2",
            'set -- "$@" z',
        )

    def splitting(self, _depth: int) -> str:
        ifs = self.pick(
            "IFS=,",
            "IFS=:",
            "IFS=",
            "unset IFS",
            "IFS=$' \\t'",
            "IFS=', '",
            "IFS=$'\\n'",
            "IFS=X",
            "IFS=ab",
            "IFS=': '",
        )
        return self.pick(
            f"{ifs}; v={self.value()}; p $v x$v",
            f'{ifs}; p $v "$*" $* ${{a[*]}} "${{a[*]}}"',
            f'{ifs}; set -- {self.value()} {self.value()}; p "$*" $* "$@"',
            f"{ifs.removeprefix('unset ')} read -r x y <<< {self.value()}; p \"$x\" \"$y\"",
            f"{ifs}; p $(echo {self.value()})",
        )  # fmt: skip

    def reading(self, _depth: int) -> str:
        options = self.pick("", "", "-r ", "-r ", "-a a ", "-ra a ", "-n 3 ", "-d , ", "-r -d '' ", "-N 2 ")
        names = "" if "a a" in options else self.pick("", "x", "x y", "x y w", "x y w v")
        kind = self.random.randrange(4)
        if kind == 0:
            self.count += 1
            quote = self.pick("", "'", "-")
            tag = f"E{self.count}"
            start = {"": f"<<{tag}", "'": f"<<'{tag}'", "-": f"<<-{tag}"}[quote]
            line = self.pick("", "\t") + self.pick("one two", "$v x", "a b", "$(echo s t)", "\tq")
            return f'read {options}{names} {start}\n{line}\n{tag}\np "$x" "$y" "$REPLY"'
        text = (
            self.value()
            if kind == 1
            else self.pick("' a b  c '", "'x:y z'", "'back\\sl ash'", '"$v"', "$w", "$'l1\\nl2'")
        )
        return f'read {options}{names} <<< {text}; p "$x" "$y" "$REPLY" "${{a[@]}}"'

    def prefixed(self, _depth: int) -> str:
        name = self.name()
        return self.pick(
            f"{name}={self.value()} p ${name}; p ${name}",
            f"{name}={self.value()} eval 'p ${name}'",
            f"{name}=1 w=${name} p; p ${name}",
            f"f() {{ p ${name} $1; }}; {name}={self.value()} f ${name}; p ${name}",
            "IFS=, p $v",
        )

    def globbing(self, _depth: int) -> str:
        option = self.pick(
            *(
                "",
                "",
                "shopt -s nullglob; ",
                "shopt -s dotglob\n",
                "shopt -s globstar; ",
                "shopt -s extglob\n",
                "set -f; ",
            ),
            *(
                "shopt -s nocaseglob; ",
                "set -o noglob; ",
                "shopt -s failglob\n",
                "GLOBIGNORE=a.txt; ",
                "set -f; set +f; ",
            ),
            *("shopt -s nullglob; shopt -u nullglob; ", "cd dir; ", "v='*.txt'; p $v; ", "shopt -s extglob\n"),
        )
        if option.endswith("extglob\n"):
            return option + "p " + self.pick("@(a|b).txt", "!(*.txt)", "+([a-z0-9])", "?(a).txt", "*(num)1")
        return f"{option}p {self.random.choice(GLOBS)} {self.random.choice(GLOBS)}"

    def moving(self, _depth: int) -> str:
        step = self.pick(
            *("cd dir", "cd ..", "cd dir/sub", "cd -", "cd"),
            *("cd ~", "cd ./dor", "cd nowhere", "pushd dir", "popd", "cd dir; cd -"),
            *("pushd dir; pushd sub; popd", "(cd dir; p *)", "pushd dir; pushd"),
            *('cd "$v"', "cd dir//sub/..", "cd -P dir"),
        )  # fmt: skip
        return f'{step}; p *.txt "${{PWD##*/}}" {self.pick("*", "~+", "${OLDPWD##*/}", "$(pwd)")}'

    def function(self, depth: int) -> str:
        body = self.pick(
            'p "$@" $#',
            "local v=inner; p $v",
            "v=changed; p $1",
            'p ${1:-none}; shift; p "$*"',
            'local x=$1; x+=y; p "$x"; return; p never',
            "p $1; return 0",
            "set -- new args; p $@",
            "local -a a=(l m); p ${a[@]}",
            '[ -n "$1" ] && return; v=late; p late',
            f"{self.statement(depth - 1)}",
        )  # fmt: skip
        sep = "\n" if "\n" in body else "; "
        head = self.pick("f() {", "function f {", "f() (").rstrip()
        return f'{head} {body}{sep}{")" if head[-1] == "(" else "}"}\nf {self.words(0)}\np "$v" "$x" $@'

    def aliased(self, _depth: int) -> str:
        value = self.pick("p", "p one", "p $v", "v=3 p", "p '*'", "r-2 ", "al2 x", "p a; p")
        start = f"shopt -s expand_aliases\nalias al={self.quoted(value)} al2='p two'\n"
        return f"{start}{self.pick('', 'unalias al;')}al {self.words(0)}"

    def choosing(self, _depth: int) -> str:
        subject = self.pick("$v", '"$v"', "one", "$(echo b)", "${w}x", "'*'")
        arms = "".join(self.arm() for _ in range(self.random.randint(1, 3)))
        return f"case {subject} in{arms} esac"

    def arm(self) -> str:
        pattern = self.pick("a", "one", "*", "o*", "[a-o]*", '"$v"', "a|b", "$w", '"*"', "?", "x|*x")
        body = f"p {self.word(0)}; {self.name()}={self.value()}".replace("\n", " ")
        return f" {self.pick('', '(')}{pattern}) {body}{self.pick(';;', ';;', ';;', ' ;&', ' ;;&')}"

    def condition(self) -> str:
        return self.pick(
            *(
                "true",
                "false",
                "p c",
                "q c",
                "! q",
                '[ -n "$v" ]',
                "[[ $v == a* ]]",
                "((1))",
                "test a = b",
                "[ 1 -lt 2 ]",
            ),
            *("[[ -f a.txt ]]", "v=1", "((v > 2))", "[[ a =~ b ]]", '[ -z "$nope" ]', "p x && q y", ":", "! true"),
        )

    def branching(self, depth: int) -> str:
        first, second, third = (self.inline(depth - 1) for _ in range(3))
        return self.pick(
            f"if {self.condition()}; then {first}; else {second}; fi",
            f"if {self.condition()}; then {first}; elif {self.condition()}; then {second}; fi; p $v",
            f'{self.condition()} && {first} || {second}; p "$v"',
            f'{self.condition()} || {first}; p "$v" $w',
            f"! {self.condition()} && {third}",
            f"{{ {first}; {second}; }}; p $v",
            f"( {first}; {second} ); p $v",
        )  # fmt: skip

    def inline(self, depth: int) -> str:
        """A statement on one line."""
        for _ in range(20):
            text = self.statement(depth)
            if "\n" not in text and not re.search(r"\b(?:cd|pushd|popd|declare -n)\b", text):
                return text
        return "p line"

    def looping(self, depth: int) -> str:
        self.count += 1
        i, n = f"i{self.count}", f"n{self.count}"  # a name of its own, so that every loop ends
        body = self.inline(depth - 1)
        stop = self.pick(
            "", "", "", "break; ", "continue; ", f'[ "${i}" = b ] && break; ', f'[ "${i}" = a ] && continue; '
        )
        return self.pick(
            f"for {i} in {self.words(0)}; do p ${i}; {stop}{body}; done; p ${i} $v",
            f'for i in a b c; do {stop}v+=$i; p "$v"; done; p $v',
            f'for {i}; do p "${i}"; {body}; done',
            f"for (({i}=0; {i}<{self.pick('2', '3', '0')}; {i}++)); do p ${i}; {body}; done; p ${i}",
            f"for (({i}=3, {n}=0; {i}; {i}--)); do {stop}{n}=$(({n}+{i})); done; p ${i} ${n}",
            f"{i}=0; while (({i} < 2)); do p ${i}; (({i}++)); {body}; done; p ${i}",
            f"{n}=0; until [ ${n} -ge 2 ]; do p ${n}; {n}=$(({n}+1)); done; p ${n}",
            f'while read -r x y; do p "$x" "$y"; {stop}done <<< {self.value()}; p $x',
            f"printf '%s\\n' {self.words(0)} | while read x; do p \"$x\"; done; p $x",
            f"for {i} in {{1..3}}; do p ${i}; done",
            f'echo {self.words(0)} | {{ read x y; p "$x" "$y"; }}; p $x',
            f'{{ read x; read y; p "$x" "$y"; }} <<< {self.value()}',
            "while true; do p once; break; done",
            f"{n}=; while :; do {n}+=x; p ${n}; [ ${{#{n}}} -gt 3 ] && break; done; p ${n}",
            f'{n}=; for (({i}=0; {i}<${{#v}} && {i}<9; {i}++)); do {n}=${{v:${i}:1}}${n}; done; p "${n}"',
        )  # fmt: skip

    def evaluating(self, depth: int) -> str:
        self.count += 1
        inner = self.inline(depth - 1)
        return self.pick(
            f"eval {self.quoted(inner)}",
            f"eval p {self.words(0)}",
            f'v={self.quoted(inner)}; eval "$v"',
            f"trap {self.quoted(self.pick('p trapped', 'p $v', 'p a; p b'))} "
            f"{self.pick('EXIT', '0', 'ERR', 'DEBUG', 'EXIT INT')}; q x",
            f". ./f{self.count}.sh {self.words(0)}" if self.written(inner) else "",
            f"eval \"$(echo {self.quoted('p ' + self.word(0))})\"",
            f"eval 'v={self.pick('5', 'z')}; p $v'; p $v",
            f". /dev/stdin <<< {self.quoted('p here')}" if self.chance(0.01) else "eval 'eval \"p twice\"'",
        ) or f"eval {self.quoted(inner)}"  # fmt: skip

    def written(self, _inner: str) -> bool:
        return False

    def files(self, _depth: int) -> str:
        self.writes = True
        self.count += 1
        name = f"f{self.count}.sh"
        text = self.pick(
            "p sourced $1", "v=from; p $v", "p a\np b", 'p "$@"', "f() { p in $1; }; f x", "cd .; p $v", "return; p no"
        )
        tag = f"F{self.count}"
        return self.pick(
            f"echo {self.quoted(text)} > {name}; . ./{name} {self.words(0)}; p $v",
            f"printf '%s\\n' {self.quoted(text)} >> {name}\nsource {name}\np \"$@\"",
            f"cat_() {{ while IFS= read -r l; do echo \"$l\"; done; }}; cat_ <<'{tag}' > {name}\n{text}\n{tag}\np $v",
            f'echo {self.word(0)} > {name}; read x < {name}; p "$x"',
            f'echo {self.word(0)} > {name}; p "$(<{name})" *',
            f"{{ echo p one; echo p two; }} > {name}; . ./{name}",
            "echo x > 'a b'; echo y > c; p * \"$v\"",
        )  # fmt: skip


_FLAT = (
    *(Maker.command,) * 6,
    *(Maker.odd_name,) * 2,
    *(Maker.assigning,) * 6,
    *(Maker.arrays,) * 4,
    *(Maker.positional,) * 2,
    *(Maker.splitting,) * 2,
    *(Maker.reading,) * 2,
    *(Maker.prefixed,) * 2,
    *(Maker.globbing,) * 3,
    *(Maker.moving,) * 2,
)
_STATEMENTS = (
    *_FLAT,
    *(Maker.function,) * 3,
    *(Maker.aliased,) * 1,
    *(Maker.choosing,) * 2,
    *(Maker.branching,) * 4,
    *(Maker.looping,) * 5,
    *(Maker.evaluating,) * 2,
    *(Maker.files,) * 2,
)
