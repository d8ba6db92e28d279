"""Admissible noise for vectors: independent coordinates of one law, on one scale.

Between neighbors a vector of d numbers becomes m' + a' Z in place of m + a Z, where Z has d independent
coordinates and

    |log(a / a')| <= dilation,    norm(m - m') <= shift min(a, a').

All coordinates stretch together, so a dilation costs more than for one number: d times as much in pure
privacy, but only sqrt(d) times as much in concentrated privacy. `norm` says in which norm the shift
counts: that in which the sensitivity of the vector has to be bounded (Nissim, Raskhodnikova & Smith 2007,
Definition 2.5; proofs: docs/proofs/vector_noise.md).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar

from discreet.errors import ParameterError
from discreet.mechanisms.admissible.arcsinh_normal import ArcsinhNormal
from discreet.mechanisms.admissible.certificates import BITS, rounded_down, rounded_up, short_below
from discreet.mechanisms.admissible.concentrated import Concentrated, path_factor
from discreet.mechanisms.admissible.noise import Admissible, check_budget, check_move
from discreet.mechanisms.admissible.student import Student
from discreet.noise.elementary import rational_root
from discreet.privacy.guarantees import Guarantee, PureDP, ZeroConcentratedDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number, whole
from discreet.records import Record, dataclass
from discreet.stability.vector_profile import SensitivityNorm

__all__ = ["MOST_COORDINATES", "ConcentratedVector", "StudentVector", "VectorNoise"]

MOST_COORDINATES = 256
"""The most coordinates of a vector."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorNoise(Record, ABC):
    """A vector of independent coordinates with a guarantee for every shift and dilation.

    Attributes
    ----------
    noise : Admissible
        The law of each coordinate.
    size : int
        How many coordinates there are.
    """

    noise: Admissible
    size: int

    norm: ClassVar[SensitivityNorm]

    def __post_init__(self) -> None:
        self._amend(size=whole(self.size, "size", least=1, most=MOST_COORDINATES))

    @abstractmethod
    def budget(
        self,
        *,
        shift: Number,
        dilation: Number,
        epsilon: Number | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> Guarantee:
        """Return what is promised for a shift and a dilation, rounded up."""

    @abstractmethod
    def largest_shift(
        self,
        *,
        dilation: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
    ) -> Fraction:
        """Return the largest shift, rounded down, whose budget is within the one given, or 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentVector(VectorNoise):
    """Independent coordinates of Student's law: pure privacy, for shifts in L2.

    Guarantee
    ---------
    epsilon-DP with d times the epsilon of one number at the shift s / sqrt(d) and the same dilation. This is
    exact: the loss of a coordinate is concave in the square of its shift, so that an even split is worst
    (proof: docs/proofs/vector_noise.md).
    """

    norm: ClassVar[SensitivityNorm] = "l2"

    def __post_init__(self) -> None:
        VectorNoise.__post_init__(self)
        if not isinstance(self.noise, Student):
            raise ParameterError("noise", "is not of Student's law", "a Student")

    def budget(
        self,
        *,
        shift: Number,
        dilation: Number,
        epsilon: Number | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> PureDP:
        """Return the pure guarantee for a shift and a dilation."""
        s, t = check_move(shift, dilation)
        each = rounded_up(Fraction(rational_root(s * s / self.size, BITS)[1], 1 << BITS))
        one = self.noise.budget(shift=each, dilation=t, epsilon=epsilon)
        assert isinstance(one, PureDP)  # noqa: S101
        return PureDP(epsilon=self.size * one.epsilon, neighbors=neighbors)

    def largest_shift(
        self,
        *,
        dilation: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
    ) -> Fraction:
        """Return sqrt(d) times the largest shift of one number within epsilon / d."""
        (loss,) = check_budget("pure", epsilon=epsilon, delta=delta, rho=rho)
        each = self.noise.largest_shift(dilation=dilation, epsilon=loss / self.size)
        return rounded_down(each * Fraction(rational_root(Fraction(self.size), BITS)[0], 1 << BITS))


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcentratedVector(VectorNoise):
    """Independent coordinates of a concentrated law, for shifts in L2.

    Guarantee
    ---------
    rho-zCDP with rho = max(p s^2, p (s k)^2 + d q t^2) / 2 and k = t / (e^t - 1), where p and q bound the
    scores of one coordinate: log E exp(l (a psi_s + u psi_d)) <= l^2 (p a^2 + q u^2) / 2. The squares of
    shifts add up to that of their L2 norm; only the dilation is paid d times (proof:
    docs/proofs/vector_noise.md).
    """

    norm: ClassVar[SensitivityNorm] = "l2"

    def __post_init__(self) -> None:
        VectorNoise.__post_init__(self)
        if not isinstance(self.noise, Concentrated | ArcsinhNormal):
            raise ParameterError("noise", "is not concentrated", "one of the three concentrated laws")

    def _proxies(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """Return pairs (p, q), each of which bounds the scores of one coordinate."""
        if isinstance(self.noise, Concentrated):
            return ((self.noise.steepness**2, self.noise.stretch),)
        assert isinstance(self.noise, ArcsinhNormal)  # noqa: S101
        return self.noise.proxies()

    def budget(
        self,
        *,
        shift: Number,
        dilation: Number,
        epsilon: Number | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> ZeroConcentratedDP:
        """Return the zero-concentrated guarantee for a shift and a dilation."""
        s, t = check_move(shift, dilation)
        if epsilon is not None:
            raise ParameterError("epsilon", "is given for concentrated noise", "left out")
        factor = path_factor(t) ** 2
        squared = min(max(p * s**2, p * s**2 * factor + self.size * q * t**2) for p, q in self._proxies())
        return ZeroConcentratedDP(rho=rounded_up(squared / 2), neighbors=neighbors)

    def largest_shift(
        self,
        *,
        dilation: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
    ) -> Fraction:
        """Return the root of the least of 2 rho / p and (2 rho - d q t^2) / (p k^2), at the best (p, q)."""
        (cost,) = check_budget("concentrated", epsilon=epsilon, delta=delta, rho=rho)
        _, t = check_move(0, dilation)
        factor = path_factor(t) ** 2
        squared = max(
            min(2 * cost, (2 * cost - self.size * q * t**2) / factor) / p for p, q in self._proxies()
        )
        return short_below(rational_root(squared, BITS)) if squared > 0 else Fraction(0)
