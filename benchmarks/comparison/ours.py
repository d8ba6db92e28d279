"""What this package does of the common work."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import work

import discreet as dp

zeros = np.zeros(1_000_000, dtype=np.int64)
noise = dp.Laplace(sensitivity=1, epsilon=1 / work.SCALE)
work.tell("noise", rate=len(zeros) / work.timed(lambda: noise.release(zeros)))
work.tell("time", correlation=work.time_correlation(lambda: noise.release(0)))

run = dp.events.PoissonSampled(dp.events.Gaussian(noise_multiplier=work.NOISE), rate=work.RATE) * work.STEPS
found = dp.accounting.epsilon(run, delta=work.DELTA)
seconds = work.timed(lambda: dp.accounting.epsilon(run, delta=work.DELTA))
work.tell("accounting", lower=found.lower, upper=found.upper, seconds=seconds)

table = dp.Table(
    pd.DataFrame(work.rows()),
    person="person",
    limits=dp.Limits(rows=work.PER_PERSON),
    columns={"city": dp.Keys(list(range(work.CITIES))), "cost": dp.Bounds(0, work.TOP, step=1)},
)
QUESTION = "SELECT city, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY city"
with tempfile.TemporaryDirectory() as folder:
    budget = dp.Budget(epsilon=work.EPSILON * 100)
    clinic = dp.Curator({"visits": table}, budget=budget, ledger=str(Path(folder) / "clinic.ledger"))
    answers = []

    def ask() -> None:
        """Ask with an offer that is a little less each time: the same one gets the stored answer."""
        offer = work.EPSILON * (1 - len(answers) / 1_000_000)
        answer = clinic.ask(QUESTION, epsilon=offer)
        frame = answer.to_pandas()
        answers.append({int(row["city"]): (float(row["n"]), float(row["s"])) for _, row in frame.iterrows()})

    seconds = work.timed(ask, repeats=work.DRAWS)
work.tell("groups", seconds=seconds, **work.group_errors(answers))
