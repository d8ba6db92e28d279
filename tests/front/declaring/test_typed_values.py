"""Values typed as text become values of their column's type; mappings come from CSV files."""

import datetime
from fractions import Fraction

import pytest

from discreet.data import Bounds, Dates, Keys, Type
from discreet.errors import ParameterError
from discreet.front.declaring.typed_values import mapping_in_file, typed_value

DAY = datetime.date(2020, 2, 29)


@pytest.mark.parametrize(
    ("text", "declared", "value"),
    [
        ("", None, None),
        ("x", None, "x"),
        ("x", Keys(["x"]), "x"),
        ("3", Keys([3]), 3),
        ("true", Keys([True]), True),
        ("2020-02-29", Keys([DAY]), DAY),
        ("2020-02-29", Dates(DAY, DAY), DAY),
        ("0.1", Bounds(0, 1, step="0.1"), Fraction(1, 10)),
        ("7", Type.INTEGER, 7),
    ],
)
def test_types_follow_from_declarations(text, declared, value):
    found = typed_value(text, declared)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("zzz", Keys([3])),
        ("3.5", Keys([3])),
        ("maybe", Keys([True])),
        ("2020-13-01", Keys([DAY])),
        ("zzz", Bounds(0, 9)),
    ],
)
def test_other_types_are_refused_without_repeating_the_value(text, declared):
    with pytest.raises(ParameterError) as found:
        typed_value(text, declared)
    assert text not in str(found.value)


def test_mappings_in_files(tmp_path):
    file = tmp_path / "zip.csv"
    file.write_text("zip,size,city\n100,1.5,a\n,2,\n")
    columns = {"zip": Keys([100]), "size": Bounds(0, 9, step="0.5")}
    assert mapping_in_file(file, "size", "zip", columns) == {100: 1.5, None: 2}
    assert mapping_in_file(file, "city", "zip", columns) == {100: "a", None: None}
    file.write_text("zip,city\n100,a\n100,b\n")
    with pytest.raises(ParameterError, match="twice"):
        mapping_in_file(file, "city", "zip", columns)
    with pytest.raises(ParameterError, match="ending"):
        mapping_in_file(tmp_path / "zip.txt", "city", "zip", columns)
    file.write_bytes(b"zip,city\n100,\xff\n")
    with pytest.raises(ParameterError, match="cannot be read"):
        mapping_in_file(file, "city", "zip", columns)
