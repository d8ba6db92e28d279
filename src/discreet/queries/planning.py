"""From an offer to the strategy and the noise of a table of counts: planned once, however often asked."""

from __future__ import annotations

from functools import lru_cache

from discreet.accounting.filters import rho_below
from discreet.data import Statistic
from discreet.errors import ParameterError
from discreet.queries.offers import Offer
from discreet.workloads import MarginalPlan, Plan, Workload, plan

__all__ = ["planned"]


def planned(workload: Workload, offer: Offer, statistic: Statistic, tables: int) -> Plan | MarginalPlan:
    """Return the plan of the least error for a table of counts in each of several groups.

    A person who moves such tables by at most L1 rows in all, at most L in one group, and by squares that
    add up to at most L2^2, is one of at most L2^2 / L^2 groups with at most L rows in each, as far as the
    strategies' sensitivities go. An offer of epsilon and delta buys the better of pure noise and of that of
    the largest rho which implies it, as for all questions: ledgers add up one or the other.

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
    bound = statistic.sensitivity
    rows, groups = int(bound.linf), int(bound.squared_l2 / bound.linf**2)
    if offer.epsilon is None or offer.delta is None:
        return _planned(workload, offer, rows=rows, groups=groups, tables=tables)
    pure, concentrated = Offer.pure(offer.epsilon), rho_below(offer.epsilon, offer.delta)
    offers = [pure, Offer.concentrated(concentrated)] if concentrated else [pure]
    plans, refusal = list[Plan | MarginalPlan](), None
    for one in offers:
        try:
            plans.append(_planned(workload, one, rows=rows, groups=groups, tables=tables))
        except ParameterError as error:  # its noise cannot be drawn
            refusal = error
    if not plans:
        assert refusal is not None  # noqa: S101
        raise refusal
    return min(plans, key=lambda found: found.expected_error.total)


@lru_cache(maxsize=8)
def _planned(workload: Workload, offer: Offer, *, rows: int, groups: int, tables: int) -> Plan | MarginalPlan:
    return plan(
        workload,
        epsilon=offer.epsilon,
        delta=offer.delta,
        rho=offer.rho,
        rows=rows,
        groups=groups,
        tables=tables,
    )
