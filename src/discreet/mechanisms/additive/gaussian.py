"""The Gaussian mechanism: discrete or rounded Gaussian noise in proportion to the L2 sensitivity."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms.additive.base import Additive
from discreet.mechanisms.additive.gaussian_calibration import analytic_variance, classical_variance
from discreet.mechanisms.additive.gaussian_privacy import largest_mu
from discreet.mechanisms.calibration import smallest
from discreet.mechanisms.error.gaussian import GaussianError
from discreet.mechanisms.error.rounded_gaussian import RoundedGaussianError
from discreet.mechanisms.error.tolerated import Norm, tolerates
from discreet.mechanisms.values import (
    Lattice,
    Value,
    check_delta,
    check_reach,
    check_size,
    holds_integers,
    lattice_for,
    stated_neighbors,
)
from discreet.noise import Source, sample_gaussian, sample_rounded_gaussian
from discreet.noise.gaussian import check_variance
from discreet.noise.grid import rounded_squared_l2
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.events import DiscreteGaussian, RoundedGaussian
from discreet.privacy.guarantees import ApproximateDP, GaussianDP, ZeroConcentratedDP
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.rational import Number, float_above, rational, show
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import dataclass

__all__ = ["Gaussian"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Gaussian(Additive):
    """Add Gaussian noise to a number or to an array of numbers.

    Parameters
    ----------
    sensitivity : number or Sensitivity
        How far the value moves between neighbors; for an array, in the L2 norm. An int says
        that the data are integers, and noise will be integers too; a float or a fraction
        says that they are real. A `Sensitivity` keeps sqrt(2) exact.
    epsilon, delta : number, optional
        Both: the noise is the smallest that is known to suffice.
    mu : number, optional
        Gaussian privacy, sensitivity / sigma.
    rho : number, optional
        Zero-concentrated privacy loss, sensitivity^2 / (2 sigma^2).
    sigma : number, optional
        The scale of the noise.
    grid, size, neighbors
        As for `Laplace`. One integer value should be declared with size=1: its calibration is
        then exact for every sensitivity.

    Guarantee
    ---------
    rho-zCDP with rho = sensitivity^2 / (2 sigma^2), for values and for vectors. Built from mu it is
    mu-Gaussian private, and from epsilon and delta (epsilon, delta)-DP (proof: docs/proofs/gaussian.md).
    What was asked for chooses the law:

    - rho or sigma: the discrete Gaussian, P(k) in proportion to exp(-k^2 / (2 sigma^2)), which has the least
      variance for its rho (Canonne, Kamath & Steinke 2020);
    - mu, or epsilon and delta: the rounded Gaussian, the nearest grid point to an ideal normal number, for
      which the analytic calibration of the ideal (Balle & Wang 2018) holds in any dimension;
    - epsilon and delta where only one value moves: the discrete Gaussian by its own exact divergence.

    Finite precision
    ----------------
    Values are rounded to the grid and the noise is drawn from either law on that grid, exactly. Rounding is
    charged: the event's sensitivity is that of the rounded values. Values beyond `largest` (2^62; real
    ones 2^52 grid steps) are clamped, as by `Laplace`.

    Error
    -----
    Sub-Gaussian: P(abs(noise) > t) <= 2 exp(-t^2 / (2 w)), with w = sigma^2 for the discrete law, and
    sigma^2 + grid^2 / 12 for the rounded one above a few steps; the law itself is in `error`.

    Examples
    --------
    >>> from discreet import Gaussian
    >>> mechanism = Gaussian(sensitivity=1, rho=0.125)
    >>> mechanism.event
    DiscreteGaussian(squared_sensitivity=1, variance=4)
    >>> mechanism.error.quantile(0.95)
    4.0
    >>> noisy = mechanism.release([12, 7, 0])
    """

    event: DiscreteGaussian | RoundedGaussian
    """The law that `release` draws."""
    guarantee: ApproximateDP | GaussianDP | ZeroConcentratedDP
    """What is promised: (epsilon, delta) or mu if it was built from them, else rho."""

    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number | None = None,
        delta: Number | None = None,
        mu: Number | None = None,
        rho: Number | None = None,
        sigma: Number | None = None,
        grid: Number | None = None,
        size: int | None = None,
        neighbors: Neighbors | None = None,
    ) -> None:
        parameter = _check_one_way(epsilon, delta, mu, rho, sigma)
        relation = stated_neighbors(sensitivity, neighbors)
        check_size(size)
        squared = _squared(sensitivity)
        guarantee: ApproximateDP | GaussianDP | ZeroConcentratedDP
        law: type[DiscreteGaussian | RoundedGaussian] = DiscreteGaussian
        if epsilon is not None and delta is not None:
            loss, failure = _approximate(epsilon, delta)
            rate, law = largest_mu(loss, failure) ** 2 / 2, RoundedGaussian
            guarantee = ApproximateDP(epsilon=loss, delta=failure, neighbors=relation)
        elif mu is not None:
            guarantee = GaussianDP(mu=rational(mu, "mu", positive=True), neighbors=relation)
            rate, law = guarantee.mu**2 / 2, RoundedGaussian
        elif rho is not None:
            rate = rational(rho, "rho", positive=True)
            guarantee = ZeroConcentratedDP(rho=rate, neighbors=relation)
        else:
            rate = squared / (2 * rational(sigma, "sigma", positive=True) ** 2)  # type: ignore[arg-type]
        lattice, squared, size = _placed(sensitivity, squared, squared / (2 * rate), grid, size)
        variance = squared / (2 * rate)
        if epsilon is not None:
            shift = _single_shift(squared / lattice.step**2, size)
            if shift is not None:
                variance = analytic_variance(shift, loss, failure) * lattice.step**2
                law = DiscreteGaussian
        elif sigma is not None:
            variance = rational(sigma, "sigma") ** 2
            guarantee = ZeroConcentratedDP(rho=squared / (2 * variance), neighbors=relation)
        check_reach(check_variance, variance / lattice.step**2, parameter)
        self._set(**_fields(law, squared, variance, lattice, size, guarantee=guarantee))

    @classmethod
    def classical(
        cls,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        delta: Number,
        grid: Number | None = None,
        size: int | None = None,
        neighbors: Neighbors | None = None,
    ) -> Gaussian:
        """Return the textbook's mechanism, for epsilon <= 1.

        sigma^2 = 2 sensitivity^2 log(2 / delta) / epsilon^2. (Textbooks also print log(1.25 / delta),
        which is proven for continuous noise; this constant holds for the discrete law, vectors
        included.) For teaching and comparison: the constructor needs less noise for the same guarantee.
        """
        loss, failure = _approximate(epsilon, delta)
        relation = stated_neighbors(sensitivity, neighbors)
        check_size(size)
        squared = _squared(sensitivity)
        wanted = classical_variance(squared, loss, failure)
        lattice, squared, size = _placed(sensitivity, squared, wanted, grid, size)
        variance = classical_variance(squared, loss, failure)
        check_reach(check_variance, variance / lattice.step**2, "epsilon")
        guarantee = ApproximateDP(epsilon=loss, delta=failure, neighbors=relation)
        return cls._made(**_fields(DiscreteGaussian, squared, variance, lattice, size, guarantee=guarantee))

    def __repr__(self) -> str:
        grid = "" if self.lattice.integers else f", grid={show(self.grid)}"
        size = "" if self.size is None else f", size={self.size}"
        return f"Gaussian(sensitivity={self.sensitivity:.6g}, sigma={self.sigma:.6g}{grid}{size})"

    @property
    def sensitivity(self) -> float:
        """The L2 sensitivity, rounding to the grid included, rounded up to a float."""
        return self.event.sensitivity

    @property
    def sigma(self) -> float:
        """The scale of the noise, rounded down to a float; `event.variance` is exact."""
        return self.event.sigma

    @property
    def rho(self) -> float:
        """The zero-concentrated privacy loss, rounded up to a float."""
        return float_above(self.event.rho)

    @property
    def epsilon(self) -> float | None:
        """The epsilon it was built for, rounded up to a float; None if it was built otherwise."""
        promise = self.guarantee
        return float_above(promise.epsilon) if isinstance(promise, ApproximateDP) else None

    @property
    def delta(self) -> float | None:
        """The delta it was built for, rounded up to a float; None if it was built otherwise."""
        promise = self.guarantee
        return float_above(promise.delta) if isinstance(promise, ApproximateDP) else None

    @property
    def error(self) -> GaussianError | RoundedGaussianError:
        """The law of the error of each value, known before anything is released."""
        law = RoundedGaussianError if isinstance(self.event, RoundedGaussian) else GaussianError
        return law(
            squared_sigma=self.event.variance,
            step=self.lattice.step,
            rounding=self.lattice.rounding,
            size=self.size or 1,
        )

    def _noise(self, count: int, source: Source) -> NDArray[np.int64]:
        draw = sample_rounded_gaussian if isinstance(self.event, RoundedGaussian) else sample_gaussian
        return draw(self.event.variance / self.grid**2, count, source)

    def alike(self, *, sensitivity: Sensitivity, size: int | None = None) -> Gaussian:
        """Return the mechanism that adds the same noise to integers that move otherwise far.

        It promises the rho, or for the rounded law the mu, that follows.
        """
        squared, variance, relation = _squared(sensitivity), self.event.variance, sensitivity.neighbors
        guarantee: GaussianDP | ZeroConcentratedDP = ZeroConcentratedDP(
            rho=squared / (2 * variance), neighbors=relation
        )
        if isinstance(self.event, RoundedGaussian):
            guarantee = GaussianDP(mu=sqrt_interval(squared / variance)[1], neighbors=relation)
        return self._made(
            **_fields(type(self.event), squared, variance, self.lattice, size, guarantee=guarantee)
        )

    def neighboring_inputs(self) -> tuple[tuple[Value, Value], ...]:
        """Return pairs of inputs that lie one sensitivity apart."""
        steps, count = self.event.shift, self.size or 1
        spread = min(count, int(self.event.squared_sensitivity / self.grid**2))
        return self.lattice.pairs([[steps] + [0] * (count - 1), [1] * spread + [0] * (count - spread)])

    @classmethod
    def for_error(
        cls,
        tolerance: Number,
        *,
        confidence: Number = 0.95,
        norm: Norm = "each",
        delta: Number,
        sensitivity: Number | Sensitivity = 1,
        grid: Number | None = None,
        size: int | None = None,
        neighbors: Neighbors | None = None,
    ) -> Gaussian:
        """Return the mechanism with the smallest epsilon, at a given delta, within a tolerated error.

        Parameters
        ----------
        tolerance : number
            The largest error that is tolerated.
        confidence : number
            With at least which probability.
        norm : {"each", "l1", "maximum"}
            The error of what: of each value by itself, the sum of the absolute errors of all `size` values,
            or the largest of them.
        delta, sensitivity, grid, size, neighbors
            As for the mechanism.
        """
        suffices = tolerates(tolerance, confidence, norm, size)

        def build(epsilon: Fraction) -> Gaussian:
            return cls(
                sensitivity=sensitivity,
                epsilon=epsilon,
                delta=delta,
                grid=grid,
                size=size,
                neighbors=neighbors,
            )

        return build(smallest(lambda epsilon: suffices(build(epsilon).error), "tolerance"))


def _check_one_way(
    epsilon: Number | None,
    delta: Number | None,
    mu: Number | None,
    rho: Number | None,
    sigma: Number | None,
) -> str:
    """Return the name of the one parameter that sets the noise."""
    allowed = "epsilon with delta, or mu, or rho, or sigma"
    if epsilon is not None and delta is None:
        raise ParameterError("delta", "is missing", f"given with epsilon; {allowed}")
    if epsilon is None and delta is not None:
        raise ParameterError("epsilon", "is missing", f"given with delta; {allowed}")
    ways = {"epsilon": epsilon, "mu": mu, "rho": rho, "sigma": sigma}
    given = [name for name, value in ways.items() if value is not None]
    if len(given) != 1:
        raise ParameterError("epsilon, mu, rho or sigma", "must be given, and only one of them", allowed)
    return given[0]


def _approximate(epsilon: Number, delta: Number) -> tuple[Fraction, Fraction]:
    loss = rational(epsilon, "epsilon", positive=True)
    if loss > 100:
        raise ParameterError("epsilon", "is out of range", "at most 100")
    return loss, check_delta(delta)


def _squared(sensitivity: Number | Sensitivity) -> Fraction:
    if isinstance(sensitivity, Sensitivity):
        return rational(sensitivity.squared_l2, "sensitivity", positive=True)
    return rational(sensitivity, "sensitivity", positive=True) ** 2


def _placed(
    sensitivity: Number | Sensitivity,
    squared: Fraction,
    variance: Fraction,
    grid: Number | None,
    size: int | None,
) -> tuple[Lattice, Fraction, int | None]:
    """Choose the lattice, and return it with the squared sensitivity and the size that hold on it."""
    lattice = lattice_for(
        integers=holds_integers(sensitivity),
        grid=grid,
        sensitivity=sqrt_interval(squared)[0],
        scale=sqrt_interval(variance)[0],
        size=size or 1,
    )
    if lattice.integers:
        return lattice, squared, size
    return lattice, rounded_squared_l2(squared, lattice.step, size or 1), size or 1


def _single_shift(squared_steps: Fraction, size: int | None) -> int | None:
    """Return the largest shift, in steps, if all shifts are of one coordinate; else None."""
    if size == 1 or squared_steps < 2:
        return isqrt(int(squared_steps))
    return None


def _fields(
    law: type[DiscreteGaussian | RoundedGaussian],
    squared: Fraction,
    variance: Fraction,
    lattice: Lattice,
    size: int | None,
    *,
    guarantee: ApproximateDP | GaussianDP | ZeroConcentratedDP,
) -> dict[str, object]:
    """Return the fields of a mechanism that draws from a law on a lattice."""
    event = law(
        squared_sensitivity=squared,
        variance=variance,
        grid=lattice.step,
        size=size,
        neighbors=guarantee.neighbors,
    )
    return {"event": event, "lattice": lattice, "guarantee": guarantee}
