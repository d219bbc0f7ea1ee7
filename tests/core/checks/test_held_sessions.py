"""In a session whose system calls are held, setuid programs have no rights: that is said before anybody is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sentinel_guard.core.checks.rules import rules
from sentinel_guard.core.model import Effect, Kind, Response
from sentinel_guard.core.policy.merge_layers import merge
from sentinel_guard.host.policy_files import builtin
from tests.support.judge_cases import case


def found(target, *, held):
    effects = (Effect(Kind.PRIVILEGE, target),)
    return [(f.response, f.rule) for f in rules(replace(case(policy=merge(builtin())), effects=effects, held=held))]


@pytest.mark.parametrize("target", ["sudo", "doas", "su", "pkexec"])
def test_what_needs_setuid_is_refused_where_calls_are_held_and_asked_about_elsewhere(target):
    assert found(target, held=True) == [(Response.DENY, "kernel.setuid"), (Response.ASK, "system.sudo")]
    assert found(target, held=False) == [(Response.ASK, "system.sudo")]


def test_other_privileges_are_judged_as_ever():
    assert found("docker.sock", held=True) == found("docker.sock", held=False) != []
