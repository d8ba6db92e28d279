"""The words that users type."""

from __future__ import annotations

from fractions import Fraction
from unittest import mock

import pytest

from canary import ASKED_NUMBER, ASKED_TEXT
from curator.doors import BY_CITY, COUNT, clinic, entries, usual_visits
from discreet.curator import Budget
from discreet.curator import door as door_module
from discreet.data import col, count
from discreet.errors import BudgetExceeded, EngineFailed, ParameterError, UndeclaredColumn
from discreet.front import Curator
from discreet.privacy.rational import float_below


def test_sql_frames_and_requests_are_one_question(place):
    curator = clinic(place)
    frame = curator.table("visits").filter(
        (col("note").is_null() | (col("note") != ASKED_TEXT))
        & (col("age").is_null() | (col("age") != ASKED_NUMBER))
    )
    frame = frame.group_by("city").agg(n=count(), mean_cost=col("cost").mean())
    request = curator.request(BY_CITY, epsilon="1/2")
    releases = [
        curator.ask(BY_CITY, epsilon="1/2"),
        curator.ask(frame, epsilon="0.5"),
        curator.ask(request),
        curator.sql(BY_CITY, epsilon=Fraction(1, 2)),
        curator.answer(request),
    ]
    assert len({str(release.columns()) for release in releases}) == 1
    assert len(entries(curator, "charge")) == 1


@pytest.mark.parametrize(
    "extra",
    [
        {"epsilon": 1},
        {"rho": 1},
        {"error": {"n": 3}},
        {"split": {}},
        {"confidence": 0.5},
    ],
)
def test_a_finished_request_takes_no_offer(place, extra):
    """It would be passed over in silence, and another price paid than was named."""
    curator = clinic(place)
    request = curator.request(COUNT, epsilon="1/2")
    with pytest.raises(ParameterError, match="has its offer"):
        curator.ask(request, **extra)
    with pytest.raises(ParameterError, match="has its offer"):
        curator.preview(request, **extra)
    assert curator.ask(request).event == request.event


@pytest.mark.parametrize("question", [None, 3, b"SELECT", ["SELECT"]])
def test_what_is_no_question(place, question):
    with pytest.raises(ParameterError, match="question"):
        clinic(place).ask(question, epsilon=1)


def test_tables_by_name(place):
    curator = clinic(place)
    with pytest.raises(ParameterError, match="visits"):
        curator.table("staff")
    with pytest.raises(UndeclaredColumn):
        curator.ask("SELECT COUNT(*) AS n FROM staff", epsilon=1)
    assert curator.tables == {"visits": usual_visits()}


def test_explain_needs_no_offer(place):
    curator = clinic(place)
    assert "divided as" in curator.explain(BY_CITY)
    assert "noise and cost" in curator.explain(BY_CITY, epsilon=1)


def test_what_was_spent_and_what_remains(place):
    curator = clinic(place, budget=Budget(epsilon=3, delta="1e-6"))
    assert curator.spent.epsilon == curator.spent.lifetime_epsilon == curator.spent.rho == 0
    assert curator.spent.delta == 0
    before = curator.remaining
    curator.ask(COUNT, epsilon=1)
    spent = curator.spent
    assert (spent.epsilon, spent.lifetime_epsilon, spent.rho, spent.requests) == (1, 1, 0.5, 1)
    assert (spent.delta, before.epsilon, curator.remaining.epsilon) == (0, 3, 2)
    request = curator.request(BY_CITY, epsilon="1/2")
    assert curator.remaining.fits(request) == curator.preview(request).fits == 4
    assert before.fits(request) == 6


def test_amounts_are_written_as_they_were_typed(place):
    """0.1 three times is 0.3, not 0.30000000000000004; and what is left can be offered as it is written."""
    curator = clinic(place, budget=Budget(epsilon="2.9"))
    for asked in range(3):
        curator.ask(f"{COUNT} AND age < {asked}", epsilon="0.1")
    spent, left = curator.spent, curator.remaining
    assert (spent.epsilon, spent.lifetime_epsilon, left.epsilon) == (0.3, 0.3, 2.6)
    assert curator.ask(COUNT, epsilon=left.epsilon).label["budget"]["lifetime_epsilon"] == 2.9
    assert "<td>0.3</td>" in spent._repr_html_()
    assert "<td>2.6</td>" in left._repr_html_()


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_pure_requests_add_up_whether_there_is_a_delta_or_not(place, delta):
    curator = clinic(place, budget=Budget(epsilon=3, delta=delta))
    for asked in range(1, 7):
        curator.ask(curator.table("visits").filter(col("age") < asked).agg(n=count()), epsilon="1/2")
        assert (curator.spent.epsilon, curator.spent.delta) == (asked / 2, 0)
        assert curator.remaining.epsilon == 3 - asked / 2
    with pytest.raises(BudgetExceeded, match=r"16.67% of the budget, of which epsilon 0, 0.00% is left"):
        curator.ask(COUNT, epsilon="1/2")
    whole = clinic(place, budget=Budget(epsilon=3, delta=delta), name="whole.ledger")
    whole.ask(COUNT, epsilon=3)
    assert whole.remaining.epsilon == 0


def test_what_normal_noise_spent_is_read_at_a_delta_within_the_budget(place):
    curator = clinic(place, budget=Budget(epsilon=3, delta="1e-6"))
    curator.ask(COUNT, rho="1/50")
    assert 0 < curator.spent.epsilon < 3
    assert 0 < curator.spent.delta <= 1e-6
    assert curator.spent.lifetime_epsilon == curator.spent.epsilon
    assert 0 < curator.remaining.epsilon < 3
    # A delta that a budget has not is refused by name, before any cost is counted.
    pure = clinic(place, budget=Budget(epsilon=3), name="pure.ledger")
    with pytest.raises(ParameterError, match="the budget has none"):
        pure.ask(COUNT, epsilon=1, delta="1e-9")
    with pytest.raises(BudgetExceeded, match="has no delta to spend"):
        pure.permit("a model", epsilon=1, delta="1e-9")


@pytest.mark.parametrize(
    "budget", [Budget(epsilon="1/3"), Budget(epsilon=3, delta="1e-6"), Budget(rho="1/7")]
)
def test_what_remains_is_rounded_down_and_can_be_spent(place, budget):
    curator = clinic(place, budget=budget)
    remaining = curator.remaining.epsilon
    exact = min(one.largest_epsilon for _, one in curator.account().filters(""))
    assert Fraction(remaining) <= exact
    curator.ask(COUNT, epsilon=Fraction(float_below(exact * Fraction(999999, 1000000))))
    assert curator.remaining.epsilon < remaining / 20
    assert "Account" not in repr(curator.remaining)


def test_normal_noise_under_a_budget_without_delta_is_read_as_rho(place):
    curator = clinic(place, budget=Budget(rho=1))
    curator.ask(COUNT, rho="1/4")
    assert curator.spent.epsilon == float("inf")
    assert curator.spent.rho == curator.spent.lifetime_rho == pytest.approx(0.25, abs=1e-9)


def test_options_that_do_not_exist_are_errors_of_the_caller(place):
    curator = clinic(place)
    for word in (curator.ask, curator.preview, curator.request, curator.explain):
        for typed, meant in (
            ("epsilom", "epsilon"),
            ("eps", "epsilon"),
            ("Rho", "rho"),
            ("conf", "confidence"),
        ):
            with pytest.raises(TypeError, match=f"'{typed}'; did you mean {meant}"):
                word(COUNT, **{typed: 1})
        with pytest.raises(TypeError, match="it takes epsilon, delta, rho"):
            word(COUNT, epsilon=1, xyzzy=1)
    assert entries(curator, "charge") == []
    assert isinstance(curator, Curator)


def test_a_delta_that_the_budget_has_no_use_for_is_refused(place):
    """It would be passed over in silence where pure noise is better, and fit nowhere where it is not."""
    shared = Budget(epsilon=3, delta="1e-6", per_analyst=Budget(epsilon=1))
    for name, budget in (("pure.ledger", Budget(epsilon=3)), ("shares.ledger", shared)):
        curator = clinic(place, name=name, budget=budget)
        for word in (curator.ask, curator.preview, curator.explain, curator.request):
            with pytest.raises(ParameterError, match="delta is offered, but the budget has none"):
                word(COUNT, epsilon=1, delta="1e-9")
        assert entries(curator, "charge") == []
        curator.ask(COUNT, epsilon=1, delta=0)
    for name, budget in (
        ("both.ledger", Budget(epsilon=3, delta="1e-6")),
        ("concentrated.ledger", Budget(rho=1)),
    ):
        curator = clinic(place, name=name, budget=budget)
        curator.ask(BY_CITY, epsilon="1/2", delta="1e-9")
        assert "noise and cost" in curator.explain(BY_CITY, epsilon="1/2", delta="1e-9")


def test_an_offer_has_a_name(place):
    curator = clinic(place)
    for word in (curator.ask, curator.sql, curator.preview, curator.request, curator.explain, curator.permit):
        with pytest.raises(ParameterError, match=r"without its name; allowed: epsilon=0\.3, by name"):
            word(COUNT, 0.3)
    with pytest.raises(ParameterError, match=r"epsilon=0\.3"):
        curator.ask(COUNT, "ana")
    assert len(entries(curator)) == 2


def test_what_a_curator_cannot_do_without(place):
    tables = {"visits": usual_visits()}
    with pytest.raises(ParameterError, match=r"ledger is missing: .* such as ledger='clinic\.ledger'"):
        Curator(tables, budget=Budget(epsilon=1))
    with pytest.raises(
        ParameterError, match=r"budget is missing; allowed: such as budget=Budget\(epsilon=3\)"
    ):
        Curator(tables, ledger=place / "clinic.ledger")
    with pytest.raises(ParameterError, match="budget is not a budget"):
        Curator(tables, budget=3, ledger=place / "clinic.ledger")
    assert list(place.iterdir()) == []


def test_what_outputs_are_called_makes_no_other_question(place):
    curator = clinic(place)
    first = curator.ask(BY_CITY, epsilon=1)
    named = BY_CITY.replace("AS n", "AS visits_there").replace("AS mean_cost", "AS average")
    assert curator.preview(named, epsilon=1).answered
    again = curator.ask(named, epsilon=1, analyst="ben")
    assert len(entries(curator, "charge")) == 1
    assert [column.name for column in again.outputs] == ["visits_there", "average"]
    assert again.label["outputs"] == ["visits_there", "average"]
    assert list(again.columns()) == [
        "city",
        *(f"{name}{end}" for name in ("visits_there", "average") for end in ("", "_lower", "_upper")),
    ]
    assert list(again.columns().values()) == list(first.columns().values())
    swapped = BY_CITY.replace(
        "COUNT(*) AS n, AVG(cost) AS mean_cost", "AVG(cost) AS n, COUNT(*) AS mean_cost"
    )
    assert not curator.preview(swapped, epsilon=1).answered


def test_an_answer_from_the_store_says_so(place):
    curator = clinic(place)
    first, again = curator.ask(COUNT, epsilon=1), curator.ask(COUNT, epsilon=1)
    words = "answered from the store, nothing spent"
    assert (first.stored, again.stored) == (False, True)
    *_, paid = repr(first).splitlines()
    assert repr(again) == repr(first).replace(paid, f"{words}; left: a pure epsilon of 9")
    assert words in again._repr_html_()
    assert words not in first._repr_html_()
    assert again.label == first.label
    request = curator.request(COUNT, epsilon=2)
    with mock.patch.object(door_module, "compute", side_effect=ValueError), pytest.raises(EngineFailed):
        curator.answer(request)
    assert not curator.answer(request).stored  # it was paid before, and is drawn now
    assert curator.answer(request).stored
