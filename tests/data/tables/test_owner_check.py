"""What an owner is told about a table: every planted fault, on every engine, and nobody else is told."""

from __future__ import annotations

import datetime
import json
import math

import pyarrow
import pytest

from canary import DATA_TEXT
from discreet.data import EACH_ROW, Bounds, Csv, Dates, Keys, Limits, Table, Type, through
from discreet.data.reading.written_forms import COMMA, DAY, DAY_FIRST, FORMS, NUMBER
from discreet.data.tables.ownership import owned_tables
from discreet.errors import ParameterError

TODAY = datetime.date(2026, 1, 31)
CLEAN = {
    "who": "p{}",
    "city": "Köln",
    "cost": 1.5,
    "age": 40,
    "day": TODAY,
    "seen": datetime.datetime(2026, 1, 31, 23, 59),
    "number": "12",
    "price": "1,5",
    "iso": "2026-01-31",
    "german": "31.01.2026",
    "note": "fine",
    "empty": None,
}
KINDS = {
    "who": pyarrow.string(), "city": pyarrow.string(), "cost": pyarrow.float64(), "age": pyarrow.int64(),
    "day": pyarrow.date32(), "seen": pyarrow.timestamp("us"), "number": pyarrow.string(),
    "price": pyarrow.string(), "iso": pyarrow.string(), "german": pyarrow.string(),
    "note": pyarrow.string(), "empty": pyarrow.string(),
}  # fmt: skip
COLUMNS = {
    "city": Keys(["Köln", "Ulm"]),
    "cost": Bounds(0, 10, step=0.5),
    "age": Bounds(0, 110),
    "day": Dates("2026-01-01", "2026-12-31"),
    "seen": Dates("2026-01-01", "2026-01-31"),
}
PLANTED = [
    {"who": None},
    {"who": ""},
    {"who": " p7"},
    {"who": "P8"},
    {"who": "p1"}, {"who": "p1"}, {"who": "p1"},
    {"city": "KÖLN "},
    {"city": "Bonn"},
    {"city": None},
    {"cost": -1.0}, {"cost": -0.5},
    {"cost": 10.5},
    {"cost": math.nan},
    {"cost": math.inf},
    {"age": 111}, {"age": 112}, {"age": 2**40},
    {"age": -1},
    {"age": None},
    {"day": datetime.date(2025, 12, 31)},
    {"day": None},
    {"seen": datetime.datetime(2026, 2, 1)},
    {"note": "x" * 20_000},
    {"note": " padded"},
]  # fmt: skip
FOUND = {
    None: {"no_person": 1, "over_rows": 1},
    "who": {"padded": 1, "blank_persons": 1, "persons_spelled_twice": 2},
    "city": {"null": 1, "outside_keys": 2, "nearly_keys": 1, "unused_keys": 1, "padded": 1},
    "cost": {"below_bounds": 2, "above_bounds": 2, "not_a_number": 1, "infinite": 1},
    "age": {"null": 1, "below_bounds": 1, "above_bounds": 3},
    "day": {"null": 1, "outside_days": 1},
    "seen": {"outside_days": 1},
    "number": {"numbers_as_text": 35},
    "price": {"comma_numbers_as_text": 35},
    "iso": {"days_as_text": 35},
    "german": {"other_days_as_text": 35},
    "note": {"unreadable": 1, "padded": 1},
    "empty": {"empty": 35},
}


def arrow(rows):
    return pyarrow.table(
        {name: pyarrow.array([row[name] for row in rows], kind) for name, kind in KINDS.items()}
    )


def rows_with(planted):
    numbered = [{**CLEAN, "who": f"p{number}"} for number in range(10)]
    return numbered + [{**CLEAN, "who": f"q{place}", **fault} for place, fault in enumerate(planted)]


def test_every_planted_fault_is_found(engine):
    rows = arrow(rows_with(PLANTED))
    check = engine.table(rows, person="who", limits=Limits(rows=3), columns=COLUMNS).check()
    assert check.rows == 35
    assert {column: check.faults(column) for column in FOUND} == FOUND
    assert sum(len(one) for one in FOUND.values()) >= 20
    assert {one.column for one in check.findings} <= set(FOUND)
    counts = {
        one.name: (one.values, one.missing, one.unreadable, one.clipped, one.outside) for one in check.columns
    }
    assert counts["age"] == (34, 1, 0, 4, None)
    assert counts["city"] == (34, 1, 0, None, 2)
    assert counts["note"] == (34, 0, 1, None, None)
    assert counts["empty"] == (0, 35, 0, None, None)


def test_rows_as_declared_have_no_fault(engine):
    names = ["who", "city", "cost", "age", "day", "seen", "note"]
    rows = arrow([*rows_with([{"city": "Ulm"}])]).select(names)
    check = engine.table(rows, person="who", limits=Limits(rows=1), columns=COLUMNS).check()
    assert check.findings == ()
    assert (check.rows, check.persons) == (11, 11)
    assert "nothing to report" in str(check)


def test_persons_in_too_many_groups(engine):
    rows = pyarrow.table(
        {"who": [1, 1, 1, 2, 2, 2, 3, None], "city": ["a", "b", "c", "a", "a", "b", "a", "a"]}
    )
    check = engine.table(
        rows,
        person="who",
        limits=Limits(groups=2, rows_per_group=1),
        columns={"city": Keys(["a", "b", "c"])},
    ).check()
    assert check.persons == 3
    assert check.faults() == {"no_person": 1}
    assert check.faults("city") == {"over_groups": 1, "over_rows_per_group": 1}


def test_rows_whose_persons_come_through_another_table():
    orders = Table(
        pyarrow.table({"id": [1, 2, 3, 3, 4], "who": ["a", "a", "b", "c", None]}),
        person="who",
        limits=Limits(rows=9),
    )
    lines = Table(
        pyarrow.table({"order_id": [1, 1, 2, 3, 4, 5, 5]}),
        person=through("orders", on="order_id", to="id"),
        limits=Limits(rows=2),
    )
    with pytest.raises(ParameterError, match="other table"):
        lines.check()
    check = owned_tables({"orders": orders, "lines": lines})["lines"].check()
    assert check.faults() == {"orphans": 3, "several_owners": 1, "over_rows": 1}
    assert (check.rows, check.persons) == (7, 1)


def test_each_row_a_person():
    check = Table(pyarrow.table({"x": [1, 2, 300]}), person=EACH_ROW, columns={"x": Bounds(0, 9)}).check()
    assert check.persons is None
    assert check.faults("x") == {"above_bounds": 1}
    assert "each row is a person" in str(check)


def test_a_table_without_rows(engine):
    check = engine.table(arrow([]), person="who", limits=Limits(rows=1), columns=COLUMNS).check()
    assert (check.rows, check.persons) == (0, 0)
    assert [(one.fault, one.column) for one in check.findings] == [("unused_keys", "city")]


def test_a_german_file_that_is_read_as_an_english_one(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text(
        'Fall;Kosten;Tag;Alter\na;1,50;31.01.2026;73.0\nb;7;2026-02-01;x\nc;"2;3\nd;1,5;01.02.2026;12\n'
    )
    declared = {
        "Kosten": Bounds(0, 100, step=0.01),
        "Tag": Dates("2026-01-01", "2026-12-31"),
        "Alter": Bounds(0, 110),
    }
    read = Table(Csv(path, delimiter=";"), person="Fall", limits=Limits(rows=1), columns=declared).check()
    assert read.faults() == {"lines": 1, "open_lines": 1}
    assert read.faults("Kosten") == {"unreadable": 2, "decimal_comma": 2}
    assert read.faults("Tag") == {"unreadable": 2, "days_in_another_form": 2}
    assert read.faults("Alter") == {"unreadable": 1}
    assert "%d.%m.%Y" in str(read)
    stated = Csv(path, delimiter=";", decimal=",", dates="%d.%m.%Y")
    read = Table(stated, person="Fall", limits=Limits(rows=1), columns=declared).check()
    assert read.faults("Kosten") == {}
    assert read.faults("Tag") == {"unreadable": 1}


GERMAN = "Fall;Kosten;Alter;Ort\n" + "".join(
    f"p{place};{cost};{age};{town}\n"
    for place, (cost, age, town) in enumerate(
        [("1.234,50", "73.0", "Köln"), ("7,00", "12.0", "Bonn"), ("2.000,00", "41", "Düren")]
    )
)


def german(tmp_path, columns, encoding="utf-8", **stated):
    path = tmp_path / "visits.csv"
    path.write_bytes(GERMAN.encode(encoding))
    form = Csv(path, delimiter=";", **stated)
    return Table(form, person="Fall", limits=Limits(rows=1), columns=columns).check()


def words_of(check, column):
    return {one.fault: one.words for one in check.findings if one.column == column}


def test_points_in_a_file_whose_decimal_mark_is_a_comma(tmp_path):
    declared = german(tmp_path, {"Alter": Bounds(0, 110)}, decimal=",")
    assert declared.faults("Alter") == {"unreadable": 2, "decimal_point": 2}
    assert "written with a point, while decimal=','" in words_of(declared, "Alter")["decimal_point"]
    assert 'CLIP(CAST("Alter" AS FLOAT)' in words_of(declared, "Alter")["decimal_point"]
    assert "Csv(…, decimals={'Alter': '.'})" in words_of(declared, "Alter")["decimal_point"]
    stated = german(tmp_path, {"Alter": Bounds(0, 110)}, decimal=",", decimals={"Alter": "."})
    assert stated.faults("Alter") == {}
    text = german(tmp_path, {}, decimal=",")
    assert text.faults("Alter") == {"point_numbers_as_text": 3}
    assert "Bounds" not in words_of(text, "Alter")["point_numbers_as_text"]
    assert german(tmp_path, {}).faults("Alter") == {"numbers_as_text": 3}


def test_digits_that_points_group_need_thousands(tmp_path):
    cost = {"Kosten": Bounds(0, 9999, step=0.01)}
    found = german(tmp_path, cost, decimal=",")
    assert found.faults("Kosten") == {"unreadable": 2, "grouped_digits": 2}
    assert "thousands='.'" in words_of(found, "Kosten")["grouped_digits"]
    assert german(tmp_path, cost, decimal=",", thousands=".").faults("Kosten") == {}
    for stated, advised in (
        ({}, "declare Bounds, and Csv(…, decimal=',', thousands='.')"),
        ({"decimal": ","}, "declare Bounds, and Csv(…, decimal=',', thousands='.')"),
        ({"decimal": ",", "thousands": "."}, "declare Bounds"),
    ):
        words = words_of(german(tmp_path, {}, **stated), "Kosten")["comma_numbers_as_text"]
        assert words.endswith(f"read as text: {advised}")


def test_texts_in_another_encoding(tmp_path):
    found = german(tmp_path, {}, encoding="cp1252")
    assert found.faults("Ort") == {"unreadable": 2, "not_utf8": 2}
    assert "encoding='cp1252'" in words_of(found, "Ort")["not_utf8"]
    assert german(tmp_path, {}, encoding="cp1252", **{"decimal": ","}).faults("Ort")["not_utf8"] == 2
    assert german(tmp_path, {}).faults("Ort") == {}
    rows = pyarrow.table({"who": ["a", "b"], "town": ["K\ufffdln", "Bonn"]})
    lost = Table(rows, person="who", limits=Limits(rows=1)).check()
    assert lost.faults("town") == {"replaced_letters": 1}


@pytest.mark.parametrize(
    ("form", "texts"),
    [
        (NUMBER, ["1", "-1.5", " +12 ", "007"]),
        (COMMA, ["1,5", "-1.234,50", " 1'234,5", "12 345,0"]),
        (DAY, ["2026-01-31", "2026-01-31 10:00", "2026-01-31T10:00:00"]),
        (DAY_FIRST, ["31.01.2026", "1/2/26", "31.01.2026 08:30"]),
        (None, ["", "x", "1,", ",5", "1.2.3", "1-2-2026", "1e5x"]),
    ],
)
def test_forms_of_texts_mean_the_same_on_every_engine(engine, form, texts):
    table = engine.table(pyarrow.table({"text": texts, "row": list(range(len(texts)))}))
    found = engine.values(
        table, **{name: lambda rows, p=p: rows.text.re_search(p) for name, p in FORMS.items()}
    )
    assert found == {name: [name == form] * len(texts) for name in FORMS}


def test_no_value_is_quoted_and_numbers_are_not_shown_by_accident():
    rows = arrow(rows_with([*PLANTED, {"note": DATA_TEXT}]))
    check = Table(rows, person="who", limits=Limits(rows=3), columns=COLUMNS).check()
    shown = f"{check!s}{check.to_json()}"
    assert DATA_TEXT not in shown
    assert "Bonn" not in shown
    assert "36" not in repr(check)
    assert "36" not in f"{check.columns!r}"
    assert str(check).startswith("EXACT COUNTS, FOR THE OWNER ALONE")
    written = json.loads(check.to_json())
    assert "OWNER ALONE" in written["for_the_owner_alone"]
    assert written["rows"] == 36
    assert {one["fault"] for one in written["findings"]} == {one.fault for one in check.findings}


def test_types_of_their_own_are_taken_as_declared():
    rows = pyarrow.table({"x": ["1", "2"], "y": ["1", "2"]})
    check = Table(rows, person=EACH_ROW, columns={"x": Type.TEXT, "y": Keys(["1", "2"])}).check()
    assert check.findings == ()


HOSTILE = ["a\x1b[31m", "a\nb  1  forged", "\u202eabc", "x" * 5000, "a\rb", "quote\"'`;--", "\x9b2J"]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_name_takes_its_own_line_and_no_terminal_obeys_it(name):
    rows = pyarrow.table({name: [1.0, math.nan, math.inf, None], "who": ["a", "a", None, "b"]})
    check = Table(rows, person="who", limits=Limits(rows=1), columns={name: Bounds(0, 9, step=1)}).check()
    lines = str(check).split("\n")
    assert len(lines) == 3 + 3 + 1 + len(check.findings)
    assert not [one for line in lines for one in line if not one.isprintable()]
    assert max(map(len, lines)) < 200
    assert check.faults(name) == {"null": 1, "above_bounds": 1, "not_a_number": 1, "infinite": 1}
    written = check.to_json()
    assert json.loads(written)["columns"][0]["name"] == name
    assert written.replace("\n", "").isprintable()


def test_columns_that_are_called_like_the_counts_of_a_check():
    for name in ("rows", "values_0", "person_", "n_", "key_0_", "what", "over"):
        rows = pyarrow.table({name: ["a", "b", "a"], "w": [1, 1, 1]})
        limits = Limits(groups=1, rows_per_group=1)
        check = Table(rows, person="w", limits=limits, columns={name: Keys(["a", "b"])}).check()
        assert check.faults(name) == {"over_groups": 1, "over_rows_per_group": 1}


def test_values_on_their_bounds_and_days_are_within_them(engine):
    first, last = datetime.date(2026, 1, 1), datetime.date(2026, 1, 31)
    moments = [datetime.datetime(2026, 1, 1), datetime.datetime(2026, 1, 31, 23, 59, 59, 999999)]
    rows = pyarrow.table(
        {
            "whole": pyarrow.array([0, 110], pyarrow.int64()),
            "half": pyarrow.array([1, 10], pyarrow.int64()),
            "real": [0.0, 10.0],
            "day": pyarrow.array([first, last], pyarrow.date32()),
            "seen": pyarrow.array(moments, pyarrow.timestamp("us")),
        }
    )
    days = Dates("2026-01-01", "2026-01-31")
    declared = {
        "whole": Bounds(0, 110),
        "half": Bounds(0.5, 10.5, step=0.5),
        "real": Bounds(0, 10, step=0.5),
        "day": days,
        "seen": days,
    }
    check = engine.table(rows, person=EACH_ROW, columns=declared).check()
    assert check.findings == ()


def test_integers_beyond_fractional_bounds_and_days_outside_are_counted():
    rows = pyarrow.table(
        {
            "half": pyarrow.array([0, 11, 12, 5], pyarrow.int64()),
            "day": pyarrow.array([TODAY, datetime.date(2027, 1, 1), None, TODAY], pyarrow.date32()),
        }
    )
    declared = {"half": Bounds(0.5, 10.5, step=0.5), "day": Dates("2026-01-01", "2026-12-31")}
    check = Table(rows, person=EACH_ROW, columns=declared).check()
    assert check.faults("half") == {"below_bounds": 1, "above_bounds": 2}
    assert {one.name: (one.clipped, one.outside) for one in check.columns} == {
        "half": (3, None),
        "day": (None, 1),
    }


def test_days_of_moments_with_a_zone_are_those_of_utc():
    at = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    moments = [at, at - datetime.timedelta(seconds=1), at + datetime.timedelta(days=31)]
    rows = pyarrow.table({"seen": pyarrow.array(moments, pyarrow.timestamp("us", tz="UTC"))})
    check = Table(rows, person=EACH_ROW, columns={"seen": Dates("2026-01-01", "2026-01-31")}).check()
    assert check.faults("seen") == {"outside_days": 2}


def test_of_persons_over_the_limit_the_rows_that_are_left_out_are_told():
    rows = pyarrow.table({"who": ["a"] * 5 + ["b"] * 2 + ["c", None, None, None]})
    check = Table(rows, person="who", limits=Limits(rows=2)).check()
    assert check.persons == 3
    assert check.faults() == {"no_person": 3, "over_rows": 1}
    assert "more than 2 rows, of which 3 are left out" in str(check)


@pytest.mark.parametrize("odd", ["x", "1", "1,5", "2026-01-31", "31.01.2026"])
def test_a_column_looks_like_something_only_if_all_of_it_does(odd):
    texts = {"1": ["2"], "1,5": ["2,5", "3"], "2026-01-31": ["2026-02-01"], "31.01.2026": ["01.02.2026"]}
    for usual, others in texts.items():
        if odd != usual and not (usual == "1,5" and odd == "1") and not (usual == "1" and odd == "1,5"):
            check = Table(pyarrow.table({"t": [usual, *others, odd]}), person=EACH_ROW).check()
            assert check.faults("t") == {}, (usual, odd)


def test_a_column_of_values_that_cannot_be_read_is_not_called_empty(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("id,x\na,one\nb,two\nc,\n")
    columns = {"x": Bounds(0, 1)}
    check = Table(Csv(path), person="id", limits=Limits(rows=1), columns=columns).check()
    assert check.faults("x") == {"unreadable": 2}


def test_persons_of_blanks_are_one_and_a_declared_column_without_values_is_empty():
    rows = pyarrow.table(
        {"who": ["  ", "", "a"], "x": pyarrow.nulls(3, pyarrow.int64()), "y": pyarrow.array([1, None, 1])}
    )
    columns = {"x": Bounds(0, 1), "y": Bounds(0, 1)}
    check = Table(rows, person="who", limits=Limits(rows=1), columns=columns).check()
    assert check.faults("who")["blank_persons"] == 2
    assert check.faults("x") == {"empty": 3}
    assert check.faults("y") == {"null": 1}


def test_what_is_stated_about_days_is_not_asked_for_again(tmp_path):
    path = tmp_path / "besuche.csv"
    path.write_text("Fall;Tag\nA1;31.01.2026\nA2;13.02.2026\n")
    for dates, asked in ((None, True), ("%d.%m.%Y", False)):
        form = Csv(path, delimiter=";", dates=dates)
        (found,) = Table(form, person="Fall", limits=Limits(rows=1)).check().findings
        assert "declare Dates" in found.words
        assert ("Csv(…, dates=" in found.words) is asked
