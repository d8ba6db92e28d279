"""Releases with correlated noise, against matrices written out."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.linalg import toeplitz

from discreet.learning.deep import correlated_noise
from discreet.learning.deep.clipping import FlatClipping
from discreet.learning.deep.correlated_noise import CorrelatedNoise
from discreet.learning.deep.correlation import SCALE, prefix_error, root_coefficients
from discreet.learning.deep.epoch_plan import EpochPlan
from discreet.learning.deep.plan import GRID_STEPS
from discreet.noise import replay


class Total:
    """Stands for a clipped sum of known integers."""

    def __init__(self, steps):
        self._steps = np.asarray(steps, np.int64)

    def steps(self):
        return self._steps

    def shaped(self, values):
        return [torch.from_numpy(values)]


def plan(size=3, band=4, slots=5, epochs=2, **options):
    return EpochPlan(
        epochs=epochs,
        steps_per_epoch=slots,
        population=slots,
        epsilon=1,
        delta=1e-5,
        size=size,
        clipping=FlatClipping(1.0),
        band=band,
        **options,
    )


def matrix(made, steps):
    column = np.zeros(steps, np.int64)
    column[: len(made.coefficients)] = made.coefficients[:steps]
    return np.tril(toeplitz(column))


def drawn(monkeypatch, noise):
    """Let the noise be known, and collect what is released."""
    released, given = [], iter(noise)

    def known(variance, size, source):
        released.append(next(given).copy())
        return released[-1]

    monkeypatch.setattr(correlated_noise, "sample_layered_gaussian", known)
    return released


def test_what_is_released_is_the_product_with_the_matrix_and_noise(monkeypatch):
    made, generator = plan(), np.random.default_rng(1)
    sums = generator.integers(-(2**30), 2**30, (10, 3))
    noise = generator.integers(-(2**40), 2**40, (10, 3))
    released = drawn(monkeypatch, noise)
    releases = CorrelatedNoise(made)
    found = [releases.release(Total(one), 0.5, step)[0][0] for step, one in enumerate(sums)]
    expected = matrix(made, 10) @ sums + noise
    assert (np.array(released) == expected).all()
    solved = np.linalg.solve(matrix(made, 10).astype(float), expected)
    scale = 0.5 / (GRID_STEPS * float(made.batch))
    np.testing.assert_allclose(
        np.array([one.numpy() for one in found]), solved * scale, rtol=1e-9, atol=1e-12
    )


def test_without_noise_gradients_are_those_of_the_step(monkeypatch):
    made, generator = plan(band=5, epochs=60), np.random.default_rng(2)
    sums = generator.integers(-(2**26), 2**26, (300, 3))
    drawn(monkeypatch, np.zeros((300, 3), np.int64))
    releases = CorrelatedNoise(made)
    for step, one in enumerate(sums):
        (found,), _, _ = releases.release(Total(one), 1.0, step)
        np.testing.assert_allclose(found.numpy() * GRID_STEPS * float(made.batch), one, atol=1e-3)


def test_a_step_without_a_release_counts_as_zero(monkeypatch):
    made = plan(size=1)
    released = drawn(monkeypatch, np.zeros((3, 1), np.int64))
    releases = CorrelatedNoise(made)
    for step, number in ((0, 5), (2, 7), (9, 11)):
        releases.release(Total([number]), 1.0, step)
    first, second, third = SCALE * 5, SCALE * 7 + made.coefficients[2] * 5, SCALE * 11
    assert [int(one[0]) for one in released] == [first, second, third]


def moved(monkeypatch, made, slot):
    """How far a person of the largest length moves all releases, squared."""
    ends = []
    for part in (0, int(made.squared_sensitivity / sum(one * one for one in made.coefficients)) ** 0.5):
        released = drawn(monkeypatch, np.zeros((made.steps, 1), np.int64))
        releases = CorrelatedNoise(made)
        for step in range(made.steps):
            own = int(part) if step % made.steps_per_epoch == slot else 0
            releases.release(Total([3 * step + own]), 1.0, step)
        ends.append(np.array(released)[:, 0].astype(object))
    return sum((ends[0] - ends[1]) ** 2)


@pytest.mark.parametrize("slot", [0, 2, 4])
def test_no_person_moves_what_is_released_further_than_is_charged(monkeypatch, slot):
    made = plan(size=1)
    allowed = made.epochs * made.squared_sensitivity
    assert 0.5 * allowed < moved(monkeypatch, made, slot) <= allowed


def test_with_a_band_wider_than_an_epoch_a_person_would_move_it_further(monkeypatch):
    """Plant the fault: two parts of one person overlap."""
    made = plan(size=1)
    object.__setattr__(made, "coefficients", root_coefficients(9))
    object.__setattr__(made, "squared_sensitivity", 2**48 * sum(one * one for one in root_coefficients(9)))
    assert moved(monkeypatch, made, 0) > made.epochs * made.squared_sensitivity


def test_sums_are_those_modulo_the_word(monkeypatch):
    made = plan(size=1)
    released = drawn(monkeypatch, np.full((2, 1), 2**62))
    releases = CorrelatedNoise(made)
    for step in range(2):
        releases.release(Total([2**56]), 1.0, step)
    exact = [2**62 + SCALE * 2**56, 2**62 + (SCALE + made.coefficients[1]) * 2**56]
    assert [int(one[0]) % 2**64 for one in released] == [number % 2**64 for number in exact]


@pytest.mark.statistical
def test_the_noise_is_the_law_that_is_charged():
    made = plan(size=200_000, band=1)
    (found,), bound, is_private = CorrelatedNoise(made).release(Total(np.zeros(200_000)), 1.0, 0)
    values = found.numpy() * GRID_STEPS * float(made.batch) * SCALE
    assert bound == 1.0
    assert is_private
    # Seven deviations of the variance of so many normal numbers.
    assert values.var() / made.variance == pytest.approx(1, abs=7 * (2 / 200_000) ** 0.5)


def test_replayed_noise_is_marked():
    with replay(1):
        assert not CorrelatedNoise(plan()).release(Total([0, 0, 0]), 1.0, 0)[2]


@pytest.mark.statistical
def test_sums_of_gradients_have_the_noise_that_is_stated():
    size, slots = 20_000, 32
    made = plan(size=size, band=None, slots=slots, epochs=1)
    releases = CorrelatedNoise(made)
    rows = [releases.release(Total(np.zeros(size)), 1.0, step)[0][0].numpy() for step in range(slots)]
    sums = np.cumsum(rows, axis=0)
    independent = (made.variance / sum(one * one for one in made.coefficients)) ** 0.5
    found = np.sqrt((sums**2).mean()) * GRID_STEPS * float(made.batch) / independent
    # Sums of a coordinate are correlated over steps: as if there were only `size` of them.
    assert found == pytest.approx(prefix_error(len(made.coefficients), slots), rel=7 / size**0.5)
    assert found < 0.6 * prefix_error(1, slots)
