"""Every kernel against the same in doubles."""

from __future__ import annotations

import pytest
import torch

from discreet.learning.deep.accelerator.kernels import (
    add_parts,
    describe_rows,
    exact_product,
    gram_products,
    round_inputs,
    round_slopes,
)

# NumPy, which interprets the kernels where there is no accelerator, tells of what is not a number.
pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def numbers(*shape, seed=1, scale=1.0):
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(*shape, generator=generator) * scale).to(DEVICE)


@pytest.mark.parametrize("columns", [1, 1024, 1500])
def test_rows_are_described(columns):
    rows = numbers(3, columns)
    largest, squares = describe_rows(rows)
    assert torch.equal(largest, rows.abs().amax(1))
    assert torch.allclose(squares, rows.double().square().sum(1), rtol=1e-14)


@pytest.mark.parametrize("odd", [torch.nan, torch.inf, -torch.inf])
def test_what_is_not_finite_is_infinite(odd):
    rows = numbers(2, 9)
    rows[1, 4] = odd
    assert describe_rows(rows)[0].tolist()[1] == torch.inf


def test_inputs_become_integers():
    rows, unit = numbers(70, 65, scale=100.0), torch.full((70,), 0.5, device=DEVICE)
    unit[3] = torch.inf
    rows[4, 5] = torch.nan
    unit[4] = torch.inf
    found, squares = round_inputs(rows, unit, 80)
    expected = (rows / unit[:, None]).round().clamp(-127, 127)
    expected[3:5] = 0
    assert torch.equal(found[:, :70].T.float(), expected)
    assert not found[:, 70:].any()
    assert torch.equal(squares, expected.long().square().sum(1))


def test_squares_of_many_inputs_do_not_wrap():
    """Beyond 133,153 inputs of the largest size a sum of 32 bits would."""
    rows = torch.full((1, 2**17), 127.0, device=DEVICE)
    _, squares = round_inputs(rows, torch.ones(1, device=DEVICE), 16)
    assert squares.tolist() == [2**17 * 127**2]
    assert squares.dtype == torch.int64


def test_slopes_become_three_parts():
    rows, factors = numbers(66, 70), numbers(66, scale=700_000.0).double()
    factors[2], rows[2, 3] = 0, torch.nan
    rows[3, :2], factors[3] = torch.tensor([1.0, -1.0]), 8_300_000
    found = round_slopes(rows.clamp(-1, 1), factors, 80)
    high, middle, low = found.int().split(70)
    expected = (rows.clamp(-1, 1).double() * factors[:, None]).round()
    expected[2] = 0
    assert expected.abs().max() == 8_300_000
    assert torch.equal((65536 * high + 256 * middle + low)[:, :66].T.double(), expected)
    assert not found[:, 66:].any()


def test_products_of_small_integers_are_exact_at_their_largest():
    left = torch.full((32, 64), 127, dtype=torch.int8, device=DEVICE)
    assert (exact_product(left, -left[:16]) == -64 * 127**2).all()


def test_parts_are_added():
    total = torch.arange(12, device=DEVICE)
    product = torch.tensor([[-3, 2, 1, 0, 5, 7], [1, 2, -3, 4, 5, 6]] * 3, device=DEVICE, dtype=torch.int32)
    product[0, 0] = 2**30  # what a batch may add up to
    add_parts(total, product, 2)
    high, middle, low = product.long().reshape(3, 12)
    expected = torch.arange(12, device=DEVICE) + 4 * (65536 * high + 256 * middle + low)
    assert torch.equal(total, expected)


@pytest.mark.parametrize(("positions", "rows", "columns"), [(3, 5, 4), (65, 66, 7), (200, 3, 2)])
def test_products_of_gram_matrices(positions, rows, columns):
    examples = 2
    slopes, unit = (
        numbers(examples * positions, rows),
        torch.full((examples * positions,), 0.25, device=DEVICE),
    )
    inputs = numbers(columns, examples * positions + 6, scale=40).clamp(-127, 127).to(torch.int8)
    found = gram_products(slopes, unit, inputs, examples)
    each = torch.einsum(
        "etr,cet->erc",
        (slopes * unit[:, None]).double().reshape(examples, positions, rows),
        inputs[:, : examples * positions].double().reshape(columns, examples, positions),
    )
    assert torch.allclose(found, each.square().sum((1, 2)), rtol=1e-5)
