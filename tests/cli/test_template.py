"""The text of a new file: TOML whatever it is made of, with blanks where nothing is known."""

from __future__ import annotations

import datetime
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.template import Draft, declaration_text
from discreet.front.declaring.sections import BLANK
from discreet.front.declaring.toml_text import quoted

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@given(TEXTS)
def test_texts_are_read_back(text):
    assert tomllib.loads(f"x = {quoted(text)}") == {"x": text}
    assert tomllib.loads(f"# {quoted(text)}\nx = 1") == {"x": 1}


@given(table=TEXTS.filter(bool), source=TEXTS, person=TEXTS, names=st.lists(TEXTS, unique=True, max_size=3))
def test_any_names(table, source, person, names):
    draft = Draft(
        ledger="a.ledger",
        table=table,
        source=source,
        person=person,
        rows=3,
        epsilon="1/3",
        columns=dict.fromkeys(names, "text"),
        keys={name: ["x", name] for name in names},
    )
    found = tomllib.loads(declaration_text(draft))
    assert found["budget"] == {"epsilon": "1/3"}
    facts = found["tables"][table]
    assert (facts["source"], facts["person"], facts["limits"]) == (source, person, {"rows": 3})
    assert facts["columns"] == {name: {"keys": ["x", name]} for name in names}
    assert draft.blanks == []


def test_nothing_is_known():
    draft = Draft(ledger="a.ledger")
    found = tomllib.loads(declaration_text(draft))
    assert found["budget"] == {"epsilon": BLANK}
    assert found["tables"]["visits"]["source"] == BLANK
    assert found["tables"]["visits"]["person"] == BLANK
    assert found["tables"]["visits"]["limits"] == {"rows": BLANK}
    assert len(draft.blanks) == 4


def test_every_comment_is_a_line_of_its_own():
    lines = declaration_text(Draft(ledger="a.ledger")).splitlines()
    public = next(line for line in lines if "A public table to join with" in line)
    assert public.startswith("# A public table")
    assert lines[lines.index(public) - 1].startswith("#   prepare = true ")
    (form,) = [line.removeprefix("#   ") for line in lines if line.startswith("#   csv = ")]
    assert tomllib.loads(form)["csv"]["decimal"] == ","


@pytest.mark.parametrize("number", ["0", "-5", "0.01", "1e-6", "1/3", ".5", "5.", "007", "+1"])
def test_numbers_are_what_was_typed(number):
    from discreet.privacy.rational import rational

    draft = Draft(
        ledger="a",
        epsilon=number,
        delta=number,
        columns={"x": "float"},
        bounds={"x": [number, number, number]},
    )
    found = tomllib.loads(declaration_text(draft), parse_float=str)
    columns = found["tables"]["visits"]["columns"]["x"]
    for value in (found["budget"]["epsilon"], found["budget"]["delta"], *columns.values()):
        assert rational(value, "value") == rational(number, "number")


def test_keys_of_every_type():
    day = datetime.date(2026, 1, 31)
    keys = {"a": [1, -2], "b": [True, False], "c": [day], "d": ['"', "\x7f"]}
    text = declaration_text(Draft(ledger="a", each_row=True, columns=dict.fromkeys(keys, "other"), keys=keys))
    columns = tomllib.loads(text)["tables"]["visits"]["columns"]
    assert {name: facts["keys"] for name, facts in columns.items()} == keys
