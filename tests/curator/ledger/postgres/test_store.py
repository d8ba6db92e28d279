"""The ledger in PostgreSQL: whatever the server's settings, and when the server does not serve."""

from __future__ import annotations

import traceback
import uuid
from contextlib import suppress
from dataclasses import replace
from urllib.parse import quote

import psycopg
import pytest

from curator.ledger.counting import charging, counting
from curator.ledger.processes import run
from discreet.curator.ledger import messages
from discreet.curator.ledger.postgres.statements import ask
from discreet.curator.ledger.postgres.store import PostgreSQLStore
from discreet.errors import LedgerMismatch, LedgerTampered, LedgerUnavailable, ParameterError


@pytest.fixture
def name():
    return f"clinic {uuid.uuid4().hex}"


@pytest.fixture
def database(postgres):
    """A database of its own, for tests that change tables."""
    own = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {own}")
    yield postgres.replace("/postgres?", f"/{own}?")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {own} WITH (FORCE)")


def setting(location, **settings):
    """The location, with other defaults for its sessions."""
    options = " ".join(f"-c {key}={value}" for key, value in settings.items())
    return f"{location}&options={quote(options)}"


def test_commits_wait_for_the_disk_whatever_the_default(postgres, name):
    for default, expected in [("off", "on"), ("local", "on"), ("on", "on"), ("remote_apply", "remote_apply")]:
        store = PostgreSQLStore(setting(postgres, synchronous_commit=default), name=name)
        with store.transaction() as records:
            assert ask(records._connection, "SHOW synchronous_commit") == [(expected,)]
        store.close()


@pytest.mark.slow
@pytest.mark.parametrize("isolation", [r"repeatable\ read", "serializable"])
def test_the_race_is_won_under_any_default_isolation(postgres, place, name, isolation):
    result = run(
        "curator.ledger.race_harness:through_the_ledger",
        location=setting(
            postgres, default_transaction_isolation=isolation, default_transaction_read_only="on"
        ),
        name=name,
        processes=8,
        grants=100,
        directory=str(place),
    )
    assert sum(result["got"]) == result["entries"] == result["spent"] == 100


def test_ledgers_of_one_database_do_not_touch(postgres, name):
    one, two = (counting(PostgreSQLStore(postgres, name=f"{name} {number}")) for number in (1, 2))
    charge = one.decide("charge", charging(7), key="k")
    one.keep_answer(charge, b"1")
    assert two.find("charge", "k") is None
    assert two.decide("charge", charging(1), key="k").sequence == 1
    assert (one.state().spent, two.state().spent) == (7, 1)
    assert (one.verify().answers, two.verify().answers) == (1, 0)


def process_of(store):
    """The server's process for the connection that a store keeps."""
    with store.transaction() as records:
        ((process,),) = ask(records._connection, "SELECT pg_backend_pid()")
    return process


def cut(postgres, process):
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(%s, 5000)", (process,))


def test_a_connection_that_was_cut_is_replaced(postgres, name):
    store = PostgreSQLStore(postgres, name=name)
    ledger = counting(store)
    ledger.decide("charge", charging())
    cut(postgres, process_of(store))
    assert ledger.decide("charge", charging()).sequence == 2


def test_a_connection_cut_inside_the_transaction_grants_nothing(postgres, name):
    store = PostgreSQLStore(postgres, name=name)

    def cutting(state, time):
        cut(postgres, process)
        return {"amount": 1}

    ledger = counting(store)
    process = process_of(store)
    with pytest.raises(LedgerUnavailable, match="same key"):
        ledger.decide("charge", cutting, key="k")
    assert ledger.find("charge", "k") is None
    assert ledger.decide("charge", charging(), key="k").sequence == 1


def test_a_commit_that_only_rolls_back_is_no_commit(postgres, name):
    store = PostgreSQLStore(postgres, name=name)
    entry = counting(store).decide("charge", charging(), key="k")
    with pytest.raises(LedgerUnavailable), store.transaction() as records, suppress(LedgerUnavailable):
        records.append(entry)  # fails; then COMMIT says ROLLBACK, and raises nothing
    assert counting(store).verify().entries == 1


def test_a_server_that_is_not_there(place):
    with pytest.raises(LedgerUnavailable) as error:
        PostgreSQLStore(f"postgresql://canary@/postgres?host={place}", name="clinic")
    assert str(error.value) == messages.UNREACHABLE
    assert "canary" not in "".join(traceback.format_exception_only(error.value))


@pytest.mark.slow
def test_a_server_that_does_not_write_through_is_refused(place, postgres):
    result = run("curator.ledger.careless_server:refused", data=str(place / "data"))
    assert result == {"before": "opened", "after": messages.NOT_DURABLE}


def test_an_engine_is_never_quoted(postgres, name):
    store = PostgreSQLStore(postgres, name=name)
    entry = counting(store).decide("charge", charging(), key="k")
    with pytest.raises(LedgerUnavailable) as error, store.transaction() as records:
        records.append(replace(entry, sequence=2, previous=entry.hash, text="canary", key="k"))
    shown = "".join(traceback.format_exception(error.value))
    assert str(error.value) == messages.FAILED
    assert "UniqueViolation" not in shown
    for problem, fault in [
        (psycopg.errors.DiskFull, messages.FULL),
        (psycopg.errors.ReadOnlySqlTransaction, messages.READ_ONLY),
        (psycopg.errors.DataCorrupted, messages.DAMAGED),
    ]:

        class Failing:
            def execute(self, statement, values, problem=problem):
                raise problem("canary")

        with pytest.raises(LedgerUnavailable, match=fault):
            ask(Failing(), "SELECT 1")


def test_a_role_that_may_only_read(database, name):
    ledger = counting(PostgreSQLStore(database, name=name))
    ledger.decide("charge", charging())
    role = f"reader_{uuid.uuid4().hex}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
    reader = counting(PostgreSQLStore(database.replace("postgres:", f"{role}:"), name=name))
    assert reader.verify().entries == reader.state().spent == 1
    with pytest.raises(LedgerUnavailable, match="read-only"):
        reader.decide("charge", charging())
    with pytest.raises(LedgerUnavailable, match="read-only"):
        PostgreSQLStore(database.replace("postgres:", f"{role}:"), name="new")
    reader.close()
    ledger.close()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"DROP OWNED BY {role}")
        connection.execute(f"DROP ROLE {role}")


def test_a_role_that_may_only_append(database, name):
    counting(PostgreSQLStore(database, name=name)).decide("charge", charging())
    role = f"writer_{uuid.uuid4().hex}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute(f"GRANT SELECT, INSERT ON discreet_entries, discreet_answers TO {role}")
        connection.execute(f"GRANT SELECT, UPDATE ON discreet_ledgers TO {role}")
    ledger = counting(PostgreSQLStore(database.replace("postgres:", f"{role}:"), name=name))
    ledger.keep_answer(ledger.decide("charge", charging()), b"1")
    assert ledger.verify().entries == 3
    ledger.close()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"DROP OWNED BY {role}")
        connection.execute(f"DROP ROLE {role}")


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER discreet_entries_stay ON discreet_entries",
        "ALTER TABLE discreet_answers DISABLE TRIGGER discreet_answers_stay",
        "DROP INDEX discreet_keys",
    ],
)
def test_triggers_and_indexes_are_at_work(database, name, statement):
    store = PostgreSQLStore(database, name=name)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(statement)
    with pytest.raises(LedgerTampered, match=r"trigger|index"):
        store.check()
    store.close()


def test_a_ledger_of_a_later_form_or_of_which_the_tables_are_gone(database, name):
    store = PostgreSQLStore(database, name=name)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE discreet_ledgers SET version = 2")
        with pytest.raises(LedgerMismatch, match="form 2"):
            store.check()
        connection.execute("DELETE FROM discreet_ledgers")
        with pytest.raises(LedgerUnavailable, match="no ledger"):
            store.check()
        with pytest.raises(LedgerUnavailable, match="no ledger"), store.transaction():
            pass
        connection.execute("DROP TABLE discreet_ledgers CASCADE")
        with pytest.raises(LedgerUnavailable), store.transaction():
            pass
    store.close()


@pytest.mark.slow
def test_many_make_the_same_tables_at_once(database, place, name):
    result = run(
        "curator.ledger.careless_server:create_together", location=database, name=name, directory=str(place)
    )
    assert result == {"entries": 8}


@pytest.mark.parametrize("name", ["", "a\x00b", None])
def test_names(postgres, name):
    with pytest.raises(ParameterError, match="name"):
        PostgreSQLStore(postgres, name=name)
