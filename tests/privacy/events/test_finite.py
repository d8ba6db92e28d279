"""Finite laws and profiles as records: canonical, complete, and grouped soundly."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp

import pytest

from discreet.errors import ParameterError
from discreet.privacy import events
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW


def test_outcomes_of_one_ratio_are_put_together_in_falling_order():
    one = events.FiniteLaws(outcomes=[("1/8", "1/4"), ("1/4", "1/4"), ("1/2", "1/4"), ("1/8", "1/4")])
    other = events.FiniteLaws(outcomes=[("1/2", "1/4"), ("1/4", "1/4"), ("1/4", "1/2")])
    assert one == other
    assert one.outcomes == ((Fraction(1, 2), Fraction(1, 4)), *one.outcomes[1:])
    assert len(one.outcomes) == 3


def test_what_is_missing_counts_as_an_outcome_that_the_other_law_cannot_have():
    event = events.FiniteLaws(outcomes=[(0.5, 0.25), (0.25, 0.5)])
    quarter, nothing = Fraction(1, 4), Fraction(0)
    assert event.outcomes[0] == (quarter, nothing)
    assert event.outcomes[-1] == (nothing, quarter)
    assert event.infinite_share == quarter
    assert event.pure_epsilon is None


def test_masses_that_floats_could_not_hold_are_outcomes_of_their_own():
    tiny = Fraction(1, 2**1000)
    event = events.FiniteLaws(outcomes=[(Fraction(1, 2), tiny), (Fraction(1, 2), 1 - tiny)])
    assert event.infinite_share == Fraction(1, 2)


def test_the_pure_epsilon_is_the_largest_loss_of_both_orders_rounded_up():
    event = events.FiniteLaws(outcomes=[("1/2", "1/4"), ("1/2", "3/4")])
    assert 2 <= exp(float(event.pure_epsilon)) < 2 * (1 + 1e-14)
    turned = events.FiniteLaws(outcomes=[("1/4", "1/2"), ("3/4", "1/2")])
    assert turned.pure_epsilon == event.pure_epsilon
    assert events.FiniteLaws(outcomes=[(1, 1)]).pure_epsilon == 0


def test_the_exchange_of_the_outcomes_needs_no_second_pair():
    outcomes = [("1/2", "1/4"), ("1/2", "3/4")]
    plain = events.FiniteLaws(outcomes=outcomes)
    assert events.FiniteLaws(outcomes=outcomes, added=[(q, p) for p, q in outcomes]) == plain
    assert events.FiniteLaws(outcomes=outcomes, added=[(1, 1)]).added == ((1, 1),)


@pytest.mark.parametrize("relation", [REPLACE_ROW, ADD_REMOVE_PERSON.group(2)])
def test_a_second_pair_needs_a_relation_with_a_direction(relation):
    with pytest.raises(ParameterError, match="without a direction"):
        events.FiniteLaws(outcomes=[(1, 1)], added=[(1, 1)], neighbors=relation)


@pytest.mark.parametrize(
    "outcomes", [[], "ab", [(0.5, 0.5, 0.5)], [(-0.1, 0.5)], [(0.6, 0.5), (0.5, 0.5)], [(1, 1)] * 5003, 7]
)
def test_what_are_no_laws_is_refused(outcomes):
    with pytest.raises(ParameterError):
        events.FiniteLaws(outcomes=outcomes)


@pytest.mark.parametrize("points", [[], [(1, 2)], [(-1, 0.1)], [(1, 0.1), (1, 0.2)], 3])
def test_what_is_no_profile_is_refused(points):
    with pytest.raises(ParameterError):
        events.PrivacyProfile(points=points)


def test_a_profile_falls_and_is_pure_from_its_first_zero_on():
    event = events.PrivacyProfile(points=[(2, 0.5), (1, 0.1), (3, 0), (4, 0)])
    assert [float(delta) for _, delta in event.points] == [0.1, 0.1, 0, 0]
    assert event.pure_epsilon == 3
    assert events.group(event, 2).points[-1] == (8, 0)


def test_a_group_of_finite_laws_is_covered_by_the_chain():
    """Three laws in a row, each two of which are within the event: what the ends tell apart is charged."""
    event = events.FiniteLaws(outcomes=[(0.5, 0.3), (0.3, 0.5), (0.2, 0.1), (0, 0.1)], neighbors=REPLACE_ROW)
    grouped = events.group(event, 2)
    for first, second in product(_close_to(event), repeat=2):
        for epsilon, delta in grouped.points:
            truth = sum(max(0.0, a - exp(epsilon) * b) for a, b in zip(first, second, strict=True))
            assert truth <= float(delta) + 1e-12


def _close_to(event):
    """Laws that are neighbors of Q, by its order: P itself, Q, and mixtures."""
    p, q = ([float(x) for x in law] for law in zip(*event.outcomes, strict=True))
    return [p, q, [(a + b) / 2 for a, b in zip(p, q, strict=True)]]


def test_as_many_points_and_outcomes_as_are_said_and_no_more():
    points = [(Fraction(n), Fraction(1, n + 1)) for n in range(2001)]
    assert len(events.PrivacyProfile(points=points[:-1]).points) == 2000
    with pytest.raises(ParameterError, match="points"):
        events.PrivacyProfile(points=points)


def test_a_mass_is_an_outcome_of_its_own_only_where_floats_could_not_hold_the_ratio():
    """A mass of 2^-960 is kept; a smaller one is charged as an outcome that the other law cannot have."""
    half = Fraction(1, 2)
    kept = Fraction(1, 2**960)
    event = events.FiniteLaws(outcomes=[(kept, half), (1 - kept, half)])
    assert event.outcomes == ((1 - kept, half), (kept, half))
    lost = Fraction(1, 2**961)
    event = events.FiniteLaws(outcomes=[(lost, half), (1 - lost, half)])
    assert event.outcomes == ((lost, Fraction(0)), (1 - lost, half), (Fraction(0), half))
