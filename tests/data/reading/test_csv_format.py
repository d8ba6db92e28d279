"""CSV files as they come: marks, decimals, days, encodings, compression; nothing is guessed."""

from __future__ import annotations

import datetime
import gzip

import pytest

from discreet.data import Bounds, Csv, Dates, Limits, PublicTable, Table, Type
from discreet.data.engines.base import fetch
from discreet.errors import ParameterError

GERMAN = (
    "Fall;Ort;Kosten;Alter;Tag;Zeit\n"
    "a;Köln;1.234,50;73,0;31.01.2026;31.01.2026 08:30\n"
    "b;Nürnberg;-7,5;41;01.02.2026;01.02.2026 23:59\n"
    "c;München;12.5;12;2026-02-03;\n"
    "d;Fürth;;1,5x;31.02.2026;x\n"
)
COLUMNS = {
    "Kosten": Bounds(-10, 5000, step=0.01),
    "Alter": Bounds(0, 110),
    "Tag": Dates("2026-01-01", "2026-12-31"),
    "Zeit": Type.TIMESTAMP,
}
AS_WRITTEN = {
    "delimiter": ";",
    "decimal": ",",
    "thousands": ".",
    "encoding": "cp1252",
    "dates": "%d.%m.%Y",
    "times": "%d.%m.%Y %H:%M",
}


def rows(source, **columns):
    table = Table(source, person="Fall", limits=Limits(rows=1), columns=columns or COLUMNS)
    return fetch(table._relation, table._backend).to_pylist(), table


def test_a_german_file_is_read_as_stated(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_bytes(GERMAN.encode("cp1252"))
    found, table = rows(Csv(path, **AS_WRITTEN))
    assert [row["Ort"] for row in found] == ["Köln", "Nürnberg", "München", "Fürth"]
    assert [row["Kosten"] for row in found] == [1234.5, -7.5, None, None]
    assert [row["Alter"] for row in found] == [73, 41, 12, None]
    assert [row["Tag"] for row in found] == [
        datetime.date(2026, 1, 31),
        datetime.date(2026, 2, 1),
        None,
        None,
    ]
    assert [row["Zeit"] for row in found][:2] == [
        datetime.datetime(2026, 1, 31, 8, 30),
        datetime.datetime(2026, 2, 1, 23, 59),
    ]
    assert dict(table.lost().values) == {"Kosten": 1, "Alter": 1, "Tag": 2, "Zeit": 1}


def test_a_point_is_not_taken_for_a_comma(tmp_path):
    """Without `thousands`, 1.234 under a decimal comma is not a number, rather than one of two."""
    path = tmp_path / "v.csv"
    path.write_text("Fall;x\n1;1.234\n2;1,234\n")
    found, table = rows(Csv(path, delimiter=";", decimal=","), x=Bounds(0, 9999, step=0.001))
    assert [row["x"] for row in found] == [None, 1.234]
    assert table.lost().values["x"] == 1


def test_several_compressed_files_and_names(tmp_path):
    parts = []
    for number in range(3):
        parts.append(tmp_path / f"part{number}.tsv.gz")
        with gzip.open(parts[-1], "wb") as file:
            file.write(f"{number}\t{number + 10}\n{number + 3}\t1\n".encode())
    found, table = rows(Csv(*parts, names=["Fall", "x"]), x=Bounds(0, 99))
    assert sorted((row["Fall"], row["x"]) for row in found) == [
        ("0", 10), ("1", 11), ("2", 12), ("3", 1), ("4", 1), ("5", 1),
    ]  # fmt: skip
    assert table.lost().lines == 0


def test_letters_that_the_encoding_lacks_are_null(tmp_path):
    path = tmp_path / "v.csv"
    path.write_bytes(b"Fall,note\n1,a\x81b\n2,K\xf6ln\n")
    found, table = rows(Csv(path, encoding="cp1252"), note=Type.TEXT)
    assert [row["note"] for row in found] == [None, "Köln"]
    assert table.lost().values == {"note": 1}


def test_what_is_wrong_is_said_with_what_to_write(tmp_path):
    path = tmp_path / "v.csv"
    path.write_bytes(GERMAN.encode("cp1252"))
    with pytest.raises(ParameterError, match=r"delimiter=';'"):
        rows(path)
    (tmp_path / "h.csv").write_bytes("Fäll,x\n".encode("cp1252"))
    with pytest.raises(ParameterError, match="encoding='cp1252'"):
        rows(tmp_path / "h.csv")
    (tmp_path / "a.csv").write_text("Fall,x\n")
    (tmp_path / "b.csv").write_text("Fall,y\n")
    with pytest.raises(ParameterError, match="different columns"):
        rows(Csv(tmp_path / "a.csv", tmp_path / "b.csv"))
    (tmp_path / "c.csv.gz").write_bytes(b"not compressed")
    with pytest.raises(ParameterError, match="could not be read"):
        rows(tmp_path / "c.csv.gz")


@pytest.mark.parametrize(
    ("stated", "parameter"),
    [
        ({"delimiter": ":"}, "delimiter"),
        ({"decimal": "'"}, "decimal"),
        ({"thousands": "."}, "thousands"),
        ({"encoding": "utf-16"}, "encoding"),
        ({"encoding": "shift_jis"}, "encoding"),
        ({"encoding": "klingon"}, "encoding"),
        ({"dates": "%A"}, "dates"),
        ({"dates": "day"}, "dates"),
        ({"times": "%H:%M %Z"}, "times"),
        ({"dates": "%d.%m.%"}, "dates"),
    ],
)
def test_forms_that_are_not_read_are_refused(stated, parameter):
    with pytest.raises(ParameterError, match=f"^{parameter} "):
        Csv("visits.csv", **stated)


def test_files_need_a_known_ending():
    with pytest.raises(ParameterError, match="ending"):
        Csv("visits.xlsx")
    with pytest.raises(ParameterError, match="no files"):
        Csv()


def test_one_line_more_is_one_row_more_whatever_it_holds(tmp_path):
    """Every form reads a line by itself."""
    path = tmp_path / "v.csv"
    hostile = [b'x;"open', b"\xff;\x81;1,2.3,4;;;", b"z;a;b;c;99.99.9999;31.12.9999 24:00", b";;;;;"]
    path.write_bytes(GERMAN.encode("cp1252"))
    before, _ = rows(Csv(path, **AS_WRITTEN))
    for line in hostile:
        path.write_bytes(GERMAN.encode("cp1252") + line + b"\n")
        after, _ = rows(Csv(path, **AS_WRITTEN))
        assert [row for row in after if row["Fall"] in set("abcd")] == before


def test_public_tables_are_read_in_the_same_forms(tmp_path):
    path = tmp_path / "cities.csv"
    path.write_bytes("Ort;Land;Einwohner\nKöln;NRW;1,1\n".encode("cp1252"))
    table = PublicTable(Csv(path, delimiter=";", encoding="cp1252", decimal=","))
    assert dict(table.schema) == {"Ort": Type.TEXT, "Land": Type.TEXT, "Einwohner": Type.FLOAT}


def test_columns_may_have_marks_of_their_own(tmp_path):
    """1.234 is a number of three decimals where the mark is a point, and no matter what groups digits."""
    path = tmp_path / "places.csv"
    path.write_text("Fall;Kosten;Breite\na;1.234,50;50.935\nb;-7,5;1.234\nc;12.5;48,1\nd;1.234;1,234.5\n")
    columns = {"Kosten": Bounds(-10, 5000, step=0.01), "Breite": Bounds(-90, 90, step=0.001)}
    stated = Csv(path, delimiter=";", decimal=",", decimals={"Breite": "."}, thousands=".")
    found, table = rows(stated, **columns)
    assert [row["Kosten"] for row in found] == [1234.5, -7.5, None, 1234]
    assert [row["Breite"] for row in found] == [50.935, 1.234, None, None]
    assert dict(table.lost().values) == {"Kosten": 1, "Breite": 2}
    other = Csv(path, delimiter=";", decimals={"Kosten": ","}, thousands=".")
    assert [row["Kosten"] for row in rows(other, **columns)[0]] == [1234.5, -7.5, None, 1234]
    assert [row["Breite"] for row in rows(other, **columns)[0]] == [50.935, 1.234, None, None]
    assert stated == Csv(path, delimiter=";", decimal=",", decimals={"Breite": "."}, thousands=".")
    assert hash(stated) != hash(Csv(path, delimiter=";", decimal=",", thousands="."))


@pytest.mark.parametrize("given", [{"Breite": ";"}, {"Breite": None}, {3: "."}, ["Breite"], "Breite"])
def test_marks_of_columns_are_marks(tmp_path, given):
    with pytest.raises(ParameterError, match="decimals are not decimal marks of columns"):
        Csv(tmp_path / "a.csv", decimals=given)


def test_marks_are_of_columns_that_are_there(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Fall,Kosten\na,1.5\n")
    stated = Csv(path, decimals={"Preis": ","})
    with pytest.raises(ParameterError, match="decimals names a column that the files do not have"):
        Table(stated, person="Fall", limits=Limits(rows=1))
    with pytest.raises(ParameterError, match="decimals are stated for a public table"):
        PublicTable(stated)
