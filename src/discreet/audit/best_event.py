"""The best event: a lower bound on epsilon from samples alone.

Half of the samples choose an event S that is probable at one input and improbable at its neighbor.
The other half, which had no part in the choice, bounds P(S) from below and Q(S) from above
(Clopper & Pearson 1934). If P(S) > e^epsilon Q(S) + delta for the bounds, the claim is false,
with the stated confidence. Nothing is assumed about the mechanism.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.audit.claims import points
from discreet.audit.outputs import output_key
from discreet.audit.precision import lowest_bit, trailing_zeros
from discreet.audit.report import Finding
from discreet.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from discreet.audit.samples import Sample
    from discreet.privacy.guarantees import Guarantee

__all__ = ["EventBound", "attack", "check_best_event", "clopper_pearson"]

_MOST_ATOMS = 2048
_BINS = 256
_MOST_EVENTS = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBound:
    """What an attack has shown.

    Attributes
    ----------
    excess : float
        The largest log((P(S) - delta) / Q(S)) - epsilon that is certain; above 0 breaks the claim.
    epsilon, delta : float
        The point of the claim where that is so.
    event : str
        The kind of event that was chosen.
    """

    excess: float
    epsilon: float
    delta: float
    event: str


def clopper_pearson(
    hits: NDArray[Any], misses: NDArray[Any], total: tuple[int, int], failure: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bound P from below by `hits` of total[0] and Q from above by `misses` of total[1].

    Both bounds hold together with probability at least 1 - failure.
    """
    from scipy.stats import beta

    hits, misses = np.asarray(hits), np.asarray(misses)
    low = np.where(hits > 0, beta.ppf(failure / 2, np.maximum(hits, 1), total[0] - hits + 1), 0.0)
    high = np.where(
        misses < total[1], beta.ppf(1 - failure / 2, misses + 1, np.maximum(total[1] - misses, 1)), 1.0
    )
    return low, high


def attack(
    first: Sample,
    second: Sample,
    claim: Guarantee,
    failure: float,
    inputs: tuple[object, object] | None = None,
) -> EventBound:
    """Bound the excess of P over Q beyond the claim, with confidence 1 - failure.

    A quarter of the outputs ranks what was seen by its likelihood ratio, the next quarter chooses
    how much of the ranking to take, and the last half, fresh, bounds the event.
    """
    curve = points(claim)
    sizes = (first.size, second.size)
    best: tuple[float, str, NDArray[Any], NDArray[Any], NDArray[Any]] | None = None
    for name, codes, others in _features(first, second, inputs):
        count = _count(codes, others)
        ranked, chosen = (
            [
                np.bincount(side[int(start * size) : int(stop * size)], minlength=count)
                for side, size in zip((codes, others), sizes, strict=True)
            ]
            for start, stop in ((0, 0.25), (0.25, 0.5))
        )
        totals = (int(chosen[0].sum()), int(chosen[1].sum()))
        for order in _orders(*ranked):
            lengths = _lengths(len(order))
            hits, misses = (np.cumsum(side[order])[lengths] for side in chosen)
            excess = _excess(*clopper_pearson(hits, misses, totals, failure), curve)[0]
            index = int(np.argmax(excess))
            if best is None or excess[index] > best[0]:
                best = float(excess[index]), name, order[: lengths[index] + 1], codes, others
    if best is None:
        raise AssertionError("every sample has at least one feature")
    _, name, event, codes, others = best
    fresh = codes[int(0.5 * sizes[0]) :], others[int(0.5 * sizes[1]) :]
    hits, misses = (np.array([np.isin(side, event).sum()]) for side in fresh)
    bounds = clopper_pearson(hits, misses, (len(fresh[0]), len(fresh[1])), failure)
    excess, where = _excess(*bounds, curve)
    epsilon, delta = curve[int(where[0])]
    return EventBound(excess=float(excess[0]), epsilon=epsilon, delta=delta, event=name)


def _excess(
    low: NDArray[np.float64], high: NDArray[np.float64], curve: list[tuple[float, float]]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the largest excess over the points of the claim, and at which point."""
    with np.errstate(divide="ignore", invalid="ignore"):
        table = np.array(
            [
                np.where(low > delta, np.log((low - delta) / high), -np.inf) - epsilon
                for epsilon, delta in curve
            ]
        )
    where = table.argmax(axis=0)
    return table.max(axis=0), where


def _orders(seen: NDArray[Any], other: NDArray[Any]) -> list[NDArray[np.int64]]:
    """Return the orders in which codes join the event: by likelihood ratio, and from either end."""
    ratio = (seen + 0.5) / (other + 0.5)
    ends = np.arange(len(seen))
    return [np.argsort(-ratio, kind="stable"), ends, ends[::-1]]


def _lengths(count: int) -> NDArray[np.int64]:
    """Return which events to try, by the number of their codes less one: all, or some of every size."""
    if count <= _MOST_EVENTS:
        return np.arange(count)
    return np.unique(np.geomspace(1, count, _MOST_EVENTS).astype(np.int64)) - 1


def _features(
    first: Sample, second: Sample, inputs: tuple[object, object] | None
) -> list[tuple[str, NDArray[np.int64], NDArray[np.int64]]]:
    """Return what an observer may look at: for each feature, one code for every output."""
    values, others = first.values, second.values
    if values is None or others is None:
        return [("outputs", *_label_codes(_labels(first), _labels(second)))]
    if values.shape[1:] != others.shape[1:] or values.dtype != others.dtype:
        return [("kinds of output", np.zeros(len(values), np.int64), np.ones(len(others), np.int64))]
    if values.ndim > 1:
        features = [(name, *_bins(left, right)) for name, left, right in _projections(values, others, inputs)]
        return [*features, ("outputs", *_codes(_rows(values), _rows(others)))]
    features = [("values", *_bins(values, others))]
    if values.dtype.kind == "f":
        for name, code in _BITS.items():
            features.append((name, *_codes(code(values), code(others))))
    return features


def _fine(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Number floats by sign, binade and lowest set bit."""
    return (np.frexp(values)[1].astype(np.int64) * 2 + (values < 0)) * 8192 + lowest_bit(values)


_BITS = {
    "lowest set bits": lowest_bit,
    "trailing zeros": trailing_zeros,
    "signs, binades and lowest set bits": _fine,
}


def _rows(values: NDArray[Any]) -> NDArray[Any]:
    """View each row of an array as one item."""
    rows = np.ascontiguousarray(values)
    return rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()


def _codes(first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the distinct items of two arrays in increasing order, as `_label_codes` does."""
    codes = np.unique(np.concatenate([first, second]), return_inverse=True)[1].astype(np.int64)
    sides = codes[: len(first)], codes[len(first) :]
    known = np.unique(np.concatenate([side[: len(side) // 2] for side in sides]))
    numbers = np.full(len(codes), len(known), np.int64)
    numbers[known] = np.arange(len(known))
    return numbers[sides[0]], numbers[sides[1]]


def _count(first: NDArray[np.int64], second: NDArray[np.int64]) -> int:
    """Return how many codes there may be: those of the first halves, and one for all that is new."""
    return int(max(side[: len(side) // 2].max(initial=0) for side in (first, second))) + 2


def _labels(sample: Sample) -> list[Hashable]:
    if sample.keys is not None:
        return sample.keys
    rows: Iterable[Any] = [] if sample.values is None else sample.values
    return [output_key(row.copy() if isinstance(row, np.ndarray) else row) for row in rows]


def _label_codes(
    first: Sequence[Hashable], second: Sequence[Hashable]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number labels by their first halves, which choose events; all new ones have one code, the last.

    If each new label had its own, how many there are would move events, and events would see fresh outputs.
    """
    codes: dict[Hashable, int] = {}
    for label in chain(*(side[: len(side) // 2] for side in (first, second))):
        codes.setdefault(label, len(codes))
    numbered = [
        np.array([codes.get(label, len(codes)) for label in side], np.int64) for side in (first, second)
    ]
    return numbered[0], numbered[1]


def _bins(first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the outputs in increasing order, or their bins where there are too many.

    Only outputs that take part in the choice of an event, the first half, set the bins.
    """
    seen = np.concatenate([first[: len(first) // 2], second[: len(second) // 2]])
    edges = np.unique(seen)
    if len(edges) > _MOST_ATOMS:
        edges = np.unique(np.quantile(seen, np.arange(1, _BINS) / _BINS, method="lower"))
    return np.searchsorted(edges, first), np.searchsorted(edges, second)


def _projections(
    first: NDArray[Any], second: NDArray[Any], inputs: tuple[object, object] | None
) -> list[tuple[str, NDArray[Any], NDArray[Any]]]:
    """Reduce vectors to numbers: how much closer to one input than to the other, in L1 and in L2."""
    found = []
    ends = [np.asarray(end) for end in inputs] if inputs is not None else []
    if ends and all(end.shape == first.shape[1:] and end.dtype.kind in "if" for end in ends):
        x, other = ends

        def closeness(rows: NDArray[Any]) -> NDArray[Any]:
            return np.asarray(np.abs(rows - other).sum(axis=1) - np.abs(rows - x).sum(axis=1))

        found.append(("distances in L1", closeness(first), closeness(second)))
        found.append(("distances in L2", first @ (x - other), second @ (x - other)))
    return [*found, ("first entries", first[:, 0], second[:, 0])]


def check_best_event(
    samples: Sequence[tuple[Sample, Sample]],
    inputs: Sequence[tuple[object, object]],
    claim: Guarantee,
    false_alarm: float,
) -> Finding:
    """Attack every pair of neighbors in both orders.

    Parameters
    ----------
    samples : sequence of pairs
        Samples at neighboring inputs.
    inputs : sequence of pairs
        Those inputs.
    claim : Guarantee
        What the mechanism is held to.
    false_alarm : float
        The probability with which a right mechanism may fail.
    """
    failure = false_alarm / (2 * len(samples))
    bounds = []
    for (first, second), (x, other) in zip(samples, inputs, strict=True):
        bounds.append(attack(first, second, claim, failure, (x, other)))
        bounds.append(attack(second, first, claim, failure, (other, x)))
    worst = max(bounds, key=lambda bound: bound.excess)
    size = min(sample.size for pair in samples for sample in pair)
    shown = f"epsilon is at least {max(worst.epsilon + worst.excess, 0):.4f}"
    if len(points(claim)) > 1 and worst.excess <= 0:
        shown = "no event was found that exceeds the claim"
    delta = f" with delta {worst.delta:.3g}" if worst.delta else ""
    return Finding(
        name="best event",
        verdict="failed" if worst.excess > 0 else "passed",
        detail=f"{shown}, by {worst.event}, where {worst.epsilon:.4f}{delta} is claimed;"
        f" {size} outputs each, {len(bounds)} orders of neighbors",
        false_alarm=false_alarm,
    )
