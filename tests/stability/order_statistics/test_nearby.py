"""Exact sensitivities where persons come and go: against all data sets of up to six values."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest

import discreet.stability.order_statistics.nearby as module
from discreet.stability.enumeration import multisets
from discreet.stability.order_statistics.blocks import blocks
from discreet.stability.order_statistics.interquartile_range import interquartile_range
from discreet.stability.order_statistics.nearby import exact_sensitivity, mean_changes, within_steps
from discreet.stability.order_statistics.ordered import ordered
from discreet.stability.order_statistics.trimming import Trimming
from discreet.stability.order_statistics.winsorized_mean import winsorized_levels, winsorized_mean
from effort import sizes
from stability.order_oracle import BOUNDS, DOMAIN, STEPS, check_exact
from stability.order_statistics import test_interquartile_range, test_winsorized_mean
from stability.order_statistics.path_oracle import largest

EVERY = list(multisets(DOMAIN, range(7)))


@pytest.mark.parametrize("every", sizes(37, 7, exhaustive=1))
@pytest.mark.parametrize(("relation", "rows"), STEPS[1:], ids=str)
def test_all_ranges_of_up_to_six_values(relation, rows, every):
    check_exact(interquartile_range, test_interquartile_range.plainly, relation, rows, EVERY[::every])


@pytest.mark.parametrize("every", sizes(19, 5, exhaustive=1))
@pytest.mark.parametrize("part", [Fraction(1, 4), Fraction(2, 5)], ids=str)
@pytest.mark.parametrize(("relation", "rows"), STEPS[1:], ids=str)
def test_all_winsorized_means_of_up_to_six_values(relation, rows, part, every):
    check_exact(
        partial(winsorized_mean, trim=part),
        partial(test_winsorized_mean.plainly, part),
        relation,
        rows,
        EVERY[::every],
    )


@pytest.mark.parametrize("rows", [1, 2])
def test_larger_data_agree_with_a_slower_way(rows):
    """Every size and step by going through the values in order, for a mean of nine values."""
    rng, rule, best = np.random.default_rng(3), Trimming(part=Fraction(1, 5)), Fraction(0)
    values = sorted((rng.random(9) ** 3 * 1000).astype(int).tolist())
    levels = partial(winsorized_levels, rule)
    data = ordered(np.array(values), lower=0, upper=1000)
    mirrored = [1000 - value for value in reversed(values)]
    for added, removed in product(range(2 * rows + 1), repeat=2):
        if -(-added // rows) - (-removed // rows) > 2:
            continue
        for weights, flipped in mean_changes(levels, 9 + added - removed, rows):
            numbers = [weights.at(level) for level in range(weights.size + 1)]
            side = mirrored if flipped else values
            best = max(best, largest(numbers, side, 1000, added, removed))
    sides = blocks(data), blocks(data.reflected())
    assert exact_sensitivity(*sides, lambda size: mean_changes(levels, size, rows), rows, 2) == best


def test_a_forgotten_kind_of_step_is_caught(monkeypatch):
    """Without the values that draw both quartiles inward the range is too stable."""
    changes = module.range_changes

    def outward(first, last, size, rows):
        return changes(first, last, size, rows)[1:]

    monkeypatch.setattr("discreet.stability.order_statistics.interquartile_range.range_changes", outward)
    with pytest.raises(AssertionError):
        check_exact(interquartile_range, test_interquartile_range.plainly, *STEPS[1], EVERY[::9])


def test_how_far_is_a_rule_of_public_numbers():
    assert within_steps(1, 63)
    assert not within_steps(1, 64)
    assert within_steps(4, 3)
    assert not within_steps(4, 4)
    assert within_steps(64, 0)
    assert not within_steps(65, 0)
    assert interquartile_range(np.arange(8), **BOUNDS).reach == 9
