"""What a question lacks, and how an offer is divided to buy it."""

from __future__ import annotations

from fractions import Fraction

import pandas
import pytest

from discreet.data import AUTO, Keys, Limits, Table
from discreet.errors import UndeclaredColumn
from discreet.privacy.events import compose
from discreet.privacy.offer import Offer
from discreet.queries import parse
from discreet.queries.fitting.buying import Wanted, first_and_rest, purchase, wanted_by

TABLES = {
    "visits": Table(
        pandas.DataFrame(
            {"who": [1, 1, 2], "city": ["a", "b", "a"], "cost": [1.0, 2.0, 3.0], "age": [1, 2, 3]}
        ),
        person="who",
        limits=Limits(rows=AUTO, at_most=100),
        columns={"city": Keys(["a", "b"])},
    )
}
SHARE = Fraction(1, 4)


def wanted(sql, *, most=100, bounds=True):
    return wanted_by(parse(sql, TABLES), TABLES, most, bounds=bounds)


def test_columns_without_bounds_are_found_once_each():
    found = wanted("SELECT city, AVG(cost) AS m, SUM(age) AS s, SUM(cost) AS t FROM visits GROUP BY city")
    assert set(found.columns) == {"cost", "age"}
    assert (found.most, found.cells) == (100, 2)
    assert found.measures >= 3
    assert wanted("SELECT COUNT(*) AS n FROM visits") == Wanted(most=100, cells=1, measures=1)
    assert not wanted("SELECT COUNT(*) AS n FROM visits", most=None)


def test_what_else_is_missing_is_refused():
    with pytest.raises(UndeclaredColumn, match="bounds"):
        wanted("SELECT AVG(cost) AS m FROM visits", bounds=False)
    with pytest.raises(UndeclaredColumn, match="needs keys"):
        wanted("SELECT MODE(age) AS m FROM visits")
    with pytest.raises(UndeclaredColumn, match="never declared"):
        wanted("SELECT AVG(cost * 2) AS m FROM visits")


def test_keys_that_are_still_to_be_chosen_count_as_one_group():
    assert wanted("SELECT age, COUNT(*) AS n FROM visits GROUP BY age").cells == 1


@pytest.mark.parametrize(
    "offer",
    [Offer(epsilon=1), Offer(epsilon=Fraction(1, 3), delta=Fraction(1, 10**6)), Offer(rho=Fraction(1, 7))],
)
def test_parts_of_an_offer_add_up_to_it(offer):
    relation = parse("SELECT COUNT(*) AS n FROM visits", TABLES).relation
    bought = purchase(relation, TABLES, Wanted(most=100, columns=("cost", "age")), offer, SHARE)
    assert len(bought.fits) == 3
    event = compose(one.request.event for one in bought.fits)
    if offer.rho is not None:
        assert event.concentrated_rho <= offer.rho * SHARE
        assert bought.rest == Offer(rho=offer.rho * (1 - SHARE))
    else:
        assert event.pure_epsilon == offer.epsilon * SHARE
        assert {one.request.event.pure_epsilon for one in bought.fits} == {offer.epsilon * SHARE / 3}
        assert bought.rest == Offer(epsilon=offer.epsilon * (1 - SHARE), delta=offer.delta)


def test_of_a_large_offer_no_more_is_spent_than_is_enough():
    assert first_and_rest(Offer(epsilon=10**6), SHARE) == (Offer(epsilon=20), Offer(epsilon=10**6 - 20))
    assert first_and_rest(Offer(rho=1000), SHARE) == (Offer(rho=20), Offer(rho=980))


def test_delta_is_left_for_the_choice_of_keys():
    tiny = Fraction(1, 10**6)
    offers = Offer(epsilon=1, delta=tiny), Offer.concentrated(1, tiny)
    for offer in offers:
        first, rest = first_and_rest(offer, SHARE)
        assert (first.delta, rest.delta) == (None, tiny)
