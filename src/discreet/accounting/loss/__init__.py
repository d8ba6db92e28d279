"""The privacy loss of every event: one file for each kind of law.

`pair_of` returns the worst pair of laws of an event, of which every other pair of neighbors tells less, in
the sense that no test on it has more power. Such pairs compose, even where a step is chosen by the
answers before it, as long as its parameters were fixed in advance. Proofs: docs/proofs/dominating_pairs.md.

============================  ==============================================================================
Event                         Pair, or why there is none
============================  ==============================================================================
Gaussian, MatrixGaussian      N(mu, 1) against N(0, 1); attained; vectors too
RoundedGaussian               the same, since a rounding tells no more; nothing is known from below
Laplace                       Laplace noise against its shift; attained; vectors too, in L1
DiscreteLaplace               the same on the grid; attained; vectors too
DiscreteGaussian              one value: against its largest shift; attained. Vectors of which no value
                              can move by two steps: one step of each; attained. Other vectors: None, since
                              no one shift is the worst; charged by rho
MixtureOfGaussians            the mixture against N(0, 1) and the reverse; attained; vectors too
RandomizedResponse,           two values; attained
UnaryEncoding
FiniteLaws                    the two laws; attained; where neighbors have no order and the laws are no
                              mirror images, the larger profile of both orders, bounded below by each
PrivacyProfile                the worst law of that profile; attained by some law
Pure, Approximate             the worst law of that epsilon and delta; attained by some law
ExponentialChoice             the largest delta of any loss of that range; bounded below by two candidates
PermuteAndFlip                the worst law of that epsilon; bounded below by two candidates
NoisyMax, AboveThreshold      the worst law of that epsilon; nothing is known from below
BestOfRuns, SparseVector      the worst law of its epsilon, None without one; nothing is known from below
BestOfPoissonRuns             None; charged by its Rényi curve
ZeroConcentrated, Renyi       None: a Rényi curve has no worst pair; charged by the curve
PoissonSampled                mixtures with the step's pair, in both directions; None if the step has none
CappedPoissonSampled          that, or with a small probability the pair of two units, side by side; bounded
                              below by the sample with no cap
ReplacedPoissonGaussian       two mixtures that face each other; attained; vectors too
SampledWithoutReplacement     the mirrored mixture; bounded below by the mixture itself
SampledWithReplacement        None; charged by its Rényi curve
Shuffled                      two answers by randomized response: the largest profile over all crowds, bounded
                              below by one of them. Else counts of clones; nothing is known from below
Composed (in a sample)        Gaussian steps are one; finite pairs multiply while they are few; else None
Parallel                      None in a sample; else the largest profile of all ways to be assigned to parts
Grouped                       None; an accountant follows the guarantee of one unit along the chain
============================  ==============================================================================

Beyond the range of floats (an epsilon above 600, a shift above 25 standard deviations) it is None as well.
Where the answer is None, accountants fall back on Rényi curves, which are upper bounds only.
"""

from discreet.accounting.loss import (
    capped_poisson,
    composed,
    discrete_gaussian,
    discrete_laplace,
    exponential,
    finite,
    gaussian,
    laplace,
    local,
    mixture,
    poisson_sampled,
    pure,
    replaced_poisson,
    shuffled,
)
from discreet.accounting.loss.pair import Pair, pair_of
from discreet.exports import publish

__all__ = [
    "Pair",
    "capped_poisson",
    "composed",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential",
    "finite",
    "gaussian",
    "laplace",
    "local",
    "mixture",
    "pair_of",
    "poisson_sampled",
    "pure",
    "replaced_poisson",
    "shuffled",
]

publish(__name__)
