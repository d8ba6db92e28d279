"""Workloads over an ordered domain: all ranges, prefixes, and all ranges of one width.

The Gram matrices of the first two are inverses of second differences, so that their eigenvectors are
sines and everything that planning needs has a closed form (docs/proofs/workloads.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.records import dataclass
from discreet.workloads.queries.base import Vector, Workload, checked_size, flat

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["AllRanges", "Prefixes", "RangesOfWidth", "checked_range"]

LARGEST_WEIGHED = 4096
"""Cells up to which the covariance of all running sums is held: 128 MiB."""
_AT_ONCE = 512


def checked_range(first: int, last: int, size: int) -> tuple[int, int]:
    """Check a range of cells, both ends included."""
    first = whole(first, "first", least=0, most=size - 1)
    last = whole(last, "last", least=0, most=size - 1)
    if last < first:
        raise ParameterError("last", "lies before first", f"from first = {first} to {size - 1}")
    return first, last


@dataclass(frozen=True, slots=True, init=False)
class _Ordered(Workload):
    shape: tuple[int, ...]

    def __init__(self, size: int) -> None:
        self._set(shape=(checked_size(size),))


@dataclass(frozen=True, slots=True, init=False)
class AllRanges(_Ordered):
    """All n (n + 1) / 2 ranges of n ordered cells, by first and then by last cell.

    G[i, j] = (min(i, j) + 1) (n - max(i, j)) is n + 1 times the inverse of tridiag(-1, 2, -1).
    """

    @property
    def queries(self) -> int:
        """Return n (n + 1) / 2."""
        return self.size * (self.size + 1) // 2

    def answer(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return all range sums: the differences of prefix sums."""
        self.check_answers()
        first, last = np.triu_indices(self.size)
        sums = _prefix_sums(flat(x, self.size))
        return np.asarray(sums[last + 1] - sums[first])

    def index(self, first: int, last: int) -> int:
        """Return the number of the query that sums cells first to last."""
        first, last = checked_range(first, last, self.size)
        return first * self.size - first * (first - 1) // 2 + last - first

    def bounds(self, index: int) -> tuple[int, int]:
        """Return the first and the last cell of a query."""
        index, size = self.check_index(index), self.size
        low, high = 0, size - 1
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self.index(middle, middle) <= index else (low, middle - 1)
        return low, low + index - self.index(low, low)

    def row(self, index: int) -> Vector:
        """Return ones from the first to the last cell."""
        first, last = self.bounds(index)
        return _indicator(self.size, first, last)

    def largest_variance(self, covariance_times: Callable[[Vector], Vector]) -> float | None:
        """Of the running sums' covariance C: C[j, j] + C[i, i] - 2 C[i, j], for all i < j."""
        sums = _covariance_of_sums(self.size, covariance_times)
        if sums is None:
            return None
        own = np.diagonal(sums)
        return max(
            float((own[place] + own[place + 1 :] - 2 * sums[place, place + 1 :]).max())
            for place in range(self.size)
        )

    def gram_times(self, vectors: Vector) -> Vector:
        """(G v)_i = (n - i) sum of (j + 1) v_j over j <= i, plus (i + 1) sum of (n - j) v_j over j > i."""
        up, down = np.arange(1.0, self.size + 1), np.arange(float(self.size), 0.0, -1.0)
        return down * np.cumsum(up * vectors, axis=-1) + up * _sums_after(down * vectors)

    def gram_diagonal(self) -> Vector:
        """Cell i lies in (i + 1) (n - i) ranges."""
        up = np.arange(1.0, self.size + 1)
        return up * up[::-1]

    def block_traces(self, widths: Sequence[int]) -> Vector:
        """Count ranges by how many of their ends lie in a block: both, one, or none."""
        traces = []
        for width in widths:
            before, length, after = _blocks(self.size, width)
            inside = length * (length + 1) ** 2 * (length + 2) / 12
            traces.append(
                (inside + (before + after) * _squares(length) + length**2 * before * after).sum() / width
            )
        return np.array(traces)

    def diagonal_sums(self) -> Vector:
        """Diagonal d of G sums to (n - d) (n - d + 1) (n - d + 2) / 6; diagonal n - d wraps onto it."""
        left = np.arange(self.size, 0, -1.0)
        sums = left * (left + 1) * (left + 2) / 6
        return np.asarray(sums + np.append(0.0, sums[:0:-1]))

    def singular_values(self) -> Vector:
        """sigma_k = sqrt(n + 1) / (2 sin(pi k / (2 (n + 1)))), for k = 1 … n."""
        order = self.size + 1
        return np.asarray(np.sqrt(order) / (2 * np.sin(np.pi * np.arange(1, order) / (2 * order))))

    def root_diagonal(self) -> Vector:
        """D_j = sum over odd m < 4 j of cot(pi m / (4 N)) / (2 sqrt(N)), N = n + 1; alike from both ends."""
        order, half = self.size + 1, (self.size + 1) // 2
        odd = np.arange(1.0, 4 * half, 2)
        sums = _running_sums(1 / np.tan(np.pi * odd / (4 * order)))[1::2] / (2 * np.sqrt(order))
        return np.concatenate([sums, sums[: self.size - half][::-1]])

    def gram_between(self, places: Sequence[int]) -> Vector:
        """Sum (i + 1) (n - j), i <= j: apart, products of sums; within a range, polynomials of its length."""
        ranges = [(first + 1, self.size - first, length) for first, length in _lengths(places, self.size)]
        result = np.zeros((len(ranges), len(ranges)))
        for place, (up, down, length) in enumerate(ranges):
            one, two, three = _power_sums(length)
            # With i = first + p and j = first + q: (up + p)(down - q), twice for p < q, once for p = q.
            below = 2 * up * (down * one - two) + down * (two - one) - (three - two)
            result[place, place] = below + up * down * length + (down - up) * one - two
            for other, (_, later, width) in enumerate(ranges[place + 1 :], start=place + 1):
                across = (up * length + one) * (later * width - _power_sums(width)[0])
                result[place, other] = result[other, place] = across
        return result


@dataclass(frozen=True, slots=True, init=False)
class Prefixes(_Ordered):
    """The n prefixes of n ordered cells: query k sums cells 0 to k.

    G[i, j] = n - max(i, j); in reversed order, min(i, j) counted from 1.
    """

    @property
    def queries(self) -> int:
        """Return n."""
        return self.size

    def answer(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the running sums."""
        return np.cumsum(flat(x, self.size))

    def row(self, index: int) -> Vector:
        """Return ones up to the index."""
        return _indicator(self.size, 0, self.check_index(index))

    def largest_variance(self, covariance_times: Callable[[Vector], Vector]) -> float | None:
        """Return the largest variance of a running sum."""
        sums = _covariance_of_sums(self.size, covariance_times)
        return None if sums is None else float(np.diagonal(sums).max())

    def gram_times(self, vectors: Vector) -> Vector:
        """(G v)_i = (n - i) sum over j <= i of v_j, plus that of (n - j) v_j over j > i."""
        down = np.arange(float(self.size), 0.0, -1.0)
        return down * np.cumsum(vectors, axis=-1) + _sums_after(down * vectors)

    def gram_diagonal(self) -> Vector:
        """Cell i lies in n - i prefixes."""
        return np.arange(float(self.size), 0.0, -1.0)

    def block_traces(self, widths: Sequence[int]) -> Vector:
        """Count prefixes that end inside a block and those that end after it."""
        traces = []
        for width in widths:
            _, length, after = _blocks(self.size, width)
            traces.append((_squares(length) + length**2 * after).sum() / width)
        return np.array(traces)

    def diagonal_sums(self) -> Vector:
        """The d-th diagonal of G sums to (n - d) (n - d + 1) / 2; the (n - d)-th wraps onto it."""
        left = np.arange(self.size, 0, -1.0)
        sums = left * (left + 1) / 2
        return np.asarray(sums + np.append(0.0, sums[:0:-1]))

    def singular_values(self) -> Vector:
        """sigma_k = 1 / (2 sin(pi (2 k - 1) / (2 (2 n + 1)))), for k = 1 … n."""
        odd = np.arange(1, 2 * self.size, 2)
        return np.asarray(1 / (2 * np.sin(np.pi * odd / (2 * (2 * self.size + 1)))))

    def root_diagonal(self) -> Vector:
        """D_j = sum over odd m < 4 j of 1 / (N sin(pi m / (2 N))), N = 2 n + 1, from the last cell on."""
        order = 2 * self.size + 1
        odd = np.arange(1.0, 4 * self.size, 2)
        sines = np.sin(np.pi * np.minimum(odd, 2 * order - odd) / (2 * order))
        return (_running_sums(1 / sines)[1::2] / order)[::-1].copy()

    def gram_between(self, places: Sequence[int]) -> Vector:
        """Sum n - max(i, j): apart, that of the later range; within a range, polynomials of its length."""
        ranges = [(self.size - first, length) for first, length in _lengths(places, self.size)]
        result = np.zeros((len(ranges), len(ranges)))
        for place, (down, length) in enumerate(ranges):
            one, two, _ = _power_sums(length)
            # 2 k + 1 pairs have the maximum first + k.
            result[place, place] = down * length**2 - 2 * two - one
            result[place, :place] = result[:place, place] = [
                before * (down * length - one) for _, before in ranges[:place]
            ]
        return result


@dataclass(frozen=True, slots=True, init=False)
class RangesOfWidth(_Ordered):
    """All n - width + 1 ranges of one width.

    Parameters
    ----------
    size : int
        The number of cells, n.
    width : int
        How many cells each range holds, at most n.
    """

    width: int

    def __init__(self, size: int, width: int) -> None:
        cells = checked_size(size)
        self._set(shape=(cells,), width=whole(width, "width", least=1, most=cells))

    @property
    def queries(self) -> int:
        """Return n - width + 1."""
        return self.size - self.width + 1

    def answer(self, x: NDArray[Any]) -> NDArray[Any]:
        """Return the sums over a moving window."""
        sums = _prefix_sums(flat(x, self.size))
        return np.asarray(sums[self.width :] - sums[: -self.width])

    def row(self, index: int) -> Vector:
        """Return ones over one window."""
        first = self.check_index(index)
        return _indicator(self.size, first, first + self.width - 1)

    def largest_variance(self, covariance_times: Callable[[Vector], Vector]) -> float | None:
        """As of all ranges, for those of one width."""
        sums = _covariance_of_sums(self.size, covariance_times)
        if sums is None:
            return None
        own = np.diagonal(sums)
        return float((own[self.width :] + own[: -self.width] - 2 * np.diagonal(sums, self.width)).max())

    def gram_times(self, vectors: Vector) -> Vector:
        """Sum over windows, then over the windows that hold a cell."""
        sums = _prefix_sums(np.asarray(vectors, dtype=np.float64))
        windows = _prefix_sums(sums[..., self.width :] - sums[..., : -self.width])
        cells = np.arange(self.size)
        last = np.minimum(cells + 1, self.queries)
        return np.asarray(windows[..., last] - windows[..., np.maximum(cells + 1 - self.width, 0)])

    def gram_diagonal(self) -> Vector:
        """Count the windows that hold each cell."""
        cells = np.arange(self.size)
        held = np.minimum(cells + 1, self.queries) - np.maximum(cells + 1 - self.width, 0)
        return held.astype(np.float64)


def _prefix_sums(cells: NDArray[Any]) -> NDArray[Any]:
    """Return running sums that begin with 0, along the last axis."""
    sums = np.cumsum(cells, axis=-1)
    return np.concatenate([np.zeros_like(sums[..., :1]), sums], axis=-1)


def _covariance_of_sums(size: int, covariance_times: Callable[[Vector], Vector]) -> Vector | None:
    """Return the covariance of the running sums of estimated cells, which begin with 0; None if too many."""
    if size > LARGEST_WEIGHED:
        return None
    sums = np.zeros((size + 1, size + 1))
    for first in range(0, size, _AT_ONCE):
        last = min(first + _AT_ONCE, size)
        sums[first + 1 : last + 1, 1:] = np.cumsum(
            covariance_times(np.tri(last - first, size, first)), axis=1
        )
    return sums


def _running_sums(terms: Vector) -> Vector:
    """Return running sums, of blocks and then within them: 2^28 terms lose less than 2^-36 of a sum."""
    width = 1 << 12
    blocks = np.append(terms, np.zeros(-len(terms) % width)).reshape(-1, width)
    sums = np.cumsum(blocks, axis=1)
    sums[1:] += np.cumsum(sums[:-1, -1])[:, None]
    return sums.reshape(-1)[: len(terms)]


def _sums_after(vectors: Vector) -> Vector:
    """Return for each place the sum over all later ones."""
    sums = np.cumsum(vectors[..., ::-1], axis=-1)[..., ::-1]
    return np.concatenate([sums[..., 1:], np.zeros_like(sums[..., :1])], axis=-1)


def _indicator(size: int, first: int, last: int) -> Vector:
    row = np.zeros(size)
    row[first : last + 1] = 1.0
    return row


def _blocks(size: int, width: int) -> tuple[Vector, Vector, Vector]:
    """Return for each block the number of cells before it, in it, and after it."""
    before = np.arange(0, size, width, dtype=np.float64)
    length = np.minimum(width, size - before)
    return before, length, size - before - length


def _lengths(places: Sequence[int], size: int) -> list[tuple[int, int]]:
    """Return where ranges begin and how long they are, each up to the next and the last to the end."""
    return [(first, end - first) for first, end in zip(places, [*places[1:], size], strict=True)]


def _power_sums(length: int) -> tuple[int, int, int]:
    """Return the sums of k, k^2 and k^3 over k < length."""
    one = length * (length - 1) // 2
    return one, one * (2 * length - 1) // 3, one**2


def _squares(length: Vector) -> Vector:
    """Return 1 + 4 + … + length^2."""
    return length * (length + 1) * (2 * length + 1) / 6
