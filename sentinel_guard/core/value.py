"""Value objects: what nobody changes once it is made.

mypy refuses who changes one, and nothing does at run time: to make one that ``dataclass(frozen=True)`` guards takes
four times as long, and each verdict makes a hundred.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

_T = TypeVar("_T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[_T]) -> type[_T]:
    """A data class whose instances are equal where their fields are, and may be keys."""
    return dataclass(slots=True, unsafe_hash=True)(cls)
