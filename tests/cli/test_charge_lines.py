"""``--log``: one line for every charge, none for what is free, nothing private."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

from canary import DATA_NUMBER
from cli.folder import ALL_VISITS, BY_CITY, COUNT, answered, prepare
from cli.program import refused
from discreet.cli import charge_lines
from front.declared_clinic import LITERAL, VALUE

LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (.*)")


@pytest.fixture(autouse=True)
def clinic(tmp_path, monkeypatch):
    return prepare(tmp_path, monkeypatch)


def logged() -> list[str]:
    """What the lines of the file say, after the time."""
    found = [LINE.fullmatch(line) for line in Path("charges.log").read_text().splitlines()]
    assert all(found)
    return [one[1] for one in found if one]


def test_one_line_for_every_charge_and_none_for_what_is_stored():
    answered("query --epsilon 1 --analyst ana --log charges.log", COUNT)
    answered("query --epsilon 1 --analyst ana --log charges.log", COUNT)
    answered("query --epsilon 0.5 --delta 1e-7 --log charges.log", BY_CITY)
    first, second = logged()
    assert first.startswith("charge 3, analyst 'ana', table 'visits' version ")
    assert first.endswith(", epsilon 1")
    assert ", analyst '', table 'visits' version '1', " in second


def test_a_line_holds_nothing_of_the_question_or_the_data():
    answered("query --epsilon 1 --log charges.log", f"{ALL_VISITS} WHERE city = '{LITERAL}'")
    text = Path("charges.log").read_text()
    assert not any(str(word) in text for word in (LITERAL, VALUE, DATA_NUMBER, "city", "SELECT"))


def test_on_the_error_stream(capsys):
    found = answered("query --epsilon 1 --format csv --log -", COUNT)
    assert "charge 3, analyst ''" in found.errors
    assert "charge" not in found.output


def test_what_is_written_off_is_a_charge():
    answered("query --epsilon 1", COUNT)
    answered("ledger recover --epsilon 2 --log charges.log --reason disk")
    (line,) = logged()
    assert line.endswith("epsilon 2")


@pytest.mark.parametrize("file", ["clinic.ledger", "clinic.toml", "visits.csv"])
def test_what_is_declared_is_never_appended_to(file):
    answered("query --epsilon 1", COUNT)
    before = Path(file).read_bytes()
    assert "--log names a file that is declared" in refused(f"query --epsilon 2 --log {file}", COUNT, code=7)
    assert Path(file).read_bytes() == before
    answered("query --epsilon 2", COUNT)  # was not charged


def test_a_file_that_cannot_be_written_refuses_before_the_charge():
    answered("query --epsilon 1", COUNT)
    refused("query --epsilon 2 --log missing/charges.log", COUNT, code=5)
    assert "paid  epsilon 2" in answered("query --epsilon 2", COUNT).output


def test_the_logger_is_left_as_it_was(tmp_path):
    logger = logging.getLogger("discreet")
    before = (logger.level, list(logger.handlers))

    def fail():
        assert logger.isEnabledFor(logging.INFO)
        raise RuntimeError

    with pytest.raises(RuntimeError), charge_lines.logging_charges(str(tmp_path / "a.log")):
        fail()
    assert (logger.level, list(logger.handlers)) == before
