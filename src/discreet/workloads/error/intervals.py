"""How far a linear combination of noise can be from zero: never narrower than the stated confidence.

Let L = sum of c_i N_i with independent discrete noise N_i of one law, and c = ||c||_2.

Gaussian: L is sub-Gaussian with parameter w c^2, and within 2 / sqrt(w) of the normal law of that variance in
distribution (w in squared steps, at least 16; docs/proofs/strategies.md, proposition 8). For discrete noise
w is sigma^2, for rounded noise sigma^2 + 1/12. Laplace: see `laplace_tails`.
"""

from __future__ import annotations

from math import log, sqrt

from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy.decimals import number
from discreet.privacy.rational import Number, confidence_level, float_below
from discreet.records import dataclass
from discreet.workloads.error.laplace_tails import laplace_units

__all__ = ["LinearAnswer", "half_width"]

_LEAST_SIGMA = 4.0
_DISTANCE = 2.0
_NEGLIGIBLE = 1e-9
_CONFIDENCE = 0.95


def half_width(mechanism: Laplace | Gaussian, factor: float, confidence: Number) -> float:
    """Return t with P(abs(L) <= t) at least the confidence, for squared coefficients that sum to `factor`."""
    failure = float_below(1 - confidence_level(confidence))
    if isinstance(mechanism, Gaussian):
        spread = mechanism.error.sub_gaussian
        return _gaussian_units(sqrt(spread), failure) * sqrt(spread * factor)
    scale = float(mechanism.event.scale)
    return laplace_units(failure, scale) * scale * sqrt(factor)


def _gaussian_units(sigma: float, failure: float) -> float:
    from scipy.special import ndtri

    bound = sqrt(2 * log(2 / failure))
    left = failure / 2 - _DISTANCE / sigma - _NEGLIGIBLE
    if sigma < _LEAST_SIGMA or left <= 0:
        return bound
    return min(bound, float(-ndtri(left)))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LinearAnswer:
    """The answer to one linear query, from measurements that were paid for before.

    Attributes
    ----------
    value : float
        Unbiased.
    variance : float
        Of the value, exactly known.
    about : str
        What was asked, in words.
    confidence : number
        Of the interval that is printed.
    """

    value: float
    variance: float
    mechanism: Laplace | Gaussian
    factor: float
    about: str = ""
    confidence: Number = _CONFIDENCE

    @property
    def standard_error(self) -> float:
        """The root of the variance."""
        return sqrt(self.variance)

    def interval(self, confidence: Number | None = None) -> tuple[float, float]:
        """Return an interval that contains the exact answer with at least this probability.

        By default the confidence is that of the question.
        """
        width = half_width(self.mechanism, self.factor, self.confidence if confidence is None else confidence)
        return self.value - width, self.value + width

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        margin = half_width(self.mechanism, self.factor, self.confidence)
        asked = f"{self.about}: " if self.about else ""
        return f"{asked}{number(self.value, margin)} ± {number(margin, margin, side=1)}"

    __repr__ = __str__
