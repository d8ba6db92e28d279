"""``discreet init``: names and types, and no value of the data."""

from __future__ import annotations

import csv
import datetime
import json
import tomllib
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from canary import private
from cli.folder import ALL_VISITS, answered, prepare
from cli.program import discreet, refused
from discreet.data import Bounds, Keys, Limits, Type
from discreet.errors import ParameterError
from discreet.front.declaring.declaration import read_declaration
from discreet.front.opening import open_file
from effort import examples
from front.declared_clinic import VALUE


@pytest.fixture(autouse=True)
def clinic(tmp_path, monkeypatch):
    prepare(tmp_path, monkeypatch).unlink()
    pyarrow.parquet.write_table(
        pyarrow.table(
            {
                "who": [1, 2, 3],
                "ward": [7001, 7002, 7003],
                "cost": [8001.5, 8002.5, 8003.5],
                "day": [datetime.date(1907, 5, 5)] * 3,
                "urgent": [True, False, True],
                "city": [VALUE] * 3,
            }
        ),
        private(tmp_path / "ward.parquet"),
    )


FULL = "--source visits.csv --person patient_id --rows-per-person 2 --budget 1"


def test_two_commands_to_a_first_private_answer():
    said = answered(f"init {FULL}").output
    found = answered("query --epsilon 1 --format json", ALL_VISITS)
    (row,) = json.loads(found.output)["rows"]
    assert abs(row["n"] - 400) < 60
    assert f'discreet query "{ALL_VISITS}" --epsilon 0.1' in said
    text = "columns that are not declared there are text, and can be used in conditions only"
    assert text in said
    assert "\n# note =      # text, for conditions only, until declared\n" in Path("clinic.toml").read_text()
    assert text not in answered("init ward.toml --source ward.parquet --person who").output
    names = "--keys city=Oslo,Rome --keys note=x --bounds age=0:9 --bounds cost=0:9"
    assert text not in answered(f"init all.toml {FULL} {names}").output


def test_a_file_to_be_filled_in_opens_only_when_it_is():
    said = answered("init --source visits.csv --person patient_id").output
    assert "fill in budget.epsilon, tables.visits.limits" in said
    missing = r"clinic.toml: budget.epsilon, tables.visits.limits.rows must still be filled in"
    with pytest.raises(ParameterError, match=missing):
        open_file("clinic.toml")
    text = Path("clinic.toml").read_text().replace('epsilon = "FILL IN"', "epsilon = 1")
    Path("clinic.toml").write_text(text)
    with pytest.raises(ParameterError, match=r"\[tables.visits.limits\]: rows must still be filled in"):
        open_file("clinic.toml")
    Path("clinic.toml").write_text(text.replace('rows = "FILL IN"', "rows = 2"))
    open_file("clinic.toml").ask(ALL_VISITS, epsilon=1)


@pytest.mark.parametrize("source", ["visits.csv", "ward.parquet"])
def test_every_column_is_listed_and_no_value(source):
    answered(f"init --source {source}")
    text = Path("clinic.toml").read_text()
    for name in {"visits.csv": ["city", "age", "cost", "note"], "ward.parquet": ["ward", "cost", "day"]}[
        source
    ]:
        assert f"\n# {name} = " in text
    for value in (VALUE, "7001", "7002", "8001", "8003", "1907", "Taipei", "102.25", "true, false"):
        assert value not in text
    assert tomllib.loads(text)["tables"][source.split(".")[0]]["columns"] == {}


def test_types_are_said_where_the_file_states_them():
    answered("init --source ward.parquet --person who")
    text = Path("clinic.toml").read_text()
    assert '# cost = { lower = "FILL IN", upper = "FILL IN", step = "FILL IN" }      # float' in text
    assert '# ward = { lower = "FILL IN", upper = "FILL IN" }      # integer' in text
    assert '# city = { keys = ["FILL IN"] }      # text' in text
    assert "# who =" not in text


def test_bounds_and_keys_that_are_typed():
    answered(
        f"init {FULL} --delta 1e-6 --bounds cost=0:5000:0.01 --bounds age=0:110 --keys city=Taipei,Hamilton"
    )
    found = read_declaration("clinic.toml")
    assert found.tables["visits"].columns == {
        "cost": Bounds(0, 5000, step=0.01),
        "age": Bounds(0, 110),
        "city": Keys(["Taipei", "Hamilton"]),
    }
    assert found.tables["visits"].limits == Limits(rows=2)
    assert str(found.budget) == "epsilon 1, delta 1e-06"
    open_file("clinic.toml")


def test_keys_take_the_type_of_their_column():
    keys = "--keys ward=1,2 --keys urgent=true,False --keys day=2026-01-01 --keys city=a,b"
    answered(f"init --source ward.parquet --each-row --budget 1/3 {keys}")
    found = read_declaration("clinic.toml")
    assert found.tables["ward"].columns == {
        "ward": Keys([1, 2]),
        "day": Keys([datetime.date(2026, 1, 1)]),
        "urgent": Keys([True, False]),
        "city": Keys(["a", "b"]),
    }
    assert found.tables["ward"].columns["ward"].type is Type.INTEGER
    open_file("clinic.toml")


def test_paths_and_names(tmp_path):
    (tmp_path / "sub").mkdir()
    answered(f"init sub/a.toml {FULL}")
    found = read_declaration("sub/a.toml")
    assert found.tables["visits"].source == tmp_path / "visits.csv"
    assert found.ledger.file == tmp_path / "sub" / "a.ledger"
    Path("visits.csv").rename(private(Path("2026 visits-all.csv")))
    assert (
        "_2026_visits_all"
        in answered(
            "init b.toml --person patient_id --rows-per-person 1 --budget 1 --source", "2026 visits-all.csv"
        ).output
    )
    answered("query --epsilon 0.5 --file b.toml", "SELECT COUNT(*) AS n FROM _2026_visits_all")
    answered("init c.toml --each-row --budget 1 --table people --source", "2026 visits-all.csv")
    answered("query --epsilon 0.5 --file c.toml", "SELECT COUNT(*) AS n FROM people")


def test_without_a_source():
    assert "tables.visits.source" in answered("init").output
    with pytest.raises(ParameterError, match="must still be filled in"):
        read_declaration("clinic.toml")


UNREADABLE = {
    "--source none.csv",
    "--source spent.json",
    "--bounds cost=0:1",
    "none/clinic.toml --source visits.csv",
}


GERMAN = "--encoding cp1252 --delimiter ; --decimal , --thousands . --dates %d.%m.%Y"


def test_a_csv_file_of_another_country():
    reason = refused("init --source besuche.csv", code=5)
    assert reason.endswith("allowed: its encoding, as in --encoding cp1252")
    reason = refused("init --source besuche.csv --encoding cp1252", code=5)
    assert reason.endswith("allowed: what separates its fields, as in --delimiter ';'")
    answered(f"init --source besuche.csv --each-row --budget 1 --bounds Kosten=0:5000:0.01 {GERMAN}")
    written = (
        'csv = { delimiter = ";", decimal = ",", thousands = ".", encoding = "cp1252", dates = "%d.%m.%Y" }'
    )
    assert f'\nsource = "besuche.csv"\n{written}\n' in Path("clinic.toml").read_text()
    table = read_declaration("clinic.toml").tables["besuche"].open()
    assert list(table.schema) == ["Fall", "Ort", "Kosten", "Tag", "Größe"]
    assert table.check().faults("Kosten") == {}
    Path("tabs.txt").write_text("a\tb\n1\t2\n")
    answered("init tab.toml --source tabs.txt --delimiter tab")
    assert 'delimiter = "\\t"' in Path("tab.toml").read_text()


def test_how_a_csv_file_is_written_needs_one():
    for source in ("", "--source ward.parquet"):
        assert "--decimal says how a CSV file is written" in refused(f"init {source} --decimal ,")
    assert "--decimal is not a decimal mark" in refused("init --source besuche.csv --decimal x")


def test_nothing_is_overwritten():
    Path("clinic.toml").write_text("mine")
    assert "not overwritten" in refused(f"init {FULL}", code=7)
    assert Path("clinic.toml").read_text() == "mine"


@pytest.mark.parametrize(
    "options",
    [
        "--source none.csv",
        "--source spent.json",
        "--source visits.csv --person patient",
        "--source visits.csv --person patient_id --each-row",
        "--source visits.csv --rows-per-person 3",
        "--source visits.csv --person patient_id --rows-per-person 0",
        "--source visits.csv --person patient_id --rows-per-person x",
        "--source visits.csv --budget -1",
        "--source visits.csv --budget x",
        "--source visits.csv --delta 1e-6",
        "--source visits.csv --budget 1 --delta 2",
        "--source visits.csv --bounds cost",
        "--source visits.csv --bounds cost=1",
        "--source visits.csv --bounds cost=1:0",
        "--source visits.csv --bounds cost=0:1:2:3",
        "--source visits.csv --bounds cost=0.5:1",
        "--source visits.csv --bounds none=0:1",
        "--source visits.csv --bounds cost=0:1 --bounds cost=0:2",
        "--source visits.csv --bounds city=0:1 --keys city=a",
        "--source visits.csv --keys city=",
        "--source visits.csv --keys city=a,a",
        "--source ward.parquet --keys ward=a",
        "--source ward.parquet --keys day=1,2",
        "--source ward.parquet --keys cost=1",
        "--source ward.parquet --bounds city=0:1",
        "--bounds cost=0:1",
        "none/clinic.toml --source visits.csv",
    ],
)
def test_refusals_write_no_file(options):
    code = 5 if options in UNREADABLE else 2
    reason = refused(f"init {options}", code=code)
    assert VALUE not in reason
    assert not Path("clinic.toml").exists()


def test_a_name_that_cannot_be_written_down():
    for name in ("", "a\nb", "\udcff"):
        assert "--table is not a name" in refused(f"init {FULL} --table", name)
    refused("init --each-row --budget 1 --source", "visits\udcff.csv", code=5)
    assert not Path("clinic.toml").exists()


NAMES = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12),
    min_size=1,
    max_size=4,
    unique_by=str.lower,
)


@settings(
    max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(names=NAMES)
def test_columns_of_any_name(names, tmp_path):
    """Whatever columns are called, the file is TOML, and declares the columns that were asked for."""
    Path("clinic.toml").unlink(missing_ok=True)
    with Path("odd.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([names, ["1"] * len(names)])
    options = ("--keys", f"{names[0]}=x") if "=" not in names[0] else ()
    outcome = discreet("init --each-row --budget 1 --source odd.csv", *options)
    if outcome.code:
        assert "--source " in outcome.errors
        assert not Path("clinic.toml").exists()
        return
    found = read_declaration("clinic.toml")
    assert list(found.tables["odd"].columns) == ([names[0]] if options else [])
    found.tables["odd"].open()
