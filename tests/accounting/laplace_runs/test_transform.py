"""Transforms and moduli of one Laplace step, against many digits and dense grids."""

from __future__ import annotations

from math import pi

import mpmath
import numpy as np
import pytest

from discreet.accounting.laplace_runs.transform import Moduli, Transform, atoms_share, cumulant

KINDS = [(1e-7, 5e4), (0.003, 20.0), (0.5, 0.4), (2.0, 3.0), (1.0, 1e7)]


def exact(loss, order, y):
    """a + b, a and b over exp(z e)."""
    z = mpmath.mpc(order, y) + mpmath.mpf("0.5")
    atoms = (1 + mpmath.exp(-2 * z * loss)) / 2
    density = (1 - mpmath.exp(-2 * z * loss)) / (4 * z)
    return atoms + density, atoms, density


@pytest.mark.parametrize(("loss", "order"), KINDS)
def test_transforms_stay_within_their_rounding(loss, order):
    y = np.concatenate(
        [[0.0], np.geomspace(1e-3 * order, 1e4 * order, 40), pi / loss * np.array([0.5, 1, 7.5])]
    )
    found = Transform(loss, order, y)
    (both, both_off), (atoms, atoms_off), (density, density_off) = (
        found.both(),
        found.atoms(),
        found.density(),
    )
    with mpmath.workdps(60):
        for i, at in enumerate(y):
            whole, a, b = exact(mpmath.mpf(loss), mpmath.mpf(order), mpmath.mpf(at))
            assert abs(mpmath.exp(mpmath.mpc(both[i])) - whole) <= both_off[i]
            assert abs(mpmath.exp(mpmath.mpc(atoms[i])) - a) <= atoms_off[i]
            assert abs(mpmath.mpc(density[i]) - b) <= density_off[i]


def test_small_losses_keep_their_digits():
    """Ten million steps: the error of all is far below one unit for each."""
    both, off = Transform(1e-3, 1.5, np.linspace(0, 3, 20)).both()
    assert (10**7 * off * np.exp(-both.real)).max() < 1e-9
    with mpmath.workdps(40):
        truth = mpmath.log(exact(mpmath.mpf(1e-3), mpmath.mpf(1.5), mpmath.mpf(3))[0])
        assert abs(mpmath.mpc(both[-1]) - truth) * 10**7 < 1e-11


@pytest.mark.parametrize(("loss", "order"), KINDS[1:4])
def test_blocks_bound_atoms_and_density(loss, order):
    generator = np.random.default_rng()
    near = generator.uniform(0.1, 40 / loss, 300)
    here = near + generator.exponential(1 / loss, 300)
    atoms, density = Moduli(loss, order).in_blocks(near, here)
    total = float(abs(exact(loss, order, 0)[0]))
    for low, high, most_atoms, most_density in zip(near, here, atoms, density, strict=True):
        y = np.linspace(low, high, 50)
        z = order + 0.5 + 1j * y
        a = (1 + np.exp(-2 * z * loss)) / 2 / total
        b = (1 - np.exp(-2 * z * loss)) / (4 * z) / total
        assert np.abs(a).max() <= most_atoms * (1 + 1e-9)
        assert np.abs(2 * z * b).max() <= most_density * (1 + 1e-9)
        density, both = Moduli(loss, order).largest(low)
        assert np.abs(2 * z * b).max() <= density * (1 + 1e-9)
        assert np.maximum(np.abs(a), np.abs(a + b)).max() <= both * (1 + 1e-9)


def test_the_share_of_atoms_is_its_probability():
    """Untilted: each step is an atom with probability (1 + exp(-e)) / 2."""
    p, q = (1 + np.exp(-0.4)) / 2, (1 + np.exp(-0.1)) / 2
    both = p**3 * q**2
    one = 3 * (1 - p) * p**2 * q**2 + 2 * (1 - q) * q * p**3
    assert atoms_share([(0.4, 3), (0.1, 2)], 0.0) == pytest.approx(both + one)


def test_cumulants_of_many_steps_stay_within_their_rounding():
    with mpmath.workdps(40):
        for loss, order, n in [(1e-3, 1.5, 10**7), (2.0, 3.0, 20), (1e-7, 5e4, 10**6)]:
            found, off = cumulant([(loss, n)], order)
            truth = n * mpmath.log(exact(mpmath.mpf(loss), mpmath.mpf(order), 0)[0])
            assert abs(found - truth) <= off
