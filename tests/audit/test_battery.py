"""Every shipped mechanism passes the battery, and where its law can be enumerated, it is."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet import mechanisms
from discreet.audit import check_mechanism
from discreet.mechanisms import (
    AboveThreshold,
    BoundedRelease,
    CountedKeys,
    DistanceToInstability,
    Exponential,
    Gaussian,
    GaussianThreshold,
    Laplace,
    LaplaceThreshold,
    NearbyOutput,
    PermuteAndFlip,
    PrivateLocalSensitivity,
    ProposeTestRelease,
    RandomizedResponse,
    ReportNoisyMax,
    SmoothSensitivity,
    StableArgmax,
    StableTopK,
    TestedRelease,
    TopK,
    TruncatedGeometric,
    UnaryEncoding,
    VectorSmoothSensitivity,
)
from discreet.mechanisms.admissible import ArcsinhNormal, Student
from discreet.mechanisms.keys.counted_keys import Reach
from discreet.mechanisms.selection.nearby_output import MetricSpace
from effort import sizes
from mechanisms.instability_oracle import Joined

LINE = MetricSpace(outputs=[0, 2], distance=lambda one, other: abs(one - other))

ENUMERATED = [
    Laplace(sensitivity=1, epsilon=Fraction(1, 2)),
    Laplace(sensitivity=3, epsilon=1),
    Laplace(sensitivity=2, epsilon=3, size=2),
    Gaussian(sensitivity=1, rho=Fraction(1, 8)),
    Gaussian(sensitivity=1, epsilon=1, delta=1e-3),
    Gaussian(sensitivity=2, epsilon=2, delta=1e-3, size=1),
    Gaussian(sensitivity=2, epsilon=3, delta=1e-2, size=2),
    Gaussian(sensitivity=1, mu=Fraction(1, 2)),
    Gaussian.classical(sensitivity=1, epsilon=1, delta=1e-2),
    Exponential(sensitivity=1, epsilon=1),
    Exponential(sensitivity=1, epsilon=1, monotone=True),
    PermuteAndFlip(sensitivity=1, epsilon=1),
    PermuteAndFlip(sensitivity=2, epsilon=1, monotone=True),
    ReportNoisyMax(sensitivity=1, epsilon=2),
    ReportNoisyMax(sensitivity=1, epsilon=2, monotone=True),
    TopK(k=2, sensitivity=1, epsilon=1),
    TruncatedGeometric(epsilon=1, delta=0.05),
    TruncatedGeometric(epsilon=1, delta=0.05, keys=2),
    LaplaceThreshold(epsilon=1, delta=0.05),
    LaplaceThreshold(rho=2, delta=0.05, keys=2),
    GaussianThreshold(epsilon=2, delta=0.05),
    GaussianThreshold(rho=0.5, delta=0.05, keys=2),
    GaussianThreshold(epsilon=2, delta=0.05, keys=2),
    CountedKeys.best(epsilon=1, delta=0.05, reach=Reach(keys=2, rows=2, total=2)),
    AboveThreshold(threshold=2, sensitivity=1, epsilon=4),
    RandomizedResponse.two_coins(),
    RandomizedResponse(categories=5, epsilon=1),
    UnaryEncoding(size=3, epsilon=1),
    UnaryEncoding.symmetric(3, 1),
    SmoothSensitivity(noise=ArcsinhNormal(spread=0.5), rho=0.5, decay=0.1, lower=0, upper=16, grid=1),
    VectorSmoothSensitivity(
        noise=ArcsinhNormal(spread=0.5), size=2, rho=0.5, decay=0.1, lower=0, upper=1, grid=1
    ),
    Joined(DistanceToInstability(epsilon=1, delta=0.05)),
    Joined(DistanceToInstability(epsilon=1, delta=0.05).with_laplace_noise()),
    Joined(ProposeTestRelease(sensitivity=2, epsilon=4, delta=0.05)),
    Joined(PrivateLocalSensitivity(change=1, global_sensitivity=3, epsilon=4, delta=0.05)),
    NearbyOutput(space=LINE, reach=1, epsilon=1),
    Joined(TestedRelease(mechanism=NearbyOutput(space=LINE, reach=2, epsilon=1), epsilon=1, delta=0.05)),
    Joined(
        BoundedRelease(
            family=lambda bound: NearbyOutput(space=LINE, reach=bound, epsilon=2),
            change=1,
            global_sensitivity=2,
            epsilon=4,
            delta=0.05,
        )
    ),
    StableArgmax(sensitivity=1, epsilon=1, delta=0.05, monotone=True),
    StableTopK(k=2, sensitivity=1, epsilon=1, delta=0.05),
]

SAMPLED = [
    Laplace(sensitivity=0.3, epsilon=1),
    Laplace(sensitivity=1, epsilon=Fraction(1, 10**6)),
    Gaussian(sensitivity=0.3, epsilon=1, delta=1e-5, size=2),
    Exponential(sensitivity=0.3, epsilon=1),
    PermuteAndFlip(sensitivity=0.3, epsilon=1),
    ReportNoisyMax(sensitivity=0.3, epsilon=2),
    TopK(k=2, sensitivity=0.3, epsilon=1),
    AboveThreshold(threshold=2.5, sensitivity=0.5, epsilon=4),
    Gaussian(sensitivity=0.3, epsilon=1, delta=1e-5),
]

DRAWS = sizes(5_000, exhaustive=100_000)

HEAVY_TAILED = SmoothSensitivity(noise=Student(degrees=3), epsilon=1, decay=0.1, lower=0, upper=16, grid=1)


@pytest.mark.few(0, slow=100)
@pytest.mark.statistical
@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("mechanism", [*ENUMERATED, HEAVY_TAILED], ids=repr)
def test_the_law_of_the_code_keeps_the_promise(mechanism, draws):
    report = check_mechanism(mechanism, draws=draws, false_alarm=1e-9 * 5)
    assert report.passed, str(report)
    verdicts = {finding.name: finding.verdict for finding in report.findings}
    assert verdicts["enumeration"] == "passed", str(report)


@pytest.mark.few(0, slow=100)
@pytest.mark.statistical
@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("mechanism", SAMPLED, ids=repr)
def test_samples_do_not_contradict_the_promise(mechanism, draws):
    report = check_mechanism(mechanism, draws=draws, false_alarm=1e-9 * 5)
    assert report.passed, str(report)


def test_no_mechanism_is_left_out():
    tried = {type(getattr(one, "mechanism", one)) for one in ENUMERATED}
    assert tried == {one for name in mechanisms.__all__ if isinstance(one := getattr(mechanisms, name), type)}
