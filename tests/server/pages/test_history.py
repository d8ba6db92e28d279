"""What was asked: by each name apart, the latest first, up to a number."""

from __future__ import annotations

from discreet.server.pages.history import History


def answered(paid="epsilon 1"):
    return {"paid": paid, "label": {"charge": {"entry": 3}}}


def test_the_latest_is_first_and_names_are_apart():
    history = History()
    first = history.add("ana", {"question": "a"}, answered())
    history.add("ana", {"question": "b"}, answered())
    assert [one.body["question"] for one in history.of("ana")] == ["b", "a"]
    assert history.of("ben") == []
    assert history.find("ana", str(first.number)) == first
    assert history.find("ben", str(first.number)) is None


def test_a_repeat_moves_to_the_front_and_keeps_its_price():
    history = History()
    history.add("ana", {"question": "a"}, answered())
    history.add("ana", {"question": "b"}, answered())
    history.add("ana", {"question": "a"}, answered("nothing"))
    assert [(one.body["question"], one.paid) for one in history.of("ana")] == [
        ("a", "epsilon 1"),
        ("b", "epsilon 1"),
    ]


def test_many_counts_are_told_in_words():
    asked = {
        "kind": "ranges",
        "table": "visits",
        "columns": ["age", "cost"],
        "width": {"age": "10"},
        "by": ["city"],
    }
    found = History().add("ana", {"question": asked}, answered())
    assert found.words == "All ranges of age, cost in visits; cells of width age 10; for each city"
    assert History().add("ana", {"question": "SELECT 1"}, answered()).words == "SELECT 1"


def test_the_oldest_are_forgotten():
    history = History()
    for place in range(300):
        history.add("ana", {"question": str(place)}, answered())
    assert len(history.of("ana")) == 200
    assert history.of("ana")[0].body["question"] == "299"
