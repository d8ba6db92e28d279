"""The demo's clinic: the same everywhere, shaped like visits, and labelled as what it is."""

from __future__ import annotations

import numpy as np
import pyarrow.compute
import pyarrow.parquet
import pytest

from discreet.cli.clinic import CITIES, DIAGNOSES, visits, write_visits
from discreet.errors import ParameterError


@pytest.fixture(scope="module")
def table():
    return visits(50_000)


def test_the_same_clinic_on_every_machine(table):
    assert table.equals(visits(50_000))
    assert table.num_rows == 50_000
    assert table.column_names == ["patient_id", "day", "city", "diagnosis", "age", "cost"]


def test_few_patients_come_often(table):
    counts = np.bincount(table["patient_id"].to_numpy() - 100_000)
    assert counts.min() >= 1
    assert np.median(counts) <= 2
    assert counts.max() > 25
    often = np.sort(counts)[::-1]
    assert often[: len(often) // 10].sum() > 0.25 * often.sum()


def test_a_patient_stays_who_he_is(table):
    for column in ("city", "age"):
        per_patient = table.group_by("patient_id").aggregate([(column, "count_distinct")])
        assert pyarrow.compute.max(per_patient[f"{column}_count_distinct"]).as_py() == 1


def test_cities_differ_in_size_and_price(table):
    groups = table.group_by("city").aggregate([([], "count_all"), ("cost", "mean")]).to_pylist()
    sizes = {row["city"]: row["count_all"] for row in groups}
    means = {row["city"]: row["cost_mean"] for row in groups}
    assert sizes.keys() == CITIES.keys()
    assert sizes["Taipei"] > 5 * sizes["Hobart"]
    assert means["Oslo"] > 2 * means["Mombasa"]
    assert set(table["diagnosis"].unique().to_pylist()) == set(DIAGNOSES)


def test_costs_are_skewed_and_sometimes_missing(table):
    cost = table["cost"]
    assert 0.01 < cost.null_count / table.num_rows < 0.03
    numbers = cost.drop_null().to_numpy()
    assert numbers.min() > 0
    assert numbers.mean() > 1.2 * np.median(numbers)
    assert numbers.max() > 5000
    assert table["age"].to_numpy().min() >= 0
    assert table["age"].to_numpy().max() < 110


def test_days_lie_in_one_year(table):
    days = table["day"].to_numpy()
    assert days.min() >= np.datetime64("2025-01-01")
    assert days.max() <= np.datetime64("2025-12-31")
    weekday = (days.astype("datetime64[D]").astype(int) + 3) % 7  # Monday is 0
    counts = np.bincount(weekday, minlength=7)
    assert counts[:5].min() > 2 * counts[5:].max()


def test_the_file_says_that_it_is_synthetic(table, tmp_path):
    write_visits(table, tmp_path / "visits.parquet")
    metadata = pyarrow.parquet.read_schema(tmp_path / "visits.parquet").metadata
    assert b"synthetic" in metadata[b"discreet.demo"]


@pytest.mark.parametrize("rows", [1, 2, 3, 10, 1000])
def test_small_clinics(rows):
    assert visits(rows).num_rows == rows


@pytest.mark.parametrize("rows", [0, -1, 10**9])
def test_sizes_out_of_range(rows):
    with pytest.raises(ParameterError):
        visits(rows)
