"""Norms are from above or rounded as doubles are, for numbers of any size and in any company."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from discreet.learning.deep.lengths import lengths

SHARE = Fraction(1, 2**15)  # of a square by which it may be too large


def is_enough(norm, row):
    """Whether a norm is the exact one, or a little more (fractions)."""
    square = sum(Fraction(value) ** 2 for value in row)
    return square * (1 - Fraction(len(row) + 4, 2**52)) <= Fraction(norm) ** 2 <= square * (1 + SHARE)


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize(
    "shape", [(256, 1), (48, 3), (255, 13), (250, 784), (96, 6_144), (96, 6_143), (3, 96)], ids=str
)
@pytest.mark.parametrize("is_turned", [False, True], ids=["by rows", "by columns"])
def test_a_norm_is_computed_alike_wherever_it_stands(shape, is_turned):
    """Bit by bit, in other places and company, in one block or several; and it is the norm (fractions)."""
    rows, order = torch.randn(shape), torch.randperm(shape[0])
    company = rows[order]
    company[::3] *= 1e9
    company[::6] *= 1e-30
    norms, others = (lengths(some.T.contiguous().T if is_turned else some) for some in (rows, company))
    stays = torch.arange(shape[0]) % 3 != 0
    assert torch.equal(others[stays], norms[order][stays])
    for row, norm in zip(rows[:3].tolist(), norms.tolist(), strict=False):
        assert is_enough(norm, row)


def test_norms_of_floats_are_from_above():
    """Of many random rows, and of rows whose squares are cut off the most (fractions)."""
    lost = torch.full((2, 8_192), 2.0**-12 * (1 - 2.0**-10))  # whose squares are less than half a last bit
    for row, lanes in zip(lost, (16, 64), strict=True):
        row[:lanes] = 1.0
    for rows in (torch.randn(200, 128), torch.rand(50, 256), lost, torch.ones(1, 384)):
        for row, norm in zip(rows.tolist(), lengths(rows).tolist(), strict=True):
            square = sum(Fraction(value) ** 2 for value in row)
            assert square <= Fraction(norm) ** 2 <= square * (1 + SHARE)


@pytest.mark.parametrize("exponent", [-149, -100, -75, -70, -68, -64, -40, -33, -32, 0, 62, 64, 100, 127])
def test_norms_of_any_size_are_those_of_doubles(exponent):
    """Squares of floats leave their range; each row is measured as it is alone, beside any other."""
    alike = torch.full((256,), 2.0**exponent)
    single = torch.zeros(256).index_fill(0, torch.tensor(200), 2.0**exponent)
    beside = torch.full((256,), 2.0 ** max(exponent - 40, -149)).index_fill(0, torch.tensor(3), 2.0**exponent)
    uneven = torch.rand(256) * 2.0**exponent
    rows = torch.stack([alike, single, beside, uneven, torch.randn(256), torch.zeros(256)])
    found = lengths(rows)
    assert all(is_enough(norm, row) for norm, row in zip(found.tolist(), rows.tolist(), strict=True))
    assert torch.equal(found, torch.cat([lengths(row) for row in rows.split(1)]))


def test_what_is_not_finite_has_no_finite_norm_and_spoils_no_other():
    rows = torch.ones(4, 256)
    rows[0, 7], rows[1, 200], rows[2, 0] = torch.nan, torch.inf, -torch.inf
    assert lengths(rows).isfinite().tolist() == [False, False, False, True]


@pytest.mark.parametrize("kind", [torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_other_numbers_are_measured_in_doubles(kind):
    rows = torch.randn(6, 3, 256).to(kind)
    expected = rows.double().square().sum(2).sqrt()
    torch.testing.assert_close(lengths(rows), expected, rtol=1e-14, atol=0)


def test_no_vectors_and_no_numbers_have_norms():
    assert lengths(torch.zeros(0, 256)).shape == (0,)
    assert lengths(torch.zeros(3, 0)).tolist() == [0.0] * 3
