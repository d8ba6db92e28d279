"""LIKE as a regular expression: what it matches, against a matcher of its own, and how far it looks."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.engines.patterns import atomic_pattern


def like(text: str, pattern: str) -> bool:
    """The definition, by dynamic programming over prefixes."""
    reached = {0}
    for sign in pattern:
        if sign == "%":
            reached = set(range(min(reached), len(text) + 1)) if reached else set()
        else:
            reached = {
                place + 1 for place in reached if place < len(text) and (sign == "_" or text[place] == sign)
            }
    return len(text) in reached


@given(st.text("ab\n.😀", max_size=9), st.text("ab%_\n.😀", max_size=8))
def test_it_matches_what_like_matches(text, pattern):
    # The syntax used is common to Java and Python, whose atomic groups came with 3.11.
    assert (re.search(atomic_pattern(pattern), text) is not None) == like(text, pattern)


@pytest.mark.parametrize("sign", list("\\^$.|?*+()[]{}-&~#@ '\"${x}"))
def test_signs_that_mean_something_stand_for_themselves(sign):
    expression = atomic_pattern(f"%{sign}%")
    assert re.search(expression, f"a{sign}b")
    assert not re.search(expression, "a!b")
    assert "${" not in atomic_pattern("${spark.x}")


def test_a_part_that_was_found_is_kept():
    # Without atomic groups this takes 10^12 steps.
    assert re.search(atomic_pattern("%a%a%a%b"), "a" * 10_000) is None
