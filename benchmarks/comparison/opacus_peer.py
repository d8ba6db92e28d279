"""What Opacus does of the common work: both of its accountants."""

from __future__ import annotations

import warnings

import work
from opacus.accountants import PRVAccountant, RDPAccountant

warnings.simplefilter("ignore")


def of_moments() -> float:
    """Return epsilon by Renyi orders, which is its usual accountant's answer in older versions."""
    accountant = RDPAccountant()
    accountant.history = [(work.NOISE, work.RATE, work.STEPS)]
    return float(accountant.get_epsilon(work.DELTA))


def of_laws() -> float:
    """Return epsilon by discretized laws, its default."""
    accountant = PRVAccountant()
    accountant.history = [(work.NOISE, work.RATE, work.STEPS)]
    return float(accountant.get_epsilon(work.DELTA))


work.tell("accounting by moments", lower=None, upper=of_moments(), seconds=work.timed(of_moments))
work.tell("accounting", lower=None, upper=of_laws(), seconds=work.timed(of_laws, repeats=3))
