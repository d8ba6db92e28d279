"""Top-k: the law of choices without replacement, the guarantee, large inputs."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from math import exp, log

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.mechanisms.selection import top_k
from discreet.mechanisms.selection.top_k import TopK
from discreet.noise import Source, using
from discreet.privacy.events import ExponentialChoice
from discreet.privacy.guarantees import PureDP
from significance import FALSE_ALARM, fit_p_value


def without_replacement(scores, rate, k):
    """P(a_1, …, a_k) = product of weight / what is left, for every order of k candidates."""
    weights = [mpmath.exp(mpmath.mpf(rate.numerator) / rate.denominator * int(score)) for score in scores]
    law = {}
    for order in permutations(range(len(scores)), k):
        left, probability = list(range(len(scores))), mpmath.mpf(1)
        for candidate in order:
            probability *= weights[candidate] / mpmath.fsum(weights[i] for i in left)
            left.remove(candidate)
        law[order] = probability
    return law


class Unused(Source):
    def words(self, size):
        raise AssertionError("drew outside the choices")


class Silent(Source):
    def words(self, size):
        raise AssertionError("something was drawn")


def implemented_law(mechanism, scores, monkeypatch):
    """Run the release along every path of choices, weighted with the laws that it asks for."""
    law = {}
    sizes = [len(scores) - turn for turn in range(mechanism.k)]
    for path in product(*(range(size) for size in sizes)):
        turns, mass = iter(path), [mpmath.mpf(1)]

        def choose(exponents, rate, source, turns=turns, mass=mass):
            position = next(turns)
            assert int(exponents.min()) == 0
            weights = [mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator * int(k)) for k in exponents]
            mass[0] *= weights[position] / mpmath.fsum(weights)
            return position

        with monkeypatch.context() as patch, using(Unused()):
            patch.setattr(top_k, "choose", choose)
            order = tuple(int(i) for i in mechanism.release(scores))
        law[order] = law.get(order, mpmath.mpf(0)) + mass[0]
    return law


def test_three_faces():
    mechanism = TopK(k=3, sensitivity=1, epsilon=1)
    assert mechanism.event == ExponentialChoice(epsilon=Fraction(1, 3)) * 3
    assert mechanism.guarantee == PureDP(epsilon=1)
    assert mechanism.rate == Fraction(1, 6)
    assert TopK(k=3, sensitivity=1, epsilon=1, monotone=True).rate == Fraction(1, 3)
    assert TopK(k=1, sensitivity=1, epsilon=1).event == ExponentialChoice(epsilon=1)
    # Bounded range composes better than pure epsilon: 3 (1/3)^2 / 8 against 1 / 2.
    assert mechanism.event.concentrated_rho == Fraction(1, 24)


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_implemented_law_is_that_of_choices_without_replacement(k, monotone, monkeypatch):
    mechanism = TopK(k=k, sensitivity=2, epsilon=Fraction(3, 2), monotone=monotone)
    rate = Fraction(3, 2) / k / (2 if monotone else 4)
    for scores in ([0, 0, 0], [5, 1, 3], [9, -2, 4, 4]):
        implemented = implemented_law(mechanism, scores, monkeypatch)
        claimed = without_replacement(scores, rate, k)
        assert implemented.keys() == claimed.keys()
        for order, probability in claimed.items():
            assert abs(implemented[order] - probability) <= probability * mpmath.mpf("1e-12")


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_pure_epsilon_holds_on_every_small_input(k, monotone):
    """And is nearly attained, when all but one candidate are far behind."""
    mechanism = TopK(k=k, sensitivity=1, epsilon=1, monotone=monotone)
    known = {}

    def law(scores):
        if scores not in known:
            known[scores] = without_replacement(scores, mechanism.rate, k)
        return known[scores]

    worst = mpmath.mpf(0)
    size = 4 if k == 3 else 3
    for scores in product((0, 60), repeat=size):
        for move in product((0, 1) if monotone else (-1, 1), repeat=size):
            moved = tuple(s + m for s, m in zip(scores, move, strict=True))
            before, after = law(scores), law(moved)
            worst = max(worst, *(abs(mpmath.log(before[order] / after[order])) for order in before))
    assert 0.99 < worst <= 1 + mpmath.mpf("1e-12")


def test_gumbel_noise_added_once_has_the_same_law():
    """Durfee & Rogers 2019: P(first, second) of three, by numerical integration over the second's noise."""
    scores, rate = [0, 1, 3], Fraction(1, 2)
    scale = mpmath.mpf(2)

    def density(x):
        return mpmath.exp(-x / scale - mpmath.exp(-x / scale)) / scale

    def below(x):
        return mpmath.exp(-mpmath.exp(-x / scale))

    for (first, second), claimed in without_replacement(scores, rate, 2).items():
        [third] = {0, 1, 2} - {first, second}

        def ordered(x, first=first, second=second, third=third):
            return density(x - scores[second]) * (1 - below(x - scores[first])) * below(x - scores[third])

        assert abs(mpmath.quad(ordered, [-20, 0, 5, 20, 100]) - claimed) < 1e-8


@pytest.mark.slow
@pytest.mark.statistical
def test_releases_follow_the_law():
    mechanism = TopK(k=2, sensitivity=1, epsilon=2)
    scores = [3, 0, 5, 4]
    drawn = np.array([mechanism.release(scores) @ [4, 1] for _ in range(10_000)])
    for factor, right in ((1, True), (2, False)):
        law = np.zeros(16)
        for (first, second), probability in without_replacement(scores, mechanism.rate * factor, 2).items():
            law[4 * first + second] = float(probability)
        p_value = fit_p_value(drawn, lambda a, b, law=law: float(law[a:b].sum()), np.arange(17))
        assert (p_value > FALSE_ALARM) == right


@given(
    scores=st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=12),
    data=st.data(),
    epsilon=st.sampled_from([0.01, 1, 100]),
)
def test_choices_are_distinct_candidates(scores, data, epsilon):
    k = data.draw(st.integers(1, len(scores)))
    chosen = TopK(k=k, sensitivity=1, epsilon=epsilon).release(scores)
    assert chosen.dtype == np.int64
    assert chosen.shape == (k,)
    assert len(set(chosen.tolist())) == k
    assert set(chosen.tolist()) <= set(range(len(scores)))


def test_top_k():
    """The ten most bought of 100 000 products, each person counted at most once for each."""
    rng = np.random.default_rng()
    counts = np.minimum(rng.zipf(1.5, 100_000), 10**7)
    best = rng.choice(100_000, 10, replace=False)
    counts[best] = 2 * 10**7 - 10**5 * np.arange(10)
    mechanism = TopK(k=10, sensitivity=1, epsilon=1, monotone=True)
    shortfall = mechanism.error.quantile(1 - FALSE_ALARM, candidates=100_000)
    assert shortfall < 10**3  # so the true ten come out, and in order
    assert mechanism.release(counts).tolist() == best.tolist()


def test_top_k_error_holds():
    mechanism = TopK.for_error(8, k=3, candidates=6, confidence=0.9)
    assert mechanism.error.quantile(0.9, candidates=6) == 8
    for scores in product((0, 9), repeat=6):
        law = without_replacement_tail(scores, mechanism.rate, 3, 8)
        assert law <= 0.1 + 1e-12


def without_replacement_tail(scores, rate, k, threshold):
    """P(some j-th choice lies more than a threshold below the j-th best), in floats."""
    weights = [exp(float(rate) * score) for score in scores]
    ranked = sorted(scores, reverse=True)

    def beyond(left, turn):
        if turn == k:
            return 0.0
        total = sum(weights[i] for i in left)
        return sum(
            weights[i]
            / total
            * (1.0 if ranked[turn] - scores[i] > threshold else beyond(left - {i}, turn + 1))
            for i in left
        )

    return beyond(frozenset(range(len(scores))), 0)


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "2", None, 10**9])
def test_bad_counts_are_refused(k):
    with pytest.raises(ParameterError, match="k"):
        TopK(k=k, sensitivity=1, epsilon=1)


def test_more_choices_than_candidates_are_refused_before_anything_is_drawn():
    with using(Silent()), pytest.raises(ParameterError, match="candidates") as refusal:
        TopK(k=4, sensitivity=1, epsilon=1).release([1, 2, 3])
    assert refusal.value.parameter == "k"
    with pytest.raises(ParameterError, match="candidates"):
        TopK(k=4, sensitivity=1, epsilon=1).error.tail(5, candidates=3)
    assert sorted(TopK(k=3, sensitivity=1, epsilon=1).release([1, 2, 3])) == [0, 1, 2]


def test_the_textbook_bound_is_a_union_over_the_rounds():
    error = TopK(k=5, sensitivity=1, epsilon=1, monotone=True).error
    assert error.textbook_bound(0.95, candidates=100) == pytest.approx(5 * log(100 * 5 / 0.05))
    assert error.tail(error.textbook_bound(0.95, candidates=100), candidates=100) <= 0.05
