"""Filters and odometers: budgets that hold when every request may depend on all answers before it.

A filter is a frozen value: ``filter.spend(event)`` returns the filter after the event or refuses
it, before anything is drawn. Only the cap of a filter is a guarantee; what an odometer shows is
a reading.

- `PureFilter`: epsilons add up.
- `ZeroConcentratedFilter`: rhos add up; also made from a target (epsilon, delta).
- `RenyiFilter`: a fixed Rényi curve, held at every order.
- `GaussianFilter`: squares of mu add up, for exactly Gaussian events.
- `TightFilter`: epsilons and deltas add up; a run that is fixed in advance has its tight ones.
- `UnionFilter`: goes on while everything fits some one of several filters.

Proofs: docs/proofs/filters.md.
"""

from discreet.accounting.filters.base import Filter
from discreet.accounting.filters.conversion import epsilon_above, rho_below
from discreet.accounting.filters.cost import Cost, cost_of
from discreet.accounting.filters.odometer import Odometer, Reading
from discreet.accounting.filters.renyi import RenyiFilter
from discreet.accounting.filters.scalar import GaussianFilter, PureFilter, ZeroConcentratedFilter
from discreet.accounting.filters.tight import TightFilter
from discreet.accounting.filters.union import UnionFilter

__all__ = [
    "Cost",
    "Filter",
    "GaussianFilter",
    "Odometer",
    "PureFilter",
    "Reading",
    "RenyiFilter",
    "TightFilter",
    "UnionFilter",
    "ZeroConcentratedFilter",
    "cost_of",
    "epsilon_above",
    "rho_below",
]
