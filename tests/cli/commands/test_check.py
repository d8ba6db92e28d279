"""``discreet check``: the owner learns what is wrong; an analyst, the ledger and every file learn nothing."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest

from canary import DATA_TEXT, HARMLESS
from cli.folder import BY_CITY, answered, prepare
from cli.program import discreet, refused
from discreet.curator.door import Door
from discreet.data.tables.check_report import Check
from discreet.front import Curator
from discreet.front.rehearsal import Rehearsal
from front.declared_clinic import DECLARATION


@pytest.fixture(autouse=True)
def clinic(tmp_path, monkeypatch):
    return prepare(tmp_path, monkeypatch)


def test_the_owner_is_told_what_is_wrong_and_for_whom_it_is():
    found = answered("check clinic.toml").output
    assert found.startswith("table visits\nEXACT COUNTS, FOR THE OWNER ALONE")
    assert "age   1  clipped to the upper bound" in found
    assert "city  1  not among the keys: in no group" in found
    assert DATA_TEXT not in found
    written = json.loads(answered("check --json").output)["tables"]["visits"]
    assert written["rows"] == 402
    assert ("age", "above_bounds", 1) in [
        (one["column"], one["fault"], one["count"]) for one in written["findings"]
    ]


def test_strict_says_so_by_its_exit_code():
    assert discreet("check --strict").code == 6
    clean = "".join(f"{row},{('Taipei', 'Hamilton')[row % 2]},30,100.25,x\n" for row in range(9))
    Path("visits.csv").write_text("patient_id,city,age,cost,note\n" + clean)
    found = discreet("check --strict")
    assert (found.code, "nothing to report" in found.output) == (0, True)


def test_nothing_is_recorded_and_no_ledger_is_made():
    before = sorted(Path().iterdir())
    answered("check")
    assert sorted(Path().iterdir()) == before
    answered("query --epsilon 1", BY_CITY)
    content = Path("clinic.ledger").read_bytes()
    answered("check")
    assert Path("clinic.ledger").read_bytes() == content


def test_an_analyst_sees_the_same_whatever_an_owner_checked():
    question = f"SELECT COUNT(*) AS n FROM visits WHERE {HARMLESS}"  # noqa: S608
    asked = ("preview --epsilon 1", "explain", "query --epsilon 90")
    before = [discreet(one, question) for one in asked]
    answered("check")
    assert [discreet(one, question) for one in asked] == before
    shown = " ".join(one.output + one.errors for one in before)
    assert "OWNER" not in shown
    assert "402" not in shown


@pytest.mark.parametrize("door", [Door, Curator, Rehearsal])
def test_no_door_leads_to_a_check(door):
    for name, one in inspect.getmembers(door):
        returned = str(getattr(one, "__annotations__", {}).get("return", ""))
        assert Check.__name__ not in re.findall(r"\w+", returned), name


def test_tables_that_cannot_be_read():
    Path("visits.csv").unlink()
    assert "is not a file" in refused("check clinic.toml", code=5)
    refused("check nowhere.toml")
    Path("clinic.toml").write_text(DECLARATION.replace("age =", "aeg ="))
    refused("check", code=5)
