"""Printed texts hold nothing that a terminal obeys, and letters of every script stay."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.visible import visible, visible_json, visible_lines

HOSTILE = "a\x1b[31m\x9b2J\u202eb\u2066\r\n\t\x00\u2028\udc80\ufeff\U000e0041"


def obeyed(text):
    return [one for one in text if unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"}]


@given(st.text(alphabet=st.characters(exclude_characters="\u200c\u200d")))
def test_no_character_is_obeyed(text):
    assert not obeyed(visible(text + HOSTILE))
    assert len(visible(text).splitlines()) <= 1
    assert not [one for one in obeyed(visible_lines(text + HOSTILE)) if one != "\n"]


@given(st.text() | st.just(HOSTILE))
def test_json_means_the_same(text):
    written = json.dumps({text: [text]}, ensure_ascii=False, indent=1)
    assert json.loads(visible_json(written)) == {text: [text]}
    assert not [one for one in obeyed(visible_json(written)) if one not in "\n\u200c\u200d"]


@pytest.mark.parametrize(
    "text", ["", "plain", "Köln", "臺北 市", "می\u200cخواهم", "\xa0\u3000", 'it\'s "so" \\n', "👩\u200d🔬"]
)
def test_letters_stay(text):
    assert visible(text) == text


def test_long_texts_are_cut_on_request():
    assert visible("x" * 90, longest=10) == "x" * 9 + "…"
    assert visible("x" * 10, longest=10) == "x" * 10
