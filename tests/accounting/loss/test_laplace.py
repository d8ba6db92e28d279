"""Laplace noise against quadrature of its definition; vectors against one value."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from accounting.loss.profiles import assert_between, of_densities
from discreet.accounting.loss.laplace import LaplacePair
from discreet.accounting.loss.pair import pair_of
from discreet.privacy import events


def density(center):
    return lambda x: exp(-abs(x - center)) / 2


def exact(shift):
    def delta(direction, epsilon):
        ends = (shift, 0) if direction == 0 else (0, shift)
        return of_densities(density(ends[0]), density(ends[1]), epsilon, -60, shift + 60, kinks=(0, shift))

    return delta


@pytest.mark.parametrize("shift", [0.05, 1.0, 6.0])
def test_the_profile_is_the_definition(shift):
    pair = pair_of(events.Laplace(epsilon=str(shift)))
    assert_between(pair, exact(shift), (0.0, shift / 3, 0.9 * shift), width=1e-9)
    for direction in (0, 1):
        assert exact(shift)(direction, shift) == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 6.0])
@pytest.mark.parametrize("count", [5, 40, 400])
def test_its_cells_bound_it_and_keep_both_masses(epsilon, count):
    cells = LaplacePair(epsilon).outcomes(count)
    assert cells.p.sum() == pytest.approx(1, abs=1e-14)
    assert cells.q.sum() == pytest.approx(1, abs=1e-14)
    assert (cells.p[0], cells.q[0]) == pytest.approx((exp(-epsilon) / 2, 0.5))
    assert (cells.p[-1], cells.q[-1]) == pytest.approx((0.5, exp(-epsilon) / 2))
    truth = LaplacePair(epsilon).law(0, "upper", 3)
    for at in np.linspace(0, 1.1 * epsilon, 12):
        lower, upper = cells.law("lower").delta(at), cells.law("upper").delta(at)
        assert lower <= truth.delta(at) + 1e-14
        assert upper >= truth.delta(at) - 1e-14
        assert upper - lower <= 2 * (epsilon / count) ** 2 + 1e-14
    assert cells.law("upper").largest == pytest.approx(epsilon)


@pytest.mark.parametrize("share", [0.5, 0.2, 0.03])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_a_vector_is_never_worse_than_one_value(share, epsilon):
    """Two coordinates that share the shift, on fine grids of both losses."""
    atoms = []
    for part in (share * epsilon, (1 - share) * epsilon):
        cells = LaplacePair(part).outcomes(1500).law("lower")
        atoms.append((cells.masses, cells.losses))
    masses = np.multiply.outer(atoms[0][0], atoms[1][0]).ravel()
    losses = np.add.outer(atoms[0][1], atoms[1][1]).ravel()
    one = LaplacePair(epsilon).law(0, "upper", 3)
    for at in np.linspace(0, epsilon, 9):
        together = float(masses @ np.maximum(0, -np.expm1(np.minimum(at - losses, 0))))
        assert together <= one.delta(at) + 1e-12
