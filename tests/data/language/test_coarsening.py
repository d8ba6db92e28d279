"""Coarser grids against their definition: the nearest multiples outward, and the finest grid that fits."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data import Bounds
from discreet.data.language.coarsening import coarsened, ends_at_most, is_coarsened, steps_at_most

STEPS = st.sampled_from([Fraction(1), Fraction(1, 100), Fraction(1, 8), Fraction(25)])
BOUNDS = st.builds(
    lambda step, lower, width, null, nan: Bounds(
        lower * step,
        (lower + width) * step,
        step=step,
        null=(lower + null % (width + 1)) * step,
        nan=(lower + nan % (width + 1)) * step,
        infinity="drop",
    ),
    STEPS,
    st.integers(-(10**6), 10**6),
    st.integers(1, 10**6),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
)


@given(BOUNDS, st.sampled_from([1, 2, 5, 10, 20, 500, 10**4]))
def test_ends_move_outward_by_less_than_a_step(bounds, multiple):
    coarser = coarsened(bounds, multiple)
    step = multiple * bounds.step
    assert coarser.step == step
    assert 0 <= bounds.lower - coarser.lower < step
    assert 0 <= coarser.upper - bounds.upper < step
    assert (coarser.lower / step).denominator == (coarser.upper / step).denominator == 1
    assert is_coarsened(coarser, bounds)


@given(BOUNDS, st.sampled_from([2, 5, 10, 20, 500, 10**4]))
def test_what_stands_for_missing_values_moves_to_the_nearest_multiple(bounds, multiple):
    coarser = coarsened(bounds, multiple)
    for before, after in ((bounds.null, coarser.null), (bounds.nan, coarser.nan)):
        assert (after / coarser.step).denominator == 1
        assert -coarser.step / 2 < after - before <= coarser.step / 2
    assert coarser.infinity == bounds.infinity


@pytest.mark.parametrize(("number", "rounded"), [(5, 10), (-5, 0), (4, 0), (-6, -10), (15, 20), (-15, -10)])
def test_halves_are_rounded_upward(number, rounded):
    found = coarsened(Bounds(-40, 40, null=number, nan=number, infinity=number), 10)
    assert (found.null, found.nan, found.infinity) == (rounded, rounded, rounded)


@given(BOUNDS, st.integers(1, 3000))
def test_the_grid_is_the_finest_of_its_kind_that_fits(bounds, most):
    found = steps_at_most(bounds, most)
    allowed = max(most, 2)
    assert found.upper_steps - found.lower_steps <= allowed
    for power, factor in product(range(9), (1, 2, 5)):
        if bounds.step * factor * 10**power < found.step:
            finer = coarsened(bounds, factor * 10**power)
            assert finer.upper_steps - finer.lower_steps > allowed


@given(BOUNDS, st.integers(1, 3000))
def test_ends_come_within_so_many_steps_of_zero(bounds, most):
    found = ends_at_most(bounds, most)
    assert max(abs(found.lower_steps), abs(found.upper_steps)) <= most
    assert is_coarsened(found, bounds)
    for power, factor in product(range(9), (1, 2, 5)):
        if bounds.step * factor * 10**power < found.step:
            finer = coarsened(bounds, factor * 10**power)
            assert max(abs(finer.lower_steps), abs(finer.upper_steps)) > most


def test_another_grid_of_the_same_step_is_not_what_coarsening_makes():
    bounds = Bounds(-7, 18, null=4)
    assert not is_coarsened(Bounds(-10, 25, step=5, null=5), bounds)
    assert not is_coarsened(Bounds(-15, 20, step=5, null=5), bounds)
    assert not is_coarsened(Bounds(-10, 20, step=5, null=0), bounds)
    assert not is_coarsened(Bounds(-7, 18, step=0.5, null=4), bounds)
