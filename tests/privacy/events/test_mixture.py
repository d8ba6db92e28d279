from __future__ import annotations

import json
from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.privacy import events
from discreet.privacy.events.event import Event
from discreet.privacy.neighbors import ADD_REMOVE_ROW, REPLACE_PERSON

EVENT = events.MixtureOfGaussians(standard_deviation=2, contributions=[(1, "1/10"), (3, "1/100")])


def test_it_is_stored_as_one_text():
    text = (
        '{"contributions":[["1","1/10"],["3","1/100"]],"event":"MixtureOfGaussians",'
        '"neighbors":"add-remove person","standard_deviation":"2"}'
    )
    assert EVENT.to_json() == text
    assert Event.from_json(text) == EVENT
    assert Event.from_json(json.dumps(json.loads(text), indent=2)) == EVENT


def test_contributions_are_kept_in_one_form():
    same = events.MixtureOfGaussians(
        standard_deviation="2",
        contributions=((3, 0.01), (1, "1/20"), (0, 0.5), (Fraction(1), 0.05), (7, 0)),
    )
    assert same == EVENT
    assert hash(same) == hash(EVENT)
    assert same.contributions == ((1, Fraction(1, 10)), (3, Fraction(1, 100)))
    assert EVENT.nothing == Fraction(89, 100)


def test_it_reads_like_the_call():
    assert repr(EVENT) == "MixtureOfGaussians(standard_deviation=2, contributions=((1, 0.1), (3, 0.01)))"
    other = events.MixtureOfGaussians(standard_deviation=1, contributions=[(1, 1)], neighbors=ADD_REMOVE_ROW)
    text = "MixtureOfGaussians(standard_deviation=1, contributions=((1, 1),), neighbors=ADD_REMOVE_ROW)"
    assert repr(other) == text


def test_costs_follow_from_the_largest_contribution():
    assert EVENT.pure_epsilon is None
    assert EVENT.concentrated_rho == Fraction(9, 8)
    assert EVENT.sampled == events.PoissonSampled(
        events.Gaussian(noise_multiplier="2/3"), rate=Fraction(11, 100)
    )
    assert EVENT.sampled.concentrated_rho == EVENT.concentrated_rho


def test_a_group_is_charged_for_its_square():
    group = events.group(EVENT, 3)
    assert group == events.Grouped(EVENT, size=3)
    assert group.concentrated_rho == 9 * EVENT.concentrated_rho
    assert group.neighbors == EVENT.neighbors.group(3)


def test_it_composes():
    assert EVENT + EVENT == EVENT * 2
    assert (EVENT * 2).concentrated_rho == Fraction(9, 4)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"standard_deviation": 0}, "standard_deviation"),
        ({"standard_deviation": float("nan")}, "standard_deviation"),
        ({"contributions": []}, "contributions"),
        ({"contributions": 3}, "contributions"),
        ({"contributions": [(1, 0.5, 2)]}, "contributions"),
        ({"contributions": [(0, 1)]}, "contributions"),
        ({"contributions": [(1, 0)]}, "contributions"),
        ({"contributions": [(1, 0.6), (2, 0.5)]}, "contributions"),
        ({"contributions": [(-1, 0.5)]}, "norm"),
        ({"contributions": [(1, -0.5), (2, 0.5)]}, "probability"),
        ({"neighbors": REPLACE_PERSON}, "neighbors"),
        ({"neighbors": EVENT.neighbors.group(2)}, "neighbors"),
        ({"neighbors": "add-remove person"}, "neighbors"),
    ],
)
def test_bad_parameters_are_refused(changes, name):
    values = {"standard_deviation": 1, "contributions": [(1, 0.5)], **changes}
    with pytest.raises(ParameterError, match=name):
        events.MixtureOfGaussians(**values)


def test_it_says_what_it_takes_for_granted():
    assert "independently" in EVENT.assumption
