"""A small survey with everything that a table of counts has to deal with, and curators over it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from discreet.curator import Budget
from discreet.data import Bounds, Keys, Limits, Table
from discreet.front import Curator

CITIES = ["Bern", "Hamilton", "Taipei"]
HUGE = 100
"""An epsilon at which noise is zero for all practical purposes."""


def survey(rows: int = 3000, *, seed: int = 7) -> pd.DataFrame:
    """Rows of persons with few rows each, so that no limit cuts."""
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "person": np.arange(rows) // 2,
            "age": draw.integers(-3, 120, rows),
            "cost": np.round(draw.gamma(2.0, 30.0, rows), 2),
            "city": draw.choice([*CITIES, "elsewhere"], rows),
            "sex": draw.choice(["f", "m", None], rows),
            "ward": draw.choice(["east", "west"], rows),
        }
    )
    frame.loc[::97, "cost"] = np.nan
    return frame


def table(frame: pd.DataFrame, limits: Limits | None = None) -> Table:
    """The survey as declared."""
    return Table(
        frame,
        person="person",
        limits=limits or Limits(rows=2),
        columns={
            "age": Bounds(0, 110),
            "cost": Bounds(0, 200, step="0.5"),
            "city": Keys(CITIES),
            "sex": Keys(["f", "m"]),
        },
    )


def curator(folder, frame: pd.DataFrame, limits: Limits | None = None) -> Curator:
    """A curator with as much budget as one likes."""
    return Curator(
        {"visits": table(frame, limits)},
        budget=Budget(epsilon=100 * HUGE, delta="1e-6"),
        ledger=folder / "survey.ledger",
    )


def rounded_cost(frame: pd.DataFrame) -> pd.Series:
    """The cost on its grid, in steps of a half, halves upward; missing where it is."""
    return np.floor(frame["cost"].clip(0, 200) * 2 + 0.5) / 2
