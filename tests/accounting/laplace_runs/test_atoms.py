"""The sum over atoms, against the same sum in many digits."""

from __future__ import annotations

from itertools import product
from math import comb, prod

import mpmath
import numpy as np
import pytest

from discreet.accounting.laplace_runs.atoms import LaplaceAtoms, _TermWithDensity, _walk, count_atoms


def lattice(parts):
    """All sums of atoms, with their P-masses."""
    for lower in product(*(range(n + 1) for _, n in parts)):
        pairs = list(zip(parts, lower, strict=True))
        ways = prod(comb(n, j) for (_, n), j in pairs)
        fall = sum(j * mpmath.mpf(loss) for (loss, _), j in pairs)
        loss = sum((n - 2 * j) * mpmath.mpf(loss) for (loss, n), j in pairs)
        yield loss, ways * mpmath.exp(-fall) / mpmath.mpf(2) ** sum(n for _, n in parts)


def density_gain(width, above):
    """Quadrature of the density of one loss against max(0, 1 - exp(-x))."""
    start = max(-width, -above)
    if start >= width:
        return mpmath.mpf(0)
    return mpmath.quad(
        lambda u: mpmath.exp((u - width) / 2) / 4 * (1 - mpmath.exp(-above - u)), [start, width]
    )


def exact(parts, epsilon):
    total = mpmath.fsum(p * max(0, 1 - mpmath.exp(epsilon - loss)) for loss, p in lattice(parts))
    for place, (width, n) in enumerate(parts):
        others = [*parts[:place], (width, n - 1), *parts[place + 1 :]]
        total += n * mpmath.fsum(
            p * density_gain(mpmath.mpf(width), loss - epsilon) for loss, p in lattice(others)
        )
    return total


@pytest.mark.few(8)
@pytest.mark.parametrize(
    "parts",
    [
        [(0.3, 2)],
        [(1e-5, 12)],
        [(2.0, 7)],
        [(40.0, 2)],
        [(0.1, 3), (0.25, 4)],
        [(0.5, 1), (0.3, 2), (0.01, 2)],
    ],
)
@pytest.mark.parametrize("share", [0.0, 0.13, 0.6, 0.97])
def test_the_sum_over_atoms_is_exact(parts, share):
    with mpmath.workdps(40):
        epsilon = share * sum(loss * n for loss, n in parts)
        truth = exact(parts, mpmath.mpf(epsilon))
        atoms = LaplaceAtoms(parts)
        lower, upper = atoms.lower(epsilon), atoms.upper(epsilon)
        assert lower[0] <= truth <= upper[0]
        assert upper[0] - lower[0] <= 1e-12 * truth + 1e-70
        if 0 < share < 0.9:  # elsewhere there may be a kink
            step = 1e-6 * epsilon
            slope = (exact(parts, epsilon + mpmath.mpf(step)) - truth) / step
            assert upper[1] == pytest.approx(float(slope), rel=1e-3, abs=1e-15)


@pytest.mark.parametrize(("steps", "loss"), [(1, 1.0), (50, 0.3), (3_000, 0.01), (200_000, 1e-5)])
def test_binomial_masses_stay_within_their_rounding(steps, loss):
    found = _walk(steps, loss)
    with mpmath.workdps(40):
        for place in np.linspace(0, len(found.losses) - 1, 7).astype(int):
            upper = round((float(found.losses[place]) / loss + steps) / 2)
            mass = mpmath.binomial(steps, upper) / mpmath.mpf(2) ** steps
            mass *= mpmath.exp(-(steps - upper) * mpmath.mpf(loss))
            if mass > 1e-250:
                assert abs(found.masses[place] / mass - 1) <= found.errors[place]
    assert found.errors.max() < 1e-10


def test_far_from_the_middle_next_to_nothing_is_left_out():
    found = _walk(10**6, 1e-6)
    assert len(found.losses) < 21_000
    assert found.masses.sum() == pytest.approx(((1 + np.exp(-1e-6)) / 2) ** 10**6, rel=1e-9)


def test_the_gain_of_one_density_is_its_quadrature():
    term = _TermWithDensity([(0.7, 0)], 1, 0.7)
    for above in (-0.7, -0.2, 0.0, 0.69, 0.7, 0.71, 3.0):
        assert term.gains(np.array([above]))[0][0] == pytest.approx(
            float(density_gain(0.7, above)), abs=1e-15
        )


def test_atoms_are_counted_before_they_are_summed():
    assert count_atoms([(0.1, 3)]) == 2 * 4
    assert count_atoms([(0.1, 3), (0.2, 1)]) == 3 * 4 * 2
    assert count_atoms([(1e-6, 10**8)]) < 10**6
