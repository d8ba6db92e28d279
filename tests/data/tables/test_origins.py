"""Where rows come from: one row under several names is not counted several times."""

from __future__ import annotations

import os

import ibis
import psycopg
import pyarrow
import pytest
from pyarrow import parquet

from data.three_engines import quoted
from discreet.data import EACH_ROW, CountRows, Csv, Group, Limits, Salt, Source, Table, compute
from discreet.data.language.relations import Union
from discreet.data.tables.origins import share_origins
from discreet.errors import ParameterError, UnsupportedQuery

SALT = Salt(value="5a17")
SAME = "a union of tables that read the same rows"
ARROW = pyarrow.table({"x": [1, 2]})

pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


def united(*tables):
    """How many rows the union of some tables has."""
    named = {f"t{place}": table for place, table in enumerate(tables)}
    relation = Union(sources=tuple(Source(table=name) for name in named))
    plan = Group(source=relation, measures=(CountRows(),))
    return compute(plan, named, salt=SALT)[CountRows()].tolist()[0]


def each(source):
    return Table(source, person=EACH_ROW)


def refuse(*sources):
    with pytest.raises(UnsupportedQuery, match=SAME):
        united(*(each(source) for source in sources))


def test_one_table_under_three_names_is_refused():
    table = each(ARROW)
    with pytest.raises(UnsupportedQuery, match=SAME):
        united(table, table, table)
    assert united(table, each(pyarrow.table({"x": [3]}))) == 3


def test_people_may_be_in_two_tables():
    """With a person column it is bounded what a person contributes, however often they come up."""
    tables = [Table(ARROW, person="x", limits=Limits(rows=1)) for _ in range(2)]
    assert united(*tables) == 4  # one row of each person from each table


def test_one_frame_is_one_source():
    pandas = ARROW.to_pandas()
    refuse(ARROW, ARROW)
    refuse(pandas, pandas)
    assert united(each(pandas), each(pandas.copy())) == 4  # a copy is for the owner to know


def test_a_frame_that_is_gone_is_not_taken_for_another():
    first = each(pyarrow.table({"x": [1]}))
    for number in range(20):
        assert united(first, each(pyarrow.table({"x": [number]}))) == 2


def test_one_file_is_one_source_by_whatever_path(tmp_path):
    path, other = tmp_path / "visits.parquet", tmp_path / "others.parquet"
    for place in (path, other):
        parquet.write_table(ARROW, place)
    os.symlink(path, tmp_path / "soft.parquet")
    os.link(path, tmp_path / "hard.parquet")
    (tmp_path / "inner").mkdir()
    for name in ("visits.parquet", "soft.parquet", "hard.parquet", "inner/../visits.parquet"):
        refuse(path, tmp_path / name)
        refuse(str(tmp_path / name), other, path)
    assert united(each(path), each(other)) == 4
    parquet.write_table(ARROW, tmp_path / "new.parquet")
    first = each(path)
    os.replace(tmp_path / "new.parquet", path)
    with pytest.raises(UnsupportedQuery, match=SAME):
        united(first, each(path))


def test_files_of_records_are_one_source_however_they_are_named(tmp_path):
    for name in ("visits.csv", "others.csv"):
        (tmp_path / name).write_text("x\n1\n2\n")
    os.link(tmp_path / "visits.csv", tmp_path / "hard.csv")
    path, other = tmp_path / "visits.csv", tmp_path / "others.csv"
    refuse(Csv(path), Csv(path))
    refuse(path, Csv(path))
    refuse(Csv(other, path), Csv(tmp_path / "hard.csv"))
    assert united(each(Csv(path)), each(Csv(other))) == 4


def test_tables_that_share_rows_are_named(tmp_path):
    for name in ("visits.csv", "others.csv"):
        (tmp_path / name).write_text("x\n1\n2\n")
    sources = {"a": tmp_path / "visits.csv", "b": Csv(tmp_path / "visits.csv"), "c": tmp_path / "others.csv"}
    tables = {name: Table(source, person="x", limits=Limits(rows=1)) for name, source in sources.items()}
    assert [share_origins(sources, tables, name) for name in tables] == [["b"], ["a"], []]


def test_views_of_duckdb_are_the_tables_below_them(tmp_path):
    connection = ibis.duckdb.connect(tmp_path / "clinic.db")
    connection.raw_sql("CREATE TABLE visits AS SELECT 1 AS x")
    connection.raw_sql("CREATE TABLE others AS SELECT 1 AS x")
    connection.raw_sql("CREATE VIEW recent AS SELECT x FROM visits")
    connection.raw_sql('CREATE VIEW "Most recent" AS (WITH r AS (SELECT x FROM recent) SELECT x FROM r)')
    again = ibis.duckdb.from_connection(connection.con)
    refuse(connection.table("visits"), connection.table("visits"))
    refuse(connection.table("visits"), again.table("visits"))
    refuse(connection.table("visits"), connection.table("recent"))
    refuse(connection.table("visits"), connection.table("Most recent"))
    assert united(each(connection.table("visits")), each(connection.table("others"))) == 2


def test_views_and_partitions_of_postgresql_are_the_tables_below_them(postgres):
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA origins")
        connection.execute("SET search_path = origins")
        for statement in (
            "CREATE TABLE visits (x bigint) PARTITION BY RANGE (x)",
            "CREATE TABLE early PARTITION OF visits FOR VALUES FROM (0) TO (10)",
            "CREATE TABLE others AS SELECT 1::bigint AS x",
            "INSERT INTO visits VALUES (1)",
            "CREATE VIEW recent AS SELECT x FROM visits",
            'CREATE MATERIALIZED VIEW "Most recent" AS SELECT x FROM recent',
        ):
            connection.execute(statement)
        backend = ibis.postgres.from_connection(connection)
        visits = backend.table("visits", database="origins")
        for name in ("visits", "early", "recent", "Most recent"):
            refuse(visits, f"{postgres}#origins.{name}")
            refuse(visits, backend.table(name, database="origins"))
        assert united(each(visits), each(backend.table("others", database="origins"))) == 2
        with pytest.raises(ParameterError):
            each(f"{postgres}#origins.{quoted('nothing')}")
        connection.execute("DROP SCHEMA origins CASCADE")


def test_frames_and_views_of_spark_are_what_they_are_made_of(spark_engine, tmp_path):
    frame = spark_engine.source(ARROW)
    session = frame.sparkSession
    other = spark_engine.source(ARROW)
    refuse(frame, frame)
    refuse(frame, frame.filter("x > 1"))
    frame.createOrReplaceTempView("visits")
    refuse(frame, ibis.pyspark.connect(session).table("visits"))
    session.catalog.dropTempView("visits")
    parquet.write_table(ARROW, tmp_path / "visits.parquet")
    refuse(*(session.read.parquet(str(tmp_path / "visits.parquet")) for _ in range(2)))
    assert united(each(frame), each(other)) == 4
