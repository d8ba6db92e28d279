"""Other spellings of conditions and functions, in the words that the rest of the language reads.

Dialects have several names for one thing. What can be said with nodes that are read anyway is rewritten
here, once, so that it is the same question:

==============================================  ==================================================
written                                         means
==============================================  ==================================================
``(a, b) = (1, 2)``                             ``a = 1 AND b = 2``
``(a, b) IN ((1, 2), (3, 4))``                  ``(a = 1 AND b = 2) OR (a = 3 AND b = 4)``
``x = ANY (ARRAY[1, 2])``, ``IN UNNEST([...])``  ``x IN (1, 2)``
``x <> ALL (ARRAY[1, 2])``                      ``NOT x IN (1, 2)``
``s LIKE ANY ('a%', 'b%')``                     ``s LIKE 'a%' OR s LIKE 'b%'``
``x BETWEEN SYMMETRIC a AND b``                 ``x BETWEEN a AND b OR x BETWEEN b AND a``
``s SIMILAR TO 'a%'``                           a regular expression from end to end
``s LIKE 'a%' ESCAPE '!'``                      without ESCAPE, if the pattern has no such character
``DECODE(x, 1, a, b)``                          ``CASE WHEN x = 1 THEN a ELSE b END``
``NVL2(x, a, b)``                               ``CASE WHEN x IS NOT NULL THEN a ELSE b END``
``ZEROIFNULL(x)``, ``NULLIFZERO(x)``            ``COALESCE(x, 0)``, ``NULLIF(x, 0)``
``ISNULL(x, a)``, ``SAFE_DIVIDE(a, b)``         ``COALESCE(x, a)``, ``a / b``
``GROUP BY ALL``, ``ORDER BY ALL``              by position
``GROUP BY (a, b)``                             ``GROUP BY a, b``
``OVER w … WINDOW w AS (...)``                  ``OVER (...)``
``LAG(x, 1, 0) OVER (...)``                     ``CASE WHEN ROW_NUMBER() … <= 1 THEN 0 ELSE LAG(x) … END``
==============================================  ==================================================

Aggregates are in `aggregate_spellings`, dates in `date_spellings`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from discreet.queries.sql.syntax.aggregate_spellings import (
    AGGREGATE_SPELLINGS,
    NAMED_SPELLINGS,
    Rewrite,
    is_known_aggregate,
)
from discreet.queries.sql.syntax.date_spellings import DATE_SPELLINGS, NAMED_DATE_SPELLINGS

__all__ = ["respelled"]

_REGULAR = set(".^$+*?\\{}")


def respelled(statement: exp.Expression) -> exp.Expression:
    """Return a statement in the words that the language reads; what has none of its own stays as it is."""
    for node in reversed(list(statement.walk(bfs=True))):
        found = _respelled(node)
        if found is not None and found is not node:
            node.replace(found)
    return statement


def _respelled(node: exp.Expression) -> exp.Expression | None:
    rewrite = _NODES.get(type(node))
    if isinstance(node, exp.Anonymous):
        rewrite = _ANONYMOUS.get(str(node.this).upper())
    return None if rewrite is None else rewrite(node)


def _bare(node: object) -> object:
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _row(node: object) -> list[exp.Expression] | None:
    """Return the parts of (a, b)."""
    node = _bare(node)
    return list(node.expressions) if isinstance(node, exp.Tuple) and len(node.expressions) > 1 else None


def _listed(node: object) -> list[exp.Expression] | None:
    """Return the items of ARRAY[...], [...], or of a list in parentheses."""
    node = _bare(node)
    if isinstance(node, exp.Array | exp.Tuple) and node.expressions:
        return list(node.expressions)
    return None


def _all(nodes: Sequence[exp.Expression], kind: type[exp.Connector]) -> exp.Expression:
    found = nodes[0]
    for node in nodes[1:]:
        found = kind(this=found, expression=node)
    return exp.Paren(this=found)


def _equal_rows(one: Sequence[exp.Expression], other: Sequence[exp.Expression]) -> exp.Expression:
    pairs = [
        exp.EQ(this=left.copy(), expression=right.copy()) for left, right in zip(one, other, strict=True)
    ]
    return _all(pairs, exp.And)


def _comparison(node: exp.Expression) -> exp.Expression | None:
    """Read rows that are (not) equal, = ANY and <> ALL of a list."""
    rows = _row(node.this), _row(node.args.get("expression"))
    negated = isinstance(node, exp.NEQ)
    if rows[0] is not None and rows[1] is not None and len(rows[0]) == len(rows[1]):
        found = _equal_rows(rows[0], rows[1])
        return exp.Paren(this=exp.Not(this=found)) if negated else found
    other = node.args.get("expression")
    if isinstance(other, exp.Anonymous) and str(other.this).upper() == "ALL" and len(other.expressions) == 1:
        other = exp.All(this=other.expressions[0])
    listed = _listed(other.this) if isinstance(other, exp.All if negated else exp.Any) else None
    if listed is None:
        return None
    found = exp.In(this=node.this.copy(), expressions=[item.copy() for item in listed])
    return exp.Paren(this=exp.Not(this=found)) if negated else found


def _membership(node: exp.Expression) -> exp.Expression | None:
    unnest = node.args.get("unnest")
    if isinstance(unnest, exp.Unnest) and len(unnest.expressions) == 1:
        listed = _listed(unnest.expressions[0])
        if listed is not None:
            return exp.In(this=node.this.copy(), expressions=[item.copy() for item in listed])
    row = _row(node.this)
    rows = [_row(item) for item in node.args.get("expressions") or ()]
    if row is None or not rows or any(item is None or len(item) != len(row) for item in rows):
        return None
    return _all([_equal_rows(row, item) for item in rows if item is not None], exp.Or)


def _like(node: exp.Expression) -> exp.Expression | None:
    several = node.expression
    listed = _listed(several.this) if isinstance(several, exp.Any | exp.All) else None
    if listed is None:
        return None
    kind = exp.Or if isinstance(several, exp.Any) else exp.And
    return _all([type(node)(this=node.this.copy(), expression=item.copy()) for item in listed], kind)


def _between(node: exp.Expression) -> exp.Expression | None:
    if not node.args.get("symmetric"):
        return None
    ends = node.args["low"], node.args["high"]
    ranges: list[exp.Expression] = [
        exp.Between(this=node.this.copy(), low=low.copy(), high=high.copy())
        for low, high in (ends, ends[::-1])
    ]
    return _all(ranges, exp.Or)


def _similar(node: exp.Expression) -> exp.Expression | None:
    pattern = node.expression
    if not isinstance(pattern, exp.Literal) or not pattern.is_string or set(str(pattern.this)) & _REGULAR:
        return None
    text = str(pattern.this).replace("%", ".*").replace("_", ".")
    return exp.RegexpLike(this=node.this.copy(), expression=exp.Literal.string(f"^({text})$"))


def _escape(node: exp.Expression) -> exp.Expression | None:
    like, escape = node.this, node.expression
    pattern = like.args.get("expression") if isinstance(like, exp.Like | exp.ILike) else None
    if not isinstance(pattern, exp.Literal) or not isinstance(escape, exp.Literal):
        return None
    sign = str(escape.this)
    return like.copy() if len(sign) == 1 and sign not in str(pattern.this) else None


def _decode(node: exp.Expression) -> exp.Expression | None:
    subject, *rest = node.expressions
    if len(rest) < 2:
        return None
    default = rest.pop() if len(rest) % 2 else None
    branches = []
    for wanted, value in zip(rest[::2], rest[1::2], strict=True):
        known = isinstance(wanted, exp.Literal | exp.Boolean)
        kind = exp.EQ if known else exp.NullSafeEQ
        branches.append(exp.If(this=kind(this=subject.copy(), expression=wanted.copy()), true=value.copy()))
    return exp.Case(ifs=branches, default=None if default is None else default.copy())


def _nvl2(node: exp.Expression) -> exp.Expression | None:
    missing = exp.Is(this=exp.Paren(this=node.this.copy()), expression=exp.Null())
    otherwise = node.args.get("false")
    return exp.Case(
        ifs=[exp.If(this=exp.Not(this=missing), true=node.args["true"].copy())],
        default=None if otherwise is None else otherwise.copy(),
    )


def _safe_divide(node: exp.Expression) -> exp.Expression:
    return exp.Paren(
        this=exp.Div(this=exp.Paren(this=node.this.copy()), expression=exp.Paren(this=node.expression.copy()))
    )


def _or_zero(node: exp.Expression) -> exp.Expression | None:
    return _of_one(node, lambda one: exp.Coalesce(this=one.copy(), expressions=[exp.Literal.number(0)]))


def _null_if_zero(node: exp.Expression) -> exp.Expression | None:
    return _of_one(node, lambda one: exp.Nullif(this=one.copy(), expression=exp.Literal.number(0)))


def _of_one(node: exp.Expression, made: Callable[[exp.Expression], exp.Expression]) -> exp.Expression | None:
    return made(node.expressions[0]) if len(node.expressions) == 1 else None


def _is_null(node: exp.Expression) -> exp.Expression | None:
    if len(node.expressions) != 2:
        return None
    one, other = node.expressions
    return exp.Coalesce(this=one.copy(), expressions=[other.copy()])


def _select(node: exp.Expression) -> None:
    """Read GROUP BY ALL, GROUP BY (a, b) and ORDER BY ALL."""
    group, order = node.args.get("group"), node.args.get("order")
    if isinstance(group, exp.Group):
        if group.args.get("all") and not group.expressions:
            keys = [place for place, item in enumerate(node.expressions, 1) if _is_key(item)]
            if keys:
                group.set("all", None)
                group.set("expressions", [exp.Literal.number(place) for place in keys])
            else:
                node.set("group", None)
        flat = [part for one in group.expressions for part in _row(one) or [one]]
        if len(flat) > len(group.expressions):
            group.set("expressions", [part.copy() for part in flat])
    if node.args.get("windows"):
        _name_windows(node)
    if isinstance(order, exp.Order) and len(order.expressions) == 1:
        (part,) = order.expressions
        if _is_all(part.this):
            listed = []
            for place in range(1, len(node.expressions) + 1):
                one = part.copy()
                one.set("this", exp.Literal.number(place))
                listed.append(one)
            order.set("expressions", listed)


def _name_windows(select: exp.Expression) -> None:
    """Write what WINDOW defines where it is named."""
    named = {str(one.this.name).lower(): one for one in select.args["windows"]}
    if any(one.args.get("alias") for one in named.values()):
        return
    for window in select.find_all(exp.Window):
        alias = window.args.get("alias")
        if not isinstance(alias, exp.Identifier) or window.find_ancestor(exp.Select) is not select:
            continue
        meant = named.get(str(alias.name).lower())
        if meant is None or any(window.args.get(part) for part in ("partition_by", "order", "spec")):
            return
        window.set("alias", None)
        for part in ("partition_by", "order", "spec"):
            written = meant.args.get(part)
            copied = (
                [one.copy() for one in written] if isinstance(written, list) else written and written.copy()
            )
            window.set(part, copied)
    select.set("windows", None)


def _shift(node: exp.Expression) -> exp.Expression | None:
    """Read LAG(x, k, d): d in the first k rows."""
    inner = node.this
    default = inner.args.get("default") if isinstance(inner, exp.Lag | exp.Lead) else None
    if default is None:
        return None
    plain, number, rows = node.copy(), node.copy(), node.copy()
    plain.this.set("default", None)
    number.set("this", exp.RowNumber())
    place: exp.Expression = number
    if isinstance(inner, exp.Lead):
        rows.set("this", exp.Count(this=exp.Star(), big_int=True))
        rows.set("order", None)
        place = exp.Add(this=exp.Sub(this=rows, expression=number), expression=exp.Literal.number(1))
    offset = inner.args.get("offset") or exp.Literal.number(1)
    outside = exp.LTE(this=place, expression=offset.copy())
    return exp.Case(ifs=[exp.If(this=outside, true=default.copy())], default=plain)


def _is_key(item: exp.Expression) -> bool:
    """Return whether an item of SELECT is grouped by, by GROUP BY ALL: it has columns and no aggregates."""
    inner = item.this if isinstance(item, exp.Alias) else item
    if any(
        isinstance(one, exp.AggFunc | exp.Window | exp.Star) or is_known_aggregate(one)
        for one in inner.walk()
    ):
        return False
    return inner.find(exp.Column) is not None


def _is_all(node: exp.Expression) -> bool:
    return (
        type(node) is exp.Column
        and node.args.get("table") is None
        and str(node.name).upper() == "ALL"
        and not node.this.args.get("quoted")
    )


_NODES: dict[type[exp.Expression], Rewrite] = {
    **AGGREGATE_SPELLINGS,
    **DATE_SPELLINGS,
    exp.EQ: _comparison,
    exp.NEQ: _comparison,
    exp.In: _membership,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Between: _between,
    exp.SimilarTo: _similar,
    exp.Escape: _escape,
    exp.DecodeCase: _decode,
    exp.Nvl2: _nvl2,
    exp.SafeDivide: _safe_divide,
    exp.Window: _shift,
    exp.Select: _select,
}
_ANONYMOUS: dict[str, Rewrite] = {
    **NAMED_SPELLINGS,
    **NAMED_DATE_SPELLINGS,
    "ZEROIFNULL": _or_zero,
    "NULLIFZERO": _null_if_zero,
    "ISNULL": _is_null,
}
