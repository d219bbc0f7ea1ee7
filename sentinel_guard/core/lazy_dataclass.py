"""``dataclass`` as in the standard library, but its methods are made when they are first called.

The standard library compiles up to six methods for each class, 0.6 ms in all. A git hook starts a Python that imports
fifty such classes, makes values of half of them and compares none: it would take a quarter of its time.

Rules of this file:
1. What a class does, and what the type checker sees, is what it does by the standard library's ``dataclass``.
2. A class that is more than plain fields and methods of its own (one that inherits, writes a method that would be made,
   has fields that are not given) is left to the standard library.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass

__all__ = ["dataclass"]

_COMPARED = ("__repr__", "__eq__", "__hash__")
_BY_HAND = ("__init__", "__post_init__", *_COMPARED)
_KNOWN = {"slots", "frozen", "eq", "unsafe_hash"}
_OF_CLASS = ("__dict__", "__weakref__")


def _dataclass(**options: Any) -> Callable[[type], type]:
    """``options`` as those of ``dataclasses.dataclass``. Values of a frozen class are not copied or pickled."""

    def decorated(cls: type) -> type:
        if _is_plain(cls) and options.keys() <= _KNOWN:
            made: type = _decorated(cls, options)
            return made
        return dataclasses.dataclass(**options)(cls)

    return decorated


def _is_plain(cls: type) -> bool:
    fields = [value for value in vars(cls).values() if isinstance(value, dataclasses.Field)]
    usual = all(field.init and field.kw_only is not True for field in fields)
    kinds = map(str, vars(cls).get("__annotations__", {}).values())
    marked = any("InitVar" in kind or "KW_ONLY" in kind for kind in kinds)
    return usual and not marked and cls.__bases__ == (object,) and not any(name in vars(cls) for name in _BY_HAND)


def _decorated(cls: type, options: dict[str, Any]) -> Any:
    written = {name: value for name, value in vars(cls).items() if name not in _OF_CLASS}
    written["__qualname__"] = cls.__qualname__
    cls.__doc__ = cls.__doc__ or cls.__name__  # else it is made of the signature
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=options.get("slots", False))(cls)
    by_eq, frozen = options.get("eq", True), options.get("frozen", False)
    hashed = options.get("unsafe_hash", False) or (by_eq and frozen)
    names = [name for name, wanted in zip(_COMPARED, (True, by_eq, hashed), strict=True) if wanted]

    def compare() -> None:
        given = {**options, "slots": False, "init": False}
        whole: Any = dataclasses.dataclass(**given)(type(cls.__name__, (), dict(written)))
        for name in names:
            setattr(made, name, vars(whole)[name])

    def begin() -> None:
        made.__init__ = _init(made, frozen=frozen)

    made.__init__ = _first(made, "__init__", begin)
    for name in names:
        setattr(made, name, _first(made, name, compare))
    if by_eq and not hashed:
        made.__hash__ = None
    if frozen:
        made.__setattr__ = made.__delattr__ = _refused
    return made


def _init(made: Any, *, frozen: bool) -> Callable[..., None]:
    """Its ``__init__``: the values in the order of the fields, or by their names."""
    known: dict[str, Any] = {"_made": dataclasses.MISSING, "_set": object.__setattr__}
    given, body = [], []
    for field in dataclasses.fields(made):
        name, value = field.name, field.name
        if field.default is not dataclasses.MISSING:
            known[f"_of_{name}"] = field.default
            given.append(f"{name}=_of_{name}")
        elif field.default_factory is not dataclasses.MISSING:
            known[f"_of_{name}"] = field.default_factory
            given.append(f"{name}=_made")
            value = f"_of_{name}() if {name} is _made else {name}"
        else:
            given.append(name)
        body.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    text = f"def __init__(self, {', '.join(given)}):\n " + "\n ".join(body or ["pass"])
    exec(text, known)  # noqa: S102 - of the names of fields, as in the standard library
    found: Callable[..., None] = known["__init__"]
    found.__qualname__ = f"{made.__qualname__}.__init__"
    return found


def _first(made: Any, name: str, make: Callable[[], None]) -> Callable[..., Any]:
    """Stands in a method's place until it is called."""

    def first(self: Any, *args: Any, **more: Any) -> Any:
        make()
        return getattr(made, name)(self, *args, **more)

    return first


def _refused(_self: object, name: str, *_value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")


if not TYPE_CHECKING:
    dataclass = _dataclass
