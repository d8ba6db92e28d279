"""A value planted in the data, and one in the literals of questions, come out nowhere.

A long session does everything there is to do, well and badly. All that it returns, prints, logs, raises or
writes is collected and searched.
"""

# ruff: noqa: S608
from __future__ import annotations

import json
import logging
import sqlite3
import traceback
from contextlib import suppress
from unittest import mock

import matplotlib as mpl
import pytest

from canary import ASKED_NUMBER, ASKED_TEXT, DATA_NUMBER, DATA_TEXT
from curator.doors import COLUMNS, Clock, clinic, computing, usual_visits, visits
from curator.ledger.backends import FileBackend
from discreet.curator import Budget
from discreet.curator import door as door_module
from discreet.data import Limits, col, count, to_object
from discreet.errors import DiscreetError
from discreet.mechanisms import Laplace
from discreet.privacy.events import Pure

mpl.use("Agg")

PLANTED = {
    "patient": 6_604_119_377,
    "age": DATA_NUMBER,
    "cost": 7_717_313.8125,
    "city": DATA_TEXT,
}
ASKED = {"age": ASKED_NUMBER, "city": ASKED_TEXT, "cost": "4417.0390625"}
CANARIES = [str(value).removesuffix(".0") for value in (*PLANTED.values(), *ASKED.values())]

ROWS = [
    {"household": 1, "note": PLANTED["city"], **PLANTED},
    {"household": 2, "patient": 1, "city": "Oslo", "age": 31, "cost": 100.0},
    *(
        {"household": n, "patient": PLANTED["patient"], "city": "Taipei", "age": PLANTED["age"], "cost": 1.0}
        for n in range(5)
    ),
]
WHERE = f"WHERE age < {ASKED['age']} AND city <> '{ASKED['city']}' AND cost < {ASKED['cost']}"

COUNT = "SELECT COUNT(*) AS n FROM visits"
MEANS = "SELECT city, AVG(cost) AS m, SUM(age) AS s FROM visits"
CHOSEN = "SELECT MEDIAN(age) AS q, COUNT(DISTINCT age) AS d, VAR_POP(cost) AS v, MODE(city) AS c FROM visits"
PERSONS = (
    f"(SELECT patient, COUNT(*) AS k, MAX(cost) AS top, MIN(city) AS c FROM visits {WHERE} GROUP BY patient)"
)
TWICE = "(SELECT patient, age FROM visits UNION ALL SELECT patient, age + 1 AS age FROM visits)"
NUMBERED = "(SELECT age, ROW_NUMBER() OVER (PARTITION BY patient ORDER BY cost) AS k FROM visits)"
GOOD = [
    f"{COUNT} {WHERE}",
    f"{MEANS} {WHERE} GROUP BY city",
    f"{CHOSEN} {WHERE}",
    f"{COUNT} WHERE CAST(age AS TEXT) <> '{ASKED['city']}'",
    f"SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING n < {ASKED['age']} "
    f"ORDER BY n LIMIT {ASKED['age']}",
    f"SELECT SUM(CASE WHEN city = '{ASKED['city']}' THEN age ELSE 0 END) AS s FROM visits",
    f"SELECT age < {ASKED['age']} AS young, COUNT(*) AS n FROM visits GROUP BY young",
    f"SELECT COUNT(*) AS n FROM {PERSONS} AS p WHERE k < {ASKED['age']} AND c <> '{ASKED['city']}'",
    f"SELECT COUNT(*) AS n FROM {TWICE} AS t WHERE age < {ASKED['age']}",
    f"SELECT COUNT(*) AS n FROM {NUMBERED} AS t WHERE k = 1 AND age < {ASKED['age']}",
    f"SELECT COUNT(*) AS n FROM visits JOIN {PERSONS} AS p ON visits.patient = p.patient "
    f"WHERE p.k < {ASKED['age']}",
]
UNKNOWN = f"SELECT note, COUNT(*) AS n FROM visits {WHERE} GROUP BY note"
BAD = [
    f"{MEANS} WHERE city = '{ASKED['city']}' GROUP BY city",
    COUNT.replace("COUNT(*)", f"SUM('{ASKED['city']}')"),
    f"{COUNT.replace('COUNT(*)', 'ARRAY_AGG(age)')} {WHERE}",
    f"{COUNT} WHERE city < {ASKED['age']}",
    f"{COUNT} WHERE age = '{ASKED['city']}'",
    f"{COUNT} WHERE age < '{ASKED['city']}",
    f"{COUNT} WHERE age << {ASKED['age']}",
    f"{COUNT} WHERE nothing = {ASKED['age']}",
    f"{COUNT} WHERE age IN ({ASKED['age']}, '{ASKED['city']}')",
    f"{COUNT} LIMIT '{ASKED['city']}'",
    f"{COUNT} HAVING n < '{ASKED['city']}'",
    f"{COUNT} WHERE CAST('{ASKED['city']}' AS INTEGER) = age",
    UNKNOWN,
    f"SELECT patient, COUNT(*) AS n FROM visits {WHERE} GROUP BY patient",
    f"{COUNT} -- {ASKED['city']}\n WHERE (",
    f"{COUNT}; DROP TABLE visits; SELECT '{ASKED['city']}'",
    f"{COUNT} WHERE age < {ASKED['age']}e999999999",
    f"{COUNT} WHERE age < {'(' * 500}{ASKED['age']}{')' * 500}",
]


class Net:
    """Collects whatever comes out."""

    def __init__(self):
        self.caught = []

    def take(self, *things):
        for thing in things:
            self.caught += [repr(thing), str(thing)]
            for name in ("_repr_html_", "to_json"):
                if hasattr(thing, name):
                    self.caught.append(getattr(thing, name)())
        return things[0]

    def fails(self, action, *errors):
        """Do what fails, and keep all that is said about it, along the whole chain of exceptions."""
        with pytest.raises(errors or DiscreetError) as failure:
            action()
        error = failure.value
        while error is not None:
            self.take(error, error.args, getattr(error, "__notes__", []))
            self.caught += traceback.format_exception(error)
            error = error.__cause__ or error.__context__


def planted():
    return visits(ROWS, limits=Limits(rows=2))


def well(net, curator):
    for sql in GOOD:
        for offer in ({"epsilon": "1/4"}, {"rho": "1/200"}, {"epsilon": "1/4", "delta": "1e-7"}):
            net.take(
                curator.preview(sql, **offer), curator.explain(sql, **offer), curator.request(sql, **offer)
            )
            release = net.take(curator.ask(sql, analyst="ana", **offer))
            net.take(
                release, release.label, json.dumps(release.label), release.event, release.plan, release.keys
            )
            net.take(release.to_pandas(), release.to_arrow(), release.to_polars(), release.outputs)
            figure = release.plot().figure
            net.take(*(text.get_text() for text in figure.findobj(lambda one: hasattr(one, "get_text"))))
            mpl.pyplot.close(figure)
            net.take(curator.ask(sql, **offer))
    for sql in (UNKNOWN, UNKNOWN.replace("note", "household")):
        offer = {"epsilon": "1/4", "delta": "1e-7"}
        net.take(curator.preview(sql, **offer), curator.explain(sql, **offer), curator.explain(sql))
        release = net.take(curator.ask(sql, **offer))
        net.take(release.label, json.dumps(release.label), release.event, release.chosen, release.keys)
    made_up = curator.sandbox(rows=50)
    net.take(made_up, made_up.tables, made_up.ask(GOOD[1], epsilon=1))
    first, *_ = curator.preview(GOOD[0], epsilon="1/4").expectations
    net.take(first, curator.preview(GOOD[0], error={"n": 500}), curator.explain(GOOD[0]))
    frame = curator.table("visits").filter(col("city") != ASKED["city"], col("age") < ASKED["age"])
    query = frame.group_by("city").agg(n=count())
    net.take(frame, frame.group_by("city"), query, curator.ask(query, epsilon="1/8"))
    with net.take(curator.permit("training", epsilon=1)) as permit:
        permit.charge(Pure(epsilon="1/2"))
        assert permit.rows("visits").num_rows < permit.raw_rows("visits").num_rows == len(ROWS)


def badly(net, curator, place):
    for sql in BAD:
        for action in (curator.ask, curator.preview, curator.explain):
            net.fails(lambda sql=sql, action=action: action(sql, epsilon=1))
    net.fails(lambda: curator.ask(GOOD[0], epsilon=10**6))
    net.fails(lambda: curator.ask(GOOD[0], epsilon=1, rho=1))
    net.fails(lambda: curator.ask(GOOD[0], epsilon=ASKED["city"]))
    net.fails(lambda: curator.ask(GOOD[0], epsilon=1, analyst=ASKED["city"] + "\n"))
    net.fails(lambda: curator.ask(GOOD[0], epsilon=1, split={ASKED["city"]: 1}))
    net.fails(lambda: curator.preview(GOOD[0], error={ASKED["city"]: 1}))
    net.fails(lambda: curator.ask(None, epsilon=1))
    net.fails(lambda: curator.table("visits").filter(col("nothing") == 1).agg(n=count()) and 1 / 0, Exception)
    net.fails(lambda: curator.amend(reason="less", budget=Budget(epsilon=0)))
    net.fails(lambda: curator.permit("training", epsilon=10**6))
    with curator.permit("training", epsilon="1/8") as permit:
        net.fails(lambda: permit.charge(Pure(epsilon=1)))
        net.fails(lambda: permit.rows(ASKED["city"]))
    net.fails(lambda: permit.rows("visits"))
    net.fails(lambda: clinic(place, tables={"visits": usual_visits()}, budget=curator.budget))
    net.fails(lambda: clinic(place, tables=curator.tables, budget=Budget(epsilon=1)))


def engines(net, curator):
    said = f"Conversion Error: Could not convert string '{PLANTED['city']}' ({PLANTED['age']}) to INT32"
    for target, name in ((door_module, "compute"), (Laplace, "release")):
        with mock.patch.object(target, name, side_effect=ValueError(said)):
            net.fails(lambda: curator.ask(GOOD[0], epsilon="1/3"))
    broken = planted()
    broken._backend.disconnect()
    with mock.patch.object(curator, "_tables", {"visits": broken}):
        net.fails(lambda: curator.ask(GOOD[1], epsilon="1/3"))
        net.fails(broken._rows)
    curator.ask(GOOD[0], epsilon="1/3")


def ledgers(net, curator, place):
    backend = FileBackend(str(place / "clinic.ledger"))
    good = backend.backup()
    for spoiled in (good[:-1000], bytes(5000) + good[5000:], b"", b"no ledger"):
        backend.restore(spoiled)
        net.fails(curator.ledger.verify)
        if spoiled != good[:-1000]:
            net.fails(lambda: clinic(place, tables=curator.tables, budget=curator.budget))
    backend.restore(good)
    for statement in (
        "UPDATE entries SET body = '{}' WHERE kind = 'charge'",
        "DELETE FROM answers",
    ):
        with suppress(sqlite3.DatabaseError):
            backend.execute(statement)
    net.take(curator.ledger.verify(), *curator.ledger.entries())
    curator.ledger.export(place / "export.jsonl")


@pytest.fixture
def everything(place, capfd, caplog, recwarn):
    """All that came out of a long session, as one text and the bytes of all files."""
    caplog.set_level(logging.NOTSET)
    net = Net()
    curator = clinic(
        place,
        tables={"visits": planted()},
        budget=Budget(epsilon=30, delta="1e-6"),
        anchor=place / "anchor",
        clock=Clock(),
    )
    well(net, curator)
    badly(net, curator, place)
    engines(net, curator)
    ledgers(net, curator, place)
    net.take(curator, curator.spent, curator.remaining, curator.budget, curator.account(), curator.tables)
    captured = capfd.readouterr()
    net.take(captured.out, captured.err, caplog.text, [record.getMessage() for record in caplog.records])
    net.take([str(warning.message) for warning in recwarn.list])
    files = b"".join(path.read_bytes() for path in sorted(place.iterdir()))
    return "\n".join(net.caught), files


def test_no_planted_value_comes_out_anywhere(everything):
    text, files = everything
    assert len(text) > 100_000
    assert len(files) > 20_000
    for canary in CANARIES:
        assert canary not in text
        for spelled in (canary, json.dumps(canary)[1:-1], canary.encode().hex()):
            assert spelled.encode() not in files
        assert canary.encode("utf-16-le") not in files


@pytest.mark.leaks_on_purpose
def test_keys_that_a_request_lists_are_kept_out_of_the_ledger(place):
    curator = clinic(place, tables={"visits": planted()})
    query = curator.table("visits").group_by("note").agg(n=count()).with_keys(note=[ASKED["city"], "x"])
    with computing():
        assert curator.ask(query, epsilon=1).keys == {"note": [ASKED["city"], "x"]}
    assert ASKED["city"].encode() not in (place / "clinic.ledger").read_bytes()


@pytest.mark.leaks_on_purpose
def test_keys_that_a_condition_lists_are_kept_out_of_the_ledger(place):
    curator = clinic(place, tables={"visits": planted()})
    sql = f"SELECT note, COUNT(*) AS n FROM visits WHERE note = '{ASKED['city']}' GROUP BY note"
    with computing():
        assert curator.ask(sql, epsilon=1).keys == {"note": [ASKED["city"]]}
        before = (place / "clinic.ledger").read_bytes().count(b"Hamilton")
        narrowed = "SELECT city, COUNT(*) AS n FROM visits WHERE city = 'Hamilton' GROUP BY city"
        assert curator.ask(narrowed, epsilon=1).keys == {"city": ["Hamilton"]}
    ledger = (place / "clinic.ledger").read_bytes()
    assert ASKED["city"].encode() not in ledger
    assert ledger.count(b"Hamilton") == before


@pytest.mark.leaks_on_purpose
def test_the_search_finds_what_is_there(place):
    """The control: a preview for a question that names a canary, and a ledger with whole plans."""
    net = Net()
    net.take(f"about {ASKED['city']}")
    net.fails(lambda: int(PLANTED["city"]), ValueError)
    assert ASKED["city"] in "\n".join(net.caught)
    assert PLANTED["city"] in "\n".join(net.caught)
    with mock.patch.object(door_module, "outline", lambda plan, **_: to_object(plan)), computing():
        clinic(place).ask(GOOD[0], epsilon="1/4")
    assert ASKED["city"].encode() in (place / "clinic.ledger").read_bytes()


def test_the_planted_values_are_in_the_data_and_in_the_questions():
    rows = planted()._rows().to_pylist()
    assert {**PLANTED, "household": 1, "note": PLANTED["city"]} in rows
    assert all(str(value) in WHERE for value in ASKED.values())
    assert PLANTED["city"] not in COLUMNS["city"].values
