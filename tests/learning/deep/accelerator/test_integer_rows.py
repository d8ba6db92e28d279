"""Gradients as integers: norms from above, and little lost by rounding."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from discreet.learning.deep.accelerator.integer_rows import integer_form
from discreet.learning.deep.uses import OuterUse, RowsUse

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def test_rounding_leaves_gradients_of_a_transformer_nearly_as_they_are():
    """Of a layer of GPT-2 with 128 positions, in which all of a gradient lies, a few percent."""
    generator = torch.Generator().manual_seed(1)
    left = torch.randn(1, 128, 768, generator=generator).to(DEVICE)
    right = torch.randn(1, 128, 192, generator=generator).to(DEVICE)
    form = integer_form(OuterUse(left, right))
    assert float(form.rounding()[0]) < 0.005 * 2**30


def test_norms_of_outer_products_are_from_above():
    """Against exact fractions of the numbers as they are kept."""
    generator = torch.Generator().manual_seed(9)
    use = OuterUse(torch.randn(2, 3, 4, generator=generator), torch.randn(2, 3, 5, generator=generator))
    form = integer_form(OuterUse(use.left.to(DEVICE), use.right.to(DEVICE)))
    kept = form.kept()
    for place in range(2):
        gradient = [
            sum(
                Fraction(float(kept.left[place, t, row])) * Fraction(float(kept.right[place, t, column]))
                for t in range(3)
            )
            for row in range(4)
            for column in range(5)
        ]
        assert sum(value**2 for value in gradient) <= sum(
            Fraction(float(value)) for part in form.squares() for value in part[place]
        )


def test_rows_are_kept_as_they_are():
    use = RowsUse(torch.ones(2, 9, device=DEVICE))
    form = integer_form(use)
    assert form.kept() is use
    assert form.most() is None
    assert 1.5 <= form.rounding() < 1.6


@pytest.mark.parametrize("rows", [1, 2, 16, 17, 300])
def test_the_worst_rounding_bounds_that_of_any_numbers(rows):
    use = OuterUse(torch.ones(1, 3, rows, device=DEVICE), torch.full((1, 3, 5), 127.0, device=DEVICE))
    form = integer_form(use)
    assert float(form.rounding()[0]) <= form.worst_rounding * (1 + 1e-12)
    assert float(form.rounding()[0]) >= 0.99 * form.worst_rounding


def test_only_sums_of_large_matrices_may_be_cut_off():
    def form(rows):
        return integer_form(
            OuterUse(torch.ones(1, 1, rows, device=DEVICE), torch.ones(1, 1, 256, device=DEVICE))
        )

    assert not form(255).has_steps
    assert form(256).has_steps


def test_rows_in_grid_steps_are_their_sum_rounded():
    form = integer_form(RowsUse(torch.tensor([[3.0, -3.0], [2.0, 2.0**20]], device=DEVICE)))
    steps = torch.zeros(2, dtype=torch.int32, device=DEVICE)
    form.write_to(steps, torch.tensor([5.0, 2.0**20], dtype=torch.float64, device=DEVICE), 3)
    assert steps.tolist() == [(15 + 2**21 + 4) >> 3, 2**30]
