"""Sums of rounded rows against integers of Python, one by one."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.learning.deep.accelerator import row_sum
from discreet.learning.deep.accelerator.row_sum import (
    add_by_tiles,
    add_rounded_look_ups,
    add_rounded_rows,
    squares_of_rows,
)
from effort import examples

# NumPy, which interprets the kernels where there is no accelerator, tells of what is not a number.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def numbers(*shape, seed=1, scale=1.0, kind=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(*shape, generator=generator) * scale).to(kind).to(DEVICE)


def exact_sum(rows, factors, start):
    """The total by fractions; `round` takes ties to even."""
    found = [int(value) for value in start]
    for row, factor in zip(rows.flatten(1).double().tolist(), factors.tolist(), strict=True):
        if factor:
            found = [
                old + round(Fraction(value) * Fraction(factor)) for old, value in zip(found, row, strict=True)
            ]
    return found


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize(("many", "columns"), [(1, 1), (5, 300), (7, 3), (19, 1), (3, 1030)])
def test_rows_are_rounded_and_added(many, columns, kind):
    """Coefficients have 24 bits, so that products of numbers of 24 bits are exact doubles."""
    rows, factors = numbers(many, columns, kind=kind), numbers(many, seed=2, scale=1e6).double()
    rows = rows.float().to(kind)
    total = torch.arange(columns, device=DEVICE)
    expected = exact_sum(rows, factors, total)
    add_rounded_rows(total, rows, factors)
    assert total.tolist() == expected


@given(
    values=st.lists(st.floats(-1, 1, width=16), min_size=1, max_size=40),
    factors=st.lists(st.floats(-(2.0**30), 2.0**30, width=32), min_size=1, max_size=40),
)
@settings(max_examples=examples(100))
def test_sums_of_any_numbers_are_exact(values, factors):
    rows = torch.tensor(values, device=DEVICE).to(torch.bfloat16).expand(len(factors), -1).contiguous()
    coefficients = torch.tensor(factors, dtype=torch.float64, device=DEVICE)
    total = torch.zeros(len(values), dtype=torch.int64, device=DEVICE)
    add_rounded_rows(total, rows, coefficients)
    assert total.tolist() == exact_sum(rows, coefficients, torch.zeros(len(values)))


def test_long_coefficients_round_within_half_and_little():
    rows, factors = numbers(1, 400, kind=torch.bfloat16), numbers(1, scale=2.0**28).double() * (1 / 3)
    total = torch.zeros(400, dtype=torch.int64, device=DEVICE)
    add_rounded_rows(total, rows, factors)
    for found, value in zip(total.tolist(), rows[0].double().tolist(), strict=True):
        assert abs(found - Fraction(value) * Fraction(float(factors[0]))) <= Fraction(1, 2) + Fraction(
            1, 2**20
        )


def test_the_largest_integers_neither_wrap_nor_lose_a_bit():
    """Of 600 rows of 2^30: far beyond 32 bits."""
    rows = torch.full((600, 3), 1.0, dtype=torch.bfloat16, device=DEVICE)
    rows[:, 1] = -1
    rows[::2, 2] = -1
    factors = torch.full((600,), 2.0**30, dtype=torch.float64, device=DEVICE)
    total = torch.tensor([2**61, -(2**61), 5], device=DEVICE)
    add_rounded_rows(total, rows, factors)
    assert total.tolist() == [2**61 + 600 * 2**30, -(2**61) - 600 * 2**30, 5]


@pytest.mark.parametrize("share", [1, 3, 100])
@pytest.mark.parametrize(("height", "width"), [(1, 16), (4, 64), (16, 32)])
def test_tiles_do_not_change_a_sum(height, width, share):
    rows, factors = numbers(21, 50, kind=torch.bfloat16), numbers(21, seed=2, scale=1e6).double()
    total = torch.zeros(50, dtype=torch.int64, device=DEVICE)
    add_by_tiles(total, rows, factors, height=height, width=width, warps=4, share=share)
    assert total.tolist() == exact_sum(rows, factors, torch.zeros(50))


def test_a_total_may_have_its_axes_in_another_order():
    rows, factors = numbers(5, 4, 6, 3, kind=torch.bfloat16), numbers(5, scale=1e5).double()
    total = torch.arange(4 * 3 * 6, device=DEVICE)
    expected = exact_sum(rows.transpose(2, 3), factors, total)
    add_rounded_rows(total.view(4, 3, 6).transpose(1, 2), rows, factors)
    assert total.tolist() == expected


def test_rows_may_have_any_layout():
    rows, factors = numbers(7, 5).T, numbers(5, seed=2, scale=1e4).double()
    total = torch.zeros(7, dtype=torch.int64, device=DEVICE)
    add_rounded_rows(total, rows, factors)
    assert total.tolist() == exact_sum(rows, factors, torch.zeros(7))


def test_a_row_without_a_coefficient_adds_nothing_whatever_it_holds():
    rows = numbers(3, 4, kind=torch.bfloat16)
    factors = torch.tensor([2e3, 0.0, 3e3], dtype=torch.float64, device=DEVICE)
    totals = torch.zeros(2, 4, dtype=torch.int64, device=DEVICE)
    add_rounded_rows(totals[0], rows, factors)
    rows[1] = torch.tensor([torch.nan, torch.inf, -torch.inf, 1.0])
    add_rounded_rows(totals[1], rows, factors)
    assert torch.equal(totals[0], totals[1])
    assert totals[0].tolist() == exact_sum(rows[::2], factors[::2], torch.zeros(4))


@pytest.mark.parametrize("kind", [torch.int32, torch.int64])
@pytest.mark.parametrize("columns", [1, 7, 1500])
def test_look_ups_are_rounded_and_added_to_the_rows_that_were_read(columns, kind):
    """Positions of an example may read the same row; one without a coefficient may hold anything."""
    slopes, index = numbers(3, 4, columns), torch.tensor([[0, 2, 0, 1], [1, 1, 1, 1], [2, 0, 0, 2]])
    slopes[1] = torch.nan
    slopes[2, 0, 0] = 0.0
    factors = torch.tensor([1234.0, -0.0, -77.5], dtype=torch.float64, device=DEVICE)
    table = torch.arange(3 * columns, device=DEVICE).reshape(3, columns)
    expected = table.tolist()
    for example in (0, 2):
        for position, row in enumerate(index[example].tolist()):
            for column, value in enumerate(slopes[example, position].tolist()):
                expected[row][column] += round(Fraction(value) * Fraction(float(factors[example])))
    add_rounded_look_ups(table, index.to(DEVICE, kind), slopes, factors, 0)
    assert table.tolist() == expected


def test_large_look_ups_that_cancel_do_so_to_the_last_integer():
    slopes = torch.full((1, 2, 3), 1.0 + 2.0**-23, device=DEVICE)
    slopes[0, 1] *= -1
    table = torch.full((2, 3), 5, device=DEVICE)
    factor = torch.tensor([2.0**50], dtype=torch.float64, device=DEVICE)
    add_rounded_look_ups(table, torch.ones(1, 2, dtype=torch.int64, device=DEVICE), slopes, factor, 0)
    assert (table == 5).all()


@pytest.mark.parametrize("unit", [1, 7])
def test_look_ups_are_rounded_to_a_unit_in_64_bits_or_in_32(unit):
    slopes, index = numbers(3, 4, 5), torch.randint(0, 6, (3, 4), generator=torch.Generator().manual_seed(1))
    factors = torch.tensor([2.0**20, 0.0, 2.0**19], dtype=torch.float64, device=DEVICE)
    expected = [[0] * 5 for _ in range(6)]
    for example in range(3):
        for position, row in enumerate(index[example].tolist()):
            for column, value in enumerate(slopes[example, position].tolist()):
                expected[row][column] += round(Fraction(value) * Fraction(float(factors[example])) / 2**unit)
    long, short = (torch.full((6, 5), 9, dtype=kind, device=DEVICE) for kind in (torch.int64, torch.int32))
    for table in (long, short):
        add_rounded_look_ups(table, index.to(DEVICE), slopes, factors, unit)
    assert short.tolist() == [[value + 9 for value in row] for row in expected]
    assert long.tolist() == [[(value << unit) + 9 for value in row] for row in expected]


def test_look_ups_that_cancel_may_be_longer_than_32_bits():
    slopes = torch.tensor([[[1.0], [-1.0], [2.0**-30]]], device=DEVICE)
    table = torch.full((1, 1), 5, dtype=torch.int32, device=DEVICE)
    factor = torch.tensor([2.0**45], dtype=torch.float64, device=DEVICE)
    add_rounded_look_ups(table, torch.zeros(1, 3, dtype=torch.int64, device=DEVICE), slopes, factor, 7)
    assert table.tolist() == [[5 + 2**8]]


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("columns", [1, 1025, 5000])
def test_squares_of_rows_are_those_of_fractions(columns, kind):
    rows = numbers(columns, 2, scale=1e30, kind=kind).T  # of another layout, and squares beyond floats
    for found, row in zip(squares_of_rows(rows).sum(1).tolist(), rows.double().tolist(), strict=True):
        assert found == pytest.approx(float(sum(Fraction(value) ** 2 for value in row)), rel=1e-14)


def test_a_row_that_is_not_finite_has_no_finite_square():
    rows = torch.ones(3, 3000, device=DEVICE)
    rows[0, 2999], rows[1, 2048] = torch.nan, -torch.inf
    assert squares_of_rows(rows).sum(1).isfinite().tolist() == [False, False, True]


def test_wide_rows_are_measured_by_programs_of_one_axis(monkeypatch):
    """An accelerator refuses more than 65,535 programs along any other axis."""
    grids = []

    class Kernel:
        def __getitem__(self, grid):
            grids.append(grid)
            return lambda *_, **__: None

    monkeypatch.setattr(row_sum, "_square_kernel", Kernel())
    squares_of_rows(torch.zeros(2, 1, device=DEVICE).expand(2, 2**28))
    assert all(size <= 65_535 for size in grids[0][1:])
    assert grids[0][0] == 2 * 2**28 // 2048
