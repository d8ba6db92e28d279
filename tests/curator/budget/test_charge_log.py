"""One line for every charge, without a value of the data, of the noise or of the question."""

from __future__ import annotations

import logging

import pyarrow
import pytest

from canary import ASKED_NUMBER, DATA_NUMBER, DATA_TEXT
from discreet.curator import Budget
from discreet.curator.budget.charge_log import LOGGER
from discreet.data import Bounds, Keys, Limits, Table
from discreet.errors import BudgetExceeded
from discreet.front import Curator

ROWS = 1_234_567
"""What is summed, so that neither it nor a noisy value near it is in a line by chance."""


@pytest.fixture
def clinic(tmp_path):
    rows = pyarrow.table(
        {
            "who": ["a", "b", DATA_TEXT],
            "cost": [ROWS, ROWS, DATA_NUMBER],
            "city": ["Ulm", "Ulm", DATA_TEXT],
        }
    )
    declared = {"cost": Bounds(0, 2_000_000), "city": Keys(["Ulm"])}
    table = Table(rows, person="who", limits=Limits(rows=1), columns=declared, version="2026-01")
    curator = Curator({"visits": table}, budget=Budget(epsilon=3), ledger=tmp_path / "c.ledger")
    yield curator
    curator.close()


def lines(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "discreet"]


def test_every_charge_is_one_line(clinic, caplog):
    caplog.set_level(logging.DEBUG)
    question = f"SELECT city, SUM(cost) AS secret FROM visits WHERE cost <> {ASKED_NUMBER} GROUP BY city"  # noqa: S608
    answer = clinic.ask(question, epsilon=1, analyst="ana")
    assert lines(caplog) == ["charge 3, analyst 'ana', table 'visits' version '2026-01', epsilon 1"]
    clinic.ask(question, epsilon=1, analyst="ana")
    clinic.preview("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    with pytest.raises(BudgetExceeded):
        clinic.ask("SELECT COUNT(*) AS n FROM visits", epsilon=9)
    assert len(lines(caplog)) == 1
    with clinic.permit("training", epsilon=1, analyst="ben"):
        pass
    assert lines(caplog)[1:] == ["reserve 5, analyst 'ben', epsilon 1"]
    whole = " ".join(record.getMessage() for record in caplog.records)
    noisy = [str(int(value)) for value in answer.to_arrow()["secret"].to_pylist()]
    known = [str(ROWS), str(2 * ROWS), DATA_TEXT, str(DATA_NUMBER), str(ASKED_NUMBER), "secret"]
    for private in [*known, *noisy]:
        assert private not in whole


def test_a_library_is_silent_by_itself(clinic, capsys):
    clinic.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    assert capsys.readouterr() == ("", "")
    assert logging.getLogger("discreet").handlers


class Failing(logging.Handler):
    """A handler whose disk is full; it does not ask `logging` what to do."""

    def emit(self, record):
        raise OSError("no space left")


@pytest.fixture
def failing():
    handler = Failing()
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    yield handler
    LOGGER.removeHandler(handler)
    LOGGER.setLevel(logging.NOTSET)


@pytest.mark.parametrize("told", [True, False])
def test_a_handler_that_fails_keeps_no_answer_from_whoever_paid(clinic, failing, monkeypatch, capsys, told):
    monkeypatch.setattr(logging, "raiseExceptions", told)
    answer = clinic.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1, analyst="ana")
    assert not answer.stored
    assert clinic.spent.epsilon == 1
    assert ("no space left" in capsys.readouterr().err) == told


def test_a_handler_that_fails_leaves_no_permit_open_and_no_amendment_half_done(clinic, failing):
    with clinic.permit("training", epsilon=1):
        pass
    assert not clinic.account().reserved
    clinic.amend(budget=Budget(epsilon=2), reason="less")
    assert clinic.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1).label["private"]
    assert clinic.spent.epsilon == 1


def test_a_price_in_rho_is_told_as_rho(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    table = Table(pyarrow.table({"who": ["a", "b"]}), person="who", limits=Limits(rows=1))
    curator = Curator({"t": table}, budget=Budget(rho=1), ledger=tmp_path / "l")
    curator.ask("SELECT COUNT(*) AS n FROM t", rho="0.25")
    curator.close()
    (line,) = lines(caplog)
    assert line.endswith(", rho 0.25")
