"""What dp-accounting does of the common work."""

from __future__ import annotations

import dp_accounting as dp
import work
from dp_accounting.pld import PLDAccountant

step = dp.PoissonSampledDpEvent(work.RATE, dp.GaussianDpEvent(work.NOISE))
run = dp.SelfComposedDpEvent(step, work.STEPS)


def upper() -> float:
    """Return the pessimistic epsilon, with the grid that is the default."""
    return float(PLDAccountant().compose(run).get_epsilon(work.DELTA))


work.tell("accounting", lower=None, upper=upper(), seconds=work.timed(upper))
