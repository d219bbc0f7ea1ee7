"""``<(…)`` and ``>(…)`` run wherever they stand (bash(1), "Process Substitution"). Texts are only parsed."""

from __future__ import annotations

import pytest

from sentinel_guard.core.model import Kind
from tests.support.analysis_effects import effects_of, repository, told

WORLD = repository({".env": "A=1"})
PLACES = [
    ("echo hi > {}", "a redirection's target"),
    ("tee {}", "an argument"),
    ("x={}", "a value"),
    ("x={} true", "a value in front of a command"),
    ("a=({})", "an element"),
    ("a=([1]={})", "an element with an index"),
    ("true |& a=([x y]={})", "an element, in a pipeline"),
    ("export A={}", "what is exported"),
    ("declare -a a=({})", "what is declared"),
    ("for x in {}; do :; done", "a loop's word"),
    ("select x in {}; do :; done", "a menu's word"),
    ("case {} in x) ;; esac", "a case's word"),
    ("case x in {}) ;; esac", "a pattern"),
    ("[[ -e {} ]]", "a test's word"),
    ("[[ a ]] > {}", "a test's redirection"),
    ("((1)) > {}", "that of arithmetic"),
    ("f() [[ a ]] > {}; f", "that of a function that is a test"),
    ("case x in y) ;; esac > {}", "that of a case"),
    ("for x in; do :; done 2> {}", "that of a loop"),
    ("coproc c {{ :; }} > {}", "that of a coprocess"),
    ("x=${{y:-{}}}", "a default"),
    ("if true; then x={}; fi", "within a branch"),
    ("f() {{ x={}; }}; f", "within a function"),
]


@pytest.mark.parametrize("direction", "<>")
@pytest.mark.parametrize("place", [pytest.param(place, id=why) for place, why in PLACES])
def test_what_is_substituted_runs(place, direction):
    assert "delete .env" in " ".join(told(effects_of(place.format(f"{direction}(rm .env)"), WORLD), Kind.DELETE))


@pytest.mark.parametrize("place", [pytest.param(place, id=why) for place, why in PLACES])
def test_what_reads_or_writes_other_things_deletes_nothing(place):
    assert told(effects_of(place.format(">(grep x)"), WORLD), Kind.DELETE, Kind.OPAQUE) == []


def test_what_comes_out_of_the_command_goes_in():
    assert "delete .env" in " ".join(told(effects_of("echo rm .env > >(bash)", WORLD), Kind.DELETE))


@pytest.mark.parametrize("text", ["x=>(bash)", "for x in >(bash); do echo $y > $x; done"])
def test_a_shell_that_reads_what_nobody_knows_is_opaque_code(text):
    assert told(effects_of(text, WORLD), Kind.OPAQUE)
