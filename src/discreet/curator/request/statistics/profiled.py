"""Statistics whose local sensitivity at every distance is known: triangles of a graph, quantiles of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import comb, isqrt
from typing import ClassVar

from discreet.curator.request.statistics.graph_counts import simple_graph
from discreet.data.bounding.coded_rows import row_codes
from discreet.data.language.declarations import Bounds
from discreet.data.language.serialization import to_object
from discreet.data.tables.fixed_table import FixedTable
from discreet.data.tables.graph import Graph
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_ROW, REPLACE_ROW, Neighbors
from discreet.privacy.rational import show
from discreet.records import dataclass
from discreet.stability.graphs.triangles import triangles
from discreet.stability.order_statistics.quantile import quantile
from discreet.stability.profile import Profile

__all__ = ["ProfiledStatistic", "QuantileStatistic", "TriangleStatistic"]

_HINTED = 256
"""At how many distances the local sensitivity is supposed, where noise is chosen; beyond, it stays."""
_LARGEST = 2**53


class ProfiledStatistic(ABC):
    """A statistic in whole steps, with a profile. Subclasses are frozen dataclasses."""

    __slots__ = ()

    kind: ClassVar[str]
    relation: ClassVar[Neighbors]

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the output."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What it is, in words."""

    @property
    def step(self) -> Fraction:
        """What one step is worth."""
        return Fraction(1)

    @property
    @abstractmethod
    def ends(self) -> tuple[int, int]:
        """The least and the largest value, in steps."""

    @property
    @abstractmethod
    def supposed(self) -> tuple[tuple[int, ...], str]:
        """What the local sensitivity may be at the distances 0, 1, …, and what that assumes, in words.

        Public; only the choice of the noise and the expected error hang on it.
        """

    @property
    @abstractmethod
    def parameters(self) -> dict[str, object]:
        """What makes it differ from others of its kind, as plain JSON values."""

    @abstractmethod
    def fits(self, table: RelatedTable) -> bool:
        """Return whether it was made for what a table declares."""

    @abstractmethod
    def profile(self, table: RelatedTable) -> Profile:
        """Return the value with its local sensitivities, in steps; private."""

    def in_steps(self, number: Fraction, parameter: str) -> int:
        """Return a number of the answer's unit in steps, or refuse one that is not whole or not positive."""
        steps = number / self.step
        if steps.denominator != 1 or steps < 1:
            raise ParameterError(
                parameter, "is not a whole number of steps", f"a positive multiple of {show(self.step)}"
            )
        return int(steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class TriangleStatistic(ProfiledStatistic):
    """The triangles of a graph of which one edge comes or goes.

    Attributes
    ----------
    nodes : int
        The public number of nodes.
    common : int or None
        How many neighbors two nodes have in common at most, as is supposed in public; None for the root of
        the number of nodes.
    """

    kind: ClassVar[str] = "triangles"
    relation: ClassVar[Neighbors] = ADD_REMOVE_ROW

    nodes: int
    common: int | None = None

    def __post_init__(self) -> None:
        if self.nodes < 3:
            raise ParameterError("nodes", "are fewer than 3, so that there is no triangle", "3 or more")

    @property
    def name(self) -> str:
        """The name of the output."""
        return "triangles"

    @property
    def words(self) -> str:
        """What it is, in words."""
        return "the number of triangles"

    @property
    def ends(self) -> tuple[int, int]:
        """None, and those of the complete graph; at most 2^53, where answers are clamped."""
        return 0, min(comb(self.nodes, 3), _LARGEST)

    @property
    def largest_local(self) -> int:
        """In how many triangles one edge is at most: the global sensitivity."""
        return self.nodes - 2

    @property
    def assumed(self) -> int:
        """How many common neighbors are supposed."""
        return min(isqrt(self.nodes) if self.common is None else self.common, self.largest_local)

    @property
    def supposed(self) -> tuple[tuple[int, ...], str]:
        """One more for each edge that is added: two nodes with most common neighbors get one more."""
        sizes = tuple(max(1, min(self.assumed + far, self.largest_local)) for far in range(_HINTED))
        return sizes, f"no two nodes have more than {self.assumed} common neighbors"

    @property
    def parameters(self) -> dict[str, object]:
        """The number of nodes, and what is supposed."""
        return {"nodes": self.nodes, "common": self.assumed}

    def fits(self, table: RelatedTable) -> bool:
        """Return whether it is a graph of as many nodes."""
        return isinstance(table, Graph) and table.nodes == self.nodes

    def profile(self, table: RelatedTable) -> Profile:
        """Return the number of triangles with its profile."""
        graph = simple_graph(table)
        return triangles(graph.low, graph.high, nodes=self.nodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileStatistic(ProfiledStatistic):
    """The value of rank ceil(level rows) of a column, of which one row is replaced."""

    kind: ClassVar[str] = "quantile"
    relation: ClassVar[Neighbors] = REPLACE_ROW

    rows: int
    column: str
    bounds: Bounds
    level: Fraction

    @property
    def name(self) -> str:
        """The name of the output."""
        return f"{'median' if self.level == Fraction(1, 2) else 'quantile'}_{self.column}"

    @property
    def words(self) -> str:
        """What it is, in words."""
        return f"the quantile of {self.column} at {show(self.level)}"

    @property
    def step(self) -> Fraction:
        """The grid of the column."""
        return self.bounds.step

    @property
    def ends(self) -> tuple[int, int]:
        """The bounds."""
        return self.bounds.lower_steps, self.bounds.upper_steps

    @property
    def supposed(self) -> tuple[tuple[int, ...], str]:
        """The gaps between values that are spread evenly."""
        width = self.bounds.upper_steps - self.bounds.lower_steps
        sizes = tuple(
            min(-(-(far + 1) * width // (self.rows + 1)), width) for far in range(min(_HINTED, self.rows))
        )
        return sizes, "values are spread evenly between the bounds"

    @property
    def parameters(self) -> dict[str, object]:
        """The column with its bounds, the level, and the number of rows."""
        return {
            "column": self.column,
            "bounds": to_object(self.bounds),
            "level": str(self.level),
            "rows": self.rows,
        }

    def fits(self, table: RelatedTable) -> bool:
        """Return whether the table declares the same."""
        return (
            isinstance(table, FixedTable)
            and table.rows == self.rows
            and table.columns.get(self.column) == self.bounds
        )

    def profile(self, table: RelatedTable) -> Profile:
        """Return the quantile with its profile, in steps."""
        assert isinstance(table, FixedTable)  # noqa: S101
        values = row_codes(table, [self.column])[:, 0]
        low, high = self.ends
        return quantile(values, level=self.level, lower=low, upper=high, relation=REPLACE_ROW)
