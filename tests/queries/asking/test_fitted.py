"""Questions whose limits and bounds are bought first: one price, one limit, whatever crashes or races."""

# ruff: noqa: E501

from __future__ import annotations

import threading
from fractions import Fraction
from unittest import mock

import numpy as np
import pandas
import pytest

import discreet as dp
from curator.release.test_label import valid
from discreet.curator import Budget, door
from discreet.data import AUTO, Bounds, Keys, Limits, Table
from discreet.data.language.relations import leftmost
from discreet.errors import BudgetExceeded, EngineFailed, ParameterError, UndeclaredColumn
from discreet.front import Curator
from discreet.noise import replay

ALL = "SELECT COUNT(*) AS n FROM visits"
BY_CITY = "SELECT city, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY city"
ROWS = np.minimum(np.random.default_rng(4).zipf(2.2, 3000), 3000)


def frame(rows=ROWS):
    random = np.random.default_rng(5)
    who = np.repeat(np.arange(len(rows)), rows)
    return pandas.DataFrame(
        {
            "who": who,
            "city": random.choice(["a", "b"], len(who)),
            "town": random.choice(["x", "y"], len(who)),
            "cost": random.gamma(2, 50, len(who)),
            "age": random.integers(0, 90, len(who)),
        }
    )


FRAME = frame()
AUTOMATIC = Limits(rows=AUTO, at_most=1000)


def table(limits=AUTOMATIC, rows=None):
    columns = {"city": Keys(["a", "b"]), "age": Bounds(0, 110)}
    return Table(FRAME if rows is None else rows, person="who", limits=limits, columns=columns)


TABLE = table()


def clinic(place, budget=None, tables=None):
    budget = budget or Budget(epsilon=50, delta=1e-6)
    return Curator(tables or {"visits": TABLE}, budget=budget, ledger=place / "clinic.ledger")


def limit_of(release):
    return leftmost(release.plan.source).limits.rows


def test_a_question_buys_its_limit_with_a_quarter_and_says_so(place):
    curator = clinic(place)
    before = curator.preview(ALL, epsilon=1)
    assert "from 1 to 1,000" in str(before)
    assert before.event.pure_epsilon == 1
    assert not before.answered
    answer = curator.ask(ALL, epsilon=1)
    assert 2 <= limit_of(answer) <= 512
    assert answer.event.pure_epsilon == 1
    assert curator.spent.epsilon == 1
    assert curator.spent.requests == 2
    (bought,) = answer.label["bought"]
    rows = "1 row" if limit_of(answer) == 1 else f"{limit_of(answer)} rows"
    assert bought["what"].startswith(f"at most {rows} of each person, a limit that was bought")
    assert bought["loss"]["epsilon"] == "1/4"
    assert bought["charge"]["entry"] < answer.label["charge"]["entry"]
    assert bought["what"] in str(answer)
    assert f"at most {limit_of(answer)} rows of a person" in answer.label["plan"]
    valid(answer.label)
    kept = np.minimum(ROWS, limit_of(answer)).sum()
    assert abs(answer.value - kept) < 20 * limit_of(answer)


def test_the_same_question_costs_nothing_and_is_previewed_under_its_limit(place):
    curator = clinic(place)
    first = curator.ask(ALL, epsilon=1)
    again = curator.ask("SELECT COUNT(*) AS visits FROM visits", epsilon=1)
    assert again.stored
    assert again.value == first.value
    assert curator.ask(curator.table("visits").agg(n=dp.count()), epsilon=1).value == first.value
    assert curator.spent.requests == 2
    seen = curator.preview(ALL, epsilon=1)
    assert seen.answered
    assert "a limit that was bought" in str(seen)
    assert seen["n"].margin == pytest.approx(limit_of(first) * 4, rel=0.1)


def test_other_questions_about_the_same_rows_reuse_the_limit(place):
    curator = clinic(place)
    curator.ask(ALL, epsilon=1)
    curator.ask("SELECT SUM(age) AS s FROM visits", epsilon=1)
    assert curator.spent.requests == 3
    assert curator.spent.epsilon == pytest.approx(1.75)


def test_limits_follow_the_conditions_of_a_question(place):
    """Fewer rows of each person meet a condition, and the limit on them is lower."""
    curator = clinic(place)
    whole = limit_of(curator.ask(ALL, epsilon=20))
    part = limit_of(curator.ask("SELECT COUNT(*) AS n FROM visits WHERE age < 9", epsilon=20))
    assert part < whole


def test_bounds_that_nobody_declared_are_bought(place):
    curator = clinic(place)
    with pytest.raises(UndeclaredColumn, match="bounds=AUTO"):
        curator.ask(BY_CITY, epsilon=4)
    seen = curator.preview(BY_CITY, epsilon=4, bounds=AUTO)
    assert "the bounds of 'cost' are bought first" in str(seen)
    answer = curator.ask(BY_CITY, epsilon=4, bounds=AUTO)
    assert [one["what"].split(" ")[0] for one in answer.label["bought"]] == ["at", "'cost'"]
    assert answer.event.pure_epsilon == curator.spent.epsilon == 4
    assert np.abs(answer["m"] - 100).max() < 250  # chance alone passes 40 once in twenty times
    assert curator.ask(BY_CITY, epsilon=4, bounds=AUTO).stored
    valid(answer.label)


def test_bounds_alone_and_a_column_with_declared_ones(place):
    curator = clinic(place, tables={"visits": table(Limits(rows=3))})
    answer = curator.ask("SELECT AVG(cost) AS m FROM visits", epsilon=2, bounds=AUTO)
    assert len(answer.bought) == 1
    assert leftmost(answer.plan.source).limits is None
    plain = curator.ask("SELECT AVG(age) AS m FROM visits", epsilon=2, bounds=AUTO)
    assert plain.bought == ()
    assert "bought" not in plain.label


def test_what_is_stated_is_applied_and_costs_nothing(place):
    curator = clinic(place)
    answer = curator.ask(
        BY_CITY, epsilon=2, limits=Limits(rows=3), bounds={"cost": Bounds(0, 500, step=Fraction(1, 2))}
    )
    assert curator.spent.requests == 1
    assert limit_of(answer) == 3
    suggested = (
        curator.suggest_bounds("visits", "cost", epsilon=1),
        curator.suggest_limits("visits", epsilon=1),
    )
    answer = curator.ask(BY_CITY, epsilon=2, bounds=suggested[0], limits=suggested[1])
    assert limit_of(answer) == suggested[1].declared.rows
    assert curator.spent.requests == 4
    for wrong in ({"limits": suggested[0]}, {"bounds": suggested[1]}, {"limits": 3}, {"bounds": {"cost": 3}}):
        with pytest.raises(ParameterError):
            curator.ask(BY_CITY, epsilon=2, **wrong)


def test_a_declared_number_may_be_undercut_by_a_bought_one(place):
    curator = clinic(place, tables={"visits": table(Limits(rows=500))})
    assert curator.ask(ALL, epsilon=1).bought == ()
    answer = curator.ask(ALL, epsilon=1, limits=AUTO)
    assert limit_of(answer) <= 500
    assert len(answer.bought) == 1


def test_unknown_keys_ranges_and_rho_are_asked_under_a_bought_limit(place):
    curator = clinic(place)
    towns = curator.ask("SELECT town, COUNT(*) AS n FROM visits GROUP BY town", epsilon=8, delta=1e-7)
    assert towns.keys == {"town": ["x", "y"]}
    assert len(towns.bought) == len(towns.chosen) == 1
    assert curator.spent.requests == 3
    valid(towns.label)
    ages = curator.ask(dp.ranges("visits", "age", width=10), epsilon=2)
    assert len(ages.bought) == 1
    assert limit_of(ages) < 1000


def test_zero_concentrated_budgets_buy_limits_too(place):
    curator = clinic(place, budget=Budget(rho=5))
    answer = curator.ask(ALL, rho=Fraction(1, 2))
    assert answer.event.concentrated_rho <= Fraction(1, 2)
    assert limit_of(answer) < 1000


def test_calculations_groups_and_more_spending_keep_what_was_bought(place):
    curator = clinic(place)
    sql = "SELECT city, SUM(age) / COUNT(*) AS m FROM visits GROUP BY city HAVING COUNT(*) > 5 ORDER BY m LIMIT 1"
    answer = curator.ask(sql, epsilon=4)
    assert len(answer.bought) == 1
    again = curator.remeasure(curator.ask(ALL, epsilon=1), epsilon=1)
    assert "bought" in again.label
    assert len(again.bought) == 1
    assert "bought" in curator.sandbox(rows=500).ask(ALL, epsilon=1).label


def test_explanations_say_what_is_bought(place):
    curator = clinic(place)
    with_offer = curator.explain(BY_CITY, epsilon=1, bounds=AUTO)
    assert with_offer.startswith("0.25 of the offer is spent first, on noisy counts by size:")
    assert "the bounds of 'cost'" in with_offer
    without = curator.explain(BY_CITY, bounds=AUTO)
    assert "  the limit on rows of each person\n  the bounds of 'cost'\n" in without
    assert curator.spent.requests == 0


@pytest.mark.parametrize(
    ("question", "options", "words"),
    [
        (ALL, {"error": {"n": 100}}, "still to be bought"),
        (ALL, {"epsilon": 1, "fit_share": 1}, "fit_share"),
        (ALL, {"epsilon": 1, "limits": Limits(rows=1001)}, "no wider"),
        (ALL, {"epsilon": 1, "limits": AUTOMATIC}, "limits"),
        (ALL, {}, "epsilon"),
    ],
)
def test_what_is_refused_costs_nothing(place, question, options, words):
    curator = clinic(place)
    for method in (curator.ask, curator.preview):
        with pytest.raises(dp.errors.DiscreetError, match=words):
            method(question, **options)
    with pytest.raises(ParameterError, match="bought first"):
        curator.request(ALL, epsilon=1)
    assert curator.spent.requests == 0


def test_what_does_not_fit_together_is_refused_before_the_first_charge(place):
    curator = clinic(place, budget=Budget(epsilon=Fraction(9, 10)))
    with pytest.raises(BudgetExceeded):
        curator.ask(ALL, epsilon=1)
    assert curator.spent.requests == 0
    curator.ask(ALL, epsilon=Fraction(9, 10))
    assert curator.remaining.epsilon == 0


def test_a_crash_between_the_limit_and_the_answer_pays_for_the_rest_only(place):
    curator = clinic(place)
    plain = Curator.answer
    calls = []

    def crashing(self, request, *, analyst=""):
        calls.append(request)
        if len(calls) > 1:
            raise KeyboardInterrupt
        return plain(self, request, analyst=analyst)

    with mock.patch.object(Curator, "answer", crashing), pytest.raises(KeyboardInterrupt):
        curator.ask(ALL, epsilon=1)
    assert (curator.spent.requests, curator.spent.epsilon) == (1, 0.25)
    curator.close()
    reopened = clinic(place)
    assert not reopened.preview(ALL, epsilon=1).answered
    assert "a limit that was bought" in str(reopened.preview(ALL, epsilon=1))
    reopened.ask(ALL, epsilon=1)
    assert (reopened.spent.requests, reopened.spent.epsilon) == (2, 1)


def test_an_engine_that_fails_on_the_limit_keeps_its_charge_and_a_retry_is_free(place):
    curator = clinic(place)
    with mock.patch.object(door, "compute", side_effect=ValueError), pytest.raises(EngineFailed):
        curator.ask(ALL, epsilon=1)
    assert curator.spent.requests == 1
    curator.ask(ALL, epsilon=1)
    assert (curator.spent.requests, curator.spent.epsilon) == (2, 1)


def test_clients_that_race_get_one_limit_and_one_answer(place):
    curators = [clinic(place) for _ in range(3)]
    answers = []
    ready = threading.Barrier(3)

    def ask(curator):
        ready.wait()
        answers.append(curator.ask(ALL, epsilon=1))

    threads = [threading.Thread(target=ask, args=(curator,)) for curator in curators]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({answer.value for answer in answers}) == 1
    assert len({limit_of(answer) for answer in answers}) == 1
    assert curators[0].spent.requests == 2


@pytest.mark.slow
def test_neighbors_differ_in_noisy_numbers_alone(place, tmp_path):
    """One person more, with 300,000 rows: the counts by size move by one, and with the same noise nothing else."""
    crowd = pandas.DataFrame(
        {"who": np.full(300_000, -1), "city": "a", "town": "x", "cost": 1e308, "age": 109}
    )
    worlds = [table(), table(rows=pandas.concat([FRAME, crowd], ignore_index=True))]
    plans, drawn = [], []
    for number, world in enumerate(worlds):
        (tmp_path / str(number)).mkdir()
        curator = clinic(tmp_path / str(number), tables={"visits": world})
        seen = (
            str(curator.preview(BY_CITY, epsilon=1, bounds=AUTO)),
            curator.explain(BY_CITY, epsilon=1, bounds=AUTO),
        )
        with replay(7):
            answer = curator.ask(BY_CITY, epsilon=1, bounds=AUTO)
        plans.append((seen, [one.identity for one in answer.bought], answer.keys))
        drawn.append([curator.answer(one)["n"] for one in answer.bought])
        curator.close()
    assert plans[0] == plans[1]
    for one, other in zip(*drawn, strict=True):
        assert np.abs(other - one).sum() <= 1
