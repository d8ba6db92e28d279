"""Output perturbation as a learner: what it says before a fit."""

from __future__ import annotations

import numpy as np
import pytest

from .test_margin_learner import FEATURES, learners


def test_words_name_the_mechanism():
    found, _ = learners()
    assert found.words.startswith("output perturbation")
    assert found.kind == "output_perturbation"


@pytest.mark.statistical
def test_the_expected_noise_is_that_of_a_score():
    found, _ = learners()
    (score,) = found.expectations(1000)
    unit = float(FEATURES.grid.largest) * FEATURES.grid.steps / FEATURES.grid.row_steps
    nobody = [np.empty(0), np.empty(0), np.empty(0, np.int64)]
    drawn = np.array([found.draw(nobody)["weights"] for _ in range(400)]) * unit
    assert drawn.std() == pytest.approx(score.standard_deviation, rel=0.25)
    assert (np.abs(drawn) <= score.margin).mean() > 0.95
