"""Rows are rounded and added up as they are in doubles."""

from __future__ import annotations

import pytest
import torch

from discreet.learning.deep.accelerator.kernels import sum_rounded_rows

# NumPy, which interprets the kernels where there is no accelerator, tells of what is not a number.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def numbers(*shape, seed=1, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(*shape, generator=generator) * scale).to(DEVICE)


@pytest.mark.parametrize(("examples", "columns"), [(1, 1), (5, 300), (7, 3)])
def test_rows_are_rounded_and_added(examples, columns):
    rows, factors = numbers(examples, columns), numbers(examples, scale=1e6).double()
    expected = (rows.double() * factors[:, None]).round().sum(0)
    assert torch.equal(sum_rounded_rows(rows, factors), expected.long())


def test_a_row_without_a_coefficient_adds_nothing_whatever_it_holds():
    rows, factors = numbers(3, 4), torch.tensor([2.0, 0.0, 3.0], dtype=torch.float64, device=DEVICE)
    expected = sum_rounded_rows(rows, factors)
    rows[1, 0], rows[1, 1] = torch.nan, torch.inf
    assert torch.equal(sum_rounded_rows(rows, factors), expected)
