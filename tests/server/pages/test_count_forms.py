"""Forms for many counts: names as they are typed, cells by their places, and the same form again."""

from __future__ import annotations

import pytest

from discreet.server.catalogue import ServiceRefusal
from discreet.server.pages.count_forms import (
    CountAxis,
    axes_of,
    chosen_condition,
    count_body,
    count_fields,
    edge_of,
    listed_names,
)

EMPTY = dict.fromkeys(("kind", "table", "columns", "width", "by", "epsilon", "delta", "confidence"), "")
ENDS = {f"{end}{place}": "" for place in range(8) for end in ("from", "to")}
AGE = CountAxis(column="age", is_number=True, cells=(0, 10, 20))
CITY = CountAxis(column="city", is_number=False, cells=("Taipei", None))


def test_the_body_and_the_fields_of_many_counts():
    typed = {
        **EMPTY,
        "kind": "ranges",
        "table": "visits",
        "columns": 'age, "cost, in dollars"',
        "width": "age=10, cost=1/2",
        "by": "city",
        "epsilon": "0.10",
    }
    body = count_body(typed)
    assert body == {
        "question": {
            "kind": "ranges",
            "table": "visits",
            "columns": ["age", "cost, in dollars"],
            "width": {"age": "10", "cost": "1/2"},
            "by": ["city"],
        },
        "epsilon": "0.10",
    }
    assert count_fields(body) == typed
    plain = {**EMPTY, "kind": "cdf", "table": "visits", "columns": "age", "width": "10"}
    assert count_fields(count_body(plain)) == plain


def test_names_of_a_list():
    assert listed_names(' age ,, "a ""b"", c" ') == ["age", 'a "b", c']
    assert listed_names("") == []
    for text in ("a\nb", "c" * 200_000):
        with pytest.raises(ServiceRefusal) as refusal:
            listed_names(text)
        assert refusal.value.code == "malformed"


def test_a_condition_is_chosen_by_places():
    axes = [AGE, CITY]
    assert chosen_condition(axes, ENDS) == {}
    assert chosen_condition(axes, {**ENDS, "from0": "1", "to0": "2"}) == {"age": [10, 20]}
    assert chosen_condition(axes, {**ENDS, "to0": "2", "from1": "0"}) == {"age": [None, 20], "city": "Taipei"}
    assert chosen_condition(axes, {**ENDS, "from1": "1"}) == {"city": None}
    for wrong in ("3", "-1", "x", "9" * 30, "٣"):
        with pytest.raises(ServiceRefusal):
            chosen_condition(axes, {**ENDS, "from0": wrong})


def test_cells_in_words():
    assert [AGE.name_of(cell) for cell in AGE.cells] == ["0 up to 10", "10 up to 20", "20 and up"]
    assert [CITY.name_of(cell) for cell in CITY.cells] == ["Taipei", "no value"]


def test_choices_are_at_most_some_hundreds():
    assert AGE.choices == [(1, "10"), (2, "20")], "the lowest is where every range begins"
    assert CITY.choices == [(0, "Taipei"), (1, "no value")]
    many = CountAxis(column="cost", is_number=True, cells=tuple(range(100_000)))
    assert 250 <= len(many.choices) <= 500
    assert all(many.cells[place] == int(words) for place, words in many.choices)


def test_axes_are_read_from_the_declaration_and_the_rows():
    label = {"tables": {"visits": {"columns": {"age": {"node": "bounds"}, "city": {"node": "keys"}}}}}
    rows = [{"city": "a", "age": 0}, {"city": "a", "age": 10}, {"city": None, "age": None}]
    question = {"kind": "marginals", "table": "visits", "columns": ["city", "age"]}
    assert axes_of(question, {"label": label, "rows": rows}) == [
        CountAxis(column="city", is_number=False, cells=("a",)),
        CountAxis(column="age", is_number=True, cells=(0, 10)),
    ]


def test_edges_keep_their_digits():
    assert (edge_of(0.1), edge_of(3), edge_of()) == ("0.1", 3, None)
