"""What a question buys first: a limit on rows, bounds of a column; and the question with it applied.

A fit is an ordinary request with its own charge. What it finds is a function of a released answer, so that
the question to which it is applied is one like any other, with a limit and bounds that are public.
(Proof: fitted_limits.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction

from discreet.curator import Release, Request
from discreet.data import Bounds, Limits, Relation, Type
from discreet.data.language.first_table import with_bounds, with_limits
from discreet.queries.fitting.row_limits import fitting_limit, limit_in_words, row_edges
from discreet.queries.fitting.size_counts import SizeCounts
from discreet.queries.fitting.value_bounds import VALUE_EDGES, bounds_in_words, fitting_bounds
from discreet.records import dataclass

__all__ = ["SUPPOSED_BOUNDS", "BoundsFit", "Fitted", "RowLimitFit"]

SUPPOSED_BOUNDS = Bounds(0, 100, step=Fraction(1, 100))
"""They stand for those to be found, in previews."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted(ABC):
    """One thing that is bought.

    Attributes
    ----------
    request : Request
        The noisy counts that it is derived from.
    """

    request: Request

    @abstractmethod
    def applied(self, relation: Relation, release: Release) -> Relation:
        """Return the rows of the question under what an answer to the request says."""

    @property
    @abstractmethod
    def announced(self) -> str:
        """What will be bought, in words."""

    @abstractmethod
    def found(self, release: Release) -> str:
        """Say what was bought, and what it cuts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLimitFit(Fitted):
    """The limit on rows of each person.

    Attributes
    ----------
    most : int
        The largest that may be chosen.
    spare : float
        How many persons may have more rows.
    """

    most: int
    spare: float

    def applied(self, relation: Relation, release: Release) -> Relation:
        """Return the rows under the limit that was found."""
        return with_limits(relation, Limits(rows=fitting_limit(self._persons(release), self.spare)))

    @property
    def announced(self) -> str:
        """The range of the limit."""
        return (
            f"the limit on rows of each person is bought first, from 1 to {self.most:,}; errors are for "
            f"{self.most:,}, and in proportion less for a smaller one"
        )

    def found(self, release: Release) -> str:
        """Say which limit it is, and how many persons have more rows."""
        persons = self._persons(release)
        return limit_in_words(persons, fitting_limit(persons, self.spare), self.request.confidence)

    def _persons(self, release: Release) -> SizeCounts:
        return SizeCounts.read(release, row_edges(self.most))


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsFit(Fitted):
    """The bounds of a column.

    Attributes
    ----------
    column : str
        Of the first table.
    kind : Type
        The type of its numbers.
    """

    column: str
    kind: Type

    def applied(self, relation: Relation, release: Release) -> Relation:
        """Return the rows under the bounds that were found."""
        return with_bounds(relation, self.column, self._bounds(release))

    @property
    def announced(self) -> str:
        """What is unknown yet."""
        return f"the bounds of {self.column!r} are bought first; errors are for a range of 0 to 100"

    def found(self, release: Release) -> str:
        """Say which bounds they are, and what share of values they clip."""
        values, level = SizeCounts.read(release, VALUE_EDGES), self.request.confidence
        return bounds_in_words(values, self.column, self._bounds(release), level)

    def _bounds(self, release: Release) -> Bounds:
        return fitting_bounds(SizeCounts.read(release, VALUE_EDGES), self.kind)
