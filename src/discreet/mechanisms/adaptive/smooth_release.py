"""What releases with smooth sensitivity share: where answers live, and what is promised."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import ParameterError
from discreet.mechanisms.admissible.noise import LARGEST_DILATION
from discreet.noise.grid import check_grid, suitable_grid
from discreet.privacy.events import Approximate, Pure, ZeroConcentrated
from discreet.privacy.guarantees import ApproximateDP, PureDP, ZeroConcentratedDP
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.rational import Number, non_negative, rational

__all__ = ["answer_lattice", "checked_decay", "promised_event", "stated_guarantee"]

_MOST_STEPS = 1 << 53
_DEFAULT_STEPS = 1 << 32


def stated_guarantee(
    epsilon: Number | None, delta: Number | None, rho: Number | None, neighbors: Neighbors
) -> PureDP | ApproximateDP | ZeroConcentratedDP:
    """Return the guarantee that a budget states, of which `largest_shift` has checked what is given."""
    if rho is not None:
        return ZeroConcentratedDP(rho=rho, neighbors=neighbors)
    if delta is not None and epsilon is not None:
        return ApproximateDP(epsilon=epsilon, delta=delta, neighbors=neighbors)
    return PureDP(epsilon=rational(epsilon, "epsilon"), neighbors=neighbors)  # type: ignore[arg-type]


def promised_event(
    promise: PureDP | ApproximateDP | ZeroConcentratedDP,
) -> Pure | Approximate | ZeroConcentrated:
    """Return a guarantee as an event: nothing more is known about the laws, which depend on the data."""
    if isinstance(promise, PureDP):
        return Pure(epsilon=promise.epsilon, neighbors=promise.neighbors)
    if isinstance(promise, ApproximateDP):
        return Approximate(epsilon=promise.epsilon, delta=promise.delta, neighbors=promise.neighbors)
    return ZeroConcentrated(rho=promise.rho, neighbors=promise.neighbors)


def answer_lattice(lower: Number, upper: Number, grid: Number | None) -> tuple[Fraction, int, int]:
    """Return the grid and the bounds in its steps."""
    low, high = rational(lower, "lower"), rational(upper, "upper")
    if low > high:
        raise ParameterError("lower", "is above upper", "at most upper")
    if grid is not None:
        step = check_grid(rational(grid, "grid", positive=True))
    else:
        fine = max((high - low) / _DEFAULT_STEPS, 2 * max(abs(low), abs(high)) / _MOST_STEPS)
        step = suitable_grid(fine or Fraction(1))
    least, most = (low / step).__ceil__(), (high / step).__floor__()
    if grid is None and least > most:  # one point, between two multiples
        least = most
    if least > most or max(abs(least), abs(most)) > _MOST_STEPS:
        raise ParameterError(
            "grid", "does not fit the bounds", "with a multiple between them, and at most 2^53 steps"
        )
    return step, least, most


def checked_decay(decay: Number) -> Fraction:
    """Return a decay, or refuse it."""
    rate = non_negative(decay, "decay")
    if rate >= LARGEST_DILATION:
        raise ParameterError("decay", "is too large", f"below {LARGEST_DILATION}")
    return rate
