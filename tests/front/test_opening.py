"""Opening what a file declares: the same curator as in Python, and changes on the record only."""

from __future__ import annotations

import shutil

import pytest

from canary import BY_CITY, COUNT, private
from discreet.curator import Budget
from discreet.data import Bounds, Keys, Limits, Table
from discreet.errors import BudgetExceeded, LedgerMismatch, LedgerTampered, LedgerUnavailable, ParameterError
from discreet.front.curator import Curator
from discreet.front.opening import amend_file, open_file
from front.declared_clinic import DECLARATION, VALUE, write_clinic


def in_python(directory):
    """The same clinic, declared in Python."""
    visits = Table(
        directory / "visits.csv",
        person="patient_id",
        limits=Limits(rows=2),
        columns={
            "cost": Bounds(0, 5000, step=0.01),
            "age": Bounds(0, 110),
            "city": Keys(["Taipei", "Hamilton"]),
        },
    )
    return Curator(
        {"visits": visits}, budget=Budget(epsilon=20, delta=1e-6), ledger=directory / "clinic.ledger"
    )


def test_a_file_answers_questions(tmp_path):
    clinic = open_file(write_clinic(tmp_path))
    release = clinic.ask(BY_CITY, epsilon=5)
    assert release.keys["city"] == ["Taipei", "Hamilton"]
    assert abs(release["n"] - 200).max() < 60
    assert abs(release["mean_cost"] - 103).max() < 1500
    assert (tmp_path / "clinic.ledger").exists()


def test_a_file_and_python_declare_the_same_curator(tmp_path):
    file = write_clinic(tmp_path)
    first = open_file(file).ask(COUNT, epsilon=1)
    again = in_python(tmp_path).ask(COUNT, epsilon=1)
    assert again.value == first.value
    assert open_file(str(file)).spent.requests == 1


def test_a_first_answer_from_a_csv_file_takes_four_lines(tmp_path):
    path = write_clinic(tmp_path).with_name("visits.csv")
    visits = Table(path, person="patient_id", limits=Limits(rows=2))
    clinic = Curator({"visits": visits}, budget=Budget(epsilon=1), ledger=tmp_path / "visits.ledger")
    print(clinic.ask("SELECT COUNT(*) AS n FROM visits", epsilon=0.1))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"visits.csv"', '"none.csv"', "source is not a file"),
        ('"visits.csv"', '"visits.doc"', "source is a path with another ending"),
        ('"visits.csv"', '"clinic.csv"', "source has a column without a name"),
        (
            '"patient_id"',
            '"patient"',
            "person names 'patient', which the table does not have; allowed: 'patient_id'",
        ),
        ("age = {", "aeg = {", "columns names 'aeg', which the table does not have; allowed: 'age'"),
        ("city = { keys", "patient_id = { keys", "columns declares bounds or keys of the person"),
    ],
)
def test_what_does_not_fit_the_data_is_refused_by_its_section(tmp_path, old, new, said):
    private(tmp_path / "clinic.csv").write_bytes(f'"{VALUE}\n\xff'.encode("latin-1"))
    file = write_clinic(tmp_path, DECLARATION.replace(old, new))
    with pytest.raises(ParameterError) as caught:
        open_file(file)
    message = str(caught.value)
    assert message.startswith("clinic.toml, [tables.visits]: ")
    assert said in message
    assert VALUE not in message
    assert not (tmp_path / "clinic.ledger").exists()


def test_a_changed_file_is_refused_until_it_is_amended(tmp_path):
    file = write_clinic(tmp_path)
    open_file(file).ask(COUNT, epsilon=2)
    file.write_text(DECLARATION.replace("upper = 110", "upper = 120").replace("epsilon = 20", "epsilon = 19"))
    with pytest.raises(LedgerMismatch):
        open_file(file)
    clinic = amend_file(file, reason="older people")
    assert clinic.budget == Budget(epsilon=19, delta=1e-6)
    assert clinic.spent.requests == 1
    assert [entry.body["reason"] for entry in clinic.ledger.entries() if entry.kind == "amend"] == [
        "older people"
    ]
    assert open_file(file).spent.epsilon == pytest.approx(2)


def test_an_amendment_below_what_was_spent_is_not_recorded(tmp_path):
    file = write_clinic(tmp_path)
    clinic = open_file(file)
    clinic.ask(COUNT, epsilon=5)
    head = clinic.ledger.anchor()
    file.write_text(DECLARATION.replace("epsilon = 20\ndelta = 1e-6", "epsilon = 4"))
    with pytest.raises(BudgetExceeded):
        amend_file(file, reason="stricter")
    assert clinic.ledger.anchor() == head


def test_an_amendment_needs_a_reason_and_a_ledger(tmp_path):
    file = write_clinic(tmp_path)
    with pytest.raises(ParameterError, match="reason"):
        amend_file(file, reason=" ")
    with pytest.raises(LedgerUnavailable):
        amend_file(file, reason="to begin with")
    assert not (tmp_path / "clinic.ledger").exists()


def test_the_anchor_notices_an_old_copy(tmp_path):
    text = DECLARATION.replace(
        'location = "clinic.ledger"', 'location = "clinic.ledger"\nanchor = "clinic.anchor"'
    )
    file = write_clinic(tmp_path, text)
    clinic = open_file(file)
    shutil.copy(tmp_path / "clinic.ledger", tmp_path / "old")
    clinic.ask(COUNT, epsilon=1)
    shutil.copy(tmp_path / "old", tmp_path / "clinic.ledger")
    with pytest.raises(LedgerTampered):
        open_file(file)
    (tmp_path / "clinic.anchor").unlink()
    open_file(file)
