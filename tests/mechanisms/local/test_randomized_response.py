"""Randomized response: the law that is drawn, its privacy loss, and a client that stands alone."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from fractions import Fraction
from itertools import product
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import ParameterError
from discreet.mechanisms.local import randomized_response
from discreet.mechanisms.local.randomized_response import RandomizedResponse, lie_probability
from discreet.noise import Source, bernoulli, current, is_private, replay, uniform_below, using
from discreet.privacy import events
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import REPLACE_PERSON
from discreet.privacy.rational import rational
from significance import FALSE_ALARM

epsilons = st.fractions(min_value=Fraction(1, 10**6), max_value=30, max_denominator=10**6)
category_counts = st.integers(2, 1000)


class Script(Source):
    """Words that were written down ahead."""

    def __init__(self, words):
        self._words = list(words)

    def words(self, size):
        taken, self._words = self._words[:size], self._words[size:]
        assert len(taken) == size, "more words were drawn than expected"
        return np.array(taken, np.uint64)

    def __len__(self):
        return len(self._words)


def cells(count):
    """The middles of `count` equal parts of [0, 1), as words: equally likely, and never on a boundary."""
    return [((2 * index + 1) << 64) // (2 * count) for index in range(count)]


def law_of(release, value, coin_cells, choice_cells):
    """The exact law of a release that draws one coin and one choice, by walking through all words."""
    outcomes = Counter()
    for words in product(cells(coin_cells), cells(choice_cells)):
        source = Script(words)
        with using(source):
            outcomes[int(release(value))] += 1
        assert len(source) == 0
    total = coin_cells * choice_cells
    return {outcome: Fraction(times, total) for outcome, times in outcomes.items()}


def check_law(release, categories, truth):
    """Each answer is reported truly with probability `truth`, falsely in equal shares."""
    for value in range(categories):
        law = law_of(release, value, truth.denominator, categories - 1)
        for report in range(categories):
            expected = truth if report == value else (1 - truth) / (categories - 1)
            assert law.get(report, 0) == expected


@pytest.mark.parametrize("categories", [2, 3, 4, 5, 10])
@pytest.mark.parametrize("truth", [Fraction(3, 4), Fraction(9, 10), Fraction(17, 31)])
def test_k_ary_law_by_enumeration_of_words(categories, truth):
    mechanism = RandomizedResponse(categories=categories, truth=truth)
    check_law(mechanism.release, categories, truth)


def test_k_ary_law_check_rejects_a_lie_that_may_be_the_truth():
    truth = Fraction(3, 4)

    def from_all(value):
        source = current()
        honest = bernoulli(truth, 1, source)
        other = uniform_below(5, 1, source)
        return int(np.where(honest, value, other)[0])

    def lopsided(value):
        source = current()
        honest = bernoulli(truth, 1, source)
        other = uniform_below(4, 1, source)
        return int(np.where(honest, value, np.where(other == value, 0, other))[0])

    for wrong in (from_all, lopsided):
        with pytest.raises(AssertionError):
            check_law(wrong, 5, truth)


def test_two_coins_is_ln3():
    mechanism = RandomizedResponse.two_coins()
    assert mechanism == RandomizedResponse(truth=Fraction(3, 4))
    assert mechanism.event == events.RandomizedResponse(truth=Fraction(3, 4))
    with mpmath.workdps(50):
        exact = mpmath.log(3)
        assert mpmath.mpf(mechanism.epsilon) >= exact
        assert mpmath.mpf(mechanism.epsilon) - exact < mpmath.mpf("1e-15")
        claimed = mechanism.guarantee.epsilon
        assert mpmath.mpf(claimed.numerator) / claimed.denominator >= exact


def test_two_coins_is_the_protocol_with_two_coins():
    def toss_twice(truth, first, second):
        return truth if first else second

    mechanism = RandomizedResponse.two_coins()
    for truth in (0, 1):
        reports = [toss_twice(truth, *coins) for coins in product((0, 1), repeat=2)]
        law = law_of(mechanism.release, truth, 4, 1)
        assert law == {answer: Fraction(reports.count(answer), 4) for answer in (0, 1)}


def exact_loss(mechanism):
    ratio = mechanism.truth / mechanism.lie
    return mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)


@settings(deadline=None)
@given(epsilon=epsilons, categories=category_counts)
def test_k_ary_loss_is_at_most_what_was_asked_and_hardly_less(epsilon, categories):
    mechanism = RandomizedResponse(categories=categories, epsilon=epsilon)
    with mpmath.workdps(60):
        asked = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        loss = exact_loss(mechanism)
        claimed = mpmath.mpf(mechanism.guarantee.epsilon.numerator) / mechanism.guarantee.epsilon.denominator
        assert loss <= claimed <= asked
        slack = mpmath.mpf(2) ** -60 / mpmath.mpf(float((1 - mechanism.truth) * mechanism.truth))
        assert asked - loss <= 2 * slack
        ideal = 1 / (1 + (categories - 1) * mpmath.exp(-asked))
        assert 0 <= ideal - mpmath.mpf(mechanism.truth.numerator) / mechanism.truth.denominator < 2.0**-59
    assert mechanism.truth.denominator <= 2**60


@given(epsilon=epsilons, others=st.integers(1, 10**6))
def test_the_lie_is_rounded_up(epsilon, others):
    lie = lie_probability(epsilon, others)
    with mpmath.workdps(60):
        ideal = others / (mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator) + others)
        assert 0 <= mpmath.mpf(lie.numerator) / lie.denominator - ideal <= mpmath.mpf(2) ** -60 * 1.001


def test_rounding_the_other_way_would_break_the_guarantee():
    """The test above has teeth: one step less of lying, and more is lost than was asked for."""
    asked = Fraction(1)
    truth = 1 - lie_probability(asked, 2) + Fraction(1, 2**60)
    with mpmath.workdps(60):
        assert exact_loss(RandomizedResponse(categories=3, truth=truth)) > 1


@given(
    truth=st.fractions(min_value=Fraction(501, 1000), max_value=Fraction(999, 1000)),
    categories=category_counts,
)
def test_loss_of_an_explicit_truth(truth, categories):
    mechanism = RandomizedResponse(categories=categories, truth=truth)
    assert mechanism.truth == truth
    assert mechanism.truth + (categories - 1) * mechanism.lie == 1
    with mpmath.workdps(50):
        loss = exact_loss(mechanism)
        assert loss <= mpmath.mpf(mechanism.epsilon) <= loss * (1 + mpmath.mpf("2e-15"))


def test_a_huge_epsilon_still_lies_sometimes():
    mechanism = RandomizedResponse(epsilon=10**9)
    assert mechanism.truth == 1 - Fraction(1, 2**60)
    assert mechanism.guarantee.epsilon < 42


def test_three_faces():
    mechanism = RandomizedResponse(categories=4, epsilon=0.1)
    assert mechanism.guarantee == PureDP(epsilon=Fraction(1, 10), neighbors=REPLACE_PERSON)
    assert mechanism.epsilon == 0.1
    assert mechanism.event.neighbors == REPLACE_PERSON
    assert mechanism.neighboring_inputs() == ((0, 1), (0, 3))
    assert RandomizedResponse.two_coins().neighboring_inputs() == ((0, 1),)
    assert repr(RandomizedResponse.two_coins()) == "RandomizedResponse(categories=2, truth=0.75)"
    assert type(mechanism.release(3)) is int
    assert type(mechanism.release(np.int32(3))) is int
    assert mechanism.release([0, 3, 1]).shape == (3,)
    assert mechanism.release(np.array([0, 3], np.uint8)).dtype == np.int64


def test_replayed_reports_and_estimates_are_marked():
    mechanism = RandomizedResponse(categories=3, epsilon=1)
    with replay(1):
        one, many = mechanism.release(2), mechanism.release([0, 1, 2, 1])
    assert not is_private(one)
    assert not is_private(many)
    estimate = mechanism.estimate(many)
    interval = estimate.interval()
    for derived in (estimate.totals, estimate.counts, estimate.proportions, estimate.standard_error):
        assert not is_private(derived)
    assert not is_private(interval.fewest)
    assert not is_private(interval.upper)
    assert is_private(mechanism.estimate(mechanism.release([0, 1, 2, 1])).proportions)


class Counting(Source):
    def __init__(self):
        self.calls = []

    def words(self, size):
        self.calls.append(size)
        return np.frombuffer(np.random.default_rng(len(self.calls)).bytes(8 * size), np.uint64)


def test_the_work_does_not_depend_on_the_answers():
    mechanism = RandomizedResponse(categories=5, epsilon=2)
    drawn = []
    for answers in ([0] * 100, [4] * 100, list(range(5)) * 20):
        with using(Counting()) as source:
            mechanism.release(answers)
        drawn.append(source.calls)
    assert drawn == [[100, 100]] * 3


@pytest.mark.parametrize(
    "value",
    [
        -1,
        3,
        10**30,
        0.0,
        1.5,
        float("nan"),
        True,
        None,
        "1",
        [],
        np.zeros(0, np.int64),
        [0, 3],
        [0, -1],
        [0.0, 1.0],
        [[0, 1]],
        [[0], [1, 2]],
        np.array([2**64 - 1], np.uint64),
        object(),
    ],
)
def test_what_is_no_category_is_refused_before_anything_is_drawn(value):
    with using(Script([])), pytest.raises(ParameterError, match="value") as refusal:
        RandomizedResponse(categories=3, epsilon=1).release(value)
    assert str(refusal.value).endswith(
        "allowed: an integer from 0 to 2, or a one-dimensional array of such integers"
    )
    assert refusal.value.__cause__ is None


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({}, "epsilon"),
        ({"epsilon": 1, "truth": 0.75}, "epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": float("inf")}, "epsilon"),
        ({"epsilon": Fraction(1, 2**80)}, "epsilon"),
        ({"epsilon": 1, "categories": 1}, "categories"),
        ({"epsilon": 1, "categories": 2.0}, "categories"),
        ({"epsilon": 1, "categories": 2**21}, "categories"),
        ({"truth": 0.5}, "truth"),
        ({"truth": 1}, "truth"),
        ({"truth": 0.3, "categories": 3}, "truth"),
        ({"truth": Fraction(1, 2) + Fraction(1, 2**2000)}, "truth"),
    ],
)
def test_bad_parameters_are_named(parameters, name):
    with pytest.raises(ParameterError) as refusal:
        RandomizedResponse(**parameters)
    assert refusal.value.parameter == name


def test_the_client_needs_nothing_of_the_server(monkeypatch):
    """The client's file loads and answers where the server's part cannot be imported at all."""
    for server in ("local.frequencies", "calibration", "error", "error.base"):
        monkeypatch.setitem(sys.modules, f"discreet.mechanisms.{server}", None)
    path = Path(randomized_response.__file__)
    spec = importlib.util.spec_from_file_location("client_alone", path)
    client = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "client_alone", client)
    spec.loader.exec_module(client)
    mechanism = client.RandomizedResponse.two_coins()
    assert mechanism.release(1) in (0, 1)
    assert mechanism.guarantee.neighbors == REPLACE_PERSON
    with pytest.raises(ImportError):
        mechanism.estimate([0, 1])


@pytest.mark.statistical
def test_reports_follow_the_law():
    mechanism = RandomizedResponse(categories=4, epsilon=1)
    people = 200_000
    reports = mechanism.release(np.full(people, 2))
    observed = np.bincount(reports, minlength=4)
    expected = np.array([float(mechanism.truth if j == 2 else mechanism.lie) for j in range(4)])
    assert stats.chisquare(observed, people * expected).pvalue > FALSE_ALARM
    wrong = np.roll(expected, 1)
    assert stats.chisquare(observed, people * wrong).pvalue < FALSE_ALARM


@pytest.mark.parametrize(
    ("tolerance", "people", "categories"), [(0.05, 2000, 2), (0.2, 30, 2), ("1/50", 10**5, 10)]
)
def test_for_error_is_the_smallest_epsilon(tolerance, people, categories):
    mechanism = RandomizedResponse.for_error(tolerance, people=people, categories=categories)
    limit = rational(tolerance, "tolerance")
    assert mechanism.error.tail(limit, people=people) <= 0.05
    assert mechanism.error.quantile(0.95, people=people) <= float(limit) * (1 + 1e-12)
    for share in (0.5, 0.9, 0.99, 0.999999):
        less = RandomizedResponse(categories=categories, epsilon=share * mechanism.epsilon)
        assert less.error.tail(limit, people=people) > 0.05


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"tolerance": 0}, "tolerance"),
        ({"confidence": 1}, "confidence"),
        ({"people": 0}, "people"),
        ({"people": 10.5}, "people"),
        ({"categories": 1}, "categories"),
    ],
)
def test_for_error_names_bad_parameters(changes, name):
    parameters = {"tolerance": 0.1, "people": 100} | changes
    with pytest.raises(ParameterError) as refusal:
        RandomizedResponse.for_error(parameters.pop("tolerance"), **parameters)
    assert refusal.value.parameter == name


@pytest.mark.parametrize(
    "reports", [[], 1, [0, 2], [0, -1], [0.0, 1.0], [True, False], ["yes"], [[0], [1, 2]], [[0, 1]]]
)
def test_what_are_no_reports_is_refused(reports):
    with pytest.raises(ParameterError, match="reports"):
        RandomizedResponse.two_coins().estimate(reports)


@pytest.mark.parametrize(
    ("totals", "people", "name"),
    [([1, 2], 4, "totals"), ([4], 4, "totals"), ([5, -1], 4, "totals"), ([1, 3], 0, "people")],
)
def test_what_are_no_totals_is_refused(totals, people, name):
    with pytest.raises(ParameterError) as refusal:
        RandomizedResponse.two_coins().estimate_totals(totals, people=people)
    assert refusal.value.parameter == name
