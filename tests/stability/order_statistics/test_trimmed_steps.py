"""Exact sensitivities of the trimmed mean: against enumeration, and against the general family."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import discreet.stability.order_statistics.trimmed_steps as module
from discreet.stability.enumeration import multisets
from discreet.stability.order_statistics.blocks import blocks
from discreet.stability.order_statistics.nearby import exact_sensitivity, mean_changes
from discreet.stability.order_statistics.ordered import ordered
from discreet.stability.order_statistics.tallied import tallied
from discreet.stability.order_statistics.trimmed_mean import trimmed_mean
from discreet.stability.order_statistics.trimmed_steps import trimmed_sensitivity, within_cells
from discreet.stability.order_statistics.trimming import Trimming
from effort import sizes
from stability.order_oracle import DOMAIN, STEPS, check_exact
from stability.order_statistics import test_trimmed_mean
from stability.order_statistics.test_levels import trimmed_levels

EVERY = list(multisets(DOMAIN, range(7)))
PARTS = [Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(1, 3), Fraction(3, 7), Fraction(499, 1000)]


@pytest.mark.parametrize("every", sizes(19, 6, exhaustive=2))
@pytest.mark.parametrize("part", [Fraction(1, 4), Fraction(2, 5)], ids=str)
@pytest.mark.parametrize(("relation", "rows"), STEPS[1:], ids=str)
def test_all_data_of_up_to_six_values(relation, rows, part, every):
    statistic, plainly = partial(trimmed_mean, trim=part), partial(test_trimmed_mean.plainly, part)
    check_exact(statistic, plainly, relation, rows, EVERY[::every])


def sides(data):
    return blocks(data), blocks(data.reflected())


def general(data, rule, rows, distance):
    """Return the same by the family for two peaks, one size and one step after another."""
    if distance * rows >= data.size:
        return Fraction(data.spread)
    changes = lambda size: mean_changes(partial(trimmed_levels, rule), size, rows)  # noqa: E731
    return exact_sensitivity(*sides(data), changes, rows, distance)


def check_general(many, upper=1000):
    rng = np.random.default_rng(2)
    for _ in range(many):
        size, rows, distance = (int(rng.integers(*ends)) for ends in ((0, 40), (1, 5), (0, 8)))
        values = (rng.random(size) ** 3 * upper).astype(np.int64)
        rule = Trimming(part=PARTS[int(rng.integers(len(PARTS)))])
        data = ordered(values, lower=0, upper=upper)
        found = trimmed_sensitivity(*sides(data), rule, rows, distance)
        assert found == general(data, rule, rows, distance)


@pytest.mark.parametrize("many", sizes(12, 50, exhaustive=150))
@pytest.mark.parametrize("upper", [1000, 2**53], ids=["short", "long"])
def test_larger_data_agree_with_the_general_family(many, upper):
    check_general(many, upper)


def test_counted_values_too():
    counts = np.array([3, 0, 7, 1, 12, 5])
    data = tallied(counts, spacing=10)
    spelled = ordered(np.repeat(np.arange(6) * 10, counts), lower=0, upper=50)
    for distance in (0, 1, 4, 13, 27, 28):
        found = (
            trimmed_sensitivity(*sides(each), Trimming(part=Fraction(1, 5)), 1, distance)
            for each in (data, spelled)
        )
        assert len(set(found)) == 1


def test_many_rows_of_few_values_do_not_overflow():
    """The two may be gone, which leaves the lower bound; 40 others would lower the mean by less."""
    data = ordered(np.array([0, 2**53]), lower=-(2**53), upper=2**53)
    assert trimmed_sensitivity(*sides(data), Trimming(part=Fraction(0)), 40, 0) == 3 * 2**52


def test_a_turn_at_the_wrong_rank_is_caught(monkeypatch):
    steps = module._steps

    def late(near, rule, values):
        return (replace(step, turn=step.turn + 1) for step in steps(near, rule, values))

    monkeypatch.setattr(module, "_steps", late)
    with pytest.raises(AssertionError):
        check_general(30)


def test_sizes_that_cannot_win_are_left_out_and_no_other(monkeypatch):
    """A bound that were too low would leave out the best."""
    rises = module._Step._rises

    def low(self, data, low, back):
        near, error = rises(self, data, low, back)
        return np.where(low > back, near * 0.5, near), error

    monkeypatch.setattr(module._Step, "_rises", low)
    with pytest.raises(AssertionError):
        check_general(30)


def test_how_far_is_a_rule_of_public_numbers():
    assert within_cells(1, 2047)
    assert not within_cells(1, 2048)
    assert within_cells(16, 31)
    assert not within_cells(16, 32)
    assert within_cells(64, 0)
    assert not within_cells(65, 0)
