"""How answers and weights enter."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.workloads.algebra.arrays import precision, real_matrix, real_vector, weight_vector


def test_vectors_are_copies():
    given = np.array([1.0, 2.0])
    taken = real_vector(given, "answers")
    taken[0] = 9
    assert given[0] == 1
    assert real_vector([1, 2], "answers").dtype == np.float64


def test_weights_have_mean_one():
    assert weight_vector([1.0, 3.0], 2).tolist() == [0.5, 1.5]
    assert weight_vector(7.0, 3).tolist() == [1, 1, 1]
    assert weight_vector(None, 2).tolist() == [1, 1]
    assert weight_vector(None, 0).size == 0
    assert weight_vector([1e300, 1e300], 2).tolist() == [1, 1]


def test_precision_of_nothing_and_of_certainty():
    assert precision(np.array([0.5, np.inf, 0.0])).tolist() == [2.0, 0.0, np.inf]


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: real_vector([[1]], "answers"), "2 dimensions"),
        (lambda: real_vector([1, 2], "answers", 3), "2 numbers"),
        (lambda: real_vector([np.inf], "answers"), "infinity"),
        (lambda: real_matrix([[1], [2, 3]], "matrix", "rows", "less"), "form a matrix"),
        (lambda: real_matrix([["a"]], "matrix", "rows", "less"), "not a matrix"),
        (lambda: weight_vector([-1.0], 1), "positive"),
    ],
)
def test_bad_input_is_refused(call, match):
    with pytest.raises(ParameterError, match=match):
        call()
