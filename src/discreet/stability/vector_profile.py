"""A vector of statistics with their joint local sensitivity at every distance.

For f with values in R^d the local sensitivity at distance k is the largest norm(f(y) - f(y')) over neighbors
y, y' with d(x, y) <= k. The smooth sensitivity of the vector is that of these numbers, as for one number
(proof: docs/proofs/vector_noise.md). All of it is private.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Literal, get_args

from discreet.errors import ParameterError
from discreet.privacy.neighbors import Neighbors
from discreet.records import dataclass
from discreet.stability.profile import Profile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["SensitivityNorm", "VectorProfile"]

SensitivityNorm = Literal["l1", "l2"]

_BITS = 128


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class VectorProfile:
    """A vector of private data with its local sensitivity at every distance, in one norm.

    Attributes
    ----------
    values : tuple of Fraction
        The vector. Its length is public.
    joint : Profile
        The local sensitivity of the whole vector at every distance; its own value says nothing.
    norm : str
        "l1" or "l2". Public.
    """

    values: tuple[Fraction, ...]
    joint: Profile
    norm: SensitivityNorm

    def __post_init__(self) -> None:
        """Check what is public: the norm, and that there are coordinates."""
        if self.norm not in get_args(SensitivityNorm):
            raise ParameterError("norm", "is not known", "'l1' or 'l2'")
        if not self.values:
            raise ParameterError("values", "are no coordinates", "at least one")

    @classmethod
    def of(
        cls,
        *,
        values: Sequence[Fraction | int],
        local: ArrayLike,
        norm: SensitivityNorm,
        relation: Neighbors,
        rows: int = 1,
    ) -> VectorProfile:
        """Make a profile of joint local sensitivities at the distances 0, 1, …, K; then the last holds."""
        joint = Profile.of(value=0, local=local, relation=relation, rows=rows)
        return cls(values=tuple(Fraction(value) for value in values), joint=joint, norm=norm)

    @classmethod
    def together(cls, profiles: Sequence[Profile], *, norm: SensitivityNorm) -> VectorProfile:
        """Join statistics of the same data, each with its profile, to one vector.

        The joint local sensitivity is bounded by the norm of the separate ones, A_k <= norm(A_k1, …, A_kd),
        rounded up to 2^-128: an upper bound that never falls, and moves between neighbors as each does.

        Examples
        --------
        >>> from discreet.stability import VectorProfile, quantile
        >>> ages = [31, 35, 44, 48, 52, 60, 67]
        >>> quartiles = [quantile(ages, level=q, lower=0, upper=120) for q in ("1/4", "1/2", "3/4")]
        >>> VectorProfile.together(quartiles, norm="l2")
        VectorProfile(private, 3 coordinates, l2, ...)
        """
        parts = tuple(profiles)
        if not parts or not all(isinstance(part, Profile) for part in parts):
            raise ParameterError("profiles", "are not profiles", "one or more of discreet.stability.Profile")
        if len({(part.relation, part.rows) for part in parts}) > 1:
            raise ParameterError("profiles", "hold for several relations or numbers of rows", "one of each")

        def length(distance: int) -> Fraction:
            sizes = [part.local_at(distance) for part in parts]
            return sum(sizes, Fraction(0)) if norm == "l1" else _root_above(sum(size**2 for size in sizes))

        joint = Profile(
            value=Fraction(0),
            reach=max(part.reach for part in parts),
            sensitivity=length,
            relation=parts[0].relation,
            rows=parts[0].rows,
            exact_to=-1 if len(parts) > 1 else parts[0].exact_to,
        )
        return cls(values=tuple(part.value for part in parts), joint=joint, norm=norm)

    @property
    def relation(self) -> Neighbors:
        """What one step changes. Public."""
        return self.joint.relation

    def smooth(self, decay: Fraction) -> Fraction:
        """Return the smooth sensitivity of the vector: the largest e^{-decay k} A_k; see `Profile.smooth`."""
        return self.joint.smooth(decay)

    def __repr__(self) -> str:
        return f"VectorProfile(private, {len(self.values)} coordinates, {self.norm}, {self.relation})"


def _root_above(x: Fraction | int) -> Fraction:
    """Return a square root, rounded up to 2^-128: it never falls, so it keeps A_k(x') <= A_(k+1)(x)."""
    exact = Fraction(x)
    steps = -(-(exact.numerator << 2 * _BITS) // exact.denominator)
    root = isqrt(steps)
    return Fraction(root + (root * root < steps), 1 << _BITS)
