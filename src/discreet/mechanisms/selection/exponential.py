"""The exponential mechanism: a candidate is chosen with probability exponential in its score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.mechanisms.error.optima import SeveralOptimaError
from discreet.mechanisms.error.selection import ExponentialError
from discreet.mechanisms.selection.choice_law import choice_probabilities
from discreet.mechanisms.selection.scores import ScoreVector, Selection
from discreet.noise import choose, current
from discreet.privacy import events
from discreet.records import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from discreet.mechanisms.selection.laws import Law

__all__ = ["Exponential"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Exponential(Selection):
    """Choose one of several candidates, better ones with higher probability.

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
    epsilon-DP: candidate i is chosen with probability proportional to exp(rate score_i), rate =
    epsilon / (2 sensitivity), or epsilon / sensitivity for monotone scores (McSherry & Talwar
    2007; Dwork & Roth 2014, Theorem 3.10; proof: docs/proofs/exponential.md). The loss has bounded
    range, which composes better than pure epsilon says; `event` records it. Adding Gumbel noise of
    scale 1 / rate and taking the largest score has the same law.

    Finite precision
    ----------------
    The choice is exact: one uniform real number is compared with certified bounds on the cumulative
    weights, with as many bits as it takes. Real scores are rounded to the grid first and the
    rounding is charged: each moves at most ceil(sensitivity / grid) steps. Scores beyond 2^61
    steps (real ones: 2^52) are clamped.

    Error
    -----
    With g the first multiple of the grid beyond t and p = exp(-rate g), the chosen score falls short
    of the best by more than t with probability at most (n - 1) p / (1 + (n - 1) p), which n
    candidates attain; see `error`. The textbook's (2 sensitivity / epsilon) log(n / beta) is
    `error.textbook_bound`. Where m candidates are known to be best, `error_with(optima=m)` has
    (2 sensitivity / epsilon) log(n / (beta m)).

    Examples
    --------
    >>> from discreet.mechanisms import Exponential
    >>> mechanism = Exponential(sensitivity=1, epsilon=1, monotone=True)
    >>> mechanism.event
    ExponentialChoice(epsilon=1)
    >>> mechanism.error.quantile(0.95, candidates=4)
    4.0
    >>> winner = mechanism.release([120, 90, 119, 3])
    """

    @property
    def event(self) -> events.ExponentialChoice:
        """The law that `release` draws."""
        return events.ExponentialChoice(epsilon=self._loss, neighbors=self.neighbors)

    @property
    def error(self) -> ExponentialError:
        """How far the chosen score falls short of the best, known before anything is released."""
        return ExponentialError(rate=self.rate, step=self.grid, rounding=self.scores.rounding)

    def error_with(self, *, optima: int) -> SeveralOptimaError:
        """Return the error where at least so many candidates are best, on all data: a smaller one.

        Parameters
        ----------
        optima : int
            How many candidates have the best score, known without looking at the data: where scores come in
            equal pairs it is 2, and of rotations that all fit equally well it is the number of them.

        Examples
        --------
        >>> from discreet.mechanisms import Exponential
        >>> mechanism = Exponential(sensitivity=1, epsilon=1)
        >>> mechanism.error_with(optima=64).quantile(0.95, candidates=128)
        5.0
        >>> mechanism.error.quantile(0.95, candidates=128)
        15.0
        """
        error = self.error
        return SeveralOptimaError(rate=error.rate, step=error.step, rounding=error.rounding, optima=optima)

    def release(self, scores: ScoreVector) -> int:
        """Return the index of the chosen candidate."""
        steps = self.scores.enter(scores)
        source = current()
        return source.mark(choose(steps.max() - steps, self._rate_in_steps, source))

    def probabilities(self, scores: ScoreVector) -> NDArray[np.float64]:
        """Return with which probability each candidate is chosen. As private as the scores.

        Parameters
        ----------
        scores : list or array
            One score for each candidate, as for `release`.

        Returns
        -------
        array of floats
            Of each exact probability w_i / (w_1 + … + w_n), w_i = exp(rate score_i), the nearest float: it is
            enclosed by integer arithmetic until both ends round to the same float (proof:
            docs/proofs/exponential.md).

        Examples
        --------
        >>> from discreet.mechanisms import Exponential
        >>> Exponential(sensitivity=1, epsilon=2, monotone=True).probabilities([3, 2, 2]).round(3).tolist()
        [0.787, 0.107, 0.107]
        """
        steps = self.scores.enter(scores)
        return choice_probabilities(steps.max() - steps, self._rate_in_steps)

    def _law(self, steps: NDArray[np.int64]) -> Law:
        from discreet.mechanisms.selection.laws import choice_law

        return choice_law(steps, float(self._rate_in_steps))
