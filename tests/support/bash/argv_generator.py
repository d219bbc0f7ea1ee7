"""Random bash whose only programs are stubs that print their argv: what ``argv_oracle`` runs.

Nothing here can do harm: command names are the stubs ``p``, ``q`` (fails) and ``r-2``, builtins, functions and aliases;
redirections go to relative names; no absolute path is ever written. One ``Maker`` gives one snippet.
"""

from __future__ import annotations

import re

from tests.support.bash.random_words import BRACES, FORMATS, GLOBS, NAMES, ODD_NAMES, Words

_APART = re.compile(r"<<|alias|\b(?:cd|pushd|popd|declare -n|function)\b|f\(\)")
"""Under a condition these would leave nothing known behind them."""
JOINS = ("; ", "\n", "; ", " && ", "\n")


class Maker(Words):
    """One random snippet; the same seed gives the same text."""

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

    def command(self, depth: int) -> str:
        return f"{self.pick('p', 'p', 'p', 'r-2')} {self.words(depth)}"

    def odd_name(self, _depth: int) -> str:
        name = self.pick(*ODD_NAMES)
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
