"""Which admissible noise, and which decay: the least error at a stated sensitivity, from public facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import exp, inf, isfinite, log, sqrt

from discreet.errors import ParameterError
from discreet.mechanisms.additive.gaussian_calibration import largest_rho
from discreet.mechanisms.admissible.arcsinh_normal import ArcsinhNormal
from discreet.mechanisms.admissible.cauchy import Cauchy
from discreet.mechanisms.admissible.certificates import rounded_down
from discreet.mechanisms.admissible.concentrated import MOST_SPREAD
from discreet.mechanisms.admissible.gaussian import GaussianNoise
from discreet.mechanisms.admissible.laplace import LaplaceNoise
from discreet.mechanisms.admissible.laplace_log_normal import LaplaceLogNormal
from discreet.mechanisms.admissible.noise import MOST_EPSILON, Admissible
from discreet.mechanisms.admissible.student import Student
from discreet.mechanisms.admissible.uniform_log_normal import LEAST_SPREAD, UniformLogNormal
from discreet.noise.elementary import rational_root
from discreet.privacy.offer import Offer

__all__ = ["best_noise", "best_noise_and_decay", "budget_for"]

_DEGREES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 26, 34, 50, 80)
_SPREADS = tuple(Fraction(round(1000 * 0.03 * 1.3**step), 1000) for step in range(18))
_DECAYS_AT_ONCE = 24
_SMALLEST_DECAY = 1e-5
_BITS = 128


def budget_for(noise: Admissible, offer: Offer) -> dict[str, Fraction] | None:
    """Return an offer as the noise's own notion has it, or None if it has no such noise.

    Pure privacy with epsilon = sqrt(2 rho) is within rho, and within any delta; a rho that implies
    (epsilon, delta) is within those.
    """
    if noise.notion == "approximate":
        if offer.epsilon is None or offer.delta is None:
            return None
        return {"epsilon": offer.epsilon, "delta": offer.delta}
    if noise.notion == "concentrated":
        if offer.rho is not None:
            return {"rho": offer.rho}
        if offer.epsilon is None or offer.delta is None:
            return None
        return {"rho": largest_rho(min(offer.epsilon, MOST_EPSILON), offer.delta)}
    if offer.epsilon is not None:
        return {"epsilon": offer.epsilon}
    low, _ = rational_root(2 * (offer.rho or Fraction(0)), _BITS)
    return {"epsilon": rounded_down(Fraction(low, 1 << _BITS))}


def _families() -> Iterator[Admissible]:
    yield from (Student(degrees=degrees) for degrees in _DEGREES)
    yield from (Cauchy(power=power) for power in (2, 4, 6))
    yield from (LaplaceNoise(), GaussianNoise())
    yield from (ArcsinhNormal(spread=spread) for spread in _SPREADS)
    yield from (LaplaceLogNormal(spread=spread) for spread in _SPREADS)
    yield from (UniformLogNormal(spread=spread) for spread in _SPREADS if spread >= LEAST_SPREAD)


def _error(noise: Admissible, offer: Offer, dilation: Fraction) -> tuple[int, float]:
    """Return what is minimized: first whether there is a variance, then the error per unit of sensitivity."""
    budget = budget_for(noise, offer)
    shift = noise.largest_shift(dilation=dilation, **budget) if budget is not None else Fraction(0)
    if not shift:
        return 3, inf
    rank = 0 if isfinite(noise.variance) else 1 if isfinite(noise.mean_absolute) else 2
    return rank, noise.typical / float(shift)


def best_noise(offer: Offer, dilation: Fraction) -> tuple[Admissible, tuple[int, float]]:
    """Return the noise with the least error at one dilation, and that error.

    Laws with a variance come before those without; among them the standard deviation of Z / shift counts,
    else the mean of its magnitude, else the median. Families are tried at fixed parameters, and the
    spread or the degrees of the best of them are then refined.
    """
    scored = [(_error(noise, offer, dilation), noise) for noise in _families() if budget_for(noise, offer)]
    error, noise = min(scored, key=lambda pair: pair[0])
    if error[0] == 3:
        raise ParameterError("decay", "takes the whole budget", "smaller, or a larger budget")
    if isinstance(noise, Student):
        near: list[Admissible] = [
            Student(degrees=d) for d in range(max(1, noise.degrees * 3 // 4), noise.degrees * 4 // 3 + 1)
        ]
    elif isinstance(noise, ArcsinhNormal | UniformLogNormal | LaplaceLogNormal):
        wide, fine = type(noise), (noise.spread * Fraction(100 + 2 * step, 100) for step in range(-7, 8))
        near = [
            wide(spread=x)
            for x in fine
            if _SPREADS[0] <= x <= MOST_SPREAD and (x >= LEAST_SPREAD or wide is not UniformLogNormal)
        ]
    else:
        near = [noise]
    error, noise = min([(error, noise), *((_error(n, offer, dilation), n) for n in near)], key=lambda p: p[0])
    return noise, error


def best_noise_and_decay(
    offer: Offer, local: Sequence[float], slack: Fraction
) -> tuple[Admissible, Fraction]:
    """Return the noise and the decay with the least error at hypothetical local sensitivities.

    `local` holds public numbers: what the local sensitivity at the distances 0, 1, … is supposed to be.
    The error is max_k e^(-decay k) local[k] times that of Z / shift.
    """
    bound = float(offer.epsilon if offer.epsilon is not None else sqrt(2 * float(offer.rho or 0)))
    bound = min(bound, float(MOST_EPSILON) / 2)
    first, last = log(_SMALLEST_DECAY * bound), log(bound)
    chosen: tuple[tuple[int, float], Admissible, Fraction] | None = None
    for _ in range(2):
        width = (last - first) / (_DECAYS_AT_ONCE - 1)
        for step in range(_DECAYS_AT_ONCE):
            decay = Fraction(f"{exp(first + step * width):.4g}")
            smooth = max(exp(-float(decay) * k) * size for k, size in enumerate(local))
            try:
                noise, (rank, error) = best_noise(offer, decay + slack)
            except ParameterError:
                continue
            if chosen is None or (rank, error * smooth) < chosen[0]:
                chosen = (rank, error * smooth), noise, decay
        if chosen is None:
            break
        first, last = log(float(chosen[2])) - width, log(float(chosen[2])) + width
    if chosen is None:
        raise ParameterError("epsilon", "or rho is too small for any noise", "larger")
    return chosen[1], chosen[2]
