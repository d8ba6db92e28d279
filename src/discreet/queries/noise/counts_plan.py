"""From an offer to the strategy and the noise of a table of counts; plans are cached."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from discreet.data import Statistic
from discreet.privacy.offer import Offer

if TYPE_CHECKING:
    from discreet.workloads import MarginalPlan, Plan, Workload

__all__ = ["plan_counts", "reach_of"]


def plan_counts(workload: Workload, offer: Offer, statistic: Statistic, tables: int) -> Plan | MarginalPlan:
    """Return the plan of the least error for a table of counts in each of several groups.

    A person who moves such tables by at most L1 rows in all, at most L in one group, and by squares that
    add up to at most L2^2, is one of at most L2^2 / L^2 groups with at most L rows in each, as far as the
    strategies' sensitivities go. An offer of epsilon and delta buys the better of pure noise of this epsilon
    and of Gaussian noise, calibrated analytically.

    Parameters
    ----------
    workload : Workload
        What is asked of the table of every group.
    offer : Offer
        What may be spent.
    statistic : Statistic
        How far one person moves the tables.
    tables : int
        How many groups there are.
    """
    rows, groups = reach_of(statistic)
    return _planned(workload, offer, rows=rows, groups=groups, tables=tables)


def reach_of(statistic: Statistic) -> tuple[int, int]:
    """Return how many rows a person has in a table, and in how many tables."""
    bound = statistic.sensitivity
    return int(bound.linf), int(bound.squared_l2 / bound.linf**2)


@lru_cache(maxsize=32)
def _planned(workload: Workload, offer: Offer, *, rows: int, groups: int, tables: int) -> Plan | MarginalPlan:
    from discreet.workloads import plan

    return plan(
        workload,
        epsilon=offer.epsilon,
        delta=offer.delta,
        rho=offer.rho,
        rows=rows,
        groups=groups,
        tables=tables,
    )
