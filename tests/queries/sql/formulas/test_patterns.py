"""Regular expressions that are made of texts find what Python's do."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data import oracle
from discreet.data import Type, col
from discreet.data.language.expressions import walk
from discreet.errors import UnsupportedQuery
from discreet.queries.sql.formulas.patterns import matches
from effort import examples

NAME = col("name").expression
oracle.TYPES |= {"name": Type.TEXT}


@pytest.mark.parametrize(
    ("pattern", "formula"),
    [
        ("abc", col("name").contains("abc")),
        ("^abc", col("name").starts_with("abc")),
        ("abc$", col("name").ends_with("abc")),
        ("^abc$", col("name") == "abc"),
        (r"a\.b", col("name").contains("a.b")),
        ("^a.*b$", col("name").like("a%b")),
        ("a.b", col("name").like("%a_b%")),
        ("a.+b", col("name").like("%a_%b%")),
        ("a.*?b", col("name").like("%a%b%")),
        ("cat|dog", col("name").contains("cat") | col("name").contains("dog")),
        ("^(cat|dog)$", (col("name") == "cat") | (col("name") == "dog")),
        ("gr[ae]y", col("name").contains("gray") | col("name").contains("grey")),
        ("colou?r", col("name").contains("colour") | col("name").contains("color")),
        ("(?i)Abc", col("name").lower().contains("abc")),
        ("100%", col("name").contains("100%")),
    ],
)
def test_expressions_are_functions_of_text(pattern, formula):
    assert matches(NAME, pattern, fold=False) == formula.expression


PIECES = [
    "a",
    "b",
    "B",
    "-",
    r"\.",
    ".",
    ".*",
    ".+",
    ".?",
    "a?",
    "[ab]",
    "[a-c]?",
    "(a|bc)",
    "(a|)b",
    "(b.|c)?",
    "|",
]
PATTERNS = st.builds(
    lambda start, pieces, end: f"{start}{''.join(pieces)}{end}",
    st.sampled_from(["", "^", "(?i)"]),
    st.lists(st.sampled_from(PIECES), max_size=4),
    st.sampled_from(["", "$"]),
)
TEXTS = st.text(st.sampled_from("abcAB.-\n"), max_size=6)


@settings(max_examples=examples(400), deadline=None)
@given(PATTERNS, st.lists(TEXTS, min_size=10, max_size=10))
def test_what_is_found_is_what_python_finds(pattern, texts):
    try:
        condition = matches(NAME, pattern, fold=False)
    except UnsupportedQuery:
        return
    # Python's $ is met before a last line end, too.
    expected = re.compile(pattern.replace("$", r"\Z"), re.DOTALL)
    for text in texts:
        assert oracle.evaluate(condition, {"name": text}) == (expected.search(text) is not None), (
            pattern,
            text,
        )


def test_an_expression_stays_small():
    with pytest.raises(UnsupportedQuery, match="this regular expression"):
        matches(NAME, "[ab]" * 7, fold=False)
    assert sum(1 for _ in walk(matches(NAME, "[ab]" * 6, fold=False))) < 300


@pytest.mark.parametrize("pattern", ["x" * 1001, "[ab]" * 250, "(" * 15 + ")" * 15])
def test_reading_is_quick_and_never_fails(pattern):
    try:
        matches(NAME, pattern, fold=True)
    except UnsupportedQuery as refusal:
        assert "this regular expression" in str(refusal)  # noqa: PT017
