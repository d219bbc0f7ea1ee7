"""Texts in languages without a reader, and what builds or runs them. Every text here is only ever parsed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.analysis.programs.test_registry import rows, shown

RUNS = [
    ("guile -c '(system \"rm -f .env\")'", ["delete .env force"], "a Lisp's system"),
    ("guile -c '(system* \"rm\" \"-f\" \".env\")'", ["delete .env force"], "words of their own"),
    ("racket -e '(delete-file \".env\")'", ["delete .env ?"], "a path behind a name that deletes is a guess"),
    ("tclsh <<< 'exec rm -f .env'", ["delete .env force"], "Tcl's exec takes bare words"),
    ("tclsh <<< 'file delete -force .env'", ["delete .env ?"], "Tcl's file delete"),
    ("tclsh <<< '# exec rm -f .env'", [], "a comment"),
    ("m4 <<< 'syscmd(`rm -f .env'\\'')'", ["delete .env force"], "m4's quotes"),
    ("octave --eval \"system('rm -f .env')\"", ["delete .env force"], "single quotes"),
    ("octave --eval \"x = [1 2]'; disp(x')\"", [], "a transposed matrix is no string"),
    ("scala -e '\"rm -f .env\".!'", ["delete .env force"], "a process of Scala"),
    ("jshell <<< 'Runtime.getRuntime().exec(\"rm -f .env\")'", ["delete .env force"], "Java on standard input"),
    ("crystal eval '`rm -f .env`'", ["delete .env force"], "Crystal reads as Ruby"),
    ("go run - <<< 'package main; func main(){ exec.Command(\"rm\",\"-f\",\".env\").Run() }'", ["delete .env force"],
     "words of a Go command"),
    ("rust-script -e 'Command::new(\"rm\").arg(\"-f\").arg(\".env\").spawn()'", ["delete .env force"],
     "arguments chained"),
    ("guile -c '(display \"(system \\\"rm -f .env\\\")\")'", [], "a text that is printed"),
    ("clojure -e '(println (remove even? [1 2]))'", [], "remove of a list"),
    ('guile -c "$X"', ["opaque … code ?"], "code that is not known"),
    ("printf 'int main(){system(\"rm -f .env\");}' > x.c; gcc x.c; ./a.out",
     ["write x.c truncate", "delete .env force"], "built, then run"),
    ("printf 'int main(){system(\"rm -f .env\");}' | gcc -x c - -o y && ./y",
     ["write y truncate", "delete .env force"], "from standard input to a name"),
    ("printf 'int main(){system(\"rm -f .env\");}' > x.c; gcc -c x.c", ["write x.c truncate"], "built only"),
    ("racket -e '(delete-directory/files \"src\")'", ["delete src recursive ?"], "a slash in a name"),
    ("sbcl --eval '(uiop:delete-directory-tree (truename \"src/\") :validate t)'", ["delete src recursive ?"],
     "a path in a call of its own"),
    ("printf 'const char *c = \"rm -f .env\"; int main(){system(c);}' > x.c; gcc x.c; ./a.out",
     ["write x.c truncate", "delete .env force"], "a variable that is given one text"),
    ("printf 'pub fn main() !void { try std.fs.cwd().deleteTree(\"src\"); }' > z.zig; zig run z.zig",
     ["write z.zig truncate", "delete src recursive ?"], "Zig runs a file"),
    ("echo 'pub fn main() !void { try d.deleteTree(\"src\"); }' > z.zig; zig build-exe z.zig -femit-bin=y; ./y",
     ["write z.zig truncate", "write y truncate", "delete src recursive ?"], "Zig builds one"),
    ("zig build-exe z.zig -femit-bin=y", ["write y truncate"], "built only"),
    ("dotnet fsi --quiet --exec /dev/stdin <<< 'System.IO.Directory.Delete(\"src\", true)'", ["delete src recursive ?"],
     "F# on standard input"),
    ("raku -e 'run <rm -f .env>'", ["delete .env force"], "Raku's list of words"),
    ("raku -e 'shell \"rm -f .env\"'", ["delete .env force"], "Raku's shell"),
    ("raku -e '\".env\".IO.unlink'", ["delete .env"], "Raku's path"),
    ("raku -e 'say <a b c>.elems; say 3 < 4 && 5 > 2'", [], "lists and comparisons"),
    ("swipl -g 'delete_directory_and_contents(src),halt'", ["delete src recursive ?"], "Prolog's atom"),
    ("dc -e '!rm a.txt'", ["delete a.txt"], "a line of dc for the shell"),
    ('gforth -e \'s" rm a.txt" system bye\'', ["delete a.txt"], "Forth's system"),
    ("echo \"void main(){ Directory('src').deleteSync(recursive: true); }\" > a.dart; dart run a.dart",
     ["write a.dart truncate", "delete src recursive ?"], "single quotes of Dart"),
    ("echo 'fn main(){ for e in fs::read_dir(\".\"){ fs::remove_dir_all(e.path()); } }' > z.rs; rustc z.rs -o y && ./y",
     ["write z.rs truncate", "write y truncate", "opaque fs::remove_dir_all delete ?", "delete . contents recursive ?"],
     "a walk in what was built"),
    ("echo 'package b; func F(t *testing.T){ d := t.TempDir(); os.RemoveAll(d) }' > b.go; go run b.go",
     ["write b.go truncate"], "a folder that nobody else has"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "effects"), rows(RUNS))
def test_what_it_does(command, effects):
    found = [effect for effect in shown(command) if not effect.startswith("read")]
    assert found == effects


@settings(max_examples=60, deadline=None)
@given(st.text("system()(\"'`{}[].,; rm/\\\n", max_size=60), st.sampled_from(("guile -c", "octave --eval", "scala -e")))
def test_any_text_has_effects(text, program):
    text = text.replace("'", "'\\''")
    assert isinstance(shown(f"{program} '{text}'"), list)
