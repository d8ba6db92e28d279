"""Laplace noise for vectors, against integration in the plane and gamma tails."""

from __future__ import annotations

from fractions import Fraction
from math import exp, expm1

import numpy as np
import pytest
from scipy import stats

from discreet.errors import ParameterError
from discreet.mechanisms.admissible import ArcsinhNormal, Cauchy, GaussianNoise, LaplaceNoise, Student
from discreet.mechanisms.admissible.product import ConcentratedVector, StudentVector
from discreet.mechanisms.admissible.product_laplace import LaplaceVector, vector_noise

LINE = np.linspace(-45, 45, 1801)
CELL = (LINE[1] - LINE[0]) ** 2


def plane_delta(first, second, dilation, epsilon):
    """The hockey-stick divergence of (e^t Z1, e^t Z2) from (Z1 - first, Z2 - second), by sums."""
    x, y = LINE[:, None], LINE[None, :]
    wide = np.exp(-(np.abs(x) + np.abs(y)) * exp(-dilation)) / 4 * exp(-2 * dilation)
    there = np.exp(epsilon - np.abs(x + first) - np.abs(y + second)) / 4
    return float(np.maximum(wide - there, 0).sum() * CELL)


@pytest.mark.parametrize(("shift", "dilation", "epsilon"), [(0.5, 0.1, 1), (0.2, 0.3, 1), (1.0, 0.2, 2)])
def test_delta_bounds_all_moves_of_the_plane(shift, dilation, epsilon):
    claimed = float(
        LaplaceVector(noise=LaplaceNoise(), size=2)
        .budget(shift=shift, dilation=dilation, epsilon=epsilon)
        .delta
    )
    found = max(
        plane_delta(part * shift, (1 - part) * shift, u, epsilon)
        for part in (0, 0.3, 0.5)
        for u in (dilation / 2, dilation)
    )
    assert found <= claimed * 1.001
    assert claimed <= 6 * found


def test_delta_of_one_number_would_not_do_for_the_plane():
    alone = float(LaplaceNoise().budget(shift="0.5", dilation="0.2", epsilon=1).delta)
    assert plane_delta(0.5, 0, 0.2, 1) > alone


@pytest.mark.parametrize("size", [1, 3, 20])
@pytest.mark.parametrize(("shift", "dilation"), [(0.5, 0.02), (0.1, 0.002), (0.0, 0.01)])
def test_delta_is_the_divergence_of_gamma_laws(size, shift, dilation):
    """H(Gamma(d, e^t) || Gamma(d, 1)) at epsilon - s: P(R > r) - e^(epsilon - s) Q(R > r) at the crossing."""
    claimed = float(
        LaplaceVector(noise=LaplaceNoise(), size=size)
        .budget(shift=str(shift), dilation=str(dilation), epsilon=1)
        .delta
    )
    cut = (1 + size * dilation - shift) / expm1(dilation) * exp(dilation)
    wide, narrow = stats.gamma(size, scale=exp(dilation)), stats.gamma(size)
    assert claimed == pytest.approx(wide.sf(cut) - exp(1 - shift) * narrow.sf(cut), rel=1e-6, abs=1e-90)


@pytest.mark.parametrize("dilation", ["0.05", "0.2"])
def test_one_coordinate_costs_at_most_twice_the_exact_delta(dilation):
    exact = LaplaceNoise().budget(shift="0.3", dilation=dilation, epsilon=1).delta
    claimed = (
        LaplaceVector(noise=LaplaceNoise(), size=1).budget(shift="0.3", dilation=dilation, epsilon=1).delta
    )
    assert exact <= claimed <= 2 * exact * (1 + Fraction(1, 10**12))


@pytest.mark.parametrize("size", [1, 5, 256])
@pytest.mark.parametrize("dilation", ["0", "1e-12", "0.0001", "0.001"])
def test_the_largest_shift_is_within_the_budget_and_hardly_less(size, dilation):
    vector = LaplaceVector(noise=LaplaceNoise(), size=size)
    shift = vector.largest_shift(epsilon=1, delta="1e-6", dilation=dilation)
    assert vector.budget(shift=shift, dilation=dilation, epsilon=1).delta <= Fraction(1, 10**6)
    if 0 < shift < 1:
        more = shift * (1 + Fraction(1, 10**9))
        try:
            assert vector.budget(shift=more, dilation=dilation, epsilon=1).delta > Fraction(1, 10**6)
        except ParameterError:
            assert size * Fraction(dilation) + more * Fraction(exp(-float(dilation))) > 1 - Fraction(1, 10**6)


def test_it_allows_more_than_the_published_condition():
    """Nissim, Raskhodnikova & Smith: s = epsilon / 2 at t = epsilon / (4 (d + log(2 / delta)))."""
    for size in (1, 5, 20):
        dilation = Fraction(1 / (4 * (size + np.log(2e6))))
        assert LaplaceVector(noise=LaplaceNoise(), size=size).largest_shift(
            epsilon=1, delta="1e-6", dilation=dilation
        ) > Fraction(1, 2)


def test_moves_beyond_epsilon_are_refused():
    vector = LaplaceVector(noise=LaplaceNoise(), size=10)
    with pytest.raises(ParameterError):
        vector.budget(shift="0.5", dilation="0.1", epsilon=1)
    with pytest.raises(ParameterError):
        vector.budget(shift="0.5", dilation="0.01")
    assert vector.largest_shift(epsilon=1, delta="1e-6", dilation="0.2") == 0


def test_a_shift_beyond_epsilon_is_refused_also_without_a_dilation():
    vector = LaplaceVector(noise=LaplaceNoise(), size=2)
    assert vector.budget(shift=1, dilation=0, epsilon=1).delta == 0
    with pytest.raises(ParameterError):
        vector.budget(shift="1.001", dilation=0, epsilon=1)


def test_every_law_with_a_proof_has_its_vector_and_others_are_refused():
    kinds = {
        LaplaceVector: LaplaceNoise(),
        StudentVector: Student(degrees=3),
        ConcentratedVector: ArcsinhNormal(spread="0.3"),
    }
    for kind, noise in kinds.items():
        assert type(vector_noise(noise, 3)) is kind
        assert vector_noise(noise, 3).size == 3
    for noise in (Cauchy(power=4), GaussianNoise(), None):
        with pytest.raises(ParameterError, match="noise"):
            vector_noise(noise, 3)
