"""What is said below an answer: its price, what is left, and what the table does not show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from curator.doors import BY_CITY, COUNT, clinic
from discreet.curator import Budget
from discreet.curator.release import said


def test_the_price_and_what_is_left_to_this_analyst(place):
    curator = clinic(place, budget=Budget(epsilon=10, per_analyst=Budget(epsilon=4)))
    assert said.notes(curator.ask(COUNT, epsilon=1, analyst="ana")) == [
        "paid epsilon 1; left: a pure epsilon of 3"
    ]
    assert said.notes(curator.ask(COUNT, epsilon=1, analyst="ben")) == [
        "answered from the store, nothing spent; left: a pure epsilon of 4"
    ]


def test_what_is_bought_and_chosen_is_a_part_of_the_price(place):
    curator = clinic(place, budget=Budget(epsilon=100, delta=1e-3))
    sql = "SELECT household, AVG(age) AS m FROM visits GROUP BY household"
    (note,) = said.notes(curator.ask(sql, epsilon=50, delta=1e-4))
    assert note.startswith("paid epsilon 50 and delta ")


def test_made_up_rows_have_no_price(place):
    release = clinic(place).sandbox(rows=100).ask(COUNT, epsilon=1)
    assert said.notes(release) == ["made-up rows: not private"]


def test_labels_of_earlier_versions_are_read(place):
    release = clinic(place).ask(BY_CITY, epsilon=1)
    old = {name: one for name, one in release.label.items() if name not in {"counted", "left"}}
    earlier = replace(release, label=old)
    assert said.what_was_counted(earlier) == []
    assert said.notes(earlier) == []
    assert str(earlier).splitlines()[0] == str(release).splitlines()[0]


@pytest.mark.parametrize(("shown", "words"), [(3, []), (1, ["… 2 more groups: to_pandas() has all of them"])])
def test_groups_that_are_not_printed(place, shown, words):
    assert said.groups_left_out(clinic(place).ask(BY_CITY, epsilon=1), shown) == words


def test_one_group_that_is_not_shown_is_told_and_intervals_name_their_confidence(place):
    release = clinic(place).ask(BY_CITY, epsilon=1, confidence=0.5)
    assert len(said.groups_left_out(release, len(release) - 1)) == 1
    (line,) = said.what_was_counted(release)
    assert line.endswith("; intervals at 50%")
