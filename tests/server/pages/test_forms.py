"""What browsers send: known fields, each once, as they were typed."""

from __future__ import annotations

import pytest

from discreet.server.catalogue import ServiceRefusal
from discreet.server.pages.forms import question_body, question_fields, read_fields, stated_numbers

EMPTY = dict.fromkeys(("question", "epsilon", "delta", "error", "confidence", "rows", "buy"), "")


def test_fields_are_read():
    assert read_fields(b"a=1%202&b=%C3%A9", ("a", "b", "c")) == {"a": "1 2", "b": "é", "c": ""}
    assert read_fields(b"", ("a",)) == {"a": ""}


@pytest.mark.parametrize("body", [b"a=1&a=2", b"other=1", b"\xff", b"a=%ff", b"a", b"a=1&" * 100, b"&&"])
def test_anything_else_is_refused(body):
    with pytest.raises(ServiceRefusal) as refusal:
        read_fields(body, ("a",))
    assert refusal.value.code == "malformed"


def test_the_body_of_a_question():
    typed = {**EMPTY, "question": " SELECT 1\r\n ", "epsilon": " 0.10 ", "rows": "20,000"}
    assert question_body(typed) == {"question": "SELECT 1", "epsilon": "0.10", "rows": 20_000}


def test_a_wanted_error_stands_instead_of_a_price():
    assert question_body({**EMPTY, "epsilon": "1", "error": "n=3, m=1/2"}) == {
        "question": "",
        "error": {"n": "3", "m": "1/2"},
    }
    assert stated_numbers("a=b=3", "") == {"a=b": "3"}
    assert stated_numbers(" , ", "") == {}


def test_the_fields_of_a_body_send_it_again():
    typed = {
        **EMPTY,
        "question": "SELECT 1",
        "error": "n=3, m=1/2",
        "rows": "7",
        "delta": "1e-6",
        "buy": "both",
    }
    assert question_fields(question_body(typed)) == typed


@pytest.mark.parametrize(
    "typed", [{"error": "n"}, {"error": "=3"}, {"error": "n=1,n=2"}, {"rows": "9" * 400}, {"buy": "all"}]
)
def test_what_cannot_be_read_is_refused(typed):
    with pytest.raises(ServiceRefusal):
        question_body({**EMPTY, **typed})
