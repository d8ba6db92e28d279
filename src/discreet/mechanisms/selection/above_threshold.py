"""Above-threshold, the sparse vector technique: which values lie above a threshold."""

from __future__ import annotations

import os
import threading
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError, RequestRefused
from discreet.mechanisms.error.selection import AboveThresholdError
from discreet.mechanisms.selection.scores import (
    LARGEST_SCORE,
    Pairs,
    Scores,
    ScoreVector,
    cheapest,
    scores_for,
)
from discreet.mechanisms.values import check_reach
from discreet.noise import Source, current, sample_laplace
from discreet.noise.geometric import check_scale
from discreet.noise.grid import LARGEST_STEPS
from discreet.privacy import events
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.rational import Number, float_above, rational, show, whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record, dataclass

if TYPE_CHECKING:
    from discreet.figures import Axes, Panels
    from discreet.mechanisms.selection.laws import Law

__all__ = ["AboveThreshold", "Session"]

_MOST_POSITIVES = 1 << 40
_RATIO_PARTS = 1000


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class AboveThreshold(Record):
    """Tell which values of a stream lie above a threshold, until a given number was found.

    Parameters
    ----------
    threshold : number
        The public threshold, in units of the values.
    sensitivity : number or Sensitivity
        The most that any one value moves between neighbors (the L-infinity norm). An int says that
        values are integers; a float or a fraction says that they are real.
    epsilon : number
        The privacy loss of the whole run, however many values are tested.
    positives : int
        After how many values found above the run stops.
    monotone : bool
        Whether between neighbors all values move in the same direction, as counts do when a person
        is added or removed. Then half the noise on the values suffices.
    grid : number, optional
        For real values: the power of two to round to. By default fine enough not to matter.
    neighbors : Neighbors, optional
        The relation for which the sensitivity holds; by default adding or removing a person.

    Guarantee
    ---------
    epsilon-DP, for values that may depend on the answers before them: discrete Laplace noise of scale
    sensitivity / epsilon_1 is added once to the threshold, and of scale 2 positives sensitivity /
    epsilon_2 (half that for monotone values) afresh to every value, with epsilon_1 + epsilon_2 =
    epsilon (Dwork & Roth 2014, section 3.6; Lyu, Su & Li 2017, Algorithm 7; proof for integers:
    docs/proofs/above_threshold.md). epsilon_2 / epsilon_1 is (2 positives)^(2/3), or positives^(2/3), which
    minimizes the variance of the difference of the two noises. Only the answers leave; no noisy value
    does, nor the noisy threshold.

    Finite precision
    ----------------
    Values are rounded to the grid and both noises are drawn from discrete Laplace laws on that grid,
    exactly. Rounding is charged: each value moves at most ceil(sensitivity / grid) steps. Values
    beyond 2^61 steps (real ones: 2^52) are clamped. `release` draws noise for every value, so its work
    does not tell where it stopped.

    Error
    -----
    A bound on how far a wrongly answered value lies from the threshold; see `error`, where `candidates`
    is the number of values that are tested.

    Examples
    --------
    >>> from discreet.mechanisms import AboveThreshold
    >>> mechanism = AboveThreshold(threshold=1000, sensitivity=1, epsilon=1, monotone=True)
    >>> mechanism.event
    AboveThreshold(epsilon=1, positives=1)
    >>> found = mechanism.release([12, 40, 3000, 2])
    >>> session = mechanism.start()
    >>> answer = session.test(12)
    """

    scores: Scores
    threshold: Fraction
    positives: int
    threshold_scale: Fraction
    value_scale: Fraction

    def __init__(
        self,
        *,
        threshold: Number,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        positives: int = 1,
        monotone: bool = False,
        grid: Number | None = None,
        neighbors: Neighbors | None = None,
    ) -> None:
        loss = rational(epsilon, "epsilon", positive=True)
        count = whole(positives, "positives", least=1, most=_MOST_POSITIVES)
        scores = scores_for(
            sensitivity=sensitivity,
            stretch=2 * count / loss,
            monotone=monotone,
            grid=grid,
            neighbors=neighbors,
        )
        step = scores.lattice.step
        threshold_loss, value_loss = _split(loss, count * (1 if monotone else 2))
        threshold_scale = scores.shift * step / threshold_loss
        value_scale = count * scores.swing * step / value_loss
        for scale in (threshold_scale, value_scale):
            check_reach(check_scale, scale / step, "epsilon")
        self._set(
            scores=scores,
            threshold=_on_lattice(rational(threshold, "threshold"), scores) * step,
            positives=count,
            threshold_scale=threshold_scale,
            value_scale=value_scale,
        )

    def __repr__(self) -> str:
        monotone = ", monotone=True" if self.monotone else ""
        return (
            f"AboveThreshold(threshold={show(self.threshold)}, sensitivity={show(self.sensitivity)}, "
            f"epsilon={show(self._loss)}, positives={self.positives}{monotone})"
        )

    @property
    def _loss(self) -> Fraction:
        swing = self.scores.swing * self.grid
        return self.sensitivity / self.threshold_scale + self.positives * swing / self.value_scale

    @property
    def epsilon(self) -> float:
        """The privacy loss of a whole run, rounded up to a float."""
        return float_above(self._loss)

    @property
    def sensitivity(self) -> Fraction:
        """The most that one value moves between neighbors, rounding included."""
        return self.scores.shift * self.grid

    @property
    def monotone(self) -> bool:
        """Whether between neighbors all values move in the same direction."""
        return self.scores.monotone

    @property
    def grid(self) -> Fraction:
        """The step to which values are rounded; 1 for integers."""
        return self.scores.lattice.step

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.scores.neighbors

    @property
    def event(self) -> events.AboveThreshold:
        """The law that a run draws."""
        return events.AboveThreshold(epsilon=self._loss, positives=self.positives, neighbors=self.neighbors)

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy of a whole run."""
        return PureDP(epsilon=self._loss, neighbors=self.neighbors)

    @property
    def error(self) -> AboveThresholdError:
        """A bound on how far a wrongly answered value lies from the threshold."""
        return AboveThresholdError(
            threshold_scale=self.threshold_scale,
            value_scale=self.value_scale,
            step=self.grid,
            rounding=self.scores.rounding,
        )

    def release(self, values: ScoreVector) -> NDArray[np.int64]:
        """Return the indices of the first values found above, at most `positives` of them."""
        steps = self.scores.enter(values, "values")
        source = current()
        above = self._above(steps, self._threshold_noise(source), source)
        return source.mark(np.flatnonzero(above)[: self.positives].copy())

    def start(self) -> Session:
        """Start a run in which values arrive one by one, each perhaps chosen after the last answer."""
        return Session(self)

    def _threshold_noise(self, source: Source) -> int:
        return int(sample_laplace(self.threshold_scale / self.grid, 1, source)[0])

    def _above(self, steps: NDArray[np.int64], threshold_noise: int, source: Source) -> NDArray[np.bool_]:
        noise = sample_laplace(self.value_scale / self.grid, len(steps), source)
        above: NDArray[np.bool_] = steps + noise >= int(self.threshold / self.grid) + threshold_noise
        return above

    def neighboring_inputs(self) -> Pairs:
        """Return short streams of neighbors, at the threshold and off it by as much as neighbors allow."""
        at, shift = int(self.threshold / self.grid), self.scores.shift
        last = shift if self.monotone else -shift
        ends = (([at], [at + shift]), ([at - shift], [at]), ([at, at], [at + shift, at + last]))
        return tuple((self.scores.leave(start), self.scores.leave(end)) for start, end in ends)

    def plot(
        self,
        values: ScoreVector | None = None,
        neighbor: ScoreVector | None = None,
        *,
        ax: Panels | None = None,
        label: str | None = None,
    ) -> Axes:
        """Draw how likely it is which values are found, how likely on a neighbor, and the ratio.

        Parameters
        ----------
        values, neighbor : lists or arrays, optional
            Hypothetical streams of two neighbors: the figure shows them. By default short ones, at the
            threshold.
        ax, label
            As for `Exponential.plot`.
        """
        from discreet.mechanisms.selection.plot import plot_choices

        return plot_choices(
            self, self._law, (values, neighbor), ax, label, names=("values", "found (indices)")
        )

    def _law(self, steps: NDArray[np.int64]) -> Law:
        from discreet.mechanisms.selection.laws import above_threshold_law

        rates = float(self.grid / self.threshold_scale), float(self.grid / self.value_scale)
        return above_threshold_law(steps - int(self.threshold / self.grid), rates, self.positives)

    @classmethod
    def for_error(
        cls,
        tolerance: Number,
        *,
        candidates: int,
        confidence: Number = 0.95,
        threshold: Number = 0,
        sensitivity: Number | Sensitivity = 1,
        positives: int = 1,
        monotone: bool = False,
        grid: Number | None = None,
    ) -> Self:
        """Return the mechanism with the smallest epsilon whose error stays within a tolerance.

        Parameters
        ----------
        tolerance : number
            How far from the threshold a value may lie that is answered wrongly.
        candidates : int
            How many values are tested at most.
        confidence : number
            With at least which probability all answers are right beyond the tolerance.
        threshold, sensitivity, positives, monotone, grid
            As for the mechanism.
        """
        return cheapest(
            lambda epsilon: cls(
                threshold=threshold,
                sensitivity=sensitivity,
                epsilon=epsilon,
                positives=positives,
                monotone=monotone,
                grid=grid,
            ),
            tolerance,
            confidence,
            candidates,
        )


class Session:
    """A run of above-threshold on values that arrive one by one.

    It holds the noise of its threshold, which must stay secret, and counts what it has found. It
    cannot be copied, pickled or carried on in a forked process: two copies would answer twice as
    much under the same noise.
    """

    __slots__ = ("_left", "_lock", "_mechanism", "_noise", "_origin", "_process")

    def __init__(self, mechanism: AboveThreshold) -> None:
        self._mechanism = mechanism
        self._origin = current()
        self._noise = mechanism._threshold_noise(self._origin)
        self._left = mechanism.positives
        self._lock = threading.Lock()
        self._process = os.getpid()

    def __repr__(self) -> str:
        return f"<session of {self._mechanism!r}, {self._left} to be found>"

    @property
    def halted(self) -> bool:
        """Whether all values that the guarantee pays for have been found."""
        return self._left == 0

    def test(self, value: int | float) -> bool:
        """Return whether a value lies above the threshold, give or take the noise.

        Raises
        ------
        RequestRefused
            Once the session has halted, or in a forked process.
        ParameterError
            For what is not one number; the session goes on.
        """
        steps = self._mechanism.scores.enter_one(value)
        with self._lock:
            if self._process != os.getpid():
                raise RequestRefused("this session belongs to the process that started it; start another")
            if self.halted:
                raise RequestRefused(
                    f"this session has found its {self._mechanism.positives} values above the threshold and "
                    "answers no more; start another, at its own cost, or ask for more positives"
                )
            source = current()
            above = bool(self._mechanism._above(steps, self._noise, source)[0])
            self._left -= above
        return self._origin.mark(source.mark(above))

    def __copy__(self) -> NoReturn:
        raise TypeError("a session cannot be copied: two copies would answer under the same noise")

    def __deepcopy__(self, memo: object) -> NoReturn:
        self.__copy__()

    def __reduce__(self) -> NoReturn:
        self.__copy__()


def _split(loss: Fraction, factor: int) -> tuple[Fraction, Fraction]:
    """Split epsilon in the ratio 1 : factor^(2/3), to three decimals: any ratio is private."""
    ratio = Fraction(round(_RATIO_PARTS * factor ** (2 / 3)), _RATIO_PARTS)
    return loss / (1 + ratio), loss * ratio / (1 + ratio)


def _on_lattice(threshold: Fraction, scores: Scores) -> int:
    """Return the threshold in steps: the next integer (above 2.5 means from 3 on), or the nearest step."""
    lattice = scores.lattice
    steps = ceil(threshold) if lattice.integers else floor(threshold / lattice.step + Fraction(1, 2))
    if abs(steps) > (LARGEST_SCORE if lattice.integers else LARGEST_STEPS):
        raise ParameterError(
            "threshold", "is beyond the range of the values", "closer to 0, or the grid coarser"
        )
    return steps
