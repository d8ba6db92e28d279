"""Which files may be named: those of one folder, by their place in its list, and no others."""

from __future__ import annotations

import pytest

from discreet.errors import ParameterError
from discreet.server.owning.owner_options import OwnerOptions, is_csv
from server.owning.clinic import options_of

OUTSIDE = [
    "../visits.csv",
    "more/../../visits.csv",
    "/etc/passwd",
    "link.csv",
    "out/visits.csv",
    ".hidden.csv",
    "notes.md",
    "stays.csv\0",
    "./stays.csv",
    "more//stays.parquet",
    "STAYS.CSV",
    "more",
    "*.csv",
    "",
    "~root/x.csv",
    "file:///etc/passwd",
    "http://127.0.0.1/x.csv",
]


def test_files_below_the_folder_are_listed_and_links_are_not_followed(kept):
    assert options_of(kept).files() == ["more/stays.parquet", "stays.csv"]
    assert OwnerOptions().files() == []


@pytest.mark.parametrize("name", OUTSIDE)
def test_S12_no_name_leads_out_of_the_folder(kept, name):
    with pytest.raises(ParameterError, match="not in the folder"):
        options_of(kept).file(name)


def test_S12_control_joining_paths_would_lead_out(kept):
    """The names above are ways out of a folder that is joined with them."""
    led_out = [
        name for name in OUTSIDE[:5] if not (kept / "data" / name).resolve().is_relative_to(kept / "data")
    ]
    assert led_out == OUTSIDE[:5]


def test_a_file_of_the_list_is_where_it_is(kept):
    assert options_of(kept).file("more/stays.parquet") == (kept / "data/more/stays.parquet").resolve()
    with pytest.raises(ParameterError):
        OwnerOptions().file("stays.csv")


def test_the_list_is_bounded(tmp_path):
    deep = tmp_path
    for name in "abcde":
        deep /= name
        deep.mkdir()
        (deep / "x.csv").touch()
    assert OwnerOptions(folder=str(tmp_path)).files() == ["a/b/c/x.csv", "a/b/x.csv", "a/x.csv"]
    for number in range(1100):
        (tmp_path / f"{number}.csv").touch()
    assert len(OwnerOptions(folder=str(tmp_path)).files()) == 1000


def test_a_folder_and_variables_must_be_what_they_are_said_to_be(kept, monkeypatch):
    with pytest.raises(ParameterError, match="is not a folder"):
        OwnerOptions(folder=str(kept / "clinic.toml"))
    monkeypatch.setenv("STAYS", "postgresql://host/clinic#stays")
    assert OwnerOptions(variables=("STAYS",)).variable("STAYS") == "postgresql://host/clinic#stays"
    for name, value in {"STAYS": "/etc/passwd", "OTHER": "postgresql://host/clinic", "NONE": ""}.items():
        monkeypatch.setenv(name, value)
        with pytest.raises(ParameterError, match="address of a table"):
            OwnerOptions(variables=(name,))
    with pytest.raises(ParameterError, match="was not named"):
        OwnerOptions().variable("HOME")


def test_records_are_told_from_columns():
    assert is_csv("a/b.csv.gz")
    assert is_csv("b.TSV")
    assert not is_csv("b.parquet")
