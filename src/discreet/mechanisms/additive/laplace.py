"""The Laplace mechanism: discrete Laplace noise in proportion to the L1 sensitivity."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms.additive.base import Additive
from discreet.mechanisms.calibration import smallest
from discreet.mechanisms.error.laplace import LaplaceError
from discreet.mechanisms.error.tolerated import Norm, tolerates
from discreet.mechanisms.values import (
    Value,
    check_reach,
    check_size,
    holds_integers,
    lattice_for,
    stated_neighbors,
)
from discreet.noise import Source, sample_laplace
from discreet.noise.geometric import check_scale
from discreet.noise.grid import rounded_l1
from discreet.privacy.events import DiscreteLaplace
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.rational import Number, float_above, rational, show
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import dataclass

__all__ = ["Laplace"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Laplace(Additive):
    """Add Laplace noise to a number or to an array of numbers.

    Parameters
    ----------
    sensitivity : number or Sensitivity
        How far the value moves between neighbors; for an array, the sum over all its entries
        (the L1 norm). An int says that the data are integers, and noise will be integers too; a
        float or a fraction says that they are real.
    epsilon : number, optional
        The privacy loss. Give this or `scale`.
    scale : number, optional
        The scale of the noise, sensitivity / epsilon.
    grid : number, optional
        For real values: the power of two to round to. By default fine enough not to matter.
    size : int, optional
        How many values are released together. Real arrays need it, since rounding each value
        is charged to the sensitivity; integers do not, but with it `error` knows the law of norms and
        accounting may be tighter.
    neighbors : Neighbors, optional
        The relation for which the sensitivity holds; by default adding or removing a person.

    Guarantee
    ---------
    epsilon-DP with epsilon = sensitivity / scale: each step of the value changes the
    probability of any output by a factor of at most exp(step / scale) (Dwork, McSherry, Nissim &
    Smith 2006; Ghosh, Roughgarden & Sundararajan 2009; proof: docs/proofs/laplace.md).

    Finite precision
    ----------------
    Values are rounded to the grid and the noise is drawn from the discrete Laplace law on that
    grid, exactly. Rounding is charged: `event.sensitivity` is that of the rounded values. Outputs
    are exact multiples of the grid. Values beyond `largest` (2^62; real ones 2^52 grid steps) are
    clamped, without a word: an error would be an answer about the data.

    Error
    -----
    P(abs(noise) > t) = 2 r^(m + 1) / (1 + r) with r = exp(-grid / scale) and m = floor(t / grid); see
    `error`. No pure mechanism has a smaller expected absolute error for one count.

    Examples
    --------
    >>> from discreet import Laplace
    >>> mechanism = Laplace(sensitivity=1, epsilon=0.5)
    >>> mechanism.event
    DiscreteLaplace(sensitivity=1, scale=2)
    >>> mechanism.error.quantile(0.95)
    6.0
    >>> noisy = mechanism.release(1234)
    """

    event: DiscreteLaplace
    """The law that `release` draws."""

    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number | None = None,
        scale: Number | None = None,
        grid: Number | None = None,
        size: int | None = None,
        neighbors: Neighbors | None = None,
    ) -> None:
        if (epsilon is None) == (scale is None):
            problem = "and scale are both missing" if scale is None else "and scale are both given"
            raise ParameterError("epsilon", problem, "one of the two")
        relation = stated_neighbors(sensitivity, neighbors)
        distance = rational(
            sensitivity.l1 if isinstance(sensitivity, Sensitivity) else sensitivity,
            "sensitivity",
            positive=True,
        )
        integers = holds_integers(sensitivity)
        check_size(size)
        wanted = (
            distance / rational(epsilon, "epsilon", positive=True)
            if epsilon is not None
            else rational(scale, "scale", positive=True)  # type: ignore[arg-type]
        )
        lattice = lattice_for(
            integers=integers, grid=grid, sensitivity=distance, scale=wanted, size=size or 1
        )
        if not lattice.integers:
            size = size or 1
            distance = rounded_l1(distance, lattice.step, size)
            if epsilon is not None:
                wanted = distance / rational(epsilon, "epsilon")
        check_reach(check_scale, wanted / lattice.step, "scale" if epsilon is None else "epsilon")
        event = DiscreteLaplace(
            sensitivity=distance, scale=wanted, grid=lattice.step, size=size, neighbors=relation
        )
        self._set(event=event, lattice=lattice)

    def __repr__(self) -> str:
        if self.lattice.integers:
            shown = f"sensitivity={show(self.event.sensitivity)}, scale={show(self.event.scale)}"
            return f"Laplace({shown}{'' if self.size is None else f', size={self.size}'})"
        shown = f"sensitivity={self.sensitivity:.6g}, scale={self.scale:.6g}"
        return f"Laplace({shown}, grid={show(self.grid)}, size={self.size})"

    @property
    def epsilon(self) -> float:
        """The privacy loss, sensitivity / scale, rounded up to a float."""
        return float_above(self.guarantee.epsilon)

    @property
    def sensitivity(self) -> float:
        """How far values move between neighbors, rounding to the grid included, rounded up to a float."""
        return float_above(self.event.sensitivity)

    @property
    def scale(self) -> float:
        """The scale of the noise, as a float; `event.scale` is exact."""
        return float(self.event.scale)

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy with epsilon = sensitivity / scale."""
        return PureDP(epsilon=self.event.sensitivity / self.event.scale, neighbors=self.neighbors)

    @property
    def error(self) -> LaplaceError:
        """The law of the error of each value, known before anything is released."""
        return LaplaceError(
            scale=self.event.scale, step=self.grid, rounding=self.lattice.rounding, size=self.size or 1
        )

    def _noise(self, count: int, source: Source) -> NDArray[np.int64]:
        return sample_laplace(self.event.scale / self.grid, count, source)

    def neighboring_inputs(self) -> tuple[tuple[Value, Value], ...]:
        """Return pairs of inputs whose outputs differ as much as the guarantee allows."""
        steps, count = self.event.shift, self.size or 1
        spread = [steps // count + (index < steps % count) for index in range(count)]
        rest = [0] * (count - 1)
        return self.lattice.pairs([[steps, *rest], spread, [1, *rest]])

    @classmethod
    def for_error(
        cls,
        tolerance: Number,
        *,
        confidence: Number = 0.95,
        norm: Norm = "each",
        sensitivity: Number | Sensitivity = 1,
        grid: Number | None = None,
        size: int | None = None,
        neighbors: Neighbors | None = None,
    ) -> Laplace:
        """Return the mechanism with the smallest epsilon whose error stays within a tolerance.

        Parameters
        ----------
        tolerance : number
            The largest error that is tolerated.
        confidence : number
            With at least which probability.
        norm : {"each", "l1", "maximum"}
            The error of what: of each value by itself, the sum of the absolute errors of all `size` values,
            or the largest of them.
        sensitivity, grid, size, neighbors
            As for the mechanism.

        Examples
        --------
        "Which epsilon, if the error may exceed 10 with probability 1e-5, at sensitivity 1?"

        >>> round(Laplace.for_error(10, confidence=1 - 1e-5, sensitivity=1).epsilon, 4)
        1.0831

        "And if the errors of 20 counts, all of which a person moves, may add up to 1000 once in 20 times?"

        >>> round(Laplace.for_error(1000, norm="l1", sensitivity=20, size=20).epsilon, 4)
        0.5573
        """
        suffices = tolerates(tolerance, confidence, norm, size)

        def build(epsilon: Fraction) -> Laplace:
            return cls(sensitivity=sensitivity, epsilon=epsilon, grid=grid, size=size, neighbors=neighbors)

        return build(smallest(lambda epsilon: suffices(build(epsilon).error), "tolerance"))
