"""Codes of the second factor: each counts once, and who tries them out is held up."""

from __future__ import annotations

import pyotp
import pytest

from sentinel_guard.host.machine.state_paths import places
from sentinel_guard.host.second_factor import NOT_SET_UP, SPAN, STEP, TRIES, USED, WRONG, SecondFactor, new_secret

NOW = 1_700_000_010.0


@pytest.fixture
def where(tmp_path):
    made = places({"SENTINEL_HOME": str(tmp_path / "home")})
    made.make()
    return made


@pytest.fixture
def totp(where):
    secret = new_secret()
    code = pyotp.TOTP(secret).at(int(NOW) - 10 * STEP)
    assert SecondFactor(where).set_up(secret, code, NOW - 10 * STEP) == ""
    return pyotp.TOTP(secret)


TAKEN = (
    ((0,), [""], "the code of now"),
    ((-1,), [""], "one that was just replaced"),
    ((1,), [""], "one of a clock that is fast"),
    ((2,), [WRONG], "one of the future"),
    ((-2,), [WRONG], "one that is old"),
    ((0, 0), ["", USED], "the same again"),
    ((1, 0), ["", USED], "one from before the newest that was taken"),
    ((0, 1), ["", ""], "the next"),
)


@pytest.mark.parametrize(("steps", "said"), [r[:2] for r in TAKEN], ids=[r[2] for r in TAKEN])
def test_which_codes_are_taken(where, totp, steps, said):
    # Each by an object of its own, as after a restart of the daemon.
    assert [SecondFactor(where).refusal(totp.at(int(NOW) + step * STEP), NOW) for step in steps] == said


def test_who_tries_codes_out_is_held_up_and_told_for_how_long(where, totp):
    factor, right = SecondFactor(where), totp.at(int(NOW))
    assert {factor.refusal("x", NOW) for _ in range(TRIES)} == {WRONG}
    assert factor.refusal(right, NOW + 100) == f"too many wrong codes: wait {SPAN - 100:.0f} s"
    later = NOW + SPAN + 1
    assert factor.refusal(totp.at(int(later)), later) == ""


@pytest.mark.parametrize("harm", ["", "{", '{"secret": 1}', '["x"]'], ids=["empty", "half", "without fields", "a list"])
def test_what_cannot_be_read_takes_no_code(where, totp, harm):
    factor = SecondFactor(where)
    factor.path.write_text(harm)
    assert factor.refusal(totp.at(int(NOW)), NOW) == NOT_SET_UP


def test_nothing_is_set_up_by_a_wrong_code(where):
    factor = SecondFactor(where)
    assert factor.set_up(new_secret(), "x", NOW) == WRONG
    assert not factor.is_set_up and factor.refusal("123456", NOW) == NOT_SET_UP
