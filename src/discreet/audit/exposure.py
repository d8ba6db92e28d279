"""Exposure: how far a planted secret stands out among all that it might have been.

A secret is drawn uniformly from a space R and planted in the training data. The model's perplexity ranks all
of R, and the exposure of the secret is log2 |R| - log2 rank, in bits (Carlini et al. 2019): log2 |R| if
nothing in R is likelier, about 1.4 on average if the model has not seen it. It measures what one model
remembers of one secret; it proves no epsilon, which `check_model` does.
"""

from __future__ import annotations

from math import log, log2, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike

from discreet.array_types import Floats
from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.records import dataclass

__all__ = ["Exposure", "fitted_exposure", "rank_exposure"]

_LEAST_SAMPLE = 100
_PARTS = 20
_REACH, _GRID = 12.0, 6001
_MOST_SKEW = 0.99
"""A skew-normal law has a skewness of less than 0.9953."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exposure:
    """The exposure of one secret.

    Attributes
    ----------
    bits : float
        log2 |R| - log2 rank.
    error : float
        The standard error of `bits`; 0 where the rank is exact.
    most : float
        log2 |R|, which `bits` never exceeds: then the secret can be read from the model.
    """

    bits: float
    error: float
    most: float

    def __str__(self) -> str:
        around = f" ± {self.error:.2f}" if self.error else ""
        return f"{self.bits:.2f}{around} of {self.most:.2f} bits"


def rank_exposure(secret: float, others: ArrayLike) -> Exposure:
    """Return the exact exposure, given the perplexities of all of the space.

    Parameters
    ----------
    secret : float
        The logarithm of the perplexity of the secret: less is likelier.
    others : array
        Those of all other members of the space. Ties count as likelier than the secret.
    """
    rest = _perplexities(others, least=1)
    rank = 1 + int((rest <= float(secret)).sum())
    most = log2(len(rest) + 1)
    return Exposure(bits=most - log2(rank), error=0.0, most=most)


def fitted_exposure(secret: float, sample: ArrayLike, size: int) -> Exposure:
    """Return the exposure by a law that is fitted to the perplexities of a part of the space.

    Parameters
    ----------
    secret : float
        The logarithm of the perplexity of the secret.
    sample : array
        Those of members drawn uniformly from the space.
    size : int
        How many members the space has.

    Notes
    -----
    A skew-normal law with the mean, variance and skewness of the sample; bits are -log2 of its probability
    of a perplexity no larger than the secret's, at most log2 `size`. `error` is that of
    the jackknife with twenty parts, and includes no error of the law itself, whose far tail nobody has seen.
    """
    drawn = _perplexities(sample, least=_LEAST_SAMPLE)
    most = log2(whole(size, "size", least=len(drawn)))
    left_out = np.arange(len(drawn)) % _PARTS
    parts = np.array([_bits(float(secret), drawn[left_out != part], most) for part in range(_PARTS)])
    error = float(np.sqrt((_PARTS - 1) * parts.var()))
    return Exposure(bits=_bits(float(secret), drawn, most), error=error, most=most)


def _bits(secret: float, drawn: Floats, most: float) -> float:
    place, scale, shape = _skew_normal(drawn)
    if scale == 0:
        return most if secret < place else 0.0
    return min(max(-_log_probability((secret - place) / scale, shape) / log(2), 0.0), most)


def _skew_normal(drawn: Floats) -> tuple[float, float, float]:
    """Return location, scale and shape of the skew-normal law with these moments."""
    mean, deviation = float(drawn.mean()), float(drawn.std())
    if deviation == 0:
        return mean, 0.0, 0.0
    skew = float(np.clip((((drawn - mean) / deviation) ** 3).mean(), -_MOST_SKEW, _MOST_SKEW))
    # The skewness is (4 - pi) / 2 m^3 / (1 - m^2)^(3/2), where m = sqrt(2 / pi) d is the mean at scale 1.
    ratio = (2 * abs(skew) / (4 - pi)) ** (2 / 3)
    m = float(np.sign(skew)) * sqrt(ratio / (1 + ratio))
    d = m * sqrt(pi / 2)
    scale = deviation / sqrt(1 - m**2)
    return mean - scale * m, scale, d / sqrt(1 - d**2)


def _log_probability(z: float, shape: float) -> float:
    """Return log P(Z <= z) for the density 2 phi(z) Phi(shape z), in logarithms: tails do not vanish."""
    from scipy.special import log_ndtr, logsumexp

    below = np.linspace(0, max(_REACH, z + _REACH), _GRID)
    points = z - below
    logs = log(2) - points**2 / 2 - log(2 * pi) / 2 + log_ndtr(shape * points)
    logs[[0, -1]] -= log(2)
    return min(float(logsumexp(logs)) + log(below[1]), 0.0)


def _perplexities(values: ArrayLike, least: int) -> Floats:
    found = np.asarray(values, np.float64)
    if found.ndim != 1 or len(found) < least or not np.isfinite(found).all():
        raise ParameterError("perplexities", "are not finite numbers in a row", f"at least {least} of them")
    return found
