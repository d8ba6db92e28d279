"""Sensitivity: how far a statistic can move between neighboring tables, in four norms.

Each rule states a bound that some pair of neighbors attains, for tables in which one unit
is one row. Where a person has more rows, bound them first, or take
`Sensitivity.group`. Values are clipped to public bounds [lower, upper].

Bounds that are typed as ints say that the values are integers.

Under replace the number of rows n is public. Under add/remove it is private, so rules
that divide by n have no meaning there and are refused: release a sum and a count instead.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import ParameterError
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_PERSON, Change, Neighbors, check_relation
from discreet.privacy.rational import float_above, non_negative, rational, show, typed_as_integers, whole
from discreet.records import Record, dataclass

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = [
    "Sensitivity",
    "disjoint_counts",
    "maximum",
    "mean",
    "median",
    "overlapping_counts",
    "proportions",
    "standard_deviation",
    "sum_of",
]

# A norm may be the rounded-up root of another: the inequalities between them hold up to this factor.
_ROUNDING = 1 + Fraction(1, 2**40)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Sensitivity(Record):
    """The most that a vector of statistics moves between neighbors, in each norm.

    Parameters
    ----------
    l0 : int
        How many of its values change at most.
    l1 : number
        The largest sum of absolute changes.
    squared_l2 : number
        The largest sum of squared changes, so that sqrt(2) is exact.
    linf : number
        The largest change of one value.
    neighbors : Neighbors
        The relation.
    integers : bool, optional
        Whether the statistics are integers, so that integer noise suits them. By default they are
        if every norm was typed as an int.

    Notes
    -----
    The bounds agree with each other: linf <= l1 <= l0 linf, linf^2 <= squared_l2 <= l1 linf, and
    l1^2 <= l0 squared_l2, up to rounding. A violation means that one of them was mistyped.
    """

    l0: int
    l1: Fraction
    squared_l2: Fraction
    linf: Fraction
    neighbors: Neighbors = ADD_REMOVE_PERSON
    integers: bool = False

    def __init__(
        self,
        *,
        l0: int,
        l1: Number,
        squared_l2: Number,
        linf: Number,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
        integers: bool | None = None,
    ) -> None:
        check_relation(neighbors)
        self._set(
            l0=whole(l0, "l0", least=1),
            l1=non_negative(l1, "l1"),
            squared_l2=non_negative(squared_l2, "squared_l2"),
            linf=non_negative(linf, "linf"),
            neighbors=neighbors,
            integers=typed_as_integers(l1, squared_l2, linf) if integers is None else bool(integers),
        )
        self._check()

    def _check(self) -> None:
        for name, smaller, larger, allowed in (
            ("l1", self.linf, self.l1, "at least linf"),
            ("l1", self.l1, self.l0 * self.linf, "at most l0 * linf"),
            ("squared_l2", self.linf**2, self.squared_l2, "at least linf^2"),
            ("squared_l2", self.squared_l2, self.l1 * self.linf, "at most l1 * linf"),
            ("l1", self.l1**2, self.l0 * self.squared_l2, "at most sqrt(l0 * squared_l2)"),
        ):
            if smaller > larger * _ROUNDING:
                raise ParameterError(name, "contradicts the other norms", allowed)

    @property
    def l2(self) -> float:
        """The largest Euclidean change, rounded up."""
        return float_above(sqrt_interval(self.squared_l2)[1])

    def group(self, size: int) -> Sensitivity:
        """Return a bound for `size` units at once: `size` times as far in every norm."""
        size = whole(size, "size", least=1)
        return Sensitivity(
            l0=size * self.l0,
            l1=size * self.l1,
            squared_l2=size**2 * self.squared_l2,
            linf=size * self.linf,
            neighbors=self.neighbors.group(size),
            integers=self.integers,
        )

    def __repr__(self) -> str:
        relation = "" if self.neighbors == ADD_REMOVE_PERSON else f", neighbors={self.neighbors!r}"
        return (
            f"Sensitivity(l0={self.l0}, l1={show(self.l1)}, squared_l2={show(self.squared_l2)}, "
            f"linf={show(self.linf)}{relation})"
        )


def overlapping_counts(k: int, *, neighbors: Neighbors = ADD_REMOVE_PERSON) -> Sensitivity:
    """Return the sensitivity of k counts of rows, where one row may be in all of them.

    Each count moves by at most 1, under add/remove as under replace; all of them move when a
    row that is in all comes, goes, or becomes one that is in none.
    """
    k = whole(k, "k", least=1)
    _check_single(neighbors)
    return Sensitivity(l0=k, l1=k, squared_l2=k, linf=1, neighbors=neighbors)


def disjoint_counts(k: int, *, neighbors: Neighbors = ADD_REMOVE_PERSON) -> Sensitivity:
    """Return the sensitivity of k counts of rows, where a row is in at most one of them.

    Add/remove: one count moves by 1. Replace: a row leaves one cell for another, so two move
    and L1 = 2, L2 = sqrt(2); with a single cell, one.
    """
    k = whole(k, "k", least=1)
    _check_single(neighbors)
    moved = 1 if neighbors.change is Change.ADD_REMOVE else min(k, 2)
    return Sensitivity(l0=moved, l1=moved, squared_l2=moved, linf=1, neighbors=neighbors)


def sum_of(lower: Number, upper: Number, *, neighbors: Neighbors = ADD_REMOVE_PERSON) -> Sensitivity:
    """Return the sensitivity of a sum of values in [lower, upper].

    Add/remove: one value comes or goes, max(abs(lower), abs(upper)). Replace: one value
    becomes another, upper - lower.
    """
    low, high = _bounds(lower, upper)
    _check_single(neighbors)
    bound = max(-low, high) if neighbors.change is Change.ADD_REMOVE else high - low
    return _scalar(bound, neighbors, integers=typed_as_integers(lower, upper))


def proportions(k: int, n: int, *, neighbors: Neighbors = REPLACE_PERSON) -> Sensitivity:
    """Return the sensitivity of k overlapping counts, each divided by the public number of rows n.

    Replace only: L1 = k / n.
    """
    k, n = whole(k, "k", least=1), whole(n, "n", least=1)
    _check_public_n(neighbors)
    return Sensitivity(
        l0=k, l1=Fraction(k, n), squared_l2=Fraction(k, n**2), linf=Fraction(1, n), neighbors=neighbors
    )


def mean(lower: Number, upper: Number, n: int, *, neighbors: Neighbors = REPLACE_PERSON) -> Sensitivity:
    """Return the sensitivity of the mean of n values in [lower, upper], n public.

    Replace only: (upper - lower) / n.
    """
    (low, high), n = _bounds(lower, upper), whole(n, "n", least=1)
    _check_public_n(neighbors)
    return _scalar((high - low) / n, neighbors, integers=False)


def standard_deviation(
    lower: Number, upper: Number, n: int, *, neighbors: Neighbors = REPLACE_PERSON
) -> Sensitivity:
    """Return the sensitivity of the population standard deviation of n values in [lower, upper].

    Replace only: (upper - lower) sqrt(n - 1) / n, with n public and at least 2. With the other
    n - 1 values fixed, of mean a and variance v, the deviation as a function of the last value t
    is sqrt(A + B (t - a)^2) with A = v (n - 1) / n and B = (n - 1) / n^2. Its slope is at most
    sqrt(B), and with the others at `lower` it climbs by exactly that from `lower` to `upper`.
    (Often rounded to 1 / sqrt(n), which is larger.) `squared_l2` is exact, l1 and linf are its
    root, rounded up.
    """
    (low, high), n = _bounds(lower, upper), whole(n, "n", least=2)
    _check_public_n(neighbors)
    squared = (high - low) ** 2 * Fraction(n - 1, n**2)
    root = sqrt_interval(squared)[1]
    return Sensitivity(l0=1, l1=root, squared_l2=squared, linf=root, neighbors=neighbors, integers=False)


def maximum(lower: Number, upper: Number, *, neighbors: Neighbors = ADD_REMOVE_PERSON) -> Sensitivity:
    """Return the sensitivity of the largest of some values in [lower, upper].

    upper - lower under either relation: one value at `upper` comes among others at `lower`. The
    answer for an empty table is a public number within the bounds.
    """
    low, high = _bounds(lower, upper)
    _check_single(neighbors)
    return _scalar(high - low, neighbors, integers=typed_as_integers(lower, upper))


def median(lower: Number, upper: Number, *, neighbors: Neighbors = ADD_REMOVE_PERSON) -> Sensitivity:
    """Return the sensitivity of the (lower) median of some values in [lower, upper].

    upper - lower under either relation. The median is the value of rank ceil(n / 2): among a
    values at `lower` and a at `upper` it is `lower`, and `upper` once one of the first is
    removed or replaced. The answer for an empty table is a public number within the bounds.
    """
    low, high = _bounds(lower, upper)
    _check_single(neighbors)
    return _scalar(high - low, neighbors, integers=typed_as_integers(lower, upper))


def _scalar(bound: Fraction, neighbors: Neighbors, *, integers: bool) -> Sensitivity:
    return Sensitivity(
        l0=1, l1=bound, squared_l2=bound**2, linf=bound, neighbors=neighbors, integers=integers
    )


def _bounds(lower: Number, upper: Number) -> tuple[Fraction, Fraction]:
    low, high = rational(lower, "lower"), rational(upper, "upper")
    if low >= high:
        raise ParameterError("lower", "is not below upper", "less than upper")
    return low, high


def _check_single(neighbors: Neighbors) -> None:
    check_relation(neighbors)
    if neighbors.size != 1:
        raise ParameterError(
            "neighbors", "is not the relation of one unit", "of size 1; then take Sensitivity.group"
        )


def _check_public_n(neighbors: Neighbors) -> None:
    _check_single(neighbors)
    if neighbors.change is Change.ADD_REMOVE:
        raise ParameterError(
            "neighbors",
            "adds or removes a row, so the number of rows n is private and no rule may divide by it",
            "REPLACE_ROW or REPLACE_PERSON; or release a sum and a count",
        )
