"""How scores enter a selection, and what all selections from scores share.

Scores live on a `Lattice`: integers as they are, real numbers on a public power of two. They
are clamped to 2^61 steps (real ones to 2^52), so that the difference of two scores fits an
int64. Clamping and rounding are monotone and stretch no distance by more than is charged:
anything that moves all scores in one direction still does.

How many candidates there are is public; their scores are not. What is accepted depends on the
type of the scores, and on nothing else but that they are numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms.calibration import smallest
from discreet.mechanisms.error.base import SAFETY, allowed_failure
from discreet.mechanisms.error.selection import SelectionError
from discreet.mechanisms.values import Lattice, Value, holds_integers, lattice_for, stated_neighbors
from discreet.privacy.events import Event
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import Change, Neighbors
from discreet.privacy.rational import Number, float_above, rational, show
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record, dataclass

if TYPE_CHECKING:
    from discreet.figures import Axes, Panels
    from discreet.mechanisms.selection.laws import Law

__all__ = ["Pairs", "ScoreVector", "Scores", "Selection", "cheapest", "scores_for"]

ScoreVector: TypeAlias = list[int] | list[float] | NDArray[np.integer[Any]] | NDArray[np.floating[Any]]
"""One score for each candidate."""

Pairs: TypeAlias = tuple[tuple[ScoreVector, ScoreVector], ...]

LARGEST_SCORE = 1 << 61
"""In steps; the difference of two such scores fits an int64 with room to spare for noise."""

_FAR = 8
"""Neighboring inputs put a candidate this many units of noise behind: exp(-8) of its weight is left."""
_FARTHEST = 1 << 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """What is public about the scores of a selection.

    Attributes
    ----------
    lattice : Lattice
        Where they live.
    shift : int
        The most steps that one score moves between neighbors, rounding included.
    monotone : bool
        Whether between neighbors all scores move in the same direction, if they move.
    neighbors : Neighbors
        The relation for which both hold.
    """

    lattice: Lattice
    shift: int
    monotone: bool
    neighbors: Neighbors

    @property
    def swing(self) -> int:
        """The most steps by which the difference of two scores changes between neighbors."""
        return self.shift if self.monotone else 2 * self.shift

    @property
    def rounding(self) -> Fraction:
        """The most by which rounding changes the difference of two scores."""
        return 2 * self.lattice.rounding

    def enter(self, scores: ScoreVector, name: str = "scores") -> NDArray[np.int64]:
        """Return the scores of at least one candidate, in steps."""
        steps = self._steps(scores, name)
        if steps.ndim != 1:
            raise ParameterError(name, "are not a list", "one number for each candidate, in one dimension")
        return steps

    def enter_one(self, value: int | float, name: str = "value") -> NDArray[np.int64]:
        """Return one value, in steps, as an array of one entry."""
        steps = self._steps(value, name)
        if steps.ndim != 0:
            raise ParameterError(name, "is an array", "one number")
        return steps.reshape(1)

    def _steps(self, value: Value, name: str) -> NDArray[np.int64]:
        return self.lattice.enter(value, name).clip(-LARGEST_SCORE, LARGEST_SCORE)

    def leave(self, steps: list[int]) -> ScoreVector:
        """Return scores, given in steps, as a caller would type them."""
        return self.lattice.leave(np.array(steps, np.int64))  # type: ignore[return-value]

    def pairs(self, unit: Fraction, behind: int = 1) -> Pairs:
        """Return neighboring scores of a few candidates, of which `behind` are level or far behind.

        These gain as much as neighbors allow while the others lose (or, with monotone scores,
        stay). `unit` is the scale of the noise in steps: the farther behind they were, the closer
        the ratio of their probabilities comes to the guarantee.
        """
        shift = min(self.shift, _FARTHEST)
        far = min(max(2 * shift, ceil(_FAR * unit)), _FARTHEST)
        loss = 0 if self.monotone else shift
        last = [0] * behind
        ends = [
            (last + ahead, [shift] * behind + [score - loss for score in ahead])
            for ahead in ([0], [far], *([[far, far]] if behind == 1 else []))
        ]
        if self.monotone:
            ends.append(([*last, far], [*last, far + shift]))
        return tuple((self.leave(start), self.leave(end)) for start, end in ends)


def scores_for(
    *,
    sensitivity: Number | Sensitivity,
    stretch: Fraction,
    monotone: bool,
    grid: Number | None,
    neighbors: Neighbors | None,
) -> Scores:
    """Check the public parameters and choose the lattice.

    `stretch` is the scale of the noise over the sensitivity: the default grid for real scores is
    fine in comparison with both.
    """
    if not isinstance(monotone, bool | np.bool_):
        raise ParameterError("monotone", "is not a boolean", "True or False")
    relation = stated_neighbors(sensitivity, neighbors)
    if monotone and (relation.change is Change.REPLACE or relation.size > 1):
        raise ParameterError(
            "monotone",
            "is True, but where several units change, one may leave as another comes",
            "False, unless one unit is added or removed",
        )
    distance = rational(
        sensitivity.linf if isinstance(sensitivity, Sensitivity) else sensitivity,
        "sensitivity",
        positive=True,
    )
    try:
        lattice = lattice_for(
            integers=holds_integers(sensitivity),
            grid=grid,
            sensitivity=distance,
            scale=distance * stretch,
            size=1,
        )
    except ParameterError as refusal:
        if grid is not None or refusal.parameter != "grid":
            raise
        raise ParameterError(
            "epsilon",
            "and sensitivity leave no grid on which real scores can be told apart",
            "less extreme; or give a grid",
        ) from None
    return Scores(
        lattice=lattice, shift=ceil(distance / lattice.step), monotone=bool(monotone), neighbors=relation
    )


class Chooser(Protocol):
    """A mechanism with a `SelectionError`."""

    @property
    def error(self) -> SelectionError:
        """How wrong it will be."""
        ...


Built = TypeVar("Built", bound=Chooser)


def cheapest(
    build: Callable[[Fraction], Built], tolerance: Number, confidence: Number, candidates: int
) -> Built:
    """Return the mechanism with the smallest epsilon whose error stays within a tolerance."""
    limit = rational(tolerance, "tolerance", positive=True)
    failure = allowed_failure(confidence) / SAFETY  # so that `quantile` agrees
    build(Fraction(1)).error.tail(
        limit, candidates=candidates
    )  # a bad parameter is named, not searched around
    return build(
        smallest(
            lambda epsilon: build(epsilon).error.tail(limit, candidates=candidates) <= failure, "tolerance"
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Selection(Record, ABC):
    """What the choices of one candidate by its score have in common.

    `rate` says how fast a candidate's chances fall, per unit of score, behind the best:
    epsilon / (2 sensitivity), or epsilon / sensitivity for monotone scores.
    """

    scores: Scores
    rate: Fraction

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

    def _choose_by(
        self,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        monotone: bool,
        grid: Number | None,
        neighbors: Neighbors | None,
        **others: object,
    ) -> None:
        """Set the scores, the rate, and whatever else a kind of selection has."""
        loss = rational(epsilon, "epsilon", positive=True)
        scores = scores_for(
            sensitivity=sensitivity, stretch=2 / loss, monotone=monotone, grid=grid, neighbors=neighbors
        )
        self._set(scores=scores, rate=loss / (scores.swing * scores.lattice.step), **others)

    def __repr__(self) -> str:
        parameters = f"sensitivity={show(self.sensitivity)}, epsilon={show(self._loss)}"
        return f"{type(self).__name__}({parameters}{', monotone=True' if self.monotone else ''})"

    @property
    def _loss(self) -> Fraction:
        return self.rate * self.scores.swing * self.grid

    @property
    def _rate_in_steps(self) -> Fraction:
        return self.rate * self.grid

    @property
    def epsilon(self) -> float:
        """The privacy loss, rounded up to a float."""
        return float_above(self._loss)

    @property
    def sensitivity(self) -> Fraction:
        """The most that one score moves between neighbors, rounding included."""
        return self.scores.shift * self.grid

    @property
    def monotone(self) -> bool:
        """Whether between neighbors all scores move in the same direction."""
        return self.scores.monotone

    @property
    def grid(self) -> Fraction:
        """The step to which scores are rounded; 1 for integers."""
        return self.scores.lattice.step

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.scores.neighbors

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy."""
        return PureDP(epsilon=self._loss, neighbors=self.neighbors)

    @property
    @abstractmethod
    def event(self) -> Event:
        """The law that a release draws."""

    @property
    @abstractmethod
    def error(self) -> SelectionError:
        """How far the chosen score falls short of the best, known before anything is released."""

    @property
    def _outcome(self) -> str:
        return "candidate (index)"

    @abstractmethod
    def _law(self, steps: NDArray[np.int64]) -> Law:
        """Return what may be chosen, and the logarithms of the probabilities: for figures."""

    def neighboring_inputs(self) -> Pairs:
        """Return scores of neighbors whose outputs differ nearly as much as the guarantee allows."""
        return self.scores.pairs(1 / self._rate_in_steps)

    def plot(
        self,
        scores: ScoreVector | None = None,
        neighbor: ScoreVector | None = None,
        *,
        ax: Panels | None = None,
        label: str | None = None,
    ) -> Axes:
        """Draw how likely each choice is, how likely on a neighbor, and the ratio with its bound.

        Parameters
        ----------
        scores, neighbor : lists or arrays, optional
            Hypothetical scores of two neighbors: the figure shows them. By default those of
            `neighboring_inputs` that come closest to the guarantee.
        ax : axes, or two axes, optional
            Where to draw the laws, or the laws and the ratio; by default a new figure with both.
        label : str, optional
            What the mechanism is called in the legend.

        Returns
        -------
        axes
            Of the laws; its ``figure.axes`` are both.
        """
        from discreet.mechanisms.selection.plot import plot_choices

        return plot_choices(self, self._law, (scores, neighbor), ax, label, names=("scores", self._outcome))

    @classmethod
    def for_error(
        cls,
        tolerance: Number,
        *,
        candidates: int,
        confidence: Number = 0.95,
        sensitivity: Number | Sensitivity = 1,
        monotone: bool = False,
        grid: Number | None = None,
    ) -> Self:
        """Return the mechanism with the smallest epsilon whose error stays within a tolerance.

        Parameters
        ----------
        tolerance : number
            How far the chosen score may fall short of the best.
        candidates : int
            How many candidates there are.
        confidence : number
            With at least which probability.
        sensitivity, monotone, grid
            As for the mechanism.
        """
        return cheapest(
            lambda epsilon: cls(sensitivity=sensitivity, epsilon=epsilon, monotone=monotone, grid=grid),
            tolerance,
            confidence,
            candidates,
        )
