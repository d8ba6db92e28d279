"""What a ledger says: entries, sums, and today's accountant over all events."""

from __future__ import annotations

import json

import pytest

from canary import private
from cli.folder import BY_CITY, COUNT, answered, prepare
from cli.program import discreet, refused
from curator.doors import usual_visits
from discreet.accounting import epsilon
from discreet.curator import Budget
from discreet.curator.ledger import Ledger
from discreet.errors import LedgerTampered
from discreet.front import Curator
from discreet.front.opening import open_file
from discreet.privacy.events import Approximate, Event, Pure, compose
from discreet.privacy.neighbors import REPLACE_PERSON
from front.declared_clinic import DECLARATION


@pytest.fixture(autouse=True)
def clinic(tmp_path, monkeypatch):
    return prepare(tmp_path, monkeypatch)


def test_every_entry_has_its_line(clinic):
    answered("query --epsilon 1 --analyst ana", COUNT)
    answered("query --rho 0.1", COUNT)
    opened = open_file(clinic)
    with opened.permit("train a model", epsilon=2) as permit:
        permit.charge(Pure(epsilon="0.3"))
    lines = [line.split(None, 4) for line in answered("ledger show").output.splitlines()[1:]]
    assert [int(line[0]) for line in lines] == list(range(1, 10))
    assert [line[3] for line in lines] == [
        *("open", "answer", "charge", "answer", "charge", "answer"),
        *("reserve", "use", "settle"),
    ]
    assert lines[2][4] == "ana      epsilon 1; visits (version 1): count rows"
    assert lines[4][4] == "rho 0.1; visits (version 1): count rows"
    assert lines[6][4] == "epsilon 2 for train a model"
    assert lines[7][4] == "epsilon 0.3"


def test_a_charge_without_its_answer_is_named(monkeypatch):
    """A process that was killed after it paid: the charge stands, and asking again is free."""
    answered("query --epsilon 1", COUNT)
    keep = Ledger.keep_answer

    def killed(ledger, charge, content):
        if charge.kind == "charge":
            raise KeyboardInterrupt
        return keep(ledger, charge, content)  # the secret of a new ledger

    with monkeypatch.context() as killing:
        killing.setattr(Ledger, "keep_answer", killed)
        assert discreet("query --epsilon 2", COUNT).code == 130
    words = "charged, not yet answered: ask again, it costs nothing"
    *_, last = answered("ledger show").output.splitlines()
    assert last.split()[0] == "5"
    assert last.endswith(f"count rows; {words}")
    assert f"entry 5 {words}" in " ".join(answered("ledger spent").output.split())
    assert json.loads(answered("ledger spent --json").output)["unanswered"] == [5]
    again = json.loads(answered("query --epsilon 2 --format json", COUNT).output)
    assert (again["stored"], again["paid"]) == (False, "nothing")
    for what in ("show", "spent"):
        assert "not yet answered" not in answered(f"ledger {what}").output
    assert json.loads(answered("ledger spent --json").output)["unanswered"] == []


def test_entries_as_json_are_those_of_the_ledger(clinic):
    answered("query --epsilon 1", COUNT)
    lines = answered("ledger show --json").output.splitlines()
    assert lines == [entry.to_json() for entry in open_file(clinic).ledger.entries()]


def test_what_was_typed_cannot_drive_a_terminal(clinic):
    answered("query --epsilon 1", COUNT)
    clinic.write_text(DECLARATION.replace("epsilon = 20", "epsilon = 21"))
    answered("ledger amend", "--reason", "\x1b[31mred\nline")
    shown = answered("ledger show").output
    assert "\x1b" not in shown
    assert "red" in shown.splitlines()[-1]


def test_S16_owners_agree_with_their_keys(clinic, tmp_path):
    from discreet.server.keys import KeyFile, keys_beside

    answered("query --epsilon 1", COUNT)
    keys = KeyFile(keys_beside(clinic))
    for name, role in (("ana", "owner"), ("bea", "owner"), ("cem", "auditor")):
        private(tmp_path / f"{name}.key").write_text(keys.create(name, role=role)[1])
    amend = "ledger amend --reason two"
    both = "--owner-key ana.key --owner-key bea.key"
    answered(f"{amend} --two-owners yes {both}")
    assert "two owners must agree" in refused(f"{amend} --owner-key ana.key --owner-key ana.key")
    assert "not the valid key of an owner" in refused(f"{amend} --owner-key ana.key --owner-key cem.key")
    keys.revoke("bea", reason="left")
    assert "not the valid key of an owner" in refused(f"{amend} {both}")
    last = answered("ledger show").output.splitlines()[-1]
    assert last.endswith("two; agreed: ana, bea")


def test_sums_and_what_is_left():
    answered("query --epsilon 1 --analyst ana", COUNT)
    answered("query --epsilon 2", COUNT)
    content = json.loads(answered("ledger spent --json").output)
    opened = open_file("clinic.toml")
    assert content["epsilon"] == opened.spent.epsilon <= 3
    assert content["remaining_epsilon"] == opened.remaining.epsilon
    assert (content["charges"], content["open_reservations"], content["period"]) == (2, 0, None)
    shown = answered("ledger spent").output
    assert "a reading, not a guarantee" in shown
    assert "ever" not in shown.split()


def test_a_pure_budget_adds_up_exactly(clinic):
    clinic.write_text(DECLARATION.replace("epsilon = 20\ndelta = 1e-6", "epsilon = 1"))
    for output in ("cost", "age", "city"):
        answered("query --epsilon 0.1", COUNT.replace("*", output))
    shown = answered("ledger spent").output
    assert "epsilon 0.3;" in shown
    assert "a pure epsilon of 0.7\n" in shown


def test_periods_show_the_lifetime_beside(clinic):
    clinic.write_text(DECLARATION.replace("delta = 1e-6", 'renews = "daily"\nper_analyst = { epsilon = 5 }'))
    answered("query --epsilon 1 --analyst ana", COUNT)
    shown = answered("ledger spent --analyst ana").output
    assert "ever" in shown.split()
    assert shown.splitlines()[-1].split() == ["ana", "epsilon", "1", "4"]
    assert "a pure epsilon of 4\n" in shown
    content = json.loads(answered("ledger spent --json").output)
    assert content["analysts"] == {"ana": 4.0}
    assert content["lifetime_epsilon"] == 1.0


def test_a_budget_of_rho_is_read_in_rho(clinic):
    clinic.write_text(
        DECLARATION.replace("epsilon = 20\ndelta = 1e-6", "rho = 0.5\nper_analyst = { rho = 0.4 }")
    )
    answered("query --rho 0.1", COUNT)
    shown = answered("ledger spent").output
    assert "spent     rho 0.1; a reading" in shown
    assert "left      rho 0.3, or a pure epsilon of 0.774596\n" in shown
    assert shown.splitlines()[-1].split() == ["(no", "name)", "rho", "0.1", "0.774596"]
    assert "infinity" not in shown


def test_entries_of_another_relation_are_shown(tmp_path):
    table = {"visits": usual_visits()}
    budget = Budget(epsilon=3, delta="1e-6", neighbors=REPLACE_PERSON)
    curator = Curator(table, budget=budget, ledger=tmp_path / "other.ledger")
    event = Approximate(epsilon="0.5", delta="1e-7", neighbors=REPLACE_PERSON)
    with curator.permit("by hand", event) as permit:
        permit.charge(event)
    shown = answered("ledger show --ledger", str(tmp_path / "other.ledger")).output
    assert shown.count("epsilon 0.5 and delta 1e-7") == 2
    spent = answered("ledger spent --ledger", str(tmp_path / "other.ledger")).output
    assert "epsilon 0.5 at delta 1e-7" in spent
    assert "replacing one person" in spent
    assert "epsilon" in answered("ledger replay --ledger", str(tmp_path / "other.ledger")).output


def events_of(opened):
    return compose(
        Event.from_object(entry.body["event"]) for entry in opened.ledger.entries() if entry.kind == "charge"
    )


def test_replay_is_the_accountant_over_all_events():
    answered("query --epsilon 1", BY_CITY)
    answered("query --rho 0.1", COUNT)
    expected = epsilon(events_of(open_file("clinic.toml")), delta="1e-6")
    content = json.loads(answered("ledger replay --json").output)
    assert content["epsilon"] == {"lower": expected.lower, "upper": expected.upper}
    assert Event.from_object(content["event"]) == events_of(open_file("clinic.toml"))
    assert content["counted_epsilon"] >= content["epsilon"]["upper"]
    shown = answered("ledger replay --delta 1e-3").output
    assert "information only" in shown
    assert "at delta 0.001" in shown
    assert refused("ledger replay --delta 2").startswith("--delta ")


def test_an_open_permit_counts_as_a_whole():
    opened = open_file("clinic.toml")
    permit = opened.permit("train", epsilon=3)
    permit.charge(Pure(epsilon=1))
    found = json.loads(answered("ledger replay --delta 0 --json").output)
    assert found["epsilon"]["upper"] == pytest.approx(3)
    assert "1 open permits" in answered("ledger spent").output
    permit.close()
    found = json.loads(answered("ledger replay --delta 0 --json").output)
    assert found["epsilon"]["upper"] == pytest.approx(1)


def test_replay_of_nothing():
    open_file("clinic.toml")
    found = json.loads(answered("ledger replay --json").output)
    assert found["epsilon"] == {"lower": 0.0, "upper": 0.0}


def test_entries_that_say_nothing_are_not_shown():
    from discreet.cli.ledger_readings import _words

    for kind in ("open", "charge", "use", "reserve", "answer", "settle", "renew", "amend"):
        with pytest.raises(LedgerTampered):
            _words(kind, {})
    assert _words("unheard", {}) == ""
