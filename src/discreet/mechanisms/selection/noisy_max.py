"""Report-noisy-max: noise on every score, and only the index of the largest leaves."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.mechanisms.error.selection import NoisyMaxError
from discreet.mechanisms.selection.scores import Pairs, ScoreVector, Selection
from discreet.mechanisms.values import check_reach
from discreet.noise import current, sample_laplace
from discreet.noise.geometric import check_scale
from discreet.privacy import events
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.rational import Number
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.mechanisms.selection.laws import Law

__all__ = ["ReportNoisyMax"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class ReportNoisyMax(Selection):
    """Add Laplace noise to every score and report which candidate has the largest.

    Parameters
    ----------
    sensitivity : number or Sensitivity
        The most that any one score moves between neighbors (the L-infinity norm). An int says that
        scores are integers; a float or a fraction says that they are real.
    epsilon : number
        The privacy loss.
    monotone : bool
        Whether between neighbors all scores move in the same direction, as counts do when a
        person is added or removed. Then half the noise suffices.
    grid : number, optional
        For real scores: the power of two to round to. By default fine enough not to matter.
    neighbors : Neighbors, optional
        The relation for which the sensitivity holds; by default adding or removing a person.

    Guarantee
    ---------
    epsilon-DP, however many candidates there are: independent discrete Laplace noise of scale
    2 sensitivity / epsilon, or sensitivity / epsilon for monotone scores, and of equal noisy scores
    the one with the smallest index (Dwork & Roth 2014, Claim 3.9, for counts and continuous noise; proof
    for integers, ties and both cases: docs/proofs/noisy_max.md). Only the index is released: the noisy score
    of the winner is not covered.

    Finite precision
    ----------------
    Scores are rounded to the grid and the noise is drawn from the discrete Laplace law on that grid,
    exactly; ties have positive probability and the proof includes them. Rounding is charged: each
    score moves at most ceil(sensitivity / grid) steps. Scores beyond 2^61 steps (real ones: 2^52) are
    clamped.

    Error
    -----
    The chosen score falls short of the best by more than t with probability at most (n - 1) times
    that of two noises differing by more than t: about (n - 1) (1 + t / (2 scale)) exp(-t / scale) / 2.
    This is a bound; see `error`.

    Examples
    --------
    >>> from discreet.mechanisms import ReportNoisyMax
    >>> mechanism = ReportNoisyMax(sensitivity=1, epsilon=1, monotone=True)
    >>> mechanism.event
    NoisyMax(epsilon=1)
    >>> mechanism.error.quantile(0.95, candidates=4)
    4.0
    >>> winner = mechanism.release([120, 90, 119, 3])
    """

    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        monotone: bool = False,
        grid: Number | None = None,
        neighbors: Neighbors | None = None,
    ) -> None:
        self._choose_by(sensitivity, epsilon, monotone, grid, neighbors)
        check_reach(check_scale, 1 / self._rate_in_steps, "epsilon")

    @property
    def scale(self) -> Fraction:
        """The scale of the noise on each score."""
        return 1 / self.rate

    @property
    def event(self) -> events.NoisyMax:
        """The law that `release` draws."""
        return events.NoisyMax(epsilon=self._loss, neighbors=self.neighbors)

    @property
    def error(self) -> NoisyMaxError:
        """A bound on how far the chosen score falls short of the best."""
        return NoisyMaxError(scale=self.scale, step=self.grid, rounding=self.scores.rounding)

    def release(self, scores: ScoreVector) -> int:
        """Return the index of the largest noisy score, the smallest such index among equals."""
        steps = self.scores.enter(scores)
        source = current()
        noisy = steps + sample_laplace(1 / self._rate_in_steps, len(steps), source)
        return source.mark(int(np.argmax(noisy)))

    def neighboring_inputs(self) -> Pairs:
        """Return scores of two candidates whose outputs differ nearly as much as the guarantee allows."""
        return tuple(pair for pair in self.scores.pairs(self.scale / self.grid) if len(pair[0]) == 2)

    def _law(self, steps: NDArray[np.int64]) -> Law:
        from discreet.mechanisms.selection.laws import noisy_max_law

        return noisy_max_law(steps, float(self._rate_in_steps))
