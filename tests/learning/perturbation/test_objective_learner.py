"""Objective perturbation as a learner: what it says before a fit."""

from __future__ import annotations

import pytest

from .test_margin_learner import learners


def test_words_name_the_mechanism_and_the_noise():
    _, pure = learners()
    _, normal = learners(epsilon=1, delta=1e-6)
    assert pure.words.startswith("objective perturbation")
    assert "Gamma" in pure.words
    assert "normal" in normal.words
    assert pure.kind == "objective_perturbation"


def test_the_expected_noise_falls_with_the_number_of_rows():
    _, found = learners()
    (few,), (many,) = found.expectations(100), found.expectations(1000)
    assert few.standard_deviation == pytest.approx(10 * many.standard_deviation)
    assert few.standard_deviation == pytest.approx(float(found.mechanism.term.deviation(3)) / 100)
    assert few.margin == pytest.approx(3 * few.standard_deviation)
