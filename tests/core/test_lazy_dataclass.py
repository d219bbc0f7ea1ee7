"""Classes by our ``dataclass`` beside the same ones by the standard library's: what they do is the same."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from dataclasses import InitVar, field

import pytest

from sentinel_guard.core import lazy_dataclass, model
from sentinel_guard.core.policy import policy


def plain():
    class Plain:
        a: str
        b: int = 3
        c: list[int] = field(default_factory=list)
        d: str = field(default="d", repr=False, compare=False)

    return Plain


def empty():
    class Empty:
        """Nothing."""

    return Empty


def with_post_init():
    class Made:
        a: str
        b: InitVar[int] = 1

        def __post_init__(self, b):
            self.a += str(b)

    return Made


def with_its_own():
    class Own:
        a: str
        b: int = field(default=2, init=False)

        def __repr__(self):
            return "own"

    return Own


OPTIONS = [
    {"frozen": True, "slots": True},
    {"slots": True},
    {"slots": True, "eq": False},
    {"slots": True, "unsafe_hash": True},
    {"order": True},
    {"kw_only": True},
    {},
]
GIVEN: list[tuple[tuple[object, ...], dict[str, object]]] = [
    (("x",), {}),
    ((), {"a": "x"}),
    (("x", 5), {}),
    (("x",), {"c": [1]}),
    ((), {}),
]
SHAPES = [plain, empty, with_post_init, with_its_own]


def told(act: Callable[[], object]) -> object:
    try:
        return act()
    except (TypeError, AttributeError):
        return "refused"


def changed(value):
    value.a = "other"
    return value.a


def taken(value):
    del value.a
    return hasattr(value, "a")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=[shape.__name__ for shape in SHAPES])
@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_it_does_the_same(shape, options, given) -> None:
    if options.get("frozen") and shape is with_post_init:
        return  # which could not set its field in either
    args, more = given
    both = []
    for decorator in (dataclasses.dataclass, lazy_dataclass.dataclass):
        cls = decorator(**options)(shape())

        def value(cls=cls):
            return cls(*args, **more)

        both.append(
            {
                "repr": told(lambda v=value: repr(v())),
                "eq": told(lambda v=value: (v() == v(), v() != v(), v() == 1)),
                "hash": told(lambda v=value: hash(v()) == hash(v()) if options.get("eq", True) else "by identity"),
                "hashable": cls.__hash__ is not None,
                "replaced": told(lambda v=value: repr(dataclasses.replace(v(), a="y"))),
                "changed": told(lambda v=value: changed(v())),
                "taken": told(lambda v=value: taken(v())),
                "dict": told(lambda v=value: dataclasses.asdict(v())),
                "fields": [(f.name, f.default, f.repr, f.compare) for f in dataclasses.fields(cls)],
                "match": cls.__match_args__,
                "slots": "__dict__" in dir(told(value)),
                "name": (cls.__qualname__, cls.__init__.__name__),
            }
        )
    assert both[0] == both[1]


def test_what_is_made_is_made_once_and_for_each_class_alone() -> None:
    one, two = (lazy_dataclass.dataclass(frozen=True, slots=True)(plain()) for _ in range(2))
    first = one.__init__
    assert one("x") == one("x") != one("y") and one("x") != two("x")
    assert one.__init__ is not first and two.__init__ is not one.__init__
    assert str(inspect.signature(one)) == "(a, b=3, c=_made, d='d')".replace("_made", str(dataclasses.MISSING))
    assert one("x").c is not one("x").c, "each has a list of its own"


def test_values_of_the_core_are_made_so() -> None:
    assert model.Finding.__setattr__ is policy.Policy.__setattr__ is lazy_dataclass._refused
    with pytest.raises(dataclasses.FrozenInstanceError, match="version"):
        policy.Policy().version = 2  # type: ignore[misc]
