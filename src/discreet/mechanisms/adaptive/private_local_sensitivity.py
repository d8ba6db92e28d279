"""Private local sensitivity: buy an upper bound on the local sensitivity, then add noise for it."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from math import ceil, isfinite

import numpy as np

from discreet.errors import ParameterError
from discreet.mechanisms.adaptive.propose_test_release import shares
from discreet.mechanisms.additive.bounded_answer import BoundedAnswer, StatisticValue, entered, rounding_of
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.error.laplace import LaplaceError
from discreet.mechanisms.tails import laplace_tail, smallest_threshold
from discreet.mechanisms.values import Lattice, check_delta, check_reach, holds_integers, lattice_for
from discreet.noise import current, sample_laplace
from discreet.noise.geometric import check_scale
from discreet.privacy.events import Approximate
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors, check_relation
from discreet.privacy.rational import Number, float_above, rational, show
from discreet.records import Record, dataclass

__all__ = ["PrivateLocalSensitivity"]


ValueAndSensitivity = tuple[int | float, int | float]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class PrivateLocalSensitivity(Record):
    """Release a bound that the local sensitivity hardly exceeds, and the value with noise for that bound.

    Parameters
    ----------
    change : number
        The most that the local sensitivity itself moves between neighbors: 1 for the number of triangles of a
        graph, of which one edge is added or removed. An int says that value and sensitivity are integers; a
        float or a fraction says that they are real.
    global_sensitivity : number
        The most that the local sensitivity is on any data set: the number of nodes less 2 for triangles.
    epsilon : number
        The privacy loss of the bound and the noise together.
    delta : number
        With which probability at most the released bound is below the local sensitivity.
    share : number
        Which part of epsilon pays for the bound.
    grid : number, optional
        For real values: the power of two to round to. By default fine enough not to matter.
    neighbors : Neighbors
        The relation; by default adding or removing a person.

    Guarantee
    ---------
    (epsilon, delta)-DP: the bound is the local sensitivity with discrete Laplace noise N of scale
    change / (share epsilon), plus the least integer s with P(N < -s) <= delta, brought into the range from
    one step to the global sensitivity; the value then gets discrete Laplace noise of scale bound / ((1 -
    share) epsilon) (proof: docs/proofs/private_local_sensitivity.md).

    Finite precision
    ----------------
    Both noises are exact, and s comes from certified tails. Values are rounded to the grid and sensitivities
    are rounded up to it, which is charged: s and the scales are those of whole steps.

    Error
    -----
    The bound is released, so the law of the error of an answer is public, and its `interval` costs nothing
    more. `error_at(local_sensitivity=a)` is the law of the error with the median bound at a hypothetical a;
    for a Fraction where integers were declared, 1/2 comes on top, as it does in the interval.

    Examples
    --------
    >>> from discreet.mechanisms.adaptive.private_local_sensitivity import PrivateLocalSensitivity
    >>> mechanism = PrivateLocalSensitivity(change=1, global_sensitivity=998, epsilon=2, delta=1e-6)
    >>> mechanism.guarantee
    ApproximateDP(epsilon=2, delta=1e-6)
    >>> mechanism.margin, mechanism.error_at(local_sensitivity=20).quantile(0.95)
    (13, 99.0)
    >>> answer = mechanism.release(4000, 20)
    >>> lower, upper = answer.interval(0.95)
    """

    lattice: Lattice
    """Where value, local sensitivity and noise live."""
    change: int
    """The most steps that the local sensitivity moves between neighbors."""
    largest: int
    """The global sensitivity, in steps."""
    margin: int
    """What is added to the noisy local sensitivity, in steps."""
    guarantee: ApproximateDP
    """(epsilon, delta)-DP, as asked."""
    share: Fraction
    """The part of epsilon that pays for the bound."""

    def __init__(
        self,
        *,
        change: Number,
        global_sensitivity: Number,
        epsilon: Number,
        delta: Number,
        share: Number = Fraction(1, 2),
        grid: Number | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> None:
        check_relation(neighbors)
        bought, released = shares(epsilon, share)
        failure = check_delta(delta)
        moved = rational(change, "change", positive=True)
        lattice = lattice_for(
            integers=holds_integers(change), grid=grid, sensitivity=moved, scale=moved / bought, size=1
        )
        steps = ceil(moved / lattice.step)
        largest = ceil(rational(global_sensitivity, "global_sensitivity", positive=True) / lattice.step)
        for scale in (steps / bought, 1 / released, largest / released):
            check_reach(check_scale, scale, "epsilon")
        least = smallest_threshold(partial(laplace_tail, steps / bought), 1, failure)
        self._set(
            lattice=lattice,
            change=steps,
            largest=largest,
            margin=max(least - 2, 0),
            guarantee=ApproximateDP(epsilon=bought + released, delta=failure, neighbors=neighbors),
            share=rational(share, "share"),
        )

    def __repr__(self) -> str:
        step = self.lattice.step
        return (
            f"PrivateLocalSensitivity(change={show(self.change * step)}, "
            f"global_sensitivity={show(self.largest * step)}, epsilon={show(self.guarantee.epsilon)}, "
            f"delta={show(self.guarantee.delta)}, share={show(self.share)})"
        )

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.guarantee.neighbors

    @property
    def epsilon(self) -> float:
        """The privacy loss of the bound and the noise together, rounded up to a float."""
        return float_above(self.guarantee.epsilon)

    @property
    def delta(self) -> float:
        """The delta, rounded up to a float."""
        return float_above(self.guarantee.delta)

    @property
    def event(self) -> Approximate:
        """One (epsilon, delta)-private release."""
        promise = self.guarantee
        return Approximate(epsilon=promise.epsilon, delta=promise.delta, neighbors=self.neighbors)

    @property
    def bound_scale(self) -> Fraction:
        """The scale of the noise on the local sensitivity, in steps."""
        return self.change / (self.share * self.guarantee.epsilon)

    def noise_for(self, steps: int) -> Laplace:
        """Return the noise that a value gets where the bound is this many steps."""
        released = (1 - self.share) * self.guarantee.epsilon
        if self.lattice.integers:
            return Laplace(sensitivity=steps, epsilon=released, size=1, neighbors=self.neighbors)
        step = self.lattice.step
        return Laplace(
            sensitivity=steps * step, epsilon=released, grid=step, size=1, neighbors=self.neighbors
        )

    def error_at(self, *, local_sensitivity: Number) -> LaplaceError:
        """Return the law of the error with the median bound, if the local sensitivity were this."""
        return self.noise_for(self.median_bound(local_sensitivity)).error

    def release(self, value: StatisticValue, local_sensitivity: StatisticValue) -> BoundedAnswer:
        """Return the value with noise, and the bound that the noise is for.

        Parameters
        ----------
        value : int, float or Fraction
            The exact value.
        local_sensitivity : int, float or Fraction
            The most that the value moves from this data set to a neighbor, or more.
        """
        on_lattice = entered(value, self.lattice)
        bound = self._draw_bound(local_sensitivity)
        source = current()
        noise = self.noise_for(bound)
        shown: int | float = self.lattice.leave(np.array(bound))  # type: ignore[assignment]
        noisy: int | float = noise.release(on_lattice)  # type: ignore[assignment]
        rounding = rounding_of(value, self.lattice)
        return BoundedAnswer(answer=noisy, bound=source.mark(shown), noise=noise, rounding=rounding)

    def release_bound(self, local_sensitivity: StatisticValue) -> int:
        """Return the bound alone, in steps, for a release of another kind: see `BoundedRelease`.

        By itself it is (share epsilon)-DP, and below the local sensitivity with probability at most delta.
        """
        return current().mark(self._draw_bound(local_sensitivity))

    def median_bound(self, local_sensitivity: Number) -> int:
        """Return the median of the bound, in steps, if the local sensitivity were this."""
        return self._bound(rational(local_sensitivity, "local_sensitivity"), 0)

    def _draw_bound(self, local_sensitivity: StatisticValue) -> int:
        local = _sensitivity(local_sensitivity)
        return self._bound(local, int(sample_laplace(self.bound_scale, 1, current())[0]))

    def _bound(self, local: Fraction | None, noise: int) -> int:
        """Return the bound in steps; None stands for a sensitivity without end."""
        steps = self.largest if local is None else max(0, min(ceil(local / self.lattice.step), self.largest))
        return max(1, min(steps + self.margin + noise, self.largest))

    def neighboring_inputs(self) -> tuple[tuple[ValueAndSensitivity, ValueAndSensitivity], ...]:
        """Return pairs (value, local sensitivity) of neighbors that differ as much as the latter allow."""
        locals_ = sorted({min(self.change, self.largest), self.largest, max(self.largest // 2, 1)})
        moves = [(near, min(near + self.change, self.largest)) for near in locals_]
        pairs = [((0, near), (near, far)) for near, far in moves] + [((0, 0), (0, self.change))]
        return tuple((self._typed(x), self._typed(y)) for x, y in pairs)

    def _typed(self, steps: tuple[int, int]) -> ValueAndSensitivity:
        value, local = self.lattice.leave(np.array(steps))  # type: ignore[misc]
        return value.item(), local.item()


def _sensitivity(local: StatisticValue) -> Fraction | None:
    """Return a local sensitivity exactly; None if it is infinite or no number. Its type is public."""
    if isinstance(local, bool | np.bool_) or not isinstance(
        local, int | float | Fraction | np.integer | np.floating
    ):
        raise ParameterError("local_sensitivity", f"is a {type(local).__name__}", "an int, float or Fraction")
    if isinstance(local, float | np.floating):
        return Fraction(float(local)) if isfinite(local) else None
    return Fraction(int(local)) if isinstance(local, np.integer) else Fraction(local)
