"""What a worker does for owners: what it tells of rows, and what it never does."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict

import pytest

from canary import DATA_NUMBER, DATA_TEXT
from discreet.errors import BudgetExceeded, ParameterError
from discreet.front.opening import open_file
from discreet.server.owning.owner_words import OWNER_WORDS
from discreet.server.service_limits import ServiceLimits
from discreet.server.words import WORDS, do_word
from server.owning.clinic import HEADER, SOURCE, column, copies, options_of, stated

LIMITS = ServiceLimits()
MORE = f"77,north,{DATA_NUMBER}\n77,{DATA_TEXT},x\n,,\n"


@pytest.fixture
def curator(clinic):
    with closing(open_file(clinic / "clinic.toml")) as found:
        yield found


def word(curator, clinic, name, **message):
    options = asdict(options_of(clinic, **message.pop("options", {})))
    return do_word(curator, {"word": name, "options": options, "analyst": "olga", **message}, LIMITS)


def test_sources_are_names(curator, clinic):
    found = word(curator, clinic, "sources")
    assert found["files"] == [
        {"name": "more/stays.parquet", "is_csv": False},
        {"name": "stays.csv", "is_csv": True},
    ]
    assert (found["has_folder"], found["may_amend"], found["two_owners"]) == (True, True, False)
    assert set(OWNER_WORDS) <= set(WORDS)


def test_S5_S8_what_is_told_before_the_check_is_the_same_for_neighbors(curator, clinic):
    """The control: the check, which is for the owner alone, tells them apart."""
    file = clinic / "data" / "stays.csv"
    alone = file.read_text()

    def told():
        table = {**SOURCE, "file": "stays.csv", "csv": HEADER}
        change = {"table": stated(columns={"nights": column(lower="0", upper="9")}), "budget": None}
        return [
            word(curator, clinic, "sources"),
            word(curator, clinic, "schema", table=table),
            word(curator, clinic, "draft", change=change),
        ]

    def checked():
        from discreet.data import Csv, Limits, Table

        return Table(Csv(file), person="patient_id", limits=Limits(rows=3)).check().to_object()

    before = json.dumps(told()), checked()
    file.write_text(alone + MORE)
    after = json.dumps(told()), checked()
    assert before[0] == after[0]
    assert before[1] != after[1]
    file.write_text(alone)


def test_S5_S8_control_a_number_of_rows_is_seen(curator, clinic, monkeypatch):
    def tells(curator, message, limits):
        rows = len((clinic / "data" / message["table"]["file"]).read_text().splitlines())
        return {"columns": [], "rows": rows}

    monkeypatch.setitem(WORDS, "schema", tells)
    with pytest.raises(AssertionError):
        test_S5_S8_what_is_told_before_the_check_is_the_same_for_neighbors(curator, clinic)


def test_a_check_counts_exactly_and_says_for_whom(curator, clinic):
    found = word(curator, clinic, "check", table="visits")
    assert found["rows"] == 402
    assert "FOR THE OWNER ALONE" in found["for_the_owner_alone"]
    assert DATA_TEXT not in json.dumps(found)
    assert curator.account().charges == 0
    for table in ("nothing", ""):
        with pytest.raises(ParameterError, match="not a private table"):
            word(curator, clinic, "check", table=table)


def test_without_leave_nothing_is_changed(curator, clinic):
    change = {"table": None, "budget": {"epsilon": "9999"}}
    terms = {"change": change, "reason": "x", "agreed": ["olga"], "expected": ""}
    with pytest.raises(ParameterError, match="was not said when this server was started"):
        word(curator, clinic, "amend", options={"may_amend": False}, **terms)
    assert copies(clinic) == []


def test_S5_a_file_that_cannot_be_written_is_named_in_fixed_words(curator, clinic, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "/srv/secret/place")

    from discreet.server.owning import amending, file_changes

    change = {"table": None, "budget": {"epsilon": "9999"}}
    expected = word(curator, clinic, "sources")["digest"]
    before = (clinic / "clinic.toml").read_bytes()
    for module, name in ((file_changes, "synchronize"), (amending, "put_in_place")):
        with monkeypatch.context() as planted:
            planted.setattr(module, name, full)
            with pytest.raises(ParameterError, match="cannot be read or written") as caught:
                word(curator, clinic, "amend", change=change, reason="x", agreed=["olga"], expected=expected)
            assert "secret" not in str(caught.value)
    assert (clinic / "clinic.toml").read_bytes() == before
    (clinic / "clinic.toml").rename(clinic / "elsewhere.toml")
    with pytest.raises(ParameterError, match="cannot be read or written"):
        word(curator, clinic, "draft", change=change)
    (clinic / "elsewhere.toml").rename(clinic / "clinic.toml")


def suggestion(curator, clinic, name, column=None, **terms):
    return word(curator, clinic, name, table="visits", column=column, terms=terms)


def test_suggestions_are_priced_bought_and_written_as_they_are_declared(curator, clinic):
    priced = suggestion(curator, clinic, "suggest_preview", "cost", epsilon="20")
    assert priced["preview"]["epsilon"] == 20
    assert curator.account().charges == 0
    bought = suggestion(curator, clinic, "suggest", "cost", epsilon="20")
    assert (bought["paid"], bought["section"]) == ("epsilon 20", "[tables.visits.columns]")
    assert bought["text"] == "cost = { lower = 100, upper = 200, step = 0.01 }"
    assert suggestion(curator, clinic, "suggest", "cost", epsilon="20")["paid"] == "nothing"
    limit = suggestion(curator, clinic, "suggest", epsilon="20")
    assert (limit["text"], limit["section"]) == ("limits = { rows = 2 }", "[tables.visits]")
    assert curator.account().charges == 2


def test_S4_what_was_paid_is_never_called_refused(curator, clinic):
    """All counts may be noise: that is known only after the charge, and the bill says so."""
    found = suggestion(curator, clinic, "suggest", "cost", epsilon="0.0001")
    assert found["text"] is None
    assert "noise" in found["words"]
    assert (found["paid"], curator.account().charges) == ("epsilon 0.0001", 1)


def test_what_cannot_be_suggested_is_refused_before_the_charge(curator, clinic):
    for column_named, terms in {"city": {"epsilon": 1}, "nothing": {"epsilon": 1}, "cost": {}}.items():
        with pytest.raises(ParameterError):
            suggestion(curator, clinic, "suggest", column_named, **terms)
    with pytest.raises(BudgetExceeded):
        suggestion(curator, clinic, "suggest", "cost", epsilon=41)
    assert curator.account().charges == 0
