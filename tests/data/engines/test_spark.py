"""Tables of Spark: frames, types by rule, and settings that are put back."""

from __future__ import annotations

import datetime
from decimal import Decimal

import ibis
import pyarrow
import pytest

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
from discreet.data.compile.expressions import compile_expression
from discreet.data.engines.base import fetch
from discreet.data.engines.spark import own_session
from discreet.data.language.relations import Equality, JoinPublic
from discreet.data.tables.public_table import PublicTable
from discreet.errors import EngineFailed, ParameterError

SALT = Salt(value="5a17")
SOURCE = Source(table="t")
COUNT = Group(source=SOURCE, measures=(CountRows(),))


@pytest.fixture
def session(spark_engine):
    return spark_engine.source(pyarrow.table({"x": [1]})).sparkSession


def counted(table):
    return compute(COUNT, {"t": table}, salt=SALT)[CountRows()].tolist()


def truths(table, *formulas):
    rows = table._relation
    makers = {
        f"c{place}": compile_expression(formula.expression, rows) for place, formula in enumerate(formulas)
    }
    found = fetch(rows.select(**makers), table._backend)
    return [found[name].to_pylist() for name in makers]


def test_frames_views_and_tables_of_ibis(session):
    frame = session.sql("SELECT * FROM VALUES (1, 'a'), (1, 'b'), (2, 'c') AS t (id, city)")
    frame.createOrReplaceTempView("visits")
    backend = ibis.pyspark.connect(session)
    for source in (frame, backend.table("visits")):
        table = Table(source, person="id", limits=Limits(rows=1))
        assert counted(table) == [2]
        assert dict(table.schema) == {"id": Type.INTEGER, "city": Type.TEXT}
    with pytest.raises(ParameterError, match="a table itself"):
        Table(backend.table("visits").distinct(), person="id", limits=Limits(rows=1))
    session.catalog.dropTempView("visits")


def test_types_are_read_by_rule(session):
    frame = session.sql(
        "SELECT true AS b, 1Y AS i, 1.5F AS f, 1.25BD AS d, date'2026-01-01' AS e, array(1) AS l, "
        "timestamp_ntz'2026-01-01 12:00:00' AS n, timestamp'2026-01-01 12:00:00 UTC' AS z, "
        "cast('x' AS binary) AS y, map('a', 1) AS m, interval '1' day AS v, null AS u"
    )
    table = Table(frame, person=EACH_ROW)
    kinds = "boolean integer float decimal date other timestamp instant other other other other"
    assert [kind.value for kind in table.schema.values()] == kinds.split()
    noon = datetime.datetime(2026, 1, 1, 12)
    assert truths(
        table,
        col("n") == noon,
        col("z") == noon.replace(tzinfo=datetime.UTC),
        col("l").is_null(),
        col("u").is_null(),
        col("d") == 1.25,
    ) == [[True], [True], [False], [True], [True]]
    assert len(table._rows()) == 1


def test_nan_is_a_value_and_infinity_is_infinite(session):
    frame = session.sql(
        "SELECT * FROM VALUES (double('NaN')), (double('-Infinity')), (NULL), (1.0D) AS t (x)"
    )
    bounds = Bounds(0, 5, step=0.5, nan=2, infinity=3)
    table = Table(frame, person=EACH_ROW, columns={"x": bounds})
    assert truths(table, col("x").is_null(), col("x") > 1e308) == [
        [False, False, True, False],
        [True, False, None, False],
    ]
    plan = Group(source=SOURCE, measures=(Sum(column="x", bounds=bounds),))
    assert compute(plan, {"t": table}, salt=SALT).values[0].tolist() == [2 * (2 + 3 + 1)]


def test_collations_and_padding_change_nothing(session, tmp_path):
    frame = session.sql(
        "SELECT collate(id, 'UTF8_LCASE') AS id, collate(id, 'UNICODE_CI') AS city "
        "FROM VALUES ('Ada'), ('ada'), ('ADA'), ('Ada') AS t (id)"
    )
    keys = Keys(["ada", "Ada", "ADA "])
    table = Table(frame, person="id", limits=Limits(rows=1), columns={"city": keys})
    plan = Group(source=SOURCE, keys=(GroupKey(column="city", values=keys),), measures=(CountRows(),))
    assert compute(plan, {"t": table}, salt=SALT)[CountRows()].tolist() == [1, 1, 0]
    session.sql(f"CREATE TABLE padded (c char(5), v varchar(5)) USING parquet LOCATION '{tmp_path}/padded'")
    session.sql("INSERT INTO padded VALUES ('ab', 'ab'), ('ab   ', 'ab '), ('', '')")
    padded = Table(ibis.pyspark.connect(session).table("padded"), person=EACH_ROW)
    found = truths(padded, col("c") == "ab", col("v") == "ab", col("c") == "")
    assert sorted(zip(*found, strict=True)) == [
        (False, False, True),
        (True, False, False),
        (True, True, False),
    ]
    session.sql("DROP TABLE padded")


def test_settings_are_put_back(session):
    before = {"spark.sql.session.timeZone": "Asia/Taipei", "spark.sql.ansi.enabled": "true"}
    frame = session.createDataFrame(pyarrow.table({"x": [1], "X y": [2]}))
    table = Table(frame, person=EACH_ROW)
    for name, value in before.items():
        session.conf.set(name, value)
    assert counted(table) == [1]
    assert {name: session.conf.get(name) for name in before} == before
    with pytest.raises(EngineFailed):
        fetch(table._relation.mutate(y=ibis.literal("x").cast("int64").cast("array<int64>")), table._backend)
    assert {name: session.conf.get(name) for name in before} == before


def test_our_session_is_never_the_active_one(session):
    """Code that changes the settings of the active session would change ours."""
    table = Table(session.createDataFrame(pyarrow.table({"x": ["a", "b"]})), person=EACH_ROW)
    names = PublicTable(pyarrow.table({"x": ["a"], "y": ["b"]}))
    joined = JoinPublic(source=SOURCE, table="names", on=(Equality(left="x", right="x"),))
    plan = Group(source=joined, measures=(CountRows(),))
    before = type(session).getActiveSession()
    assert compute(plan, {"t": table, "names": names}, salt=SALT)[CountRows()].tolist() == [1]
    after = type(session).getActiveSession()
    assert after is before
    assert after is not own_session(session)


def test_settings_of_our_session_are_set_before_every_statement(session):
    table = Table(session.createDataFrame(pyarrow.table({"x": ["a", "2"]})), person=EACH_ROW)
    for name, value in (
        ("ansi.enabled", "true"),
        ("variable.substitute", "true"),
        ("caseSensitive", "false"),
    ):
        own_session(session).conf.set(f"spark.sql.{name}", value)
    assert truths(table, col("x").cast("integer") == 2) == [[None, True]]
    assert own_session(session).conf.get("spark.sql.variable.substitute") == "false"


def test_rules_of_the_optimizer_that_a_user_excluded_stay_so(session):
    name, rules = "spark.sql.optimizer.excludedRules", "org.apache.spark.sql.catalyst.optimizer."
    other = session.newSession()
    other.conf.set(name, f"{rules}ColumnPruning")
    assert own_session(other).conf.get(name) == f"{rules}ColumnPruning,{rules}ConvertToLocalRelation"
    assert own_session(session).conf.get(name) == f"{rules}ConvertToLocalRelation"


def test_names_that_differ_in_case_only_are_refused(session):
    session.conf.set("spark.sql.caseSensitive", "true")
    frame = session.createDataFrame(pyarrow.table({"x": [1], "X": [2]}))
    with pytest.raises(ParameterError, match="apart from case"):
        Table(frame, person=EACH_ROW)
    session.conf.set("spark.sql.caseSensitive", "false")


def test_persons_of_decimals_are_spelled_out(session):
    """Spark writes small decimals with an exponent; persons must be spelled as on every engine."""
    numbers = [Decimal("0.000001"), Decimal("1.500000")]
    frame = session.createDataFrame(
        pyarrow.table({"id": pyarrow.array(numbers * 3, pyarrow.decimal128(12, 6)), "x": range(6)})
    )
    embedded = pyarrow.table({"id": pyarrow.array(numbers * 3, pyarrow.decimal128(12, 6)), "x": range(6)})
    plan = Group(source=SOURCE, measures=(Sum(column="x", bounds=Bounds(0, 9)),))
    found = [
        compute(
            plan,
            {"t": Table(source, person="id", limits=Limits(rows=1), columns={"x": Bounds(0, 9)})},
            salt=SALT,
        )
        .values[0]
        .tolist()
        for source in (frame, embedded)
    ]
    assert found[0] == found[1]


def test_nothing_stays_behind(session):
    frame = session.createDataFrame(pyarrow.table({"x": [5]}))
    keys = Keys(range(1000))
    table = Table(frame, person=EACH_ROW, columns={"x": keys})
    plan = Group(source=SOURCE, keys=(GroupKey(column="x", values=keys),), measures=(CountRows(),))
    before = {view.name for view in session.catalog.listTables()}
    assert compute(plan, {"t": table}, salt=SALT)[CountRows()].sum() == 1
    assert {view.name for view in session.catalog.listTables()} == before
