"""Noise for vectors: pure and concentrated, against divergences of coordinates that add up."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, sqrt

import numpy as np
import pytest
from scipy import special

from discreet.errors import ParameterError
from discreet.mechanisms.admissible import (
    ArcsinhNormal,
    Cauchy,
    GaussianNoise,
    LaplaceLogNormal,
    LaplaceNoise,
    Student,
    UniformLogNormal,
)
from discreet.mechanisms.admissible.product import ConcentratedVector, StudentVector
from discreet.mechanisms.admissible.product_laplace import vector_noise
from mechanisms.admissible import divergences

POINTS = np.concatenate([np.linspace(-60, 60, 24001), 1e-3 * np.sinh(np.linspace(-30, 30, 4001))])


def vector_moves(size, shift, dilation):
    """Shifts of all directions up to signs, with common dilations: (shifts, u)."""
    parts = [0.0, 0.3, 0.6, 1.0]
    for direction in product(parts, repeat=size):
        length = sqrt(sum(x * x for x in direction))
        if length == 0:
            yield from (((0.0,) * size, u) for u in np.linspace(-dilation, dilation, 5))
            continue
        for u in np.linspace(-dilation, dilation, 5):
            scale = shift * min(1.0, exp(u)) / length
            yield tuple(x * scale for x in direction), u


def largest_vector_loss(log_density, size, shift, dilation):
    worst, here, known = 0.0, log_density(POINTS), {}
    for shifts, u in vector_moves(size, shift, dilation):
        losses = []
        for s in shifts:
            if (s, u) not in known:
                ratio = here - (log_density((POINTS - s) * np.exp(-u)) - u)
                known[s, u] = float(ratio.max()), float((-ratio).max())
            losses.append(known[s, u])
        worst = max(worst, sum(a for a, _ in losses), sum(b for _, b in losses))
    return worst


def largest_vector_rho(log_density, size, shift, dilation):
    worst, known = 0.0, {}
    for shifts, u in vector_moves(size, shift, dilation):
        total = np.zeros(len(divergences.ORDERS))
        for s in shifts:
            if (s, u) not in known:
                z, weights = divergences._grid(s)
                p, q = log_density(z), log_density((z - s) * np.exp(-u)) - u
                p, q = p - special.logsumexp(p + weights), q - special.logsumexp(q + weights)
                known[s, u] = np.array(
                    [
                        special.logsumexp(a * p + (1 - a) * q + weights) / (a - 1) / a
                        for a in divergences.ORDERS
                    ]
                )
            total = total + known[s, u]
        worst = max(worst, float(total.max()))
    return worst


@pytest.mark.parametrize("degrees", [1, 3, 6])
@pytest.mark.parametrize(
    ("size", "shift", "dilation"), [(2, 0.7, 0.1), (3, 0.4, 0.05), (2, 1.5, 0), (2, 0.1, 0.3)]
)
def test_the_largest_loss_of_a_vector_is_the_budget(degrees, size, shift, dilation):
    claimed = float(
        StudentVector(noise=Student(degrees=degrees), size=size)
        .budget(shift=shift, dilation=dilation)
        .epsilon
    )
    found = largest_vector_loss(divergences.student(degrees), size, shift, dilation)
    assert 0.999 * claimed <= found <= claimed * (1 + 1e-9)


def test_the_budget_of_one_number_would_not_do_for_a_vector():
    one = float(Student(degrees=3).budget(shift=0.4, dilation=0.1).epsilon)
    assert largest_vector_loss(divergences.student(3), 2, 0.4, 0.1) > 1.3 * one


LAWS = {
    "arcsinh-normal": (ArcsinhNormal(spread="0.3"), divergences.arcsinh_normal(0.3)),
    "laplace-log-normal": (LaplaceLogNormal(spread="0.3"), divergences.laplace_log_normal(0.3)),
    "uniform-log-normal": (UniformLogNormal(spread="0.6"), divergences.uniform_log_normal(0.6)),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("shift", "dilation"), [(0.5, 0.1), (0.05, 0.3), (0.8, 0.0)])
def test_the_divergences_of_vectors_stay_below_the_budget(law, shift, dilation):
    noise, density = LAWS[law]
    claimed = float(ConcentratedVector(noise=noise, size=2).budget(shift=shift, dilation=dilation).rho)
    assert largest_vector_rho(density, 2, shift, dilation) <= claimed * (1 + 1e-6)


def test_a_dilation_charged_once_for_all_coordinates_would_be_too_little():
    noise, density = LAWS["arcsinh-normal"]
    once = float(ConcentratedVector(noise=noise, size=1).budget(shift=0.01, dilation=0.3).rho)
    assert largest_vector_rho(density, 3, 0.01, 0.3) > once


def test_pairs_of_proxies_bound_the_slopes_of_both_scores():
    """(a A + u B)^2 <= p a^2 + q u^2, that is A^2 / p + B^2 / q <= 1, at points between those of the grid."""
    for spread in (0.1, 0.3, 1.0):
        x = np.linspace(0, 30, 200_001)
        tanh, sech = np.tanh(x), 1 / np.cosh(x)
        a = sech * (1 - x * tanh + spread**2 * (1 - 2 * tanh**2))
        b = (tanh + x * sech**2) / spread + 2 * spread * tanh * sech**2
        for p, q in ArcsinhNormal(spread=spread).proxies():
            assert float((a**2 / float(p) + b**2 / float(q)).max()) <= 1


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("size", [1, 4, 100])
def test_shift_and_budget_are_inverse(law, size):
    vector = vector_noise(LAWS[law][0], size)
    shift = vector.largest_shift(rho="0.5", dilation="0.005")
    assert 0.4999999 <= float(vector.budget(shift=shift, dilation="0.005").rho) <= 0.5 * (1 + 1e-12)


@pytest.mark.parametrize("size", [1, 4, 100])
def test_shift_and_budget_of_student_are_inverse(size):
    vector = vector_noise(Student(degrees=4), size)
    shift = vector.largest_shift(epsilon=1, dilation="0.001")
    assert (
        Fraction(999999, 10**6)
        <= vector.budget(shift=shift, dilation="0.001").epsilon
        <= 1 + Fraction(1, 10**12)
    )


def test_one_coordinate_is_one_number():
    for noise, budget in (
        (Student(degrees=3), {"epsilon": 1}),
        (LaplaceLogNormal(spread="0.3"), {"rho": "0.5"}),
    ):
        alone = noise.largest_shift(dilation="0.05", **budget)
        assert float(vector_noise(noise, 1).largest_shift(dilation="0.05", **budget)) == pytest.approx(
            float(alone)
        )


def test_more_than_the_budget_leaves_no_shift():
    assert vector_noise(Student(degrees=3), 10).largest_shift(epsilon=1, dilation="0.04") == 0
    assert vector_noise(LaplaceLogNormal(spread="0.3"), 100).largest_shift(rho="0.01", dilation="0.1") == 0


@pytest.mark.parametrize("noise", [Cauchy(power=4), GaussianNoise(), "laplace", None])
def test_laws_without_a_proof_for_vectors_are_refused(noise):
    with pytest.raises(ParameterError):
        vector_noise(noise, 2)


@pytest.mark.parametrize("size", [0, 257, 1.5, True])
def test_other_sizes_are_refused(size):
    with pytest.raises(ParameterError):
        vector_noise(Student(degrees=3), size)


def test_a_law_is_not_taken_for_another():
    with pytest.raises(ParameterError):
        StudentVector(noise=LaplaceNoise(), size=2)
    with pytest.raises(ParameterError):
        ConcentratedVector(noise=Student(degrees=3), size=2)
    with pytest.raises(ParameterError):
        vector_noise(LaplaceLogNormal(spread="0.3"), 2).budget(shift=1, dilation=0, epsilon=1)
