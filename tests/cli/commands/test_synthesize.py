"""``discreet synthesize``: synthetic rows for a price that is stated."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from cli.folder import answered, prepare
from cli.program import discreet, refused
from discreet.front.opening import open_file
from front.declared_clinic import VALUE

TREE = "synthesize visits age city --rho 0.5 --method spanning-tree --width age=10"


@pytest.fixture(autouse=True)
def clinic(tmp_path, monkeypatch):
    return prepare(tmp_path, monkeypatch)


def test_rows_label_and_measured_counts_are_written_and_paid_for_once(clinic):
    found = answered(f"{TREE} --rows 300 --output rows.csv --label rows.json --measured counts.csv")
    assert "wrote rows.csv" in found.output
    assert "paid  rho 0.5" in found.output
    rows = list(csv.DictReader(Path("rows.csv").read_text().splitlines()))
    assert len(rows) == 300
    assert {row["city"] for row in rows} <= {"Taipei", "Hamilton", ""}
    assert json.loads(Path("rows.json").read_text())["price"]
    header, *counts = Path("counts.csv").read_text().splitlines()
    assert header == "table,age,city,n,n_lower,n_upper,confidence"
    assert {line.split(",")[0].strip('"') for line in counts} >= {"age", "city"}
    again = answered(f"{TREE} --rows 300 --format csv")
    assert again.output == Path("rows.csv").read_text()
    assert "nothing: answered from the store" in again.errors
    other = answered(f"{TREE} --rows 300 --seed 1 --format csv")
    assert other.output != again.output
    assert open_file(clinic).spent.requests == 1
    assert VALUE not in found.output + again.output


def test_people_see_the_first_rows_and_programs_all_of_them():
    shown = answered(f"{TREE} --rows 40").output
    assert shown.splitlines()[0].split() == ["age", "city"]
    assert "synthetic rows: 40, of which 10 are shown" in shown
    content = json.loads(answered(f"{TREE} --rows 40 --format json").output)
    assert len(content["synthetic"]) == 40
    assert content["stored"]
    assert content["seed"] == 0
    answered(f"{TREE} --rows 40 --output rows.parquet")
    import pyarrow.parquet

    table = pyarrow.parquet.read_table("rows.parquet")
    assert table.column_names == ["age", "city"]
    assert table.num_rows == 40
    assert json.loads(table.schema.metadata[b"discreet.label"])["price"]


def test_a_preview_states_the_price_and_spends_nothing():
    offer = "--epsilon 1 --delta 1e-7 --preview --rows 9000"
    typed = f"synthesize visits age city cost {offer} --workload age,city=3"
    found = answered(typed).output
    assert "\ncosts " in found
    assert "9,000 rows" in found
    assert "there is no ledger yet" in found
    assert not Path("clinic.ledger").exists()
    assert json.loads(answered(f"{typed} --format json").output)["fits"]


@pytest.mark.parametrize(
    ("options", "words", "code"),
    [
        ("visits age city", "--epsilon is missing", 2),
        ("visits age city --epsilon 1", "--delta ", 2),
        ("visits age nobody --rho 0.1", "nobody", 2),
        ("nowhere age --rho 0.1", "no such table", 2),
        ("visits age city --rho 0.1 --width age", "--width is not a pair", 2),
        ("visits age city --rho 0.1 --width city=3", "", 2),
        ("visits age city --rho 0.1 --workload age,", "--workload is not a set", 2),
        ("visits age city --rho 0.1 --workload age,city=x", "--workload is not a set", 2),
        ("visits age city --rho 0.1 --workload age,city --method independent", "--workload", 2),
        ("visits age city --rho 1000", "", 4),
        ("visits age city --rho 0.1 --file none.toml", "none.toml does not exist", 2),
        ("visits age city --rho 0.1 --measured visits.csv", "--measured names a file that already exists", 7),
        ("visits age city --rho 0.1 --output a.csv --measured a.csv", "--measured is another file", 2),
    ],
)
def test_refusals_have_their_exit_codes_and_cost_nothing(options, words, code):
    assert words in refused(f"synthesize {options}", code=code)
    assert not Path("clinic.ledger").exists()


PATIENTS = """
[tables.patients]
source = "patients.csv"
person = "patient_id"
limits = { rows = 1 }

[tables.patients.columns]
sex = { keys = ["f", "m"] }
"""
RELATED = "synthesize patients sex --events visits age city --limit 2 --rho 0.5"


@pytest.fixture
def patients(clinic):
    lines = ["patient_id,sex", *(f"{place},{'fm'[place % 2]}" for place in range(150))]
    Path("patients.csv").write_text("\n".join([*lines, ""]))
    clinic.write_text(clinic.read_text() + PATIENTS)
    return clinic


@pytest.mark.slow
def test_patients_and_their_visits_are_two_files_and_one_charge(patients):
    found = answered(
        f"{RELATED} --rows 100 --output p.csv --events-output v.csv --label l.json --measured m.csv"
    )
    assert "wrote p.csv\nwrote v.csv" in found.output
    assert "paid  rho 0.5" in found.output
    persons = list(csv.DictReader(Path("p.csv").read_text().splitlines()))
    events = list(csv.DictReader(Path("v.csv").read_text().splitlines()))
    assert list(persons[0]) == ["patient_id", "sex"]
    assert list(events[0]) == ["patient_id", "age", "city"]
    assert len(persons) == 100
    assert {one["patient_id"] for one in events} <= {one["patient_id"] for one in persons}
    assert "visits_per_person" in Path("m.csv").read_text().splitlines()[0]
    content = json.loads(answered(f"{RELATED} --rows 100 --format json").output)
    assert len(content["synthetic"]["patients"]) == 100
    assert content["stored"]
    shown = answered(f"{RELATED} --rows 100").output
    assert shown.startswith("patients\n")
    assert "\n\nvisits\n" in shown
    answered(f"{RELATED} --rows 100 --output p.parquet --events-output v.parquet")
    assert open_file(patients).spent.requests == 1
    assert VALUE not in found.output + shown


def test_related_tables_are_previewed(patients):
    found = answered(f"{RELATED} --preview --rows 9000").output
    assert "9,000 persons" in found
    assert "at most 2 rows per person" in found
    assert not Path("clinic.ledger").exists()


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("patients sex --events visits --rho 0.1", "--events name no column"),
        ("patients sex --limit 2 --rho 0.1", "--limit goes with --events"),
        (f"{RELATED[11:]} --method adaptive", "--method does not go with --events"),
        (f"{RELATED[11:]} --drop-missing", "--drop-missing does not go with"),
        (f"{RELATED[11:]} --output p.csv", "--events-output goes with --output"),
        (f"{RELATED[11:]} --format csv", "--events-output goes with --output"),
        (f"{RELATED[11:]} --output p.json --events-output v.json", "JSON holds both"),
        (f"{RELATED[11:]} --output p.csv --events-output p.csv", "another file"),
    ],
)
def test_options_that_do_not_go_with_two_tables_are_refused(patients, options, words):
    assert words in refused(f"synthesize {options}", code=2)
    assert not Path("clinic.ledger").exists()


def test_the_declared_table_is_never_overwritten():
    before = Path("visits.csv").read_bytes()
    assert "declared" in refused(f"{TREE} --measured visits.csv --overwrite", code=7)
    assert Path("visits.csv").read_bytes() == before


def test_the_help_says_that_rows_are_never_those_of_the_data():
    assert "never from the data" in discreet("synthesize --help").output


def test_facts_are_stated_in_the_shell(clinic):
    Path("countries.csv").write_text("city,country\nTaipei,Taiwan\nHamilton,Canada\n")
    asked = "synthesize visits age city country --rho 0.5 --method spanning-tree --format csv --rows 300"
    facts = ("--impossible", "age<15, city=Hamilton", "--determined", "country=city:countries.csv")
    rows = list(csv.DictReader(answered(asked, *facts).output.splitlines()))
    assert len(rows) == 300
    assert not any(row["city"] == "Hamilton" and row["age"] and float(row["age"]) < 15 for row in rows)
    assert {(row["city"], row["country"]) for row in rows} <= {
        ("Taipei", "Taiwan"),
        ("Hamilton", "Canada"),
        ("", ""),
    }
    assert "facts leave no row possible" in refused(
        "synthesize visits city --rho 0.5", "--impossible", "city=Taipei|Hamilton|"
    )
    assert open_file(clinic).spent.requests == 1


def test_unknown_keys_are_chosen_in_the_shell(clinic):
    offer = "--epsilon 2 --delta 1e-7 --method independent"
    shown = answered(f"synthesize visits age note {offer} --preview").output
    assert "keys of note are chosen: shown with probability 50% at" in shown
    found = answered(f"synthesize visits age note {offer} --key-share 0.5 --format csv --rows 200")
    assert {row["note"] for row in csv.DictReader(found.output.splitlines())} <= {"x", "(other)", ""}
    assert open_file(clinic).spent.requests == 2
    assert VALUE not in found.output
