"""Opening what a file declares: the same curator as in Python, and changes on the record only."""

from __future__ import annotations

import shutil
import threading
from contextlib import closing, suppress

import pytest

from canary import BY_CITY, COUNT, private
from discreet.curator import Budget
from discreet.curator.ledger import Ledger
from discreet.data import Bounds, Keys, Limits, Table
from discreet.errors import (
    BudgetExceeded,
    LedgerMismatch,
    LedgerTampered,
    LedgerUnavailable,
    ParameterError,
    RequestRefused,
)
from discreet.front.curator import Curator
from discreet.front.declaring.declaration import read_declaration
from discreet.front.opening import amend_file, open_file, recover_ledger
from discreet.privacy.events import Pure
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


def test_S16_where_two_owners_must_agree_one_alone_changes_nothing(tmp_path):
    file = write_clinic(tmp_path)
    clinic = open_file(file)
    with pytest.raises(RequestRefused, match="two owners must agree"):
        amend_file(file, reason="two from now on", agreed=["ana"], two_owners=True)
    amend_file(file, reason="two from now on", agreed=["ana", "bea"], two_owners=True).close()
    head = clinic.ledger.anchor()
    file.write_text(DECLARATION.replace("epsilon = 20", "epsilon = 21"))
    for agreed in ([], ["ana"], ["ana", "ana"]):
        with pytest.raises(RequestRefused, match="two owners must agree"):
            amend_file(file, reason="more", agreed=agreed)
    with pytest.raises(RequestRefused, match="two owners must agree"):
        clinic.amend(reason="more", budget=Budget(epsilon=21, delta=1e-6))
    assert clinic.ledger.anchor() == head
    assert amend_file(file, reason="more", agreed=["bea", "cem"]).budget.epsilon == 21
    assert [*clinic.ledger.entries()][-1].body["agreed"] == ["bea", "cem"]


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


def lost_ledger(place):
    """Return where a ledger is of which the last charge, of 2, was lost; its anchor knows it."""
    anchored = 'location = "clinic.ledger"\nanchor = "head.anchor"'
    text = DECLARATION.replace("delta = 1e-6\n", "").replace('location = "clinic.ledger"', anchored)
    path = write_clinic(place, text)
    with closing(open_file(path)) as curator:
        curator.ask(COUNT, epsilon=1)
    content = (place / "clinic.ledger").read_bytes()
    with closing(open_file(path)) as curator:
        curator.ask(BY_CITY, epsilon=2)
    for file in place.glob("clinic.ledger*"):
        file.unlink()
    (place / "clinic.ledger").write_bytes(content)
    return path


@pytest.mark.parametrize("crash", ["reserve", "abandon"])
@pytest.mark.parametrize("amount", [None, Pure(epsilon=2)], ids=["all", "known"])
def test_a_recovery_that_was_cut_off_is_finished_and_not_repeated(tmp_path, monkeypatch, crash, amount):
    path = lost_ledger(tmp_path)
    place = read_declaration(path).ledger
    decide = Ledger.decide

    def crashing(self, kind, *rest, **more):
        entry = decide(self, kind, *rest, **more)
        if kind == crash:
            raise KeyboardInterrupt
        return entry

    with monkeypatch.context() as patched:
        patched.setattr(Ledger, "decide", crashing)
        with pytest.raises(KeyboardInterrupt):
            recover_ledger(place, reason="the disk failed", event=amount)
    with pytest.raises(LedgerTampered):
        open_file(path)
    head, lost = recover_ledger(place, reason="the disk failed", event=amount)
    with closing(open_file(path)) as curator:
        assert curator.ledger.anchor() == head
        assert curator.spent.epsilon == float(1 + lost.pure_epsilon)
        assert not curator.account().reserved
        assert [one.kind for one in curator.ledger.entries()].count("reserve") == 1
        assert lost == (Pure(epsilon=curator.budget.epsilon - 1) if amount is None else amount)


def test_what_was_charged_after_a_write_off_is_no_part_of_it(tmp_path):
    """An anchor that is old for another reason than a crash of the recovery: it writes off once more."""
    path = lost_ledger(tmp_path)
    declared = read_declaration(path)
    old = (tmp_path / "head.anchor").read_bytes()
    recover_ledger(declared.ledger, reason="the disk failed", event=Pure(epsilon=2))
    with closing(open_file(path)) as curator:
        curator.ask(BY_CITY, epsilon=4)
    (tmp_path / "head.anchor").write_bytes(old)
    recover_ledger(declared.ledger, reason="the disk failed", event=Pure(epsilon=2))
    with closing(open_file(path)) as curator:
        assert curator.spent.epsilon == 1 + 2 + 4 + 2


def test_a_second_accident_is_written_off_again(tmp_path):
    path = lost_ledger(tmp_path)
    place = read_declaration(path).ledger
    recover_ledger(place, reason="the disk failed", event=Pure(epsilon=2))
    recover_ledger(place, reason="the disk failed", event=Pure(epsilon=3))  # more was lost than they knew
    with closing(open_file(path)) as curator:
        assert curator.spent.epsilon == 6


def test_recoveries_and_charges_at_once_never_exceed_the_budget(tmp_path):
    path = lost_ledger(tmp_path)
    place = read_declaration(path).ledger
    ledger = tmp_path / "clinic.ledger"
    tables, budget = read_declaration(path).open_tables(), read_declaration(path).budget
    failures = []

    def asks(number):
        with closing(Curator(tables, budget=budget, ledger=ledger)) as curator:
            for turn in range(3):
                with suppress(BudgetExceeded):
                    curator.ask(COUNT, epsilon=1 + number / 100 + turn / 10)

    def recovers(number):
        with suppress(BudgetExceeded):
            recover_ledger(place, reason=f"recovery {number}")

    def run(work, number):
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(work, n)) for n in range(2) for work in (asks, recovers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    with closing(open_file(path)) as curator:
        assert curator.spent.epsilon == float(budget.epsilon)
        assert curator.ledger.verify()
        assert (tmp_path / "head.anchor").read_text().strip() == str(curator.ledger.anchor())
