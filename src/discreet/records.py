"""Frozen records that fill themselves: the one place that writes to one.

Most records of this package are frozen, slotted dataclasses, and a value typed by a user is seldom the value
that is kept: 0.1 becomes 1/10, a list a tuple, an epsilon the law that is drawn. Such a class
inherits from `Record`, converts and checks in its constructor, and ends it with `_set`. Where a
generated constructor is enough and only a few fields are converted, `__post_init__` ends with `_amend`.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Self

__all__ = ["Record"]


class Record:
    """The base of frozen, slotted dataclasses that convert or compute their fields.

    What is set here is not checked for its value: that is the constructor's task. But no record leaves
    its constructor half filled, and a name that is no field is refused, since there is no slot for it.

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
        names = _names(type(self))
        if len(values) != len(names):
            raise TypeError(f"{type(self).__name__} has the fields {names}, and is given {tuple(values)}")
        for name, value in values.items():
            _write(self, name, value)

    def _amend(self, **values: object) -> None:
        """Replace some fields that the generated constructor filled, or fill those it left out."""
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
        made = object.__new__(type(self))
        for name in _names(type(self)):
            _write(made, name, getattr(self, name))
        made._amend(**values)
        return made


_write = object.__setattr__  # the only way into a frozen record
_known: dict[type, tuple[str, ...]] = {}


def _names(record_class: type) -> tuple[str, ...]:
    try:
        return _known[record_class]
    except KeyError:
        return _known.setdefault(record_class, tuple(field.name for field in fields(record_class)))
