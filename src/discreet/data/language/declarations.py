"""What the owner of a table declares: limits per person, bounds of numbers, keys of groups, days.

These are public facts. They are declared without looking at the data, appear in labels and in
the ledger, and determine every sensitivity. Data that does not follow them is changed to fit:
rows over the limit are sampled, values beyond the bounds are clipped, rows with other keys are left out.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import field
from enum import Enum
from fractions import Fraction
from itertools import islice
from typing import Final, NoReturn, TypeAlias, cast

from discreet.data.language.literals import literal_value
from discreet.data.language.types import Type
from discreet.errors import ParameterError
from discreet.privacy.rational import Number, rational, show, typed_as_integers, whole
from discreet.records import Record, dataclass

__all__ = [
    "AUTO",
    "CLAMP",
    "DROP",
    "EACH_ROW",
    "Auto",
    "Bounds",
    "Dates",
    "Declared",
    "KeyValue",
    "Keys",
    "Limits",
    "MissingRule",
    "Person",
]

LARGEST_LIMIT = 10**9
LARGEST_BOUND_STEPS = 1 << 52
"""Bounds lie within this many steps of zero, so that doubles hold every grid point's index exactly."""
LARGEST_FRACTION_TERM = 10**60
LARGEST_KEYS = 1_000_000

DROP: Final = "drop"
"""The value counts as absent: it enters no sum and no count of values."""
CLAMP: Final = "clamp"
"""Plus infinity becomes the upper bound, minus infinity the lower."""

MissingRule: TypeAlias = str | Fraction
"""`DROP`, `CLAMP` (infinities only), or the number on the grid that takes the value's place."""

KeyValue: TypeAlias = bool | int | str | datetime.date | None
"""What a key may be."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_KEY_TYPES: dict[type, Type] = {
    str: Type.TEXT,
    int: Type.INTEGER,
    bool: Type.BOOLEAN,
    datetime.date: Type.DATE,
}


class _Person(Enum):
    EACH_ROW = "each row"

    def __repr__(self) -> str:
        return "EACH_ROW"


EACH_ROW: Final = _Person.EACH_ROW
"""Stands for the person column of a table in which every row is a separate person."""

Person: TypeAlias = str | _Person
"""The name of the person column, or `EACH_ROW`."""


class Auto(Enum):
    """The type of `AUTO`."""

    AUTO = "auto"

    def __repr__(self) -> str:
        return "AUTO"


AUTO: Final = Auto.AUTO
"""Stands for a limit, or for bounds, that every question buys with a part of its offer."""


@dataclass(frozen=True, slots=True, init=False)
class Limits(Record):
    """How much one person may contribute to one release.

    Parameters
    ----------
    rows : int or AUTO, optional
        At most this many rows of a person are used, in any groups. `AUTO` has every question buy the number
        that suits it, with a part of its offer.
    groups, rows_per_group : int, optional
        Instead: rows in at most `groups` groups, and at most `rows_per_group` in each.
    at_most : int, optional
        With `AUTO`: the largest number that a question may choose.

    Attributes
    ----------
    is_bought : bool
        Whether questions buy their number. Then `rows` is the largest that they may choose.

    Notes
    -----
    Let one row move a statistic by at most M. A person then moves the vector of groups by at most

    ====================  ============  ==================  ==============
    limits                L1            squared L2          largest change
    ====================  ============  ==================  ==============
    rows = k              k M           (k M)^2             k M
    groups = g, rows r    g r M         g (r M)^2           r M
    ====================  ============  ==================  ==============

    so bounding by groups suits Gaussian noise, and bounding by rows suits people with few rows.
    """

    rows: int | None
    groups: int | None
    rows_per_group: int | None
    is_bought: bool

    def __init__(
        self,
        *unnamed: NoReturn,
        rows: int | Auto | None = None,
        groups: int | None = None,
        rows_per_group: int | None = None,
        at_most: int | None = None,
    ) -> None:
        by_rows = rows is not None
        by_groups = groups is not None or rows_per_group is not None
        if unnamed or by_rows == by_groups:
            raise ParameterError(
                "limits",
                "must be of one kind, by name",
                "Limits(rows=…) or Limits(groups=…, rows_per_group=…)",
            )
        if (rows is AUTO) != (at_most is not None):
            raise ParameterError(
                "at_most", "goes with AUTO, and AUTO with it", "Limits(rows=AUTO, at_most=1000)"
            )
        given = {"groups": groups, "rows_per_group": rows_per_group}
        if by_rows:
            given = {"at_most": at_most} if rows is AUTO else {"rows": rows}
        numbers = {name: whole(one, name, least=1, most=LARGEST_LIMIT) for name, one in given.items()}
        self._set(
            rows=numbers.get("rows", numbers.get("at_most")),
            groups=numbers.get("groups"),
            rows_per_group=numbers.get("rows_per_group"),
            is_bought=rows is AUTO,
        )

    def contains(self, other: Limits) -> bool:
        """Return whether `other` is of the same kind, and allows no more."""
        pairs = [(getattr(self, name), getattr(other, name)) for name in _LIMITS]
        same = all((one is None) == (another is None) for one, another in pairs)
        return same and all(another <= one for one, another in pairs if one is not None)

    def __repr__(self) -> str:
        if self.is_bought:
            return f"Limits(rows=AUTO, at_most={self.rows})"
        if self.rows is not None:
            return f"Limits(rows={self.rows})"
        return f"Limits(groups={self.groups}, rows_per_group={self.rows_per_group})"


_LIMITS = ("rows", "groups", "rows_per_group")


@dataclass(frozen=True, slots=True, init=False)
class Bounds(Record):
    """The range and the grid of a column of numbers.

    Parameters
    ----------
    lower, upper : number
        Values are clipped to [lower, upper]. Both are multiples of `step`.
    step : number, optional
        Values are rounded to the nearest multiple of it, halves upward. May be left out
        if both bounds are integers: then it is 1, and the column must hold whole numbers.
    nan : "drop" or number, optional
        What NaN is replaced by: by default it counts as absent.
    infinity : "clamp", "drop" or number, optional
        What infinities are replaced by: by default they are clipped like any other number.
    null : "drop" or number, optional
        What NULL is replaced by: by default it counts as absent.

    Notes
    -----
    A column becomes integers: a value x becomes the index k of the grid point k step, with
    lower / step <= k <= upper / step. Replacements are grid points within the bounds.
    """

    lower: Fraction
    upper: Fraction
    step: Fraction
    nan: MissingRule
    infinity: MissingRule
    null: MissingRule
    step_was_given: bool = field(compare=False, repr=False)

    def __init__(
        self,
        lower: Number,
        upper: Number,
        *,
        step: Number | None = None,
        nan: Number = DROP,
        infinity: Number = CLAMP,
        null: Number = DROP,
    ) -> None:
        low, high = rational(lower, "lower"), rational(upper, "upper")
        if low >= high:
            raise ParameterError("lower", "is not below upper", "less than upper")
        if step is None and not typed_as_integers(lower, upper):
            raise ParameterError(
                "step", "is needed unless bounds are integers", "such as step=0.01 for cents"
            )
        grid = Fraction(1) if step is None else rational(step, "step", positive=True)
        if max(grid.numerator, grid.denominator) > LARGEST_FRACTION_TERM:
            raise ParameterError(
                "step", "is too large, too small or too long", "a ratio of numbers up to 1e60"
            )
        for name, bound in (("lower", low), ("upper", high)):
            if (bound / grid).denominator != 1:
                raise ParameterError(name, "does not lie on the grid", f"a multiple of the step {show(grid)}")
            if abs(bound / grid) > LARGEST_BOUND_STEPS:
                raise ParameterError(name, "is too far from zero", "at most 2^52 steps; take a larger step")
        self._amend(lower=low, upper=high, step=grid)  # against which the rules are checked
        self._set(
            lower=low,
            upper=high,
            step=grid,
            step_was_given=step is not None,
            nan=self._missing_rule(nan, "nan", (DROP,)),
            infinity=self._missing_rule(infinity, "infinity", (CLAMP, DROP)),
            null=self._missing_rule(null, "null", (DROP,)),
        )

    @property
    def lower_steps(self) -> int:
        """The index of the lower bound on the grid."""
        return int(self.lower / self.step)

    @property
    def upper_steps(self) -> int:
        """The index of the upper bound on the grid."""
        return int(self.upper / self.step)

    def steps(self, value: Number, name: str) -> int:
        """Return the index of a grid point within the bounds, or refuse other values."""
        number = rational(value, name)
        if not self.lower <= number <= self.upper or (number / self.step).denominator != 1:
            raise ParameterError(
                name,
                "is not a point of the grid within the bounds",
                f"a multiple of {show(self.step)} from {show(self.lower)} to {show(self.upper)}",
            )
        return int(number / self.step)

    def _missing_rule(self, rule: Number, name: str, words: tuple[str, ...]) -> MissingRule:
        if not isinstance(rule, str):
            return self.step * self.steps(rule, name)
        if rule not in words:
            allowed = (
                f"{' or '.join(repr(word) for word in words)}, or a number on the grid within the bounds"
            )
            raise ParameterError(name, "is not a rule", allowed)
        return rule

    def contains(self, other: Bounds) -> bool:
        """Return whether `other` is the same grid and the same rules, over the same or a narrower range."""
        return (
            self.step == other.step
            and self.lower <= other.lower
            and other.upper <= self.upper
            and (self.nan, self.infinity, self.null) == (other.nan, other.infinity, other.null)
        )

    def __repr__(self) -> str:
        words = [show(self.lower), show(self.upper), f"step={show(self.step)}"]
        for name, default in (("nan", DROP), ("infinity", CLAMP), ("null", DROP)):
            rule = getattr(self, name)
            if rule != default:
                words.append(f"{name}={rule!r}" if isinstance(rule, str) else f"{name}={show(rule)}")
        return f"Bounds({', '.join(words)})"


@dataclass(frozen=True, slots=True, init=False)
class Keys(Record):
    """The values that a column is grouped by, declared in public.

    Every declared value has its group in every answer, in the order declared here, whether
    or not the data hold it; rows with any other value are in no group. NULL is a group only if
    None is listed.

    Parameters
    ----------
    values : iterable of text, int, bool, date or None
        At least one, of one type, without repetition.
    """

    values: tuple[KeyValue, ...]
    type: Type

    def __init__(self, values: Iterable[object]) -> None:
        if isinstance(values, str | bytes):
            raise ParameterError("values", "is text, not a list", "a list such as ['Taipei', 'Hamilton']")
        listed = tuple(_key(value) for value in islice(values, LARGEST_KEYS + 1))
        if not 1 <= len(listed) <= LARGEST_KEYS:
            raise ParameterError("values", "lists no key, or too many", f"from 1 to {LARGEST_KEYS} keys")
        kinds = {type(value) for value in listed} - {type(None)}
        if len(kinds) != 1 or not kinds <= _KEY_TYPES.keys():
            raise ParameterError(
                "values", "is not of one type that can be a key", "texts, integers, booleans or dates"
            )
        if len(set(listed)) != len(listed):
            raise ParameterError("values", "lists a key twice", "each key once")
        if any(isinstance(value, int) and not -(1 << 63) <= value < 1 << 63 for value in listed):
            raise ParameterError("values", "holds an integer beyond 64 bits", "integers of 64 bits")
        self._set(values=listed, type=_KEY_TYPES[kinds.pop()])

    @property
    def has_null(self) -> bool:
        """Whether NULL is a group."""
        return None in self.values

    def contains(self, other: Keys) -> bool:
        """Return whether every key of `other` is one of these."""
        return self.type == other.type and set(other.values) <= set(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        if len(self.values) <= 6:
            return f"Keys({list(self.values)!r})"
        return f"Keys([{', '.join(repr(value) for value in self.values[:3])}, … {len(self.values)} values])"


@dataclass(frozen=True, slots=True, init=False)
class Dates(Record):
    """The days that a column of dates or times lies in, declared in public.

    Every day, week, month, quarter or year from the first to the last has its group in an answer that is
    grouped by them, whether or not the data hold it; rows of other days are in no group.

    Parameters
    ----------
    first, last : date or str
        Both included; text as in ``"2026-01-31"``. Times belong to their own day, points in time to the day
        in UTC.
    """

    first: datetime.date
    last: datetime.date

    def __init__(self, first: datetime.date | str, last: datetime.date | str) -> None:
        begin, end = _day("first", first), _day("last", last)
        if begin > end:
            raise ParameterError("first", "is after last", "a day that is not after the last")
        self._set(first=begin, last=end)

    def contains(self, other: Dates) -> bool:
        """Return whether all days of `other` are among these."""
        return self.first <= other.first and other.last <= self.last

    def __repr__(self) -> str:
        return f"Dates({self.first.isoformat()}, {self.last.isoformat()})"


def _day(name: str, day: datetime.date | str) -> datetime.date:
    if isinstance(day, str) and _DAY.fullmatch(day):
        try:
            return datetime.date.fromisoformat(day)
        except ValueError:
            pass
    if type(day) is not datetime.date:
        raise ParameterError(name, "is not a date", "a date such as '2026-01-31'")
    return day


def _key(value: object) -> KeyValue:
    """Return a key as a plain Python value, or anything else unchanged, to be refused."""
    plain = type(value) in {int, bool, datetime.date, type(None)}
    return cast("KeyValue", value if plain else literal_value(value))


Declared: TypeAlias = Bounds | Keys | Dates | Type
"""What may be declared about a column: bounds, keys, days, or only its type."""
