"""What a budget allows: the kinds of noise, how each is built, and the least variance it can have."""

from __future__ import annotations

from fractions import Fraction
from math import expm1
from typing import TYPE_CHECKING, TypeAlias

from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.offer import Offer
from discreet.privacy.rational import float_below
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.workloads.strategies.base import Strategy
    from discreet.workloads.strategies.marginal_tables import MarginalTables
    from discreet.workloads.strategies.residual_basis import ResidualBasis

__all__ = ["Loss", "PersonReach", "allowed_noise", "mechanism_for", "unit_variance"]

Loss: TypeAlias = dict[str, Fraction]
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonReach:
    """How many rows one person has: `rows` in each of up to `groups` of the `tables` that are measured."""

    rows: int = 1
    groups: int = 1
    tables: int = 1

    def sensitivity(self, strategy: Strategy | ResidualBasis | MarginalTables) -> Sensitivity:
        """Return how far one person moves the measurements of all tables together."""
        return strategy.sensitivity(self.rows, groups=self.groups)


def allowed_noise(offer: Offer) -> dict[str, Loss]:
    """Return the parameters with which each kind of noise may be built.

    Epsilon alone allows Laplace noise; epsilon with delta, both; rho, both, Laplace noise with
    epsilon = sqrt(2 rho), rounded down, since pure epsilon is epsilon^2 / 2 concentrated.
    """
    if offer.rho is not None:
        return {"Gaussian": {"rho": offer.rho}, "Laplace": {"epsilon": sqrt_interval(2 * offer.rho)[0]}}
    assert offer.epsilon is not None  # noqa: S101
    if offer.delta is None:
        return {"Laplace": {"epsilon": offer.epsilon}}
    return {
        "Gaussian": {"epsilon": offer.epsilon, "delta": offer.delta},
        "Laplace": {"epsilon": offer.epsilon},
    }


def mechanism_for(noise: str, loss: Loss, sensitivity: Sensitivity | int, size: int) -> Laplace | Gaussian:
    """Build the mechanism of one kind of noise."""
    if noise == "Laplace":
        return Laplace(sensitivity=sensitivity, epsilon=loss["epsilon"], size=size)
    if "rho" in loss:
        return Gaussian(sensitivity=sensitivity, size=size, rho=loss["rho"])
    return Gaussian(sensitivity=sensitivity, size=size, epsilon=loss["epsilon"], delta=loss["delta"])


def unit_variance(noise: str, loss: Loss, reach: PersonReach, *, single: bool = False) -> float:
    """Return a variance of noise per squared norm of a column that no strategy of integers is below.

    Noise in proportion to a norm has the least variance per squared norm at norm 1; rounded Gaussian noise
    there or, since rounding adds a twelfth to any variance, at large norms. Gaussian noise that is built from
    epsilon and delta is in proportion to the norm, except where all that moves is one integer by one step, or
    the only integer there is, by any number of steps: there it may be smaller (docs/proofs/workloads.md,
    lemma 5).

    Parameters
    ----------
    noise : str
        "Laplace" or "Gaussian".
    loss : dict
        With what it is built.
    reach : Reach
        How many rows one person has.
    single : bool
        Whether a strategy may consist of one integer alone: the domain has one cell.
    """
    one_cell = Sensitivity(
        l0=reach.groups,
        l1=reach.groups * reach.rows,
        squared_l2=reach.groups * reach.rows**2,
        linf=reach.rows,
        integers=True,
    )
    if noise == "Laplace":
        return Laplace(sensitivity=one_cell, epsilon=loss["epsilon"]).error.variance
    if "rho" in loss:
        return Gaussian(sensitivity=one_cell, rho=loss["rho"]).error.variance
    vector = mechanism_for(noise, loss, 2, 2)
    assert isinstance(vector, Gaussian)  # noqa: S101
    rounded = Gaussian(sensitivity=one_cell, mu=sqrt_interval(2 * vector.event.rho)[0])
    least = min(rounded.error.variance, float_below(rounded.event.variance))
    if reach.groups * reach.rows == 1:
        least = min(least, mechanism_for(noise, loss, one_cell, 2).error.variance)
    if single and reach.tables == 1:
        least = min(least, reach.rows**2 * _least_variance_of_one(loss["epsilon"], loss["delta"]))
    return least


def _least_variance_of_one(epsilon: Fraction, delta: Fraction) -> float:
    """Return what no (epsilon, delta) mechanism's variance is below, for an unbiased number that moves by 1.

    Neighbors' laws have total variation t <= (e^epsilon - 1 + 2 delta) / (e^epsilon + 1), and equal
    variances of laws whose means differ by 1 are at least (1 - t) / (4 t), by Cauchy's inequality.
    """
    return (1 - float(delta)) / (2 * (expm1(float(epsilon)) + 2 * float(delta))) * (1 - _ROUNDING)
