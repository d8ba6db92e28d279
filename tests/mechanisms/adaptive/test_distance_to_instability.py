"""Distance to instability: the law of the code on all neighbors, and tests that are too generous."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from itertools import pairwise

import mpmath
import numpy as np
import pytest

from discreet.audit import check_mechanism
from discreet.audit.enumeration import output_law
from discreet.audit.outputs import output_key
from discreet.errors import ParameterError
from discreet.mechanisms.adaptive.distance_to_instability import FARTHEST, DistanceToInstability
from discreet.mechanisms.adaptive.no_answer import NO_ANSWER
from discreet.noise import is_private, replay
from discreet.privacy.events import Approximate
from discreet.privacy.neighbors import REPLACE_ROW
from mechanisms.instability_oracle import Joined, add_or_remove, distances, steps_to, worst
from mechanisms.key_selection_oracle import geometric_chance, laplace_chance, real

OFFERS = [(Fraction(1), Fraction(1, 20)), (Fraction(2), Fraction(1, 1000)), (Fraction(1, 2), Fraction(1, 20))]
MADE = [
    made
    for epsilon, delta in OFFERS
    for coin in [DistanceToInstability(epsilon=epsilon, delta=delta)]
    for made in (coin, coin.with_laplace_noise())
]


def changed(mechanism, **attributes):
    """The same mechanism with another test: one planted bug."""
    test = copy.copy(mechanism.test)
    for name, value in attributes.items():
        object.__setattr__(test, name, value)
    mutant = copy.copy(mechanism)
    object.__setattr__(mutant, "test", test)
    return mutant


def larger_in_fours(data):
    """A statistic that is stable in some places: the larger of two counts, in units of four."""
    zeros, ones = data.count(0), data.count(1)
    return max(zeros, ones) // 4


GRAPH = add_or_remove([0, 1], 14)
STEPS = distances(GRAPH, larger_in_fours)


def inputs(data):
    return larger_in_fours(data), STEPS[data]


@pytest.mark.parametrize("mechanism", MADE, ids=repr)
def test_the_law_of_the_code_keeps_the_promise_on_all_neighbors(mechanism):
    assert max(STEPS.values()) >= 2
    found = worst(mechanism, GRAPH, inputs)
    assert not found.violated, found.detail
    # Unstable neighbors use up all of delta; an integer threshold leaves up to e^-epsilon of it.
    assert found.tightness > (0.1 if "laplace" in repr(mechanism) else 0.999)


@pytest.mark.parametrize("mechanism", MADE, ids=repr)
def test_the_distance_to_another_answer_breaks_the_promise(mechanism):
    """The nearest data set with another value is a step farther than the nearest unstable one."""
    values = {data: larger_in_fours(data) for data in GRAPH}
    other = {
        value: steps_to(GRAPH, [data for data in GRAPH if values[data] != value])
        for value in set(values.values())
    }
    wrong = {data: other[values[data]][data] for data in GRAPH}
    assert all(wrong[data] == STEPS[data] + 1 for data in GRAPH)
    found = worst(mechanism, GRAPH, lambda data: (values[data], wrong[data]))
    assert found.violated
    # The failure grows by a factor of e^epsilon.
    growth = (1 - mechanism.error_at(distance=1)) / (1 - mechanism.error_at(distance=0))
    assert growth > 0.999 * float(mpmath.exp(real(mechanism.guarantee.epsilon)))


@pytest.mark.parametrize("mechanism", [m for m in MADE if "laplace" in repr(m)], ids=repr)
def test_a_threshold_one_too_low_or_half_the_noise_is_caught(mechanism):
    lower = changed(mechanism, threshold=mechanism.test.threshold - 1)
    assert worst(lower, GRAPH, inputs).violated
    halved = changed(mechanism, scale=mechanism.test.scale / 2)
    assert worst(halved, chain(40), lambda d: (0, d)).violated
    assert not worst(mechanism, chain(40), lambda d: (0, d)).violated


def chain(length):
    """Data sets at distances 0, 1, 2, … with one value."""
    return {d: [e for e in (d - 1, d + 1) if 0 <= e <= length] for d in range(length + 1)}


@pytest.mark.parametrize(("epsilon", "delta"), OFFERS)
def test_a_coin_for_another_epsilon_or_delta_is_caught(epsilon, delta):
    claim = DistanceToInstability(epsilon=epsilon, delta=delta).guarantee
    for wrong in (
        DistanceToInstability(epsilon=2 * epsilon, delta=delta),
        DistanceToInstability(epsilon=epsilon, delta=Fraction(11, 10) * delta),
    ):
        assert worst(wrong, chain(40), lambda d: (0, d), claim).violated


@pytest.mark.parametrize("mechanism", MADE, ids=repr)
@pytest.mark.statistical
def test_the_audit_passes(mechanism):
    report = check_mechanism(Joined(mechanism), draws=20_000, false_alarm=1e-9 * 5)
    assert report.passed, str(report)
    assert report.findings[0].verdict == "passed", str(report)


@pytest.mark.parametrize("mechanism", [m for m in MADE if "laplace" in repr(m)], ids=repr)
@pytest.mark.statistical
def test_the_audit_fails_the_mutants(mechanism):
    lower = changed(mechanism, threshold=mechanism.test.threshold - 1)
    halved = changed(mechanism, scale=mechanism.test.scale / 2)
    for mutant in (lower, halved):
        report = check_mechanism(Joined(mutant), inputs=mechanism.neighboring_inputs(), draws=20_000)
        assert report.findings[0].verdict == "failed", str(report)


@pytest.mark.parametrize(("epsilon", "delta"), OFFERS)
def test_the_chance_of_no_answer_is_that_of_the_law(epsilon, delta):
    coin = DistanceToInstability(epsilon=epsilon, delta=delta)
    noisy = coin.with_laplace_noise()
    best = geometric_chance(epsilon, delta, 30)
    passed = laplace_chance(noisy.test.scale, noisy.test.threshold)
    for d in range(25):
        assert coin.error_at(distance=d) == pytest.approx(float(1 - best[d + 1]), abs=1e-15)
        assert noisy.error_at(distance=d) == pytest.approx(float(1 - passed(d + 1)), abs=1e-15)
        for made in (coin, noisy):
            law = output_law(lambda given, made=made: made.release(*given), (7, d))
            refused = law.masses.get(output_key(NO_ANSWER), Fraction(0))
            assert float(refused) == pytest.approx(made.error_at(distance=d), abs=1e-12)


def test_the_threshold_is_that_of_the_published_mechanism():
    """d + Lap(1 / epsilon) > t with the least integer t such that P(noise > t) <= delta."""
    epsilon, delta = Fraction(1, 3), Fraction(1, 10**5)
    noisy = DistanceToInstability(epsilon=epsilon, delta=delta).with_laplace_noise()
    ratio = mpmath.exp(-real(epsilon))
    least = next(t for t in range(1000) if ratio ** (t + 1) / (1 + ratio) <= real(delta))
    assert noisy.test.threshold == least + 2  # d + 1 + N >= T is d + N > T - 2
    assert abs(least - float(mpmath.log(1 / (2 * real(delta))) / real(epsilon))) <= 2


@pytest.mark.parametrize(("epsilon", "delta"), [*OFFERS, (Fraction(1), Fraction(1, 10**6))])
def test_the_coin_answers_at_least_as_often_as_the_noise(epsilon, delta):
    coin = DistanceToInstability(epsilon=epsilon, delta=delta)
    noisy = coin.with_laplace_noise()
    assert all(coin.error_at(distance=d) <= noisy.error_at(distance=d) for d in range(60))
    assert coin.error_at(distance=coin.distance_for(1)) == 0.0
    assert coin.distance_for(0.95) <= noisy.distance_for(0.95)


def test_no_private_refusal_answers_more_often():
    """At every distance the coin attains a bound that its neighbor closer to instability sets."""
    epsilon, delta = Fraction(1), Fraction(1, 100)
    coin = DistanceToInstability(epsilon=epsilon, delta=delta)
    chances = [1 - Fraction(coin.error_at(distance=d)) for d in range(coin.distance_for(1) + 1)]
    e = Fraction(float(mpmath.e))
    assert float(chances[0]) == pytest.approx(float(delta), rel=1e-12)
    for p, q in pairwise(chances):
        slack = min(e * p + delta - q, e * (1 - q) + delta - (1 - p), 1 - q)
        assert abs(float(slack)) < 1e-12


def test_values_leave_as_they_are():
    mechanism = DistanceToInstability(epsilon=1, delta=1e-6)
    far = mechanism.distance_for(1)
    for value in (3, -2.5, "blue", None, (1, "a")):
        assert mechanism.release(value, far) == value
        assert mechanism.release(value, 10**30) == value
    whole = np.arange(10)
    part = mechanism.release(whole[2:4], np.int64(far))
    assert part.tolist() == [2, 3]
    assert part.base is None  # a view would carry all the data
    assert DistanceToInstability(epsilon=1, delta=1e-9).release(3, -5) is NO_ANSWER


def test_what_is_refused_depends_on_types_alone():
    mechanism = DistanceToInstability(epsilon=1, delta=1e-6)
    for distance in (1.0, True, "1", None):
        with pytest.raises(ParameterError, match="distance"):
            mechanism.release(0, distance)
    for parameters in ({"epsilon": 0}, {"delta": 0}, {"delta": 1}, {"epsilon": 101}, {"neighbors": "rows"}):
        with pytest.raises(ParameterError, match=next(iter(parameters))):
            DistanceToInstability(**{"epsilon": 1, "delta": 1e-6} | parameters)
    with pytest.raises(ParameterError, match="distance"):
        mechanism.error_at(distance=-1)
    with pytest.raises(ParameterError, match="probability"):
        mechanism.distance_for(0)


def test_replayed_answers_are_marked_and_refusals_are_not():
    mechanism = DistanceToInstability(epsilon=1, delta=1e-6)
    with replay(1):
        assert not is_private(mechanism.release(5, FARTHEST))
        assert mechanism.release(5, 0) is NO_ANSWER


def test_a_small_epsilon_falls_back_on_noise():
    mechanism = DistanceToInstability(epsilon=1e-6, delta=1e-6, neighbors=REPLACE_ROW)
    assert mechanism == mechanism.with_laplace_noise()
    assert mechanism.event == Approximate(epsilon=1e-6, delta=1e-6, neighbors=REPLACE_ROW)
    assert mechanism.guarantee.neighbors == mechanism.neighbors == REPLACE_ROW
    assert "REPLACE_ROW" in repr(mechanism)


def test_mechanisms_are_values():
    mechanism = DistanceToInstability(epsilon=1, delta=1e-6)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert hash(copy.deepcopy(mechanism)) == hash(mechanism)
    assert (mechanism.epsilon, mechanism.delta) == (1.0, pytest.approx(1e-6))
    assert Fraction(mechanism.delta) >= mechanism.guarantee.delta


def test_nothing_but_the_value_leaves():
    """Views hold on to the array that they are part of, however deep they are."""
    mechanism, data = DistanceToInstability(epsilon=1, delta=1e-6), np.arange(1000.0)
    for value in ((data[:1],), [data[:1]], {"a": data[:1]}, ((data[:1], 3),), [({"a": [data[:1]]},)]):
        found = mechanism.release(value, FARTHEST)
        while not isinstance(found, np.ndarray):
            found = next(iter(found.values() if isinstance(found, dict) else found))
        assert found.tolist() == [0.0]
        assert found.base is None
        assert not np.shares_memory(found, data)
    matrix = mechanism.release(np.asarray([[1, 2]]).view(np.recarray), FARTHEST)
    assert type(matrix) is np.ndarray


@pytest.mark.parametrize(
    "value",
    [
        np.ma.array([1, 99], mask=[0, 1]),
        (np.ma.array([1, 99], mask=[0, 1]),),
        np.array([np.arange(9)[:1], None], object),
        np.zeros(2, [("shown", int), ("hidden", int)])[["shown"]],
        np.zeros(2, [("shown", int), ("hidden", int)])[0],
        memoryview(b"12"),
        iter([1]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_may_hold_more_than_it_shows_is_refused_by_its_type(value):
    for distance in (0, FARTHEST):
        with pytest.raises(ParameterError, match="value") as caught:
            DistanceToInstability(epsilon=1, delta=1e-6).release(value, distance)
        assert "99" not in str(caught.value)
