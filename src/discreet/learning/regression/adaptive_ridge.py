"""Private linear regression from noisy sufficient statistics, with a ridge that adapts to the data."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.learning.regression.linear_fit import LinearFit, Noise, Units
from discreet.learning.regression.linear_rows import rows_on_grid
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.gaussian_privacy import largest_mu
from discreet.noise import current
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.events import Event, RoundedGaussian
from discreet.privacy.guarantees import ApproximateDP, ZeroConcentratedDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import Number, float_below, probability, rational, show, whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record, dataclass
from discreet.stability.eigenvalue import gram, smallest_eigenvalue
from discreet.stability.per_instance import PerInstanceReport, gaussian_losses, rounded_gaussian_losses

__all__ = ["AdaptiveRidge"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class AdaptiveRidge(Record):
    """Least squares under differential privacy: adaptive sufficient statistics perturbation.

    Three things are released: the smallest eigenvalue of X^T X, the matrix X^T X itself, and the vector of
    X^T y, y^T y and the number of rows. Everything else, the ridge, the coefficients and their
    intervals, is computed from these. No intercept is added: give a constant column.

    Parameters
    ----------
    columns : int
        The number of columns of X, at most 64.
    largest : number
        The largest Euclidean length of a row of X. Longer rows are shortened.
    response : number
        The largest absolute value of y. What is beyond is clipped.
    rho : number, optional
        The zero-concentrated privacy loss; or give
    epsilon, delta : number, optional
        both of these.
    rows : int
        How many rows a person has at most. That the data keep to it is the caller's promise.
    resolution : int
        In how many steps `largest` is divided, except for a margin; values are rounded to this grid, and
        half of it for y.

    Guarantee
    ---------
    rho-zCDP under add/remove of a person, or (epsilon, delta)-DP if built from them: each of the three
    releases has a third of rho, or of the square of the largest mu that implies them. In steps, N for
    `largest` and M = N / 2 for `response`, one row moves the eigenvalue by at most N^2, X^T X (its upper
    half) by at most N^2 in L2, and the vector by at most sqrt(N^2 M^2 + M^4 + w^2), where w = N M / 2 is the
    weight of the count (Wang 2018; proof: docs/proofs/adaptive_ridge.md).

    Finite precision
    ----------------
    Rows are rounded to integers, each by itself, sums are integer sums, the integer part of the eigenvalue is
    exact, and the noise is that of `Gaussian`. Floats come after the release. `largest` is a few steps
    less than N, half the root of the number of columns, so that rounding makes no row too long; and
    intervals are as much wider as rounding may matter.

    Error
    -----
    The ridge is what it takes that the noise in X^T X is at most half of X^T X + ridge, with probability
    99%: none where the data are rich, and as much as a fixed ridge would be where they are singular.
    Coefficients have intervals; see `LinearFit.intervals`.

    Examples
    --------
    >>> from discreet.learning import AdaptiveRidge
    >>> regression = AdaptiveRidge(columns=3, largest=2, response=5, rho=0.5)
    >>> regression.guarantee
    ZeroConcentratedDP(rho=0.5)
    """

    columns: int
    units: Units
    rows: int
    eigenvalue: Gaussian
    """The noise on the smallest eigenvalue."""
    matrix: Gaussian
    """The noise on the upper half of X^T X."""
    moments: Gaussian
    """The noise on X^T y, y^T y and the weighted count."""
    guarantee: ZeroConcentratedDP | ApproximateDP

    def __init__(
        self,
        *,
        columns: int,
        largest: Number,
        response: Number,
        rho: Number | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rows: int = 1,
        resolution: int = 2**12,
    ) -> None:
        width = whole(columns, "columns", least=1, most=64)
        held = whole(rows, "rows", least=1, most=2**20)
        units = Units.of(width, largest, response, resolution)
        (third_rho, third_mu), guarantee = _thirds(rho, epsilon, delta)
        steps, half, weight = units.steps, units.response_steps, units.weight
        squared = held**2 * ((steps * half) ** 2 + half**4 + weight**2)
        moments = Sensitivity(
            l0=width + 2,
            l1=isqrt((width + 2) * squared),
            squared_l2=squared,
            linf=held * steps * half,
            neighbors=ADD_REMOVE_PERSON,
        )

        def noise(sensitivity: int | Sensitivity, size: int) -> Gaussian:
            return Gaussian(sensitivity=sensitivity, rho=third_rho, mu=third_mu, size=size)

        self._set(
            columns=width,
            units=units,
            rows=held,
            eigenvalue=noise(held * steps**2, 1),
            matrix=noise(held * steps**2, width * (width + 1) // 2),
            moments=noise(moments, width + 2),
            guarantee=guarantee,
        )

    def __repr__(self) -> str:
        return (
            f"AdaptiveRidge(columns={self.columns}, largest={show(self.units.largest)}, "
            f"response={show(self.units.response)}, {self.guarantee!r})"
        )

    @property
    def event(self) -> Event:
        """The three releases, composed."""
        return self.eigenvalue.event + self.matrix.event + self.moments.event

    def release(self, design: ArrayLike, response: ArrayLike) -> LinearFit:
        """Return a fit to the rows of a design and a response.

        Never fails on data: not a number counts as 0, infinities and numbers beyond every float are
        clipped, and no rows, constant columns and singular designs have a fit like any other. What is no
        number by its type is refused.
        """
        rows, target = self._on_grid(design, response)
        products = gram(rows, self.units.steps)
        upper = np.triu_indices(self.columns)
        vector = [
            *(rows.T @ target).tolist(),
            int(target @ target),
            len(target) * self.units.weight,
        ]
        eigenvalue = self.eigenvalue.release(smallest_eigenvalue(products))
        matrix = self.matrix.release([products[i][j] for i, j in zip(*upper, strict=True)])
        moments = self.moments.release(vector)
        square = np.zeros((self.columns, self.columns))
        square[upper] = np.asarray(matrix)
        source = current()
        return LinearFit(
            units=self.units,
            noise=Noise(
                eigenvalue=sqrt(self.eigenvalue.error.sub_gaussian),
                matrix=sqrt(self.matrix.error.sub_gaussian),
                moments=sqrt(self.moments.error.sub_gaussian),
            ),
            eigenvalue=source.mark(float(eigenvalue)),  # type: ignore[arg-type]
            matrix=source.mark(np.triu(square, 1).T + square),
            moments=source.mark(np.asarray(moments, dtype=np.float64)),
        )

    def instance_losses(self, design: ArrayLike, response: ArrayLike, *, delta: Number) -> PerInstanceReport:
        """Return what a release reveals about each row that is there: private, for the curator alone.

        With x and y in steps, a row has rho = |x|^4 / (2 s^2) for the eigenvalue, at most, |upper half of
        x x^T|^2 / (2 s^2) for the matrix, and (|x|^2 y^2 + y^4 + w^2) / (2 s^2) for the vector, each with the
        s of its noise. Of rounded noise the loss is that of normal noise with as much mu^2 / 2, exactly.
        """
        rows, target = (part.astype(np.float64) for part in self._on_grid(design, response))
        squares, responses = rows**2, target**2
        lengths = squares.sum(axis=1)
        upper = (lengths**2 + (squares**2).sum(axis=1)) / 2
        vectors = responses * (lengths + responses) + float(self.units.weight) ** 2
        moved = np.zeros(len(rows))
        for shifts, noise in ((lengths**2, self.eigenvalue), (upper, self.matrix), (vectors, self.moments)):
            moved += shifts / float_below(noise.event.variance)
        rounded = isinstance(self.matrix.event, RoundedGaussian)
        return (rounded_gaussian_losses if rounded else gaussian_losses)(np.sqrt(moved), sigma=1, delta=delta)

    def _on_grid(self, design: ArrayLike, response: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return rows and responses in steps, none of them beyond its bound."""
        return rows_on_grid(design, response, columns=self.columns, units=self.units)


def _thirds(
    rho: Number | None, epsilon: Number | None, delta: Number | None
) -> tuple[tuple[Fraction | None, Fraction | None], ZeroConcentratedDP | ApproximateDP]:
    """Return the rho or the mu of each of three releases: rhos add up, and so do squares of mu."""
    if rho is not None and epsilon is None and delta is None:
        budget = rational(rho, "rho", positive=True)
        return (budget / 3, None), ZeroConcentratedDP(rho=budget, neighbors=ADD_REMOVE_PERSON)
    if rho is not None or epsilon is None or delta is None:
        raise ParameterError("rho", "does not say one budget", "either rho, or both epsilon and delta")
    loss = rational(epsilon, "epsilon", positive=True)
    failure = probability(delta, "delta", zero=False, one=False)
    third = sqrt_interval(largest_mu(loss, failure) ** 2 / 3)[0]
    return (None, third), ApproximateDP(epsilon=loss, delta=failure, neighbors=ADD_REMOVE_PERSON)
