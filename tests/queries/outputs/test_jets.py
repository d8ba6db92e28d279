"""Jets: values and derivatives on a box are within their ends, as differences of exact values say."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.queries.outputs import jets
from discreet.queries.outputs.jets import (
    difference,
    divided_by,
    inverse,
    public_number,
    root_of,
    total_of,
    variables,
)
from effort import examples

FORMULAS = {
    "variance": (
        lambda a, b, c: divided_by(difference(a, divided_by(b * b, c)), c),
        lambda a, b, c: (a - b * b / c) / c,
    ),
    "root": (
        lambda a, b, c: root_of(total_of(a, public_number(Fraction(1, 3), a)) * root_of(c)),
        lambda a, b, c: mpmath.sqrt((a + mpmath.mpf(1) / 3) * mpmath.sqrt(c)),
    ),
    "ratio": (
        lambda a, b, c: divided_by(difference(a, b), root_of(a * c)),
        lambda a, b, c: (a - b) / mpmath.sqrt(a * c),
    ),
    "inverse": (lambda a, b, c: inverse(public_number(-2, a) * a) * b, lambda a, b, c: -b / (2 * a)),
}
sides = st.tuples(st.integers(200, 5000), st.integers(-3000, 3000), st.integers(50, 400), st.integers(0, 40))


def boxed(middle, by):
    ends = [[np.array([float(one + side * by)]) for one in middle] for side in (-1, 0, 1)]
    return variables(*ends)


def derivatives(function, point):
    """First and second derivatives, by mpmath."""
    mpmath.mp.dps = 40
    orders = np.eye(3, dtype=int)
    first = [mpmath.diff(function, point, tuple(map(int, one))) for one in orders]
    second = [
        [mpmath.diff(function, point, tuple(map(int, one + other))) for other in orders] for one in orders
    ]
    return first, second


@settings(max_examples=examples(60))
@given(st.sampled_from(list(FORMULAS)), sides, st.lists(st.floats(-1, 1), min_size=3, max_size=3))
def test_jets_hold_values_and_derivatives(name, numbers, places):
    *middle, by = numbers
    made, exact = FORMULAS[name]
    jet = made(*boxed(middle, by))
    point = [mpmath.mpf(one) + mpmath.mpf(place) * by for one, place in zip(middle, places, strict=True)]
    assert jet.value.low[0] <= exact(*point) <= jet.value.high[0]
    first, second = derivatives(exact, point)
    for row in range(3):
        assert jet.slopes.low[row, 0] - 1e-12 <= first[row] <= jet.slopes.high[row, 0] + 1e-12
        for column in range(3):
            assert abs(second[row][column]) <= jet.bends[row, column, 0] * (1 + 1e-9) + 1e-12


def test_on_a_point_they_are_the_derivatives():
    jet = FORMULAS["variance"][0](*boxed([1000, 300, 100], 0))
    first, _ = derivatives(FORMULAS["variance"][1], [1000, 300, 100])
    assert jet.slopes.low[:, 0] == pytest.approx([float(one) for one in first])
    assert jet.slopes.high[:, 0] == pytest.approx([float(one) for one in first])


def test_what_may_be_0_is_not_known():
    near, far = boxed([10, 10, 10], 10), boxed([10, 10, 10], 9)
    for made in (inverse, root_of):
        assert not np.isfinite(made(near[0]).slopes.high).all()
        assert np.isfinite(made(far[0]).slopes.high).all()
    negative = public_number(-1, far[0]) * far[0]
    assert np.isfinite(inverse(negative).value.low).all()
    assert not np.isfinite(root_of(negative).value.low).any()


def test_a_forgotten_cross_term_is_noticed(monkeypatch):
    """The control: without u' v' the second derivative of a product would be 0."""
    made, _ = FORMULAS["variance"]
    right = made(*boxed([1000, 300, 100], 5)).bends
    product = jets.Jet.__mul__
    monkeypatch.setattr(
        jets.Jet,
        "__mul__",
        lambda one, other: jets.Jet(
            value=product(one, other).value,
            slopes=product(one, other).slopes,
            bends=np.abs(one.value.value) * other.bends + np.abs(other.value.value) * one.bends,
        ),
    )
    wrong = made(*boxed([1000, 300, 100], 5)).bends
    _, second = derivatives(FORMULAS["variance"][1], [1000, 300, 100])
    assert wrong[1, 1, 0] < abs(second[1][1]) <= right[1, 1, 0]
