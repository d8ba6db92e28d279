"""Stable selection: the exact winner, or the exact best k, where the lead is large; else no answer."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter
from typing import Self

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms.adaptive.distance_to_instability import FARTHEST, DistanceToInstability
from discreet.mechanisms.adaptive.no_answer import NoAnswer
from discreet.mechanisms.selection.scores import LARGEST_SCORE, Pairs, Scores, ScoreVector, scores_for
from discreet.privacy.events import Approximate
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.rational import Number, float_above, rational, show, whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record, dataclass

__all__ = ["StableArgmax", "StableSelection", "StableTopK"]

_MOST_CHOICES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class StableSelection(Record):
    """What stable choices have in common: the best k candidates, if their lead passes a test.

    Candidates are ordered by score and, where scores are equal, by their index, the lower first.
    """

    scores: Scores
    """What is public about the scores."""
    test: DistanceToInstability
    """Whether the choice leaves at all."""
    k: int
    """How many candidates are chosen."""

    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        delta: Number,
        monotone: bool,
        grid: Number | None,
        neighbors: Neighbors | None,
        k: int,
    ) -> None:
        loss = rational(epsilon, "epsilon", positive=True)
        scores = scores_for(
            sensitivity=sensitivity, stretch=1 / loss, monotone=monotone, grid=grid, neighbors=neighbors
        )
        test = DistanceToInstability(epsilon=loss, delta=delta, neighbors=scores.neighbors)
        self._set(scores=scores, test=test, k=k)

    def with_laplace_noise(self) -> Self:
        """Return the same promise with the test as it was published: see `DistanceToInstability`."""
        return self._with(test=self.test.with_laplace_noise())

    def __repr__(self) -> str:
        monotone = ", monotone=True" if self.scores.monotone else ""
        shown = f"sensitivity={show(self.sensitivity)}, test={self.test!r}{monotone}"
        return f"{type(self).__name__}({shown})"

    @property
    def sensitivity(self) -> Fraction:
        """The most that one score moves between neighbors, rounding included."""
        return self.scores.shift * self.scores.lattice.step

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.scores.neighbors

    @property
    def epsilon(self) -> float:
        """The privacy loss, rounded up to a float."""
        return float_above(self.guarantee.epsilon)

    @property
    def delta(self) -> float:
        """The delta, rounded up to a float."""
        return self.test.delta

    @property
    def event(self) -> Approximate:
        """One (epsilon, delta)-private release."""
        return self.test.event

    @property
    def guarantee(self) -> ApproximateDP:
        """(epsilon, delta)-DP, as asked."""
        return self.test.guarantee

    def error_at(self, *, lead: Number) -> float:
        """Return the probability of no answer if the last that is chosen led the next by this, rounded up.

        For integers it is exact where the next comes before it in order; else a lead of one less does.
        """
        steps = (rational(lead, "lead") - self.scores.rounding) // self.scores.lattice.step
        distance = max(steps - 1, 0) // self.scores.swing
        return self.test.error_at(distance=min(distance, FARTHEST))

    def lead_for(self, probability: Number) -> float:
        """Return the smallest lead with which a choice leaves with at least this probability."""
        steps = self.test.distance_for(probability) * self.scores.swing + 1
        lead = steps * self.scores.lattice.step + self.scores.rounding
        shown = float_above(lead)
        while rational(shown, "lead") < lead:  # a float means its shortest decimal
            shown = nextafter(shown, inf)
        return shown

    def _chosen(self, scores: ScoreVector) -> tuple[NDArray[np.int64], int]:
        """Return the best k, in order, and how many steps no unstable scores are reached in.

        With margin c - c' - [the next comes before] of the last that is chosen over the next, a step takes
        at most `swing` off the margin, and the choice changes when it falls below 0.
        """
        steps = self.scores.enter(scores)
        if self.k > len(steps):
            raise ParameterError("k", "is larger than the number of candidates", "at most that number")
        order = np.argsort(-steps, kind="stable")
        if self.k == len(steps):
            return order, FARTHEST
        last, following = order[self.k - 1], order[self.k]
        margin = int(steps[last]) - int(steps[following]) - int(following < last)
        return order[: self.k], margin // self.scores.swing

    def neighboring_inputs(self) -> Pairs:
        """Return scores of neighbors: with another choice, and a step closer to one."""
        shift, swing = self.scores.shift, self.scores.swing
        loss = 0 if self.scores.monotone else shift
        half = self.test.distance_for(0.5)
        ends = [([loss, 0], [0, shift])]
        ends += [([d * swing, 0], [d * swing + shift, -loss]) for d in (0, 1, half - 1, half) if d >= 0]
        above = [(half + 2) * swing] * (self.k - 1)
        return tuple((self._typed(above + start), self._typed(above + end)) for start, end in ends)

    def _typed(self, steps: list[int]) -> ScoreVector:
        return self.scores.leave([min(score, LARGEST_SCORE) for score in steps])


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class StableArgmax(StableSelection):
    """Name the candidate with the highest score, exactly, or give no answer.

    For votes: the scores are counts. For models: they are numbers of right predictions, or other scores of
    bounded sensitivity.

    Parameters
    ----------
    sensitivity : number or Sensitivity
        The most that any one score moves between neighbors (the L-infinity norm): the most votes of one
        person for one candidate. An int says that scores are integers; a float or a fraction that they
        are real.
    epsilon : number
        The privacy loss, together with `delta`.
    delta : number
        With which probability at most a winner is named that some neighbor does not have.
    monotone : bool
        Whether between neighbors all scores move in the same direction, as counts do when a
        person is added or removed. Then half the lead suffices.
    grid : number, optional
        For real scores: the power of two to round to. By default fine enough not to matter.
    neighbors : Neighbors, optional
        The relation for which the sensitivity holds; by default adding or removing a person.

    Guarantee
    ---------
    (epsilon, delta)-DP, by `DistanceToInstability` with the distance floor(margin / D): the margin is the
    lead of the winner over the next, less 1 where the next precedes it in order, and D = 2 sensitivity, or
    sensitivity for monotone scores, is the most that a step changes it. For counts this is the distance to
    the nearest unstable data set, exactly (proof: docs/proofs/stable_selection.md).

    Finite precision
    ----------------
    Scores are integers, or are rounded to the grid, which is charged; ties are broken by index. The coin
    is exact.

    Error
    -----
    A named winner is the right one, for any number of candidates. `error_at(lead=g)` is the probability
    of no answer with a hypothetical lead g; `lead_for(p)` the lead that is answered with probability p.

    Examples
    --------
    >>> from discreet.mechanisms.adaptive.stable_selection import StableArgmax
    >>> votes = StableArgmax(sensitivity=1, epsilon=1, delta=1e-6, monotone=True)
    >>> votes.lead_for(0.95), votes.lead_for(1)
    (16.0, 28.0)
    >>> votes.release([520, 610, 480])
    1
    """

    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        delta: Number,
        monotone: bool = False,
        grid: Number | None = None,
        neighbors: Neighbors | None = None,
    ) -> None:
        StableSelection.__init__(
            self,
            sensitivity=sensitivity,
            epsilon=epsilon,
            delta=delta,
            monotone=monotone,
            grid=grid,
            neighbors=neighbors,
            k=1,
        )

    def release(self, scores: ScoreVector) -> int | NoAnswer:
        """Return the index of the candidate with the highest score, or `NO_ANSWER`."""
        chosen, distance = self._chosen(scores)
        return self.test.release(int(chosen[0]), distance)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class StableTopK(StableSelection):
    """Name the k candidates with the highest scores, exactly and as a set, or give no answer.

    Parameters
    ----------
    k : int
        How many candidates to choose.
    sensitivity, epsilon, delta, monotone, grid, neighbors
        As for `StableArgmax`.

    Guarantee
    ---------
    (epsilon, delta)-DP, for any k: the margin is that of the k-th over the next; the order among
    the k does not leave (proof: docs/proofs/stable_selection.md).

    Finite precision
    ----------------
    As for `StableArgmax`.

    Error
    -----
    Named candidates are the right ones. `error_at(lead=g)` is the probability of no answer if the k-th led
    the next by g.

    Examples
    --------
    >>> from discreet.mechanisms.adaptive.stable_selection import StableTopK
    >>> mechanism = StableTopK(k=2, sensitivity=1, epsilon=1, delta=1e-6, monotone=True)
    >>> mechanism.release([520, 610, 480, 7]).tolist()
    [0, 1]
    """

    def __init__(
        self,
        *,
        k: int,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        delta: Number,
        monotone: bool = False,
        grid: Number | None = None,
        neighbors: Neighbors | None = None,
    ) -> None:
        StableSelection.__init__(
            self,
            sensitivity=sensitivity,
            epsilon=epsilon,
            delta=delta,
            monotone=monotone,
            grid=grid,
            neighbors=neighbors,
            k=whole(k, "k", least=1, most=_MOST_CHOICES),
        )

    def __repr__(self) -> str:
        return f"StableTopK(k={self.k}, {StableSelection.__repr__(self).removeprefix('StableTopK(')}"

    def release(self, scores: ScoreVector) -> NDArray[np.int64] | NoAnswer:
        """Return the indices of the k candidates with the highest scores, sorted, or `NO_ANSWER`."""
        chosen, distance = self._chosen(scores)
        return self.test.release(np.sort(chosen), distance)
