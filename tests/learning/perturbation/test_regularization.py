"""Rules for regularization: over public numbers, and as large as the noise asks for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.learning.perturbation.regularization import (
    euclidean_deviation,
    for_objective,
    for_output,
    stated_regularization,
)


@pytest.mark.parametrize("size", [1, 3, 50])
def test_the_deviation_is_that_of_a_coordinate(size):
    source = np.random.default_rng(size)
    directions = source.normal(size=(40_000, size))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    drawn = directions[:, 0] * source.gamma(size, size=40_000) * 2
    assert drawn.std() == pytest.approx(float(euclidean_deviation(size, Fraction(2))), rel=0.05)


def test_rules_grow_with_the_noise_and_give_short_numbers():
    assert for_output(Fraction(10)) == 20
    assert for_objective(Fraction(9), Fraction(1)) == 6
    assert for_objective(Fraction(9), Fraction(50)) == 50
    assert (16 * for_output(Fraction(1, 7))).denominator == 1


@pytest.mark.parametrize("wrong", [0, -1, 2**-21, 2**41])
def test_what_solvers_cannot_hold_is_refused(wrong):
    with pytest.raises(ParameterError, match="regularization"):
        stated_regularization(wrong)
