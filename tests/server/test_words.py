"""What a worker does for each word, in one process."""

from __future__ import annotations

import pytest

from discreet.errors import BudgetExceeded, ParameterError
from discreet.front.opening import open_file
from discreet.server.catalogue import ServiceRefusal
from discreet.server.service_limits import ServiceLimits
from discreet.server.words import WORDS, do_word
from front.declared_clinic import write_clinic

BY_CITY = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


@pytest.fixture
def curator(tmp_path):
    found = open_file(write_clinic(tmp_path))
    yield found
    found.close()


def ask(curator, question=BY_CITY, *, form="rows", limits=None, word="ask", **terms):
    message = {"word": word, "question": question, "analyst": "ana", "terms": terms, "form": form}
    return do_word(curator, message, limits or ServiceLimits())


def test_the_words_are_those_that_keys_name():
    from discreet.server.keys import SCOPES

    of_questions = {"label", "counts", "verify", "suggest", "suggest_preview"}
    assert set(WORDS) == (set(SCOPES) - {"metrics", "keys"}) | of_questions | {"sources", "schema", "draft"}


def test_a_question_with_too_many_groups_is_refused_before_its_charge(curator):
    few = ServiceLimits(groups=1)
    for word in ("ask", "preview"):
        with pytest.raises(ServiceRefusal) as refused:
            ask(curator, word=word, limits=few, epsilon=1)
        assert refused.value.code == "too_many_groups"
    assert curator.spent.requests == 0
    assert ask(curator, limits=ServiceLimits(groups=2), epsilon=1)["paid"] == "epsilon 1"


def test_limits_and_bounds_of_a_question(curator):
    narrow = ask(curator, word="preview", epsilon=1)
    narrower = do_word(
        curator,
        {"word": "preview", "question": BY_CITY, "analyst": "ana", "terms": {"epsilon": 1, "limits": 1}},
        ServiceLimits(),
    )
    assert narrower["outputs"][0]["margin"] < narrow["outputs"][0]["margin"]
    with pytest.raises(ParameterError):
        do_word(
            curator,
            {"word": "preview", "question": BY_CITY, "analyst": "ana", "terms": {"epsilon": 1, "limits": 0}},
            ServiceLimits(),
        )


def test_refusals_are_raised_and_cost_nothing(curator):
    with pytest.raises(BudgetExceeded):
        ask(curator, epsilon=1000)
    assert curator.spent.requests == 0


def test_both_forms_hold_the_same_numbers(curator):
    rows = ask(curator, epsilon=1)["rows"]
    columns = ask(curator, form="columns", epsilon=1)
    assert columns["stored"]
    assert columns["outputs"][0]["values"]["values"] == [one["n"] for one in rows]


def test_spent_names_others_only_to_those_who_may_know(curator):
    ask(curator, epsilon=1)
    message = {"word": "spent", "analyst": "bea", "everyone": False}
    assert "analysts" not in do_word(curator, message, ServiceLimits())
    found = do_word(curator, {**message, "everyone": True}, ServiceLimits())
    assert [(one["name"], one["epsilon"]) for one in found["analysts"]] == [("ana", 1.0)]


def test_of_two_who_ask_the_same_at_once_one_pays(curator, tmp_path, monkeypatch):
    """The other asks between what the first reads and what it pays."""
    other = open_file(tmp_path / "clinic.toml")
    previewed, said = curator.preview, []

    def preview(*question, **terms):
        found = previewed(*question, **terms)
        said.append(ask(other, epsilon=1)["paid"])
        return found

    monkeypatch.setattr(curator, "preview", preview)
    assert (ask(curator, epsilon=1)["paid"], said) == ("nothing", ["epsilon 1"])
    assert curator.spent.requests == 1
    other.close()


def test_a_ledger_is_verified_and_described(curator):
    ask(curator, epsilon="0.01")
    found = do_word(curator, {"word": "verify"}, ServiceLimits())
    assert found["holds"]
    assert found["entries"] == found["head"]["sequence"]
    entries = do_word(curator, {"word": "ledger", "after": 0, "described": True}, ServiceLimits())
    last = [one for one in entries["described"] if one["kind"] == "charge"][-1]
    assert (last["cost"], last["words"]) == ("epsilon 0.01", "visits (version 1): count rows by city")
    assert "described" not in do_word(curator, {"word": "ledger", "after": 0}, ServiceLimits())
