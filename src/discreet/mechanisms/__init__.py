"""Mechanisms: each one knows what it costs, how wrong it will be, and how to draw.

`event` is the record of the law that is drawn, `guarantee` what that promises, `error` how
wrong the result will be, and `release` draws. Mechanisms are values: they hold public
parameters and no randomness. Additive: `Laplace`, `Gaussian`. Selection: `Exponential`,
`PermuteAndFlip`, `ReportNoisyMax`, `TopK`, `AboveThreshold`; `NearbyOutput` for what is no number.
Keys that are known from the data alone:
`TruncatedGeometric`, `LaplaceThreshold`, `GaussianThreshold`, or the best of them,
`keys.key_selection.KeySelection.best`; with their counts, `CountedKeys.best`.
Local, on the side of the person who answers: `RandomizedResponse`, `UnaryEncoding`.
Adapted to the data: `DistanceToInstability`, `ProposeTestRelease`, `PrivateLocalSensitivity`, `StableArgmax`,
`StableTopK`, which may say `NO_ANSWER`; and `SmoothSensitivity` and, for vectors, `VectorSmoothSensitivity`,
with the noises of `admissible`. `TestedRelease` and `BoundedRelease` test or buy a bound for any mechanism.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exports import publish

if TYPE_CHECKING:
    from discreet.mechanisms import admissible
    from discreet.mechanisms.adaptive.bounded_release import BoundedRelease
    from discreet.mechanisms.adaptive.distance_to_instability import DistanceToInstability
    from discreet.mechanisms.adaptive.no_answer import NO_ANSWER
    from discreet.mechanisms.adaptive.private_local_sensitivity import PrivateLocalSensitivity
    from discreet.mechanisms.adaptive.propose_test_release import ProposeTestRelease
    from discreet.mechanisms.adaptive.smooth_sensitivity import SmoothSensitivity
    from discreet.mechanisms.adaptive.stable_selection import StableArgmax, StableTopK
    from discreet.mechanisms.adaptive.tested_release import TestedRelease
    from discreet.mechanisms.adaptive.vector_smooth_sensitivity import VectorSmoothSensitivity
    from discreet.mechanisms.additive.gaussian import Gaussian
    from discreet.mechanisms.additive.laplace import Laplace
    from discreet.mechanisms.keys.counted_keys import CountedKeys
    from discreet.mechanisms.keys.gaussian_threshold import GaussianThreshold
    from discreet.mechanisms.keys.laplace_threshold import LaplaceThreshold
    from discreet.mechanisms.keys.truncated_geometric import TruncatedGeometric
    from discreet.mechanisms.local.randomized_response import RandomizedResponse
    from discreet.mechanisms.local.unary_encoding import UnaryEncoding
    from discreet.mechanisms.selection.above_threshold import AboveThreshold
    from discreet.mechanisms.selection.exponential import Exponential
    from discreet.mechanisms.selection.nearby_output import NearbyOutput
    from discreet.mechanisms.selection.noisy_max import ReportNoisyMax
    from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
    from discreet.mechanisms.selection.top_k import TopK

__all__ = [
    "NO_ANSWER",
    "AboveThreshold",
    "BoundedRelease",
    "CountedKeys",
    "DistanceToInstability",
    "Exponential",
    "Gaussian",
    "GaussianThreshold",
    "Laplace",
    "LaplaceThreshold",
    "NearbyOutput",
    "PermuteAndFlip",
    "PrivateLocalSensitivity",
    "ProposeTestRelease",
    "RandomizedResponse",
    "ReportNoisyMax",
    "SmoothSensitivity",
    "StableArgmax",
    "StableTopK",
    "TestedRelease",
    "TopK",
    "TruncatedGeometric",
    "UnaryEncoding",
    "VectorSmoothSensitivity",
    "admissible",
]

_HOMES = {
    "AboveThreshold": "discreet.mechanisms.selection.above_threshold",
    "BoundedRelease": "discreet.mechanisms.adaptive.bounded_release",
    "CountedKeys": "discreet.mechanisms.keys.counted_keys",
    "DistanceToInstability": "discreet.mechanisms.adaptive.distance_to_instability",
    "Exponential": "discreet.mechanisms.selection.exponential",
    "Gaussian": "discreet.mechanisms.additive.gaussian",
    "GaussianThreshold": "discreet.mechanisms.keys.gaussian_threshold",
    "Laplace": "discreet.mechanisms.additive.laplace",
    "LaplaceThreshold": "discreet.mechanisms.keys.laplace_threshold",
    "NO_ANSWER": "discreet.mechanisms.adaptive.no_answer",
    "NearbyOutput": "discreet.mechanisms.selection.nearby_output",
    "PermuteAndFlip": "discreet.mechanisms.selection.permute_and_flip",
    "PrivateLocalSensitivity": "discreet.mechanisms.adaptive.private_local_sensitivity",
    "ProposeTestRelease": "discreet.mechanisms.adaptive.propose_test_release",
    "RandomizedResponse": "discreet.mechanisms.local.randomized_response",
    "ReportNoisyMax": "discreet.mechanisms.selection.noisy_max",
    "SmoothSensitivity": "discreet.mechanisms.adaptive.smooth_sensitivity",
    "StableArgmax": "discreet.mechanisms.adaptive.stable_selection",
    "StableTopK": "discreet.mechanisms.adaptive.stable_selection",
    "TestedRelease": "discreet.mechanisms.adaptive.tested_release",
    "TopK": "discreet.mechanisms.selection.top_k",
    "TruncatedGeometric": "discreet.mechanisms.keys.truncated_geometric",
    "UnaryEncoding": "discreet.mechanisms.local.unary_encoding",
    "VectorSmoothSensitivity": "discreet.mechanisms.adaptive.vector_smooth_sensitivity",
}

publish(__name__, homes=_HOMES)
