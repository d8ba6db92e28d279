"""What an owner says about rows that belong to a person through others."""

from __future__ import annotations

import pytest

from discreet.data import through
from discreet.data.language.ownership import Through
from discreet.errors import ParameterError


def test_names_may_be_one_or_several_and_differ_on_both_sides():
    assert through("orders", on="id") == Through(table="orders", on=("id",), to=("id",))
    both = through("legs", on=["a", "b"], to=("c", "d"), name="who")
    assert both == Through(table="legs", on=("a", "b"), to=("c", "d"), name="who")
    assert both.to_object() == {"table": "legs", "on": ["a", "b"], "to": ["c", "d"]}
    assert repr(both) == "through('legs', on=['a', 'b'], to=['c', 'd'], name='who')"
    assert repr(through("orders", on="id")) == "through('orders', on='id')"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("", "id"), "table is not the name"),
        ((1, "id"), "table is not the name"),
        (("orders", ""), "on is not a column"),
        (("orders", []), "on is not a column"),
        (("orders", 3), "on is not a column"),
        (("orders", ["a", 1]), "on is not a column"),
        (("orders", ["a", "a"]), "names a column twice"),
        (("orders", ["a", "b"], "c"), "another number of columns"),
        (("orders", "a", ""), "to is not a column"),
    ],
)
def test_what_is_not_a_key_is_refused(arguments, words):
    with pytest.raises(ParameterError, match=words):
        through(*arguments)


def test_the_name_of_the_person_is_a_name():
    with pytest.raises(ParameterError, match="name is not the name"):
        through("orders", on="id", name="")
