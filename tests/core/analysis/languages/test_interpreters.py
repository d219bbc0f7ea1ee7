"""Texts in other languages -> effects, one table a language. Every text here is only ever parsed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentinel_guard.core.analysis.languages.one_liners.language_tables import GRAMMARS
from sentinel_guard.core.analysis.languages.sed import script_actions
from sentinel_guard.core.analysis.languages.shared.tokenizer import tokens
from tests.core.analysis.programs.test_registry import rows, shown

NODE = [
    ("node -e \"const f='.'+'env'; require('fs').rmSync(f)\"", ["delete .env recursive"], "a constant in a variable"),
    ("node -e \"const {rmSync:z}=require('node:fs'); z('/')\"", ["delete / recursive"], "destructured and renamed"),
    ("node -e \"import {unlink} from 'fs/promises'; unlink('.env')\"", ["delete .env"], "imported"),
    ("node -e 'const cp=require(\"child_process\"); cp.exec(`rm -f ${\".e\"}nv`)'", ["delete .env force"], "template"),
    ('node -e \'require("fs")["unlink"+"Sync"](".env")\'', ["delete .env"], "a computed name"),
    ('node -e \'["a",".env"].forEach(f=>require("fs").unlinkSync(f))\'', ["delete a", "delete .env"], "forEach"),
    ("node -e 'for (const f of [\".env\"]) fs.rmSync(f)'", ["delete .env recursive"], "for of"),
    ("node -e 'eval(atob(\"ZnMudW5saW5rU3luYygiLmVudiIp\"))'", ["delete .env"], "decoded and evaluated"),
    ('node -p \'require("child_process").spawnSync("rm",["-f",".env"])\'', ["delete .env force"], "-p and an argv"),
    ("node -e 'fs.rmSync(process.argv[1])' .env", ["delete .env recursive"], "an argument of the command"),
    ("node -e 'fs.rmSync(q)'", ["opaque $(a value) delete ?"], "an unknown path"),
    ("node -e 'process.chdir(\"/\"); require(\"child_process\").execSync(\"rm -f a\")'", ["delete /a force"], "chdir"),
    ("deno eval 'Deno.removeSync(\".env\")'", ["delete .env recursive"], "deno"),
    ("bun -e 'await Bun.write(\".env\",\"\")'", ["write .env truncate"], "bun"),
    ("node -e 'function wipe(p){fs.unlinkSync(p)} wipe(\".env\")'", ["delete .env"], "a function that is called"),
    ("node -e 'function f(){fs.unlinkSync(\".env\")}'", ["delete .env ?"], "one that is not"),
    ("node -e 'console.log(process.version)'", [], "nothing"),
    ('node -e \'console.log("rm -rf /", /unlinkSync(".env")/.test("x"))\'', [], "a string and a regex"),
    ("node -e 'const m=new Map(); m.delete(\".env\"); new Set([\".env\"]).delete(\".env\")'", [], "a map and a set"),
    ("node -e '/* fs.unlinkSync(\".env\") */ 1 // rm -rf /'", [], "comments"),
    ("node -e 'const re=/rm -rf/; console.log(re.exec(\"rm -rf /\"))'", [], "exec of a regex"),
    ("node -e 'const d=require(\"./package.json\"); delete d.scripts; console.log(d)'", [], "the delete operator"),
    ("node -e 'fs.writeFileSync(\"package.json\", \"{}\")'", ["write package.json truncate"], "an honest write"),
    ("node -e 'for (let i=0;i<3;i++) console.log(i/2/1)'", [], "divisions are no regex"),
    ("node -e \"console.log('$X')\"", [], "the shell fills in data"),
    ('node -e "$X"', ["opaque … code ?"], "the shell fills in the code"),
]  # fmt: skip

PERL = [
    ("perl -e 'unlink(q{.env})'", ["delete .env"], "q"),
    ("perl -e 'my $f=\".env\"; unlink $f or die'", ["delete .env"], "a variable"),
    ("perl -e 'open F, \">.env\"'", ["write .env truncate"], "open of two"),
    ("perl -e 'open(my $h, \">>\", \".env\")'", ["write .env append"], "open of three"),
    ("perl -e 'qx(rm -f .env)'", ["delete .env force"], "qx"),
    ("perl -e 'system(\"rm\",\"-f\",\".env\")'", ["delete .env force"], "a list"),
    ("perl -0777 -i.bak -pe 's/.*//s' .env", ["write .env inplace"], "a bundle that edits in place"),
    ("perl -E 'say for map { unlink } (\".env\")'", ["delete .env"], "the topic"),
    ("perl -e 'unlink for qw(a .env)'", ["delete a", "delete .env"], "a modifier"),
    ("perl -e 'eval \"unlink q(.env)\"'", ["delete .env"], "eval of a string"),
    ("perl -e 'unlink \"$ENV{HOME}/.bashrc\"'", ["delete /home/ann/.bashrc"], "the environment"),
    ("ls | perl -ne 'chomp; unlink'", ["opaque $(a value) delete ?"], "each line of the input"),
    ("perl -e 'system(<<E);\nrm -f .env\nE\n'", ["delete .env force"], "a heredoc"),
    ("perl -pe 's/a/b/' README.md", ["read README.md"], "a filter"),
    ("perl -ne 'print if /unlink \".env\"/' README.md", ["read README.md"], "a pattern"),
    ("perl -e 'print \"unlink q(.env)\\n\"'", [], "a string"),
    ("perl -e 'my %h=(a=>1); delete $h{a}; print keys %h'", [], "delete of a key"),
    ("perl -e 'my $r={unlink=>1}; print $r->{unlink}'", [], "a key of that name"),
    ("perl -e '\n=pod\n\nunlink \".env\"\n\n=cut\n'", [], "documentation"),
    ("perl -wc x.pl", [], "a check"),
    ("perl -lane 'print $F[0]' README.md", ["read README.md"], "fields"),
    ("perl -e 'print qx(git status)'", [], "a program that is honest"),
]  # fmt: skip

RUBY = [
    ("ruby -e 'File.delete(\".env\")'", ["delete .env"], "delete"),
    ("ruby -e 'FileUtils.rm_rf \"/\"'", ["delete / force recursive"], "without parentheses"),
    ("ruby -e '%x(rm -f .env)'", ["delete .env force"], "%x"),
    ("ruby -e 'system \"rm\", \"-f\", \".env\"'", ["delete .env force"], "a list"),
    ("ruby -e 'File.open(\".env\", \"w\") { |f| f.write(\"\") }'", ["write .env truncate"], "open for writing"),
    ("ruby -e 'Pathname.new(\".env\").delete'", ["delete .env"], "a path object"),
    ("ruby -e '%w[a .env].each do |f| File.unlink f end'", ["delete a", "delete .env"], "a block"),
    ("ruby -e 'f = \"#{\".e\"}nv\"; File.unlink f'", ["delete .env"], "interpolation"),
    ("ruby -e 'File.send(:unlink, \".env\")'", ["delete .env"], "send"),
    ("ruby -i -pe '$_.upcase!' .env", ["write .env inplace"], "in place"),
    ("ruby -e 'Kernel.exec(\"rm -f .env\")'", ["delete .env force"], "exec"),
    ("ruby -e 'puts 1'", [], "nothing"),
    ("ruby -e 'puts \"File.delete(%q{.env})\"'", [], "a string"),
    ("ruby -e 'h = {a: 1}; h.delete(:a); [1].delete(\".env\")'", [], "a hash and an array"),
    ("ruby -e 'puts File.read(\"README.md\")'", ["read README.md"], "a file that is read"),
    ("ruby -e 'puts `git log -1`'", [], "an honest program"),
    ("ruby -c x.rb", [], "a check"),
    ("ruby -ne 'puts $_ if $_ =~ /rm -rf/' README.md", ["read README.md"], "a filter"),
    ("ruby -e 'puts \"a-b\".tr(\"-\", \"_\")'", [], "tr of a string"),
    ("ruby -e 'x = 10 %3; puts x /2'", [], "a remainder and a division"),
    ("ruby -e '# File.delete(\".env\")\nputs 1'", [], "a comment"),
    ("ruby -e 'if ARGV.empty? then puts 1 end; while false do end'", [], "blocks that end"),
]  # fmt: skip

PHP_LUA = [
    ("php -r '$f = \".\" . \"env\"; unlink($f);'", ["delete .env"], "a variable of PHP"),
    ("php -r 'echo `rm -f .env`;'", ["delete .env force"], "backticks of PHP"),
    ("php -r 'array_map(\"unlink\", [\".env\"]);'", ["delete .env"], "a function by its name"),
    ("php -r '$f=\"unlink\"; $f(\".env\");'", ["delete .env"], "a string that is called"),
    ("php -r 'foreach ([\"a\", \".env\"] as $f) unlink($f);'", ["delete a", "delete .env"], "foreach"),
    ("php -r 'fopen(\".env\",\"w\");'", ["write .env truncate"], "fopen"),
    ("lua -e 'os.remove(\".\" .. \"env\")'", ["delete .env"], "joined in Lua"),
    ("lua -e 'os.execute([[rm -f .env]])'", ["delete .env force"], "a long string of Lua"),
    ("lua -e 'os.remove(\"\\046env\")'", ["delete .env"], "an escape that counts by ten"),
    ("lua -e 'for _, f in ipairs({\".env\"}) do os.remove(f) end'", ["delete .env"], "a loop of Lua"),
    ("php -r 'echo 1;'", [], "nothing of PHP"),
    ("php -r 'echo \"unlink(.env)\"; // unlink(\".env\")'", [], "a string and a comment of PHP"),
    ("php -r '$a=[\"x\"=>1]; unset($a[\"x\"]);'", [], "unset"),
    ("php -l x.php", [], "a check of PHP"),
    ("php -r 'file_put_contents(\"out.txt\", \"rm -rf /\");'", ["write out.txt truncate"], "an honest write"),
    ("lua -e 'print([[os.remove(\".env\")]]) -- os.remove(\".env\")'", [], "a string and a comment of Lua"),
    ("lua -e 'local t = {} table.remove(t, 1)'", [], "a table"),
    ("lua -e '--[[ os.remove(\".env\") ]] print(1)'", [], "a long comment"),
    ("lua -e 'for i = 1, 3 do print(i) end'", [], "a loop that counts"),
    ("lua -e 'local f = io.open(\"README.md\", \"r\")'", ["read README.md"], "a file that is read"),
]  # fmt: skip

OTHERS = [
    ("Rscript -e 'unlink(\".env\")'", ["delete .env recursive"], "R"),
    ("julia -e 'run(`rm -f .env`)'", ["delete .env force"], "a command of Julia"),
    ("elixir -e 'File.rm_rf!(\"/\")'", ["delete / force recursive"], "Elixir"),
    ("erl -noshell -eval 'os:cmd(\"rm -f .env\").'", ["delete .env force"], "Erlang"),
    ("groovy -e 'new File(\".env\").delete()'", ["delete .env"], "Groovy"),
    ("osascript -e 'do shell script \"rm -f \" & \".env\"'", ["delete .env force"], "AppleScript"),
    ("pwsh -c \"Set-Content -Path .env -Value ''\"", ["write .env truncate"], "a cmdlet that writes"),
    ("pwsh -c '$f = \".env\"; ri $f'", ["delete .env"], "an alias and a variable"),
    ("pwsh -enc UgBlAG0AbwB2AGUALQBJAHQAZQBtACAALgBlAG4AdgA=", ["delete .env"], "an encoded command"),
    ("pwsh -c 'Get-ChildItem src | Remove-Item -Recurse'", ["delete src recursive"], "a pipeline"),
    ("pwsh -c 'Stop-Computer'", ["privilege power"], "power"),
    ("Rscript -e 'x <- 1; rm(x)'", [], "rm of a variable"),
    ("julia -e 'println(VERSION)'", [], "nothing of Julia"),
    ("elixir -e 'IO.puts(\"File.rm_rf!\")'", [], "a string of Elixir"),
    ("groovy -e 'println 1'", [], "nothing of Groovy"),
    ("osascript -e 'display notification \"rm -rf /\"'", [], "a notification"),
    ("pwsh -c 'Get-Process | Where-Object { $_.CPU -gt 10 }'", [], "a filter"),
    ("pwsh -c 'Write-Output \"Remove-Item .env\"'", [], "a string"),
    ("pwsh -c '# Remove-Item .env'", [], "a comment"),
]  # fmt: skip

AWK = [
    ("awk 'BEGIN { c = \"rm -f .env\"; system(c) }'", ["delete .env force"], "a variable"),
    ("awk 'BEGIN { system(\"rm -f \" \".env\") }'", ["delete .env force"], "side by side"),
    ("awk 'BEGIN { print \"x\" > \".env\" }'", ["write .env truncate"], "a redirection"),
    ("awk -v f=.env 'BEGIN { printf \"\" >> f }'", ["write .env append"], "a variable of the command line"),
    ("awk 'BEGIN { print \"rm -f .env\" | \"sh\" }'", ["delete .env force"], "a pipe into a shell"),
    ("awk 'BEGIN { \"rm -f .env\" | getline }'", ["delete .env force"], "getline"),
    ("awk '{ system($0) }' README.md", ["opaque a value that awk gives to the shell code ?", "read README.md"], "data"),
    ("gawk -i inplace '{print}' .env", ["write .env inplace"], "in place"),
    ("awk '{print $1}' README.md", ["read README.md"], "a column"),
    ("awk '$3 > 5 { print }' README.md", ["read README.md"], "a comparison"),
    ("awk '{ if ($3>5) print > \"out.txt\" }' README.md", ["write out.txt truncate", "read README.md"], "an output"),
    ("awk '/system(\"rm\")/' README.md", ["read README.md"], "a pattern"),
    ("awk '{ print | \"sort -rn\" }' README.md", ["read README.md"], "a pipe into an honest program"),
    ("awk 'BEGIN { print (1 > 2) }'", [], "a comparison in brackets"),
    ("awk '{ print \"rm -rf \" $1 }' README.md", ["read README.md"], "a string"),
    ("awk -F: -v n=3 'NR % n == 0' README.md", ["read README.md"], "a variable"),
]  # fmt: skip

SED = [
    ("sed -n 'w .env' README.md", ["write .env truncate", "read README.md"], "w"),
    ("sed 's/a/b/gw .env' README.md", ["write .env truncate", "read README.md"], "a flag that writes"),
    ("sed '1e rm -f .env' README.md", ["delete .env force", "read README.md"], "e"),
    ("sed 's/.*/rm -f .env/e' README.md", ["delete .env force", "read README.md"], "a flag that runs"),
    ("sed e README.md", ["opaque what sed reads, run as commands code ?", "read README.md"], "e of what is read"),
    ("sed -ni.bak p .env", ["write .env inplace"], "a bundle"),
    ("sed -e p -e 'w .env' README.md", ["write .env truncate", "read README.md"], "several scripts"),
    ("sed -n 1,60p README.md", ["read README.md"], "lines"),
    ("sed 's/e/w/' README.md", ["read README.md"], "letters of a replacement"),
    ("sed 's/[/]/w/;s|x|e|' README.md", ["read README.md"], "a bracket that holds the delimiter"),
    ("sed '/w .env/d; y/abc/wer/' README.md", ["read README.md"], "an address and y"),
    ("sed '1i\\\nw .env' README.md", ["read README.md"], "inserted text"),
    ("sed -e ':a' -e '$!{N;ba' -e '}' -e 's/\\n/ /g' README.md", ["read README.md"], "labels"),
    ('sed "s/$A/$B/" README.md', ["read README.md"], "the shell fills in data"),
    ("sed 's/a/b/w /dev/stdout' README.md", ["read README.md"], "onto standard output"),
]  # fmt: skip

EDITORS = [
    ("vim -c '!rm -f .env' -c q", ["delete .env force"], "a bang"),
    ("vim -c 'call delete(\".env\")' -c q", ["delete .env recursive"], "a function of vim"),
    ("vim -es -c 'w! .env' -c q README.md", ["write .env truncate", "read README.md"], "w to another file"),
    ("ex -s -c '%d|x' .env", ["write .env empty inplace"], "a bar"),
    ("printf 'w\\nq\\n' | ed -s .env", ["write .env inplace"], "ed that writes"),
    ("printf '!rm -f .env\\nq\\n' | ed -s README.md", ["delete .env force"], "ed that runs"),
    ("emacs --batch --eval '(delete-file (concat \".e\" \"nv\"))'", ["delete .env"], "emacs"),
    ("emacs --batch --eval '(shell-command \"rm -f .env\")'", ["delete .env force"], "emacs' shell"),
    ("vim -c 'set number' README.md", ["write README.md inplace"], "an editor may write what it opens"),
    ("vim -R README.md", ["read README.md"], "one that only reads"),
    ("vim -es -c '%p' -c 'q!' README.md", ["read README.md"], "a batch that does not write"),
    ("printf ',p\\nq\\n' | ed -s README.md", [], "ed that does not write"),
    ("printf 'a\\n!rm -f .env\\n.\\nq\\n' | ed -s README.md", [], "text that ed is given"),
    ("emacs --batch --eval '(message \"delete-file\")'", [], "a string of emacs"),
    ("nvim --headless +PlugInstall +qall", [], "plug-ins"),
]  # fmt: skip

TABLES = [*NODE, *PERL, *RUBY, *PHP_LUA, *OTHERS, *AWK, *SED, *EDITORS]


@pytest.mark.parametrize(("command", "effects"), rows(TABLES))
def test_what_it_does(command, effects):
    assert shown(command) == effects


_BITS = st.sampled_from(
    ["'", '"', "`", "${", "#{", "}", "(", ")", "[", "]", "/", "\\", "\n", "q{", "s/", "%w[", "<<E", "--[[", "=>", "do ",
    "end ", "|x|", "fs.rmSync", "unlink ", "for ", "$_", "@{", "\0", "a", ".", "=", "1", ";", "function ", "sub ",
     "if "]
)  # fmt: skip
_PROGRAMS = (
    "node -e",
    "perl -ne",
    "ruby -e",
    "php -r",
    "lua -e",
    "awk",
    "ex -c",
    "emacs --eval",
    "pwsh -c",
    "python3 -c",
)


@settings(max_examples=60, deadline=None)
@given(st.lists(_BITS | st.text(max_size=3), max_size=40).map("".join), st.sampled_from(sorted(GRAMMARS)))
def test_the_lexer_takes_any_text(text, language):
    assert sum(len(token.text) for token in tokens(text, GRAMMARS[language].lexis)) <= 2 * len(text) + 1


@settings(max_examples=60, deadline=None)
@given(
    st.lists(_BITS | st.text(max_size=3), max_size=40).map("".join),
    st.sampled_from(_PROGRAMS),
)
def test_any_text_has_effects(text, program):
    text = text.replace("\0", "").replace("'", "'\\''")
    assert isinstance(shown(f"{program} '{text}'"), list)


@settings(max_examples=60, deadline=None)
@given(st.text("sweyaic/\\1,$!{};:\n[]gp ", max_size=60))
def test_any_text_is_a_sed_script(text):
    assert all(deed.how in ("run", "write", "read") for deed in script_actions(text))


HOSTILE = [("node -e", "f=>", "arrows"), ("node -e", "(", "brackets"), ("perl -e", '"', "strings"),
           ("ruby -e", "do |x| ", "blocks"), ("node -e", '"a"+', "a long sum")]  # fmt: skip


@pytest.mark.parametrize(("program", "unit"), [pytest.param(*row[:2], id=row[2]) for row in HOSTILE])
def test_a_hostile_text_is_bounded(program, unit):
    text = unit * (20_000 // len(unit))
    assert all("opaque" in effect for effect in shown(f"{program} '{text}'"))
