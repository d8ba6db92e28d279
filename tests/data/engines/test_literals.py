"""Texts reach every engine as they are, whatever they hold: nothing in them means anything to it."""

from __future__ import annotations

import ibis
import ibis.expr.operations as ops
import psycopg
import pyarrow
import pytest
import sqlglot.expressions as sge

from data.test_behavior_values import assert_truths, columns_of, numbered
from data.three_engines import SPARK
from discreet.data import (
    EACH_ROW,
    CountRows,
    Group,
    GroupKey,
    Keys,
    Limits,
    Salt,
    Source,
    Table,
    col,
    compute,
    concat,
)
from discreet.data.engines.base import fetch, sql_of
from discreet.data.engines.dialects import dialect_of
from discreet.data.key_counts import compute_key_counts
from discreet.data.language.plan import KeyPlan
from discreet.data.language.relations import Equality, JoinPublic
from discreet.data.tables.public_table import PublicTable
from discreet.errors import EngineFailed, ParameterError

SALT = Salt(value="5a17")
SOURCE = Source(table="t")
SECRET = "DISCREET_SECRET"  # noqa: S105
SPECIAL = [
    f"${{env:{SECRET}}}",
    "${system:user.name}",
    "${spark.app.name}",
    "${hivevar:x}",
    "${hiveconf:x}",
    "$${env:PATH}}",
    "$HOME",
    "$$a$$",
    "$tag$a$tag$",
    "$1",
    "?",
    "%s",
    "%(x)s",
    "%%",
    ":name",
    "@@version",
    "it's",
    "''",
    "' OR ''='",
    '"',
    "`",
    "\\",
    "\\'",
    "\\\\",
    "\\u0041",
    "\\101",
    "\\x41",
    "\\N",
    "\\.",
    "a\nb",
    "a\rb",
    "a\tb",
    "--",
    "/* x */",
    "/*+ BROADCAST(t) */",
    ";",
    "'; DROP TABLE t; --",
    "U&'\\0041'",
    "E'\\x41'",
    "X'41'",
    "getenv('HOME')",
    "{fn now()}",
    "{{x}}",
    "{x}",
    "#{x}",
    "(?i)a",
    "[a-z]*",
    "\u2028",
    "\ufeff",
    "\u202e",
    "\x01",
    "\x1a",
    "\x7f",
    "é",
    "e\u0301",
    "\U0001f4b6",
    "\ud7ff",
    "\uffff",
    "\U0010ffff",
    " ",
    "",
    "NULL",
    "0x41",
    "*",
    "_",
    "%",
    "%_%",
]
NAMES = [text for text in SPECIAL if text]


@pytest.fixture(autouse=True)
def secret(monkeypatch):
    monkeypatch.setenv(SECRET, "x' OR 'x' = 'x")


def test_texts_compare_as_in_python(engine):
    texts = [*SPECIAL, "x' OR 'x' = 'x", "/root", "A", None]
    arrow = columns_of(text=(pyarrow.string(), texts))
    formulas = [col("text") == text for text in SPECIAL]
    formulas += [col("text").isin(SPECIAL[start::3]) for start in range(3)]
    for text in SPECIAL[:: 3 if engine.name == SPARK else 1]:
        formulas += [concat(col("text"), text) == f"{text}{text}", col("text").contains(text)]
        if "\\" not in text:
            formulas.append(col("text").like(f"%{text}"))
        if text:
            formulas.append(col("text").replace(text, "$1\\0").length() > 2)
    for start in range(0, len(formulas), 80):
        assert_truths(engine, arrow, formulas[start : start + 80])


@pytest.mark.few(1)
def test_keys_names_and_public_values_are_what_they_are(engine):
    """The same texts as declared keys, names of columns, public values, and keys that are chosen."""
    arrow = numbered(pyarrow.table({"text": SPECIAL, **dict.fromkeys(NAMES, SPECIAL)}))
    keys = Keys(SPECIAL)
    declared = dict.fromkeys(["text", *NAMES[:3]], keys)
    table = engine.table(arrow, person="row", limits=Limits(rows=1), columns=declared)
    assert list(table.schema) == arrow.column_names
    public = PublicTable(pyarrow.table({"one": SPECIAL, "two": SPECIAL[::-1], "${env:PATH} '": SPECIAL}))
    tables = {"t": table, "p": public}

    def counted(source, column):
        plan = Group(source=source, keys=(GroupKey(column=column, values=keys),), measures=(CountRows(),))
        return compute(plan, tables, salt=SALT)[CountRows()].tolist()

    for column in ("text", *NAMES[:3]):
        assert counted(SOURCE, column) == [1] * len(SPECIAL)
    rows = table._relation
    found = fetch(rows, table._backend).sort_by("row")
    assert all(found[name].to_pylist() == SPECIAL for name in NAMES)
    joined = JoinPublic(source=SOURCE, table="p", on=(Equality(left=NAMES[0], right="one"),))
    for column in ("two", "${env:PATH} '"):
        assert counted(joined, column) == [1] * len(SPECIAL)
    chosen = compute_key_counts(KeyPlan(source=SOURCE, column=NAMES[4], keys=1), tables, salt=SALT)
    values = chosen.chosen(chosen.counts == 1)
    assert values == tuple(sorted(SPECIAL))
    again = Group(
        source=SOURCE, keys=(GroupKey(column=NAMES[4], values=Keys(values)),), measures=(CountRows(),)
    )
    assert compute(again, tables, salt=SALT)[CountRows()].tolist() == [1] * len(SPECIAL)


def test_a_literal_of_spark_holds_nothing_that_is_special():
    for text in SPECIAL:
        written = sge.convert(text).sql(dialect=dialect_of("pyspark").DIALECT)
        assert not set(written[1:-1]) & set("'\"`${}\n\r\t"), text
        assert written[1:-1].encode("ascii").decode("unicode_escape") == text


def test_settings_of_a_session_of_spark_do_not_matter(spark_engine):
    session = spark_engine.source(pyarrow.table({"x": [1]})).sparkSession
    hostile = {
        "spark.sql.variable.substitute": "true",
        "spark.sql.parser.escapedStringLiterals": "true",
        "spark.sql.parser.quotedRegexColumnNames": "true",
        "spark.sql.ansi.enabled": "true",
        "spark.sql.ansi.doubleQuotedIdentifiers": "true",
        "spark.sql.caseSensitive": "false",
        "spark.sql.session.timeZone": "Asia/Taipei",
        "spark.sql.legacy.setopsPrecedence.enabled": "true",
        "spark.sql.groupByOrdinal": "false",
    }
    before = {name: session.conf.get(name) for name in hostile}
    other = session.newSession()  # whose own session is made under these settings
    try:
        for one in (session, other):
            for name, value in hostile.items():
                one.conf.set(name, value)
        for one in (session, other):
            frame = one.createDataFrame(numbered(pyarrow.table({"text": SPECIAL})))
            table = Table(frame, person=EACH_ROW, columns={"text": Keys(SPECIAL)})
            plan = Group(
                source=SOURCE, keys=(GroupKey(column="text", values=Keys(SPECIAL)),), measures=(CountRows(),)
            )
            assert compute(plan, {"t": table}, salt=SALT)[CountRows()].tolist() == [1] * len(SPECIAL)
            assert {name: one.conf.get(name) for name in hostile} == hostile
    finally:
        for name, value in before.items():
            session.conf.set(name, value)


def test_a_table_of_spark_whose_name_would_be_replaced_is_refused(spark_engine):
    session = spark_engine.source(pyarrow.table({"x": [1]})).sparkSession
    backend = ibis.pyspark.connect(session)
    opened = ops.DatabaseTable(f"${{env:{SECRET}}}", ibis.schema({}), backend, ops.Namespace()).to_expr()
    with pytest.raises(ParameterError, match="in its name"):
        Table(opened, person=EACH_ROW)


def test_settings_of_a_connection_to_postgresql_do_not_matter(postgres):
    from psycopg.rows import dict_row

    with psycopg.connect(postgres, autocommit=True, row_factory=dict_row) as connection:
        connection.execute('CREATE SCHEMA "odd"')
        connection.execute("CREATE FUNCTION odd.md5(text) RETURNS text LANGUAGE sql AS 'SELECT ''0'''")
        connection.execute("CREATE TEMPORARY TABLE t (text text, x float8)")
        with connection.cursor() as cursor, cursor.copy("COPY t FROM STDIN") as copy:
            for place, text in enumerate(SPECIAL):
                copy.write_row((text, place + 0.1))
        backend = ibis.postgres.from_connection(connection)
        opened = ops.DatabaseTable("t", ibis.schema({}), backend, ops.Namespace()).to_expr()
        table = Table(opened, person=EACH_ROW, columns={"text": Keys(SPECIAL)})
        for setting in (
            "standard_conforming_strings = off",
            "client_encoding = 'LATIN1'",
            "extra_float_digits = -15",
            "transform_null_equals = on",
            "search_path = odd, pg_catalog",
            "TimeZone = 'Asia/Taipei'",
        ):
            connection.execute(f"SET {setting}")
        plan = Group(
            source=SOURCE, keys=(GroupKey(column="text", values=Keys(SPECIAL)),), measures=(CountRows(),)
        )
        assert compute(plan, {"t": table}, salt=SALT)[CountRows()].tolist() == [1] * len(SPECIAL)
        found = fetch(table._relation, table._backend)
        assert sorted(found["x"].to_pylist()) == [place + 0.1 for place in range(len(SPECIAL))]
        # The literals alone are safe too, should the setting not hold.
        statement = sql_of(
            table._relation.filter(table._relation["text"].isin(SPECIAL)).count().as_table(), backend
        )
        connection.execute("SET client_encoding = 'UTF8'")
        [counted] = connection.execute(statement.encode()).fetchone().values()
        assert counted == len(SPECIAL)
        connection.execute("DROP SCHEMA odd CASCADE")


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
@pytest.mark.parametrize(
    "setting",
    [
        "default_collation = 'nocase'",
        "default_null_order = 'nulls_first'",
        "default_order = 'desc'",
        "integer_division = true",
        "ieee_floating_point_ops = false",
        "TimeZone = 'Asia/Taipei'",
    ],
)
def test_a_connection_to_duckdb_with_other_settings_is_refused(setting):
    connection = ibis.duckdb.connect()
    connection.raw_sql("CREATE TABLE t AS SELECT 'a' AS x")
    table = Table(connection.table("t"), person=EACH_ROW)
    assert len(fetch(table._relation, table._backend)) == 1
    connection.raw_sql("SET threads = 1")
    connection.raw_sql(f"SET {setting}")
    with pytest.raises(ParameterError, match=f"sets {setting.split()[0]}"):
        Table(connection.table("t"), person=EACH_ROW)
    with pytest.raises(EngineFailed):
        fetch(table._relation, table._backend)


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
@pytest.mark.parametrize(
    "macro", ["sum(x) AS count(x)", "MD5(x) AS 'a'", '"||"(x, y) AS x', "nullif(x, y) AS x", "strlen(x) AS 1"]
)
def test_a_connection_to_duckdb_with_macros_in_place_of_functions_is_refused(macro):
    """A macro comes before the function of its name: a sum of 5 would be 1, and every text short."""
    connection = ibis.duckdb.connect()
    connection.raw_sql("CREATE TABLE t AS SELECT 1 AS p, 'a' AS x")
    connection.raw_sql("CREATE MACRO of_my_own(x) AS x + 1")
    table = Table(connection.table("t"), person="p", limits=Limits(rows=1))
    ahead = Table(connection.table("t"), person="p", limits=Limits(rows=1), prepare=True)
    assert len(fetch(table._relation, table._backend)) == 1
    connection.raw_sql(f"CREATE TEMP MACRO {macro}")
    with pytest.raises(ParameterError, match="macros in place of"):
        Table(connection.table("t"), person="p", limits=Limits(rows=1))
    with pytest.raises(EngineFailed):
        fetch(table._relation, table._backend)
    with pytest.raises(EngineFailed):
        ahead.prepare()


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
def test_a_table_is_not_prepared_under_other_settings():
    connection = ibis.duckdb.connect()
    connection.raw_sql("CREATE TABLE t AS SELECT 1 AS p, 'a' AS x")
    table = Table(connection.table("t"), person="p", limits=Limits(rows=1), prepare=True)
    connection.raw_sql("SET default_collation = 'nocase'")
    with pytest.raises(EngineFailed):
        table.prepare()


def test_public_texts_that_an_engine_does_not_hold_are_refused():
    for text in ("a\0b", "\0"):
        with pytest.raises(ParameterError, match="NUL"):
            PublicTable(pyarrow.table({"x": [text, "b"]}))
