"""How far one person moves one answer, against enumeration."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_PERSON
from discreet.workloads.data_release.person_change import (
    PersonChange,
    counts_of,
    integer_queries,
    largest_change,
)
from workloads.data_release.person_oracle import persons


@pytest.mark.parametrize(("rows", "groups"), [(1, None), (3, None), (1, 2), (2, 2), (1, 3), (2, 9)])
def test_the_largest_change_is_that_of_the_worst_person(rows, groups):
    random = np.random.default_rng(1)
    everyone = list(persons(3, rows, groups))
    for _ in range(20):
        queries = random.integers(-3, 4, (4, 3))
        queries[0, 0] = 1
        comes = max(int(np.abs(queries @ person).max()) for person in everyone)
        assert largest_change(queries, PersonChange(rows=rows, groups=groups)) == comes
        replaced = max(
            int(np.abs(queries @ (person - other)).max()) for person in everyone for other in everyone
        )
        change = PersonChange(rows=rows, groups=groups, neighbors=REPLACE_PERSON)
        assert largest_change(queries, change) == replaced


def test_rows_in_all():
    assert PersonChange(rows=3).counts == 3
    assert PersonChange(rows=3, groups=2).counts == 6


def test_queries_may_be_a_workload():
    class Written:
        def matrix(self):
            return np.array([[1.0, 0.0], [1.0, 1.0]])

    assert integer_queries(Written()).tolist() == [[1, 0], [1, 1]]
    assert integer_queries([[True, False]]).tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("queries", "match"),
    [
        ([], "dimensions"),
        (np.zeros((0, 3), int), "empty"),
        (np.zeros((3, 0), int), "empty"),
        ([[0.5, 1.0]], "not integers"),
        ([[1 << 30, 1]], "out of range"),
        ([[0, 0]], "all zero"),
        ([[1], [1, 2]], "form a matrix"),
        (np.broadcast_to(np.int64(1), (1 << 14, 1 << 13)), "16384 x 8192 = 134217728 entries.*fewer queries"),
    ],
)
def test_bad_queries_are_refused(queries, match):
    with pytest.raises(ParameterError, match=match):
        integer_queries(queries)


def test_counts_are_clamped_and_refused_by_type_alone():
    assert counts_of([5, -3, 1 << 40], 3, 1000).tolist() == [5, 0, 1000]
    assert counts_of(np.array([(1 << 64) - 1], np.uint64), 1, 9).tolist() == [9]
    assert counts_of([1 << 80, -(1 << 80)], 2, 9).tolist() == [9, 0]  # a long integer is no reason to refuse
    for wrong in ([0.5, 1.0], ["a", "b"], [1, 2, 3]):
        with pytest.raises(ParameterError):
            counts_of(wrong, 2, 10)


@pytest.mark.parametrize(
    "parameters", [{"rows": 0}, {"groups": 0}, {"neighbors": ADD_REMOVE_PERSON.group(2)}, {"neighbors": None}]
)
def test_bad_persons_are_refused(parameters):
    with pytest.raises(ParameterError):
        PersonChange(**parameters)
