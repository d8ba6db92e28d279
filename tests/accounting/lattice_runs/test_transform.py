"""The law of a sum by a transform: against plain convolution, and in windows that suit nothing."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import log

import numpy as np
import pytest

from accounting.lattice_runs.quadrature import two_steps_delta
from discreet.accounting.lattice_runs import transform
from discreet.accounting.lattice_runs.cut import law_above, law_below
from discreet.accounting.lattice_runs.run import LatticeRun
from discreet.accounting.lattice_runs.step import NormalStep
from discreet.accounting.lattice_runs.window import choose_window, deciding


def built(side, *, size=2048, deciding_from=None, **changes):
    sigma, rate, times, epsilon, delta = 1.0, 0.05, 2, 1.0, 1e-5
    steps = [NormalStep(1 / sigma, rate, times, 0, 8.0)]
    window = choose_window(
        steps, log(delta), 0.5 * epsilon, epsilon, deciding_from or deciding(steps, 1.01 * epsilon)
    )
    window = replace(window, **changes)
    spacing = window.length / size
    if side == "upper":
        laws = [law_above(steps[0], spacing, window.least[0], window.most)]
    else:
        laws = [law_below(steps[0], spacing, window.least[0], window.most, window.order)]
    return transform.delta_nodes(steps, laws, window, size, side)


@cache
def exact_delta(epsilon):
    return float(two_steps_delta(epsilon, 1.0, 0.05))


def test_the_transform_is_the_convolution():
    rng = np.random.default_rng()
    weights = [rng.dirichlet(np.ones(40)), rng.dirichlet(np.ones(25))]

    class Law:
        def __init__(self, masses):
            self.weights = masses

    found, error = transform._composed([Law(masses) for masses in weights], [3, 2], 256)
    exact = np.ones(1)
    for masses, times in zip(weights, (3, 2), strict=True):
        for _ in range(times):
            exact = np.convolve(exact, masses)
    assert error < 1e-12
    assert np.abs(found[: len(exact)] - exact).max() <= error + 1e-16
    assert np.abs(found[len(exact) :]).max() <= error


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"order": 0.5},
        {"order": 30.0, "larger": 31.0},
        {"length": 1.2, "top": 1.9},
        {"length": 3.0, "top": 1.4},
        {"tail": 1.0},
        {"smaller": 50.0},
        {"most": 0.6},
        {"length": 40.0},
    ],
)
def test_any_window_gives_true_bounds(changes):
    upper, lower = (built(side, **changes) for side in ("upper", "lower"))
    for epsilon in (0.8, 1.0, 1.1):
        exact = exact_delta(epsilon)
        assert lower.delta(epsilon) <= exact <= upper.delta(epsilon)
        assert lower.epsilon(exact) <= epsilon * (1 + 1e-12)
        assert upper.epsilon(exact) >= epsilon * (1 - 1e-12)


@pytest.mark.parametrize("most", [1.2, 2.0, 4.0])
def test_losses_that_decide_alone_may_begin_anywhere(most):
    upper, lower = (built(side, deciding_from=most, size=4096) for side in ("upper", "lower"))
    exact = exact_delta(1.0)
    assert lower.delta(1.0) <= exact <= upper.delta(1.0)
    assert upper.delta(1.0) - lower.delta(1.0) <= 2e-3 * exact


def test_beyond_its_nodes_nothing_is_claimed():
    upper, lower = built("upper"), built("lower")
    assert upper.delta(-5.0) == 1.0
    assert lower.delta(50.0) == 0.0
    assert lower.epsilon(0.99) == 0.0
    assert LatticeRun([(1.0, 0.1, 5000)]).epsilon(1e-5, 1e-5, 1e-4) is None
    assert LatticeRun([(1.0, 0.1, 5)]).epsilon(1e-30, 1e-30, 1e-4) is None
