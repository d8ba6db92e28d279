from __future__ import annotations

import copy
import datetime
import json
import pickle

import ibis
import pyarrow
import pytest

from canary import DATA_NUMBER, DATA_TEXT
from discreet.data import (
    EACH_ROW,
    Bounds,
    CountRows,
    Dates,
    Group,
    Keys,
    Limits,
    Salt,
    Source,
    Table,
    Type,
    compute,
)
from discreet.errors import ParameterError

CANARY = DATA_TEXT
FRAME = pyarrow.table(
    {
        "id": pyarrow.array([1, 2], pyarrow.int64()),
        "name": [CANARY, "b"],
        "age": pyarrow.array([DATA_NUMBER, 3], pyarrow.int64()),
        "cost": [1.5, 2.5],
        "flag": [True, None],
        "tags": [[1], []],
    }
)
ONE = Limits(rows=1)

ibis_warns = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


def test_a_table_shows_what_was_declared_and_nothing_else():
    table = Table(FRAME, person="id", limits=ONE, columns={"age": Bounds(0, 110), "flag": Bounds(0, 1)})
    assert repr(table) == (
        "Table(person='id', limits=Limits(rows=1), columns={'age': Bounds(0, 110, step=1), "
        "'flag': Bounds(0, 1, step=1)}, version='1')"
    )
    assert "limits" not in repr(Table(FRAME, person=EACH_ROW))
    assert str(DATA_NUMBER) not in str(table) + repr(vars(type(table)))
    assert table.schema["tags"] is Type.OTHER


def test_declarations_are_plain_json():
    columns = {"age": Bounds(0, 110), "name": Keys(["a", None]), "flag": Type.BOOLEAN}
    table = Table(FRAME, person="id", limits=Limits(groups=2, rows_per_group=3), columns=columns)
    assert json.loads(json.dumps(table.declaration)) == table.declaration
    assert table.declaration["limits"] == {"rows": None, "groups": 2, "rows_per_group": 3}
    assert table.declaration["columns"]["name"]["values"] == ["a", None]
    assert table.declaration["columns"]["flag"] == "boolean"
    assert Table(FRAME, person=EACH_ROW).declaration["person"] is None


def test_a_table_cannot_be_copied_or_pickled():
    table = Table(FRAME, person=EACH_ROW)
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="private rows"):
            attempt(table)


@pytest.mark.parametrize(
    ("options", "parameter", "says"),
    [
        ({"person": "idd"}, "person", "'id'"),
        ({"person": "cost"}, "person", "float"),
        ({"person": "flag"}, "person", "boolean"),
        ({"person": "tags"}, "person", "other"),
        ({"person": ""}, "person", "EACH_ROW"),
        ({"person": None}, "person", "EACH_ROW"),
        ({"person": 3}, "person", "EACH_ROW"),
        ({"limits": None}, "limits", "required"),
        ({"limits": 10}, "limits", "of another type"),
        ({"person": EACH_ROW}, "limits", "each row is a person"),
        ({"columns": {"agee": Bounds(0, 1)}}, "columns", "'age'"),
        ({"columns": {"name": Bounds(0, 1)}}, "columns", "text"),
        ({"columns": {"tags": Bounds(0, 1)}}, "columns", "other"),
        ({"columns": {"cost": Bounds(0, 1)}}, "columns", "step=1 to round"),
        ({"columns": {"age": Keys(["x"])}}, "columns", "'age' as text, but it is of type integer"),
        ({"columns": {"cost": Keys([1])}}, "columns", "float"),
        ({"columns": {"age": Type.TEXT}}, "columns", "integer"),
        ({"columns": {"age": (0, 110)}}, "columns", "Bounds"),
        ({"columns": {"age": Type.OTHER}}, "columns", "Bounds"),
        ({"columns": {3: Bounds(0, 1)}}, "columns", "text"),
        ({"columns": ["age"]}, "columns", "dict"),
        ({"columns": {"id": Keys([1])}}, "columns", "person"),
        ({"version": ""}, "version", "2026"),
        ({"version": 3}, "version", "2026"),
    ],
)
def test_wrong_declarations_are_refused_before_there_is_a_budget(options, parameter, says):
    with pytest.raises(ParameterError) as refusal:
        Table(FRAME, **{"person": "id", "limits": ONE, **options})
    assert refusal.value.parameter == parameter
    assert says in str(refusal.value)
    assert str(DATA_NUMBER) not in str(refusal.value)


def test_refusals_do_not_depend_on_rows():
    messages = set()
    for frame in (FRAME, FRAME.slice(0, 0), FRAME.slice(1)):
        with pytest.raises(ParameterError) as refusal:
            Table(frame, person="id", limits=ONE, columns={"name": Bounds(0, 1)})
        messages.add(str(refusal.value))
    assert len(messages) == 1


@ibis_warns
def test_an_ibis_table_is_used_as_it_is():
    connection = ibis.duckdb.connect()
    rows = connection.create_table("visits", FRAME)
    table = Table(rows, person="id", limits=ONE)
    plan = Group(source=Source(table="t"), measures=(CountRows(),))
    assert compute(plan, {"t": table}, salt=Salt(value="0"))[CountRows()].tolist() == [2]


@ibis_warns
@pytest.mark.parametrize(
    "derive",
    [
        lambda rows: rows.limit(1),
        lambda rows: rows.distinct(),
        lambda rows: rows.filter(rows["age"] == rows["age"].max()),
        lambda rows: rows.order_by("age"),
        lambda rows: rows.union(rows),
    ],
)
def test_expressions_in_which_people_affect_each_other_are_refused(derive):
    rows = ibis.duckdb.connect().create_table("visits", FRAME)
    with pytest.raises(ParameterError, match="a table itself"):
        Table(derive(rows), person="id", limits=ONE)


def test_rows_for_trusted_code_are_those_that_belong_to_somebody():
    frame = pyarrow.table({"id": pyarrow.array([1, None], pyarrow.int64()), "x": [CANARY, "nobody's"]})
    assert Table(frame, person="id", limits=ONE)._rows().to_pylist() == [{"id": 1, "x": CANARY}]
    assert Table(frame, person=EACH_ROW)._rows().num_rows == 2


@ibis_warns
def test_identifiers_become_text():
    connection = ibis.duckdb.connect()
    connection.raw_sql("CREATE TABLE visits AS SELECT uuid() AS id, 1 AS x FROM range(3)")
    table = Table(connection.table("visits"), person="id", limits=ONE)
    assert table.schema["id"] is Type.TEXT


def test_a_person_column_that_pandas_made_floats_of():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"id": [1, 2, None], "age": [3, 4, 5]})
    with pytest.raises(ParameterError, match=r"column of type float; allowed: .*\.astype\('Int64'\)"):
        Table(frame, person="id", limits=ONE)
    table = Table(frame.astype({"id": "Int64"}), person="id", limits=ONE)
    assert table.schema["id"] is Type.INTEGER
    with pytest.raises(ParameterError, match=r"type boolean; allowed: .*; convert it first"):
        Table(FRAME, person="flag", limits=ONE)


def test_days_are_declared_of_dates_and_times():
    moments = pyarrow.array([None], pyarrow.timestamp("us", "UTC"))
    days = Dates(datetime.date(2026, 1, 1), datetime.date(2026, 12, 31))
    frame = pyarrow.table({"day": pyarrow.array([None], pyarrow.date32()), "at": moments, "x": [1]})
    table = Table(frame, person=EACH_ROW, columns={"day": days, "at": days})
    assert table.columns["at"] == days
    with pytest.raises(ParameterError, match="a column of dates or times"):
        Table(frame, person=EACH_ROW, columns={"x": days})


def test_persons_of_long_fractions_are_refused():
    """Engines spell small decimals differently, and a person's lots depend on the spelling."""
    for scale, is_taken in ((0, True), (6, True), (7, False)):
        kind = pyarrow.decimal128(20, scale)
        frame = pyarrow.table({"id": pyarrow.array([None], kind)})
        if is_taken:
            Table(frame, person="id", limits=ONE)
        else:
            with pytest.raises(ParameterError, match="long fractions"):
                Table(frame, person="id", limits=ONE)
