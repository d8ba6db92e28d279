"""Permute-and-flip: the exponential mechanism's guarantee with a smaller error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.mechanisms.error.selection import PermuteAndFlipError
from discreet.mechanisms.selection.scores import ScoreVector, Selection
from discreet.noise import bernoulli_exponential, current, uniform_below
from discreet.privacy import events
from discreet.records import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.mechanisms.selection.laws import Law

__all__ = ["PermuteAndFlip"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class PermuteAndFlip(Selection):
    """Choose one of several candidates: flip a coin for each in random order, the first success wins.

    Parameters
    ----------
    sensitivity : number or Sensitivity
        The most that any one score moves between neighbors (the L-infinity norm). An int says that
        scores are integers; a float or a fraction says that they are real.
    epsilon : number
        The privacy loss.
    monotone : bool
        Whether between neighbors all scores move in the same direction, as counts do when a
        person is added or removed. Then half the epsilon gives the same choice.
    grid : number, optional
        For real scores: the power of two to round to. By default fine enough not to matter.
    neighbors : Neighbors, optional
        The relation for which the sensitivity holds; by default adding or removing a person.

    Guarantee
    ---------
    epsilon-DP: the coin of candidate i shows success with probability exp(-rate (best - score_i)),
    rate = epsilon / (2 sensitivity), or epsilon / sensitivity for monotone scores (McKenna &
    Sheldon 2020; proof: docs/proofs/permute_and_flip.md). Adding exponential noise of scale
    1 / rate and taking the largest score has the same law (Ding, Kifer et al. 2021).

    Finite precision
    ----------------
    All coins are flipped, each exactly, and the winner is drawn uniformly from the successes: the
    first success in a uniformly random order is just that, and the work does not tell when it
    came. Real scores are rounded to the grid first and the rounding is charged: each moves at
    most ceil(sensitivity / grid) steps. Scores beyond 2^61 steps (real ones: 2^52) are clamped.

    Error
    -----
    With g the first multiple of the grid beyond t and p = exp(-rate g), the chosen score falls short
    of the best by more than t with probability at most 1 - (1 - (1 - p)^n) / (n p), which n
    candidates attain. It is never worse than the exponential mechanism at the same epsilon, for any
    scores, and its expected error is up to twice smaller.

    Examples
    --------
    >>> from discreet.mechanisms import PermuteAndFlip
    >>> mechanism = PermuteAndFlip(sensitivity=1, epsilon=1, monotone=True)
    >>> mechanism.event
    PermuteAndFlip(epsilon=1)
    >>> mechanism.error.quantile(0.95, candidates=4)
    3.0
    >>> winner = mechanism.release([120, 90, 119, 3])
    """

    @property
    def event(self) -> events.PermuteAndFlip:
        """The law that `release` draws."""
        return events.PermuteAndFlip(epsilon=self._loss, neighbors=self.neighbors)

    @property
    def error(self) -> PermuteAndFlipError:
        """How far the chosen score falls short of the best, known before anything is released."""
        return PermuteAndFlipError(rate=self.rate, step=self.grid, rounding=self.scores.rounding)

    def release(self, scores: ScoreVector) -> int:
        """Return the index of the chosen candidate."""
        steps = self.scores.enter(scores)
        source = current()
        successes = np.flatnonzero(bernoulli_exponential(steps.max() - steps, self._rate_in_steps, source))
        position = int(uniform_below(len(successes), 1, source)[0])
        return source.mark(int(successes[position]))

    def _law(self, steps: NDArray[np.int64]) -> Law:
        from discreet.mechanisms.selection.laws import permute_and_flip_law

        return permute_and_flip_law(steps, float(self._rate_in_steps))
