"""Synthetic tables of a curator: counted in the engine, charged once, stored, and read again."""

import numpy as np
import pandas as pd
import pyarrow
import pytest

import discreet as dp
from data.conftest import postgres, postgres_engine  # noqa: F401
from discreet.errors import BudgetExceeded, ParameterError, UndeclaredColumn, UnsupportedQuery
from discreet.noise import replay
from discreet.synthesis.asking.question import METHODS

COLUMNS = ["age", "city", "cost"]


def frame(rows=600):
    random = np.random.default_rng(0)
    age = random.integers(0, 100, rows).astype(float)
    city = np.where(age > 50, "Taipei", "Lagos").astype(object)
    found = pd.DataFrame({"p": np.arange(rows) // 2, "age": age, "city": city, "cost": 10 * age})
    found.loc[:20, "age"] = np.nan
    found.loc[30:40, "city"] = "elsewhere"
    return found


DECLARED = {
    "person": "p",
    "limits": dp.Limits(rows=2),
    "columns": {
        "age": dp.Bounds(0, 110, step=1),
        "city": dp.Keys(["Taipei", "Lagos"]),
        "cost": dp.Bounds(0, 1000, step=1),
    },
}


@pytest.fixture
def clinic(tmp_path):
    visits = dp.Table(frame(), **DECLARED)
    budget = dp.Budget(rho=10_000)
    return dp.Curator({"visits": visits}, budget=budget, ledger=tmp_path / "c.ledger")


@pytest.mark.parametrize("method", sorted(METHODS))
def test_it_is_charged_once_stored_and_read_again(clinic, method):
    preview = clinic.preview_synthesis("visits", COLUMNS, rho=1, method=method)
    assert clinic.spent.requests == 0
    found = clinic.synthesize("visits", COLUMNS, rho=1, method=method, rows=40)
    assert found.event == preview.event
    assert float(found.event.concentrated_rho) <= 1
    assert found.label["private"]
    again = clinic.synthesize("visits", COLUMNS, rho=1, method=method, rows=40)
    assert again.stored
    assert not found.stored
    assert clinic.spent.requests == 1
    assert again.to_pandas().equals(found.to_pandas())
    assert found.to_pandas().shape == (40, 3)
    assert found.to_arrow(5).num_rows == 5
    measured = found.measured.to_pandas()
    assert {"table", "age", "city", "cost", "n", "n_lower", "n_upper"} <= set(measured)
    assert method.split()[0].lower()[:5] in repr(found).lower()
    assert ", paid with rho " in repr(found)


def test_the_engine_counts_what_the_rows_say(clinic):
    with replay(1):
        found = clinic.synthesize("visits", COLUMNS, rho=1000, method="spanning tree")
    ages = found.data.measured[0].counts
    codes = found.data.domain.codes(frame())
    assert np.abs(ages - np.bincount(codes[:, 0], minlength=len(ages))).max() <= 2
    assert ages[-1] == pytest.approx(21, abs=2)  # missing values have a cell of their own
    assert found.data.measured[1].counts.tolist() == pytest.approx(
        np.bincount(codes[:, 1], minlength=3), abs=2
    )
    assert found.data.total == pytest.approx(600, abs=4)
    assert not found.label["private"]


def test_postgresql_counts_the_same_tables(clinic, tmp_path, postgres_engine):  # noqa: F811
    held = frame()
    types = [("p", "int64"), ("age", "float64"), ("city", "string"), ("cost", "float64")]
    schema = pyarrow.schema([(name, pyarrow.type_for_alias(kind)) for name, kind in types])
    arrow = pyarrow.Table.from_pandas(held, schema, preserve_index=False)
    visits = postgres_engine.table(arrow, **DECLARED)
    other = dp.Curator({"visits": visits}, budget=dp.Budget(rho=10_000), ledger=tmp_path / "p.ledger")
    measured = []
    young = dp.Impossible({"age": (None, 15), "cost": (33, 77)})  # cuts cells of both columns
    for curator in (clinic, other):
        with replay(3):
            found = curator.synthesize("visits", COLUMNS, rho=1, method="spanning tree", facts=young)
        measured.append([(one.columns, one.counts.tolist()) for one in found.data.measured])
    assert measured[0] == measured[1]


def test_rows_without_a_cell_are_left_out_if_asked(clinic):
    with replay(1):
        found = clinic.synthesize("visits", COLUMNS, rho=1000, missing=False, method="independent")
    complete = frame().dropna().query("city != 'elsewhere'")
    assert found.data.total == pytest.approx(len(complete), abs=4)
    assert not found.to_pandas().isna().any(axis=None)


@pytest.mark.slow
def test_filtered_and_calculated_rows_are_synthesized(clinic):
    rows = clinic.table("visits").filter(dp.col("age") < 30)
    with replay(1):
        found = clinic.synthesize(rows, ["age", "city"], rho=1000, method="spanning tree")
    assert found.to_pandas()["age"].max() < 32


@pytest.mark.slow
def test_widths_and_workloads_are_used(clinic):
    found = clinic.synthesize(
        "visits", COLUMNS, rho=1, width={"age": 10}, workload={("age", "city"): 3, ("city", "cost"): 1}
    )
    assert found.data.domain.shape[0] == 13
    assert {one.columns for one in found.data.measured[3:]} <= {(0, 1), (1, 2)}


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"columns": ["age", "p"]}, UndeclaredColumn),
        ({"columns": ["age", "age"]}, ParameterError),
        ({"columns": []}, ParameterError),
        ({"method": "gan"}, ParameterError),
        ({"workload": [("age", "city")], "method": "independent"}, ParameterError),
        ({"width": {"height": 1}}, ParameterError),
        ({"rho": None, "epsilon": 1}, ParameterError),
        ({"rho": 10**5}, BudgetExceeded),
        ({"budget": 3}, (TypeError, ParameterError)),
        (
            {"columns": ["age", "cost"], "width": {"age": 1, "cost": 1}, "workload": [("age", "cost")]},
            ParameterError,
        ),
    ],
)
def test_refusals_come_before_the_charge(clinic, wrong, error):
    given = {"columns": COLUMNS, "rho": 1} | wrong
    with pytest.raises(error):
        clinic.synthesize("visits", given.pop("columns"), **given)
    assert clinic.spent.requests == 0


def test_too_many_cells_are_refused_before_the_charge(tmp_path):
    columns = {f"x{place}": dp.Keys(range(800)) for place in range(10)}
    table = dp.Table(pd.DataFrame({name: [0] for name in columns}), person=dp.EACH_ROW, columns=columns)
    clinic = dp.Curator({"t": table}, budget=dp.Budget(rho=10), ledger=tmp_path / "c.ledger")
    with pytest.raises(UnsupportedQuery, match="wider cells"):
        clinic.synthesize("t", list(columns), rho=1, method="spanning tree")
    assert clinic.spent.requests == 0


@pytest.mark.few(2)
@pytest.mark.parametrize("name", ["table", "n", "n_lower", "n_upper"])
def test_names_of_the_answer_are_refused_before_the_charge(tmp_path, name):
    columns = {name: dp.Keys([0, 1]), "other": dp.Keys([0, 1])}
    table = dp.Table(pd.DataFrame({one: [0, 1] for one in columns}), person=dp.EACH_ROW, columns=columns)
    clinic = dp.Curator({"t": table}, budget=dp.Budget(rho=10), ledger=tmp_path / "c.ledger")
    with pytest.raises(UnsupportedQuery, match="other names"):
        clinic.synthesize("t", list(columns), rho=1, method="independent")
    assert clinic.spent.requests == 0
    found = clinic.synthesize("t", ["other"], rho=1, method="independent").measured.to_pandas()
    assert list(found) == ["table", "other", "n", "n_lower", "n_upper"]


@pytest.mark.slow
def test_a_sandbox_synthesizes_and_says_that_it_is_not_private(clinic):
    made = clinic.sandbox(rows=200).synthesize("visits", COLUMNS, rho=1, method="independent")
    assert not made.label["private"]
