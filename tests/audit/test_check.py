from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from audit.right import RIGHT, IntegerLaplace
from discreet.audit import Report, check_mechanism
from discreet.errors import ParameterError
from discreet.privacy.guarantees import ApproximateDP, PureDP, ZeroConcentratedDP
from significance import FALSE_ALARM

NAMES = ["enumeration", "best event", "fit", "precision", "timing", "clones"]


@pytest.mark.few(3)
@pytest.mark.statistical
@pytest.mark.parametrize("mechanism", RIGHT, ids=lambda mechanism: type(mechanism).__name__)
def test_right_mechanisms_pass(mechanism):
    report = check_mechanism(mechanism, draws=60_000, most_runs=20_000, false_alarm=FALSE_ALARM)
    report.raise_if_failed()
    assert [finding.name for finding in report.findings] == NAMES
    assert report.false_alarm <= FALSE_ALARM


@pytest.mark.statistical
def test_a_mechanism_of_someone_else_needs_only_a_release():
    class Foreign:
        def release(self, value):
            return bool(value) ^ (random.SystemRandom().random() < 0.25)

    report = check_mechanism(Foreign(), claim=PureDP(epsilon="1.0987"), inputs=[(True, False)], draws=30_000)
    assert report.passed
    assert report.finding("enumeration").verdict == "skipped"
    assert report.finding("best event").verdict == "passed"
    assert not check_mechanism(
        Foreign(), claim=PureDP(epsilon="0.7"), inputs=[(True, False)], draws=60_000
    ).passed


@pytest.mark.statistical
def test_the_claim_can_be_any_that_holds():
    mechanism = IntegerLaplace()
    for claim, passes in (
        (PureDP(epsilon=1), True),
        (PureDP(epsilon="0.999"), False),
        (ApproximateDP(epsilon="0.5", delta="0.29"), True),
        (ApproximateDP(epsilon="0.5", delta="0.28"), False),
        (ZeroConcentratedDP(rho=Fraction(1, 2)), True),
        (ZeroConcentratedDP(rho=Fraction(1, 10)), False),
    ):
        assert check_mechanism(mechanism, claim, draws=2000).passed is passes, claim


@pytest.mark.statistical
def test_inputs_replace_those_of_the_mechanism():
    report = check_mechanism(IntegerLaplace(), inputs=iter([(0, 1), (5, 7)]), draws=2000)
    assert report.finding("enumeration").verdict == "failed"
    assert "4 orders" in report.finding("enumeration").detail


@pytest.mark.statistical
def test_rates_never_exceed_what_was_asked():
    for rate in (1e-9, 1e-6, 1e-2):
        assert check_mechanism(IntegerLaplace(), draws=1000, false_alarm=rate).false_alarm <= rate


@pytest.mark.statistical
def test_one_pair_that_cannot_be_enumerated_does_not_hide_another():
    class Partly(IntegerLaplace):
        def release(self, value):
            return random.random() if np.ndim(value) == 0 and value < 0 else super().release(value)

    finding = check_mechanism(Partly(), inputs=[(-1, 0), (0, 2)], draws=1000).finding("enumeration")
    assert finding.verdict == "failed"


def test_a_constant_is_private():
    class Constant:
        def release(self, value):
            return 0

    report = check_mechanism(Constant(), PureDP(epsilon=0), [(0, 1)], draws=1000)
    assert isinstance(report, Report)
    assert report.passed
    assert report.finding("enumeration").verdict == "skipped"


def test_a_release_that_always_raises_says_so():
    class Broken:
        def release(self, value):
            raise RuntimeError("out of order")

    with pytest.raises(RuntimeError, match="out of order"):
        check_mechanism(Broken(), PureDP(epsilon=1), [((0,), (1,))])


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"mechanism": object()}, "mechanism"),
        ({"claim": 1.0}, "claim"),
        ({"inputs": []}, "inputs"),
        ({"inputs": [(1, 2, 3)]}, "inputs"),
        ({"draws": 10}, "draws"),
        ({"draws": 1e6}, "draws"),
        ({"most_runs": 0}, "most_runs"),
        ({"false_alarm": 0.0}, "false_alarm"),
        ({"false_alarm": float("nan")}, "false_alarm"),
    ],
)
def test_bad_parameters_are_named(change, name):
    with pytest.raises(ParameterError) as caught:
        check_mechanism(**{"mechanism": IntegerLaplace(), **change})
    assert caught.value.parameter == name


def test_unknown_inputs_and_claims_are_named():
    class Bare:
        def release(self, value):
            return value

    with pytest.raises(ParameterError, match="claim"):
        check_mechanism(Bare())
    with pytest.raises(ParameterError, match="inputs"):
        check_mechanism(Bare(), PureDP(epsilon=1))


class Prototype:
    """The right law, from a generator of its own: a copy of it repeats its noise."""

    def __init__(self):
        self._generator = np.random.default_rng()

    def release(self, value):
        first, second = self._generator.geometric(1 - np.exp(-1.0), 2)
        return int(value + first - second)


class HalfNoise(Prototype):
    """Half the noise, from a generator of its own."""

    def release(self, value):
        first, second = self._generator.geometric(1 - np.exp(-2.0), 2)
        return int(value + first - second)


class SameSeed(Prototype):
    """Seeded again for every few releases: it repeats itself."""

    def release(self, value):
        self.turn = (getattr(self, "turn", 0) + 1) % 4
        return int(value + np.random.default_rng(self.turn).integers(-3, 4))


class TakesItsTime(Prototype):
    """The right law, in a time that follows it."""

    def release(self, value):
        first, second = self._generator.geometric(1 - np.exp(-1.0), 2)
        for _ in range(200 * abs(int(first - second))):
            pass
        return int(value + first - second)


def test_a_prototype_does_not_fail_for_its_generator_alone():
    whole = check_mechanism(Prototype(), PureDP(epsilon=1), [(0, 1)], draws=20_000)
    assert whole.passed
    assert whole.finding("best event").verdict == "passed"
    assert whole.finding("clones").verdict == "skipped"
    assert "repeated by deepcopy, pickle, fork" in whole.finding("clones").detail
    assert "not checked: it draws from a generator of its own" in str(whole)
    assert "before it serves" in str(whole)


def test_the_time_of_a_prototype_is_told_and_judged_on_request():
    slow = check_mechanism(TakesItsTime(), PureDP(epsilon=1), [(0, 1)], draws=20_000)
    assert slow.passed
    assert "rank correlation" in slow.finding("timing").detail
    assert slow.finding("timing").verdict == "skipped"
    every = ["best event", "timing", "clones"]
    judged = check_mechanism(TakesItsTime(), PureDP(epsilon=1), [(0, 1)], draws=20_000, checks=every)
    assert [judged.finding(name).verdict for name in every] == ["passed", "failed", "failed"]


def test_a_prototype_fails_for_its_law_and_for_repeating_itself():
    half = check_mechanism(HalfNoise(), PureDP(epsilon=1), [(0, 1)], draws=60_000)
    assert half.finding("best event").verdict == "failed"
    same = check_mechanism(SameSeed(), PureDP(epsilon=3), [(0, 0)], draws=20_000)
    assert same.finding("clones").verdict == "failed"
    assert "the mechanism itself" in same.finding("clones").detail


def test_checks_are_chosen():
    claim = PureDP(epsilon=1)
    chosen = check_mechanism(Prototype(), claim, [(0, 1)], draws=20_000, checks=["precision", "best event"])
    assert [finding.name for finding in chosen.findings] == ["best event", "precision"]
    assert chosen.passed
    assert "not asked for: enumeration, fit, timing, clones" in str(chosen)


@pytest.mark.parametrize("checks", [[], ["clones"], ["best event", "luck"], "fit"])
def test_checks_are_known_and_one_compares_neighbors(checks):
    with pytest.raises(ParameterError, match=r"^checks "):
        check_mechanism(Prototype(), PureDP(epsilon=1), [(0, 1)], checks=checks)
