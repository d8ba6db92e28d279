"""What a ledger's answers revealed about each person, against the shifts that their rows cause."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.accounting import epsilon
from discreet.curator import Budget
from discreet.data import Bounds, Keys, Limits, Table
from discreet.errors import BudgetExceeded, ParameterError
from discreet.front import Curator
from discreet.privacy.events import DiscreteGaussian

FRAME = pd.DataFrame(
    {
        "who": ["p", "p", "q", "r", "r", "r", "s"],
        "city": ["a", "b", "a", "b", "b", "b", "x"],
        "cost": [3, 4, 10, 0, 1, 2, 0],
    }
)
ROWS, CITIES = "SELECT COUNT(*) AS n FROM visits", "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
COSTS = "SELECT SUM(cost) AS s FROM visits"


def opened(place, budget, rows=3) -> Curator:
    table = Table(
        FRAME,
        person="who",
        limits=Limits(rows=rows),
        columns={"city": Keys(["a", "b"]), "cost": Bounds(0, 10)},
    )
    return Curator({"visits": table}, budget=budget, ledger=place / "l")


def scale(release) -> Fraction:
    return release.request.parts[0].mechanism.event.scale


def test_losses_are_the_shifts_over_the_scales(place):
    curator = opened(place, Budget(epsilon=20))
    counted, by_city, summed = (curator.ask(one, epsilon=1) for one in (ROWS, CITIES, COSTS))
    before = curator.spent
    report = curator.revealed([counted, by_city, summed])
    assert curator.spent == before  # nothing is charged
    assert scale(counted) == scale(by_city) == 3
    step = summed.request.parts[0].statistic.step
    center = summed.request.parts[0].statistic.center
    for person in "pqrs":
        own = FRAME[FRAME["who"] == person]
        rows, cities = len(own), len(own[own["city"] != "x"])
        moved = abs(sum((Fraction(int(cost)) - center) / step for cost in own["cost"]))
        expected = Fraction(rows, 3) + Fraction(cities, 3) + moved / scale(summed)
        assert report.of(person) == pytest.approx(float(expected), rel=1e-9)
    assert report.promised == pytest.approx(3, rel=1e-9)
    assert report.others == report.of("nobody") == 0
    assert report.largest == max(report.losses.values()) <= report.promised


def test_what_is_not_given_counts_in_full(place):
    curator = opened(place, Budget(epsilon=20))
    counted = curator.ask(ROWS, epsilon=1)
    curator.ask(COSTS, epsilon=2)
    with curator.permit("a run of our own", epsilon=1) as permit:
        permit.charge(counted.request.event)
    curator.permit("one that is open", epsilon=Fraction(1, 2))
    report = curator.revealed([counted, counted])
    full = 2 + 1 + 0.5  # another answer; what the first permit used; all of the open one
    assert report.others == pytest.approx(full, rel=1e-9)
    assert report.of("q") == pytest.approx(full + 1 / 3, rel=1e-9)
    assert report.promised == pytest.approx(full + 1, rel=1e-9)


def test_answers_under_other_declarations_count_in_full(place):
    curator = opened(place, Budget(epsilon=20))
    counted, summed = curator.ask(ROWS, epsilon=1), curator.ask(COSTS, epsilon=1)
    assert curator.revealed([counted, summed]).of("nobody") == 0
    wider = Table(
        FRAME,
        person="who",
        limits=Limits(rows=4),
        columns={"city": Keys(["a", "b"]), "cost": Bounds(0, 10)},
        version="2",
    )
    curator.amend(reason="more rows", tables={"visits": wider})
    report = curator.revealed([counted, summed])
    assert report.losses == {}
    assert report.of("p") == report.largest == pytest.approx(2, rel=1e-9)


def test_rows_that_a_limit_cuts_count_in_full(place):
    curator = opened(place, Budget(epsilon=20), rows=2)
    report = curator.revealed([curator.ask(ROWS, epsilon=1)])
    assert report.losses == pytest.approx({"p": 1, "q": 0.5, "r": 1, "s": 0.5}, rel=1e-9)


def test_normal_noise_is_charged_exactly(place):
    curator = opened(place, Budget(epsilon=20, delta=1e-4))
    by_city = curator.ask(CITIES, rho=0.5)
    variance = by_city.request.parts[0].mechanism.event.variance
    report = curator.revealed([by_city], delta=1e-5)
    one = DiscreteGaussian(squared_sensitivity=1, variance=variance, size=1)
    three = DiscreteGaussian(squared_sensitivity=9, variance=variance, size=1)
    expected = {"p": one * 2, "q": one, "r": three}
    assert set(report.losses) == set(expected)
    for person, own in expected.items():
        assert report.of(person) == epsilon(own, delta=1e-5).upper
    assert curator.revealed([by_city]).largest == np.inf


def test_what_is_not_a_matter_of_single_rows_counts_in_full(place):
    """A mean over persons, ranges measured by a strategy, and keys that were chosen."""
    curator = opened(place, Budget(epsilon=20, delta=Fraction(1, 2)))
    per_person = "SELECT AVG(n) AS m FROM (SELECT who, COUNT(*) AS n FROM visits GROUP BY who) AS t"
    averaged = curator.ask(per_person, epsilon=1)
    ranges = curator.ask(dp.cdf("visits", "cost"), epsilon=2)
    report = curator.revealed([averaged, ranges])
    assert report.others == pytest.approx(1, rel=1e-9)
    assert report.of("q") == pytest.approx(3, rel=1e-9)
    assert report.of("nobody") == pytest.approx(1, rel=1e-9)


def test_the_report_is_marked_and_shows_nothing_by_accident(place):
    curator = opened(place, Budget(epsilon=20))
    report = curator.revealed([curator.ask(ROWS, epsilon=1)])
    assert repr(report) == "Revealed(private, for the owner alone, delta=0)"
    assert str(report).startswith("EXACT LOSSES, FOR THE OWNER ALONE")
    assert "4 persons" in str(report)
    assert "at most 1, for the middle one" in str(report)
    assert report.report().losses.max() == report.largest


def test_answers_of_other_ledgers_are_refused(place, tmp_path):
    curator = opened(place, Budget(epsilon=20))
    other = opened(tmp_path, Budget(epsilon=20))
    curator.ask(COSTS, epsilon=1)
    with pytest.raises(ParameterError, match="did not charge"):
        curator.revealed([other.ask(ROWS, epsilon=1)])
    with pytest.raises(ParameterError, match="not an answer"):
        curator.revealed(["SELECT"])


def test_counts_of_persons_by_their_loss_are_bought(place):
    curator = opened(place, Budget(epsilon=100))
    counted = curator.ask(ROWS, epsilon=1)
    found = curator.count_revealed([counted], edges=["0.1", "0.4", "0.7"], epsilon=90)
    assert found.counts == (0, 2, 1, 1)
    assert found.margin == 0
    assert curator.spent.epsilon == pytest.approx(91)
    with pytest.raises(BudgetExceeded):
        curator.count_revealed([counted], edges=[1], epsilon=90)
    for edges in ([], [1, 1], [2, 1]):
        with pytest.raises(ParameterError, match="edges"):
            curator.count_revealed([counted], edges=edges, epsilon=1)


def test_one_person_moves_one_bought_count_by_one(place):
    """The exact counts, before noise, with and without each person: all neighbors of the table."""
    from discreet.front import losses as module

    edges = [0.1, 0.4, 0.7]

    def exact(frame, where):
        table = Table(frame, person="who", limits=Limits(rows=3), columns={"cost": Bounds(0, 10)})
        curator = Curator({"visits": table}, budget=Budget(epsilon=20), ledger=where)
        return module._binned(curator, [curator.ask(ROWS, epsilon=1)], edges, Fraction(0), besides=0)

    whole = exact(FRAME, place / "whole")
    for person in "pqrs":
        rest = exact(FRAME[FRAME["who"] != person], place / person)
        assert sorted(whole - rest) == [0, 0, 0, 1]


def test_persons_with_names_of_two_types_are_refused_before_any_charge(place):
    """7 and "7" would be two persons, and one person would move two counts."""
    numbers, texts = (
        Table(pd.DataFrame({"who": who}), person="who", limits=Limits(rows=1)) for who in ([7, 8], ["7", "8"])
    )
    curator = Curator({"one": numbers, "other": texts}, budget=Budget(epsilon=9), ledger=place / "two")
    answers = [curator.ask(curator.table(name).agg(n=dp.count()), epsilon=1) for name in ("one", "other")]
    before = curator.spent
    with pytest.raises(ParameterError, match="different types"):
        curator.revealed(answers)
    with pytest.raises(ParameterError, match="different types"):
        curator.count_revealed(answers, edges=[1], epsilon=1)
    assert curator.spent == before
