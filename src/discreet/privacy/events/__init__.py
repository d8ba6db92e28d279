"""Events: frozen records of the laws that were drawn.

A mechanism describes itself by its event; an accountant reads it; a ledger stores it. None of the
three needs to know the others.
"""

from discreet.exports import publish
from discreet.privacy.events.additive import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from discreet.privacy.events.capped_poisson import CappedPoissonSampled
from discreet.privacy.events.composition import Composed, Nothing, Parallel, compose, group, post_process
from discreet.privacy.events.event import Event, stored
from discreet.privacy.events.finite import FiniteLaws, PrivacyProfile
from discreet.privacy.events.generic import Approximate, Pure, Renyi, ZeroConcentrated
from discreet.privacy.events.grouped import Grouped
from discreet.privacy.events.local import RandomizedResponse, UnaryEncoding
from discreet.privacy.events.matrix import MatrixGaussian
from discreet.privacy.events.mixture import MixtureOfGaussians
from discreet.privacy.events.repeated import BestOfPoissonRuns, BestOfRuns
from discreet.privacy.events.replaced_poisson import ReplacedPoissonGaussian
from discreet.privacy.events.rounded import RoundedGaussian
from discreet.privacy.events.sampling import (
    PoissonSampled,
    SampledWithoutReplacement,
    SampledWithReplacement,
    Shuffled,
)
from discreet.privacy.events.selection import AboveThreshold, ExponentialChoice, NoisyMax, PermuteAndFlip
from discreet.privacy.events.sparse_vector import SparseVector

__all__ = [
    "AboveThreshold",
    "Approximate",
    "BestOfPoissonRuns",
    "BestOfRuns",
    "CappedPoissonSampled",
    "Composed",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Event",
    "ExponentialChoice",
    "FiniteLaws",
    "Gaussian",
    "Grouped",
    "Laplace",
    "MatrixGaussian",
    "MixtureOfGaussians",
    "NoisyMax",
    "Nothing",
    "Parallel",
    "PermuteAndFlip",
    "PoissonSampled",
    "PrivacyProfile",
    "Pure",
    "RandomizedResponse",
    "Renyi",
    "ReplacedPoissonGaussian",
    "RoundedGaussian",
    "SampledWithReplacement",
    "SampledWithoutReplacement",
    "Shuffled",
    "SparseVector",
    "UnaryEncoding",
    "ZeroConcentrated",
    "compose",
    "group",
    "post_process",
    "stored",
]

publish(__name__)
