"""What budgets allow, and that finer integers never need less noise for their norm."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.workloads.budgets import Reach, allowed_noise, mechanism_for, unit_variance


def test_kinds_of_noise_by_budget():
    assert allowed_noise(1, None, None) == {"Laplace": {"epsilon": 1}}
    assert set(allowed_noise(1, 1e-6, None)) == {"Laplace", "Gaussian"}
    both = allowed_noise(None, None, 0.5)
    assert both["Gaussian"] == {"rho": Fraction(1, 2)}
    assert both["Laplace"]["epsilon"] ** 2 / 2 <= Fraction(1, 2)
    with pytest.raises(ParameterError):
        allowed_noise(None, None, None)


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("kind", ["Laplace", "Gaussian"])
def test_variance_per_squared_norm_is_least_at_norm_one(kind, epsilon):
    """Discrete noise is a little narrower than continuous noise, the more so the coarser the integers."""
    loss = allowed_noise(epsilon, 1e-6, None)[kind]
    least = unit_variance(kind, loss, Reach())
    for norm in (2, 3, 5, 17, 1000):
        mechanism = mechanism_for(kind, loss, norm, 7)
        assert isinstance(mechanism, Laplace | Gaussian)
        assert mechanism.error.variance / norm**2 >= least * (1 - 1e-12)
