"""The embedded engine is closed once the rows are in it, and reads files by their declared types."""

from __future__ import annotations

import os
from pathlib import Path

import ibis
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

from canary import DATA_TEXT, private
from discreet.data import EACH_ROW, Bounds, Keys, Limits, Table, Type
from discreet.data.engines.base import fetch
from discreet.data.tables.public_table import PublicTable
from discreet.errors import ParameterError

CANARY = DATA_TEXT


def rows_of(table):
    return fetch(table._relation, table._backend).to_pylist()


@pytest.fixture
def parquet(tmp_path):
    path = private(tmp_path / 'it\'s [1] "quoted" *.parquet')
    pyarrow.parquet.write_table(pyarrow.table({"id": [1, 2], "name": ["a", CANARY]}), path)
    return path


@pytest.fixture
def closed(parquet, tmp_path):
    (tmp_path / "other.csv").write_text("secret\n1\n")
    frame = pyarrow.table({"id": [1]})
    return [Table(parquet, person=EACH_ROW), Table(frame, person=EACH_ROW)], tmp_path


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('{}/other.csv')",
        "SELECT * FROM '{}/other.csv'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/etc/*')",
        "COPY rows TO '{}/out.csv'",
        "ATTACH '{}/new.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET allowed_paths = ['/etc/passwd']",
        "EXPORT DATABASE '{}/out'",
    ],
)
def test_the_engine_is_closed_to_the_world(closed, statement):
    tables, place = closed
    for table in tables:
        before = set(os.listdir(place))
        with pytest.raises(Exception, match=r"(Permission|Invalid Input|Catalog|IO|HTTP|Binder|Not impl)"):
            table._backend.raw_sql(statement.format(place)).fetchall()
        assert set(os.listdir(place)) == before


def test_a_parquet_file_is_read_where_it_lies(parquet):
    table = Table(str(parquet), person="id", limits=Limits(rows=1))
    assert dict(table.schema) == {"id": Type.INTEGER, "name": Type.TEXT}
    assert len(rows_of(table)) == 2


def test_types_of_a_csv_file_follow_from_the_declarations(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text(
        "\ufeffid,city,cost,age,day,note\n"
        '007,"Taipei, north",3.5,40,2026-01-31,"a ""quoted"" note"\n'
        ",Hamilton,not a number,x,never,\n"
        "8,,inf,,,1\n",
        encoding="utf-8",
    )
    table = Table(
        path,
        person="id",
        limits=Limits(rows=1),
        columns={
            "city": Keys(["Hamilton"]),
            "cost": Bounds(0, 5, step=0.5),
            "age": Bounds(0, 110),
            "day": Type.DATE,
        },
    )
    assert dict(table.schema) == {
        "id": Type.TEXT,
        "city": Type.TEXT,
        "cost": Type.FLOAT,
        "age": Type.INTEGER,
        "day": Type.DATE,
        "note": Type.TEXT,
    }
    rows = {row["city"]: row for row in rows_of(table)}
    first, second, third = (rows[city] for city in ("Taipei, north", "Hamilton", None))
    assert first["id"] == "007"
    assert first["note"] == 'a "quoted" note'
    assert first["day"].isoformat() == "2026-01-31"
    assert second["id"] is None
    assert (second["cost"], second["age"], second["day"]) == (None, None, None)
    assert third["cost"] == float("inf")


def test_the_schema_of_a_csv_file_does_not_depend_on_its_rows(tmp_path):
    schemas = []
    for name, rows in (("a", "1,2\n3,4\n"), ("b", "1,2\nx,2026-01-01\n"), ("c", "")):
        path = tmp_path / f"{name}.csv"
        path.write_text("id,x\n" + rows)
        schemas.append(Table(path, person="id", limits=Limits(rows=1), columns={"x": Bounds(0, 9)}).schema)
    assert schemas[0] == schemas[1] == schemas[2]


FRAME = {"id": [1, 2, None], "name": ["a", None, "c"], "x": [1.5, None, 2.5]}


@pytest.mark.parametrize(
    "frame",
    [
        pyarrow.table(FRAME),
        pandas.DataFrame(FRAME, index=[5, 6, 7]).astype({"id": "Int64"}),
        pandas.DataFrame(FRAME).astype({"id": "Int64", "name": "category"}),
        polars.DataFrame(FRAME),
        polars.LazyFrame(FRAME),
        polars.DataFrame(FRAME).with_columns(polars.col("name").cast(polars.Categorical)),
        pyarrow.table(FRAME).to_reader(),
    ],
    ids=["arrow", "pandas", "categories", "polars", "lazy", "polars categories", "stream"],
)
def test_frames_of_every_kind_are_copied_in(frame):
    table = Table(frame, person="id", limits=Limits(rows=1), columns={"x": Bounds(0, 5, step=0.5)})
    assert dict(table.schema) == {"id": Type.INTEGER, "name": Type.TEXT, "x": Type.FLOAT}
    assert sorted(rows_of(table), key=str) == sorted(pyarrow.table(FRAME).to_pylist(), key=str)


def test_changes_to_a_frame_are_not_seen():
    frame = pandas.DataFrame({"id": [1, 2]})
    table = Table(frame, person=EACH_ROW)
    frame.loc[0, "id"] = 99
    assert rows_of(table) == [{"id": 1}, {"id": 2}]


def test_columns_without_a_value_take_their_declared_type():
    frame = pyarrow.table(
        {"id": pyarrow.nulls(2), "city": pyarrow.nulls(2), "x": pyarrow.nulls(2), "y": pyarrow.nulls(2)}
    )
    columns = {"city": Keys(["a"]), "x": Bounds(0, 1), "y": Bounds(0, 1, step=0.1)}
    table = Table(frame, person="id", limits=Limits(rows=1), columns=columns)
    assert list(table.schema.values()) == [Type.TEXT, Type.TEXT, Type.INTEGER, Type.FLOAT]


@pytest.mark.parametrize(
    "make",
    [
        lambda path: path / "missing.parquet",
        lambda path: path,
        lambda path: path / "bad.parquet",
        lambda path: path / "names.csv",
        lambda path: path / "empty.csv",
        lambda path: path / "double.csv",
        lambda path: path / "what.txt",
        lambda path: "https://example.com/x.parquet",
        lambda path: pyarrow.table({"a": [1], "A": [2]}),
        lambda path: pyarrow.table([[1]], names=[""]),
        lambda path: pyarrow.table({}),
        lambda path: {"a": object()},
        lambda path: 3,
        lambda path: None,
    ],
)
def test_what_cannot_be_read_is_refused_in_fixed_words(make, tmp_path):
    private(tmp_path / "bad.parquet").write_bytes(b"PAR1" + CANARY.encode())
    private(tmp_path / "names.csv").write_bytes(b"id,\xff\xfe" + CANARY.encode() + b"\n1,2\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "double.csv").write_text("id,id\n1,2\n")
    with pytest.raises(ParameterError) as refusal:
        Table(make(tmp_path), person=EACH_ROW)
    assert refusal.value.parameter == "source"
    assert CANARY not in str(refusal.value)
    assert refusal.value.__context__ is None


def test_spilled_rows_do_not_land_in_the_working_directory():
    table = Table(pyarrow.table({"a": [1]}), person=EACH_ROW)
    spill = table._backend.raw_sql("SELECT current_setting('temp_directory')").fetchone()[0]
    assert Path(spill).resolve().parent != Path.cwd()
    assert Path(spill).stat().st_mode & 0o077 == 0


NAMES = ["v[1]", "v*", "v?", "v[!2]", "{v1,v2}", "year=2026", "v1%20", "#v1", "~v1", "v1 'x'", "v1;", "ü"]


@pytest.mark.few(8)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".CSV"])
def test_a_path_names_one_file_and_is_read_as_it_is_written(tmp_path, monkeypatch, name, suffix):
    """Whatever an engine would make of it: patterns, directories that stand for columns, addresses."""
    for one in (*NAMES, "v1", "v2"):
        arrow = pyarrow.table({"x": [one]})
        for directory in (tmp_path, tmp_path / f"y=[{one[0]}]*"):
            directory.mkdir(exist_ok=True)
            if suffix == ".parquet":
                pyarrow.parquet.write_table(arrow, directory / f"{one}{suffix}")
            else:
                (directory / f"{one}{suffix}").write_text(f'x\n"{one}"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    inner = tmp_path / f"y=[{name[0]}]*" / f"{name}{suffix}"
    for path in (tmp_path / f"{name}{suffix}", inner, f"{name}{suffix}", os.fspath(inner)):
        assert Table(path, person=EACH_ROW)._rows().to_pydict() == {"x": [name]}
        if suffix != ".CSV":
            assert PublicTable(path)._rows().to_pydict() == {"x": [name]}


@pytest.mark.parametrize("address", ["http://host/v.csv", "s3://bucket/v.parquet", "file:///v.csv", "v*.csv"])
def test_an_address_is_no_path(tmp_path, monkeypatch, address):
    (tmp_path / "v1.csv").write_text("x\n1\n")
    monkeypatch.chdir(tmp_path)
    for kind in (PublicTable, lambda source: Table(source, person=EACH_ROW)):
        with pytest.raises(ParameterError, match="is not a file"):
            kind(address)


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
def test_a_table_stays_the_one_that_was_opened():
    """Names are looked up once: neither a temporary table nor a schema in use comes before it later."""
    connection = ibis.duckdb.connect()
    connection.raw_sql("CREATE TABLE t AS SELECT 1 AS x")
    connection.raw_sql("CREATE SCHEMA other")
    connection.raw_sql("CREATE TABLE other.t AS SELECT 2 AS x")
    connection.raw_sql("CREATE VIEW v AS SELECT 1 AS x")
    opened = [connection.table("t"), connection.table("t", database="other"), connection.table("v")]
    tables = [Table(one, person=EACH_ROW) for one in opened]
    connection.raw_sql("CREATE TEMP TABLE t AS SELECT 3 AS x")
    connection.raw_sql("CREATE TEMP TABLE v AS SELECT 4 AS x")
    connection.raw_sql("USE other")
    assert [fetch(one._relation, one._backend)["x"].to_pylist() for one in tables] == [[1], [2], [1]]
    later = Table(connection.table("t"), person=EACH_ROW)
    assert fetch(later._relation, later._backend)["x"].to_pylist() == [3]


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
def test_what_is_prepared_is_compressed_in_our_own_database_and_plain_in_that_of_others():
    frame = pyarrow.table({"id": list(range(20_000)), "city": ["a long name of a city", "b"] * 10_000})
    options = {"person": "id", "limits": Limits(rows=1), "prepare": True}
    own = Table(frame, **options)
    theirs = ibis.duckdb.connect()
    theirs.con.register("given", frame)
    theirs.raw_sql("CREATE TABLE rows AS SELECT * FROM given")
    other = Table(theirs.table("rows"), **options)
    for table in (own, other):
        table.prepare()
        rows = fetch(table._relation.group_by("city").agg(n=table._relation.count()), table._backend)
        assert {row["city"]: row["n"] for row in rows.to_pylist()} == {
            "a long name of a city": 10_000,
            "b": 10_000,
        }
    name = own._relation.op().name
    kinds = own._backend.raw_sql(
        f"SELECT DISTINCT compression FROM pragma_storage_info('discreet_compressed.{name}') "  # noqa: S608
        "WHERE column_name = 'city' AND segment_type = 'VARCHAR'"
    ).fetchall()
    assert kinds
    assert ("Uncompressed",) not in kinds
    places = theirs.raw_sql("SELECT database_name FROM duckdb_databases()").fetchall()
    assert ("discreet_compressed",) not in places
