"""Nested blocks: the algebra that trees and wavelets share.

Let w_0 = 1 | w_1 | … | w_k be block widths over n cells; the last block of a level may be cut by the end
of the domain. Let A^T A be the sum over levels l and blocks b of c_l 1_b 1_b^T. Then least squares is
solved block by block in O(n): from the cells up, each block's sum has a variance V', that of what
its parts say, and V = 1 / (1 / V' + c_l) with what is known about the block itself; from the top down,
what is known above is shared among the parts in proportion to their variances.
(docs/proofs/strategies.md, proposition 5.)
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.records import dataclass
from discreet.workloads.strategies.base import Strategy, check_domain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.workloads.queries.base import Vector, Workload

__all__ = [
    "LARGEST_BLOCK_WEIGHT",
    "LevelStrategy",
    "block_sums",
    "checked_weights",
    "level_traces",
    "widths_of",
]

LARGEST_BLOCK_WEIGHT = 1 << 24


def widths_of(size: int, branching: int | Sequence[int]) -> tuple[int, ...]:
    """Return the widths of blocks, from single cells to one block that holds the domain.

    Parameters
    ----------
    size : int
        The number of cells.
    branching : int or sequence of int
        How many blocks make the next one, the same at each level; or, from the leaves to the root, for each
        level. The last block may reach past the end of the domain.
    """
    widths = [1]
    if isinstance(branching, int | np.integer):
        factor = whole(branching, "branching", least=2)
        while widths[-1] < size:
            widths.append(widths[-1] * factor)
        return tuple(widths)
    for step in branching:
        widths.append(widths[-1] * whole(step, "branching", least=2))
    if widths[-1] < size or (len(widths) > 1 and widths[-2] >= size):
        raise ParameterError(
            "branching", "does not lead to one block of the domain", f"a product of at least {size}"
        )
    return tuple(widths)


def checked_weights(weights: Sequence[int] | None, levels: int) -> tuple[int, ...]:
    """Check the integer weights of levels, from the cells to the whole."""
    if weights is None:
        return (1,) * levels
    if len(weights) != levels:
        raise ParameterError("weights", "has another length than there are levels", f"{levels} integers")
    return tuple(whole(weight, "weights", least=0, most=LARGEST_BLOCK_WEIGHT) for weight in weights)


def block_sums(cells: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Sum neighbors along the last axis, whose length is a multiple of the width."""
    sums: NDArray[np.int64] = cells.reshape(*cells.shape[:-1], -1, width).sum(axis=-1)
    return sums


def level_traces(workload: Workload, widths: Sequence[int]) -> Vector:
    """Return tr(G Q_l) for each level, from the cells to the whole.

    P_l averages over the blocks of a level and Q_l = P_l - P_(l+1), with P_(k+1) = 0; cells past the end of
    the domain count as cells here.
    """
    traces = workload.block_traces(widths)
    return np.asarray(np.maximum(traces - np.append(traces[1:], 0.0), 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Variances of a block's sum: from its parts alone, and with what is known about the block itself."""

    parts: float
    whole: float


class LevelStrategy(Strategy):
    """A strategy with A^T A = sum of c_l 1_b 1_b^T over nested blocks b, each level with its weight."""

    __slots__ = ()

    widths: tuple[int, ...]
    weights: tuple[int, ...]

    @property
    @abstractmethod
    def coefficients(self) -> tuple[int, ...]:
        """c_l, from the cells to the whole."""

    @property
    def column_norm1(self) -> int:
        """A person is in one block of each level."""
        return sum(self.weights)

    @property
    def squared_column_norm2(self) -> int:
        """A person is in one block of each level."""
        return sum(weight**2 for weight in self.weights)

    @property
    def largest_entry(self) -> int:
        """The largest weight."""
        return max(self.weights)

    @property
    def padded(self) -> int:
        """The width of the block that holds the domain; it may reach past its end."""
        return self.widths[-1]

    def blocks(self, width: int) -> int:
        """Return how many blocks of a width have cells in the domain."""
        return -(-self.size // width)

    def pad(self, vectors: NDArray[Any], width: int) -> NDArray[Any]:
        """Append empty places along the last axis, to a multiple of the width."""
        extra = [(0, 0)] * (vectors.ndim - 1) + [(0, -vectors.shape[-1] % width)]
        return np.pad(vectors, extra)

    def spreads(self) -> list[tuple[Spread, Spread]]:
        """Return for each level the variances of a whole block and of the last one, for noise of variance 1.

        Exact until the last step, for at most two kinds of blocks are there on each level.
        """
        full = last = Fraction(1, self.coefficients[0])
        result = [(_spread(full, full), _spread(last, last))]
        for level in range(1, len(self.widths)):
            step = self.widths[level] // self.widths[level - 1]
            parts = (self.blocks(self.widths[level - 1]) - 1) % step
            inner = full * step, full * parts + last
            full, last = (1 / (1 / before + self.coefficients[level]) for before in inner)
            result.append((_spread(inner[0], full), _spread(inner[1], last)))
        return result

    def solve(self, cells: Vector, sums: Sequence[Vector | None]) -> Vector:
        """Return the cells of least squares, from each level's own estimates of cells and of block sums.

        Parameters
        ----------
        cells : array
            Estimates of the cells, each of precision c_0, along the last axis.
        sums : sequence of array
            For each level above, estimates of precision c_l of the blocks' sums; None stands for zeros.
        """
        spreads = self.spreads()
        known, inner = [cells], []
        for level in range(1, len(self.widths)):
            found = self._sums_of_parts(known[-1], level)
            kept = self._by_block(level, [spread.whole / spread.parts for spread in spreads[level]])
            own = sums[level - 1]
            inner.append(found)
            known.append(found * kept if own is None else found * kept + own * (1 - kept))
        result = known[-1]
        for level in range(len(self.widths) - 1, 0, -1):
            step = self.widths[level] // self.widths[level - 1]
            missing = (result - inner[level - 1]) / self._by_block(
                level, [spread.parts for spread in spreads[level]]
            )
            shares = self._by_block(level - 1, [spread.whole for spread in spreads[level - 1]])
            below = known[level - 1]
            result = below + shares * np.repeat(missing, step, axis=-1)[..., : below.shape[-1]]
        return result

    def covariance_times(self, vectors: Vector) -> Vector:
        """Solve with cells v / c_0, and zeros above."""
        cells = np.asarray(vectors, np.float64) / float(self.coefficients[0])
        return self.solve(cells, [None] * (len(self.widths) - 1))

    def trace(self, workload: Workload) -> float:
        """Sum over the levels what is not known about blocks' parts once the blocks' sums are.

        With V and V' as above and p_b the share of each cell in a change of b's sum, (A^T A)^-1 is the sum
        over blocks b with parts a of (sum of V_a p_a p_a^T) - V'_b p_b p_b^T, and V p p^T for the whole.
        """
        check_domain(self, workload)
        spreads, forms = self.spreads(), self._forms(workload)
        total = _weighted([spread.whole for spread in spreads[-1]], forms[-1])
        for level in range(len(self.widths) - 1):
            inside = _weighted([spread.whole for spread in spreads[level]], forms[level])
            across = _weighted([spread.parts for spread in spreads[level + 1]], forms[level + 1])
            total += max(0.0, inside - across)
        return total

    def _forms(self, workload: Workload) -> list[tuple[float, float]]:
        """Return p_b^T G p_b for each level: summed over whole blocks, and that of a last one that is cut.

        The shares of cells are alike between the places where the last blocks of the levels begin.
        """
        traces, spreads = workload.block_traces(self.widths), self.spreads()
        forms = [(float(trace) / width, 0.0) for trace, width in zip(traces, self.widths, strict=True)]
        cut = [level for level, width in enumerate(self.widths) if self.size % width]
        if not cut:
            return forms
        starts = [(self.blocks(width) - 1) * width for width in self.widths]
        places = sorted(set(starts[cut[0] - 1 :]))
        gram = workload.gram_between(places)
        shares = np.zeros(len(places))
        shares[-1] = 1 / self.widths[cut[0] - 1]
        for level in cut:
            width, below, parts = self.widths[level], self.widths[level - 1], spreads[level][1].parts
            first, last = places.index(starts[level]), places.index(starts[level - 1])
            shares[last:] *= spreads[level - 1][1].whole / parts
            shares[first:last] = spreads[level - 1][0].whole / parts / below
            others = max(0.0, forms[level][0] - float(gram[first:, first:].sum()) / width**2)
            forms[level] = others, float(shares @ gram @ shares)
        return forms

    def _sums_of_parts(self, values: Vector, level: int) -> Vector:
        step = self.widths[level] // self.widths[level - 1]
        padded = self.pad(values, step)
        return np.asarray(padded.reshape(*padded.shape[:-1], -1, step).sum(axis=-1))

    def _by_block(self, level: int, values: Sequence[float]) -> Vector:
        """Return one number for each block of a level: that of whole blocks, and that of the last."""
        full, last = values
        result = np.full(self.blocks(self.widths[level]), full)
        result[-1] = last
        return result


def _spread(parts: Fraction, whole: Fraction) -> Spread:
    return Spread(parts=float(parts), whole=float(whole))


def _weighted(variances: Sequence[float], forms: tuple[float, float]) -> float:
    return variances[0] * forms[0] + variances[1] * forms[1]
