"""Smooth sensitivity of vectors: one scale for all coordinates, from how far these data can move them."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.mechanisms.adaptive.smooth_release import (
    answer_lattice,
    checked_decay,
    promised_event,
    stated_guarantee,
)
from discreet.mechanisms.admissible.error import ScaledNoise
from discreet.mechanisms.admissible.noise import Admissible
from discreet.mechanisms.admissible.product import VectorNoise
from discreet.mechanisms.admissible.product_laplace import vector_noise
from discreet.noise.certified import sample_rounded
from discreet.noise.entropy import current
from discreet.privacy.events import Approximate, Pure, ZeroConcentrated
from discreet.privacy.guarantees import ApproximateDP, PureDP, ZeroConcentratedDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors, check_relation
from discreet.privacy.rational import Number, non_negative, show
from discreet.records import Record, dataclass
from discreet.stability.profile import Profile
from discreet.stability.vector_profile import VectorProfile

__all__ = ["VectorSmoothSensitivity"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class VectorSmoothSensitivity(Record):
    """Release a vector with noise in proportion to the smooth sensitivity of the whole vector.

    Parameters
    ----------
    noise : Admissible
        The law of each coordinate: `Student` (pure, L2), `LaplaceNoise` (approximate, L1), or one of
        `ArcsinhNormal`, `LaplaceLogNormal` and `UniformLogNormal` (concentrated, L2). The norm is that in
        which the profile bounds the vector.
    size : int
        How many coordinates the vector has, at most 256.
    epsilon, delta, rho : number
        The budget, as the noise has it.
    decay : number
        How fast the smooth sensitivity forgets data sets that are farther away.
    lower, upper : number
        Public bounds of every coordinate; what is drawn beyond them is clamped.
    grid : number, optional
        A power of two; answers are multiples of it. By default some 2^32 steps between the bounds.
    neighbors : Neighbors
        The relation for which the profiles hold.

    Guarantee
    ---------
    The budget given: every coordinate gets (S / shift) Z_i with independent Z_i, where S is a smooth bound on
    the local sensitivity of the vector in the noise's norm. A dilation moves all coordinates at once, which
    is charged: d times in pure and approximate, sqrt(d) times in concentrated privacy (proof:
    docs/proofs/vector_smooth_sensitivity.md, and of the noise docs/proofs/vector_noise.md).

    Finite precision
    ----------------
    As for `SmoothSensitivity`: each coordinate is the rounding to a public grid of an ideal real number,
    drawn exactly, and the rounding of the smooth sensitivity is charged.

    Error
    -----
    Private, since the smooth sensitivity is: `error_at` tells the law of the error of each coordinate for a
    hypothetical one.

    Examples
    --------
    >>> from discreet.mechanisms import VectorSmoothSensitivity
    >>> from discreet.mechanisms.admissible import ArcsinhNormal
    >>> mechanism = VectorSmoothSensitivity(
    ...     noise=ArcsinhNormal(spread=0.3), size=3, rho=0.5, decay=0.05, lower=0, upper=120
    ... )
    >>> mechanism.event
    ZeroConcentrated(rho=0.5)
    >>> round(mechanism.error_at(smooth_sensitivity=2).deviation, 2)
    2.4...
    """

    law: VectorNoise
    """The law of the noise."""
    guarantee: PureDP | ApproximateDP | ZeroConcentratedDP
    """What is promised."""
    decay: Fraction
    """How fast the smooth sensitivity forgets."""
    shift: Fraction
    """Noise is scaled by the smooth sensitivity over this."""
    grid: Fraction
    """Answers are multiples of it."""
    least: int
    """The least answer, in steps of the grid."""
    most: int
    """The largest answer, in steps of the grid."""

    def __init__(
        self,
        *,
        noise: Admissible,
        size: int,
        decay: Number,
        lower: Number,
        upper: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        grid: Number | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> None:
        law = vector_noise(noise, size)
        check_relation(neighbors)
        rate = checked_decay(decay)
        shift = law.largest_shift(dilation=rate + Profile.SLACK, epsilon=epsilon, delta=delta, rho=rho)
        if shift <= 0:
            raise ParameterError("decay", "takes the whole budget", "smaller, or a larger budget")
        step, least, most = answer_lattice(lower, upper, grid)
        guarantee = stated_guarantee(epsilon, delta, rho, neighbors)
        self._set(law=law, guarantee=guarantee, decay=rate, shift=shift, grid=step, least=least, most=most)

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.guarantee.neighbors

    @property
    def event(self) -> Pure | Approximate | ZeroConcentrated:
        """The guarantee as an event: nothing more is known about the laws, which depend on the data."""
        return promised_event(self.guarantee)

    def error_at(self, *, smooth_sensitivity: Number) -> ScaledNoise:
        """Return the law of the error of one coordinate if the smooth sensitivity were a number."""
        size = non_negative(smooth_sensitivity, "smooth_sensitivity")
        return ScaledNoise(noise=self.law.noise, scale=size / self.shift, rounding=self.grid / 2)

    def release(self, profile: VectorProfile) -> NDArray[np.int64] | NDArray[np.float64]:
        """Return the vector of a profile with noise, rounded to the grid and clamped to the bounds."""
        source = current()
        centers, scale = self._law(profile)
        if scale == 0:  # the vector is the same for all data that can be reached from these
            steps = [min(max((x + Fraction(1, 2)).__floor__(), self.least), self.most) for x in centers]
        else:
            steps = [
                sample_rounded(
                    self.law.noise, center=x, scale=scale, least=self.least, most=self.most, source=source
                )
                for x in centers
            ]
        if self.grid == 1:
            return source.mark(np.array(steps, np.int64))
        return source.mark(np.array([float(step * self.grid) for step in steps]))

    def _law(self, profile: VectorProfile) -> tuple[tuple[Fraction, ...], Fraction]:
        """Return the centers and the scale of what is drawn, in steps of the grid."""
        if not isinstance(profile, VectorProfile):
            raise ParameterError("profile", "is not of a vector", "a discreet.stability.VectorProfile")
        if len(profile.values) != self.law.size:
            raise ParameterError("profile", "has another number of coordinates", str(self.law.size))
        if profile.norm != self.law.norm:
            raise ParameterError("profile", "is bounded in another norm", repr(self.law.norm))
        if profile.relation != self.neighbors:
            raise ParameterError("profile", "holds for another neighbor relation", repr(self.neighbors))
        scale = profile.smooth(self.decay) / (self.shift * self.grid)
        return tuple(value / self.grid for value in profile.values), scale

    def neighboring_inputs(self) -> tuple[tuple[VectorProfile, VectorProfile], ...]:
        """Return pairs of profiles that neighbors may have: one slides, shrinks, or does both."""
        size = float(max((self.most - self.least) // 16, 1) * self.grid)
        near = exp(-float(self.decay)) * size * (1 - 2.0**-40)
        start = Fraction(self.least + self.most, 2) * self.grid

        def profile(moved: float, *local: float) -> VectorProfile:
            # Along one axis the L1 and the L2 norm are the same.
            values = [start + Fraction(moved), *[start] * (self.law.size - 1)]
            return VectorProfile.of(values=values, local=local, norm=self.law.norm, relation=self.neighbors)

        center = profile(0.0, size)
        return (
            (center, profile(size, size)),
            (center, profile(near, near, size)),
            (center, profile(0.0, near, size)),
        )

    def __repr__(self) -> str:
        bounds = f"lower={show(self.least * self.grid)}, upper={show(self.most * self.grid)}"
        law = f"noise={self.law.noise!r}, size={self.law.size}"
        bounds += f", grid={show(self.grid)}"
        return f"VectorSmoothSensitivity({law}, {self.event!r}, decay={show(self.decay)}, {bounds})"
