"""A tested release of a set: the law of the code on all small tables, and tests that would break it."""

from __future__ import annotations

import copy
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace, NearbyOutput, ProposeTestRelease, TestedRelease
from discreet.mechanisms.adaptive.distance_to_instability import DistanceToInstability
from discreet.mechanisms.adaptive.no_answer import NO_ANSWER
from discreet.mechanisms.selection.nearby_output import MetricSpace
from discreet.privacy.events import Approximate, PermuteAndFlip
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW
from discreet.stability import distance_to_sensitive, majorities
from mechanisms.instability_oracle import add_or_remove, worst

PERSONS = list(product((0, 1), repeat=2))
GRAPH, FEW = add_or_remove(PERSONS, 5), add_or_remove(PERSONS, 2)
# Between the ends of a line the promise is attained; among all subsets half of it would be.
SPACE = MetricSpace(outputs=[(), (0, 1)], distance=lambda one, other: len({*one} ^ {*other}))
OFFER = {"epsilon": 1, "delta": Fraction(1, 100)}


def proposed(reach=1, epsilon=1, **others):
    return TestedRelease(
        mechanism=NearbyOutput(space=SPACE, reach=reach, epsilon=epsilon), **{**OFFER, **others}
    )


def inputs(data, *, bound=1, farther=0):
    chosen, profile = majorities(np.array(data).reshape(-1, 2))
    return chosen, min(distance_to_sensitive(profile, bound) + farther, 2**40)


def with_test(mechanism, test):
    mutant = copy.copy(mechanism)
    object.__setattr__(mutant, "test", test)
    return mutant


def test_the_law_of_the_code_keeps_the_promise_on_all_tables():
    assert {0, 1, 2} <= {inputs(data)[1] for data in GRAPH}
    found = worst(proposed(), GRAPH, inputs)
    assert not found.violated, found.detail
    assert found.tightness > 0.05


def test_a_bound_that_is_not_tested_breaks_the_promise():
    mechanism = proposed(delta=Fraction(1, 10**4))
    always = DistanceToInstability(epsilon=1, delta=Fraction(999, 1000))
    assert worst(with_test(mechanism, always), GRAPH, inputs, mechanism.guarantee).violated


def test_a_distance_to_the_wrong_side_of_the_bound_breaks_the_promise():
    mechanism = TestedRelease(
        mechanism=NearbyOutput(space=SPACE, reach=1, epsilon=3), epsilon="0.1", delta=Fraction(1, 10**4)
    )
    assert not worst(mechanism, FEW, inputs).violated
    assert worst(mechanism, FEW, lambda data: inputs(data, farther=9)).violated


def test_a_mechanism_for_half_the_bound_breaks_the_promise():
    def far(data):
        return inputs(data)[0], 2**40

    wide, narrow = (
        TestedRelease(
            mechanism=NearbyOutput(space=SPACE, reach=reach, epsilon=3), epsilon="0.1", delta="0.01"
        )
        for reach in (2, 1)
    )
    assert not worst(wide, GRAPH, far).violated
    assert worst(narrow, GRAPH, far, wide.guarantee).violated


def test_test_and_mechanism_add_up():
    mechanism = proposed(epsilon=2)
    assert mechanism.event == Approximate(**OFFER) + PermuteAndFlip(epsilon=2)
    assert mechanism.guarantee == ApproximateDP(epsilon=3, delta=OFFER["delta"])
    both = TestedRelease(
        mechanism=Gaussian(sensitivity=1.0, epsilon=1, delta="1e-6", size=2, neighbors=REPLACE_ROW),
        epsilon=1,
        delta="1e-6",
    )
    assert both.guarantee == ApproximateDP(epsilon=2, delta="2e-6", neighbors=REPLACE_ROW)
    assert both.neighbors == REPLACE_ROW


def test_one_number_with_laplace_noise_is_propose_test_release():
    plain = ProposeTestRelease(sensitivity=2, epsilon=2, delta="1e-6")
    mechanism = TestedRelease(mechanism=Laplace(sensitivity=2, epsilon=1, size=1), epsilon=1, delta="1e-6")
    assert mechanism.event == plain.event
    assert mechanism.guarantee == plain.guarantee
    for distance in (0, 7, 13, 30):
        assert mechanism.error_at(distance=distance) == plain.error_at(distance=distance)
    assert mechanism.distance_for(0.95) == plain.distance_for(0.95)


def test_far_from_the_bound_there_is_an_answer_and_at_it_hardly_ever():
    mechanism = proposed(epsilon=1000, delta=Fraction(1, 10**9))
    assert mechanism.release((), 2**40) == ()
    assert mechanism.release((), 0) is NO_ANSWER
    assert mechanism.error_at(distance=0) > 0.999


def test_an_error_comes_with_and_without_an_answer():
    """The release is drawn first, so what is refused does not depend on the coin."""
    mechanism = TestedRelease(mechanism=Laplace(sensitivity=1, epsilon=1, size=1), **OFFER)
    for distance in (0, 2**40):
        with pytest.raises(ParameterError):
            mechanism.release("text", distance)
        with pytest.raises(ParameterError):
            mechanism.release(3, float(distance))


def test_other_mechanisms_are_refused():
    for wrong in (Gaussian(sensitivity=1, rho=1), SPACE, None):
        with pytest.raises(ParameterError, match="mechanism"):
            TestedRelease(mechanism=wrong, **OFFER)
    assert proposed().neighbors == ADD_REMOVE_PERSON


def test_its_figure_shows_the_test():
    mechanism = proposed()
    axes = mechanism.plot(label="a set")
    heights = {float(x): float(y) for line in axes.lines for x, y in line.get_xydata()}
    for distance in (0, 3, mechanism.distance_for(0.999)):
        assert heights[distance] == pytest.approx(1 - mechanism.error_at(distance=distance))


def test_neighboring_inputs_are_a_step_apart_around_an_even_chance():
    mechanism = proposed()
    half = mechanism.distance_for(0.5)
    pairs = mechanism.neighboring_inputs()
    assert {(near, far) for (_, near), (_, far) in pairs} == {(0, 1), (half - 1, half), (half, half - 1)}
    assert {(here, there) for (here, _), (there, _) in pairs} == set(mechanism.mechanism.neighboring_inputs())
