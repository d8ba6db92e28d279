"""Roots of falling bounds, on the safe side."""

from __future__ import annotations

from math import exp, inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.contour.root_search import crossing


def falling(rate, height=1.0):
    return lambda at: (height * exp(-rate * at), -rate * height * exp(-rate * at))


@given(
    rate=st.floats(1e-3, 1e3),
    target=st.floats(1e-12, 0.5),
    away=st.floats(0.02, 50),
    unit=st.floats(1e-6, 10),
    above=st.booleans(),
)
def test_the_root_is_found_on_the_safe_side(rate, target, away, unit, above):
    root = -log(target) / rate
    found = crossing(falling(rate), target, away * root, unit * root, above=above)
    assert found == pytest.approx(root, rel=1e-9)
    assert falling(rate)(found)[0] <= target if above else falling(rate)(found)[0] >= target


@pytest.mark.parametrize("above", [True, False])
def test_a_bound_that_is_low_enough_at_zero_gives_zero(above):
    assert crossing(falling(1.0, 1e-3), 1e-2, 5.0, 0.1, above=above) == 0


@pytest.mark.parametrize("above", [True, False])
def test_a_root_next_to_zero_is_not_taken_for_zero(above):
    """Strides that overshoot zero must come back."""
    found = crossing(falling(1.0, 1.0), 1 - 1e-4, 5.0, 4.0, above=above)
    assert found == pytest.approx(1e-4, rel=1e-3)


def test_what_cannot_be_known_is_not_claimed():
    assert crossing(lambda at: (inf, 0.0), 1e-3, 1.0, 1.0, above=True) == inf
    assert crossing(lambda at: (float("nan"), 0.0), 1e-3, 1.0, 1.0, above=True) == inf
    assert crossing(lambda at: (-1.0, 0.0), 1e-3, 1.0, 1.0, above=False) == 0
    assert crossing(falling(1.0), 1e-3, inf, inf, above=True) == inf
    assert crossing(falling(1.0), 1e-3, inf, inf, above=False) == 0


@pytest.mark.parametrize("unknown", [float("nan"), inf])
def test_where_nothing_is_known_no_lower_bound_is_claimed(unknown):
    assert crossing(lambda at: (unknown, unknown), 0.1, 1.0, 0.1, above=False) == 0
    assert crossing(lambda at: (unknown, unknown), 0.1, 1.0, 0.1, above=True) == inf


def test_a_slope_without_error_does_not_stall_the_search():
    """Newton's step lands next to the root, on the wrong side of it, again and again."""
    found = crossing(lambda at: (exp(-at), -exp(-at)), exp(-19.3816673535), 19.38166735, 0.6, above=True)
    assert found == pytest.approx(19.3816673535, rel=1e-12)
