"""``discreet query``: pays, answers, and refuses before it pays."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest

from cli.folder import BY_CITY, COUNT, answered, ledger_trouble, prepare
from cli.program import discreet, refused
from discreet.front.opening import open_file
from front.declared_clinic import DECLARATION, LITERAL, VALUE


@pytest.fixture(autouse=True)
def clinic(tmp_path, monkeypatch):
    return prepare(tmp_path, monkeypatch)


def charges():
    return open_file("clinic.toml").spent.requests


def test_a_table_with_an_interval_for_every_number():
    found = answered("query --epsilon 5", BY_CITY)
    header, taipei, hamilton, *rest = found.output.splitlines()
    assert header.split() == ["city", "n", "mean_cost"]
    assert taipei.startswith("Taipei")
    assert hamilton.startswith("Hamilton")
    assert abs(int(taipei.split()[1]) - 200) < 60
    *_, about, empty, paid, left = rest
    assert about == "at most 2 rows per person counted, cost within 0 to 5,000; intervals at 95%"
    assert empty == ""
    assert paid == "paid  epsilon 5"
    assert left.startswith("left  a pure epsilon of ")


def test_the_same_question_is_free():
    first = answered("query --epsilon 1 --format csv", COUNT)
    again = answered("query --epsilon 1 --format csv --analyst ben", COUNT)
    assert again.output == first.output
    again = COUNT.replace(" n ", " how_many ")
    assert "paid  nothing: answered from the store" in answered("query --epsilon 1", again).output
    assert charges() == 1


def test_having_order_and_limit_cut_the_answer():
    sql = f"{BY_CITY} HAVING n > 0 ORDER BY city LIMIT 1"
    rows = list(csv.DictReader(io.StringIO(answered("query --epsilon 5 --format csv", sql).output)))
    assert [row["city"] for row in rows] == ["Hamilton"]
    assert "answered from the store" in answered("query --epsilon 5", BY_CITY).output
    assert charges() == 1


def test_keys_that_nobody_declared_are_chosen():
    sql = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"
    found = answered("query --epsilon 5 --delta 1e-7", sql)
    assert "\nx " in found.output
    assert VALUE not in found.output
    assert "paid  epsilon 5 and delta " in found.output
    assert "nothing: answered from the store" in answered("query --epsilon 5 --delta 1e-7", sql).output
    assert charges() == 1


def test_limits_and_bounds_that_are_bought():
    found = answered("query --epsilon 5 --limits auto", COUNT)
    assert " of each person, a limit that was bought: about " in found.output
    assert "paid  epsilon 5" in found.output
    assert "nothing: answered from the store" in answered("query --epsilon 5 --limits auto", COUNT).output
    assert charges() == 2
    assert (
        "at most 1 row of a person"
        in json.loads(answered("query --epsilon 1 --limits 1 --format json", COUNT).output)["label"]["plan"]
    )


def test_a_new_ledger_is_said_beside_the_answer():
    first = answered("query --epsilon 1 --format csv", COUNT)
    assert "a new ledger was made" in first.errors
    assert first.output.splitlines()[0] == "n,n_lower,n_upper,confidence"
    assert "new ledger" not in answered("query --epsilon 1 --format csv", COUNT).errors


@pytest.mark.parametrize("form", ["csv", "json"])
def test_what_was_paid_is_said_beside_an_answer_for_programs(form):
    first = answered(f"query --epsilon 5 --format {form}", COUNT)
    assert first.errors.splitlines()[-2:] == [
        "paid  epsilon 5",
        "left  a pure epsilon of 15, or 3 more of this cost",
    ]
    again = answered(f"query --epsilon 5 --format {form}", COUNT)
    assert again.errors.splitlines() == [
        "paid  nothing: answered from the store",
        "left  a pure epsilon of 15, or 3 more of this cost",
    ]
    assert "paid  " not in first.output + again.output


def test_json_begins_with_whether_the_answer_was_stored():
    first = json.loads(answered("query --epsilon 5 --format json", COUNT).output)
    again = json.loads(answered("query --epsilon 5 --format json", COUNT).output)
    assert list(first) == ["stored", "paid", "left", "rows", "confidence", "label"]
    left = {"epsilon": 15.0, "more_of_this_cost": 3}
    assert [first[name] for name in ("stored", "paid", "left")] == [False, "epsilon 5", left]
    assert [again[name] for name in ("stored", "paid", "left")] == [True, "nothing", left]
    assert again["rows"] == first["rows"]
    answered("query --epsilon 5 --output n.json", COUNT)
    assert json.loads(Path("n.json").read_text())["stored"] is True


def test_csv_and_json_hold_the_same_numbers():
    rows = list(csv.DictReader(io.StringIO(answered("query --epsilon 5 --format csv", BY_CITY).output)))
    content = json.loads(answered("query --epsilon 5 --format json", BY_CITY).output)
    assert [row["city"] for row in rows] == ["Taipei", "Hamilton"]
    for row, other in zip(rows, content["rows"], strict=True):
        assert float(row.pop("confidence")) == content["confidence"]
        assert row.keys() == other.keys()
        assert all(float(row[name]) == other[name] for name in row if name != "city")
        assert other["n_lower"] <= other["n"] <= other["n_upper"]
    assert content["confidence"] == 0.95
    assert content["label"]["tables"]["visits"]["person"] == "patient_id"


def test_parquet_carries_its_label():
    refused("query --epsilon 5 --format parquet", BY_CITY)
    found = answered("query --epsilon 5 --output answer.parquet --label answer.json", BY_CITY)
    first, *_, about, paid, left = found.output.splitlines()
    assert first == "wrote answer.parquet"
    assert about.startswith("at most 2 rows per person counted, cost within 0 to 5,000")
    assert paid == "paid  epsilon 5"
    assert left.startswith("left  ")
    table = pyarrow.parquet.read_table("answer.parquet")
    assert table.column("city").to_pylist() == ["Taipei", "Hamilton"]
    assert table.column_names[1:4] == ["n", "n_lower", "n_upper"]
    label = json.loads(table.schema.metadata[b"discreet.label"])
    assert label == json.loads(Path("answer.json").read_text())
    assert label["outputs"] == ["n", "mean_cost"]


@pytest.mark.parametrize(("name", "starts"), [("a.csv", "n,n_lower"), ("a.json", "{"), ("a.txt", "n")])
def test_the_name_of_a_file_tells_its_form(name, starts):
    answered(f"query --epsilon 1 --output {name}", COUNT)
    assert Path(name).read_text().lstrip().startswith(starts)


def test_a_file_of_an_unknown_form_is_refused_before_the_charge():
    reason = refused("query --epsilon 1 --output answer.xlsx", COUNT)
    assert "ends in .xlsx" in reason
    assert ".csv, .json, .parquet" in reason
    assert not Path("clinic.ledger").exists()
    answered("query --epsilon 1 --format csv --output answer.xlsx", COUNT)
    assert Path("answer.xlsx").read_text().startswith("n,n_lower")


@pytest.mark.parametrize("options", ["--output {0}", "--label {0}", "--output new.csv --label {0}"])
@pytest.mark.parametrize("path", ["visits.csv", "none/answer.csv"])
def test_files_that_cannot_be_written_are_refused_before_the_charge(options, path):
    before = Path("visits.csv").read_bytes()
    refused(f"query --epsilon 1 {options.format(path)}", COUNT, code=7 if path == "visits.csv" else 2)
    assert Path("visits.csv").read_bytes() == before
    assert not Path("clinic.ledger").exists()
    assert "another file" in refused("query --epsilon 1 --output a.json --label ./a.json", COUNT)


def test_a_file_that_exists_has_a_code_of_its_own_and_may_be_overwritten():
    Path("n.csv").write_text("old")
    assert "--overwrite" in refused("query --epsilon 1 --output n.csv", COUNT, code=7)
    answered("query --epsilon 1 --output n.csv --overwrite", COUNT)
    assert Path("n.csv").read_text().startswith("n,n_lower")
    answered("query --epsilon 1 --output new.csv --label new.json --overwrite", COUNT)
    Path("sub").mkdir()
    refused("query --epsilon 1 --overwrite --format csv --output sub", COUNT, code=7)


@pytest.mark.parametrize("path", ["visits.csv", "clinic.toml", "clinic.ledger", "./visits.csv"])
def test_what_is_declared_is_never_overwritten(path):
    answered("query --epsilon 1", COUNT)
    before = Path(path).read_bytes()
    for options in (f"--format csv --output {path}", f"--label {path}"):
        reason = refused(f"query --epsilon 2 --overwrite {options}", COUNT, code=7)
        assert "another file" in reason
    assert "another file" in refused(f"ledger export {path} --overwrite", code=7)
    assert Path(path).read_bytes() == before
    assert charges() == 1


def test_an_error_instead_of_an_offer():
    found = answered("query --error n=20 --format json", COUNT)
    (row,) = json.loads(found.output)["rows"]
    assert row["n_upper"] - row["n"] <= 20
    assert abs(row["n"] - 400) < 80


def test_normal_noise_and_shares_and_confidence():
    answered("query --epsilon 1 --delta 1e-7", COUNT)
    answered("query --rho 0.1 --confidence 0.9 --split n=3 --split mean_cost=1", BY_CITY)
    assert charges() == 2


def test_a_question_from_the_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(COUNT))
    typed = answered("query - --epsilon 1 --format csv").output
    assert typed == answered("query --epsilon 1 --format csv", COUNT).output
    monkeypatch.setattr(sys, "stdin", io.StringIO("x" * 2_000_000))
    assert "too long" in refused("query - --epsilon 1")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff\xfe"), encoding="utf-8"))
    assert "is not text" in refused("query - --epsilon 1")


BAD = [
    ("", "--epsilon 1"),
    ("SELECT", "--epsilon 1"),
    ("SELECT * FROM visits", "--epsilon 1"),
    ("SELECT COUNT(*) AS n FROM visits WHERE note = 'okapi-in-the-question", "--epsilon 1"),
    (
        "SELECT COUNT(*) AS n FROM visits WHERE REGEXP_MATCHES(note, '(okapi-in-the-question)+$')",
        "--epsilon 1",
    ),
    ("SELECT COUNT(*) AS n FROM visits WHERE age > 'okapi-in-the-question'", "--epsilon 1"),
    ('SELECT COUNT(*) AS n FROM "okapi-in-the-question"', "--epsilon 1"),
    ("SELECT ARRAY_AGG(cost) AS n FROM visits WHERE note = 'okapi-in-the-question'", "--epsilon 1"),
    ("COPY visits TO 'okapi-in-the-question'", "--epsilon 1"),
    ("SELECT COUNT(*) AS n FROM visits WHERE " + "(" * 5000 + "1" + ")" * 5000, "--epsilon 1"),
    (COUNT, ""),
    (COUNT, "--epsilon 0"),
    (COUNT, "--epsilon -1"),
    (COUNT, "--epsilon nan"),
    (COUNT, f"--epsilon {LITERAL}"),
    (COUNT, "--epsilon 1 --rho 1"),
    (COUNT, "--delta 1e-6"),
    (COUNT, "--epsilon 1 --delta 1"),
    (COUNT, "--epsilon 1 --error n=3"),
    (COUNT, "--error n"),
    (COUNT, "--error =3"),
    (COUNT, "--error n=3 --error n=4"),
    (COUNT, "--error m=3"),
    (COUNT, "--error n=-3"),
    (COUNT, f"--error n={LITERAL}"),
    (COUNT, "--epsilon 1 --split m=1"),
    (COUNT, "--epsilon 1 --confidence 1"),
    (COUNT, "--epsilon 1 --format xml"),
    (COUNT, "--epsilon 1 --analyst " + "x" * 300),
    (COUNT, "--epsilon 30"),
    (COUNT, "--epsilon 1 --file none.toml"),
    (COUNT, "--epsilon 1 --file visits.csv"),
    (COUNT, "--epsilon 1 --file ."),
    (COUNT, "--epsil 1"),
]


@pytest.mark.few(12)
@pytest.mark.parametrize(("question", "options"), BAD)
def test_what_is_refused_leaves_no_ledger_and_shows_no_literal(question, options):
    code = {"--epsilon 30": 4, "--epsilon 1 --file .": 5}.get(options, 2)
    reason = refused(f"query {options}", question, code=code)
    assert LITERAL not in reason
    assert VALUE not in reason
    assert not Path("clinic.ledger").exists()


@pytest.mark.few(2)
@pytest.mark.parametrize(("question", "options"), BAD[3:10])
def test_what_is_refused_charges_nothing(question, options):
    answered("query --epsilon 1", COUNT)
    head = open_file("clinic.toml").ledger.anchor()
    refused(f"query {options}", question)
    assert open_file("clinic.toml").ledger.anchor() == head


def test_a_file_can_be_corrected_after_a_refusal(clinic):
    refused("query --epsilon 1", "SELECT note, COUNT(*) AS n FROM visits GROUP BY note")
    refused("query --epsilon 30", COUNT, code=4)
    clinic.write_text(DECLARATION.replace("epsilon = 20", "epsilon = 40") + 'note = { keys = ["x"] }\n')
    answered("query --epsilon 1", "SELECT note, COUNT(*) AS n FROM visits GROUP BY note")
    answered("query --epsilon 30", COUNT)


def test_the_budget_holds_and_the_refusal_says_what_would_fit():
    answered("query --epsilon 10", COUNT)
    reason = refused("query --epsilon 15", COUNT, code=4)
    assert "of the budget, of which" in reason
    assert "would fit" in reason


def test_caps_per_analyst(clinic):
    clinic.write_text(DECLARATION.replace("delta = 1e-6", "per_analyst = { epsilon = 1 }"))
    answered("query --epsilon 1 --analyst ana", COUNT)
    assert "this analyst's share" in refused("query --epsilon 0.5 --analyst ana", COUNT, code=4)
    answered("query --epsilon 0.5 --analyst ben", COUNT)


def test_ledger_trouble_is_exit_code_three_and_no_answer(clinic):
    answered("query --epsilon 1", COUNT)
    shutil.copy("clinic.ledger", "good")
    clinic.write_text(DECLARATION.replace("epsilon = 20", "epsilon = 21"))
    assert "discreet ledger amend" in ledger_trouble("query --epsilon 1", COUNT)
    clinic.write_text(DECLARATION)
    Path("clinic.ledger").write_bytes(b"not a ledger")
    ledger_trouble("query --epsilon 1", COUNT)
    content = bytearray(Path("good").read_bytes())
    place = content.index(b'"analyst":""')
    content[place : place + 12] = b'"analyst":"!'
    Path("clinic.ledger").write_bytes(content)
    ledger_trouble("query --epsilon 2", COUNT)


def test_canaries_appear_nowhere(tmp_path):
    question = "SELECT city, AVG(cost) AS m FROM visits WHERE note <> 'okapi-in-the-question' GROUP BY city"
    assert LITERAL in question
    seen = [discreet(f"{command} --epsilon 1", question) for command in ("preview", "query", "explain")]
    seen += [discreet(f"query --epsilon 1 --format {form}", question) for form in ("csv", "json")]
    seen += [discreet("query --epsilon 1 --output a.parquet --label a.json", question)]
    seen += [
        discreet(f"ledger {what}") for what in ("show", "show --json", "verify", "spent", "export e.jsonl")
    ]
    assert all(one.code == 0 for one in seen), seen
    texts = [one.output + one.errors for one in seen]
    texts += [
        path.read_bytes().decode("latin-1")
        for path in tmp_path.iterdir()
        if path.name not in {"visits.csv", "clinic.toml"}
    ]
    assert len(texts) > 10
    for text in texts:
        assert VALUE not in text
        assert LITERAL not in text


@pytest.mark.slow
def test_in_a_process_of_its_own():
    arguments = [sys.executable, "-m", "discreet", "query", COUNT, "--epsilon", "1", "--format", "csv"]
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    done = subprocess.run(arguments, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "n,n_lower,n_upper,confidence"), done.stderr
    first, paid, left = done.stderr.splitlines()
    assert first == "a new ledger was made; keep it: another one over the same data voids the guarantee"
    assert (paid, left) == ("paid  epsilon 1", "left  a pure epsilon of 19, or 19 more of this cost")
    Path("clinic.ledger").write_bytes(b"x")
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1
