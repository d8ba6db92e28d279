"""Uses agree with gradients written out, and their norms and masses bound what is rounded."""

from __future__ import annotations

import pytest
import torch

from discreet.learning.deep.uses import (
    LookupUse,
    OuterUse,
    RowsUse,
    TurnedRowsUse,
    outer_use,
    squared_norms,
)


def some_uses():
    """Three kinds of gradients of one table of 6 rows and 4 columns, for 5 examples."""
    torch.manual_seed(4)
    return {
        "rows": RowsUse(torch.randn(5, 24)),
        "turned": TurnedRowsUse(RowsUse(torch.randn(5, 24)), (2, 6, 2), (1, 2, 0)),
        "outer": OuterUse(torch.randn(5, 3, 6), torch.randn(5, 3, 4)),
        "one position": OuterUse(torch.randn(5, 1, 6), torch.randn(5, 1, 4)),
        "lookup": LookupUse(torch.randint(0, 6, (5, 7)), torch.randn(5, 7, 4), 6),
    }


USES = some_uses()


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("other", USES)
def test_norms_of_sums_have_all_inner_products(name, other):
    pair = [USES[name], USES[other]]
    written = pair[0].each() + pair[1].each()
    torch.testing.assert_close(squared_norms(pair, [use.mass() for use in pair]), written.square().sum(1))


@pytest.mark.parametrize("name", USES)
def test_sums_and_masses(name):
    use = USES[name]
    factors = torch.rand(5, dtype=torch.float64)
    out = torch.full((use.each().shape[1],), torch.nan, dtype=torch.float64)  # whatever was there before
    found = use.weighted_sum(factors, out)
    torch.testing.assert_close(found, factors @ use.each())
    assert found is out
    assert (use.mass() >= use.each().norm(dim=1) * (1 - 1e-12)).all()
    assert use.terms >= 5


@pytest.mark.parametrize("name", USES)
def test_examples_that_are_not_kept_count_for_nothing(name):
    kept = torch.tensor([True, False, True, True, False])
    found = USES[name].without(kept).each()
    assert (found[~kept] == 0).all()
    assert torch.equal(found[kept], USES[name].each()[kept])


def test_rows_are_turned_into_the_order_of_the_parameter():
    written = torch.arange(12.0).view(1, 2, 3, 2)
    use = TurnedRowsUse(RowsUse(written.flatten(1)), (2, 3, 2), (0, 2, 1))
    expected = torch.stack([written[0, :, :, channel] for channel in (0, 1)], 1).flatten()
    assert torch.equal(use.each()[0].float(), expected)
    found = use.weighted_sum(torch.ones(1).double(), torch.empty(12).double())
    assert torch.equal(found.float(), expected)


@pytest.mark.parametrize("shape", [(20, 40_000), (70, 8_200), (600, 1_000), (5, 1)], ids=str)
def test_rows_are_summed_in_blocks(shape):
    rows, factors = torch.randn(shape), torch.rand(shape[0], dtype=torch.float64)
    out = torch.full((shape[1],), torch.nan, dtype=torch.float64)
    torch.testing.assert_close(RowsUse(rows).weighted_sum(factors, out), factors @ rows.double())


def test_no_rows_and_no_columns_have_a_sum():
    for examples, columns in ((0, 3), (3, 0)):
        out = torch.full((columns,), torch.nan, dtype=torch.float64)
        found = RowsUse(torch.zeros(examples, columns)).weighted_sum(torch.ones(examples).double(), out)
        assert (found == 0).all()


def test_small_matrices_are_written_out_and_large_ones_are_not():
    assert isinstance(outer_use(torch.zeros(2, 9, 3), torch.zeros(2, 9, 4)), RowsUse)
    assert isinstance(outer_use(torch.zeros(2, 3, 90), torch.zeros(2, 3, 90)), OuterUse)
    assert isinstance(outer_use(torch.zeros(2, 1, 3), torch.zeros(2, 1, 3)), OuterUse)
