"""Several measurements of the same statistics as one, each weighted by the inverse of its variance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.curator.ledger import Entry
from discreet.curator.request.histogram import HistogramMechanism
from discreet.curator.request.request import Draw, Part, Request
from discreet.errors import UnsupportedQuery
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.error.weighted import WeightedError
from discreet.noise import is_private
from discreet.noise.replayed import mark_replayed

__all__ = ["Averaged", "average_draws", "check_combined", "earlier_charges"]

_GRAIN = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Averaged:
    """A weighted average of noises: not a mechanism, but with the error of one."""

    error: WeightedError


@dataclass(frozen=True, slots=True, kw_only=True)
class _AveragedPart(Part):
    """A statistic with the error of several measurements."""

    mechanism: Averaged  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Nothing is drawn for it, so nothing has to be covered."""


def check_combined(parts: Sequence[Part]) -> None:
    """Refuse what has no average, before anything is charged."""
    if any(isinstance(part.mechanism, HistogramMechanism) for part in parts):
        raise UnsupportedQuery(
            "quantiles, most frequent keys, ranges, counts that are measured together, and sums with more "
            "noise than 2^40 steps cannot be averaged; "
            "ask again with a larger offer, or with split=, which gives each count its own noise"
        )


def average_draws(draws: Sequence[Draw]) -> Draw:
    """Return the average of independent draws of one statistic, rounded to whole steps.

    With weights proportional to 1 / variance (in 1024ths) its variance is the least that an unbiased average
    has, about 1 / sum(1 / variance). Rounding to the nearest step adds at most half of one to the error.
    """
    check_combined([draw.part for draw in draws])
    laws = [
        draw.part.mechanism.error for draw in draws if isinstance(draw.part.mechanism, Laplace | Gaussian)
    ]
    demands = [1 / law.variance for law in laws]
    parts = [max(round(_GRAIN * demand / sum(demands)), 1) for demand in demands]
    total = sum(parts)
    exact = sum(part * draw.steps.astype(object) for part, draw in zip(parts, draws, strict=True))
    steps = np.array((2 * exact + total) // (2 * total), np.int64).reshape(draws[0].steps.shape)
    law = WeightedError(
        laws=tuple(laws), weights=tuple(Fraction(part, total) for part in parts), rounding=Fraction(1, 2)
    )
    part = _AveragedPart(statistic=draws[0].part.statistic, mechanism=Averaged(error=law))
    private = all(is_private(draw.steps) for draw in draws)
    return Draw(part=part, steps=steps if private else mark_replayed(steps))


def earlier_charges(requests: Sequence[Request], charges: Sequence[Entry]) -> list[dict[str, object]]:
    """Return what a label says about earlier measurements: what was drawn, and which entry paid for it."""
    return [
        {"event": one.event.to_object(), "charge": {"entry": paid.sequence, "time": paid.time}}
        for one, paid in zip(requests, charges, strict=True)
    ]
