"""Stable winners: distances against a search, the law of the code on all small elections, and mutants."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit import check_mechanism
from discreet.errors import ParameterError
from discreet.mechanisms import Exponential
from discreet.mechanisms.adaptive.distance_to_instability import FARTHEST
from discreet.mechanisms.adaptive.no_answer import NO_ANSWER
from discreet.mechanisms.adaptive.stable_selection import StableArgmax, StableTopK
from discreet.noise import is_private, replay
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW
from mechanisms.instability_oracle import add_or_remove, distances, persons_of, replace, worst

OFFER = {"epsilon": 1, "delta": Fraction(1, 20)}


def counted(data, candidates):
    return tuple(sum(person[candidate] for person in data) for candidate in range(candidates))


def best(counts, k):
    """The k best by score, then by index: by sorting pairs."""
    return tuple(sorted(sorted(range(len(counts)), key=lambda index: (-counts[index], index))[:k]))


ELECTIONS = {
    "one vote, two candidates": (2, 1, add_or_remove(persons_of(2, 1), 12), True),
    "one vote, three candidates": (3, 1, add_or_remove(persons_of(3, 1), 8), True),
    "up to two votes, two candidates": (2, 2, add_or_remove(persons_of(2, 2), 5), True),
    "up to three votes, two candidates": (2, 3, add_or_remove(persons_of(2, 3), 4), True),
    "replaced, two candidates": (2, 1, replace(persons_of(2, 1), 9), False),
    "replaced, three candidates": (3, 1, replace(persons_of(3, 1), 7), False),
    "replaced, two votes": (2, 2, replace(persons_of(2, 2), 4), False),
}


def made(name, k):
    _, votes, _, monotone = ELECTIONS[name]
    neighbors = ADD_REMOVE_PERSON if monotone else REPLACE_ROW
    parameters = {"sensitivity": votes, "monotone": monotone, "neighbors": neighbors, **OFFER}
    return StableArgmax(**parameters) if k == 1 else StableTopK(k=k, **parameters)


CASES = [(name, k) for name, (candidates, *_) in ELECTIONS.items() for k in range(1, candidates)]


@pytest.mark.parametrize(("name", "k"), CASES)
def test_the_distance_is_that_of_a_search(name, k):
    """Adding voters is always possible, so within the universe distances are exact but for its rim."""
    candidates, votes, graph, monotone = ELECTIONS[name]
    mechanism = made(name, k)
    searched = distances(graph, lambda data: best(counted(data, candidates), k))
    largest = max(len(data) for data in graph)
    exact = 0
    for data, steps in searched.items():
        counts = counted(data, candidates)
        chosen, distance = mechanism._chosen(list(counts))
        assert tuple(sorted(chosen)) == best(counts, k)
        if monotone and len(data) + steps >= largest:
            assert distance <= steps
        elif monotone or votes == 1:
            assert distance == steps
            exact += 1
        else:
            assert distance <= steps  # replaced persons may have fewer votes than they could
    assert exact >= 10 or votes > 1


@pytest.mark.parametrize(("name", "k"), CASES)
def test_the_law_of_the_code_keeps_the_promise_on_all_elections(name, k):
    candidates, _, graph, _ = ELECTIONS[name]
    for mechanism in (made(name, k), made(name, k).with_laplace_noise()):
        found = worst(mechanism, graph, lambda data: (counted(data, candidates),))
        assert not found.violated, found.detail
        assert found.tightness > 0.1


@pytest.mark.parametrize(("name", "k"), CASES)
def test_a_distance_one_too_large_is_caught(name, k):
    """The distance to the nearest other winner, instead of the nearest unstable election."""
    candidates, _, graph, _ = ELECTIONS[name]
    mechanism = made(name, k)

    class Farther(type(mechanism)):
        def _chosen(self, scores):
            chosen, distance = type(mechanism)._chosen(self, scores)
            return chosen, distance + 1

    farther = object.__new__(Farther)
    for field in ("scores", "test", "k"):
        object.__setattr__(farther, field, getattr(mechanism, field))
    assert worst(farther, graph, lambda data: (counted(data, candidates),)).violated


@pytest.mark.parametrize("name", ["replaced, two candidates", "replaced, three candidates"])
def test_taking_replaced_votes_for_added_ones_is_caught(name):
    candidates, _, graph, _ = ELECTIONS[name]
    mutant = StableArgmax(sensitivity=1, monotone=True, **OFFER)
    assert worst(mutant, graph, lambda data: (counted(data, candidates),)).violated


@pytest.mark.parametrize("name", ["up to two votes, two candidates", "up to three votes, two candidates"])
def test_taking_voters_for_votes_is_caught(name):
    candidates, _, graph, _ = ELECTIONS[name]
    mutant = StableArgmax(sensitivity=1, monotone=True, **OFFER)
    assert worst(mutant, graph, lambda data: (counted(data, candidates),)).violated


@pytest.mark.parametrize(
    "mechanism",
    [
        StableArgmax(sensitivity=1, monotone=True, **OFFER),
        StableArgmax(sensitivity=3, monotone=True, **OFFER),
        StableArgmax(sensitivity=1, **OFFER).with_laplace_noise(),
        StableTopK(k=2, sensitivity=1, monotone=True, **OFFER),
        StableTopK(k=3, sensitivity=2, **OFFER),
        StableArgmax(sensitivity=0.3, **OFFER),
    ],
    ids=repr,
)
@pytest.mark.statistical
def test_the_audit_passes(mechanism):
    report = check_mechanism(mechanism, draws=20_000, false_alarm=1e-9 * 5)
    assert report.passed, str(report)
    assert report.findings[0].verdict == "passed", str(report)


@given(
    scores=st.lists(st.integers(-5, 5), min_size=2, max_size=6),
    moves=st.lists(st.integers(-2, 2), min_size=6, max_size=6),
    k=st.integers(1, 5),
)
@settings(deadline=None)
def test_neighbors_differ_by_one_step_and_only_unstable_ones_in_their_choice(scores, moves, k):
    k = min(k, len(scores))
    moved = [score + move for score, move in zip(scores, moves, strict=False)]
    mechanism = StableTopK(k=k, sensitivity=2, **OFFER)
    chosen, distance = mechanism._chosen(scores)
    other, beside = mechanism._chosen(moved)
    assert abs(distance - beside) <= 1
    assert distance >= 0
    assert tuple(sorted(chosen)) == best(scores, k)
    if set(chosen) != set(other):
        assert distance == beside == 0


def test_real_scores_are_charged_for_their_rounding():
    mechanism = StableArgmax(sensitivity=0.3, epsilon=1, delta=1e-6, grid=0.25)
    assert mechanism.sensitivity == Fraction(1, 2)
    assert mechanism.error_at(lead=mechanism.lead_for(0.9)) <= 0.1
    assert mechanism.error_at(lead=mechanism.lead_for(0.9) - 0.25) > 0.1
    assert mechanism.release([100.3, -2.5, 20.1]) == 0


def test_one_candidate_or_all_of_them_are_stable():
    assert StableArgmax(sensitivity=1, epsilon=1, delta=1e-6).release([0]) == 0
    mechanism = StableTopK(k=3, sensitivity=1, epsilon=1, delta=1e-6)
    assert mechanism._chosen([0, 0, 0])[1] == FARTHEST
    assert mechanism.release([0, 0, 0]).tolist() == [0, 1, 2]
    with pytest.raises(ParameterError, match="k"):
        mechanism.release([1, 2])
    with pytest.raises(ParameterError, match="scores"):
        mechanism.release([])


def test_extreme_scores_are_no_error():
    mechanism = StableArgmax(sensitivity=1, epsilon=1, delta=1e-9)
    assert mechanism.release([10**30, -(10**30)]) == 0
    assert mechanism.release([10**30, 10**31]) is NO_ANSWER  # both are clamped: a tie
    assert mechanism.release(np.array([0, 2**63 - 1])) == 1


def test_ties_go_to_the_first_and_are_hardly_ever_told():
    mechanism = StableArgmax(sensitivity=1, epsilon=1, delta=1e-9, monotone=True)
    assert mechanism._chosen([3, 3, 3]) == ([0], 0)
    assert mechanism._chosen([3, 4, 3]) == ([1], 0)  # a vote for the first makes a tie, which it wins
    assert mechanism._chosen([4, 3, 3]) == ([0], 1)
    assert mechanism.release([7, 7, 7]) is NO_ANSWER


def test_errors_are_those_of_the_lead():
    mechanism = StableArgmax(sensitivity=1, epsilon=1, delta=1e-6, monotone=True)
    for lead in range(1, 30):
        assert mechanism.error_at(lead=lead) == mechanism.test.error_at(distance=lead - 1)
    assert mechanism.error_at(lead=0) == mechanism.error_at(lead=1)
    assert mechanism.error_at(lead=mechanism.lead_for(1)) == 0.0
    twice = StableArgmax(sensitivity=1, epsilon=1, delta=1e-6)
    assert twice.lead_for(1) == 2 * mechanism.lead_for(1) - 1


def test_the_comparison_with_the_exponential_mechanism():
    """The table of the proof page: the probability of not naming the winner, if all others are level."""
    stable = StableArgmax(sensitivity=1, epsilon=1, delta=1e-6, monotone=True)

    def missed(lead, candidates):
        weight = (candidates - 1) * exp(-lead)
        return weight / (1 + weight)

    rate = Exponential(sensitivity=1, epsilon=1, monotone=True).rate
    assert rate == 1
    table = {
        lead: (stable.error_at(lead=lead), missed(lead, 2), missed(lead, 1000), missed(lead, 10**6))
        for lead in (5, 10, 15, 20, 28)
    }
    rounded = {lead: tuple(f"{value:.1e}" for value in row) for lead, row in table.items()}
    assert rounded == {
        5: ("1.0e+00", "6.7e-03", "8.7e-01", "1.0e+00"),
        10: ("9.9e-01", "4.5e-05", "4.3e-02", "9.8e-01"),
        15: ("1.1e-01", "3.1e-07", "3.1e-04", "2.3e-01"),
        20: ("7.4e-04", "2.1e-09", "2.1e-06", "2.1e-03"),
        28: ("0.0e+00", "6.9e-13", "6.9e-10", "6.9e-07"),
    }


def test_replayed_choices_are_marked():
    with replay(3):
        assert not is_private(StableArgmax(sensitivity=1, **OFFER).release([0, 1000]))
        assert not is_private(StableTopK(k=1, sensitivity=1, **OFFER).release([0, 1000]))


def test_mechanisms_are_values():
    mechanism = StableTopK(k=2, sensitivity=1, **OFFER)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert hash(copy.deepcopy(mechanism)) == hash(mechanism)
    assert repr(mechanism).startswith("StableTopK(k=2, sensitivity=1, ")
    assert mechanism.guarantee.epsilon == 1
    assert mechanism.event.delta == Fraction(1, 20)


@pytest.mark.parametrize("sensitivity", [0.3, 0.1, "1/3", 7, Fraction(1, 10**6)])
@pytest.mark.parametrize("probability", [0.5, 0.95, 1])
def test_the_lead_that_is_said_to_suffice_does(sensitivity, probability):
    """As it is read back: a float means its shortest decimal, which may be less than the float."""
    for monotone in (False, True):
        mechanism = StableArgmax(sensitivity=sensitivity, epsilon=1, delta=1e-6, monotone=monotone)
        lead = mechanism.lead_for(probability)
        assert mechanism.error_at(lead=lead) <= 1 - probability
