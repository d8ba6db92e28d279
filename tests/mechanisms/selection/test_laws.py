"""The laws of selections that figures draw, against an enumeration of the code that draws."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from discreet.audit.enumeration import output_law
from discreet.errors import ParameterError
from discreet.mechanisms import AboveThreshold, Exponential, PermuteAndFlip, ReportNoisyMax, TopK
from discreet.mechanisms.selection.laws import (
    above_threshold_law,
    noisy_max_law,
    permute_and_flip_law,
    top_k_law,
)


def name_of(output):
    if isinstance(output, int):
        return str(output)
    return ", ".join(map(str, output[3])) or "none"


@pytest.mark.parametrize(
    ("mechanism", "scores"),
    [
        (Exponential(sensitivity=1, epsilon=2), [3, 2, 0]),
        (PermuteAndFlip(sensitivity=1, epsilon=2), [3, 2, 0]),
        (PermuteAndFlip(sensitivity=1, epsilon=0.3), [3, 3, 0, -5, 2]),
        (ReportNoisyMax(sensitivity=1, epsilon=6), [3, 3]),
        (ReportNoisyMax(sensitivity=1, epsilon=6), [3, 2, 3]),
        (TopK(k=2, sensitivity=1, epsilon=2), [3, 2, 0]),
        (AboveThreshold(threshold=3, sensitivity=1, epsilon=9), [3, 2]),
        (AboveThreshold(threshold=3, sensitivity=1, epsilon=9, monotone=True, positives=2), [3, 2]),
    ],
    ids=repr,
)
def test_the_law_is_that_of_the_code(mechanism, scores):
    names, logs = mechanism._law(mechanism.scores.enter(scores))
    law = output_law(mechanism.release, scores, most_runs=20_000, goal=1e-4)
    unresolved = float(law.unresolved)
    known = {name_of(output): float(mass) for output, mass in law.masses.items()}
    assert set(known) <= set(names)
    assert np.exp(logs).sum() == pytest.approx(1, abs=1e-9)
    for name, chance in zip(names, np.exp(logs), strict=True):
        assert known.get(name, 0.0) - 1e-9 <= chance <= known.get(name, 0.0) + unresolved + 1e-9


def test_a_fine_grid_has_nearly_the_law_of_a_coarse_one():
    rate = 1.0
    coarse = noisy_max_law(np.array([0, 64, 32]), rate / 64)[1]
    fine = noisy_max_law(np.array([0, 64, 32]) << 30, rate / 64 / 2**30)[1]
    assert fine == pytest.approx(coarse, abs=0.05)
    assert np.exp(fine).sum() == pytest.approx(1, abs=1e-3)
    fine = above_threshold_law(np.array([5, -3]) << 40, (rate / 2**41, rate / 2**42), 1)[1]
    assert np.exp(fine).sum() == pytest.approx(1, abs=1e-3)


def test_far_candidates_have_their_ratio_where_probabilities_underflow():
    here, there = (permute_and_flip_law(np.array([0, 5000 - move]), 1.0)[1] for move in (0, 2))
    assert there[0] - here[0] == pytest.approx(2)
    here, there = (noisy_max_law(np.array([0, 3000 - move]), 0.5)[1] for move in (0, 2))
    assert there[0] - here[0] == pytest.approx(1, abs=2e-3)


def test_many_candidates_have_a_law():
    scores = np.arange(1500) % 7
    for law in (permute_and_flip_law, noisy_max_law):
        assert np.exp(law(scores, 0.5)[1]).sum() == pytest.approx(1, abs=1e-6)
    assert permute_and_flip_law(np.zeros(2, np.int64), 1.0)[1] == pytest.approx([log(0.5)] * 2)


def test_what_no_figure_can_show_is_refused():
    with pytest.raises(ParameterError, match="5040 outcomes"):
        top_k_law(np.zeros(7, np.int64), 1.0, 6)
    with pytest.raises(ParameterError, match="outcomes"):
        above_threshold_law(np.zeros(20, np.int64), (1.0, 1.0), 5)
    with pytest.raises(ParameterError, match="too far apart"):
        noisy_max_law(np.array([0, 2**61]), 1.0)
