"""What notebooks look at: bicycle rides and readings of meters; stations and the weather are public."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow
from tests.corpus.world import Private, World, days, gaps, moments

import discreet as dp

RIDERS, STATIONS, RIDES = 1400, 24, 8000
FIRST, LAST = datetime.date(2024, 3, 1), datetime.date(2024, 8, 31)
SPAN = (LAST - FIRST).days + 1


def world() -> World:
    """Make the tables."""
    dates = dp.Dates(FIRST, LAST)
    stations = dp.Keys(range(1, STATIONS + 1))
    private = {
        "rides": Private(
            "rider_id",
            {
                "start_station": stations,
                "end_station": stations,
                "started_at": dates,
                "ended_at": dates,
                "duration_min": dp.Bounds(0, 240, step=0.1),
                "distance_km": dp.Bounds(0, 50, step=0.01),
                "bike_type": dp.Keys(["classic", "electric"]),
                "member": dp.Keys([False, True]),
            },
        ),
        "riders": Private(
            "rider_id",
            {
                "birth_year": dp.Bounds(1940, 2008),
                "joined": dp.Dates(datetime.date(2020, 1, 1), LAST),
                "plan": dp.Keys(["annual", "day", "month", None]),
                "height_cm": dp.Bounds(140, 210),
                "weight_kg": dp.Bounds(40, 150, step=0.1),
            },
        ),
    }
    return World("mobility", tables(), private)


def tables() -> dict[str, pyarrow.Table]:
    """Make all rows."""
    draw = np.random.default_rng(78)
    station, rider = np.arange(1, STATIONS + 1), np.arange(1, RIDERS + 1)
    start = draw.integers(0, (SPAN - 1) * 86400, RIDES)
    minutes = np.minimum(draw.gamma(2, 9, RIDES), 239).round(1)
    return {
        "stations": pyarrow.table(
            {
                "station_id": station,
                "station_name": [
                    f"{('Hauptplatz', 'Pier', 'Université', 'Depot')[k % 4]} {k}" for k in station
                ],
                "district": [("north", "south", "west")[k % 3] for k in station],
                "capacity": draw.integers(8, 40, STATIONS),
            }
        ),
        "weather": pyarrow.table(
            {
                "day": days("2024-03-01", np.arange(SPAN)),
                "rain_mm": draw.choice([0, 0, 0, 2, 7], SPAN),
                "temperature": draw.integers(2, 33, SPAN),
            }
        ),
        "riders": pyarrow.table(
            {
                "rider_id": rider,
                "birth_year": gaps(draw, draw.integers(1945, 2007, RIDERS), 0.06),
                "joined": days("2020-01-01", draw.integers(0, 1500, RIDERS)),
                "plan": gaps(draw, draw.choice(["annual", "day", "month"], RIDERS), 0.03),
                "height_cm": draw.integers(145, 206, RIDERS),
                "weight_kg": draw.integers(450, 1300, RIDERS) / 10,
            }
        ),
        "rides": pyarrow.table(
            {
                "ride_id": np.arange(RIDES),
                "rider_id": draw.choice(rider[rider % 6 != 0], RIDES),
                "start_station": draw.integers(1, STATIONS + 1, RIDES),
                "end_station": gaps(draw, draw.integers(1, STATIONS + 1, RIDES), 0.03),
                "started_at": moments("2024-03-01T00:00:00", start),
                "ended_at": moments("2024-03-01T00:00:00", start + (minutes * 60).astype(np.int64)),
                "duration_min": minutes,
                "distance_km": gaps(draw, (minutes * draw.uniform(0.1, 0.2, RIDES)).round(2), 0.05),
                "bike_type": draw.choice(["classic", "electric"], RIDES, p=[0.7, 0.3]),
                "member": draw.random(RIDES) < 0.75,
            }
        ),
    }
