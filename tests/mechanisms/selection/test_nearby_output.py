"""Outputs of a metric space: the law against the plain formula, and spaces that are none."""

from __future__ import annotations

from itertools import combinations, permutations
from math import log

import numpy as np
import pytest

from discreet.audit.enumeration import output_law
from discreet.errors import ParameterError
from discreet.mechanisms import NearbyOutput, PermuteAndFlip
from discreet.mechanisms.selection.nearby_output import MetricSpace
from discreet.noise import is_private, replay
from discreet.privacy import events
from discreet.privacy.neighbors import REPLACE_ROW

SUBSETS = [chosen for size in range(3) for chosen in combinations(range(2), size)]


def apart(one, other):
    return len({*one} ^ {*other})


SPACE = MetricSpace(outputs=SUBSETS, distance=apart)


def permute_and_flip(value, outputs, rate):
    """By all orders: the first success of coins with probabilities exp(-rate distance), the nearest at 1."""
    distances = np.array([apart(value, output) for output in outputs])
    coins = np.exp(-rate * (distances - distances.min()))
    law = np.zeros(len(outputs))
    orders = list(permutations(range(len(outputs))))
    for order in orders:
        left = 1.0
        for place in order:
            law[place] += left * coins[place] / len(orders)
            left *= 1 - coins[place]
    return law


@pytest.mark.parametrize("reach", [1, 2])
def test_the_law_of_the_code_is_that_of_the_distances(reach):
    mechanism = NearbyOutput(space=SPACE, reach=reach, epsilon=1)
    for value in SUBSETS:
        law = output_law(lambda held: SUBSETS.index(mechanism.release(held)), value)
        expected = permute_and_flip(value, SUBSETS, 1 / (2 * reach))
        assert law.unresolved < 1e-15
        found = {int(key): float(mass) for key, mass in law.masses.items()}
        assert found == pytest.approx(dict(enumerate(expected)), abs=1e-9)


def test_values_within_the_reach_keep_the_promise_and_farther_ones_do_not():
    """Outputs that lie at the ends of a line: the value between them comes up to the promise."""
    ends, values = [(), (0, 1)], SUBSETS
    laws = {value: permute_and_flip(value, ends, 1 / 2) for value in values}

    def worst(reach):
        pairs = [(a, b) for a in values for b in values if apart(a, b) <= reach]
        return max(log((laws[a] / laws[b]).max()) for a, b in pairs)

    assert worst(1) == pytest.approx(1)  # epsilon of the reach 1
    assert worst(2) > 1.4


def test_promise_and_error_are_those_of_permute_and_flip():
    mechanism = NearbyOutput(space=SPACE, reach=2, epsilon=3, neighbors=REPLACE_ROW)
    assert mechanism.event == events.PermuteAndFlip(epsilon=3, neighbors=REPLACE_ROW)
    plain = PermuteAndFlip(sensitivity=2, epsilon=3, neighbors=REPLACE_ROW)
    assert mechanism.guarantee == plain.guarantee
    assert mechanism.error.tail(1, candidates=4) == plain.error.tail(1, candidates=4)
    assert mechanism.reach == 2


def test_far_values_are_taken_as_near_ones_are():
    """The value itself need not be an output, and a distance without end is the largest one."""
    space = MetricSpace(outputs=[0, 10], distance=lambda one, other: abs(one - other))
    mechanism = NearbyOutput(space=space, reach=1, epsilon=100)
    assert mechanism.release(3) == 0
    assert mechanism.release(9) == 10
    assert mechanism.release(10**30) in (0, 10)


@pytest.mark.parametrize(
    "distance",
    [
        lambda one, other: int(one != other) + len(one),
        lambda one, other: len({*one} - {*other}),
        lambda one, other: apart(one, other) ** 2,
        lambda one, other: float(apart(one, other)),
        lambda one, other: one == other,
        "hamming",
    ],
    ids=["from itself", "one way", "no triangle", "floats", "booleans", "text"],
)
def test_what_is_no_metric_is_refused(distance):
    with pytest.raises(ParameterError):
        MetricSpace(outputs=SUBSETS, distance=distance)


def test_parameters_out_of_range_are_refused():
    with pytest.raises(ParameterError):
        MetricSpace(outputs=[], distance=apart)
    for wrong in ({"space": SUBSETS}, {"reach": 0}, {"reach": 1.5}, {"epsilon": 0}):
        with pytest.raises(ParameterError):
            NearbyOutput(**{"space": SPACE, "reach": 1, "epsilon": 1, **wrong})


def test_a_replayed_output_is_known_as_one():
    mechanism = NearbyOutput(space=SPACE, reach=1, epsilon=1)
    assert is_private(mechanism.release((0,)))
    with replay(2):
        drawn = [mechanism.release((0, 1)) for _ in range(20)]
    assert any(not is_private(one) for one in drawn if one)


def test_neighboring_inputs_are_as_far_apart_as_the_reach_allows():
    for reach in (1, 2, 5):
        ((one, other),) = NearbyOutput(space=SPACE, reach=reach, epsilon=4).neighboring_inputs()
        assert apart(one, other) == min(reach, 2)


def test_a_space_of_one_output_says_nothing():
    space = MetricSpace(outputs=[(0,)], distance=apart)
    assert NearbyOutput(space=space, reach=1, epsilon=1).release((1,)) == (0,)
