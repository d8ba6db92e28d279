"""What is written as TOML is read as what it was."""

from __future__ import annotations

import tomllib
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data import Bounds, Limits
from discreet.front.declaring.declaration import declared_in
from discreet.front.declaring.toml_text import bounds_text, limits_text, number_text, toml_key, toml_value

SCALARS = st.one_of(st.text(), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.dates())
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=9
)


@given(st.text(), VALUES)
def test_values_come_back(name, value):
    written = f"{toml_key(name)} = {toml_value(value)}"
    assert "\n" not in written
    assert tomllib.loads(written) == {name: value}


@given(st.fractions(max_denominator=1000), st.integers(0, 6))
def test_numbers_come_back_exactly(number, places):
    exact = number if places == 0 else Fraction(number.numerator, 10**places)
    (found,) = tomllib.loads(f"x = {toml_value(exact)}", parse_float=Decimal).values()
    assert Fraction(found) == exact


@pytest.mark.parametrize("typed", ["0.01", "-5", "1e-6", "+3", "0"])
def test_numbers_stay_as_they_were_typed(typed):
    assert number_text(typed) == typed


@pytest.mark.parametrize("typed", ["1/3", "007", "x", "1\ny = 2", "", "0x10", "inf", "nan", "1_000", ".5"])
def test_anything_else_is_text_that_its_reader_judges(typed):
    assert tomllib.loads(f"x = {number_text(typed)}") == {"x": typed}


def test_declarations_come_back():
    bounds, limits = Bounds(-5, "7/2", step="1/100"), Limits(groups=4, rows_per_group=2)
    text = "[ledger]\nlocation = 'x'\n[budget]\nepsilon = 1\n[tables.t]\nsource = 'x.csv'\nperson = 'p'\n"
    text += f"{limits_text(limits)}\n[tables.t.columns]\n{bounds_text('a b', bounds)}\n"
    facts = declared_in("x.toml", text.encode()).tables["t"]
    assert (facts.limits, facts.columns) == (limits, {"a b": bounds})
    assert toml_value(date(2026, 1, 31)) == "2026-01-31"
