"""Vectors with smooth sensitivity: all neighboring pairs of small data sets, the exact law on the grid."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import numpy as np
import pytest
from scipy import stats

from discreet.audit.enumeration import output_law
from discreet.errors import ParameterError
from discreet.mechanisms import VectorSmoothSensitivity
from discreet.mechanisms.admissible import (
    ArcsinhNormal,
    LaplaceLogNormal,
    LaplaceNoise,
    Student,
    UniformLogNormal,
)
from discreet.noise import is_private, replay
from discreet.privacy.events import Approximate, Pure, ZeroConcentrated
from discreet.privacy.guarantees import ApproximateDP, PureDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW
from discreet.stability import Profile, VectorProfile, maximum, median
from discreet.stability.enumeration import multisets, neighbors_of

DOMAIN = range(4)
CASES = {
    "student": (Student(degrees=3), {"epsilon": 2, "decay": "0.1"}),
    "laplace": (LaplaceNoise(), {"epsilon": 1, "delta": "0.01", "decay": "0.05"}),
    "arcsinh-normal": (ArcsinhNormal(spread="0.3"), {"rho": "0.5", "decay": "0.1"}),
    "laplace-log-normal": (LaplaceLogNormal(spread="0.3"), {"rho": "0.5", "decay": "0.1"}),
    "uniform-log-normal": (UniformLogNormal(spread="0.6"), {"rho": "0.5", "decay": "0.2"}),
}


def built(case, relation=ADD_REMOVE_PERSON, **others):
    noise, budget = CASES[case]
    options = {"size": 2, "lower": -12, "upper": 15, "grid": 1, **budget, **others}
    return VectorSmoothSensitivity(noise=noise, neighbors=relation, **options)


def profile_of(data, relation, norm):
    values = np.array(data, np.int64)
    parts = [f(values, lower=0, upper=3, relation=relation) for f in (median, maximum)]
    return VectorProfile.together(parts, norm=norm)


def law_of(mechanism, profile):
    """The joint law of both coordinates, from the tails of the noise in floats."""
    scale = float(profile.smooth(mechanism.decay) / (mechanism.shift * mechanism.grid))
    noise, laws = mechanism.law.noise, []
    for value in profile.values:
        ends = (np.arange(mechanism.least, mechanism.most) + 0.5 - float(value / mechanism.grid)) / scale
        beyond = np.array([noise.tail(abs(z)) / 2 for z in ends])
        below = np.concatenate([[0.0], np.where(ends > 0, 1 - beyond, beyond), [1.0]])
        laws.append(np.diff(below))
    return np.outer(*laws).ravel()


def excess(p, q, guarantee) -> float:
    """What is found over what is claimed."""
    if isinstance(guarantee, PureDP):
        return float(np.log(p / q).max()) / float(guarantee.epsilon)
    if isinstance(guarantee, ApproximateDP):
        return float(np.maximum(p - exp(guarantee.epsilon) * q, 0).sum()) / float(guarantee.delta)
    orders = (1.01, 1.5, 2, 4, 8, 16, 32)
    log_p, log_q = np.log(p), np.log(q)
    return max(
        float(np.logaddexp.reduce(a * log_p + (1 - a) * log_q)) / (a - 1) / a / float(guarantee.rho)
        for a in orders
    )


def worst_pair(mechanism, relation) -> float:
    sets = list(multisets(DOMAIN, [3] if relation == REPLACE_ROW else range(4)))
    laws = {data: law_of(mechanism, profile_of(data, relation, mechanism.law.norm)) for data in sets}
    around = neighbors_of(DOMAIN, relation=relation)
    return max(
        excess(laws[data], laws[other], mechanism.guarantee)
        for data in sets
        for other in around(data)
        if other in laws
    )


def with_shift(mechanism, factor):
    """The mutant: the same claim with less noise."""
    mutant = object.__new__(VectorSmoothSensitivity)
    for name in VectorSmoothSensitivity.__slots__:
        object.__setattr__(mutant, name, getattr(mechanism, name))
    object.__setattr__(mutant, "shift", factor * mechanism.shift)
    return mutant


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("relation", [ADD_REMOVE_PERSON, REPLACE_ROW], ids=str)
def test_all_neighbors_stay_within_the_claim_and_a_third_of_the_noise_does_not(case, relation):
    mechanism = built(case, relation)
    assert worst_pair(mechanism, relation) <= 1 + 1e-9
    assert worst_pair(with_shift(mechanism, 3), relation) > 1


@pytest.mark.parametrize("case", ["student", "arcsinh-normal"])
def test_the_law_of_the_code_is_the_product_of_the_laws_of_coordinates(case):
    mechanism = built(case, lower=0, upper=3)
    profile = profile_of((0, 1, 3), ADD_REMOVE_PERSON, mechanism.law.norm)
    law = output_law(lambda held: str(mechanism.release(held).tolist()), profile)
    assert float(law.unresolved) < 1e-12
    expected = law_of(mechanism, profile).reshape(4, 4)
    assert len(law.masses) == 16
    for key, mass in law.masses.items():
        a, b = (int(digit) for digit in str(key) if digit.isdigit())
        assert float(mass) == pytest.approx(expected[a, b], abs=1e-9)


@pytest.mark.statistical
def test_coordinates_are_drawn_independently_on_one_scale():
    mechanism = built("student", lower=-1000, upper=1000, grid=Fraction(1, 1024))
    profile = VectorProfile.of(values=[3, 3], local=[1.0], norm="l2", relation=ADD_REMOVE_PERSON)
    drawn = np.array([mechanism.release(profile) for _ in range(300)])
    scale = float(profile.smooth(mechanism.decay) / mechanism.shift)
    for column in drawn.T:
        assert stats.kstest((column - 3) / scale, stats.t(3).cdf).pvalue > 1e-9
    assert stats.kendalltau(*drawn.T).pvalue > 1e-9


def test_a_constant_vector_is_released_as_it_is():
    mechanism = built("student")
    profile = VectorProfile.of(values=[2, 40], local=[0, 0], norm="l2", relation=ADD_REMOVE_PERSON)
    assert mechanism.release(profile).tolist() == [2, 15]


def test_events_and_guarantees():
    assert built("student").event == Pure(epsilon=2)
    assert built("laplace").event == Approximate(epsilon=1, delta="0.01")
    assert built("arcsinh-normal", REPLACE_ROW).event == ZeroConcentrated(rho="0.5", neighbors=REPLACE_ROW)
    assert built("student").law.norm == "l2"
    assert built("laplace").law.norm == "l1"


def test_profiles_of_another_kind_are_refused():
    mechanism = built("student")
    options = {"values": [1, 2], "local": [1], "norm": "l2", "relation": ADD_REMOVE_PERSON}
    mechanism.release(VectorProfile.of(**options))
    for wrong in ({"values": [1]}, {"norm": "l1"}, {"relation": REPLACE_ROW}):
        with pytest.raises(ParameterError, match="profile"):
            mechanism.release(VectorProfile.of(**{**options, **wrong}))
    with pytest.raises(ParameterError, match="profile"):
        mechanism.release(median([1, 2], lower=0, upper=3))


@pytest.mark.parametrize("case", CASES)
def test_the_dilation_that_is_charged_includes_the_rounding_of_the_smooth_sensitivity(case):
    mechanism, (_, budget) = built(case), CASES[case]
    charged = {name: value for name, value in budget.items() if name != "decay"}
    dilation = Fraction(budget["decay"]) + Profile.SLACK
    assert mechanism.shift == mechanism.law.largest_shift(dilation=dilation, **charged)


def test_a_decay_that_takes_the_budget_is_refused():
    with pytest.raises(ParameterError, match="decay"):
        built("student", decay="0.5")


def test_more_coordinates_take_more_noise():
    """A dilation is paid sqrt(d) times in concentrated privacy; in pure privacy the shift is paid, too."""

    def errors(case, decay):
        mechanisms = (built(case, size=size, decay=decay) for size in (1, 4, 9))
        return [mechanism.error_at(smooth_sensitivity=1).deviation for mechanism in mechanisms]

    concentrated, pure = errors("arcsinh-normal", "0.03"), errors("student", "0.01")
    assert concentrated == sorted(concentrated)
    assert concentrated[2] < 1.5 * concentrated[0]
    assert pure[1] > 1.9 * pure[0]


def test_a_replayed_vector_is_known_as_one():
    mechanism = built("student")
    profile = VectorProfile.of(values=[1, 2], local=[1], norm="l2", relation=ADD_REMOVE_PERSON)
    assert is_private(mechanism.release(profile))
    with replay(3):
        assert not is_private(mechanism.release(profile))
