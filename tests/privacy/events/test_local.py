from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy import ADD_REMOVE_PERSON, REPLACE_PERSON, REPLACE_ROW, events


def response_law(event, value):
    other = (1 - event.truth) / (event.categories - 1)
    return [event.truth if y == value else other for y in range(event.categories)]


def unary_law(event, value):
    law = {}
    for bits in product((0, 1), repeat=event.size):
        chances = [event.keep if place == value else event.flip for place in range(event.size)]
        law[bits] = math.prod(c if bit else 1 - c for bit, c in zip(bits, chances, strict=True))
    return list(law.values())


def worst_ratio(law, event, values):
    laws = [law(event, value) for value in range(values)]
    return max(a / b for p, q in product(laws, repeat=2) for a, b in zip(p, q, strict=True))


def check_epsilon(epsilon, ratio):
    with mpmath.workdps(60):
        exact = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
        assert exact <= epsilon <= exact * (1 + mpmath.mpf("2e-15"))


@settings(deadline=None)
@given(st.integers(2, 6), st.fractions(0, 1).filter(lambda t: 0 < t < 1))
def test_randomized_response_loses_what_it_says(categories, share):
    truth = Fraction(1, categories) + share * (1 - Fraction(1, categories))
    event = events.RandomizedResponse(truth=truth, categories=categories)
    check_epsilon(event.epsilon, worst_ratio(response_law, event, categories))


def test_two_fair_coins_lose_log_three():
    event = events.RandomizedResponse(truth="3/4")
    check_epsilon(event.epsilon, Fraction(3))
    assert event.pure_epsilon <= Fraction(event.epsilon)
    assert event.neighbors == REPLACE_PERSON


def test_a_tenth_is_charged_as_a_tenth():
    from discreet.mechanisms.local.randomized_response import RandomizedResponse

    assert RandomizedResponse(epsilon=0.1).event.pure_epsilon * 10 == 1


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(1, 30), st.integers(2, 4))
def test_unary_encoding_loses_what_it_says(a, b, c, size):
    flip, keep = Fraction(a, a + b + c), Fraction(a + b, a + b + c)
    event = events.UnaryEncoding(keep=keep, flip=flip, size=size)
    check_epsilon(event.epsilon, worst_ratio(unary_law, event, size))


def test_truth_close_to_chance_still_has_a_sound_epsilon():
    truth = Fraction(1, 2) + Fraction(1, 2**500)
    epsilon = events.RandomizedResponse(truth=truth).epsilon
    assert 2.0**-498 <= epsilon <= 2.0**-497.9


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: events.RandomizedResponse(truth=0.5), "truth"),
        (lambda: events.RandomizedResponse(truth=1), "truth"),
        (lambda: events.RandomizedResponse(truth="1/3", categories=3), "truth"),
        (lambda: events.RandomizedResponse(truth=float("nan")), "truth"),
        (lambda: events.RandomizedResponse(truth=0.9, categories=1), "categories"),
        (lambda: events.RandomizedResponse(truth=0.9, categories=2.5), "categories"),
        (lambda: events.UnaryEncoding(keep=0.5, flip=0, size=3), "flip"),
        (lambda: events.UnaryEncoding(keep=0.5, flip=0.5, size=3), "keep"),
        (lambda: events.UnaryEncoding(keep=1, flip=0.5, size=3), "keep"),
        (lambda: events.UnaryEncoding(keep=0.5, flip=1.5, size=3), "flip"),
        (lambda: events.UnaryEncoding(keep=0.5, flip=0.25, size=1), "size"),
    ],
)
def test_bad_values_are_refused_by_name(make, name):
    with pytest.raises(ParameterError, match=f"^{name} "):
        make()


def test_adding_or_removing_a_reporter_is_not_hidden():
    for relation in (ADD_REMOVE_PERSON, None):
        with pytest.raises(ParameterError, match=r"^neighbors "):
            events.RandomizedResponse(truth=0.75, neighbors=relation)
        with pytest.raises(ParameterError, match=r"^neighbors "):
            events.UnaryEncoding(keep=0.5, flip=0.25, size=3, neighbors=relation)
    assert events.RandomizedResponse(truth=0.75, neighbors=REPLACE_ROW).neighbors == REPLACE_ROW
