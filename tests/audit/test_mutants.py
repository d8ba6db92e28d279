"""Every planted bug is rejected, and by the check that is meant for it."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from audit.mutants import MUTANTS, FloatLaplace, TextbookLaplace, TooFineGaussian
from discreet.audit import AuditFailed, Report, check_mechanism
from discreet.audit.check import CHECKS
from discreet.mechanisms import Gaussian
from discreet.noise import current, sample_laplace
from discreet.privacy.guarantees import PureDP, ZeroConcentratedDP
from significance import FALSE_ALARM

# Fast generators afford more draws; the textbook's sampler is slow, and gives itself away soon.
DRAWS = {FloatLaplace: 200_000, TooFineGaussian: 200_000, TextbookLaplace: 20_000}


@cache
def report_on(mechanism: object) -> Report:
    draws = DRAWS.get(type(mechanism), 60_000)
    runs = 2_000 if isinstance(mechanism, TextbookLaplace) else 20_000
    return check_mechanism(mechanism, draws=draws, most_runs=runs, false_alarm=FALSE_ALARM, checks=CHECKS)


@pytest.mark.few(0, slow=100)
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("mechanism", "check"), MUTANTS, ids=[f"{type(mutant).__name__}-{check}" for mutant, check in MUTANTS]
)
def test_mutant_is_rejected_by_its_check(mechanism, check):
    report = report_on(next(mutant for mutant, _ in MUTANTS if type(mutant) is type(mechanism)))
    assert report.finding(check).verdict == "failed", str(report)
    with pytest.raises(AuditFailed):
        report.raise_if_failed()


class Tells:
    """Right noise, and a channel beside it that tells the input."""

    guarantee = PureDP(epsilon=1)

    def __init__(self, channel):
        self.channel = channel

    def release(self, value):
        noisy = value + int(sample_laplace(Fraction(1), 1, current())[0])
        return self.channel(noisy, value)

    def neighboring_inputs(self):
        return ((0, 1),)


def refuse(noisy, value):
    if noisy > 0:
        raise ValueError(f"{value} is too large")
    return noisy


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "channel",
    [
        lambda noisy, value: np.array([noisy], np.int32 if value else np.int64),
        lambda noisy, value: np.array([noisy, value])[:1],
        refuse,
    ],
    ids=["width", "view", "message"],
)
def test_a_channel_beside_the_noise_is_rejected(channel):
    assert not check_mechanism(Tells(channel), draws=20_000).passed


def test_a_mechanism_that_never_releases_says_why():
    def always(noisy, value):
        raise ValueError("no file")

    with pytest.raises(ValueError, match="no file"):
        check_mechanism(Tells(always), draws=20_000)


def test_noise_for_one_step_at_sensitivity_ten_is_rejected():
    """The neighbors that a mechanism names must lie its whole sensitivity apart."""
    mechanism = Gaussian(sensitivity=10, sigma=1)
    assert not check_mechanism(mechanism, claim=ZeroConcentratedDP(rho=Fraction(1, 2)), draws=20_000).passed
