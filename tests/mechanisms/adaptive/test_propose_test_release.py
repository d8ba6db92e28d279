"""Propose-test-release: the law of the code on all small data sets, and proposals that would break it."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit import check_mechanism
from discreet.audit.enumeration import output_law
from discreet.audit.outputs import output_key
from discreet.errors import ParameterError
from discreet.mechanisms import Laplace
from discreet.mechanisms.adaptive.distance_to_instability import DistanceToInstability
from discreet.mechanisms.adaptive.no_answer import NO_ANSWER
from discreet.mechanisms.adaptive.propose_test_release import ProposeTestRelease, ScaleLadder
from discreet.mechanisms.additive.bounded_answer import BoundedAnswer
from discreet.noise import is_private, replay
from discreet.privacy.events import Approximate, Pure
from discreet.privacy.neighbors import REPLACE_ROW
from discreet.privacy.sensitivity import sum_of
from mechanisms.instability_oracle import Joined, add_or_remove, replace, steps_to, worst


def median(data):
    return sorted(data)[len(data) // 2] if data else 0


def local_sensitivity(graph, data):
    return max((abs(median(data) - median(other)) for other in graph[data]), default=0)


def distances_for(graph, bound):
    """The steps to the nearest data set whose local sensitivity exceeds the bound, by search."""
    return steps_to(graph, [data for data in graph if local_sensitivity(graph, data) > bound])


DOMAIN = [0, 1, 2, 40]
REPLACED = replace(DOMAIN, 7)
CHANGED = add_or_remove(DOMAIN, 7)
OFFER = {"epsilon": 2, "delta": Fraction(1, 100)}
MADE = [
    made
    for share in (Fraction(1, 2), Fraction(2, 3))
    for coin in [ProposeTestRelease(sensitivity=1, share=share, **OFFER)]
    for made in (coin, coin.with_laplace_noise())
]


def with_test(mechanism, test):
    mutant = copy.copy(mechanism)
    object.__setattr__(mutant, "test", test)
    return mutant


@pytest.mark.parametrize("graph", [REPLACED, CHANGED], ids=["replace", "add or remove"])
@pytest.mark.parametrize("mechanism", MADE, ids=repr)
def test_the_law_of_the_code_keeps_the_promise_on_all_neighbors(mechanism, graph):
    steps = distances_for(graph, 1)
    assert {0, 1, 2} <= set(steps.values())
    found = worst(mechanism, graph, lambda data: (median(data), steps[data]))
    assert not found.violated, found.detail
    assert found.tightness > 0.05


def test_a_bound_that_is_not_tested_breaks_the_promise():
    steps = distances_for(REPLACED, 1)
    untested = DistanceToInstability(epsilon=1, delta=Fraction(999, 1000))
    found = worst(
        with_test(MADE[0], untested),
        REPLACED,
        lambda data: (median(data), steps[data]),
        MADE[0].guarantee,
    )
    assert found.violated


@pytest.mark.parametrize("mechanism", MADE, ids=repr)
def test_a_distance_to_a_change_beyond_the_bound_breaks_the_promise(mechanism):
    """Counting to the data set after the large change, instead of the one before it, is one too far."""
    steps = distances_for(REPLACED, 1)
    assert worst(mechanism, REPLACED, lambda data: (median(data), steps[data] + 1)).violated


@pytest.mark.parametrize("mechanism", MADE[1::2], ids=repr)
def test_a_threshold_one_too_low_is_caught(mechanism):
    test = copy.copy(mechanism.test.test)
    object.__setattr__(test, "threshold", test.threshold - 1)
    outer = copy.copy(mechanism.test)
    object.__setattr__(outer, "test", test)
    mutant = with_test(mechanism, outer)
    assert worst_of_inputs(mutant, mechanism).violated


@pytest.mark.parametrize("mechanism", MADE, ids=repr)
def test_half_the_noise_is_caught(mechanism):
    mutant = copy.copy(mechanism)
    object.__setattr__(mutant, "noise", Laplace(sensitivity=1, scale=mechanism.noise.event.scale / 2))
    assert worst_of_inputs(mutant, mechanism).violated
    assert not worst_of_inputs(mechanism, mechanism).violated


def worst_of_inputs(mutant, mechanism):
    """The tightest comparison on the inputs that the mechanism itself names."""
    graph = {}
    for x, y in mechanism.neighboring_inputs():
        graph.setdefault(x, []).append(y)
        graph.setdefault(y, []).append(x)
    return worst(mutant, graph, lambda given: given, mechanism.guarantee)


@pytest.mark.statistical
def test_the_audit_passes_and_fails_mutants():
    mechanism = ProposeTestRelease(sensitivity=2, epsilon=4, delta=Fraction(1, 20))
    report = check_mechanism(Joined(mechanism), draws=20_000, false_alarm=1e-9 * 5)
    assert report.passed, str(report)
    assert report.findings[0].verdict == "passed", str(report)
    mutant = copy.copy(mechanism)
    object.__setattr__(mutant, "noise", Laplace(sensitivity=2, scale=mechanism.noise.event.scale / 2))
    report = check_mechanism(
        Joined(mutant), mechanism.guarantee, inputs=mechanism.neighboring_inputs(), draws=20_000
    )
    assert report.findings[0].verdict == "failed", str(report)


def test_test_and_noise_add_up_exactly():
    mechanism = ProposeTestRelease(sensitivity=3, epsilon=0.3, delta=1e-6, share=Fraction(1, 3))
    assert mechanism.guarantee.epsilon == Fraction(3, 10)
    assert mechanism.guarantee.delta == Fraction(1, 10**6)
    assert mechanism.event == Approximate(epsilon=0.1, delta=1e-6) + mechanism.noise.event
    assert mechanism.noise.event.scale == 15
    real = ProposeTestRelease(sensitivity=0.3, epsilon=2, delta=1e-6)
    assert real.guarantee.epsilon == 2  # rounding to the grid is in the noise
    replaced = ProposeTestRelease(sensitivity=sum_of(0, 5, neighbors=REPLACE_ROW), epsilon=2, delta=1e-6)
    assert replaced.neighbors == replaced.guarantee.neighbors == replaced.test.neighbors == REPLACE_ROW
    assert replaced.event.neighbors == REPLACE_ROW


@pytest.mark.parametrize("mechanism", MADE, ids=repr)
def test_the_chance_of_no_answer_is_that_of_the_test(mechanism):
    for d in (0, 1, 3, 6):
        law = output_law(lambda given: mechanism.release(*given), (5, d))
        refused = law.masses.get(output_key(NO_ANSWER), Fraction(0))
        assert float(refused) == pytest.approx(mechanism.error_at(distance=d), abs=1e-12)
    assert mechanism.error_at(distance=mechanism.distance_for(0.9)) <= 0.1


def test_values_are_rounded_once():
    """A fraction just below a half does not reach the next step through a float."""
    mechanism = ProposeTestRelease(sensitivity=1.0, epsilon=2, delta=1e-6, grid=1)
    for base in (0, 2**20):
        value = base + Fraction(1, 2) - Fraction(1, 10**11)
        with replay(5):
            below = mechanism.release(value, 10**6)
        with replay(5):
            rounded = mechanism.release(float(base), 10**6)
        assert below == rounded
    whole = ProposeTestRelease(sensitivity=1, epsilon=2, delta=1e-6)
    assert type(whole.release(Fraction(7, 2), 10**6)) is int
    assert type(whole.release(10**30, 10**6)) is int  # clamped
    assert type(mechanism.release(Fraction(10**30, 7), 10**6)) is float
    assert type(mechanism.release(np.float64(2.5), 10**6)) is float


def test_what_is_refused_depends_on_types_alone():
    mechanism = ProposeTestRelease(sensitivity=1, epsilon=2, delta=1e-6)
    for value in ("1", None, [1, 2], 1.5):
        for distance in (0, 10**6):
            with pytest.raises(ParameterError, match="value"):
                mechanism.release(value, distance)
    with pytest.raises(ParameterError, match="distance"):
        mechanism.release(1, 0.5)
    for parameters in ({"share": 0}, {"share": 1}, {"sensitivity": 0}, {"epsilon": 0}, {"delta": 2}):
        with pytest.raises(ParameterError, match=next(iter(parameters))):
            ProposeTestRelease(**{"sensitivity": 1, "epsilon": 2, "delta": 1e-6} | parameters)


def test_replayed_answers_are_marked():
    with replay(1):
        assert not is_private(MADE[0].release(5, 1000))
        assert ProposeTestRelease(sensitivity=1, epsilon=1, delta=1e-9).release(5, 0) is NO_ANSWER


def test_mechanisms_are_values():
    assert pickle.loads(pickle.dumps(MADE[0])) == MADE[0]
    assert hash(copy.deepcopy(MADE[0])) == hash(MADE[0])


LADDER = ProposeTestRelease.ladder(sensitivities=[1, 2, 3], epsilon=12, delta=Fraction(3, 20))


def test_a_ladder_keeps_its_promise_on_all_neighbors():
    graph = replace(DOMAIN, 5)
    steps = [distances_for(graph, bound) for bound in (1, 2, 3)]

    def inputs(data):
        return median(data), tuple(distance[data] for distance in steps)

    found = worst(LADDER, graph, inputs)
    assert not found.violated, found.detail
    assert found.tightness > 0.9
    rungs = tuple(with_test(rung, DistanceToInstability(epsilon=2, delta=0.06)) for rung in LADDER.rungs)
    assert worst(ScaleLadder(rungs=rungs), graph, inputs, LADDER.guarantee).violated


@pytest.mark.statistical
def test_a_ladder_charges_every_test():
    assert LADDER.guarantee.epsilon == 12
    assert LADDER.guarantee.delta == Fraction(3, 20)
    assert LADDER.event == Approximate(epsilon=2, delta=0.05) * 3 + Pure(epsilon=6)
    assert repr(LADDER) == "Ladder([1, 2, 3], epsilon=12, delta=0.15)"
    report = check_mechanism(Joined(LADDER), draws=10_000, false_alarm=1e-9 * 5)
    assert report.passed, str(report)


@pytest.mark.statistical
def test_a_ladder_names_the_bound_that_passed():
    far = 10**6
    for distances, bound in (((far, far, far), 1), ((0, far, far), 2), ((0, 0, far), 3)):
        answers = [LADDER.release(100, distances) for _ in range(50)]
        assert sum(answer.bound == bound for answer in answers) >= 30  # 0 passes with probability 1 / 20
    ladder = ProposeTestRelease.ladder(sensitivities=[0.5, 4.0], epsilon=6, delta=1e-9)
    answer = ladder.release(Fraction(1, 3), [0, far])
    assert isinstance(answer, BoundedAnswer)
    assert 4.0 <= answer.bound < 4.001
    lower, upper = answer.interval(0.95)
    assert upper - lower == pytest.approx(2 * ladder.rungs[1].noise.error.quantile(0.95))
    assert ladder.release(1.0, [0, 0]) is NO_ANSWER


def test_a_ladder_refuses_in_vain_as_often_as_it_says():
    law = output_law(lambda given: LADDER.release(*given), (0, (1, 2, 3)))
    refused = float(law.masses[output_key(NO_ANSWER)])
    assert refused == pytest.approx(LADDER.error_at(distances=[1, 2, 3]), abs=1e-9)
    with pytest.raises(ParameterError, match="distances"):
        LADDER.release(0, [1, 2])
    for bounds in ([], [2, 1], [1, 1], [0, 1], [1, 2.5]):
        with pytest.raises(ParameterError, match="sensitivities"):
            ProposeTestRelease.ladder(sensitivities=bounds, epsilon=1, delta=1e-6)


def test_intervals_of_fractions_cover_their_rounding():
    """With next to no noise, 1/2 is released as 0 or 1."""
    ladder = ProposeTestRelease.ladder(sensitivities=[1, 2], epsilon=10, delta=0.1)
    with replay(5):
        answers = [ladder.release(Fraction(1, 2), [10**6, 10**6]) for _ in range(300)]
        whole = ladder.release(Fraction(3), [10**6, 10**6])
        integer = ladder.release(3, [10**6, 10**6])
    ends = [answer.interval(0.95) for answer in answers]
    assert np.mean([lower <= 0.5 <= upper for lower, upper in ends]) > 0.93
    # The type decides, since whether a fraction is whole is private.
    assert whole.rounding == Fraction(1, 2)
    assert integer.rounding == 0
    mechanism = ProposeTestRelease(sensitivity=1, epsilon=10, delta=0.1)
    with replay(6):
        errors = [abs(mechanism.release(Fraction(1, 2), 10**6) - 0.5) for _ in range(300)]
    assert mechanism.fraction_error.quantile(0.95) == mechanism.noise.error.quantile(0.95) + 0.5
    assert np.mean([error <= mechanism.fraction_error.quantile(0.95) for error in errors]) > 0.93
    real = ProposeTestRelease(sensitivity=1.0, epsilon=10, delta=0.1)
    assert real.fraction_error == real.noise.error


def test_all_distances_are_checked_before_the_first_coin():
    """Else an error would tell that the tests before it failed."""
    for _ in range(20):
        with pytest.raises(ParameterError, match="distance"):
            LADDER.release(0, [10**6, 10**6, "3"])


def test_a_ladder_of_unlike_rungs_is_refused():
    rung = ProposeTestRelease(sensitivity=1, epsilon=1, delta=1e-6)
    for other in (
        {"epsilon": 100},
        {"delta": 0.5},
        {"share": Fraction(1, 3)},
        {"neighbors": REPLACE_ROW},
        {"sensitivity": 2.0},
    ):
        unlike = ProposeTestRelease(**{"sensitivity": 2, "epsilon": 1, "delta": 1e-6, **other})
        with pytest.raises(ParameterError, match="rungs"):
            ScaleLadder(rungs=(rung, unlike))
    with pytest.raises(ParameterError, match="rungs"):
        ScaleLadder(rungs=())
    assert ScaleLadder(rungs=(rung,)).guarantee == rung.guarantee
