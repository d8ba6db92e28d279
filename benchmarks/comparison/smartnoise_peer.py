"""What SmartNoise SQL does of the common work."""

from __future__ import annotations

import pandas as pd
import snsql
import work

COLUMN = {"type": "int", "lower": 0}
METADATA = {
    "": {
        "clinic": {
            "visits": {
                "max_ids": work.PER_PERSON,
                "censor_dims": False,
                "rows": work.PERSONS * work.PER_PERSON,
                "person": {"type": "int", "private_id": True},
                "city": {**COLUMN, "upper": work.CITIES - 1},
                "cost": {**COLUMN, "upper": work.TOP},
            }
        }
    }
}
QUESTION = "SELECT city, COUNT(*) AS n, SUM(cost) AS s FROM clinic.visits GROUP BY city"
frame = pd.DataFrame(work.rows())
# COUNT and SUM are charged one after the other, so that each gets half of what the question may cost.
privacy = snsql.Privacy(epsilon=work.EPSILON / 2, delta=1e-9)
answers = []


def ask() -> None:
    """Ask with a new reader, as its odometer has no ledger."""
    reader = snsql.from_df(frame, privacy=privacy, metadata=METADATA)
    found = {int(city): (float(n), float(s)) for city, n, s in reader.execute(QUESTION)[1:]}
    answers.append({city: found.get(city, (0.0, 0.0)) for city in range(work.CITIES)})


seconds = work.timed(ask, repeats=work.DRAWS)
work.tell("groups", seconds=seconds, **work.group_errors(answers))
