"""Where values meet in a statement: the types of both sides, as Ibis and as the engine has them."""

from __future__ import annotations

import ibis.expr.operations as ops

from discreet.data.engines.base import fetch, written
from discreet.data.engines.spark import _prepared as spark_prepared


def pairs(table):
    """The two sides of every comparison, and of every join, in an Ibis table."""
    found = []
    for node in table.op().find(ops.Node):
        if isinstance(node, ops.logical.Comparison | ops.IdenticalTo):
            found.append((node.left, node.right))
        elif isinstance(node, ops.InValues):
            found += [(node.value, option) for option in node.options]
        elif isinstance(node, ops.InSubquery):
            found.append((node.needle, node.value))
        elif isinstance(node, ops.Least | ops.Greatest | ops.Coalesce):
            found += [(node.arg[0], one) for one in node.arg[1:]]
        elif isinstance(node, ops.SearchedCase | ops.SimpleCase):
            found += [(node.results[0], one) for one in (*node.results[1:], node.default)]
        elif isinstance(node, ops.IfElse):
            found.append((node.true_expr, node.false_null_expr))
        elif isinstance(node, ops.Set):
            left, right = node.left, node.right
            found += [(ops.Field(left, name), ops.Field(right, name)) for name in left.schema]
    return found


def are_of_one_type(left, right):
    """Whether two sides are of one type; small integers that are written into a statement have any width."""
    kinds = [side.dtype for side in (left, right)]
    if any(kind.is_null() for kind in kinds):
        return True
    if all(kind.is_integer() for kind in kinds):
        return not any(kind.is_uint64() for kind in kinds)
    return kinds[0].copy(nullable=True) == kinds[1].copy(nullable=True) or all(
        kind.is_string() for kind in kinds
    )


def disagreements(table, backend):
    """Columns of any part of a statement that are doubles in the engine and not in Ibis, or the reverse."""
    fetch(table, backend)  # which makes the copies that the parts read
    found = []
    for node in dict.fromkeys(table.op().find((ops.Project, ops.Aggregate, ops.Union, ops.JoinChain))):
        described = floating(node.to_expr(), backend)
        for (name, kind), is_float in zip(node.schema.items(), described, strict=True):
            if kind.is_floating() != is_float:
                found.append((type(node).__name__, name, kind))
    return found


def floating(table, backend):
    """Which columns of a table are doubles in the engine."""
    text, shape = written(table, backend)
    if backend.name == "duckdb":
        backend._run_pre_execute_hooks(table)
        return [str(kind) in {"DOUBLE", "FLOAT"} for kind in backend.con.sql(text).types]
    if backend.name == "pyspark":
        with spark_prepared(shape, backend) as session:
            fields = session.sql(text).schema.fields
        return [field.dataType.typeName() in {"double", "float"} for field in fields]
    from discreet.data.engines.postgres import _prepared

    with _prepared(shape, backend) as cursor:
        cursor.execute(f"SELECT * FROM ({text}) AS t LIMIT 0")  # noqa: S608
        return [column.type_code in {700, 701} for column in cursor.description]
