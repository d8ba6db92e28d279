"""The same rows under other declarations."""

from __future__ import annotations

import pyarrow
import pytest

from discreet.data import EACH_ROW, Bounds, CountRows, Group, Keys, Limits, Salt, Source, Sum, Table, compute
from discreet.data.language.ownership import through
from discreet.data.tables.ownership import owned_tables
from discreet.data.tables.redeclared import redeclared
from discreet.errors import ParameterError

SALT = Salt(value="5a17")
COSTS = Bounds(0, 5, step=1)
PLAN = Group(source=Source(table="visits"), measures=(CountRows(), Sum(column="cost", bounds=COSTS)))


def visits(*, prepare=False):
    content = {"who": [n // 9 for n in range(45)], "cost": [float(n % 7) for n in range(45)]}
    return Table(pyarrow.table(content), person="who", limits=Limits(rows=6), prepare=prepare)


@pytest.mark.parametrize("prepare", [False, True])
def test_other_limits_and_columns_of_the_same_rows(prepare):
    first = visits(prepare=prepare)
    second = redeclared(first, limits=Limits(rows=2), columns={"cost": COSTS})
    assert compute(PLAN, {"visits": second}, salt=SALT)[CountRows()].tolist() == [10]
    assert second.declaration["limits"]["rows"] == 2
    assert first.declaration["limits"]["rows"] == 6
    assert "cost" not in first.columns


def test_what_does_not_suit_the_rows_is_refused():
    for columns in ({"none": COSTS}, {"cost": Keys(["a"])}, {"cost": 3}):
        with pytest.raises(ParameterError):
            redeclared(visits(), limits=Limits(rows=2), columns=columns)
    with pytest.raises(ParameterError):
        redeclared(visits(), limits=3, columns={})


def test_rows_that_belong_to_the_person_of_their_parent():
    """Both a parent and its child may be declared again, in any order."""
    orders = Table(pyarrow.table({"id": [1, 2, 3], "who": [1, 1, 2]}), person="who", limits=Limits(rows=9))
    items = Table(
        pyarrow.table({"id": [1, 1, 2, 3, 3], "cost": [1.0, 2.0, 3.0, 4.0, 5.0]}),
        person=through("orders", on="id"),
        limits=Limits(rows=9),
    )
    owned = owned_tables({"orders": orders, "visits": items})
    child = redeclared(owned["visits"], limits=Limits(rows=1), columns={"cost": COSTS})
    parent = redeclared(owned["orders"], limits=Limits(rows=2), columns={})
    for tables in ({**owned, "visits": child}, {"orders": parent, "visits": child}):
        again = owned_tables(tables)
        assert compute(PLAN, again, salt=SALT)[CountRows()].tolist() == [2]
    alone = redeclared(items, limits=Limits(rows=1), columns={"cost": COSTS})
    tables = owned_tables({"orders": orders, "visits": alone})
    assert compute(PLAN, tables, salt=SALT)[CountRows()].tolist() == [2]


def test_rows_that_are_persons_have_no_limits():
    first = Table(pyarrow.table({"cost": [1.0, 2.0]}), person=EACH_ROW)
    second = redeclared(first, limits=first.limits, columns={"cost": COSTS})
    assert compute(PLAN, {"visits": second}, salt=SALT)[CountRows()].tolist() == [2]
