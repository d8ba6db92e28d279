"""One step: masses and losses against many digits."""

from __future__ import annotations

import itertools

import mpmath
import numpy as np
import pytest

from discreet.accounting.lattice_runs.step import NormalStep
from discreet.accounting.loss.tilted import UNIT

STEPS = [(2.0, 1e-5), (1.0, 0.01), (0.05, 0.3), (1.4, 0.999), (0.7, 1.0), (20.0, 0.5)]


def loss(step, z):
    exponent = mpmath.mpf(step.mu) * z - mpmath.mpf(step.mu) ** 2 / 2
    return mpmath.log(1 - mpmath.mpf(step.rate) + mpmath.mpf(step.rate) * mpmath.exp(exponent))


@pytest.mark.few(4)
@pytest.mark.parametrize(("mu", "rate"), STEPS)
@pytest.mark.parametrize("direction", [0, 1])
def test_masses_stay_within_their_rounding(mu, rate, direction):
    step = NormalStep(mu, rate, 1, direction, 8.0)
    low, high = step.ends
    z, _, _ = step.outcomes(np.linspace(low, high, 40))
    found = step.masses(z)
    with mpmath.workdps(250):  # differences of numbers next to one
        ordered = [mpmath.mpf(float(at)) for at in (z if direction == 0 else z[::-1])]
        plain = [mpmath.ncdf(b) - mpmath.ncdf(a) for a, b in itertools.pairwise(ordered)]
        moved = [mpmath.ncdf(b - mu) - mpmath.ncdf(a - mu) for a, b in itertools.pairwise(ordered)]
        mixed = [(1 - mpmath.mpf(rate)) * a + mpmath.mpf(rate) * b for a, b in zip(plain, moved, strict=True)]
        p, q = (mixed, plain) if direction == 0 else (plain[::-1], mixed[::-1])
        assert all(abs(a - b) <= e for a, b, e in zip(p, found.p, found.p_error, strict=True))
        assert all(abs(a - b) <= e for a, b, e in zip(q, found.q, found.q_error, strict=True))


@pytest.mark.parametrize(("mu", "rate"), STEPS)
@pytest.mark.parametrize("direction", [0, 1])
def test_losses_stay_within_their_rounding(mu, rate, direction):
    step = NormalStep(mu, rate, 1, direction, 8.0)
    low, high = step.ends
    asked = np.linspace(low, high, 60)[1:-1]
    z, speed, rounding = step.outcomes(asked)
    assert rounding <= 1e-12 * max(1.0, high)
    sign = 1 if direction == 0 else -1
    with mpmath.workdps(50):
        for at, wanted in zip(z, asked, strict=True):
            if -step.far < at < step.far + mu:
                assert abs(sign * loss(step, mpmath.mpf(float(at))) - mpmath.mpf(float(wanted))) <= rounding
    shown = step.losses(z)
    assert shown * sign == pytest.approx(asked, rel=1e-9, abs=1e3 * UNIT)
    assert (speed > 0).all()
