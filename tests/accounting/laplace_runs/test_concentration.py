"""The lower bound for any number of steps: never above the truth, and close to it for many steps."""

from __future__ import annotations

import mpmath
import pytest

from discreet.accounting import epsilon
from discreet.accounting.laplace_runs.concentration import _mean, least_epsilon
from discreet.privacy import events


@pytest.mark.parametrize("loss", [1e-8, 9e-4, 1e-3, 0.3, 0.999, 1, 20])
def test_the_mean_loss_is_not_overstated(loss):
    with mpmath.workdps(40):
        exact = mpmath.mpf(loss) - 1 + mpmath.exp(-mpmath.mpf(loss))
    assert 1 - 1e-4 < _mean(loss) / exact < 1 + 1e-12


@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.3, 0.9])
@pytest.mark.parametrize("parts", [[(1.0, 30)], [(1.0, 10**6)], [(0.05, 10**5)], [(2.0, 100), (0.1, 10**4)]])
def test_the_mean_loss_less_its_spread_is_a_lower_bound(parts, delta):
    steps = [events.Laplace(epsilon=loss) * n for loss, n in parts]
    found = epsilon(sum(steps[1:], steps[0]), delta=delta)
    assert least_epsilon(parts, delta) <= found.upper
    if parts[0][1] == 10**6 and delta < 0.5:
        assert least_epsilon(parts, delta) >= 0.98 * found.upper
