"""``discreet cut``: what a limit leaves out, for a price that is stated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.folder import ALL_VISITS, answered, prepare
from cli.program import discreet, refused
from discreet.front.opening import open_file
from front.declared_clinic import LITERAL


@pytest.fixture(autouse=True)
def clinic(tmp_path, monkeypatch):
    return prepare(tmp_path, monkeypatch)


def test_what_a_limit_cuts_and_what_it_cost():
    """Each of about 200 patients has two visits: a limit of 1 cuts half of the rows."""
    found = answered("cut --limits 1 --most 2 --epsilon 10", ALL_VISITS)
    header, values, *_ = found.output.splitlines()
    assert header.split()[:4] == ["persons", "persons_over", "rows_kept", "rows_cut"]
    assert "what a limit of 1 row per person cuts, of at most 2 rows per person" in found.output
    assert "paid  epsilon 10" in found.output
    assert "left  a pure epsilon of " in found.output
    again = answered("cut --limits 1 --most 2 --epsilon 10 --format json", ALL_VISITS)
    (row,) = json.loads(again.output)["rows"]
    assert abs(row["rows_cut"] - 200) < 25
    assert abs(row["share_of_rows"] - 0.5) < 0.1
    assert "nothing: answered from the store" in again.errors
    assert values.split()[0] == f"{row['persons']:.0f}"


def test_the_declared_limit_cuts_nobody():
    found = answered("cut --epsilon 10 --format json", ALL_VISITS)
    (row,) = json.loads(found.output)["rows"]
    assert abs(row["persons_over"]) < 10


def test_a_preview_states_the_price_and_spends_nothing():
    found = answered("cut --limits 1 --epsilon 2 --preview", ALL_VISITS)
    assert "costs epsilon 2" in found.output
    assert "rows_cut" in found.output
    assert not Path("clinic.ledger").exists()
    content = json.loads(answered("cut --limits 1 --epsilon 2 --preview --format json", ALL_VISITS).output)
    assert content["fits"]
    assert content["epsilon"] == 2


@pytest.mark.parametrize(
    ("options", "words", "code"),
    [
        ("--epsilon 1 --limits auto", "--limits would be bought by each question", 2),
        ("--epsilon 1 --bounds auto", "--bounds are of no use", 2),
        ("--epsilon 1 --most 1", "--most ", 2),
        ("", "--epsilon is missing", 2),
        ("--epsilon 1000 --limits 1", "epsilon", 4),
        ("--epsilon 1 --file none.toml", "none.toml does not exist", 2),
    ],
)
def test_refusals_have_their_exit_codes_and_cost_nothing(options, words, code):
    assert words in refused(f"cut {options}", ALL_VISITS, code=code)
    assert not Path("clinic.ledger").exists()


def test_a_charge_is_logged_without_the_question(clinic):
    question = f"{ALL_VISITS} WHERE city = '{LITERAL}'"
    answered("cut --limits 1 --epsilon 1 --analyst ana --log charges.log", question)
    (line,) = Path("charges.log").read_text().splitlines()
    assert line.endswith("analyst 'ana', table 'visits' version '1', epsilon 1")
    assert LITERAL not in line
    assert "persons_over" not in line
    assert open_file(clinic).spent.requests == 1


def test_the_help_explains_the_price():
    found = discreet("cut --help")
    assert found.code == 0
    assert "paid for from the same budget" in found.output
