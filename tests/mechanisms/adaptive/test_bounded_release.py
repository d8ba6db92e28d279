"""A bound that is bought for a set: the law of the code on all small tables, and bounds that break it."""

from __future__ import annotations

import copy
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import BoundedRelease, Gaussian, Laplace, NearbyOutput, PrivateLocalSensitivity
from discreet.mechanisms.selection.nearby_output import MetricSpace
from discreet.privacy.events import Approximate
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.neighbors import REPLACE_ROW
from discreet.stability import majorities, slow_bound
from mechanisms.instability_oracle import add_or_remove, worst

PERSONS = list(product((0, 1), repeat=2))
GRAPH, FEW = add_or_remove(PERSONS, 4), add_or_remove(PERSONS, 2)
SPACE = MetricSpace(outputs=[(), (0, 1)], distance=lambda one, other: len({*one} ^ {*other}))


def bounded(epsilon=4, delta=Fraction(1, 50), share=Fraction(1, 2), **others):
    left = (1 - share) * epsilon
    return BoundedRelease(
        family=lambda bound: NearbyOutput(space=SPACE, reach=bound, epsilon=left),
        change=1,
        global_sensitivity=2,
        epsilon=epsilon,
        delta=delta,
        share=share,
        **others,
    )


class Shown:
    """What leaves, as a tuple that an audit can read."""

    def __init__(self, mechanism):
        self.mechanism = mechanism
        self.guarantee = mechanism.guarantee

    def release(self, *inputs):
        answer = self.mechanism.release(*inputs)
        return str((answer.output, int(answer.bound)))


def inputs(data):
    chosen, profile = majorities(np.array(data).reshape(-1, 2))
    return chosen, slow_bound(profile, 1)


def test_the_law_of_the_code_keeps_the_promise_on_all_tables():
    assert {inputs(data)[1] for data in GRAPH} == {0, 1, 2}
    found = worst(Shown(bounded()), GRAPH, inputs)
    assert not found.violated, found.detail
    less = ApproximateDP(epsilon="2.5", delta=Fraction(1, 50))
    assert worst(Shown(bounded()), GRAPH, inputs, less).violated


def test_a_bound_that_ignores_the_data_is_caught():
    mechanism = bounded(delta=Fraction(1, 10**4), share=Fraction(1, 10))
    assert not worst(Shown(mechanism), FEW, inputs).violated
    careless, bought = copy.copy(mechanism), copy.copy(mechanism.bought)
    object.__setattr__(bought, "margin", -400)
    object.__setattr__(careless, "bought", bought)
    assert worst(Shown(careless), FEW, inputs).violated


def test_a_local_sensitivity_that_jumps_is_caught():
    """Eight times the bound moves by eight, and the noise on it is for one."""

    def jumping(data):
        chosen, bound = inputs(data)
        return chosen, 8 * bound - 8

    assert worst(Shown(bounded(epsilon=3, delta=Fraction(1, 10**4))), FEW, jumping).violated


def test_one_number_with_laplace_noise_is_private_local_sensitivity():
    plain = PrivateLocalSensitivity(change=1, global_sensitivity=50, epsilon=2, delta="1e-6")
    mechanism = BoundedRelease(
        family=lambda bound: Laplace(sensitivity=bound, epsilon=1, size=1),
        change=1,
        global_sensitivity=50,
        epsilon=2,
        delta="1e-6",
    )
    assert mechanism.event == plain.event == Approximate(epsilon=2, delta="1e-6")
    assert mechanism.guarantee == plain.guarantee
    assert mechanism.error_at(local_sensitivity=5) == plain.error_at(local_sensitivity=5)
    answer = mechanism.release(100, 50)
    assert answer.bound == 50 or answer.bound < 50
    assert isinstance(answer.output, int)


def test_a_family_that_costs_more_is_refused():
    def build(family):
        return BoundedRelease(family=family, change=1, global_sensitivity=9, epsilon=2, delta="1e-6")

    build(lambda bound: Laplace(sensitivity=bound, epsilon=1, size=1))
    for wrong in (
        lambda bound: Laplace(sensitivity=bound, epsilon="1.01", size=1),
        lambda bound: Gaussian(sensitivity=bound, epsilon=1, delta="1e-9", size=1),
        lambda bound: Laplace(sensitivity=bound, epsilon=1, size=1, neighbors=REPLACE_ROW),
        lambda bound: bound,
        3,
    ):
        with pytest.raises(ParameterError):
            build(wrong)


def test_a_family_is_checked_at_the_bound_that_was_drawn():
    mechanism = BoundedRelease(
        family=lambda bound: Laplace(sensitivity=bound, epsilon=1 if bound in (1, 9) else 2, size=1),
        change=1,
        global_sensitivity=9,
        epsilon=2,
        delta="1e-6",
    )
    with pytest.raises(ParameterError, match="family"):
        mechanism.mechanism_for(5)


@pytest.mark.parametrize("wrong", [{"change": 0}, {"change": 1.5}, {"global_sensitivity": 0}, {"delta": 0}])
def test_parameters_out_of_range_are_refused(wrong):
    options = {"change": 1, "global_sensitivity": 9, "epsilon": 2, "delta": "1e-6", **wrong}
    with pytest.raises(ParameterError):
        BoundedRelease(family=lambda bound: Laplace(sensitivity=bound, epsilon=1, size=1), **options)


def test_neighboring_inputs_are_as_far_apart_as_the_change_allows():
    mechanism = BoundedRelease(
        family=lambda bound: Laplace(sensitivity=bound, epsilon=1, size=1),
        change=2,
        global_sensitivity=5,
        epsilon=2,
        delta="1e-6",
    )
    assert {(a, b) for (_, a), (_, b) in mechanism.neighboring_inputs()} == {(2, 4), (5, 5)}
