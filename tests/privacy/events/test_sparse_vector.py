"""Sparse vectors with any threshold noise: what may be recorded, under either relation."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.privacy import ADD_REMOVE_PERSON, REPLACE_ROW, events
from discreet.privacy.events import SparseVector


@pytest.mark.parametrize("relation", [ADD_REMOVE_PERSON, REPLACE_ROW], ids=str)
@pytest.mark.parametrize("positives", [1, 3, 10**9])
def test_each_positive_answer_costs_a_threshold_and_a_question(relation, positives):
    event = SparseVector(
        events.Laplace(epsilon="1/4", neighbors=relation), query_epsilon="1/2", positives=positives
    )
    assert event.neighbors == relation
    assert event.pure_epsilon == positives * Fraction(3, 4)
    normal = SparseVector(events.Gaussian(noise_multiplier=2, neighbors=relation), query_epsilon="1/2")
    assert normal.pure_epsilon is None


@pytest.mark.parametrize("positives", [0, -1, 10**9 + 1, 1.5])
def test_counts_out_of_range_are_refused(positives):
    with pytest.raises(ParameterError, match="positives"):
        SparseVector(events.Laplace(epsilon=1), query_epsilon=1, positives=positives)


@pytest.mark.parametrize("event", [events.Nothing, None, "Laplace"])
def test_what_is_no_noise_is_refused(event):
    with pytest.raises(ParameterError, match="event"):
        SparseVector(event, query_epsilon=1)


def test_an_epsilon_below_zero_is_refused():
    with pytest.raises(ParameterError, match="query_epsilon"):
        SparseVector(events.Laplace(epsilon=1), query_epsilon=-1)
