"""Facts about whole rows that the owner declares: combinations that cannot exist, columns that follow others.

They are public, and only models use them: no count, no sensitivity and no price depends on them. So rows that
break them are counted as any others, and a fact that is wrong makes a model wrong, never a promise.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import isfinite
from typing import Any, NoReturn, TypeAlias

from discreet.data.language.declarations import KeyValue
from discreet.data.language.types import Schema, suggestion
from discreet.errors import ParameterError
from discreet.privacy.rational import rational
from discreet.records import Record, dataclass

__all__ = ["Chosen", "Determined", "End", "Impossible", "RowFact", "checked_facts", "facts_about"]

End: TypeAlias = Fraction | datetime.date | None
"""Where a range ends: a number, a day, or nowhere."""
_Span: TypeAlias = tuple[End, End]

_MOST_PARTS = 10_000
_SAY = '{"age": (0, 15), "married": "yes"}; a pair means low <= x < high, a list means any of its values'


@dataclass(frozen=True, slots=True, init=False)
class Chosen(Record):
    """Some values of a column.

    Attributes
    ----------
    values : tuple
        Single ones: keys, numbers as fractions, days; None for what is missing.
    ranges : tuple of pairs
        Those with low <= x < high; None is not an end.
    """

    values: tuple[KeyValue | Fraction, ...]
    ranges: tuple[_Span, ...]

    def __init__(self, stated: object) -> None:
        parts = list(stated) if isinstance(stated, list | set | frozenset) else [stated]
        if not parts or len(parts) > _MOST_PARTS:
            raise ParameterError("facts", "list no values, or too many", f"1 to {_MOST_PARTS:,} values")
        ranges = tuple(_span(part) for part in parts if isinstance(part, tuple))
        values = tuple(_single(part) for part in parts if not isinstance(part, tuple))
        different = {(type(value), value): value for value in values}  # 1 is not True, though they are equal
        self._set(values=tuple(different.values()), ranges=tuple(dict.fromkeys(ranges)))

    def holds(self, value: object) -> bool:
        """Return whether a value is one of them."""
        if any(type(value) is type(one) and value == one for one in self.values):
            return True
        if isinstance(value, float) and not isfinite(value):
            return False
        exact = _single(value) if isinstance(value, int | float) else value
        if isinstance(exact, int | Fraction) and not isinstance(exact, bool):
            numbers = (one for one in self.values if isinstance(one, int | Fraction))
            if any(exact == one for one in numbers if not isinstance(one, bool)):
                return True
        return any(_within(exact, span) for span in self.ranges)

    def to_object(self) -> list[object]:
        """Return it as plain values."""
        return [
            *(_plain(value) for value in self.values),
            *([_plain(low), _plain(high)] for low, high in self.ranges),
        ]


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Impossible(Record):
    """Rows that cannot exist: those that have one of the named values in every named column.

    Parameters
    ----------
    values : mapping of columns to values
        For each column a key, a number or a day; a pair ``(low, high)`` for low <= x < high, where None is
        not an end; a list of these for any of them; None for what is missing.

    Examples
    --------
    >>> import discreet as dp
    >>> dp.Impossible({"age": (None, 15), "married": "yes"})
    Impossible({'age': [(None, 15)], 'married': ['yes']})
    """

    values: tuple[tuple[str, Chosen], ...]

    def __init__(self, values: Mapping[str, object], *unnamed: NoReturn) -> None:
        if unnamed or not isinstance(values, Mapping) or not 1 <= len(values) <= 6:
            raise ParameterError("facts", "do not say what is impossible", f"1 to 6 columns, as in {_SAY}")
        if not all(isinstance(name, str) and name for name in values):
            raise ParameterError("facts", "name a column that has no name", _SAY)
        found = [(name, Chosen(stated)) for name, stated in values.items()]
        self._set(values=tuple(sorted(found, key=lambda one: one[0])))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is about."""
        return tuple(name for name, _ in self.values)

    def to_object(self) -> dict[str, object]:
        """Return it as plain values."""
        return {"impossible": {name: chosen.to_object() for name, chosen in self.values}}

    def __repr__(self) -> str:
        shown = {
            name: [*map(_shown, chosen.values), *(tuple(map(_shown, one)) for one in chosen.ranges)]
            for name, chosen in self.values
        }
        return f"Impossible({shown})"


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Determined(Record):
    """A column that follows from another: rows that agree on `by` agree on it.

    Parameters
    ----------
    column : str
        The column that follows.
    by : str
        What it follows from.
    mapping : mapping, optional
        Its value for each value of `by`: a key, a number or a day, a pair ``(low, high)`` for a range, None
        for what is missing. Ranges do not overlap, and what is not listed has the value None. It is public,
        so that the column is neither counted nor paid for. Without a mapping one is bought: a table of both
        columns is measured, and the most frequent value is taken.

    Examples
    --------
    >>> import discreet as dp
    >>> dp.Determined("is_minor", by="age", mapping={(None, 18): "yes", (18, None): "no"})
    Determined('is_minor', by='age', mapping of 2)
    """

    column: str
    by: str
    mapping: tuple[tuple[Chosen, KeyValue | float], ...] | None

    def __init__(
        self, column: str, *unnamed: NoReturn, by: str, mapping: Mapping[object, object] | None = None
    ) -> None:
        named = all(isinstance(name, str) and name for name in (column, by))
        if unnamed or not named or column == by:
            raise ParameterError(
                "facts", "do not say which column follows from which", 'Determined("city", by="zip")'
            )
        if mapping is not None and (not isinstance(mapping, Mapping) or not mapping):
            raise ParameterError("mapping", "is not a mapping of values", '{"100": "Taipei"}')
        pairs = (
            None if mapping is None else tuple((Chosen(key), _result(one)) for key, one in mapping.items())
        )
        _check_apart([key for key, _ in pairs or ()])
        self._set(column=column, by=by, mapping=pairs)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is about."""
        return (self.column, self.by)

    def to_object(self) -> dict[str, object]:
        """Return it as plain values."""
        pairs = None
        if self.mapping is not None:
            pairs = [[key.to_object(), _plain(value)] for key, value in self.mapping]
        return {"determined": self.column, "by": self.by, "mapping": pairs}

    def __repr__(self) -> str:
        said = "" if self.mapping is None else f", mapping of {len(self.mapping)}"
        return f"Determined({self.column!r}, by={self.by!r}{said})"


RowFact: TypeAlias = Impossible | Determined
"""What may be declared about rows."""


def checked_facts(facts: Iterable[RowFact] | RowFact | None) -> tuple[RowFact, ...]:
    """Return facts, each once; refuse what is not one, and columns that follow from two others."""
    listed = () if facts is None else (facts,) if isinstance(facts, Impossible | Determined) else tuple(facts)
    if not all(isinstance(one, Impossible | Determined) for one in listed):
        raise ParameterError("facts", "hold something else", f"Impossible({_SAY}) or Determined(…, by=…)")
    found = tuple(dict.fromkeys(listed))
    follow = [one.column for one in found if isinstance(one, Determined)]
    if len(set(follow)) != len(follow):
        raise ParameterError("facts", "let a column follow from two others", "one Determined for each column")
    return found


def facts_about(columns: Schema, facts: Iterable[RowFact] | RowFact | None) -> tuple[RowFact, ...]:
    """Return facts about columns of a table; a column with a declared mapping need not be one of them."""
    found = checked_facts(facts)
    mapped = {one.column for one in found if isinstance(one, Determined) and one.mapping is not None}
    for name in (name for one in found for name in one.columns):
        if name not in columns and name not in mapped:
            raise ParameterError(
                "facts", f"name {name!r}, which the table does not have", suggestion(name, columns)
            )
    return found


def _single(value: object) -> KeyValue | Fraction:
    """Return a single value in its normal form: numbers with a fraction are fractions."""
    if isinstance(value, datetime.datetime):
        raise ParameterError("facts", "hold a time of day", "a day")
    if value is None or isinstance(value, bool | int | str | datetime.date):
        return value
    return _number(value)


def _number(value: object) -> Fraction:
    return rational(value, "facts")  # type: ignore[arg-type]


def _end(value: object) -> End:
    if value is None or (isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)):
        return value
    return _number(value)


def _span(part: tuple[object, ...]) -> _Span:
    if len(part) != 2:
        raise ParameterError("facts", "hold a range that is not a pair", _SAY)
    low, high = (_end(one) for one in part)
    ordered = low is None or high is None
    if not ordered and type(low) is type(high):
        ordered = low < high  # type: ignore[operator]
    if not ordered:
        raise ParameterError("facts", "hold a range with nothing in it", "a pair low, high with low < high")
    return low, high


def _within(value: object, span: _Span) -> bool:
    kinds = {type(end) for end in span if end is not None}
    exact = Fraction(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if exact is None or (kinds and type(exact) not in kinds):
        return False
    low, high = span
    return (low is None or low <= exact) and (high is None or exact < high)  # type: ignore[operator]


def _result(value: object) -> KeyValue | float:
    if isinstance(value, float) and not isfinite(value):
        raise ParameterError("mapping", "has a result that is not finite", "a finite number, or None")
    if value is None or isinstance(value, bool | int | float | str | datetime.date):
        return value
    raise ParameterError("mapping", "has a result that is not a plain value", "text, a number, a day or None")


def _check_apart(keys: Sequence[Chosen]) -> None:
    """Refuse keys of a mapping that share a value, for which it would have two results."""
    listed = [(place, value) for place, key in enumerate(keys) for value in key.values]
    spans = [(place, span) for place, key in enumerate(keys) for span in key.ranges]
    single: dict[tuple[type, object], int] = {}
    apart = all(single.setdefault((_kind(value), value), place) == place for place, value in listed)
    if any(span == (None, None) for _, span in spans):  # all values but None
        held = {place for place, value in listed if value is not None} | {place for place, _ in spans}
        apart &= len(held) == 1
    for kind in (Fraction, datetime.date):
        points = [(place, value, value) for place, value in listed if _kind(value) is kind]
        lines = [(place, *span) for place, span in spans if kind in map(type, span)]
        apart &= _are_apart([*points, *lines])
    if not apart:
        raise ParameterError(
            "mapping", "has keys that share a value, and so two results for it", "ranges that do not overlap"
        )


def _are_apart(parts: Sequence[tuple[int, Any, Any]]) -> bool:
    """Return whether only parts of one key share a number or a day: ranges, and points as low and high.

    In the order of their beginnings, what meets any part before it meets the one that reaches furthest.
    """
    endless = [part for part in parts if part[1] is None]
    begun = sorted((part for part in parts if part[1] is not None), key=lambda part: part[1:2])
    owner, reached, is_point = -1, None, False
    for place, (one, low, high) in enumerate([*endless, *begun]):
        meets = low is None or reached is None or low < reached or (low == reached and is_point)
        if place > 0 and meets and one != owner:
            return False
        if place == 0 or (reached is not None and (high is None or high >= reached)):
            owner, reached, is_point = one, high, low == high
    return True


def _kind(value: object) -> type:
    """Return one type for all numbers but truth values."""
    return Fraction if isinstance(value, int) and not isinstance(value, bool) else type(value)


def _plain(value: object) -> object:
    """Return a value as JSON, with its type where text could stand for several."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, datetime.date):
        return {"date": value.isoformat()}
    return {"number": str(value)}


def _shown(value: object) -> object:
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value
