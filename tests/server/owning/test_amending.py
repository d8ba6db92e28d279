"""A change is checked in full, written and recorded; what is refused changes neither file nor ledger."""

from __future__ import annotations

import os
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from canary import private
from curator.ledger.conftest import postgres  # noqa: F401
from discreet.curator.ledger import Ledger
from discreet.errors import BudgetExceeded, LedgerUnavailable, ParameterError, RequestRefused
from discreet.front.opening import open_file
from discreet.server.owning import amending as module
from discreet.server.owning.amending import amend_declaration, drafted
from discreet.server.owning.file_changes import digest_of
from server.owning.clinic import amendments, ask_for_two, column, copies, options_of, stated

RAISED = {"table": None, "budget": {"epsilon": "2000", "per_analyst": {"epsilon": "50"}}}


def added(**more):
    columns = {"nights": column(lower="0", upper="30"), "ward": column(keys=["north", "south"])}
    return {"table": stated(columns=columns, **more), "budget": None}


def amend(directory, change, *, agreed=("olga",), expected=None, reason="agreed with the board"):
    content = (directory / "clinic.toml").read_bytes()
    return amend_declaration(
        change,
        options_of(directory),
        reason=reason,
        agreed=agreed,
        expected=digest_of(content) if expected is None else expected,
    )


def unchanged(directory, call, error, words):
    """The message of a refusal after which file and ledger are as before."""
    before = (directory / "clinic.toml").read_bytes(), amendments(directory)
    with pytest.raises(error, match=words):
        call()
    assert ((directory / "clinic.toml").read_bytes(), amendments(directory)) == before
    assert copies(directory) == []


def test_a_table_is_drafted_and_then_declared(clinic):
    found = drafted(added(), options_of(clinic))
    assert "[tables.stays]" in found["text"]
    assert copies(clinic) == amendments(clinic) == []
    done = amend(clinic, added(), expected=found["digest"])
    (entry,) = amendments(clinic)
    assert (done["state"], entry["reason"], entry["agreed"]) == ("done", "agreed with the board", ["olga"])
    assert set(entry["tables"]) == {"visits", "stays"}
    assert [one.name for one in copies(clinic)] == [done["copy"]]
    with closing(open_file(clinic / "clinic.toml")) as curator:
        answer = curator.ask("SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward", epsilon=39)
        assert [round(one) for one in answer["n"]] == [2, 1]


def test_S16_a_cap_is_raised_on_the_record(clinic):
    with closing(open_file(clinic / "clinic.toml")) as curator:
        curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=30, analyst="ana")
    assert amend(clinic, RAISED)["text"] == "[budget]\nepsilon = 2000\nper_analyst = { epsilon = 50 }"
    (entry,) = amendments(clinic)
    assert (entry["budget"]["epsilon"], entry["budget"]["per_analyst"]["epsilon"]) == ("2000", "50")
    with closing(open_file(clinic / "clinic.toml")) as curator:
        assert curator.remaining_of("ana").epsilon == 20, "what was spent stays spent"
    lowered = {"table": None, "budget": {"per_analyst": {"epsilon": "29"}}}
    before = (clinic / "clinic.toml").read_bytes()
    with pytest.raises(BudgetExceeded):
        amend(clinic, lowered)
    assert (clinic / "clinic.toml").read_bytes() == before


def test_S16_two_owners_where_the_ledger_asks_for_two(clinic):
    ask_for_two(clinic)
    before = len(amendments(clinic))
    assert drafted(RAISED, options_of(clinic))["two_owners"] is True
    assert amend(clinic, RAISED)["state"] == "waiting"
    assert amend(clinic, RAISED, agreed=["olga", "olga"])["state"] == "waiting"
    assert (len(amendments(clinic)), copies(clinic)) == (before, [])
    assert amend(clinic, RAISED, agreed=["olga", "paul"])["state"] == "done"
    assert amendments(clinic)[-1]["agreed"] == ["olga", "paul"]


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (added(person="nobody"), ParameterError, "nobody"),
        (added(rows=None), ParameterError, "limits"),
        (added(rows=0), ParameterError, "rows"),
        (added(name="visits"), ParameterError, "is taken"),
        ({"table": None, "budget": {"epsilon": "-1"}}, ParameterError, "epsilon"),
        ({"table": None, "budget": {"epsilon": "x"}}, ParameterError, "epsilon"),
        ({"table": None, "budget": {"rho": "1"}}, ParameterError, "both given"),
        ({"table": None, "budget": None}, ParameterError, "one change at a time"),
        ({**RAISED, **added(), "budget": {}}, ParameterError, "one change at a time"),
    ],
)
def test_what_does_not_open_is_not_written(clinic, change, error, words):
    unchanged(clinic, lambda: amend(clinic, change), error, words)


def test_S1_the_same_rows_are_not_declared_again(clinic):
    os.link(clinic / "visits.csv", private(clinic / "data" / "again.csv"))
    again = {"table": stated(file="again.csv", person=None), "budget": None}
    unchanged(clinic, lambda: amend(clinic, again), ParameterError, "is that of the table 'visits'")
    assert drafted(added(), options_of(clinic)), "the control: other rows are declared"


def test_S1_control_rows_that_are_declared_twice_are_seen(clinic, monkeypatch):
    for name in ("_refuse_known_source", "_refuse_shared_rows"):
        monkeypatch.setattr(module, name, lambda *_: None)
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        test_S1_the_same_rows_are_not_declared_again(clinic)


def test_S1_a_name_is_not_used_for_two_tables(clinic):
    amend(clinic, added())
    file = clinic / "clinic.toml"
    file.write_bytes(copies(clinic)[0].read_bytes())
    from discreet.front.opening import amend_file

    amend_file(file, reason="taken back by hand").close()
    copies(clinic)[0].unlink()
    unchanged(clinic, lambda: amend(clinic, added()), ParameterError, "was that of another table")


def test_what_someone_else_wrote_is_not_put_on_the_record(clinic):
    file = clinic / "clinic.toml"
    file.write_text(file.read_text().replace("upper = 110", "upper = 200"))
    unchanged(clinic, lambda: amend(clinic, RAISED), RequestRefused, "changed by hand")
    file.write_text(
        file.read_text().replace("upper = 200", "upper = 110").replace("epsilon = 1000", "epsilon = 5000")
    )
    unchanged(clinic, lambda: amend(clinic, added()), RequestRefused, "changed by hand")


def test_one_changes_what_one_looked_at(clinic):
    seen = drafted(RAISED, options_of(clinic))["digest"]
    amend(clinic, added())
    for copy in copies(clinic):
        copy.unlink()
    unchanged(clinic, lambda: amend(clinic, RAISED, expected=seen), RequestRefused, "since you looked at it")


def test_S3_of_two_changes_at_once_one_is_made(clinic):
    seen = digest_of((clinic / "clinic.toml").read_bytes())

    def race(number):
        try:
            change = {"table": None, "budget": {"epsilon": str(2000 + number)}}
            return amend(clinic, change, expected=seen)["state"]
        except RequestRefused:
            return "refused"

    with ThreadPoolExecutor(4) as pool:
        found = sorted(pool.map(race, range(4)))
    assert found == ["done", "refused", "refused", "refused"]
    assert len(amendments(clinic)) == len(copies(clinic)) == 1
    open_file(clinic / "clinic.toml").close()


@pytest.mark.parametrize("reason", ["", "  ", "two\nlines", "x" * 1001])
def test_S16_a_change_has_a_reason(clinic, reason):
    unchanged(clinic, lambda: amend(clinic, RAISED, reason=reason), ParameterError, "reason")


def test_S2_a_ledger_that_cannot_be_written_leaves_the_file_as_it_was(clinic, monkeypatch):
    def away(*_, **__):
        raise LedgerUnavailable("away")

    before = (clinic / "clinic.toml").read_bytes()
    with monkeypatch.context() as planted:
        planted.setattr(Ledger, "decide", away)
        with pytest.raises(LedgerUnavailable):
            amend(clinic, RAISED)
    assert (clinic / "clinic.toml").read_bytes() == before
    open_file(clinic / "clinic.toml").close()


def test_S2_an_entry_of_which_it_was_not_certain_is_looked_for(clinic, monkeypatch):
    decided = Ledger.decide

    def lost(self, *arguments, **more):
        decided(self, *arguments, **more)
        raise LedgerUnavailable("the connection was lost")

    monkeypatch.setattr(Ledger, "decide", lost)
    assert amend(clinic, RAISED)["state"] == "done"
    assert len(amendments(clinic)) == 1
    open_file(clinic / "clinic.toml").close()


def test_S2_killed_between_file_and_ledger_the_owner_finishes_or_takes_back(clinic, monkeypatch):
    class Killed(BaseException):
        pass

    def killed(*_, **__):
        raise Killed

    from discreet.errors import LedgerMismatch
    from discreet.front.opening import amend_file

    with monkeypatch.context() as planted:
        planted.setattr(Ledger, "decide", killed)
        planted.setattr(module.os, "replace", killed)
        planted.setattr(module, "put_in_place", lambda file, old, new: file.write_bytes(new))
        with pytest.raises(Killed):
            amend(clinic, RAISED)
    with pytest.raises(LedgerMismatch):
        open_file(clinic / "clinic.toml")
    amend_file(clinic / "clinic.toml", reason="finished by hand").close()
    open_file(clinic / "clinic.toml").close()


@pytest.mark.slow
def test_a_table_of_a_database_is_declared_once_whatever_its_address(clinic, postgres, monkeypatch):  # noqa: F811
    import psycopg

    name = f"stays_{uuid.uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {name} (patient_id bigint, ward text, nights integer)")
        connection.execute(f"INSERT INTO {name} VALUES (1, 'north', 3), (2, 'south', 1)")  # noqa: S608
        connection.execute(f"CREATE VIEW {name}_again AS SELECT patient_id AS other, nights FROM {name}")  # noqa: S608
    address = f"{postgres}{'&' if '?' in postgres else '?'}application_name=other"
    for variable, place in {"STAYS": f"{postgres}#{name}", "AGAIN": f"{address}#{name}_again"}.items():
        monkeypatch.setenv(variable, place)
    options = options_of(clinic, variables=("STAYS", "AGAIN"))
    source = {"file": None, "csv": None}

    def change(**more):
        return {"table": {**stated(), **source, **more}, "budget": None}

    stays = change(variable="STAYS", columns={"nights": column(lower="0", upper="9")})
    found = drafted(stays, options)
    assert 'source_env = "STAYS"' in found["text"]
    amend_declaration(stays, options, reason="stays", agreed=["olga"], expected=found["digest"])
    for person in ("other", None):
        with pytest.raises(ParameterError, match="is that of the table 'stays'"):
            drafted(change(name="again", variable="AGAIN", person=person), options)
    with pytest.raises(ParameterError, match="is that of the table 'stays'"):
        drafted(change(name="again", variable="STAYS"), options)
