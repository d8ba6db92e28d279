"""What budgets allow, and that finer integers never need less noise for their norm."""

from __future__ import annotations

from fractions import Fraction

import pytest
from mpmath import mp

from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy.offer import Offer
from discreet.privacy.sensitivity import Sensitivity
from discreet.workloads.planning.noise import PersonReach, allowed_noise, mechanism_for, unit_variance


def test_kinds_of_noise_by_budget():
    assert allowed_noise(Offer(epsilon=1)) == {"Laplace": {"epsilon": 1}}
    assert set(allowed_noise(Offer(epsilon=1, delta=1e-6))) == {"Laplace", "Gaussian"}
    both = allowed_noise(Offer(rho=0.5))
    assert both["Gaussian"] == {"rho": Fraction(1, 2)}
    assert both["Laplace"]["epsilon"] ** 2 / 2 <= Fraction(1, 2)
    with pytest.raises(ParameterError):
        allowed_noise(Offer())


@pytest.mark.parametrize("epsilon", [0.1, 1, 3])
@pytest.mark.parametrize("kind", ["Laplace", "Gaussian"])
def test_variance_per_squared_norm_is_least_at_norm_one(kind, epsilon):
    """Discrete noise is a little narrower than continuous noise, the more so the coarser the integers."""
    loss = allowed_noise(Offer(epsilon=epsilon, delta=1e-6))[kind]
    least = unit_variance(kind, loss, PersonReach())
    for norm in (2, 3, 5, 17, 1000):
        mechanism = mechanism_for(kind, loss, norm, 7)
        assert isinstance(mechanism, Laplace | Gaussian)
        assert mechanism.error.variance / norm**2 >= least * (1 - 1e-12)


@pytest.mark.parametrize("delta", [0.05, 0.01, 1e-6])
@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
@pytest.mark.parametrize(
    "reach", [PersonReach(), PersonReach(rows=2), PersonReach(groups=2, tables=3)], ids=str
)
def test_no_strategy_has_less_variance_than_the_unit(epsilon, delta, reach):
    """Norms whose calibration goes by way of rho, and those of one integer, which needs less noise."""
    loss = allowed_noise(Offer(epsilon=epsilon, delta=delta))["Gaussian"]
    many, one = (unit_variance("Gaussian", loss, reach, single=single) for single in (False, True))
    for squared in (1, 2, 3, 4, 9, 100, 2**30):
        moved = Sensitivity(
            l0=reach.groups * squared,
            l1=reach.groups * reach.rows * squared,
            squared_l2=reach.groups * reach.rows**2 * squared,
            linf=reach.rows,
            integers=True,
        )
        variance = mechanism_for("Gaussian", loss, moved, 2 * reach.tables).error.variance
        assert variance / squared >= many * (1 - 1e-12)
    if reach.tables > 1:
        assert one == many
        return
    for norm in (1, 2, 3, 7, 40, 1000):
        alone = mechanism_for("Gaussian", loss, reach.rows * norm, 1).error.variance
        assert alone / norm**2 >= one


@pytest.mark.parametrize("curvature", [0.5, 1, 2, 3, 3.2, 4, 9])
def test_variance_over_squared_sigma_grows_with_sigma(curvature):
    """2 b m(b) falls in b = 1 / (2 sigma^2), and b m(b) + b' m(b') = 1/2 for b b' = pi^2."""

    def ratio(b):
        with mp.workdps(30):
            weights = [(k, mp.exp(-b * k * k)) for k in range(-60, 61)]
            return b * sum(k * k * w for k, w in weights) / sum(w for _, w in weights)

    assert ratio(mp.mpf(curvature)) > ratio(mp.mpf(curvature) * mp.mpf("1.001"))

    other = mp.pi**2 / mp.mpf(curvature)
    assert abs(ratio(mp.mpf(curvature)) + ratio(other) - mp.mpf(1) / 2) < 1e-12
