from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.noise.grid import (
    LARGEST_STEPS,
    check_grid,
    from_grid,
    rounded_l1,
    rounded_squared_l2,
    steps_of,
    suitable_grid,
)
from effort import examples
from noise.oracle import high, real

FLOATS = st.floats(allow_nan=False, allow_infinity=False)
EXPONENTS = st.integers(-1000, 900)
HALF = Fraction(1, 2)


def power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def exact_steps(value: float, grid: Fraction) -> int:
    """Round half upward in rational arithmetic, after clamping to 2^52 steps."""
    scaled = min(max(Fraction(value) / grid, Fraction(-LARGEST_STEPS)), Fraction(LARGEST_STEPS))
    return floor(scaled + HALF)


def steps(value: float, grid: Fraction) -> int:
    return int(steps_of(np.array([value]), grid)[0])


@given(value=FLOATS, exponent=EXPONENTS)
@example(value=5e-324, exponent=900)
@example(value=-5e-324, exponent=900)
@example(value=-5e-324, exponent=-1000)
@example(value=1.7976931348623157e308, exponent=-1000)
@example(value=-0.0, exponent=0)
@example(value=-(2.0**-1022), exponent=-1000)
def test_rounding_is_exact_for_every_float(value, exponent):
    assert steps(value, power(exponent)) == exact_steps(value, power(exponent))


@given(exponent=EXPONENTS, whole=st.integers(-100, 100), ulps=st.integers(-3, 3))
def test_halves_go_upward_and_their_neighbors_to_the_nearest(exponent, whole, ulps):
    value = np.ldexp(whole + 0.5, exponent)
    for _ in range(abs(ulps)):
        value = np.nextafter(value, np.inf if ulps > 0 else -np.inf)
    assert steps(float(value), power(exponent)) == exact_steps(float(value), power(exponent))


@pytest.mark.parametrize(
    "value", [0.5, -0.5, 1.5, -1.5, 0.49999999999999994, -0.5000000000000001, 2.0**51 + 0.5]
)
def test_well_known_traps(value):
    assert steps(value, Fraction(1)) == floor(Fraction(value) + HALF)


@given(a=FLOATS, b=FLOATS, exponent=EXPONENTS)
def test_rounding_is_monotone(a, b, exponent):
    low, top = sorted([a, b])
    assert steps(low, power(exponent)) <= steps(top, power(exponent))


@given(
    numerator=st.integers(-(2**40), 2**40),
    below=st.integers(0, 12),
    exponent=st.integers(-900, 800),
    shift=st.integers(-(2**40), 2**40),
)
def test_rounding_commutes_with_grid_steps(numerator, below, exponent, shift):
    value = np.ldexp(float(numerator), exponent - below)
    moved = np.ldexp(float(numerator + (shift << below)), exponent - below)
    assert Fraction(float(moved)) == Fraction(float(value)) + shift * power(exponent)
    assert steps(float(moved), power(exponent)) == steps(float(value), power(exponent)) + shift


@given(count=st.integers(-(2**52), 2**52), exponent=EXPONENTS)
def test_multiples_of_the_grid_are_kept(count, exponent):
    value = from_grid(np.array([count]), power(exponent))
    assert Fraction(float(value[0])) == count * power(exponent)
    assert steps(float(value[0]), power(exponent)) == count


@given(a=FLOATS, b=FLOATS, exponent=EXPONENTS)
def test_distances_grow_to_the_next_integer_at_most(a, b, exponent):
    grid = power(exponent)
    assert abs(steps(a, grid) - steps(b, grid)) <= ceil(abs(Fraction(a) - Fraction(b)) / grid)


@given(value=FLOATS, exponent=EXPONENTS)
def test_entry_is_clamped(value, exponent):
    assert abs(steps(value, power(exponent))) <= LARGEST_STEPS


@given(count=st.integers(-(2**63), 2**63 - 1), exponent=EXPONENTS)
@example(count=-(2**63), exponent=900)
@example(count=2**63 - 1, exponent=-1000)
@example(count=2**53 + 1, exponent=-1000)
@example(count=0, exponent=0)
def test_exit_is_clamped_and_exact(count, exponent):
    value = float(from_grid(np.array([count]), power(exponent))[0])
    clamped = min(max(count, -(2**53)), 2**53)
    assert Fraction(value) == clamped * power(exponent)
    assert not (value == 0 and np.signbit(value))


def test_infinities_are_clamped_like_huge_numbers():
    drawn = steps_of(np.array([np.inf, -np.inf, 1e308, -1e308]), power(-1000))
    assert drawn.tolist() == [LARGEST_STEPS, -LARGEST_STEPS] * 2


def test_shapes_are_kept():
    values = np.arange(6.0).reshape(2, 3)
    assert steps_of(values, Fraction(1)).shape == (2, 3)
    assert from_grid(steps_of(values, Fraction(1)), Fraction(1)).tolist() == values.tolist()
    assert steps_of(np.array(2.4), Fraction(1)).shape == ()


# Which grids


@pytest.mark.parametrize("exponent", [-1000, -999, -1, 0, 1, 899, 900])
def test_powers_of_two_within_the_limits_are_grids(exponent):
    assert check_grid(power(exponent)) == power(exponent)


@pytest.mark.parametrize("exponent", [-1001, -5000, 901, 5000])
def test_powers_of_two_beyond_the_limits_are_refused(exponent):
    with pytest.raises(ParameterError, match="grid"):
        check_grid(power(exponent))


@given(numerator=st.integers(-1000, 1000), denominator=st.integers(1, 1000))
def test_only_powers_of_two_are_grids(numerator, denominator):
    value = Fraction(numerator, denominator)
    larger, smaller = max(value.numerator, value.denominator), min(value.numerator, value.denominator)
    if smaller == 1 and larger & (larger - 1) == 0:
        assert check_grid(value) == value
    else:
        with pytest.raises(ParameterError, match="grid"):
            check_grid(value)


@given(resolution=st.fractions(min_value=Fraction(1, 10**30), max_value=10**30))
def test_a_suitable_grid_is_the_largest_that_fits(resolution):
    if resolution <= 0:
        return
    grid = suitable_grid(resolution)
    assert grid <= resolution < 2 * grid


@pytest.mark.parametrize("exponent", [-1000, -3, 0, 5, 900])
def test_a_power_of_two_suits_itself(exponent):
    assert suitable_grid(power(exponent)) == power(exponent)
    assert suitable_grid(power(exponent) * Fraction(3, 2)) == power(exponent)


@pytest.mark.parametrize("resolution", [Fraction(0), Fraction(-5), power(-1001), power(901)])
def test_a_resolution_without_a_grid_is_refused(resolution):
    with pytest.raises(ParameterError):
        suitable_grid(resolution)


# What rounding does to distances of vectors

VECTORS = st.integers(1, 6).flatmap(
    lambda size: st.tuples(*[st.lists(st.floats(-50, 50), min_size=size, max_size=size)] * 2)
)
COARSE = st.integers(-4, 4).map(power)


def distances(pair, grid: Fraction) -> tuple[list[Fraction], list[int]]:
    before = [abs(Fraction(a) - Fraction(b)) for a, b in zip(*pair, strict=True)]
    first, second = (steps_of(np.array(vector), grid) for vector in pair)
    return before, np.abs(first - second).tolist()


@given(pair=VECTORS, grid=COARSE)
@settings(max_examples=examples(300))
def test_l1_distances_never_exceed_the_bound(pair, grid):
    before, after = distances(pair, grid)
    assert sum(after) * grid <= rounded_l1(sum(before), grid, len(before))


@given(pair=VECTORS, grid=COARSE)
@settings(max_examples=examples(300))
def test_l2_distances_never_exceed_the_bound(pair, grid):
    before, after = distances(pair, grid)
    squared = sum(d * d for d in before)
    assert sum(d * d for d in after) * grid**2 <= rounded_squared_l2(squared, grid, len(before))


def adversarial(sizes: list[int], spare: Fraction) -> tuple[list[float], list[float]]:
    """Return vectors that are a hair further apart than sizes - 1 steps, and land `sizes` steps apart."""
    hair = float(spare)
    low = [-0.5 - hair / 2 for _ in sizes]
    top = [size - 1 - 0.5 + hair / 2 for size in sizes]
    return low, top


@given(first=st.integers(1, 9), size=st.integers(1, 8))
def test_the_l1_bound_is_attained(first, size):
    """One entry takes nearly all of the distance, the others a hair each, and every one is rounded up."""
    hair = Fraction(1, 2**30)
    pair = adversarial([first] + [1] * (size - 1), hair)
    before, after = distances(pair, Fraction(1))
    assert sum(before) == first - 1 + size * hair
    assert sum(after) == first + size - 1
    assert rounded_l1(sum(before), Fraction(1), size) == sum(after)


@given(sizes=st.lists(st.integers(1, 5), min_size=1, max_size=6), exponent=st.integers(-6, 6))
def test_the_l2_bound_holds_for_vectors_that_stretch_most(sizes, exponent):
    pair = adversarial(sizes, Fraction(1, 2**20))
    scaled = tuple([float(np.ldexp(entry, exponent)) for entry in vector] for vector in pair)
    grid = power(exponent)
    before, after = distances(scaled, grid)
    assert after == sizes
    squared = sum(d * d for d in before)
    bound = rounded_squared_l2(squared, grid, len(sizes))
    assert sum(d * d for d in after) * grid**2 <= bound


@given(squared=st.fractions(0, 50, max_denominator=64), size=st.integers(1, 4))
def test_the_l2_bound_covers_the_worst_lattice_distance(squared, size):
    """Search all of them: entries land n_i > 0 steps apart only if they are more than n_i - 1 apart."""
    bound = rounded_squared_l2(squared, Fraction(1), size)
    assert bound.denominator == 1
    worst = 0
    for landed in np.ndindex(*[int(squared**0.5) + 3] * size):
        if any(landed) and sum(max(n - 1, 0) ** 2 for n in landed) < squared:
            worst = max(worst, sum(n * n for n in landed))
    assert worst <= bound
    if size == 1 and squared > 0:
        assert worst == bound, "for one value the bound is attained"


@given(squared=st.fractions(0, 10**6), size=st.integers(1, 1000), exponent=st.integers(-30, 30))
def test_the_l2_bound_is_close_to_its_formula(squared, size, exponent):
    grid = power(exponent)
    bound = rounded_squared_l2(squared, grid, size)
    exact = (high.sqrt(real(squared)) / real(grid) + high.sqrt(size)) ** 2
    if size > 1:
        assert int(bound / grid**2) >= int(high.floor(exact))
    assert bound >= squared
    in_steps = float(squared / grid**2) ** 0.5
    assert float(bound / grid**2) <= (in_steps + size**0.5) ** 2 * (1 + 1e-9) + 2


def test_whole_numbers_are_taken_for_exact_rationals():
    """An int in place of a Fraction must not fall into float division."""
    assert rounded_l1(2**53 + 1, Fraction(1), 1) == 2**53 + 1
    assert rounded_l1(2**53 + 1, 1, 1) == 2**53 + 1
    assert rounded_squared_l2(4, 1, 2) == rounded_squared_l2(Fraction(4), Fraction(1), 2)


def test_a_bound_that_forgets_one_entry_is_caught(monkeypatch):
    monkeypatch.setitem(globals(), "rounded_l1", lambda s, grid, size: (ceil(s / grid) + size - 2) * grid)
    with pytest.raises(AssertionError):
        test_the_l1_bound_is_attained()
