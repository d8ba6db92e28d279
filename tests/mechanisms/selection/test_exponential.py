"""The exponential mechanism: its law, its guarantee on every small input, its accuracy statement."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, log

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms.selection import exponential
from discreet.mechanisms.selection.exponential import Exponential
from discreet.noise import Source, using
from discreet.privacy.events import ExponentialChoice
from discreet.privacy.guarantees import PureDP
from significance import FALSE_ALARM, fit_p_value

DRAWS = 20_000


def exponential_law(scores, rate):
    """P(i) = exp(rate score_i) / sum, by definition, in high precision."""
    weights = [mpmath.exp(mpmath.mpf(rate.numerator) / rate.denominator * int(score)) for score in scores]
    return [weight / sum(weights) for weight in weights]


def implemented_law(mechanism, scores, monkeypatch):
    """The law that the mechanism asks `noise.choose` for: its index is the answer."""
    asked = []

    def choose(exponents, rate, source):
        asked.append((exponents.tolist(), rate))
        return len(exponents) - 1

    with monkeypatch.context() as patch, using(Unused()):
        patch.setattr(exponential, "choose", choose)
        assert mechanism.release(scores) == len(scores) - 1
    [(exponents, rate)] = asked
    assert min(exponents) == 0
    return exponential_law([-exponent for exponent in exponents], rate)


class Unused(Source):
    def words(self, size):
        raise AssertionError("drew outside the choice")


def largest_loss(law, scores, moves):
    """The largest privacy loss between scores and scores + move, over all moves and outcomes."""
    before = law(scores)
    return max(
        abs(mpmath.log(p / q))
        for move in moves
        for p, q in zip(before, law([s + m for s, m in zip(scores, move, strict=True)]), strict=True)
    )


def test_three_faces():
    mechanism = Exponential(sensitivity=1, epsilon=0.5)
    assert mechanism.event == ExponentialChoice(epsilon=Fraction(1, 2))
    assert mechanism.guarantee == PureDP(epsilon=Fraction(1, 2))
    assert mechanism.rate == Fraction(1, 4)
    assert Exponential(sensitivity=1, epsilon=0.5, monotone=True).rate == Fraction(1, 2)
    assert type(mechanism.release([3, 1, 2])) is int
    assert mechanism.release([17]) == 0


@pytest.mark.parametrize("sensitivity", [1, 3])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_law_is_the_textbooks(sensitivity, monotone, monkeypatch):
    mechanism = Exponential(sensitivity=sensitivity, epsilon=Fraction(3, 2), monotone=monotone)
    rate = Fraction(3, 2) / sensitivity / (1 if monotone else 2)
    for scores in ([0], [5, 5, 5], [1, -4, 3, 0], [100, 98, 0]):
        for implemented, textbook in zip(
            implemented_law(mechanism, scores, monkeypatch), exponential_law(scores, rate), strict=True
        ):
            assert abs(implemented - textbook) <= textbook * mpmath.mpf("1e-12")


@pytest.mark.parametrize("sensitivity", [1, 2])
@pytest.mark.parametrize("monotone", [False, True])
def test_pure_epsilon_holds_on_every_small_input(sensitivity, monotone, monkeypatch):
    """And is nearly attained: no smaller epsilon would do."""
    epsilon = Fraction(3, 4)
    mechanism = Exponential(sensitivity=sensitivity, epsilon=epsilon, monotone=monotone)
    known = {}

    def law(scores):
        return known.setdefault(tuple(scores), implemented_law(mechanism, scores, monkeypatch))

    ups = list(product(range(sensitivity + 1), repeat=3))
    moves = ups if monotone else list(product(range(-sensitivity, sensitivity + 1), repeat=3))
    worst = max(largest_loss(law, scores, moves) for scores in product((0, 1, 20 * sensitivity), repeat=3))
    assert float(epsilon) * 0.99 < worst <= float(epsilon) * (1 + 1e-12)


def test_scores_that_do_not_move_together_break_the_monotone_rate(monkeypatch):
    """The check above can tell: half the rate is needed as soon as one score falls while another rises."""
    mechanism = Exponential(sensitivity=1, epsilon=1, monotone=True)
    loss = largest_loss(lambda s: implemented_law(mechanism, s, monkeypatch), [0, 20], [(1, -1)])
    assert loss > 1.9


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize("monotone", [False, True])
def test_exact_sampling(monotone):
    mechanism = Exponential(sensitivity=2, epsilon=1, monotone=monotone)
    scores = [3, 0, 7, 7, 5]
    drawn = np.array([mechanism.release(scores) for _ in range(DRAWS)])
    for factor, right in ((1, True), (2, False), (Fraction(1, 2), False)):
        law = [float(p) for p in exponential_law(scores, mechanism.rate * factor)]
        p_value = fit_p_value(drawn, lambda a, b, law=law: sum(law[a:b]), np.arange(len(scores) + 1))
        assert (p_value > FALSE_ALARM) == right


@pytest.mark.slow
@pytest.mark.statistical
def test_real_scores_follow_the_law_on_their_grid():
    mechanism = Exponential(sensitivity=0.1, epsilon=1)
    scores = [0.3, 0.0, 0.42, 0.1]
    drawn = np.array([mechanism.release(scores) for _ in range(DRAWS)])
    weights = [exp(score / 0.2) for score in scores]
    law = [weight / sum(weights) for weight in weights]
    assert fit_p_value(drawn, lambda a, b: sum(law[a:b]), np.arange(5)) > FALSE_ALARM


def test_gumbel_noise_has_the_same_law():
    """P(s_i + G_i is the largest), by numerical integration, is the exponential choice."""
    scores, rate = [0, 1, 3], Fraction(1, 2)
    scale = 1 / float(rate)

    def density(x):
        return mpmath.exp(-x / scale - mpmath.exp(-x / scale)) / scale

    def below(x):
        return mpmath.exp(-mpmath.exp(-x / scale))

    for i, claimed in enumerate(exponential_law(scores, rate)):
        others = [s for j, s in enumerate(scores) if j != i]
        wins = mpmath.quad(
            lambda x, i=i, others=others: (
                density(x - scores[i]) * mpmath.fprod(below(x - other) for other in others)
            ),
            [-20, 0, 5, 20, 100],
        )
        assert abs(wins - claimed) < 1e-8


@given(
    scores=st.lists(st.integers(-30, 30), min_size=1, max_size=8),
    epsilon=st.sampled_from([Fraction(1, 10), Fraction(1), Fraction(5)]),
    sensitivity=st.integers(1, 3),
    monotone=st.booleans(),
    failure=st.sampled_from([Fraction(1, 2), Fraction(1, 20), Fraction(1, 1000)]),
)
def test_accuracy_statement(scores, epsilon, sensitivity, monotone, failure):
    """OPT - u <= (2 Δ / ε) log(|T| / β) with probability 1 - β; Δ in place of 2 Δ for monotone scores."""
    mechanism = Exponential(sensitivity=sensitivity, epsilon=epsilon, monotone=monotone)
    factor = 1 if monotone else 2
    promised = factor * sensitivity / float(epsilon) * log(len(scores) / failure)
    assert mechanism.error.textbook_bound(1 - failure, candidates=len(scores)) == pytest.approx(promised)
    law = exponential_law(scores, mechanism.rate)
    bad = sum(p for p, score in zip(law, scores, strict=True) if max(scores) - score > promised)
    assert bad <= float(failure)
    assert bad <= mechanism.error.tail(promised, candidates=len(scores)) * (1 + 1e-9)
    assert mechanism.error.tail(promised, candidates=len(scores)) <= float(failure)


def test_epsilon_for_a_tolerated_error():
    mechanism = Exponential.for_error(10, candidates=50, confidence=0.99, monotone=True)
    assert mechanism.error.tail(10, candidates=50) <= 0.01
    assert mechanism.error.quantile(0.99, candidates=50) == 10
    cheaper = Exponential(sensitivity=1, epsilon=mechanism.epsilon * (1 - 1e-6), monotone=True)
    assert cheaper.error.tail(10, candidates=50) > 0.01
    # Integers: the first score that is too bad lies 11 behind, and 49 of them weigh 1/99.
    assert mechanism.epsilon == pytest.approx(log(49 * 99) / 11)


@pytest.mark.statistical
def test_model_selection():
    """The best of ten models by private validation accuracy, n public: one person moves it by 1/n."""
    people = 2000
    accuracy = [0.61, 0.73, 0.69, 0.80, 0.79, 0.55, 0.74, 0.66, 0.5, 0.71]
    mechanism = Exponential.for_error(
        0.02, candidates=len(accuracy), confidence=0.95, sensitivity=Fraction(1, people)
    )
    assert mechanism.epsilon < 0.4
    chosen = [mechanism.release(accuracy) for _ in range(1000)]
    good = sum(accuracy[i] >= 0.78 for i in chosen)
    assert good >= 900  # at least 950 expected: fewer than 900 happens with probability below 1e-10


@pytest.mark.parametrize(
    ("scores", "epsilon"),
    [([3, 2, 5, 5], 1), ([0, 0, 0], 1), ([0], 1), ([0, -700, -1500, -(2**60)], 2), ([1, 2, 3], "1e-6")],
)
def test_probabilities_are_the_nearest_floats(scores, epsilon):
    """Against 1500 digits of mpmath: each is the float that is closest to the exact probability."""
    mpmath = pytest.importorskip("mpmath")
    mechanism = Exponential(sensitivity=1, epsilon=epsilon)
    found = mechanism.probabilities(scores)
    with mpmath.workdps(1500):
        rate = mpmath.mpf(mechanism.rate.numerator) / mechanism.rate.denominator
        weights = [mpmath.exp(rate * (score - max(scores))) for score in scores]
        exact = [weight / mpmath.fsum(weights) for weight in weights]
        for one, probability in zip(found, exact, strict=True):
            near = float(one)
            others = (np.nextafter(near, -1.0), np.nextafter(near, 2.0))
            assert all(abs(near - probability) <= abs(float(other) - probability) for other in others)


def test_probabilities_are_those_of_the_code_that_draws():
    from discreet.audit import output_law

    mechanism = Exponential(sensitivity=1, epsilon=1)
    law = output_law(mechanism.release, [3, 2, 5], most_runs=5000, goal=1e-4)
    drawn = sorted(float(mass) for mass in law.masses.values())
    assert drawn == pytest.approx(sorted(mechanism.probabilities([3, 2, 5])), abs=1e-9)
