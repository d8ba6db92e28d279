"""Tables that refer to each other by keys, asked as people do: the answers are those of DuckDB."""

# ruff: noqa: S608
from __future__ import annotations

import duckdb
import pandas as pd
import pyarrow
import pytest

import discreet as dp
from data.conftest import postgres, postgres_engine, spark_engine  # noqa: F401
from discreet.errors import UnsupportedQuery
from queries.key_questions import FILMS, MIXED, REPORTS, SUPPLIERS
from queries.key_schemas import archive, archive_tables, supplier_tables, wholesaler, wholesaler_tables

SHOP = wholesaler(customers=60)
FILM = archive(films=40)
CONFIDENCE = 1 - 1e-12


def curator_of(tables, path):
    return dp.Curator(tables, budget=dp.Budget(epsilon=10**9), ledger=path / "keys.ledger")


def exact(sql, frames):
    with duckdb.connect() as connection:
        for name, frame in frames.items():
            connection.register(name, frame)
        return connection.sql(sql).df()


def check(curator, sql, frames, epsilon=5000):
    """Compare every number of an answer with DuckDB's: counts are equal, others in narrow intervals."""
    expected, found = exact(sql, frames), curator.ask(sql, epsilon=epsilon, confidence=CONFIDENCE).to_pandas()
    values = [name for name in expected.columns if f"{name}_lower" in found.columns]
    keys = [name for name in expected.columns if name not in values]
    merged = found.merge(expected, on=keys, how="outer", suffixes=("", "_exact")) if keys else None
    if merged is None:
        merged = pd.concat([found, expected.add_suffix("_exact")], axis=1)
    for name in values:
        truth = merged[f"{name}_exact"].astype(float).fillna(0)
        known = merged[f"{name}_lower"].notna()
        assert known.sum() >= len(expected)
        inside = (merged[f"{name}_lower"] <= truth + 1e-9) & (truth - 1e-9 <= merged[f"{name}_upper"])
        assert inside[known].all()
        width = (merged[f"{name}_upper"] - merged[f"{name}_lower"])[known]
        assert width.max() <= max(2.0, 0.6 * truth.abs().max())
    assert values


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    return curator_of(wholesaler_tables(SHOP), tmp_path_factory.mktemp("shop"))


@pytest.fixture(scope="module")
def films(tmp_path_factory):
    return curator_of(archive_tables(FILM), tmp_path_factory.mktemp("films"))


@pytest.mark.few(4)
@pytest.mark.parametrize("name", REPORTS)
def test_wholesale_reports(name, shop):
    check(shop, REPORTS[name], SHOP)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", FILMS)
def test_questions_about_films(name, films):
    sql = f"SELECT COUNT(*) AS n FROM {FILMS[name]}"
    found = films.ask(sql, epsilon=20_000).to_pandas()
    assert found["n"].tolist() == exact(sql, FILM)["n"].tolist()


@pytest.mark.few(2)
@pytest.mark.parametrize("name", SUPPLIERS)
def test_the_supplier_may_be_the_one_to_protect(name, tmp_path):
    check(curator_of(supplier_tables(SHOP), tmp_path), SUPPLIERS[name], SHOP, epsilon=30_000)


@pytest.mark.parametrize("name", MIXED)
def test_patterns_of_several_persons_are_refused_with_what_to_write(name, tmp_path):
    edges = pd.DataFrame({"source": [1, 1, 2], "target": [2, 3, 3]})
    limits = dp.Limits(rows=5)
    graph = curator_of(
        {
            "nodes": dp.Table(pd.DataFrame({"id": [1, 2, 3]}), person="id", limits=limits),
            "edges": dp.Table(edges, person=dp.through("nodes", on="source", to="id"), limits=limits),
        },
        tmp_path,
    )
    with pytest.raises(UnsupportedQuery, match="equate the persons of both sides, as in ON"):
        graph.ask(f"SELECT COUNT(*) AS n FROM {MIXED[name]}", epsilon=1)
    stars = "SELECT COUNT(*) AS n FROM edges a, edges b WHERE a.source = b.source AND a.target < b.target"
    assert graph.ask(stars, epsilon=300).to_pandas()["n"].tolist() == [1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "reports", "questions"),
    [
        (
            "postgres_engine",
            ("unshipped", "late orders", "large orders", "orders each", "without orders"),
            ("ranked", "without the film"),
        ),
        ("spark_engine", ("ship modes", "without orders"), ("without the film",)),  # a statement takes long
    ],
)
def test_a_part_of_them_on_other_engines(engine, reports, questions, request, tmp_path):
    made = request.getfixturevalue(engine)

    def source(name, frame):
        return made.source(pyarrow.table({column: frame[column].tolist() for column in frame.columns}))

    shop = curator_of(wholesaler_tables(SHOP, source), tmp_path)
    for name in reports:
        check(shop, REPORTS[name], SHOP)
    (tmp_path / "films").mkdir()
    films = curator_of(archive_tables(FILM, source), tmp_path / "films")
    for name in questions:
        sql = f"SELECT COUNT(*) AS n FROM {FILMS[name]}"
        assert films.ask(sql, epsilon=20_000).to_pandas()["n"].tolist() == exact(sql, FILM)["n"].tolist()
