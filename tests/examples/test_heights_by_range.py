"""Computed errors of five strategies with Laplace noise against measured ones, and how they grow."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from effort import sizes
from examples import heights_by_range as example

NAMES = (example.DIRECTLY, *example.STRATEGIES)


@pytest.mark.statistical
@pytest.mark.parametrize("size", sizes(8, 32))
@pytest.mark.parametrize("name", NAMES)
def test_computed_errors_are_the_measured_ones(name, size):
    # Squared errors have a relative deviation of at most about 2, so the mean of 1600 of 5 percent.
    assert example.measured(name, size, releases=1600) == pytest.approx(
        example.computed(name, size), rel=6.5 * 0.05
    )


@pytest.mark.parametrize("size", [4, 8, 32])
def test_computed_errors_are_those_of_the_closed_forms(size):
    """Continuous Laplace noise; integers have a little less where the scale is small."""
    most = (size + 1) ** 2 // 4
    queries = size * (size + 1) // 2
    assert example.computed(example.DIRECTLY, size) == pytest.approx(queries * 2 * most**2, rel=0.01)
    lengths = sum(length * (size - length + 1) for length in range(1, size + 1))
    discrete = 2 * np.exp(-1) / (1 - np.exp(-1)) ** 2  # of scale 1
    assert example.computed("identity: every cell", size) == pytest.approx(lengths * discrete, rel=1e-9)


def test_all_ranges_grow_as_the_sixth_power_in_total_and_the_fourth_each():
    totals = {size: example.computed(example.DIRECTLY, size) for size in (256, 512)}
    assert example.growth(totals) == pytest.approx(6, abs=0.02)
    each = {size: total / (size * (size + 1) / 2) for size, total in totals.items()}
    assert example.growth(each) == pytest.approx(4, abs=0.02)
    assert totals[512] == pytest.approx(512**6 / 16, rel=0.02)


def test_the_others_grow_far_slower():
    powers = {
        name: example.growth({size: example.computed(name, size) for size in (64, 128)})
        for name in example.STRATEGIES
    }
    assert powers["identity: every cell"] == pytest.approx(3, abs=0.05)
    # k^2 log^3 k between 64 and 128 grows as the power 2 + 3 log(7 / 6) / log 2.
    expected = 2 + 3 * log(7 / 6) / log(2)
    assert powers["hierarchy: a binary tree"] == pytest.approx(expected, abs=0.2)
    assert powers["wavelet"] == pytest.approx(expected, abs=0.2)
    assert 2.9 < powers["Fourier"] < 3.3


def test_the_plan_is_no_worse_than_any():
    for size in (8, 64):
        assert example.planned_total(size) <= min(example.computed(name, size) for name in NAMES) * (1 + 1e-9)


def test_it_prints_and_draws(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example, "SIZES", (8, 16))
    example.main(str(tmp_path), releases=2)
    assert "grows as k to the" in capsys.readouterr().out
    assert (tmp_path / "heights_by_range.png").exists()
