"""Nested blocks: widths, weights and sums, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.workloads.strategies.blocks import block_sums, checked_weights, widths_of


def test_widths_grow_until_one_block_holds_the_domain():
    assert widths_of(1, 2) == (1,)
    assert widths_of(8, 2) == (1, 2, 4, 8)
    assert widths_of(9, 3) == (1, 3, 9)
    assert widths_of(10, 3) == (1, 3, 9, 27)
    assert widths_of(10, [5, 2]) == (1, 5, 10)
    assert widths_of(11, [5, 3]) == (1, 5, 15)


@pytest.mark.parametrize("branching", [[5], [5, 2, 2], 1, [1, 10]])
def test_branching_that_misses_the_domain_is_refused(branching):
    with pytest.raises(ParameterError, match="branching"):
        widths_of(10, branching)


def test_one_weight_for_each_level():
    assert checked_weights(None, 3) == (1, 1, 1)
    assert checked_weights([4, 0, 1], 3) == (4, 0, 1)
    for bad in ([1, 1], [1, 1, -1], [1, 1, 0.5]):
        with pytest.raises(ParameterError, match="weights"):
            checked_weights(bad, 3)


def test_sums_of_neighbors():
    cells = np.arange(12).reshape(2, 6)
    assert block_sums(cells, 3).tolist() == [[3, 12], [21, 30]]
    assert block_sums(cells, 1).tolist() == cells.tolist()
