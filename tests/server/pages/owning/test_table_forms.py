"""What is typed about a table, read as it was meant."""

from __future__ import annotations

import pytest

from discreet.server.catalogue import ServiceRefusal
from discreet.server.pages.owning.table_forms import TABLE_FIELDS, source_of, table_of

EMPTY = dict.fromkeys(TABLE_FIELDS, "")
STATED = {**EMPTY, "source": "file:a.csv", "name": " stays ", "person": "column:who", "confirmed": "yes"}


def test_a_source_is_a_file_or_a_variable():
    assert source_of({**EMPTY, "source": "file:a/b.parquet"}) == {"file": "a/b.parquet", "csv": None}
    assert source_of({**EMPTY, "source": "variable:STAYS"}) == {"variable": "STAYS", "csv": None}
    form = {"csv_delimiter": "tab", "csv_decimal": ",", "csv_thousands": " ", "first_line": "names"}
    assert source_of({**EMPTY, "source": "file:a.csv", **form})["csv"] == {
        "delimiter": "\t",
        "decimal": ",",
        "thousands": " ",
        "first_line_has_names": True,
    }
    named = {"first_line": "values", "names": "a, b\nc"}
    assert source_of({**EMPTY, "source": "file:a.csv", **named})["csv"] == {"names": ["a", "b", "c"]}


def test_columns_are_declared_by_kind():
    columns = {
        "a": ("bounds", "-5 .. 5, 0.1"),
        "b": ("keys", 'x\ny, "z, w"'),
        "c": ("numbered", "1, 2"),
        "d": ("dates", "2020-01-01 to 2024-12-31"),
        "e": ("float", "ignored"),
        "f": ("", "ignored"),
    }
    fields = {
        f"{what}{place}": one
        for place, (name, stated) in enumerate(columns.items())
        for what, one in zip(("column", "kind", "stated"), (name, *stated), strict=True)
    }
    found = table_of({**STATED, **fields, "rows": "3"})
    assert (found["name"], found["person"], found["rows"], found["version"]) == ("stays", "who", 3, "1")
    assert found["columns"] == {
        "a": {"lower": "-5", "upper": "5", "step": "0.1"},
        "b": {"keys": ["x", "y", "z, w"], "numbered": False},
        "c": {"keys": ["1", "2"], "numbered": True},
        "d": {"first": "2020-01-01", "last": "2024-12-31"},
        "e": {"type": "float"},
    }


def test_each_row_may_be_a_person():
    found = table_of({**STATED, "person": "row:", "rows": "3"})
    assert found["person"] is None
    assert "rows" not in found


@pytest.mark.parametrize(
    "more",
    [
        {"source": "file:"},
        {"source": "folder:x"},
        {"person": ""},
        {"person": "nobody:"},
        {"confirmed": ""},
        {"rows": "1.5"},
        {"rows": "9" * 10},
        {"column0": "a", "kind0": "bounds", "stated0": "1"},
        {"column0": "a", "kind0": "bounds", "stated0": "1,2,3,4"},
        {"column0": "a", "kind0": "lists", "stated0": "1"},
    ],
)
def test_what_is_not_meant_so_is_malformed(more):
    with pytest.raises(ServiceRefusal) as refused:
        table_of({**STATED, **more})
    assert refused.value.code == "malformed"
