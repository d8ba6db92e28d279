"""Demo data: visits to a clinic that does not exist, by invented patients.

Everything is drawn from a seeded generator, so that a demo shows the same clinic on every machine. It is
shaped like real visits, because that is what makes privacy hard: most patients come once or twice and few
come very often, costs have a long tail and are missing now and then, cities differ in size.

Never take noise from here: this randomness is neither secret nor meant to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Integers
from discreet.data.libraries import require_libraries
from discreet.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow

__all__ = ["CITIES", "DIAGNOSES", "check_rows", "visits", "write_visits"]

CITIES = {
    "Taipei": (0.24, 1.0),
    "Hamilton": (0.17, 1.2),
    "Kyoto": (0.14, 1.1),
    "Oslo": (0.11, 1.6),
    "Porto": (0.09, 0.8),
    "Leipzig": (0.08, 1.1),
    "Valparaíso": (0.07, 0.7),
    "Mombasa": (0.05, 0.5),
    "Tromsø": (0.03, 1.7),
    "Hobart": (0.02, 1.2),
}
"""The cities: how large a part of the patients lives in each, and what things cost there."""

DIAGNOSES = {
    "respiratory": (0.27, 90, 36),
    "injury": (0.19, 210, 33),
    "circulatory": (0.17, 260, 66),
    "musculoskeletal": (0.16, 140, 52),
    "digestive": (0.08, 230, 47),
    "mental": (0.07, 150, 40),
    "neoplasm": (0.06, 640, 63),
}
"""The groups of diagnoses: how frequent, the median cost of a visit, the typical age."""


MOST_DEMO_ROWS = 100_000_000
_SEED = 20260101
_MISSING = 0.02
_FIRST_DAY = "2025-01-01"
_WEEKDAYS = np.array([1.35, 1.2, 1.1, 1.1, 1.05, 0.3, 0.2])


def visits(rows: int) -> pyarrow.Table:
    """Draw visits of one year.

    Parameters
    ----------
    rows : int
        How many.

    Returns
    -------
    pyarrow.Table
        patient_id, day, city, diagnosis, age, cost; a cost is NULL if it was never billed.
    """
    require_libraries()

    import pyarrow

    check_rows(rows)
    generator = np.random.default_rng(_SEED)
    patient = _patients(rows, generator)
    many = int(patient.max()) + 1
    sizes, prices = _transposed(CITIES)
    city = generator.choice(len(CITIES), size=many, p=sizes / sizes.sum())
    shares, median_costs, typical_ages = _transposed(DIAGNOSES)
    shares /= shares.sum()
    usual = generator.choice(len(DIAGNOSES), size=many, p=shares)
    age = np.clip(generator.normal(typical_ages[usual], 15), 0, 104).astype(np.int64)
    other = generator.random(rows) < 0.3
    diagnosis = np.where(other, generator.choice(len(DIAGNOSES), size=rows, p=shares), usual[patient])
    level = prices[city[patient]] * (0.8 + age[patient] / 200)
    cost = median_costs[diagnosis] * level * np.exp(generator.normal(0, 0.7, rows))
    return pyarrow.table(
        {
            "patient_id": patient + 100_000,
            "day": _days(rows, generator),
            "city": _names(CITIES, city[patient]),
            "diagnosis": _names(DIAGNOSES, diagnosis),
            "age": age[patient],
            "cost": pyarrow.array(cost.round(2), mask=generator.random(rows) < _MISSING),
        }
    )


def check_rows(rows: int) -> None:
    """Refuse clinics that are empty or too large."""
    if not 1 <= rows <= MOST_DEMO_ROWS:
        raise ParameterError("rows", "is out of range", f"from 1 to {MOST_DEMO_ROWS:,}")


def write_visits(table: pyarrow.Table, path: Path) -> None:
    """Write visits to a Parquet file that says what they are."""
    import pyarrow.parquet

    label = {"discreet.demo": "synthetic: these patients do not exist"}
    pyarrow.parquet.write_table(table.replace_schema_metadata(label), path, compression="zstd")


def _patients(rows: int, generator: np.random.Generator) -> Integers:
    """Return the patient of every visit: most come once or twice, a few come very often."""
    expected = generator.lognormal(0.75, 0.8, size=max(rows // 3, 1))
    often = np.repeat(np.arange(len(expected)), np.ceil(expected).astype(np.int64).clip(1, 400))
    while len(often) < rows:
        often = np.concatenate([often, often + int(often[-1]) + 1])
    chosen = generator.permutation(len(often))[:rows]
    return np.unique(often[chosen], return_inverse=True)[1].astype(np.int64)


def _days(rows: int, generator: np.random.Generator) -> pyarrow.Array:
    import pyarrow

    year = np.arange(365)
    weights = _WEEKDAYS[(year + 2) % 7] * (1 + 0.25 * np.cos(2 * np.pi * year / 365))  # more in winter
    days = np.datetime64(_FIRST_DAY) + generator.choice(year, size=rows, p=weights / weights.sum())
    return pyarrow.array(days.astype("datetime64[D]"))


def _names(names: Iterable[str], places: Integers) -> pyarrow.Array:
    import pyarrow

    return pyarrow.array(list(names)).take(pyarrow.array(places))


def _transposed(table: Mapping[str, tuple[float, ...]]) -> list[NDArray[np.float64]]:
    """Return the columns of a table of numbers."""
    return [np.array(column, dtype=float) for column in zip(*table.values(), strict=True)]
