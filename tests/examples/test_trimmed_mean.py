"""The worked example of trimmed means: seven noises computed and measured on normal and skewed data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from effort import sizes
from examples import trimmed_mean as example


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("runs", sizes(200, 600, exhaustive=2000))
def test_measured_medians_are_the_computed_ones(monkeypatch, runs):
    """Of n draws, those below the law's median are binomial: between these ranks the median must be."""
    monkeypatch.setattr(example, "TRIMS", (Fraction(1, 5),))
    values = example.made_up("normal", np.random.default_rng(1))
    at = example.profile(values, Fraction(1, 5))
    spread = 6.2 * (runs / 4) ** 0.5  # 6.2 standard deviations: once in 10^9
    assert set(example.NOISES) == {
        "Cauchy",
        "Student",
        "Laplace-log-normal",
        "uniform-log-normal",
        "arcsinh-normal",
        "Gaussian",
        "Laplace",
    }
    for name, noises in example.NOISES.items():
        computed, mechanism = example.best_mechanism(noises, at)
        errors = [abs(mechanism.release(at) - float(at.value)) / example.STEPS for _ in range(runs)]
        below = sum(error < computed for error in errors)
        assert abs(below - runs / 2) < spread, name


def test_each_noise_has_a_budget_of_its_notion():
    at = example.profile(example.made_up("normal", np.random.default_rng(1)), Fraction(1, 5))
    promised = {name: example.best_mechanism(one, at)[1].guarantee for name, one in example.NOISES.items()}
    for name in ("Cauchy", "Student"):
        assert promised[name].epsilon == 1
    for name in ("Laplace-log-normal", "uniform-log-normal", "arcsinh-normal"):
        assert promised[name].rho == Fraction(1, 2)
    for name in ("Gaussian", "Laplace"):
        assert (promised[name].epsilon, promised[name].delta) == (1, Fraction(1, 10**6))


def test_smooth_noise_is_far_below_that_of_the_global_sensitivity():
    at = example.profile(example.made_up("normal", np.random.default_rng(1)), Fraction(1, 10))
    errors = {name: example.best_mechanism(noises, at)[0] for name, noises in example.NOISES.items()}
    for name in ("Cauchy", "Student", "Laplace-log-normal", "uniform-log-normal", "arcsinh-normal"):
        assert 100 * errors[name] < example.global_error()
    assert min(errors, key=errors.__getitem__) == "arcsinh-normal"
    assert max(errors, key=errors.__getitem__) == "Gaussian"


def test_trimming_costs_nothing_on_normal_data_and_much_on_skewed():
    normal, skewed = (example.biases(law, runs=40) for law in ("normal", "skewed"))
    assert normal[-1] < 2 * normal[0]
    assert skewed[-1] > 3 * skewed[0]


def test_it_prints_and_draws(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example, "TRIMS", example.TRIMS[2:4])
    example.main(str(tmp_path), runs=3)
    assert "global sensitivity of the mean: 1" in capsys.readouterr().out
    assert (tmp_path / "trimmed_mean.png").exists()
