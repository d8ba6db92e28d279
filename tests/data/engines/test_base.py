from __future__ import annotations

import threading
import traceback

import ibis
import ibis.expr.datatypes as dt
import pyarrow
import pytest

from canary import DATA_TEXT
from discreet.data import EACH_ROW, CountRows, Group, Salt, Source, Table, Type, compute
from discreet.data.engines.base import double, fetch, guarded, public_type
from discreet.errors import EngineFailed, ParameterError

CANARY = DATA_TEXT


def test_what_an_engine_says_goes_no_further():
    table = Table(pyarrow.table({"name": [CANARY]}), person=EACH_ROW)
    rows = table._relation
    failing = rows.select(number=rows["name"].cast("int64"))
    with pytest.raises(EngineFailed) as failure:
        fetch(failing, table._backend)
    assert failure.value.__context__ is None
    assert failure.value.__cause__ is None
    assert CANARY not in "".join(traceback.format_exception(failure.value))
    with pytest.raises(Exception, match=CANARY):  # the engine itself does tell
        table._backend.to_pyarrow(failing)


def test_guarded_work_that_succeeds_is_returned():
    assert guarded(lambda: 3, EngineFailed) == 3


@pytest.mark.parametrize(
    "number", [0.1, 0.1234567890123456789, 1e-7, 5e-324, 1.7976931348623157e308, 2.0**53 + 2]
)
def test_doubles_reach_the_engine_to_the_last_bit(number):
    table = Table(pyarrow.table({"x": [number]}), person=EACH_ROW)
    found = fetch(table._relation.select(x=double(number)), table._backend)
    assert found["x"].to_pylist() == [number]


def test_types_as_requests_know_them():
    for kind, found in {
        "uint8": Type.INTEGER,
        "float32": Type.FLOAT,
        "decimal(9, 2)": Type.DECIMAL,
        "string": Type.TEXT,
        "boolean": Type.BOOLEAN,
        "date": Type.DATE,
        "timestamp": Type.TIMESTAMP,
        "timestamp('UTC')": Type.INSTANT,
        "binary": Type.OTHER,
        "array<int64>": Type.OTHER,
        "time": Type.OTHER,
        "interval('s')": Type.OTHER,
    }.items():
        assert public_type(dt.dtype(kind)) is found


def test_other_engines_are_refused_by_name():
    with pytest.raises(ParameterError, match="is not bound to an engine"):
        Table(ibis.table({"a": "int64"}, name="unbound"), person=EACH_ROW)


def test_one_table_serves_several_threads():
    table = Table(pyarrow.table({"x": list(range(1000))}), person=EACH_ROW)
    plan = Group(source=Source(table="t"), measures=(CountRows(),))
    found = []

    def ask():
        found.append(int(compute(plan, {"t": table}, salt=Salt(value="0"))[CountRows()][0]))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1000] * 8
