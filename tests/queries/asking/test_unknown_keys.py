"""Undeclared keys: chosen first, with a part of the offer; then asked about."""

from __future__ import annotations

import datetime
from fractions import Fraction
from unittest import mock

import pyarrow
import pytest

from curator.release.test_label import valid
from discreet import noise
from discreet.curator import Budget
from discreet.data import EACH_ROW, Bounds, Keys, Limits, Table, col, count
from discreet.errors import BudgetExceeded, EngineFailed, ParameterError, UndeclaredColumn, UnsupportedQuery
from discreet.front import Curator
from discreet.mechanisms.keys.key_selection import KeySelection
from discreet.queries import Offer, build_request, parse
from discreet.queries.noise.unknown_keys import hypothetical_keys, selection_for, unknown_keys

BY_TOWN = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
OFFER = {"epsilon": 3, "delta": 1e-6}
TWO = {**OFFER, "key_share": "1/3"}
"""A stated share calls for two measurements: one for the keys, one for the values."""
DAY = datetime.date(2026, 1, 31)

ROWS = [
    {
        "who": n,
        "town": f"town {n % 3}" if n < 900 else f"hamlet {n}",
        "ward": n % 2,
        "street": f"street {n % 2}",
        "day": DAY,
        "cost": 5.0,
    }
    for n in range(910)
]
TABLE = Table(
    pyarrow.Table.from_pylist(ROWS),
    person="who",
    limits=Limits(rows=2),
    columns={"cost": Bounds(0, 10, step=0.5), "ward": Keys([0, 1])},
)
BIG = ["town 0", "town 1", "town 2"]


def clinic(place, budget=None):
    budget = budget or Budget(epsilon=20, delta=1e-4)
    return Curator({"visits": TABLE}, budget=budget, ledger=place / "clinic.ledger")


def test_large_groups_are_shown_and_small_ones_are_not(place):
    curator = clinic(place)
    answer = curator.ask(BY_TOWN, **TWO)
    assert answer.keys == {"town": BIG}
    assert abs(answer["n"] - 300).max() < 60
    assert curator.spent.requests == 2
    assert len(answer.chosen) == 1
    valid(answer.label)
    valid(answer.nonnegative().label)
    (chosen,) = answer.label["chosen_keys"]
    assert chosen["charge"]["entry"] < answer.label["charge"]["entry"]
    assert answer.label["private"] is True


def test_asking_again_costs_nothing(place):
    first = clinic(place).ask(BY_TOWN, **TWO)
    curator = clinic(place)
    again = curator.ask(BY_TOWN.replace(" n ", " many "), **TWO)
    assert again.stored
    assert (again["many"] == first["n"]).all()
    assert curator.spent.requests == 2
    other = curator.ask("SELECT town, AVG(cost) AS m FROM visits GROUP BY town", **TWO)
    assert other.keys == first.keys
    assert curator.spent.requests == 3


def test_the_parts_make_up_the_offer():
    tables = {"visits": TABLE}
    selection = selection_for(parse(BY_TOWN, tables), tables, Offer(**OFFER), share=Fraction(1, 4))
    ((name, request),) = selection.requests
    assert name == "town"
    guarantee = request.mechanism.guarantee
    assert guarantee.epsilon + selection.rest.epsilon == 3
    assert (guarantee.epsilon, selection.rest.epsilon) == (Offer(epsilon="3/4").epsilon, 9 / 4)
    assert guarantee.delta + selection.rest.delta == Offer(**OFFER).delta


@pytest.mark.parametrize("offer", [{"epsilon": 3}, {"rho": 1}, {"rho": 1, "delta": 0}])
@pytest.mark.parametrize("word", ["ask", "preview", "explain"])
def test_without_delta_nothing_is_chosen(place, offer, word):
    curator = clinic(place)
    with pytest.raises(
        UndeclaredColumn, match="offer epsilon or rho, with delta, to have them chosen privately"
    ):
        getattr(curator, word)(BY_TOWN, **offer)
    assert curator.spent.requests == 0


@pytest.mark.parametrize("share", [0, 1, -1, 2, "x"])
def test_a_share_leaves_something_for_both(place, share):
    curator = clinic(place)
    for sql in (BY_TOWN, "SELECT COUNT(*) AS n FROM visits"):
        with pytest.raises(ParameterError, match="key_share"):
            curator.ask(sql, key_share=share, **OFFER)
    assert curator.spent.requests == 0


def test_what_does_not_fit_together_is_refused_before_the_first_charge(place):
    curator = clinic(place, Budget(epsilon=2, delta=1e-5))
    with pytest.raises(BudgetExceeded):
        curator.ask(BY_TOWN, epsilon="2.5", delta="1e-6")
    assert curator.spent.requests == 0
    assert curator.preview(BY_TOWN, epsilon="2.5", delta="1e-6").fits == 0


def test_no_key_is_common_enough(place):
    curator = clinic(place)
    answer = curator.ask(BY_TOWN, epsilon="0.001", delta="1e-9")
    assert answer.columns() == {"town": [], "n": [], "n_lower": [], "n_upper": []}
    assert curator.spent.requests == 1
    assert str(answer).splitlines()[1:] == ["no key was shown: none was found with enough persons"]
    assert answer.nonnegative().columns() == answer.columns()
    assert answer.to_pandas().empty
    valid(answer.label)
    assert curator.ask(BY_TOWN, epsilon="0.001", delta="1e-9").columns() == answer.columns()
    assert curator.spent.requests == 1


def test_several_unknown_keys_and_a_declared_one(place):
    sql = "SELECT town, ward, street, COUNT(*) AS n FROM visits GROUP BY town, ward, street"
    curator = clinic(place)
    answer = curator.ask(sql, epsilon=6, delta=1e-5, key_share="1/3")
    assert len(answer.chosen) == 2
    assert set(answer.keys["town"]) == set(BIG)
    assert set(answer.keys["street"]) == {"street 0", "street 1"}
    assert set(answer.keys["ward"]) == {0, 1}
    assert len(answer["n"]) == 12
    assert curator.spent.requests == 3
    assert len(answer.label["chosen_keys"]) == 2
    valid(answer.label)


def test_a_calculated_key_is_chosen_by_what_it_calculates(place):
    sql = "SELECT UPPER(SUBSTRING(town, 1, 4)) AS kind, COUNT(*) AS n FROM visits GROUP BY kind"
    assert clinic(place).ask(sql, **TWO).keys == {"kind": ["TOWN"]}
    frame = clinic(place).table("visits").group_by(again=col("town").upper()).agg(n=count())
    assert clinic(place).ask(frame, **TWO).keys == {"again": [name.upper() for name in BIG]}


def test_dates_and_numbers_are_chosen_too(place):
    curator = clinic(place)
    assert curator.ask(BY_TOWN.replace("town", "day"), **TWO).keys == {"day": [DAY]}
    sql = "SELECT who % 2 AS odd, COUNT(*) AS n FROM visits WHERE who < 900 GROUP BY odd"
    assert set(curator.ask(sql, **TWO).keys["odd"]) >= {0, 1}


def test_having_order_and_limit_act_on_what_was_chosen(place):
    answer = clinic(place).ask(f"{BY_TOWN} HAVING n > 0 ORDER BY town DESC LIMIT 2", **TWO)
    assert answer.keys == {"town": ["town 2", "town 1"]}


def test_each_row_may_be_a_person(place):
    rows = Table(pyarrow.table({"x": ["a"] * 500 + ["b"]}), person=EACH_ROW)
    curator = Curator({"t": rows}, budget=Budget(epsilon=9, delta=1e-4), ledger=place / "rows.ledger")
    assert curator.ask("SELECT x, COUNT(*) AS n FROM t GROUP BY x", **TWO).keys == {"x": ["a"]}


def test_a_prepared_table_can_be_asked(place):
    ready = Table(pyarrow.Table.from_pylist(ROWS), person="who", limits=Limits(rows=2), prepare=True)
    curator = Curator({"visits": ready}, budget=Budget(epsilon=9, delta=1e-4), ledger=place / "ready.ledger")
    assert curator.ask(BY_TOWN, **TWO).keys == {"town": BIG}


def test_persons_and_fractions_are_no_keys(place):
    curator = clinic(place)
    for sql, words in (
        (BY_TOWN.replace("town", "who"), "groups of one person cannot be private"),
        (BY_TOWN.replace("town", "cost"), "cannot be grouped by"),
        (f"{BY_TOWN} HAVING n > 'x'", "compare"),
    ):
        for word in ("ask", "preview", "explain"):
            with pytest.raises((UndeclaredColumn, UnsupportedQuery), match=words):
                getattr(curator, word)(sql, **TWO)
    assert curator.spent.requests == 0


def test_a_preview_says_from_which_size_keys_are_shown(place):
    curator = clinic(place)
    found = curator.preview(BY_TOWN, **TWO)
    (one,) = found.keys
    assert one.column == "town"
    assert 1 < one.half < one.most < 300
    assert "keys of town are chosen: shown with probability 50% at" in str(found)
    answer = curator.ask(BY_TOWN, **TWO)
    assert found.event.parts[0] == answer.event.parts[0]
    assert found.event.parts[1][0].scale == answer.event.parts[1][0].scale
    larger = curator.preview(BY_TOWN, key_share="0.9", **OFFER)
    assert larger.keys[0].half < one.half
    assert larger["n"].margin > found["n"].margin


def test_after_a_crash_only_the_rest_is_paid(place):
    curator = clinic(place)
    with (
        mock.patch.object(Curator, "answer", side_effect=EngineFailed),
        pytest.raises(EngineFailed),
    ):
        curator.ask(BY_TOWN, **TWO)
    assert curator.spent.requests == 1
    again = clinic(place)
    with mock.patch.object(KeySelection, "release", side_effect=AssertionError):
        answer = again.ask(BY_TOWN, **TWO)
    assert answer.keys == {"town": BIG}
    assert again.spent.requests == 2


def test_a_choice_that_is_paid_is_not_asked_to_fit_again(place):
    """With room for one more answer but not for both requests again, the second ask succeeds."""
    budget = Budget(epsilon="3.2", delta="1e-5")
    curator = clinic(place, budget)
    assert curator.preview(BY_TOWN, **TWO).fits == 1
    with mock.patch.object(Curator, "answer", side_effect=EngineFailed), pytest.raises(EngineFailed):
        curator.ask(BY_TOWN, **TWO)
    assert curator.preview(BY_TOWN, key_share="0.3", **OFFER).fits == 0
    assert clinic(place, budget).ask(BY_TOWN, **TWO).keys == {"town": BIG}


def test_a_failed_count_can_be_asked_again(place):
    curator = clinic(place)
    with mock.patch.object(KeySelection, "release", side_effect=ValueError), pytest.raises(EngineFailed):
        curator.ask(BY_TOWN, **TWO)
    assert curator.spent.requests == 1
    assert curator.ask(BY_TOWN, **TWO).keys == {"town": BIG}
    assert curator.spent.requests == 2


def test_texts_that_no_key_can_be_are_left_out(place):
    rows = Table(pyarrow.table({"x": ["a"] * 500 + ["b\0c"] * 500}), person=EACH_ROW)
    curator = Curator({"t": rows}, budget=Budget(epsilon=9, delta=1e-4), ledger=place / "rows.ledger")
    assert curator.ask("SELECT x, COUNT(*) AS n FROM t GROUP BY x", **TWO).keys == {"x": ["a"]}


def test_listed_keys_need_no_choice(place):
    query = clinic(place).table("visits").group_by("town").agg(n=count()).with_keys(town=["town 1", "none"])
    curator = clinic(place)
    answer = curator.ask(query, epsilon=3)
    assert answer.keys == {"town": ["town 1", "none"]}
    assert curator.spent.requests == 1
    assert unknown_keys(query, curator.tables) == ()


def test_made_up_keys_leave_room_for_declared_ones():
    columns = {"a": Keys(range(100_000))}
    table = Table(
        pyarrow.table({name: pyarrow.array([], pyarrow.int64()) for name in "abcd"}),
        person=EACH_ROW,
        columns=columns,
    )
    tables = {"t": table}
    query = parse("SELECT a, b, c, d, COUNT(*) AS n FROM t GROUP BY a, b, c, d", tables)
    supposed = hypothetical_keys(query, tables)
    assert build_request(supposed, tables, Offer(epsilon=1)).plan.cells <= 10**7


def test_a_preview_says_whether_there_is_an_answer(place):
    curator = clinic(place)
    before = curator.preview(BY_TOWN, **TWO)
    assert not before.answered
    assert "costs" in str(before)
    curator.ask(BY_TOWN, **TWO)
    spent = curator.spent
    after = curator.preview(BY_TOWN, **TWO)
    assert after.answered
    assert "answered before: asking again costs nothing" in str(after)
    assert after.event.pure_epsilon == before.event.pure_epsilon
    assert not curator.preview(BY_TOWN, epsilon=2, delta=1e-6).answered
    assert not curator.preview(BY_TOWN.replace("COUNT(*)", "SUM(cost)"), **TWO).answered
    assert curator.spent == spent


def test_a_choice_alone_is_no_answer_unless_it_chose_nothing(place):
    curator = clinic(place)
    with mock.patch.object(Curator, "answer", side_effect=EngineFailed), pytest.raises(EngineFailed):
        curator.ask(BY_TOWN, **TWO)
    assert curator.spent.requests == 1
    assert not curator.preview(BY_TOWN, **TWO).answered
    nothing = {"epsilon": "0.001", "delta": "1e-9"}
    assert not curator.preview(BY_TOWN, **nothing).answered
    assert not curator.ask(BY_TOWN, **nothing).keys["town"]
    assert curator.preview(BY_TOWN, **nothing).answered


@pytest.mark.parametrize(
    "question", [BY_TOWN, "SELECT town, street, COUNT(*) AS n FROM visits GROUP BY town, street"]
)
def test_an_answer_for_keys_of_replayed_noise_is_not_private(place, question):
    """Whichever of the keys were chosen so, and however good the noise of the values is."""
    curator = clinic(place, Budget(epsilon=60, delta=1e-4))
    query = parse(question, curator.tables)
    selection = selection_for(query, curator.tables, Offer(**OFFER), share=Fraction(1, 3))
    last = selection.requests[-1][1]
    with noise.replay(5):
        assert curator.choose_keys(last).label["private"] is False
    answer = curator.ask(question, **TWO)
    assert answer.label["private"] is False
    valid(answer.label)
    assert "not private" in repr(answer)
    again = curator.remeasure(answer, epsilon=1)
    assert again.label["private"] is False
    assert again.label["chosen_keys"] == answer.label["chosen_keys"]
    valid(again.label)


def test_no_key_of_replayed_noise_is_not_private_either(place):
    curator = clinic(place)
    question = "SELECT who + 0 AS k, street, COUNT(*) AS n FROM visits GROUP BY k, street"
    query = parse(question, curator.tables)
    selection = selection_for(query, curator.tables, Offer(**OFFER), share=Fraction(1, 3))
    with noise.replay(5):
        curator.choose_keys(selection.requests[-1][1])
    answer = curator.ask(question, **TWO)
    assert len(answer["n"]) == 0
    assert answer.label["private"] is False


def test_made_up_answers_stay_marked_when_they_are_averaged(place):
    made = clinic(place).sandbox(rows=200)
    answer = made.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    assert made.remeasure(answer, epsilon=1).label["private"] is False


def test_keys_may_be_chosen_in_rounds(place):
    curator = clinic(place)
    answer = curator.ask(BY_TOWN, **OFFER, keys="in rounds")
    assert answer.keys == {"town": BIG}
    assert "KeysInRounds" in curator.explain(BY_TOWN, **OFFER, keys="in rounds")
    assert curator.preview(BY_TOWN, **OFFER, keys="in rounds").answered
    assert curator.spent.requests == 2
    tables, budget = {"visits": TABLE}, Budget(rho=2, delta=1e-3)
    other = Curator(tables, budget=budget, ledger=place / "rho.ledger")
    with pytest.raises(ParameterError, match="epsilon, not rho"):
        other.ask(BY_TOWN, rho=1, delta=1e-6, keys="in rounds")
    assert other.spent.requests == 0
