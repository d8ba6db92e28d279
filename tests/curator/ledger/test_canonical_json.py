"""One text for each value, and no text for what has none."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.curator.ledger.canonical_json import MOST_BODY_CHARACTERS, canonical, check_body, read_canonical
from discreet.errors import ParameterError

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
BODIES = st.dictionaries(WORDS, VALUES, max_size=3)


@given(BODIES)
def test_what_is_written_is_read_and_written_again(body):
    text = check_body(body)
    assert text.isascii()
    assert read_canonical(text) == body
    assert canonical(read_canonical(text)) == text


@given(BODIES, BODIES)
def test_different_values_have_different_texts(one, other):
    """In Python True == 1; as JSON they differ."""
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (check_body(one) == check_body(other)) == same


@given(BODIES, st.randoms())
def test_the_order_of_keys_does_not_matter(body, random):
    items = list(body.items())
    random.shuffle(items)
    assert check_body(dict(items)) == check_body(body)


@pytest.mark.parametrize(
    "value",
    [0.5, float("nan"), float("inf"), 1e300, Fraction(1, 3), Decimal(1), b"x", {1, 2}, object(), 1j],
)
def test_what_is_no_value_is_refused_by_its_type_alone(value):
    for body in ({"a": value}, {"a": [1, {"b": value}]}):
        with pytest.raises(ParameterError, match=f"holds a {type(value).__name__}"):
            check_body(body)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ([], "is a list"),
        (None, "is a NoneType"),
        ({1: 2}, "key of type int"),
        ({"a": 2**63}, "64 bits"),
        ({"a": -(2**63) - 1}, "64 bits"),
        ({"a": "\ud83d\ude00"}, "surrogate"),
        ({"\ud83d": 1}, "surrogate"),
        ({"a": "x" * MOST_BODY_CHARACTERS}, "too long"),
    ],
)
def test_refusals(body, problem):
    with pytest.raises(ParameterError, match=problem):
        check_body(body)


def test_depth_is_bounded():
    body = {"a": 1}
    for _ in range(100):
        body = {"a": [body]}
    with pytest.raises(ParameterError, match="too deep"):
        check_body(body)
    circle = {}
    circle["a"] = circle
    with pytest.raises(ParameterError, match="too deep"):
        check_body(circle)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        '{"a": 1}',
        '{"b":1,"a":1}',
        '{"a":1,"a":1}',
        '{"a":1.0}',
        '{"a":NaN}',
        '{"a":-0}',
        '{"a":"é"}',
        '{"a":"\\u0041"}',
        '{"a":1} ',
        '{"a":' * 100_000,
        '{"a":' + "9" * 5000 + "}",
    ],
)
def test_only_canonical_text_is_read(text):
    with pytest.raises(ValueError):  # noqa: PT011
        read_canonical(text)
