"""Frozen records that fill themselves: the one place that writes to one.

Most records of this package are frozen, slotted dataclasses, and a value typed by a user is seldom the value
that is kept: 0.1 becomes 1/10, a list a tuple, an epsilon the law that is drawn. Such a class
inherits from `Record`, converts and checks in its constructor, and ends it with `_set`. Where a
generated constructor serves and only a few fields are converted, `__post_init__` ends with `_amend`.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Record"]


class Record:
    """The base of frozen, slotted dataclasses that convert or compute their fields.

    What is set here is never checked for its value: that is the constructor's task. Names are
    checked, so that no record leaves its constructor half filled or with a misspelled field.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from fractions import Fraction
    >>> @dataclass(frozen=True, slots=True, init=False)
    ... class Share(Record):
    ...     part: Fraction
    ...
    ...     def __init__(self, text: str) -> None:
    ...         self._set(part=Fraction(text))
    >>> Share("1/3")
    Share(part=Fraction(1, 3))
    """

    __slots__ = ()

    def _set(self, **values: object) -> None:
        """Fill every field: the last line of a constructor."""
        if values.keys() != _names(type(self)):
            raise TypeError(_misnamed(type(self), values))
        for name, value in values.items():
            _write(self, name, value)

    def _amend(self, **values: object) -> None:
        """Replace some fields that the generated constructor filled, or fill those it left out."""
        if not values.keys() <= _names(type(self)):
            raise TypeError(_misnamed(type(self), values))
        for name, value in values.items():
            _write(self, name, value)

    @classmethod
    def _made(cls, **values: object) -> Self:
        """Return a record of values that are known to be right, past the checks of its constructor."""
        made = object.__new__(cls)
        made._set(**values)
        return made

    def _with(self, **values: object) -> Self:
        """Return the same record with some other values that are known to be right."""
        kept = {name: getattr(self, name) for name in _names(type(self))}
        return self._made(**(kept | values))


_write = object.__setattr__  # the only way into a frozen record
_known: dict[type, frozenset[str]] = {}


def _names(record_class: type) -> frozenset[str]:
    names = _known.get(record_class)
    if names is None:
        names = _known[record_class] = frozenset(field.name for field in fields(record_class))
    return names


def _misnamed(record_class: type, values: Mapping[str, object]) -> str:
    names = _names(record_class)
    return (
        f"{record_class.__name__}: unknown fields {sorted(values.keys() - names)}, "
        f"missing fields {sorted(names - values.keys())}"
    )
