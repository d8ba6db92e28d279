"""Private entries: their types decide what is accepted, their sizes never."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.stability.entries import clamped_integers, exact_integers, reals


@pytest.mark.parametrize(
    "values",
    [
        [2**70],
        [2**63, -1],
        [-(2**63) - 1, 5],
        [10**400, 0, -(10**400)],
        np.array([2**64 - 1, 3], np.uint64),
        np.array([7, -7], np.int8),
        np.array([2**70, 1], object),
        [[2**65, 1], [2, 3]],
        [],
    ],
)
def test_integers_are_exact_or_clamped(values):
    exact = exact_integers(values, "values")
    expected = values.tolist() if isinstance(values, np.ndarray) else values
    assert exact.tolist() == expected
    clamped = clamped_integers(values, "values")
    assert clamped.dtype == np.int64
    assert [int(entry) for entry in clamped.flat] == [
        max(-(2**62), min(2**62, int(entry))) for entry in np.asarray(expected, object).flat
    ]


@pytest.mark.parametrize(
    "values",
    [["secret"], [1.5], [None], [True], [[1], [1, 2]], np.array([1.0]), np.ma.array([1, 2], mask=[0, 1])],
)
def test_what_is_no_integer_by_its_type_is_refused(values):
    with pytest.raises(ParameterError) as caught:
        exact_integers(values, "values")
    assert "secret" not in str(caught.value)


def test_reals_have_no_number_that_is_too_long():
    found = reals([10**400, -(10**400), 2.5, None, Fraction(1, 2), Decimal("1e999"), Decimal("sNaN")], "x")
    assert found.tolist()[:3] == [np.inf, -np.inf, 2.5]
    assert np.isnan(found[[3, 6]]).all()
    assert found.tolist()[4:6] == [0.5, np.inf]
    assert reals(np.array([[1, 2], [3, 4]], order="F"), "x").flags.c_contiguous
    assert reals(np.array([np.longdouble(10) ** 4000]), "x").tolist() == [np.inf]
    assert reals([], "x").tolist() == []


@pytest.mark.parametrize(
    "values", [["secret"], ["1.5", 2.0], [1j], [object()], [[1.0], [1.0, 2.0]], np.array(["secret"], object)]
)
def test_what_is_no_number_by_its_type_is_refused(values):
    with pytest.raises(ParameterError) as caught:
        reals(values, "values")
    assert not any(word in str(caught.value) for word in ("secret", "1.5"))
    with pytest.raises(ParameterError, match="masked"):
        reals(np.ma.array([1.0, 2.0], mask=[0, 1]), "values")


def test_a_copy_is_returned():
    held = np.array([1.0, 2.0])
    assert reals(held, "x") is not held
    assert not np.shares_memory(reals(held, "x"), held)
