"""Advice for Python, as it is written in a shell: options, and TOML."""

from __future__ import annotations

import pytest

from cli.folder import COUNT, prepare
from cli.program import refused
from discreet.data import Keys, Type
from discreet.data.language.types import column_type
from discreet.errors import ParameterError, UndeclaredColumn
from discreet.front.shell_words import in_shell
from discreet.privacy.rational import rational

DAYS = "{ dates = { first = 2020-01-01, last = 2024-12-31 } }"


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("as in Csv('visits.csv', delimiter=';')", 'as in csv = { delimiter = ";" }'),
        ("as in Csv('visits.csv', delimiter='\\t')", 'as in csv = { delimiter = "\\t" }'),
        ("state Csv(…, decimals={'Alter': '.'}); or", 'state csv = { decimals = { "Alter" = "." } }; or'),
        ("""Csv(…, decimals={"it's": '.'})""", """csv = { decimals = { "it's" = "." } }"""),
        ("or Csv('visits.csv', names=[…])", "or csv = { names = […] }"),
        ("declare Dates, and Csv(…, dates='%d.%m.%Y')", 'declare Dates, and csv = { dates = "%d.%m.%Y" }'),
        ("buy them with bounds=AUTO, or", "buy them with --bounds auto, or"),
        ("small counts; nonnegative() raises them to 0", "small counts; read them as 0"),
        ("a number, as Limits(rows=10)", "a number, as limits = { rows = 10 }"),
        ("a person and limits=Limits(rows=…)", "a person and limits = { rows = … }"),
        ("Limits(rows=AUTO, at_most=1000)", 'limits = { rows = "auto", at_most = 1000 }'),
        ("Bounds(…), Keys([…])", '{ lower = …, upper = …, step = … }, { keys = ["…"] }'),
        ("columns={'day': Dates(first, last)}", f"day = {DAYS}"),
        ('columns={"it\'s": Bounds(lower, upper)}', '"it\'s" = { lower = …, upper = …, step = … }'),
        ("declare columns={'a b': Keys([...])}, or", 'declare "a b" = { keys = ["…"] }, or'),
        ("nothing of this kind", "nothing of this kind"),
    ],
)
def test_python_becomes_toml_or_an_option(python, shell):
    assert in_shell(python) == shell


def test_options_of_the_command_come_first():
    text = "as in Csv('visits.csv', delimiter=';')"
    assert in_shell(text, {"delimiter": None}) == "as in --delimiter ';'"
    assert in_shell("Csv('a.csv', names=[…])", {"delimiter": None}) == "csv = { names = […] }"


def test_the_words_are_those_that_python_says():
    with pytest.raises(ParameterError) as caught:
        rational("0,1", "epsilon")
    assert in_shell(caught.value.allowed) == "a number with a point, such as 0.1, or a ratio, such as 1/3"
    assert in_shell(repr(Keys(["a"]))) == repr(Keys(["a"]))  # what was declared is shown as it is


@pytest.mark.parametrize(
    ("word", "known"), [("Patienten", "Patienten-Nr"), ("Nr", "Patienten-Nr"), ("a", 'a "b"')]
)
def test_a_word_of_a_column_is_to_be_quoted(word, known):
    with pytest.raises(UndeclaredColumn) as caught:
        column_type(word, {known: Type.TEXT, "Patientenzahl": Type.TEXT, "a_b": Type.TEXT, "Nr2": Type.TEXT})
    written = known.replace('"', '""')
    assert str(caught.value).endswith(f'; in SQL, such a name is written in double quotes: "{written}"')
    with pytest.raises(UndeclaredColumn, match=r"known columns: 'xy'$"):
        column_type("x", {"xy": Type.TEXT})


def test_in_a_refusal(tmp_path, monkeypatch):
    prepare(tmp_path, monkeypatch)
    assert "a number with a point, such as 0.1" in refused("query --epsilon 0,1", COUNT)
