"""Constructs of SQL that private queries do not have, by name, and what to write instead.

A refusal names the construct in the words of SQL. It never repeats what was typed: literals may be
sensitive, and so may text that was meant as one.
"""

from __future__ import annotations

from sqlglot import exp

from discreet.errors import UnsupportedQuery

__all__ = [
    "AGGREGATES",
    "CLAUSES",
    "SORTED",
    "AcrossPersons",
    "check_parts",
    "function_name",
    "no_aggregate_here",
    "refused",
    "refused_clause",
    "refused_node",
]

AGGREGATES = (
    "COUNT, SUM, AVG, VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP, COVAR_POP, COVAR_SAMP, CORR, MEDIAN, "
    "QUANTILE, SMOOTH_MEDIAN, SMOOTH_QUANTILE, TRIMMED_MEAN, MIN, MAX, MODE and APPROX_TOP_K can be asked"
)
"""What can be asked instead of another aggregate."""

_FLAT = "ask about declared tables, with JOIN, WHERE and GROUP BY"
_OTHERS = (
    "it could let other people's rows decide about a row; JOIN private rows on the person, JOIN public "
    "tables, or write the value itself"
)
_CONDITIONS = (
    "expressions are made of columns, literals, = <> < <= > >=, AND, OR, NOT, IN, BETWEEN, LIKE, IS NULL, "
    "CASE, CAST, + - * / and the functions of the language"
)
SORTED = "write ORDER BY and LIMIT, which sort and cut the answer, at the end of the whole query"
_WITHIN = (
    "number the rows of each person in a subquery, ROW_NUMBER() OVER (PARTITION BY person ORDER BY ...) "
    "AS k, and write WHERE k = 1 around it"
)
_LISTS = "it would list what single rows hold; write APPROX_TOP_K(x, 3)"
_ONE_ROW = f"it would show what single rows hold; {AGGREGATES}"

CLAUSES: dict[str, tuple[str, str]] = {
    "with": ("WITH inside", "write WITH once, before the first SELECT"),
    "distinct": ("SELECT DISTINCT", "the groups of GROUP BY are distinct already; leave DISTINCT out"),
    "into": ("SELECT INTO", "leave INTO out; an answer can be stored by whoever receives it"),
    "joins": (
        "JOIN inside parentheses",
        "write the tables one after the other: a JOIN b ON ... JOIN c ON ...",
    ),
    "laterals": ("LATERAL", "write a subquery that names no other table, and JOIN it on the person"),
    "having": (
        "HAVING here",
        "write it at the end of the whole query, where it drops groups from the answer",
    ),
    "order": ("ORDER BY", SORTED),
    "sort": ("SORT BY", SORTED),
    "cluster": ("CLUSTER BY", SORTED),
    "distribute": ("DISTRIBUTE BY", SORTED),
    "limit": ("LIMIT", SORTED),
    "offset": ("OFFSET", SORTED),
    "qualify": ("QUALIFY", _WITHIN),
    "windows": ("WINDOW", "write the partition itself, as in OVER (PARTITION BY person)"),
    "pivots": ("PIVOT", "use GROUP BY instead and reshape the answer"),
    "sample": ("TABLESAMPLE", "leave it out: noise, not sampling, protects people"),
    "locks": ("FOR UPDATE", "leave it out: nothing is ever changed"),
    "match": ("MATCH_RECOGNIZE", _FLAT),
    "connect": ("CONNECT BY", _FLAT),
    "prewhere": ("PREWHERE", "write WHERE"),
    "kind": ("SELECT AS STRUCT", "list the columns and aggregates"),
    "exclude": ("EXCLUDE", "list the columns and aggregates"),
    "only": ("ONLY", "write the name of the table alone"),
    "ordinality": ("WITH ORDINALITY", "write the name of the table alone"),
    "partition": ("PARTITION", "use WHERE"),
    "version": ("a version of a table", "write the name of the table alone"),
    "when": ("a version of a table", "write the name of the table alone"),
    "columns": ("an alias with column names", "keep the names that the columns have"),
    "rollup": ("ROLLUP", "group by columns, and ask for totals in a separate query"),
    "cube": ("CUBE", "group by columns, and ask for totals in a separate query"),
    "grouping_sets": ("GROUPING SETS", "ask one query for each set of columns"),
    "totals": ("WITH TOTALS", "ask for totals in a separate query"),
    "all": ("GROUP BY ALL", "name the columns, as in GROUP BY city"),
    "symmetric": ("BETWEEN SYMMETRIC", "write the lower end first, and BETWEEN alone"),
    "query": (
        "IN with a subquery",
        "JOIN private rows on the person, select one column of a public table, or list the values",
    ),
    "unnest": ("IN UNNEST", "list the values, as in city IN ('a', 'b')"),
    "field": ("IN without a list", "list the values in parentheses, as in city IN ('a', 'b')"),
    "is_global": ("GLOBAL IN", "write IN"),
    "expressions": ("an aggregate of several columns", "take it of one column, as in COUNT(x)"),
    "except": ("EXCLUDE", "write COUNT(*), or COUNT(x) of one column"),
    "replace": ("REPLACE", "write COUNT(*), or COUNT(x) of one column"),
    "hints": ("a hint for a table", "leave it out"),
    "join_mark": ("the join mark (+)", _FLAT),
}
"""Parts of a node that are refused, by the name of the part."""

_NODES: dict[str, tuple[str, str]] = {
    "Select": ("a subquery inside an expression", _OTHERS),
    "Subquery": ("a subquery inside an expression", _OTHERS),
    "Exists": ("EXISTS", "JOIN private rows on the person, with one row for each: GROUP BY the person"),
    "Any": ("ANY", "list the values, as in city IN ('a', 'b')"),
    "All": ("ALL", "list the values, as in NOT city IN ('a', 'b')"),
    "Union": ("UNION", "put UNION ALL into FROM, in parentheses"),
    "Intersect": (
        "INTERSECT of rows",
        "write SELECT DISTINCT in both parts, which are answers then, or JOIN private rows on the person",
    ),
    "Except": (
        "EXCEPT of rows",
        "write SELECT DISTINCT in both parts, which are answers then; or LEFT JOIN private rows on the "
        "person, and write WHERE x IS NULL",
    ),
    "Window": (
        "a window (OVER) here",
        "compute it in a subquery, within each person: OVER (PARTITION BY person)",
    ),
    "Filter": ("FILTER here", "put it after an aggregate in SELECT, as in SUM(x) FILTER (WHERE x > 0)"),
    "WithinGroup": (
        "WITHIN GROUP here",
        "put it after PERCENTILE_CONT or MODE in SELECT, as in MODE() WITHIN GROUP (ORDER BY x)",
    ),
    "Distinct": (
        "DISTINCT here",
        "leave it out, or write COUNT(DISTINCT x) in SELECT",
    ),
    "IgnoreNulls": ("IGNORE NULLS", "leave it out: aggregates skip NULL by the rule of the column"),
    "RespectNulls": ("RESPECT NULLS", "leave it out: aggregates skip NULL by the rule of the column"),
    "Order": ("ORDER BY in an aggregate", "leave it out: the order of rows does not matter"),
    "Star": ("*", "list the keys and aggregates, as in SELECT city, COUNT(*) AS n"),
    "LogicalOr": ("BOOL_OR()", "write COUNT_IF(c), which counts the rows in which it is true"),
    "LogicalAnd": ("BOOL_AND()", "write COUNT_IF(NOT c), which counts the rows in which it is false"),
    "ApproxQuantiles": ("a list of quantiles", "write QUANTILE(x, 0.25), QUANTILE(x, 0.5) and so on"),
    "GroupConcat": ("STRING_AGG()", _LISTS),
    "ArrayAgg": ("ARRAY_AGG()", _LISTS),
    "ArgMax": ("MAX_BY(), or ARG_MAX(),", _ONE_ROW),
    "ArgMin": ("MIN_BY(), or ARG_MIN(),", _ONE_ROW),
    "BitwiseAnd": ("&", "write AND"),
    "BitwiseOr": ("|", "write OR"),
    "BitwiseXor": ("^", _CONDITIONS),
    "BitwiseNot": ("~", "write NOT"),
    "BitwiseLeftShift": ("<<", _CONDITIONS),
    "BitwiseRightShift": (">>", _CONDITIONS),
    "Xor": ("XOR", "write (a OR b) AND NOT (a AND b)"),
    "Placeholder": ("a parameter", "write the value itself; it is kept out of logs and ledgers"),
    "Parameter": ("a parameter", "write the value itself; it is kept out of logs and ledgers"),
    "SessionParameter": ("a parameter", "write the value itself; it is kept out of logs and ledgers"),
    "Tuple": ("a row of values", "compare the columns one by one"),
    "Array": ("an array", "list the values, as in city IN ('a', 'b')"),
    "Struct": ("a struct", "compare the columns one by one"),
    "Bracket": ("an index [ ]", "use whole columns"),
    "Dot": ("a field of a column", "use whole columns"),
    "JSONExtract": ("a field of JSON", "use whole columns"),
    "JSONExtractScalar": ("a field of JSON", "use whole columns"),
    "Collate": ("COLLATE", "leave it out: text compares by code point"),
    "AtTimeZone": ("AT TIME ZONE", "write TIMESTAMPTZ '2026-01-31 12:00:00+01:00'"),
    "National": ("N'...'", "write '...'"),
    "Aliases": ("an alias of several names", "name each aggregate with AS"),
    "Values": ("VALUES", _FLAT),
    "Unnest": ("UNNEST", _FLAT),
    "Lateral": ("LATERAL", "write a subquery that names no other table, and JOIN it on the person"),
    "Distance": ("<->", _CONDITIONS),
    "PropertyEQ": (":=", "write ="),
    "Lambda": ("->", _CONDITIONS),
    "Kwarg": ("=>", _CONDITIONS),
    "Slice": ("a slice [ : ]", "use whole columns"),
    "Operator": ("OPERATOR()", _CONDITIONS),
    "Null": ("NULL as a value", "write x IS NULL or x IS NOT NULL"),
}

_ELSEWHERE: dict[str, tuple[str, str]] = {
    **{
        name: (f"{name}()", _LISTS)
        for name in ("LISTAGG", "WM_CONCAT", "COLLECT_LIST", "COLLECT_SET", "JSON_AGG", "JSONB_AGG")
    },
    **{
        name: (f"{name}()", "GROUP BY the values, or bins of them such as FLOOR(x / 10), and write COUNT(*)")
        for name in ("HISTOGRAM", "HISTOGRAM_NUMERIC")
    },
    "PRODUCT": ("PRODUCT()", "write SUM(LN(x)), and take e to the power of the answer"),
    "GEOMETRIC_MEAN": ("GEOMETRIC_MEAN()", "write AVG(LN(x)), and take e to the power of the answer"),
    "ENTROPY": ("ENTROPY()", "GROUP BY the values, write COUNT(*), and calculate with the answer"),
}
"""Aggregates of other dialects that the parser has no node for. Other names are not repeated."""


def refused(construct: str, rewrite: str) -> UnsupportedQuery:
    """Return the refusal of a construct."""
    return UnsupportedQuery(f"{construct} is not in the language of private queries; {rewrite}")


class AcrossPersons(UnsupportedQuery):
    """The refusal of a subquery whose rows are made of several persons' rows: it is an answer, not rows."""


def check_parts(node: exp.Expression, *allowed: str) -> None:
    """Refuse a node that has any part besides the ones named."""
    for part, value in node.args.items():
        if value and part.rstrip("_") not in allowed:
            raise refused_clause(part, node)


def refused_clause(part: str, owner: exp.Expression) -> UnsupportedQuery:
    """Return the refusal of a part of a node, such as HAVING of a SELECT."""
    name = part.rstrip("_")
    if name in CLAUSES:
        return refused(*CLAUSES[name])
    words = name.upper().replace("_", " ")
    return refused(f"{words} in {owner.key.upper()}", "leave it out")


def refused_node(node: object, rewrite: str = _CONDITIONS) -> UnsupportedQuery:
    """Return the refusal of a node in the wrong place.

    Parameters
    ----------
    node : sqlglot expression
        What was found.
    rewrite : str
        What to write instead of a node about which nothing more is known.
    """
    name = type(node).__name__
    if name in _NODES:
        return refused(*_NODES[name])
    if isinstance(node, exp.AggFunc):
        return refused(f"{function_name(node)}()", AGGREGATES)
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return refused(*_ELSEWHERE.get(str(node.this).upper(), ("a function of this name", rewrite)))
    if isinstance(node, exp.Func):
        return refused(f"{function_name(node)}()", rewrite)
    if isinstance(node, exp.Query | exp.DDL | exp.DML):
        return refused("a statement inside the query", _FLAT)
    words = node.key.upper() if isinstance(node, exp.Expression) else "this"
    return refused(words, rewrite)


def function_name(node: exp.Expression) -> str:
    """Return the name of a function that sqlglot knows, as SQL spells it."""
    return str(node.sql_name()) if isinstance(node, exp.Func) else node.key.upper()  # type: ignore[no-untyped-call]


def no_aggregate_here(place: str) -> UnsupportedQuery:
    """Return the refusal of an aggregate where rows are meant."""
    return refused(
        f"an aggregate in {place}", "aggregates belong in SELECT; drop groups from the answer instead"
    )
