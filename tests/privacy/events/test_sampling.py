from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.privacy import ADD_REMOVE_PERSON, REPLACE_PERSON, REPLACE_ROW, events
from discreet.privacy.events.sampling import sampling_assumption

RESPONSE = events.RandomizedResponse(truth="3/4")
LOCAL = events.Pure(epsilon=1, neighbors=REPLACE_ROW)

ONE_OF_EACH = {
    "PoissonSampled": events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01),
    "SampledWithoutReplacement": events.SampledWithoutReplacement(LOCAL, batch=32, population=1000),
    "SampledWithReplacement": events.SampledWithReplacement(LOCAL, draws=32, population=1000),
    "Shuffled": events.Shuffled(RESPONSE, people=10_000),
}


def test_pure_epsilons_are_amplified_and_rounded_up():
    poisson = events.PoissonSampled(events.Pure(epsilon=1), rate=0.1)
    exact = math.log1p(0.1 * math.expm1(1))
    for event in (poisson, events.SampledWithoutReplacement(LOCAL, batch=1, population=10)):
        assert exact <= event.pure_epsilon <= exact * (1 + 1e-15)
        assert event.concentrated_rho == event.pure_epsilon**2 / 2
    drawn = events.SampledWithReplacement(LOCAL, draws=3, population=10)
    assert float(drawn.pure_epsilon) == pytest.approx(3 * exact)
    assert ONE_OF_EACH["Shuffled"].pure_epsilon == RESPONSE.pure_epsilon
    assert ONE_OF_EACH["PoissonSampled"].pure_epsilon is None
    assert ONE_OF_EACH["PoissonSampled"].concentrated_rho == Fraction(1, 32)
    assert events.PoissonSampled(events.Pure(epsilon=1), rate=0).pure_epsilon == 0
    assert events.PoissonSampled(events.Pure(epsilon=1), rate=1).pure_epsilon == 1
    assert events.PoissonSampled(events.Pure(epsilon=10**9), rate="1/2").pure_epsilon == 10**9
    tiny = events.PoissonSampled(events.Pure(epsilon=1e-200), rate=1e-9).pure_epsilon
    assert 1e-209 <= tiny <= Fraction(1, 10**200)


def response(value):
    return np.array([0.75, 0.25]) if value == 0 else np.array([0.25, 0.75])


def majority_loss(samples, population):
    """The worst loss of a randomized response on whether a sample holds a one."""
    worst = 0.0
    for rest in product((0, 1), repeat=population - 1):
        laws = [sum(response(int(any((*rest, value)[i] for i in s))) for s in samples) for value in (0, 1)]
        worst = max(worst, float(np.abs(np.log(laws[0] / laws[1])).max()))
    return worst


@pytest.mark.parametrize(("size", "population"), [(1, 2), (2, 3), (2, 4), (3, 3)])
def test_amplified_epsilons_hold_by_enumeration(size, population):
    inner = events.RandomizedResponse(truth="3/4", neighbors=REPLACE_ROW)
    without = events.SampledWithoutReplacement(inner, batch=size, population=population)
    assert majority_loss(list(combinations(range(population), size)), population) <= without.pure_epsilon * (
        1 + 1e-12
    )
    drawn = events.SampledWithReplacement(inner, draws=size, population=population)
    assert majority_loss(list(product(range(population), repeat=size)), population) <= drawn.pure_epsilon * (
        1 + 1e-12
    )


def test_groups_follow_from_what_is_known_of_one_unit():
    grouped = events.group(ONE_OF_EACH["PoissonSampled"], 2)
    assert grouped == events.Grouped(ONE_OF_EACH["PoissonSampled"], size=2)
    assert grouped.concentrated_rho == Fraction(4, 32)
    assert grouped.simple == events.ZeroConcentrated(
        rho=Fraction(4, 32), neighbors=ADD_REMOVE_PERSON.group(2)
    )
    assert events.group(grouped, 3) == events.Grouped(ONE_OF_EACH["PoissonSampled"], size=6)
    assert sampling_assumption(grouped) == sampling_assumption(ONE_OF_EACH["PoissonSampled"])
    poisson = events.PoissonSampled(events.Pure(epsilon=1), rate="1/10")
    for event in (poisson, ONE_OF_EACH["SampledWithoutReplacement"], ONE_OF_EACH["Shuffled"]):
        relation = event.neighbors.group(3)
        pure = events.Pure(epsilon=3 * event.pure_epsilon, neighbors=relation)
        assert events.group(event, 3).simple == pure
    gaussian = events.Gaussian(noise_multiplier=2, neighbors=REPLACE_PERSON)
    rho = events.group(events.SampledWithoutReplacement(gaussian, batch=1, population=5), 3)
    assert rho.simple == events.ZeroConcentrated(rho=Fraction(9, 8), neighbors=REPLACE_PERSON.group(3))
    drawn = events.group(events.SampledWithReplacement(gaussian, draws=1, population=5), 3)
    assert drawn.simple is None
    for wrong in ("event", events.Nothing):
        with pytest.raises(ParameterError, match=r"^event "):
            events.Grouped(wrong, size=2)
    with pytest.raises(ParameterError, match=r"^size "):
        events.Grouped(gaussian, size=1)


def test_neither_direction_of_a_sampled_pair_covers_a_unit_that_goes_while_another_comes():
    # Why the event of a group is not a sample. Both ratios of these two samples are large: into one a unit
    # came, from the other one went. Of a sampled pair only one is: Q / ((1 - q) Q + q P) <= 1 / (1 - q).
    rate, far = Fraction(1, 2), Fraction(1, 10**9)
    plain, came, went = (far, 1 - 2 * far, far), (1 - 2 * far, far, far), (far, far, 1 - 2 * far)
    after, before = (
        [(1 - rate) * a + rate * b for a, b in zip(plain, unit, strict=True)] for unit in (came, went)
    )
    any_of_two = 1 - (1 - rate) ** 2
    for first, second in ((after, before), (before, after)):
        assert max(a / b for a, b in zip(first, second, strict=True)) > 10**6 / (1 - any_of_two)


def deep(levels):
    event = events.Gaussian(noise_multiplier=1)
    for _ in range(levels):
        event = events.PoissonSampled(event * 2, rate=0.5)
    return event


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: events.PoissonSampled(events.Pure(epsilon=1), rate=-0.1), "rate"),
        (lambda: events.PoissonSampled(events.Pure(epsilon=1), rate=1.1), "rate"),
        (lambda: events.PoissonSampled(events.Pure(epsilon=1), rate=float("nan")), "rate"),
        (lambda: events.PoissonSampled(3, rate=0.1), "event"),
        (lambda: events.PoissonSampled(LOCAL, rate=0.1), "event"),
        (lambda: events.PoissonSampled(events.Nothing, rate=0.1), "event"),
        (lambda: deep(60), "event"),
        (lambda: events.SampledWithoutReplacement(LOCAL, batch=11, population=10), "batch"),
        (lambda: events.SampledWithoutReplacement(LOCAL, batch=-1, population=10), "batch"),
        (lambda: events.SampledWithoutReplacement(LOCAL, batch=0, population=0), "population"),
        (lambda: events.SampledWithoutReplacement(events.Pure(epsilon=1), batch=1, population=10), "event"),
        (lambda: events.SampledWithReplacement(LOCAL, draws=1.5, population=10), "draws"),
        (lambda: events.SampledWithReplacement(events.group(LOCAL, 2), draws=1, population=10), "event"),
        (lambda: events.Shuffled(RESPONSE, people=0), "people"),
        (lambda: events.Shuffled(events.Pure(epsilon=1), people=3), "event"),
        (
            lambda: events.Shuffled(events.Gaussian(noise_multiplier=1, neighbors=REPLACE_ROW), people=3),
            "event",
        ),
    ],
)
def test_bad_values_are_refused_by_name(make, name):
    with pytest.raises(ParameterError, match=f"^{name} "):
        make()


def test_assumptions_say_what_the_loader_must_do():
    poisson, fixed, drawn, _ = ONE_OF_EACH.values()
    words = ("Poisson", "without replacement", "with replacement", "honest shuffler")
    for event, word in zip(ONE_OF_EACH.values(), words, strict=True):
        assert word in event.assumption
        assert sampling_assumption(event) == event.assumption
    assert len({event.assumption for event in ONE_OF_EACH.values()}) == 4
    for event in (events.Nothing, events.Pure(epsilon=1), events.Parallel(LOCAL, LOCAL * 3)):
        assert sampling_assumption(event) == ""
    other = events.PoissonSampled(events.Laplace(epsilon=1), rate=0.3)
    assert sampling_assumption(poisson * 9 + other + events.Laplace(epsilon=1)) == poisson.assumption
    assert sampling_assumption(events.PoissonSampled(poisson + other, rate=0.5)) == poisson.assumption
    both = sampling_assumption(events.Parallel(drawn, fixed * 2) + LOCAL)
    assert both == f"{drawn.assumption}; {fixed.assumption}"
    assert sampling_assumption(events.Parallel(fixed * 2, drawn)) == both
    with pytest.raises(ParameterError, match=r"^event "):
        sampling_assumption("Poisson")


# A loader that shuffles: three units, one in each batch, a randomized response about each batch.


def hockey_stick(p, q, factor):
    return max(sum(max(a[y] - factor * b[y], 0) for y in p) for a, b in ((p, q), (q, p)))


def transcripts(orders, table, answer):
    """The law of the answers about three batches, the order of units drawn from a list."""
    law = dict.fromkeys(product((0, 1), repeat=3), Fraction(0))
    for order in orders:
        for answers in law:
            chance = Fraction(1, len(orders))
            for step, value in enumerate(answers):
                chance *= answer(table[order[step]], value, answers[:step])
            law[answers] += chance
    return law


def adaptive(truth):
    """A randomized response that asks the opposite question once a one was answered."""
    return lambda bit, value, before: truth if value == (bit ^ (1 in before)) else 1 - truth


@pytest.mark.parametrize("truth", [Fraction(3, 4), Fraction(999, 1000)])
def test_a_loader_that_shuffles_costs_what_one_step_costs(truth):
    ratio = truth / (1 - truth)
    for rest in product((0, 1), repeat=2):
        laws = [transcripts(list(permutations(range(3))), (*rest, bit), adaptive(truth)) for bit in (0, 1)]
        for factor in (Fraction(1), (1 + ratio) / 2, ratio):
            one_step = hockey_stick({0: truth, 1: 1 - truth}, {0: 1 - truth, 1: truth}, factor)
            assert hockey_stick(*laws, factor) <= one_step
        assert hockey_stick(*laws, ratio) == 0


def test_to_call_a_shuffling_loader_a_sample_claims_too_little():
    # Three samples of one of three units miss the unit with probability 8/27; a shuffled epoch never does.
    answer = adaptive(Fraction(999, 1000))
    shuffled, sampled = (
        [transcripts(orders, (0, 0, bit), answer) for bit in (0, 1)]
        for orders in (list(permutations(range(3))), list(product(range(3), repeat=3)))
    )
    assert hockey_stick(*sampled, 9) <= Fraction(19, 27)
    assert hockey_stick(*shuffled, 9) >= Fraction(95, 100)
