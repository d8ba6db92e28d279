"""A table of a public number of rows: what is public about it, and which declarations are refused."""

from __future__ import annotations

import pandas as pd
import pytest

from discreet.data import Bounds, FixedTable, Keys, Type
from discreet.data.tables.fixed_table import LARGEST_ROWS
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import ParameterError
from discreet.privacy.neighbors import REPLACE_ROW

FRAME = pd.DataFrame({"age": [31, 45, 62], "city": ["Oslo", "Taipei", None]})
COLUMNS = {"age": Bounds(0, 110), "city": Keys(["Oslo", "Taipei"])}


def test_what_is_declared_is_recorded_with_its_relation():
    table = FixedTable(FRAME, rows=3, columns=COLUMNS)
    assert isinstance(table, RelatedTable)
    assert table.relation == REPLACE_ROW
    assert table.declaration["neighbors"] == "replace row"
    assert table.declaration["rows"] == 3
    assert table.declaration != FixedTable(FRAME, rows=4, columns=COLUMNS).declaration
    assert repr(table).startswith("FixedTable(rows=3, columns={'age': Bounds(0, 110, step=1)")


@pytest.mark.parametrize("rows", [0, -1, 2.5, True, None, "3", LARGEST_ROWS + 1])
def test_the_number_of_rows_is_a_number(rows):
    with pytest.raises(ParameterError, match="rows"):
        FixedTable(FRAME, rows=rows, columns=COLUMNS)


@pytest.mark.parametrize(
    "columns", [{}, {"age": Type.INTEGER}, {"pay": Bounds(0, 1)}, {"city": Bounds(0, 1)}, None]
)
def test_columns_are_numbers_and_keys(columns):
    with pytest.raises(ParameterError, match="columns"):
        FixedTable(FRAME, rows=3, columns=columns)


@pytest.mark.parametrize(("declared", "expected"), [(3, [0, 0]), (2, [1, 0]), (5, [0, 2])])
def test_the_owner_learns_how_many_rows_are_too_many_or_missing(declared, expected):
    found = FixedTable(FRAME, rows=declared, columns=COLUMNS).broken()
    assert (found.rows, list(found.reasons.values())) == (3, expected)
    assert found.is_clean == (declared == 3)
