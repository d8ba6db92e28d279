"""The exact mode of small tables: against a search for the nearest table that has another one."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from curator.request.statistics.related_tables import KEYS, empty_survey, law_of, reading_rows, survey
from discreet.audit.divergence import compare_laws
from discreet.audit.outputs import output_key
from discreet.curator.request.statistics.fixed_counts import KeyAxes
from discreet.curator.request.statistics.stable_mode import StableMode
from discreet.errors import ParameterError
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.neighbors import REPLACE_ROW
from discreet.privacy.offer import Offer

LEVEL = Fraction(95, 100)
BOTH = Offer(epsilon=1, delta=Fraction(1, 20))
AXES = KeyAxes((("color", KEYS),))


def test_the_laws_of_all_tables_of_three_rows_keep_the_promise_and_answer_as_the_distance_says():
    statistic = StableMode(rows=3, axes=AXES, offer=BOTH)
    tables = list(product((-1, 0, 1), repeat=3))
    mode = {rows: max((0, 1), key=lambda key: (rows.count(key), -key)) for rows in tables}
    near = {
        rows: [(*rows[:place], new, *rows[place + 1 :]) for place in range(3) for new in (-1, 0, 1)]
        for rows in tables
    }
    far = {rows: 0 for rows in tables if any(mode[other] != mode[rows] for other in near[rows])}
    while len(far) < len(tables):
        far |= {
            rows: 1 + min(far[other] for other in near[rows] if other in far)
            for rows in tables
            if rows not in far and any(other in far for other in near[rows])
        }
    laws = {}
    for rows in tables:
        with reading_rows([(0, code) for code in rows]):
            laws[rows] = law_of(statistic, empty_survey(3), LEVEL)
    claim = ApproximateDP(epsilon=1, delta=BOTH.delta, neighbors=REPLACE_ROW)
    for rows in tables:
        refused = float(laws[rows].masses.get(output_key((-1.5,)), 0))
        assert refused == pytest.approx(statistic.mechanism.test.error_at(distance=far[rows]))
        assert not any(compare_laws(laws[rows], laws[other], claim).violated for other in near[rows])


def test_an_answer_is_the_mode_and_none_costs_the_same():
    statistic = StableMode(rows=40, axes=AXES, offer=Offer(epsilon=2, delta=Fraction(1, 10)))
    clear = survey([(0, "green")] * 40, count=40)
    assert statistic.draw(clear, LEVEL) == [1]
    _, column = statistic.finish([1], LEVEL)
    assert column.values.tolist() == ["green"]
    _, column = statistic.finish([None], LEVEL)
    assert column.values.tolist() == [None]
    assert "costs the same" in column.offers
    assert all(map(statistic.may_have_drawn, ([0], [1], [None])))
    assert not any(map(statistic.may_have_drawn, ([2], [-1], [0, 1], [0.5], [])))
    assert "leads by" in statistic.expect(LEVEL).assumes
    with pytest.raises(ParameterError, match="delta"):
        StableMode(rows=3, axes=AXES, offer=Offer(epsilon=1))
