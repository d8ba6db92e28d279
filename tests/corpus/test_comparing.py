"""Wrong answers are noticed: a row too many, a condition left out, a sum 2 % off, a quantile of others.

DuckDB stands in for the answer here, so that every query of the corpus is tried in a moment: its exact answer
is accepted, and what is planted into it is not.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
import sqlglot
from sqlglot import exp
from tests.corpus.column_kinds import Holds, holds, items_of, ranked
from tests.corpus.comparing import difference
from tests.corpus.exact import Answer, exact
from tests.corpus.ranks import RANKS, has_rank
from tests.corpus.reading import ANSWERED, CorpusQuery, corpus

KINDS = sorted({query.kind for query in corpus()})
WITHOUT_JOINS = sorted(set(KINDS) - {"movies", "trade", "trade_by_column"})
"""Where WHERE joins tables, a query without one of its conditions would be of all pairs of rows."""


@dataclass(frozen=True)
class Said:
    """An answer that somebody gave."""

    answer: Answer
    keys: tuple[str, ...] = ()

    def columns(self) -> dict[str, list[object]]:
        return {name: [row[k] for row in self.answer.rows] for k, name in enumerate(self.answer.names)}


def tried(kind: str) -> Iterator[tuple[CorpusQuery, Answer]]:
    """The queries of a kind that are answered, with their answers."""
    for query in corpus():
        if query.kind == kind and query.mark == ANSWERED:
            found = exact(query)
            if found.rows and len({name.lower() for name in found.names}) == len(found.names):
                yield query, found


def changed(answer: Answer, row: int, column: int, value: object) -> Said:
    rows = [list(one) for one in answer.rows]
    rows[row][column] = value
    return Said(replace(answer, rows=[tuple(one) for one in rows]))


def items(query: CorpusQuery, answer: Answer) -> list[exp.Expression | None]:
    return items_of(sqlglot.parse_one(query.exact_sql, read="duckdb"), len(answer.names))


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", KINDS)
def test_the_exact_answer_is_accepted(kind):
    for query, answer in tried(kind):
        assert difference(query, Said(answer), answer) == "", query.title


@pytest.mark.few(4)
@pytest.mark.parametrize("kind", KINDS)
def test_a_row_too_many_and_a_sum_that_is_off_are_noticed(kind):
    """In every column that is no quantile and no moment, and in the last row as in the first."""
    planted = 0
    for query, answer in tried(kind):
        for column, held in enumerate(holds(items(query, answer))):
            for row in {0, len(answer.rows) - 1}:
                value = answer.rows[row][column]
                if held in {Holds.MOMENT, Holds.RANKED} or isinstance(value, bool | str) or not value:
                    continue
                if isinstance(value, int):
                    assert difference(query, changed(answer, row, column, value + 1), answer), query.title
                    planted += 1
                elif hasattr(value, "as_integer_ratio"):
                    off = float(value) * 1.02
                    assert difference(query, changed(answer, row, column, off), answer), query.title
                    planted += 1
    assert planted > 5


def conditions_left_out(query: CorpusQuery) -> Iterator[CorpusQuery]:
    """The same query without one of the conditions of its outermost WHERE."""
    tree = sqlglot.parse_one(query.exact_sql, read="duckdb")
    where = tree.args.get("where") if isinstance(tree, exp.Select) else None
    parts = list(where.this.flatten()) if where is not None and isinstance(where.this, exp.And) else []
    for place in range(len(parts)):
        fewer = tree.copy()
        fewer.set("where", exp.Where(this=exp.and_(*(one for k, one in enumerate(parts) if k != place))))
        yield replace(query, plain=fewer.sql("duckdb"))
    if where is not None and not parts:
        fewer = tree.copy()
        fewer.set("where", None)
        yield replace(query, plain=fewer.sql("duckdb"))


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "kind", [kind for kind in KINDS if kind not in {"movies", "trade", "trade_by_column"}]
)
def test_a_condition_left_out_is_noticed(kind):
    """Wherever it makes a difference to a number that has no error of its own."""
    planted = 0
    for query, answer in tried(kind):
        exact_ones = [k for k, held in enumerate(holds(items(query, answer))) if held is not Holds.RANKED]
        for other in conditions_left_out(query):
            wrong = exact(other)
            if sorted(repr([row[k] for k in exact_ones]) for row in wrong.rows) != sorted(
                repr([row[k] for k in exact_ones]) for row in answer.rows
            ):
                assert difference(query, Said(wrong), answer), (query.title, other.plain)
                planted += 1
    assert planted > 2


def test_quantiles_are_compared_by_their_rank():
    values = [float(value) for value in range(100)] + [1000.0]
    for share in (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1)):
        right = values[min(int(share * 101), 100)]
        assert has_rank(right, share, values, 0.0)
        wrong = values[min(max(int(share * 101) + (-1 if share == 1 else 1) * (RANKS + 2), 0), 100)]
        assert not has_rank(wrong, share, values, 0.0)
    assert has_rank(98.0, Fraction(1), values, 0.0), "one row inside the largest, however far that is"
    assert not has_rank(1002.0, Fraction(1), values, 1.0), "beyond everything"
    assert has_rank(7.0, Fraction(1, 2), [], 1.0), "of nothing, nothing is known"


def test_what_columns_hold_is_read_from_each_of_them():
    tree = sqlglot.parse_one(
        "SELECT k, COUNT(*) AS n, SUM(x) AS s, AVG(x) AS a, MEDIAN(x) AS m, 2 * STDDEV(x) AS d, MAX(x) AS h, "
        "QUANTILE(x, 0.25) AS q, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x) AS p FROM t GROUP BY k",
        read="duckdb",
    )
    found = items_of(tree, 9)
    wanted = "EXACT COUNT_OR_SUM COUNT_OR_SUM EXACT RANKED MOMENT RANKED RANKED RANKED"
    assert [one.name for one in holds(found)] == wanted.split()
    shares = [one.share for one in map(ranked, found) if one is not None]
    assert shares == [Fraction(1, 2), Fraction(1), Fraction(1, 4), Fraction(9, 10)]
