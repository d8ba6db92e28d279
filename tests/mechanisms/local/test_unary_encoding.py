"""Unary encoding: the law of the bits, its privacy loss over whole reports, and the best probabilities."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import exp, sinh

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import ParameterError
from discreet.mechanisms.local.randomized_response import RandomizedResponse
from discreet.mechanisms.local.unary_encoding import UnaryEncoding
from discreet.noise import Source, is_private, replay, using
from discreet.privacy import events
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import REPLACE_PERSON
from significance import FALSE_ALARM

epsilons = st.fractions(min_value=Fraction(1, 10**6), max_value=30, max_denominator=10**6)


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


def law_of(mechanism, value):
    """The exact law of a report, by walking through all words; probabilities are multiples of 1/4."""
    cells = [((2 * index + 1) << 64) // 8 for index in range(4)]
    outcomes = Counter()
    for words in product(cells, repeat=mechanism.size + 1):
        source = Script(words)
        with using(source):
            outcomes[tuple(int(bit) for bit in mechanism.release(value))] += 1
        assert len(source) == 0
    return {bits: Fraction(times, 4 ** (mechanism.size + 1)) for bits, times in outcomes.items()}


def product_law(keep, flip, size, value):
    law = {}
    for bits in product((0, 1), repeat=size):
        mass = Fraction(1)
        for position, bit in enumerate(bits):
            chance = keep if position == value else flip
            mass *= chance if bit else 1 - chance
        law[bits] = mass
    return law


@pytest.mark.parametrize(("keep", "flip"), [("1/2", "1/4"), ("3/4", "1/4"), ("3/4", "1/2")])
@pytest.mark.parametrize("size", [2, 3])
def test_bits_by_enumeration_of_words(keep, flip, size):
    mechanism = UnaryEncoding(size=size, keep=keep, flip=flip)
    for value in range(size):
        law = law_of(mechanism, value)
        assert law == product_law(mechanism.keep, mechanism.flip, size, value)
        assert law != product_law(mechanism.flip, mechanism.keep, size, value)


def largest_ratio(mechanism):
    laws = [law_of(mechanism, value) for value in range(mechanism.size)]
    return max(p[bits] / q[bits] for p in laws for q in laws for bits in p)


@pytest.mark.parametrize(("keep", "flip"), [("1/2", "1/4"), ("3/4", "1/4"), ("3/4", "1/2")])
def test_unary_loss_is_the_largest_ratio_over_reports(keep, flip):
    mechanism = UnaryEncoding(size=3, keep=keep, flip=flip)
    ratio = largest_ratio(mechanism)
    with mpmath.workdps(40):
        exact = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
        assert exact <= mpmath.mpf(mechanism.epsilon) <= exact * (1 + mpmath.mpf("1e-15"))
    # One of the two changed bits alone accounts for less: a loss for one bit would be refuted.
    assert ratio > mechanism.keep / mechanism.flip
    assert ratio > (1 - mechanism.flip) / (1 - mechanism.keep)


def exact_loss(mechanism):
    keep, flip = mechanism.keep, mechanism.flip
    ratio = keep * (1 - flip) / ((1 - keep) * flip)
    return mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)


@settings(deadline=None)
@given(epsilon=epsilons, size=st.integers(2, 1000), build=st.sampled_from(["optimized", "symmetric"]))
def test_unary_loss_is_at_most_what_was_asked_and_hardly_less(epsilon, size, build):
    mechanism = getattr(UnaryEncoding, build)(size, epsilon)
    with mpmath.workdps(60):
        asked = mpmath.mpf(epsilon.numerator) / epsilon.denominator
        claimed = mpmath.mpf(mechanism.guarantee.epsilon.numerator) / mechanism.guarantee.epsilon.denominator
        loss = exact_loss(mechanism)
        assert loss <= claimed <= asked
        assert asked - loss <= 4 * mpmath.mpf(2) ** -60 / mpmath.mpf(float(mechanism.flip))


def test_symmetric_and_optimized():
    symmetric = UnaryEncoding.symmetric(10, 2)
    assert symmetric.keep + symmetric.flip == 1
    assert float(symmetric.keep) == pytest.approx(exp(1) / (exp(1) + 1))
    optimized = UnaryEncoding.optimized(10, 2)
    assert optimized == UnaryEncoding(size=10, epsilon=2)
    assert optimized.keep == Fraction(1, 2)
    assert float(optimized.flip) == pytest.approx(1 / (exp(2) + 1))


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_optimized_is_best_for_rare_categories(epsilon):
    """Brute force over keep, with the flip that spends all of epsilon."""

    def variance(keep):
        odds = keep / (1 - keep) * exp(-epsilon)
        flip = odds / (1 + odds)
        return flip * (1 - flip) / (keep - flip) ** 2

    best = min((variance(keep), keep) for keep in np.linspace(0.01, 0.99, 981))
    assert best[1] == pytest.approx(0.5, abs=2e-3)
    optimized = UnaryEncoding.optimized(2, epsilon)
    ours = float(optimized.flip * (1 - optimized.flip) / (optimized.keep - optimized.flip) ** 2)
    assert ours == pytest.approx(4 * exp(epsilon) / (exp(epsilon) - 1) ** 2)
    assert ours <= best[0] * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_randomized_response_is_better_below_3_exp_epsilon_plus_2_categories(epsilon):
    unary = UnaryEncoding(size=2, epsilon=epsilon)
    ours = float(unary.flip * (1 - unary.flip) / (unary.keep - unary.flip) ** 2)
    for categories in range(2, 60):
        other = RandomizedResponse(categories=categories, epsilon=epsilon)
        theirs = float(other.lie * (1 - other.lie) / (other.truth - other.lie) ** 2)
        assert (theirs < ours) == (categories < 3 * exp(epsilon) + 2)


def test_three_faces():
    mechanism = UnaryEncoding(size=4, keep=0.5, flip=0.25)
    assert mechanism.event == events.UnaryEncoding(keep=Fraction(1, 2), flip=Fraction(1, 4), size=4)
    assert mechanism.guarantee.neighbors == REPLACE_PERSON
    assert UnaryEncoding(size=4, epsilon=0.1).guarantee == PureDP(
        epsilon=Fraction(1, 10), neighbors=REPLACE_PERSON
    )
    assert mechanism.neighboring_inputs() == ((0, 1), (0, 3))
    assert repr(mechanism) == "UnaryEncoding(size=4, keep=0.5, flip=0.25)"
    assert mechanism.release(3).shape == (4,)
    bits = mechanism.release([0, 1, 3])
    assert bits.shape == (3, 4)
    assert bits.dtype == np.uint8
    assert set(np.unique(bits)) <= {0, 1}


def test_replayed_bits_are_marked():
    mechanism = UnaryEncoding(size=3, epsilon=1)
    with replay(1):
        bits = mechanism.release([0, 1, 2])
    assert not is_private(bits)
    assert not is_private(mechanism.estimate(bits).proportions)
    assert is_private(mechanism.release([0, 1, 2]))


class Counting(Source):
    def __init__(self):
        self.calls = []

    def words(self, size):
        self.calls.append(size)
        return np.frombuffer(np.random.default_rng(len(self.calls)).bytes(8 * size), np.uint64)


def test_the_work_does_not_depend_on_the_categories():
    mechanism = UnaryEncoding(size=5, epsilon=2)
    drawn = []
    for answers in ([0] * 100, [4] * 100, list(range(5)) * 20):
        with using(Counting()) as source:
            mechanism.release(answers)
        drawn.append(source.calls)
    assert drawn == [[500, 100]] * 3


@pytest.mark.statistical
@pytest.mark.parametrize(("people", "size"), [(30_000, 10), (5, 200_000)])
def test_every_bit_of_a_large_batch_follows_its_law(people, size):
    """Batches of rows meet without gaps: each person's own bit, and the bits of all others."""
    mechanism = UnaryEncoding(size=size, keep="3/4", flip="1/8")
    truths = np.arange(people) % size
    bits = mechanism.release(truths)
    own = bits[np.arange(people), truths].sum()
    others = int(bits.sum()) - int(own)
    assert stats.binomtest(int(own), people, 0.75).pvalue > FALSE_ALARM
    assert stats.binomtest(others, people * (size - 1), 0.125).pvalue > FALSE_ALARM
    assert stats.binomtest(others, people * (size - 1), 0.132).pvalue < FALSE_ALARM


@pytest.mark.parametrize("value", [-1, 3, 1.0, True, None, [], [0, 3], [[0]], [0.5], "0"])
def test_what_is_no_category_is_refused_before_anything_is_drawn(value):
    with using(Script([])), pytest.raises(ParameterError, match="value"):
        UnaryEncoding(size=3, epsilon=1).release(value)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"size": 3}, "epsilon"),
        ({"size": 3, "epsilon": 1, "keep": 0.5, "flip": 0.25}, "epsilon"),
        ({"size": 3, "epsilon": 1, "flip": 0.25}, "epsilon"),
        ({"size": 3, "keep": 0.5}, "epsilon"),
        ({"size": 3, "flip": 0.5}, "epsilon"),
        ({"size": 3, "epsilon": 0}, "epsilon"),
        ({"size": 3, "epsilon": Fraction(1, 2**80)}, "epsilon"),
        ({"size": 1, "epsilon": 1}, "size"),
        ({"size": 2**21, "epsilon": 1}, "size"),
        ({"size": 2.5, "epsilon": 1}, "size"),
        ({"size": 3, "keep": 0.25, "flip": 0.5}, "keep"),
        ({"size": 3, "keep": 1, "flip": 0.5}, "keep"),
        ({"size": 3, "keep": 0.5, "flip": 0}, "flip"),
        ({"size": 3, "keep": 0.5, "flip": Fraction(1, 2) - Fraction(1, 2**900)}, "keep"),
    ],
)
def test_bad_parameters_are_named(parameters, name):
    with pytest.raises(ParameterError) as refusal:
        UnaryEncoding(**parameters)
    assert refusal.value.parameter == name


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_symmetric_is_best_for_the_worst_categories(epsilon):
    """Brute force over keep, with the flip that spends all of epsilon."""

    def largest_variance(keep):
        odds = keep / (1 - keep) * exp(-epsilon)
        flip = odds / (1 + odds)
        return max(keep * (1 - keep), flip * (1 - flip)) / (keep - flip) ** 2

    best = min(largest_variance(keep) for keep in np.linspace(0.001, 0.999, 9_981))
    ours = UnaryEncoding.symmetric(2, epsilon).error.standard_error(people=1) ** 2
    assert ours == pytest.approx(1 / (4 * sinh(epsilon / 4) ** 2))
    assert best * (1 - 1e-3) <= ours <= best * (1 + 1e-9)
    assert ours < UnaryEncoding.optimized(2, epsilon).error.standard_error(people=1) ** 2


def test_for_error_is_the_smallest_epsilon():
    mechanism = UnaryEncoding.for_error(0.02, people=10_000, size=20, confidence=0.99)
    assert mechanism.size == 20
    assert mechanism.keep + mechanism.flip == 1
    assert mechanism.error.tail(0.02, people=10_000) <= 0.01
    for share in (0.5, 0.9, 0.999999):
        less = UnaryEncoding.symmetric(20, share * mechanism.epsilon)
        assert less.error.tail(0.02, people=10_000) > 0.01
    with pytest.raises(ParameterError) as refusal:
        UnaryEncoding.for_error("1e-6", people=100, size=2)
    assert refusal.value.parameter == "tolerance"


@pytest.mark.parametrize(
    "reports", [[], [[0, 1]], [[0, 1, 2]], [[0, 1, -1]], [[[0, 1, 1]]], [[0.0, 1.0, 1.0]], [[0, 1, 1], [0]]]
)
def test_what_are_no_reports_is_refused(reports):
    with pytest.raises(ParameterError, match="reports"):
        UnaryEncoding(size=3, epsilon=1).estimate(reports)


@pytest.mark.parametrize("totals", [[1, 2], [1, 2, 5], [[1, 2, 3]], [1.0, 2.0, 3.0]])
def test_what_are_no_totals_is_refused(totals):
    with pytest.raises(ParameterError, match="totals"):
        UnaryEncoding(size=3, epsilon=1).estimate_totals(totals, people=4)
