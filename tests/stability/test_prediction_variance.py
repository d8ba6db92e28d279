"""The prediction variance: above what trying everything finds, smooth, and tight where it can be."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW
from discreet.stability.enumeration import Enumeration, multisets, neighbors_of
from discreet.stability.prediction_variance import prediction_variance, scaled_rows

GRID = [row for row in product(range(-2, 3), repeat=2) if row[0] ** 2 + row[1] ** 2 <= 4]
POINT = (1, 2)


def form(data, ridge=Fraction(1)):
    a = sum(GRID[i][0] ** 2 for i in data) + ridge
    b = sum(GRID[i][0] * GRID[i][1] for i in data)
    c = sum(GRID[i][1] ** 2 for i in data) + ridge
    x, y = POINT
    return (c * x * x - 2 * b * x * y + a * y * y) / (a * c - b * b)


def profile_of(data, relation=ADD_REMOVE_PERSON, rows=1):
    design = np.array([GRID[i] for i in data], dtype=np.int64).reshape(-1, 2)
    return prediction_variance(design, POINT, largest=2, ridge=1, relation=relation, rows=rows)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("relation", "rows", "sizes", "most"),
    [(ADD_REMOVE_PERSON, 1, range(4), 1), (ADD_REMOVE_PERSON, 2, range(3), 0), (REPLACE_ROW, 1, range(4), 1)],
)
def test_the_prediction_variance_bounds_the_oracle_and_is_smooth(relation, rows, sizes, most):
    around = neighbors_of(range(len(GRID)), relation=relation, rows=rows)
    oracle = Enumeration(form, around)
    bounds = {}

    def bound(data):
        if data not in bounds:
            profile = profile_of(data, relation, rows)
            bounds[data] = [profile.local_at(k) for k in range(6)]
        return bounds[data]

    for data in multisets(range(len(GRID)), sizes):
        assert profile_of(data, relation, rows).value == form(data)
        assert all(b >= t for b, t in zip(bound(data), oracle.profile(data, most), strict=False))
        assert bound(data) == sorted(bound(data))
        for other in oracle.around(data):
            assert all(a <= b for a, b in zip(bound(other), bound(data)[1:], strict=False))


def test_on_the_empty_table_the_bound_is_attained():
    profile = prediction_variance(np.zeros((0, 1), int), [3], largest=5, ridge=2)
    assert profile.value == Fraction(9, 2)
    assert profile.local_at(0) == Fraction(9, 2) - Fraction(9, 2 + 25)


def test_rich_data_are_far_less_sensitive_than_the_worst():
    design = np.random.default_rng(7).integers(-60, 61, size=(2000, 2))
    profile = prediction_variance(design, [50, 50], largest=100, ridge=1)
    assert profile.smooth("0.1") < profile.local_at(profile.reach) / 10**6
    # One row of length 100 moves x^T M x by (x^T M r)^2 / (1 + r^T M r), and the bound is not far above.
    assert profile.local_at(0) < Fraction(5, 1000) * profile.value


def test_singular_designs_and_long_rows_have_an_answer():
    singular = [[3, 3], [3, 3]]
    assert prediction_variance(singular, [1, -1], largest=5, ridge=1).value == 2
    assert prediction_variance([], [1, -1], largest=5, ridge=1).value == 2
    assert prediction_variance([], [1, -1], largest=5, ridge=1, relation=REPLACE_ROW).smooth(1) == 0
    held = scaled_rows(np.array([[30, -40], [3, 4], [2**62, 2**62]]), 10)
    assert (held == [[6, -8], [3, 4], [7, 7]]).all()
    assert (
        (scaled_rows(np.array([[2**31, -(2**31)]]), 2**31).astype(object) ** 2).sum(axis=1) <= 2**62
    ).all()


@pytest.mark.parametrize(
    "options",
    [
        {"ridge": 0},
        {"largest": 0},
        {"point": []},
        {"point": [1, 2, 3]},
        {"design": [1, 2]},
        {"design": [[0.5, 2]]},
    ],
)
def test_wrong_parameters_are_refused(options):
    given = {"design": [[1, 2]], "point": [1, 1], "largest": 5, "ridge": 1, **options}
    with pytest.raises(ParameterError):
        prediction_variance(given.pop("design"), given.pop("point"), **given)


def test_no_row_is_too_long_for_the_machine():
    for design in ([[2**70]], [[10**400]], np.array([[2**64 - 1]], np.uint64), [[-(2**63)]]):
        assert prediction_variance(design, [1], largest=10, ridge=1).value == Fraction(1, 101)
    assert prediction_variance(
        [[3 * 2**70, 4 * 2**70], [1, 0]], [0, 1], largest=10, ridge=1
    ).value == Fraction(38, 38 * 65 - 48**2)
    for options in ({"ridge": "1e-400"}, {"ridge": 2**300}, {"point": [2**300]}):
        with pytest.raises(ParameterError, match="out of range"):
            prediction_variance([[1]], **{"point": [1], "largest": 1, "ridge": 1, **options})


def test_a_real_design_is_that_of_its_steps():
    design = [[0.74, -1.5], [0.9, np.nan], [1e300, np.inf], [-0.25, 3.0]]
    steps = [[3, -6], [4, 0], [2**53, 2**53], [-1, 12]]
    found = prediction_variance(design, [0.5, 2], largest=2.5, ridge=0.5, step=0.25, rows=2)
    expected = prediction_variance(steps, [2, 8], largest=10, ridge=8, rows=2)
    assert found.value == expected.value
    assert [found.local_at(k) for k in range(30)] == [expected.local_at(k) for k in range(30)]
    held = np.array(scaled_rows(np.array(steps, object), 10)) / 4.0  # as floats, in the units of the data
    direct = np.array([0.5, 2]) @ np.linalg.solve(held.T @ held + 0.5 * np.eye(2), [0.5, 2])
    assert float(found.value) == pytest.approx(direct)
    assert prediction_variance([], [1], largest=1, ridge=1, step=0.5).value == 1
    with pytest.raises(ParameterError, match="largest is not a multiple of step"):
        prediction_variance(design, [0.5, 2], largest=2.4, ridge=0.5, step=0.25)
    with pytest.raises(ParameterError, match="does not hold integers"):
        prediction_variance([[0.5]], [1], largest=1, ridge=1)
