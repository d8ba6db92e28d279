"""Tables of PostgreSQL: addresses, types by rule, and nothing written."""

from __future__ import annotations

import gc
import uuid

import ibis
import psycopg
import pyarrow
import pytest

from data.three_engines import quoted
from discreet.data import (
    EACH_ROW,
    Bounds,
    CountRows,
    Group,
    GroupKey,
    Keys,
    Limits,
    Salt,
    Source,
    Sum,
    Table,
    Type,
    col,
    compute,
)
from discreet.data.compile.expressions import compiled
from discreet.data.engines.base import fetch
from discreet.errors import EngineFailed, ParameterError

CANARY = "canary-8675309"
SALT = Salt(value="5a17")
SOURCE = Source(table="t")
COUNT = Group(source=SOURCE, measures=(CountRows(),))


@pytest.fixture
def database(postgres):
    """A schema of its own, and the connection of its owner."""
    schema = f"Clinic {uuid.uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {quoted(schema)}")
        connection.execute(f"SET search_path = {quoted(schema)}")
        connection.execute("SET TIME ZONE 'Asia/Taipei'")
        yield connection, schema
        connection.execute(f"DROP SCHEMA {quoted(schema)} CASCADE")


def address(postgres, schema, name):
    return f"{postgres}#{schema}.{name}"


def counted(table):
    return compute(COUNT, {"t": table}, salt=SALT)[CountRows()].tolist()


def rows_of(table):
    return fetch(table._relation, table._backend).to_pylist()


def truths(table, formula):
    rows = table._relation
    return fetch(rows.select(truth=compiled(formula.expression, rows)), table._backend)["truth"].to_pylist()


def test_a_table_is_named_by_the_address_of_its_database(postgres, database):
    connection, schema = database
    connection.execute(
        'CREATE TABLE "Vis.its" (id int, x float8); INSERT INTO "Vis.its" VALUES (1, 2), (1, 3)'
    )
    table = Table(address(postgres, schema, "Vis%2Eits"), person="id", limits=Limits(rows=1))
    assert counted(table) == [1]
    assert dict(table.schema) == {"id": Type.INTEGER, "x": Type.FLOAT}
    assert postgres not in repr(table)


def test_a_table_without_a_schema_is_looked_up(postgres, database):
    connection, _ = database
    name = f"visits_{uuid.uuid4().hex}"
    connection.execute(f"CREATE TABLE public.{name} (id int)")
    assert counted(Table(f"{postgres}#{name}", person="id", limits=Limits(rows=1))) == [0]
    connection.execute(f"DROP TABLE public.{name}")


def test_a_table_of_an_ibis_connection_and_a_view(database):
    connection, schema = database
    connection.execute(
        "CREATE TABLE visits (id int, city text); INSERT INTO visits VALUES (1, 'a'), (2, 'b')"
    )
    connection.execute("CREATE VIEW of_a AS SELECT * FROM visits WHERE city = 'a'")
    backend = ibis.postgres.from_connection(connection)
    for source, many in (
        (backend.table("visits"), 2),
        (backend.table("visits", database=schema), 2),
        (backend.table("of_a"), 1),
    ):
        assert counted(Table(source, person="id", limits=Limits(rows=1))) == [many]
    with pytest.raises(ParameterError, match="a table itself"):
        Table(backend.table("visits").limit(1), person="id", limits=Limits(rows=1))


@pytest.mark.parametrize("fragment", ["", "#", "#a.b.c", "#.visits", "#no_such_table", "#no_schema.visits"])
def test_what_names_no_table_is_refused(postgres, fragment):
    with pytest.raises(ParameterError, match="does not name a table") as refusal:
        Table(postgres + fragment, person=EACH_ROW)
    assert refusal.value.__context__ is None


def test_a_database_that_does_not_answer_is_refused_without_its_address():
    with pytest.raises(ParameterError, match="could not be reached") as refusal:
        Table(f"postgresql://owner:{CANARY}@127.0.0.1:1/clinic#visits", person=EACH_ROW)
    assert CANARY not in str(refusal.value)
    assert refusal.value.__context__ is None


def test_types_are_read_by_rule(postgres, database):
    connection, schema = database
    connection.execute(
        "CREATE TYPE mood AS ENUM ('Sad', 'happy');"
        "CREATE DOMAIN code AS char(4); CREATE DOMAIN cents AS numeric(9, 2); CREATE DOMAIN small AS int2;"
        "CREATE TABLE visits (id uuid, c char(5), v varchar(9), m mood, d code, n numeric, p numeric(40, 2), "
        "  q cents, s small, j json, l int[], t time, f timestamp(0), z timestamptz, e date, b bytea, "
        "  r numeric(3, -2))"
    )
    one, other = ("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")
    moments = (
        ("infinity", "-infinity", "infinity"),
        ("2026-01-01 12:00:00.6", "2026-01-01 12:00+08", "2026-01-01"),
    )
    connection.cursor().executemany(
        f"INSERT INTO visits VALUES ({', '.join(['%s'] * 17)})",  # noqa: S608
        [
            (one, "ab", "ab ", "Sad", "x", "1e400", -1, 1.25, 3, "{}", "{1}", "12:00", *moments[0], "", 1200),
            (other, None, None, "happy", None, "NaN", "NaN", "NaN", *[None] * 4, *moments[1], None, None),
            (None, "ab   ", "ab", None, "x", "1e-400", *[None] * 11),
            (None, "", "", None, "", "-1e400", *[None] * 11),
        ],
    )
    table = Table(address(postgres, schema, "visits"), person="id", limits=Limits(rows=1))
    kinds = "float float decimal integer other other other timestamp instant date other float"
    assert [kind.value for kind in table.schema.values()] == ["text"] * 5 + kinds.split()
    everybody = Table(address(postgres, schema, "visits"), person=EACH_ROW)
    assert truths(everybody, col("id") == "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11") == [True, False, None, None]
    assert truths(everybody, col("c") == "ab") == [True, None, True, False]
    assert truths(everybody, col("v") == "ab") == [False, None, True, False]
    assert truths(everybody, col("m") > "T") == [False, True, None, None]
    assert truths(everybody, col("n") > 1e308) == [True, True, False, False]
    assert truths(everybody, col("n") == 0) == [False, False, True, False]
    assert truths(everybody, col("q") > 1) == [True, None, None, None]
    assert truths(everybody, col("j").is_null()) == [False, True, True, True]
    assert truths(everybody, col("f").is_null()) == [True, False, True, True]
    assert next(row["e"] for row in rows_of(everybody)) is None
    assert len(everybody._rows()) == 4


@pytest.mark.parametrize("limits", [Limits(rows=1), Limits(groups=1, rows_per_group=1)])
def test_collations_that_take_letters_for_equal_change_nothing(postgres, database, limits):
    """Under such a collation a and A, or the names of two persons, are the same to PostgreSQL.

    Where PostgreSQL is built without ICU, every use of the collation is an error.
    """
    connection, schema = database
    loose = "(provider = icu, locale = 'und-u-ks-level1', deterministic = false)"
    try:
        connection.execute(f"CREATE COLLATION loose {loose}")
    except psycopg.errors.FeatureNotSupported:
        collation = '"unicode"'
    else:
        collation = "loose"
    connection.execute(
        f"CREATE TABLE visits (id text COLLATE {collation}, city text COLLATE {collation});"  # noqa: S608
        "INSERT INTO visits VALUES ('Ada', 'a'), ('ada', 'A'), ('ADA', 'A'), ('Ada', 'a')"
    )
    try:
        assert connection.execute("SELECT count(DISTINCT id) FROM visits").fetchone() == (1,)
    except psycopg.errors.FeatureNotSupported:
        assert collation == '"unicode"'
    keys = Keys(["a", "A", "á"])
    table = Table(address(postgres, schema, "visits"), person="id", limits=limits, columns={"city": keys})
    plan = Group(source=SOURCE, keys=(GroupKey(column="city", values=keys),), measures=(CountRows(),))
    assert compute(plan, {"t": table}, salt=SALT)[CountRows()].tolist() == [1, 2, 0]
    assert truths(table, col("city") == "a").count(True) == 2
    assert truths(table, col("id") < "a").count(True) == 3


def test_types_with_names_of_built_in_ones_are_not_taken_for_them(postgres, database):
    connection, schema = database
    for made in (
        "TYPE int8 AS ENUM ('a', 'b')",
        "DOMAIN float8 AS pg_catalog.text",
        f"DOMAIN bool AS {quoted(schema)}.int8",
        "TYPE text AS (x integer)",
        f"DOMAIN numeric AS {quoted(schema)}.float8",
    ):
        connection.execute(f"CREATE {made}")
    columns = ", ".join(
        f"{one} {quoted(schema)}.{one}" for one in ("int8", "float8", "bool", "text", "numeric")
    )
    connection.execute(f"CREATE TABLE odd ({columns})")
    connection.execute("INSERT INTO odd VALUES ('a', 'x', 'b', ROW(1), 'y')")
    table = Table(address(postgres, schema, "odd"), person=EACH_ROW)
    assert rows_of(table) == [{"int8": "a", "float8": "x", "bool": "b", "text": b"", "numeric": b""}]


def test_statements_write_nothing(postgres, database):
    """A view whose evaluation writes: the transaction is read-only, so it fails, and nothing is there."""
    connection, schema = database
    connection.execute(
        "CREATE TABLE seen (x int);"  # noqa: S608
        "CREATE FUNCTION spy(x int) RETURNS int LANGUAGE plpgsql AS "
        f"$$ BEGIN INSERT INTO {quoted(schema)}.seen VALUES (x); RETURN x; END $$;"
        "CREATE TABLE visits (id int); INSERT INTO visits VALUES (1);"
        "CREATE VIEW watched AS SELECT spy(id) AS id FROM visits"
    )
    table = Table(address(postgres, schema, "watched"), person="id", limits=Limits(rows=1))
    with pytest.raises(EngineFailed):
        counted(table)
    assert connection.execute("SELECT count(*) FROM seen").fetchone() == (0,)
    assert counted(Table(address(postgres, schema, "visits"), person="id", limits=Limits(rows=1))) == [1]


def test_nothing_stays_behind(postgres, database):
    connection, schema = database
    connection.execute("CREATE TABLE visits (id int, x int); INSERT INTO visits VALUES (1, 5)")
    keys = Keys(range(1000))
    table = Table(
        address(postgres, schema, "visits"), person="id", limits=Limits(rows=1), columns={"x": keys}
    )
    plan = Group(source=SOURCE, keys=(GroupKey(column="x", values=keys),), measures=(CountRows(),))
    for _ in range(2):
        assert compute(plan, {"t": table}, salt=SALT)[CountRows()].sum() == 1
    owned = table._backend.con
    temporary = "SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema()"
    assert owned.execute(temporary).fetchone() == (0,)
    assert owned.execute("SHOW DateStyle").fetchone() == connection.execute("SHOW DateStyle").fetchone()
    del table
    gc.collect()
    assert owned.closed


def test_settings_of_a_database_change_nothing(database):
    connection, _ = database
    connection.execute(
        "CREATE TABLE visits (id int, day date, note text);"
        "INSERT INTO visits VALUES (1, '2026-01-31', 'back\\slash'), (1, '2026-02-01', E'it''s')"
    )
    connection.execute("SET DateStyle = 'German'; SET standard_conforming_strings = off")
    table = ibis.postgres.from_connection(connection).table("visits")
    keys = Keys(["back\\slash", "it's"])
    declared = Table(table, person="id", limits=Limits(rows=2), columns={"note": keys})
    plan = Group(source=SOURCE, keys=(GroupKey(column="note", values=keys),), measures=(CountRows(),))
    assert compute(plan, {"t": declared}, salt=SALT)[CountRows()].tolist() == [1, 1]
    assert connection.execute("SHOW DateStyle").fetchone() == ("German, DMY",)


def test_decimal_sums_are_exact(postgres, database):
    connection, schema = database
    connection.execute("CREATE TABLE visits (id int, x numeric(12, 2))")
    connection.execute("INSERT INTO visits SELECT i, i / 100.0 FROM generate_series(1, 1000) i")
    bounds = Bounds(0, 10, step=0.01)
    table = Table(
        address(postgres, schema, "visits"), person="id", limits=Limits(rows=1), columns={"x": bounds}
    )
    plan = Group(source=SOURCE, measures=(Sum(column="x", bounds=bounds),))
    assert compute(plan, {"t": table}, salt=SALT).values[0].tolist() == [500_500]


def test_persons_of_decimals_without_precision_are_refused(postgres, database):
    connection, schema = database
    connection.execute("CREATE TABLE visits (id numeric)")
    with pytest.raises(ParameterError, match="float"):
        Table(address(postgres, schema, "visits"), person="id", limits=Limits(rows=1))


def test_rows_come_in_batches(postgres, database, monkeypatch):
    connection, schema = database
    connection.execute("CREATE TABLE visits AS SELECT i AS x FROM generate_series(1, 1000) i")
    monkeypatch.setattr("discreet.data.engines.postgres._BATCH", 300)
    table = Table(address(postgres, schema, "visits"), person=EACH_ROW)
    found = fetch(table._relation, table._backend)
    assert [len(batch) for batch in found.to_batches()] == [300, 300, 300, 100]
    assert found.schema == pyarrow.schema([("x", pyarrow.int64())])
