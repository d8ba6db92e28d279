"""Sums of finite losses against enumeration in fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest

from discreet.accounting.contour.contour import LossComposition
from discreet.accounting.contour.convolution import convolved
from discreet.accounting.loss.law import AtomicLoss


def law(losses, masses, infinity=0.0):
    return AtomicLoss(np.array(masses, float), np.array(losses, float), infinity)


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_the_sum_of_few_is_the_enumeration(side):
    first, second = law([-1.0, 0.5, 2.0], [0.25, 0.25, 0.5]), law([-0.5, 0.75], [0.5, 0.5])
    whole = convolved(LossComposition([first, second], [2, 3]), side)
    exact: dict[Fraction, float] = {}
    for picks in product(range(3), range(3), range(2), range(2), range(2)):
        losses = [Fraction(float(first.losses[i])) for i in picks[:2]]
        losses += [Fraction(float(second.losses[i])) for i in picks[2:]]
        masses = [first.masses[i] for i in picks[:2]] + [second.masses[i] for i in picks[2:]]
        exact[sum(losses)] = exact.get(sum(losses), 0.0) + float(np.prod(masses))
    assert len(whole.losses) == len(exact)
    assert whole.losses == pytest.approx([float(loss) for loss in sorted(exact)])
    assert whole.masses == pytest.approx([exact[loss] for loss in sorted(exact)])


def test_sides_bracket_sums_that_differ_by_rounding():
    steps = LossComposition([law([-0.1, 0.1, 0.3], [0.2, 0.3, 0.5])], [30])
    lower, upper = (convolved(steps, side) for side in ("lower", "upper"))
    assert (lower.losses <= upper.losses).all()
    assert lower.losses == pytest.approx(upper.losses, abs=1e-11)
    assert len(upper.losses) == 61


def test_infinite_losses_stay():
    whole = convolved(LossComposition([law([0.0], [0.9], 0.1)], [3]), "upper")
    assert whole.infinity == pytest.approx(1 - 0.9**3)
    assert whole.masses.sum() == pytest.approx(0.9**3)


def test_too_many_values_are_left_to_others():
    generator = np.random.default_rng(1)
    losses = generator.normal(size=50)
    masses = np.exp(-losses) / np.exp(-losses).sum()
    assert convolved(LossComposition([law(losses, masses)], [40]), "upper") is None
    assert convolved(LossComposition([law([-1, 1], [0.2, 0.8])], [10**7]), "upper") is None


def test_a_thousand_steps_keep_their_digits():
    loss = 0.01
    truth = 1 / (1 + exp(-loss))
    whole = convolved(LossComposition([law([-loss, loss], [1 - truth, truth])], [1000]), "upper")
    assert whole.masses.sum() == pytest.approx(1, rel=1e-12)
    assert len(whole.losses) == 1001
