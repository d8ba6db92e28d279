"""SmallDB and multiplicative weights as statistics of a table: queries, laws, promised errors."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from curator.request.statistics.related_tables import KEYS, empty_survey, law_of, reading_rows, survey
from discreet.audit.divergence import compare_laws
from discreet.curator.request.statistics.cell_estimates import LearnedCells, SmallDatabaseCells, all_marginals
from discreet.curator.request.statistics.fixed_counts import KeyAxes
from discreet.data import Keys
from discreet.errors import ParameterError
from discreet.noise import replay
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import REPLACE_ROW
from discreet.privacy.offer import Offer

LEVEL = Fraction(95, 100)
ONE = Offer(epsilon=1)
AXES = KeyAxes((("color", KEYS),))
WIDE = KeyAxes((("color", KEYS), ("size", Keys([1, 2, 3]))))


def test_all_marginals_are_the_sums_over_the_other_columns():
    counts = np.arange(6) ** 2
    table = counts.reshape(2, 3)
    expected = [*table.sum(axis=1), *table.sum(axis=0), *counts]
    assert (all_marginals(WIDE) @ counts).tolist() == expected
    with pytest.raises(ParameterError, match="marginals"):
        all_marginals(KeyAxes(tuple((name, Keys(range(40))) for name in "abc")))


def test_the_laws_of_small_databases_keep_epsilon_on_all_tables_of_three_rows():
    statistic = SmallDatabaseCells(rows=3, axes=AXES, records=2, offer=ONE)
    laws = {}
    for rows in product((-1, 0, 1), repeat=3):
        with reading_rows([(0, code) for code in rows]):
            laws[rows] = law_of(statistic, empty_survey(3), LEVEL)
    claim = PureDP(epsilon=1, neighbors=REPLACE_ROW)
    for one, other in product(laws, repeat=2):
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1:
            assert not compare_laws(laws[one], laws[other], claim).violated


@pytest.mark.slow
def test_the_laws_of_one_round_of_weights_keep_epsilon():
    statistic, laws = LearnedCells(rows=3, axes=AXES, rounds=1, offer=ONE), []
    for third in (-1, 0, 1):
        with reading_rows([(0, 0), (0, 1), (0, third)]):
            laws.append(law_of(statistic, empty_survey(3), LEVEL, most_runs=300))
    for one, other in product(laws, repeat=2):
        assert not compare_laws(one, other, PureDP(epsilon=1, neighbors=REPLACE_ROW)).violated


@pytest.mark.parametrize(
    "statistic",
    [
        SmallDatabaseCells(rows=60, axes=AXES, records=6, offer=Offer(epsilon=4)),
        LearnedCells(rows=60, axes=AXES, rounds=3, offer=Offer(epsilon=4)),
    ],
    ids=lambda one: one.kind,
)
def test_errors_hold_and_answers_come_back_from_the_store(statistic):
    table = survey([(0, "red")] * 40 + [(0, "green")] * 20, count=60)
    for seed in range(20):
        with replay(seed):
            drawn = statistic.draw(table, LEVEL)
        assert statistic.may_have_drawn(drawn)
        keys, column = statistic.finish(drawn, LEVEL)
        assert keys == {"color": ["red", "green"]}
        assert (column.lower <= [40, 20]).all()
        assert (column.upper >= [40, 20]).all()
    assert statistic.expect(LEVEL).margin > 0
    assert statistic.fits(table)
    assert not statistic.fits(empty_survey(3))
    assert not statistic.may_have_drawn([*drawn, 1])
    assert not statistic.may_have_drawn([float("nan")] * len(drawn))
    assert not statistic.may_have_drawn([None] * len(drawn))


def test_only_epsilon_buys_a_choice():
    for offer in (Offer(rho=1), Offer(epsilon=1, delta=Fraction(1, 100))):
        with pytest.raises(ParameterError, match="epsilon alone"):
            SmallDatabaseCells(rows=3, axes=AXES, records=2, offer=offer)
        with pytest.raises(ParameterError, match="epsilon alone"):
            LearnedCells(rows=3, axes=AXES, rounds=2, offer=offer)
