"""The limit on rows that suits a question: the rule, its privacy by enumeration, its error beside others."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pandas
import pytest

from discreet.data import AUTO, EACH_ROW, Limits, Source, Table, compute, fresh_salt
from discreet.errors import ParameterError
from discreet.privacy.offer import Offer
from discreet.queries.fitting.row_limits import (
    fitting_limit,
    largest_limit,
    limit_in_words,
    most_above,
    row_edges,
    rows_query,
    spare_persons,
)
from discreet.queries.fitting.size_counts import SizeCounts
from discreet.queries.noise.build_request import build_request

VISITS = Source(table="visits")


def visits(rows_of_persons, limits=None):
    persons = np.repeat(np.arange(len(rows_of_persons)), rows_of_persons)
    limits = limits or Limits(rows=AUTO, at_most=1000)
    return {"visits": Table(pandas.DataFrame({"who": persons}), person="who", limits=limits)}


def request_for(tables, most, epsilon):
    return build_request(rows_query(VISITS, most), tables, Offer(epsilon=epsilon))


def exact_counts(tables, most):
    plan = request_for(tables, most, 1).plan
    return compute(plan, tables, salt=fresh_salt()).values[0][: len(row_edges(most)) + 1]


def seen(counts, most, epsilon):
    part = request_for(visits([1]), most, epsilon).parts[0]
    return SizeCounts(edges=row_edges(most), counts=np.array(counts), part=part)


def test_limits_are_powers_of_two_up_to_the_largest():
    assert row_edges(1) == (1,)
    assert row_edges(2) == (1, 2)
    assert row_edges(8) == (1, 2, 4, 8)
    assert row_edges(1000) == (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)


def test_one_person_moves_the_counts_by_one_however_many_rows_they_have():
    """Their other rows are in no other cell: a million of them are one person in the last."""
    before = visits([1, 2, 3, 9])
    assert exact_counts(before, 8).tolist() == [1, 1, 1, 0, 1]
    for rows, cell in ((1, 0), (2, 1), (8, 3), (9, 4), (1_000_000, 4)):
        moved = exact_counts(visits([1, 2, 3, 9, rows]), 8) - exact_counts(before, 8)
        assert moved.tolist() == [int(place == cell) for place in range(5)]
    sensitivity = request_for(before, 8, 1).parts[0].statistic.sensitivity
    assert (sensitivity.l0, sensitivity.l1, sensitivity.linf) == (1, 1, 1)


def test_the_limit_is_where_as_many_persons_have_more_as_the_noise_of_a_row():
    counts = [500, 300, 200, 100, 50, 0]  # up to 1, 2, 4, 8, 16 rows, and more
    for spare, limit in ((700, 1), (351, 2), (151, 4), (51, 8), (0, 16)):
        assert fitting_limit(seen(counts, 16, 50), spare) == limit
    assert fitting_limit(seen([0, 0, 0, 0, 0, 900], 16, 50), 1) == 16
    assert fitting_limit(seen([0] * 6, 16, 50), 1) == 1
    assert spare_persons(Offer(epsilon=2), 10, 3) == 15
    assert spare_persons(Offer(rho=Fraction(1, 2)), 10, 4) == pytest.approx(16)


def test_noise_alone_asks_for_no_rows():
    """Of many noisy tables of nobody, few ask for more than one row."""
    random = np.random.default_rng(3)
    nobody = seen([0] * 12, 1000, Fraction(1, 4))
    noises = np.rint(random.laplace(0, 4, (500, 12))).astype(int)
    limits = [
        fitting_limit(SizeCounts(edges=nobody.edges, counts=noise, part=nobody.part), 1) for noise in noises
    ]
    assert np.mean(np.array(limits) > 1) < 0.06


def test_what_is_said_of_a_limit():
    words = limit_in_words(seen([500, 300, 200, 100, 50, 7], 16, 1), 8, Fraction(95, 100))
    assert words.startswith(
        "at most 8 rows of each person, a limit that was bought: about 57 of 1,157 persons"
    )
    assert words.endswith("have more, at most 67 at 95%")
    words = limit_in_words(seen([500, 300, 200, 100, 50, 7], 16, 1), 1, Fraction(95, 100))
    assert words.startswith("at most 1 row of each person, a limit that was bought: ")


def test_what_is_said_holds_in_ten_thousand_purchases():
    """Persons by Zipf's law, fresh noise every time; the limit in question is the one that noise chose."""
    random = np.random.default_rng(8)
    exact = np.array([600, 150, 90, 40, 25, 12, 6, 4, 2, 1, 1, 1])
    template = seen(exact, 1000, Fraction(1, 4))
    over = {limit: exact[place + 1 :].sum() for place, limit in enumerate(template.edges)}
    most = {limit: most_above(template, limit, Fraction(9, 10)) - over[limit] for limit in template.edges}
    ratio = exp(-1 / 4)
    noises = random.geometric(1 - ratio, (10_000, 12)) - random.geometric(1 - ratio, (10_000, 12))
    held = 0
    for noise in noises:
        found = SizeCounts(edges=template.edges, counts=exact + noise, part=template.part)
        limit = fitting_limit(found, 4 / 3)
        held += found.above(template.edges.index(limit)) + most[limit] >= over[limit]
    assert held >= 9000


def test_which_questions_have_a_limit_to_choose():
    assert largest_limit(VISITS, visits([1])) == 1000
    assert largest_limit(VISITS, visits([1], Limits(rows=7))) == 7
    assert largest_limit(VISITS, visits([1], Limits(rows=1))) is None
    assert largest_limit(rows_query(VISITS, 4).relation, visits([1])) is None
    alone = {"visits": Table(pandas.DataFrame({"x": [1]}), person=EACH_ROW)}
    assert largest_limit(VISITS, alone) is None
    with pytest.raises(ParameterError, match="on groups"):
        largest_limit(VISITS, visits([1], Limits(groups=2, rows_per_group=2)))


def laplace(scale, reach):
    ratio = exp(-1 / scale)
    return {k: (1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in range(-reach, reach + 1)}


def joint_law(rows_of_persons, most, epsilons):
    """The law of (limit, noisy count), summed over every noise of every cell that matters."""
    first, second = epsilons
    exact = exact_counts(visits(rows_of_persons), most).tolist()
    noise, reach = laplace(1 / first, 14), 60
    choices: dict[int, float] = {}
    template = seen([0] * len(exact), most, Fraction(first))
    for drawn in product(noise, repeat=len(exact) - 1):  # the first cell is never read
        counts = np.array([exact[0], *(one + more for one, more in zip(exact[1:], drawn, strict=True))])
        found = SizeCounts(edges=template.edges, counts=counts, part=template.part)
        chance = np.prod([noise[one] for one in drawn])
        limit = fitting_limit(found, spare_persons(Offer(epsilon=Fraction(second)), 1, 1))
        choices[limit] = choices.get(limit, 0.0) + float(chance)
    law = {}
    for limit, chance in choices.items():
        total = sum(min(rows, limit) for rows in rows_of_persons)
        for value, mass in laplace(limit / second, reach).items():
            law[limit, total + value] = chance * mass
    return law


@pytest.mark.slow
@pytest.mark.parametrize("more", [1, 2, 1000])
def test_limit_and_answer_together_are_as_private_as_they_cost_by_enumeration(more):
    """One person more, with any rows: no limit with its count is likelier by more than exp(epsilon)."""
    epsilons = (2, 2)
    for before in ([], [1], [2, 2], [1, 5, 5]):
        one, other = joint_law(before, 2, epsilons), joint_law([*before, more], 2, epsilons)
        shared = [pair for pair in one if pair in other and min(one[pair], other[pair]) > 1e-7]
        assert len(shared) > 20
        ratios = [one[pair] / other[pair] for pair in shared]
        assert max(*ratios, *(1 / ratio for ratio in ratios)) <= exp(sum(epsilons)) * (1 + 1e-6)


def test_a_limit_that_was_not_paid_for_fails_the_same_enumeration():
    """The control: the exact best limit in place of the bought one tells neighbors apart."""
    one, other = [1, 1, 1], [1, 1, 1, 1000]
    limits = [2 if max(rows) > 1 else 1 for rows in (one, other)]
    assert limits[0] != limits[1]  # an output that one of two neighbors never has


def error_of(rows, limit, epsilon, random):
    cut = rows.sum() - np.minimum(rows, limit).sum()
    return np.abs(random.laplace(0, limit / epsilon, 400) - cut).mean()


@pytest.mark.parametrize("tail", [2.0, 3.0])
@pytest.mark.parametrize("persons", [3000, 30_000])
def test_a_bought_limit_is_near_the_best_and_better_than_wrong_ones(tail, persons):
    """Rows per person by Zipf's law, epsilon 1, a quarter of it for the limit; medians over 40 purchases."""
    random = np.random.default_rng([7, persons])
    rows = np.minimum(random.zipf(tail, persons), 5000)
    edges = row_edges(1000)
    cells = np.histogram(rows, [0, *(edge + 0.5 for edge in edges), 10**9])[0]
    part = seen([0] * 12, 1000, Fraction(1, 4)).part
    spare = spare_persons(Offer(epsilon=Fraction(3, 4)), 1, 1)
    errors = []
    for _ in range(40):
        counts = cells + np.rint(random.laplace(0, 4, len(cells))).astype(int)
        limit = fitting_limit(SizeCounts(edges=edges, counts=counts, part=part), spare)
        errors.append(error_of(rows, limit, 0.75, random))
    fixed = {limit: error_of(rows, limit, 1, random) for limit in edges}
    bought = np.median(errors)
    assert bought < 6 * min(fixed.values())
    assert bought < max(fixed[1], fixed[1000]) / 1.4
