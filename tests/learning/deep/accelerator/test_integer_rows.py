"""Gradients as integers: norms from above, and little lost by rounding."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch

from discreet.learning.deep.accelerator import integer_rows
from discreet.learning.deep.accelerator.integer_rows import integer_form
from discreet.learning.deep.uses import LookupUse, OuterUse, RowsUse

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def test_rounding_leaves_gradients_of_a_transformer_nearly_as_they_are():
    """Of 12 layers of GPT-2, in which all of a gradient lies, less than half a percent."""
    sizes = [(2304, 768), (768, 768), (3072, 768), (768, 3072)] * 12
    forms = [
        integer_form(
            OuterUse(torch.ones(1, 2, rows, device=DEVICE), torch.ones(1, 2, columns, device=DEVICE))
        )
        for rows, columns in sizes[:4]
    ]
    assert (12 * sum(form.rounding() ** 2 for form in forms)) ** 0.5 < 0.005 * 2**29


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


@pytest.mark.parametrize(
    ("positions", "rows", "columns"), [(2, 1, 1), (2**13, 1, 1), (2, 2**17, 1), (2, 1, 2**17)]
)
def test_the_share_is_more_than_products_of_floats_may_be_off(positions, rows, columns, monkeypatch):
    """What lemma 1 says that inner products, and products over positions, may be off at most."""
    shares = []
    for name in ("squares_from_above", "look_up_squares_from_above"):
        monkeypatch.setattr(integer_rows, name, lambda *given: shares.append(Fraction(given[2])))
    slopes = torch.zeros(1, positions, rows, device=DEVICE)
    index = torch.zeros(1, positions, dtype=torch.int64, device=DEVICE)
    integer_form(OuterUse(slopes, torch.zeros(1, positions, columns, device=DEVICE))).squares()
    integer_form(LookupUse(index, slopes, 3)).squares()
    unit, of_itself = Fraction(1, 2**31), 1 - Fraction(1, 2**13)
    inner, outer = 2**16 + rows + columns + 2, 2**16 + 2 * positions + 1
    assert shares[0] * of_itself > (inner + outer) * unit
    assert shares[1] * of_itself > (2**15 + rows + 2) * unit  # positions are rounded one by one


def forms_of_ones():
    """Each with as many positions as are in a number of its sum, log2 of its unit, and how many numbers."""
    ones, index = torch.ones(1, 3, 128, device=DEVICE), torch.zeros(1, 3, dtype=torch.int64, device=DEVICE)
    outer = OuterUse(ones[:, :, :7].contiguous(), ones[:, :, :9].contiguous())
    return {
        "positions": (integer_form(outer), 1, 8, 63),
        "small table": (integer_form(LookupUse(index, ones, 4), 5), 3, 0, 128),
        "large table": (integer_form(LookupUse(index, ones, 512), 5), 3, 5, 128),
        "rows": (integer_form(RowsUse(ones[:, 0])), 1, 0, 128),
    }


@pytest.mark.parametrize("kind", forms_of_ones())
@pytest.mark.parametrize("side", [-1, 1])
def test_rounding_is_as_far_off_as_a_form_says_and_hardly_less(kind, side):
    """All numbers are nearly halfway between two integers, and all are rounded to the same side."""
    form, terms, unit, numbers = forms_of_ones()[kind]
    each = 3 if kind == "positions" else 1  # what a coefficient is multiplied by before it is rounded
    wanted = Fraction(2**unit * (2000 + side * 499), 1000)
    coefficient = torch.tensor([float(wanted / each)], dtype=torch.float64, device=DEVICE)
    total = torch.zeros(form.use.rows * 128 if "table" in kind else numbers, device=DEVICE).long()
    form.add_to(total, coefficient)
    off = [float(abs(int(value) - terms * wanted)) for value in total.flatten()[:numbers]]
    length = sum(value**2 for value in off) ** 0.5
    assert 0.97 * form.rounding() <= length <= form.rounding()


def test_rows_are_kept_as_they_are():
    use = RowsUse(torch.ones(2, 9, device=DEVICE))
    form = integer_form(use)
    assert form.kept() is use
    assert form.most() is None
    assert 1.5 <= form.rounding() < 1.6


@pytest.mark.parametrize("positions", [1, 3])
def test_only_sums_of_large_matrices_may_be_cut_off(positions):
    def form(rows):
        left, right = (
            torch.ones(1, positions, rows, device=DEVICE),
            torch.ones(1, positions, 256, device=DEVICE),
        )
        return integer_form(OuterUse(left, right))

    assert not form(255).has_short_sum
    assert form(256).has_short_sum


def test_rows_are_written_in_grid_steps_as_their_sum_rounded_and_cut_off():
    form = integer_form(RowsUse(torch.tensor([[3.0, -3.0], [2.0, 2.0**20]], device=DEVICE)))
    steps = torch.tensor([100, -200], dtype=torch.int32, device=DEVICE)
    form.write_steps(steps, torch.tensor([5.0, 2.0**20], dtype=torch.float64, device=DEVICE), 3)
    assert steps.tolist() == [(15 + 2**21 + 4) >> 3, 2**30]


@pytest.mark.parametrize("rows", [10, 300, 4096])
def test_slopes_of_usual_shape_have_room_beside_an_input_with_a_single_entry(rows):
    """No coefficient that makes a gradient 2^29 long is cut off, and inputs of 4096 entries round little."""
    generator = torch.Generator().manual_seed(1)
    slopes = torch.randn(8, 1, rows, generator=generator).clamp(-3.9, 3.9).to(DEVICE)
    single, dense = torch.zeros(8, 1, 50), torch.randn(8, 1, 4096, generator=generator)
    single[:, 0, 7] = 127.0
    alone = integer_form(OuterUse(slopes, single.to(DEVICE)))
    assert (alone.most() * alone.mass() >= 2.0**29).all()
    assert (integer_form(OuterUse(slopes, dense.to(DEVICE))).rounding() <= 0.004 * 2**30).all()
