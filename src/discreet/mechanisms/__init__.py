"""Mechanisms: each one knows what it costs, how wrong it will be, and how to draw.

`event` is the record of the law that is drawn, `guarantee` what that promises, `error` how
wrong the result will be, and `release` draws. Mechanisms are values: they hold public
parameters and no randomness. Additive: `Laplace`, `Gaussian`. Selection: `Exponential`,
`PermuteAndFlip`, `ReportNoisyMax`, `TopK`, `AboveThreshold`. Keys that are known from the data alone:
`TruncatedGeometric`, `LaplaceThreshold`, `GaussianThreshold`, or `key_selection.KeySelection.best` of them.
Local, on the side of the person who answers: `RandomizedResponse`, `UnaryEncoding`.
Adapted to the data: `DistanceToInstability`, `ProposeTestRelease`, `PrivateLocalSensitivity`, `StableArgmax`,
`StableTopK`, which may say `NO_ANSWER`; and `SmoothSensitivity`, with the noises of `admissible`.
"""

from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.distance_to_instability import DistanceToInstability
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.gaussian_threshold import GaussianThreshold
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.laplace_threshold import LaplaceThreshold
from discreet.mechanisms.noisy_max import ReportNoisyMax
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.private_local_sensitivity import PrivateLocalSensitivity
from discreet.mechanisms.propose_test_release import ProposeTestRelease
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.refusal import NO_ANSWER
from discreet.mechanisms.smooth_sensitivity import SmoothSensitivity
from discreet.mechanisms.stable_selection import StableArgmax, StableTopK
from discreet.mechanisms.top_k import TopK
from discreet.mechanisms.truncated_geometric import TruncatedGeometric
from discreet.mechanisms.unary_encoding import UnaryEncoding

__all__ = [
    "NO_ANSWER",
    "AboveThreshold",
    "DistanceToInstability",
    "Exponential",
    "Gaussian",
    "GaussianThreshold",
    "Laplace",
    "LaplaceThreshold",
    "PermuteAndFlip",
    "PrivateLocalSensitivity",
    "ProposeTestRelease",
    "RandomizedResponse",
    "ReportNoisyMax",
    "SmoothSensitivity",
    "StableArgmax",
    "StableTopK",
    "TopK",
    "TruncatedGeometric",
    "UnaryEncoding",
]
