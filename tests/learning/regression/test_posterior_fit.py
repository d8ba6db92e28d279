"""A released posterior sample."""

from __future__ import annotations

import numpy as np

from discreet.learning import PosteriorFit


def test_the_last_sample_is_what_predicts():
    fit = PosteriorFit(
        samples=np.array([[9.0, 9.0], [1.0, -2.0]]), steps=np.array([1.0, 0.1]), eigenvalue=3.0
    )
    assert fit.coefficients.tolist() == [1.0, -2.0]
    assert fit.predict([[1, 1], [2, 0]]).tolist() == [-1.0, 2.0]
