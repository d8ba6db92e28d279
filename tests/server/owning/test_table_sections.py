"""What is stated of a table becomes TOML that says exactly this; names and types are read, values never."""

from __future__ import annotations

import tomllib

import pytest

from canary import DATA_NUMBER, DATA_TEXT, private
from discreet.data import Type
from discreet.errors import ParameterError
from discreet.server.owning.table_sections import described, section_text
from server.owning.clinic import HEADER, RECORDS, SOURCE, column, options_of, stated


def written(directory, **more):
    text = section_text(stated(**more), options_of(directory), directory / "clinic.toml")
    return text, tomllib.loads(text)["tables"]["stays"]


def test_names_and_types_are_read_and_no_value(kept):
    options = options_of(kept)
    records = described({**SOURCE, "file": "stays.csv", "csv": HEADER}, options)
    assert records == dict.fromkeys(("patient_id", "ward", "nights"), Type.TEXT)
    columns = described({**SOURCE, "file": "more/stays.parquet"}, options)
    assert columns == {"patient_id": Type.INTEGER, "ward": Type.TEXT, "nights": Type.INTEGER}


def test_S5_S8_neighbors_have_the_same_schema(tmp_path):
    for name, more in {"one": "", "other": f"9,{DATA_TEXT},{DATA_NUMBER}\nx,inf\n\x00,,,,\n"}.items():
        private(tmp_path / f"{name}.csv").write_text(RECORDS + more)
    options = options_of(tmp_path, folder=str(tmp_path))
    found = [
        described({**SOURCE, "file": f"{name}.csv", "csv": HEADER}, options) for name in ("one", "other")
    ]
    assert found[0] == found[1]


def test_the_first_line_is_taken_for_names_only_if_the_owner_says_so(tmp_path):
    private(tmp_path / "values.csv").write_text(f"{DATA_TEXT},{DATA_NUMBER}\n")
    options = options_of(tmp_path, folder=str(tmp_path))
    source = {**SOURCE, "file": "values.csv"}
    for csv in (None, {}, {"first_line_has_names": False}, {"names": ["a", "b"], **HEADER}):
        with pytest.raises(ParameterError, match="what the first line holds") as caught:
            described({**source, "csv": csv}, options)
        assert DATA_TEXT not in str(caught.value)
    assert list(described({**source, "csv": {"names": ["a", "b"]}}, options)) == ["a", "b"]


def test_a_section_says_what_was_stated(kept):
    columns = {
        "nights": column(lower="0", upper="365"),
        "ward": column(keys=['no"rth', "so\\uth"], null_key=True),
    }
    text, found = written(kept, columns=columns)
    assert found == {
        "source": "data/stays.csv",
        "person": "patient_id",
        "limits": {"rows": 3},
        "version": "1",
        "columns": {
            "nights": {"lower": 0, "upper": 365},
            "ward": {"keys": ['no"rth', "so\\uth"], "null_key": True},
        },
    }
    assert "FILL IN" not in text


def test_all_kinds_of_columns_limits_and_files(kept):
    form = {
        "delimiter": ";",
        "decimal": ",",
        "dates": "%d.%m.%Y",
        "encoding": None,
        "names": ["patient_id", "b"],
    }
    columns = {
        "b": column(keys=["1", "-2", "x"], numbered=True),
        "patient_id": column(type="text"),
    }
    _, found = written(kept, csv=form, columns=columns, rows=None, groups=2, rows_per_group=1, prepare=True)
    assert found["csv"] == {name: one for name, one in form.items() if one}
    assert found["columns"] == {"b": {"keys": [1, -2, "x"]}, "patient_id": {"type": "text"}}
    assert (found["limits"], found["prepare"]) == ({"groups": 2, "rows_per_group": 1}, True)
    _, found = written(kept, person=None, columns={"nights": column(first="2020-01-01", last="2024-12-31")})
    assert found["each_row"] is True
    assert "limits" not in found
    assert str(found["columns"]["nights"]["dates"]["last"]) == "2024-12-31"
    _, found = written(kept, file="more/stays.parquet", csv=None, columns={"nights": column(keys=["1", "2"])})
    assert found["columns"]["nights"]["keys"] == [1, 2], "as the column holds them"


def test_S12_nothing_that_is_typed_becomes_another_line(kept):
    evil = 'x"\n[ledger]\nlocation = "other.ledger'
    columns = {
        evil: column(lower=evil, upper="1"),
        "ward": column(keys=[evil]),
        "nights": column(type=evil),
    }
    text, found = written(kept, person=evil, version=evil, columns=columns)
    assert tomllib.loads(text).keys() == {"tables"}
    assert found["person"] == evil
    assert found["columns"][evil]["lower"] == evil


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"name": "a.b"}, "not the name of a table"),
        ({"name": ""}, "not the name of a table"),
        ({"name": "visits]\n[ledger"}, "not the name of a table"),
        ({"file": None}, "both given or both missing"),
        ({"variable": "HOME"}, "both given or both missing"),
        ({"file": None, "variable": "HOME"}, "was not named"),
        ({"file": "../visits.csv"}, "not in the folder"),
        ({"columns": {"ward": column()}}, "declares nothing"),
        ({"columns": {"ward": column(first="yesterday")}}, "is not a day"),
    ],
)
def test_what_is_wrong_is_named(kept, more, words):
    with pytest.raises(ParameterError, match=words):
        written(kept, **more)


def test_a_database_is_named_by_its_variable(kept, monkeypatch):
    monkeypatch.setenv("STAYS", "postgresql://user:secret@127.0.0.1:1/clinic#stays")
    from discreet.server.owning import table_sections

    monkeypatch.setattr(table_sections, "described", lambda stated, options: {})
    table = stated(file=None, csv=None, variable="STAYS")
    text = section_text(table, options_of(kept, variables=("STAYS",)), kept / "clinic.toml")
    assert tomllib.loads(text)["tables"]["stays"]["source_env"] == "STAYS"
    assert "secret" not in text


def test_files_elsewhere_are_named_in_full(kept, tmp_path):
    (tmp_path / "a.csv").write_text(RECORDS)
    options = options_of(kept, folder=str(tmp_path))
    text = section_text(stated(file="a.csv"), options, kept / "clinic.toml")
    assert tomllib.loads(text)["tables"]["stays"]["source"] == str((tmp_path / "a.csv").resolve())
