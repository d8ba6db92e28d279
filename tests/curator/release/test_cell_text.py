"""What is printed of an answer: digits that its error leaves, ends rounded outward, and what is not known."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.doors import CITIES, clinic
from discreet.cli.rendering import render
from discreet.curator import Budget, Draw
from discreet.curator.release.cell_text import cell, remark_of
from discreet.curator.release.release import finish
from discreet.curator.request.request import AnswerColumn
from discreet.data import Keys, Limits, Table
from discreet.front import Curator
from discreet.privacy.decimals import number

BY_CITY = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


def column(value, lower, upper, **more):
    kind = np.int64 if isinstance(value, int) else np.float64
    arrays = (np.array([one], kind) for one in (value, lower, upper))
    return AnswerColumn(name="x", **dict(zip(("values", "lower", "upper"), arrays, strict=True)), **more)


@pytest.mark.parametrize(
    ("value", "lower", "upper", "text"),
    [
        (1234567, 1234000, 1235134, "1,234,570 ± 570"),
        (12345678, 12345669, 12345687, "12,345,678 ± 9"),
        (1234567.891, 1234357.491, 1234778.291, "1,234,570 ± 220"),
        (0.123456, 0.120336, 0.126576, "0.1235 ± 0.0032"),
        (3.14159, 3.0, 4.0, "3.14 (3.00 to 4.00)"),
        (9876.5, 0.0, 20000.0, "10,000 (0 to 20,000)"),
        (7, 7, 7, "7 ± 0"),
        (-0.0, -0.001, 0.001, "0.000 ± 0.001"),
        (13.0, 12.9, 13.0, "13.0 (12.9 to 13.0)"),
        (13.1, 12.9, 13.3, "13.1 ± 0.2"),
        (13.0, 12.0, 15.0, "13 (12 to 15)"),
        (0.25, 0.23, 0.27, "0.25 ± 0.02"),
        (float("nan"), 0.0, 1.0, "unknown"),
        (1e300, 0.0, 2e300, None),
        (1e-30, 0.0, 2e-30, "1e-30 ± 1e-30"),
        (0.78, 0.55, 1 + 2.0**-50, "0.78 (0.55 to 1.00)"),
        (-0.78, -1 - 2.0**-50, -0.55, "-0.78 (-1.00 to -0.55)"),
        (0.2, -(2.0**-1000), 0.55, "0.20 (0.00 to 0.55)"),
        (0.78, 0.55, 1 + 1e-9, "0.78 (0.55 to 1.01)"),
    ],
)
def test_values_have_the_digits_that_their_errors_leave(value, lower, upper, text):
    found = cell(column(value, lower, upper), 0)
    assert found == text if text is not None else "±" in found


@given(
    st.floats(-1e12, 1e12),
    st.floats(1e-6, 1e9),
    st.sampled_from([-1, 0, 1]),
)
def test_ends_are_rounded_outward_by_less_than_a_tenth_of_the_error(value, error, side):
    printed = Fraction(number(value, error, side=side).replace(",", ""))
    moved = printed - Fraction(repr(value))
    assert moved * side >= 0
    allowed = Fraction(error) / 10 + abs(Fraction(value)) / 10**14
    assert abs(moved) <= allowed / (1 if side else 2) + Fraction(1, 10**12)


@pytest.mark.parametrize(
    ("value", "lower", "upper", "text"),
    [
        (12, 0, 62, "12 (at most 62)"),
        (-26, 0, 24, "-26 (at most 24)"),
        (-126, 0, 0, "-130 (at most 0)"),
        (80, 30, 130, "80 ± 50"),
    ],
)
def test_a_count_near_0_says_at_most(value, lower, upper, text):
    one = column(value, lower, upper, excess=12.0)
    assert cell(one, 0) == text
    assert ("noise around small counts" in remark_of(one)) == (value < 0)


def test_where_nothing_is_known_the_value_is_not_printed():
    assert cell(column(4812.0, 0.0, 5000.0, unknown=np.array([True])), 0) == "unknown (0 to 5,000)"


def counted(place, steps):
    request = clinic(place).request(BY_CITY, epsilon=1)
    return finish(request, [Draw(part=request.parts[0], steps=np.array(steps))], {"private": True})


def test_counts_raised_to_0_say_their_bias(place):
    release = counted(place, [-40, 3, 90000])
    raised = release.nonnegative()
    assert raised["n"].tolist() == [0, 3, 90000]
    assert release["n"].tolist() == [-40, 3, 90000]
    (one,) = raised.outputs
    assert one.bias == release.outputs[0].excess > 0
    assert (one.lower <= one.values).all()
    assert (one.values <= one.upper).all()
    assert raised.label["nonnegative"] == {"n": one.bias}
    assert "nonnegative" not in release.label
    assert "n: raised to 0 where negative, which puts it up to" in str(raised)
    assert "n: raised to 0" in raised._repr_html_()
    assert raised.request == release.request
    assert raised.nonnegative()["n"].tolist() == raised["n"].tolist()


def test_all_digits_stay_in_the_answer(place):
    release = counted(place, [1234567, 3, 5])
    assert release.to_pandas()["n"].tolist() == [1234567, 3, 5]
    assert "1,234,567" in str(release)


def test_an_answer_without_groups_says_so(place):
    empty = counted(place, [1, 2, 3]).at([])
    assert str(empty).splitlines()[1] == "no group is left: none meets the conditions on released values"
    assert "no group is left" in empty._repr_html_()
    assert len(CITIES) == 3


def test_keys_and_names_are_printed_in_one_line_that_no_terminal_obeys(tmp_path):
    keys = ["a\nb", "\x1b[31mred", "\u202eabc", "ok"]
    rows = pyarrow.table({"c": keys * 9, "who": range(36)})
    table = Table(rows, person="who", limits=Limits(rows=1), columns={"c": Keys(keys)})
    curator = Curator({"t": table}, budget=Budget(epsilon=9), ledger=tmp_path / "l")
    question = 'SELECT c, COUNT(*) AS "n\x1b[2J\nforged" FROM t GROUP BY c'
    answer = curator.ask(question, epsilon=0.01)
    shown = [
        str(answer),
        answer._repr_html_(),
        str(curator.preview(question, epsilon=0.01)),
        curator.preview(question, epsilon=0.01)._repr_html_(),
        "\n".join(answer.remarks()),
    ]
    for text in shown:
        assert not [one for one in text if not (one.isprintable() or one == "\n")]
        assert not [line for line in text.split("\n") if line.startswith("forged")]
    assert "\x1b" not in curator.explain(question, epsilon=0.01)
    assert str(answer).count("\n") == 4 + len(answer.remarks()) + 1
    assert list(answer.to_pandas()["c"]) == keys
    assert render(answer, "csv").decode().startswith('c,"n\x1b[2J\nforged"')
    assert json.loads(render(answer, "json"))["rows"][1]["c"] == keys[1]
    table_text = render(answer, "table").decode()
    assert "\x1b" not in table_text
    assert "a\\nb " in table_text
