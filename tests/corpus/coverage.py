"""The tables of coverage: how many queries of each kind, and with each construct, are answered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

import sqlglot
from sqlglot import exp
from tests.corpus.measuring import ANSWERED, FAILED, REFUSED, WRONG, Outcome
from tests.corpus.reading import NEVER, CorpusQuery

Test = Callable[[exp.Expression, str], bool]


def _has(*kinds: type[exp.Expression]) -> Test:
    return lambda tree, sql: tree.find(*kinds) is not None


def _says(pattern: str) -> Test:
    return lambda tree, sql: re.search(pattern, sql, re.IGNORECASE) is not None


def _comma_join(tree: exp.Expression, sql: str) -> bool:
    return any(not join.args.get("on") and not join.args.get("using") and not join.side and not join.kind
               and not join.method for join in tree.find_all(exp.Join))  # fmt: skip


def _outer_join(tree: exp.Expression, sql: str) -> bool:
    return any(join.side in {"LEFT", "RIGHT", "FULL"} for join in tree.find_all(exp.Join))


def _calculation(tree: exp.Expression, sql: str) -> bool:
    around = (exp.Binary, exp.Round, exp.Case, exp.Coalesce, exp.Nullif, exp.Cast, exp.Abs, exp.Sqrt)
    return any(
        isinstance(one.parent, around)
        or (isinstance(one.parent, exp.Func) and not isinstance(one.parent, exp.AggFunc))
        for one in tree.find_all(exp.AggFunc)
    )


def _over_groups(tree: exp.Expression, sql: str) -> bool:
    return any(
        inner is not tree and inner.args.get("group") is not None for inner in tree.find_all(exp.Select)
    )


def _scalar(tree: exp.Expression, sql: str) -> bool:
    return any(
        not isinstance(one.parent, exp.From | exp.Join | exp.In | exp.Exists)
        for one in tree.find_all(exp.Subquery)
    )


def _in_or_exists(tree: exp.Expression, sql: str) -> bool:
    return any(one.args.get("query") for one in tree.find_all(exp.In)) or tree.find(exp.Exists) is not None


def _distinct_aggregate(tree: exp.Expression, sql: str) -> bool:
    return any(isinstance(one.parent, exp.AggFunc) for one in tree.find_all(exp.Distinct))


CONSTRUCTS: dict[str, Test] = {
    "comma join": _comma_join,
    "JOIN": _has(exp.Join),
    "LEFT, RIGHT, FULL JOIN": _outer_join,
    "calculation with aggregates": _calculation,
    "a query over groups": _over_groups,
    "WITH": _has(exp.With),
    "scalar subquery": _scalar,
    "IN or EXISTS with a subquery": _in_or_exists,
    "window": _has(exp.Window),
    "ROLLUP, CUBE, GROUPING SETS": _says(r"\b(rollup|cube|grouping sets)\b"),
    "UNION, INTERSECT, EXCEPT": _has(exp.SetOperation),
    "HAVING": _has(exp.Having),
    "ORDER BY": _has(exp.Order),
    "LIMIT": _has(exp.Limit),
    "CASE": _has(exp.Case),
    "FILTER": _has(exp.Filter),
    "COUNT(DISTINCT), SUM(DISTINCT)": _distinct_aggregate,
    "SELECT DISTINCT": _says(r"select\s+distinct"),
    "dates and intervals": _says(
        r"interval|datediff|date_diff|dateadd|extract|date_trunc|year\(|month\(|::date"
    ),
    "text functions, LIKE": _says(
        r"\blike\b|ilike|substr|upper\(|lower\(|left\(|concat|regexp|trim\(|length\("
    ),
    "moments and quantiles": _says(r"stddev|var_|variance|median|quantile|percentile|corr\(|covar|regr_"),
    "names of schemas": _says(r"\b(cdm|public|analytics)\.\w"),
}


def constructs_of(query: CorpusQuery) -> list[str]:
    """Return the constructs that a query has."""
    tree = sqlglot.parse_one(query.exact_sql, read="duckdb")
    return [name for name, test in CONSTRUCTS.items() if test(tree, query.sql)]


def by_kind(found: Sequence[Outcome]) -> str:
    """Return the table of kinds, with a line for all."""
    kinds = sorted({one.query.kind for one in found})
    lines = [(kind, [one for one in found if one.query.kind == kind]) for kind in kinds]
    return _table("kind", [*lines, ("all", list(found))])


def by_construct(found: Sequence[Outcome]) -> str:
    """Return the table of constructs."""
    having = {one.query.title: constructs_of(one.query) for one in found}
    return _table(
        "construct",
        [(name, [one for one in found if name in having[one.query.title]]) for name in CONSTRUCTS],
    )


def share_answered(found: Iterable[Outcome]) -> float:
    """Return how many of the queries that could be answered are answered."""
    could = [one for one in found if one.query.mark != NEVER]
    return sum(one.what == ANSWERED for one in could) / len(could)


def _table(title: str, lines: Iterable[tuple[str, list[Outcome]]]) -> str:
    shown = [f"{title:<32}{'queries':>8}{'answered':>10}{'refused':>9}{'rightly':>9}{'wrong':>7}{'share':>7}"]
    for name, found in lines:
        if not found:
            continue
        could = [one for one in found if one.query.mark != NEVER]
        answered = sum(one.what == ANSWERED for one in found)
        refused = sum(one.what == REFUSED for one in could)
        rightly = sum(one.what == REFUSED for one in found) - refused
        wrong = sum(one.what in {WRONG, FAILED} for one in found)
        share = f"{share_answered(found):>7.0%}" if could else f"{'':>7}"
        shown.append(f"{name:<32}{len(found):>8}{answered:>10}{refused:>9}{rightly:>9}{wrong:>7}{share}")
    return "\n".join(shown)
