"""To declare a table in a browser: names and types, a draft, what was looked at, and the record."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from canary import DATA_NUMBER, DATA_TEXT
from discreet.server.owning.owner_options import OwnerOptions
from server.owning.clinic import amendments, copies, options_of

SOURCE = {"source": "file:stays.csv", "name": "stays", "first_line": "names"}
STATED = {
    **SOURCE,
    "person": "column:patient_id",
    "rows": "3",
    "confirmed": "yes",
    "column0": "patient_id",
    "column1": "ward",
    "kind1": "keys",
    "stated1": 'north, "south, upper"',
    "column2": "nights",
    "kind2": "bounds",
    "stated2": "0 to 30 step 1",
}


def drafted(owner, **more):
    """The draft of a table, and the fields that declare it."""
    page = owner.send("/pages/owner/tables/draft", **{**STATED, **more})
    found = {
        name: re.search(rf'name="{name}" value="([0-9a-f]{{64}})"', page.text)
        for name in ("drafted", "digest")
    }
    return page, {name: one[1] for name, one in found.items() if one}


def test_without_a_folder_the_page_says_how_to_name_one(dashboard):
    page = dashboard.user("no folder", "owner").get("/pages/owner/tables").text
    assert "--data-folder" in page
    assert "/pages/owner/tables/draft" not in page


def test_files_and_columns_are_shown_by_name_and_no_value(kept_clinic):
    owner = kept_clinic.user("looking", "owner")
    listed = owner.get("/pages/owner/tables").text
    assert "file:stays.csv" in listed
    assert "visits.csv" not in listed
    for source, more in {"file:stays.csv": {"first_line": "names"}, "file:more/stays.parquet": {}}.items():
        page = owner.send("/pages/owner/tables", source=source, name="stays", **more)
        assert page.status_code == 200
        assert re.findall(r'name="column\d" value="(\w+)"', page.text) == ["patient_id", "ward", "nights"]
        for value in (DATA_TEXT, str(DATA_NUMBER), ">3<"):
            assert value not in page.text


@pytest.mark.parametrize(
    "source", ["file:../visits.csv", "file:/etc/passwd", "variable:HOME", "file:link.csv", "", "x:y", "file:"]
)
def test_S12_no_other_file_is_named(kept_clinic, source):
    owner = kept_clinic.user("straying", "owner")
    answer = owner.send("/pages/owner/tables", source=source, name="stays", first_line="names")
    assert answer.status_code in {400, 422}
    assert "root:" not in answer.text
    assert 'name="column0"' not in answer.text


def test_S12_control_a_path_that_is_joined_is_seen(kept_clinic, monkeypatch):
    monkeypatch.setattr(OwnerOptions, "file", lambda self, name: Path(self.folder) / name)
    for source in ("file:../visits.csv", "file:link.csv"):
        with pytest.raises(AssertionError, match="200"):
            test_S12_no_other_file_is_named(kept_clinic, source)


def test_a_csv_file_without_names_shows_nothing(kept_clinic):
    owner = kept_clinic.user("careful", "owner")
    for first_line in ("", "values"):
        answer = owner.send("/pages/owner/tables", source="file:stays.csv", name="s", first_line=first_line)
        assert answer.status_code == 422
        assert "what the first line holds" in answer.text
    answer = owner.send(
        "/pages/owner/tables", source="file:stays.csv", name="s", first_line="values", names="a, b, c"
    )
    assert re.findall(r'name="column\d" value="(\w+)"', answer.text) == ["a", "b", "c"]


def test_without_leave_the_section_is_shown_for_copying(kept_clinic):
    page, _ = drafted(kept_clinic.user("copying", "owner"))
    text = unescape(page.text)
    assert '[tables.stays]\nsource = "data/stays.csv"\nperson = "patient_id"' in text
    assert 'ward = { keys = ["north", "south, upper"] }\nnights = { lower = 0, upper = 30, step = 1 }' in text
    assert "discreet ledger amend" in text
    assert "Declare it" not in text
    assert copies(kept_clinic.file.parent) == []


@pytest.mark.slow
def test_S16_a_table_is_declared_as_it_was_looked_at(clinic):
    owner = clinic.user("olga", "owner")
    _, marks = drafted(owner)
    other = {**STATED, **marks, "reason": "stays", "rows": "9"}
    again = owner.send("/pages/owner/tables/declare", **other)
    assert "not what you looked at" in again.text
    assert copies(clinic.file.parent) == []
    done = owner.send("/pages/owner/tables/declare", **{**STATED, **marks, "reason": "stays of 2026"})
    assert "Changed, and on the record" in done.text
    (entry,) = amendments(clinic.file.parent)
    assert (entry["reason"], entry["agreed"]) == ("stays of 2026", ["olga"])
    assert "stays" in owner.get("/pages/data").text
    answer = owner.send("/pages/ask", question="SELECT COUNT(*) AS n FROM stays", epsilon="5")
    assert answer.status_code == 200
    taken, _ = drafted(owner, name="stays")
    assert "is that of the table" in unescape(taken.text)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"person": ""}, "no person is chosen"),
        ({"confirmed": ""}, "same name in all tables"),
        ({"rows": ""}, "limits"),
        ({"rows": "many"}, "whole number"),
        ({"name": "visits"}, "is taken"),
        ({"stated2": "from here"}, "0 to 5000"),
        ({"kind2": "dates", "stated2": "2020"}, "2020-01-01 to"),
        ({"stated1": '"open'}, "a list is written as"),
        ({"person": "column:nobody"}, "nobody"),
    ],
)
def test_what_is_wrong_is_said_and_what_was_typed_stays(kept_clinic, more, words):
    page, _ = drafted(kept_clinic.user("learning", "owner"), **more)
    assert page.status_code in {400, 422}
    assert words in unescape(page.text)
    if "stated2" not in more:
        assert 'value="0 to 30 step 1"' in page.text


def test_hidden_names_of_columns_are_sent_back_as_they_are(tmp_path, kept_clinic):
    evil = "a<script>alert(1)</script>\u202e"
    (tmp_path / "odd.csv").write_text(f"{evil},b\n1,2\n")
    kept = kept_clinic.options
    kept_clinic.options = options_of(kept_clinic.file.parent, folder=str(tmp_path), may_amend=False)
    try:
        owner = kept_clinic.user("odd", "owner")
        page = owner.send("/pages/owner/tables", source="file:odd.csv", name="odd", first_line="names").text
        assert "<script>alert" not in page
        shown = page[page.index("<tbody>") :]
        assert evil in unescape(re.search(r'name="column0" value="(.*?)"', shown)[1])
        answer = owner.send(
            "/pages/owner/tables/draft",
            **{**SOURCE, "source": "file:odd.csv", "name": "odd", "person": "row:", "confirmed": "yes"},
            column0=evil,
            kind0="keys",
            stated0="x",
        )
        assert answer.status_code == 200
    finally:
        kept_clinic.options = kept
