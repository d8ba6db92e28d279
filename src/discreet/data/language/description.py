"""Plans in words. Literals are hidden: they may be sensitive."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.data.language.declarations import Bounds, Keys
from discreet.data.language.expressions import (
    And,
    Arithmetic,
    Call,
    Case,
    Cast,
    Column,
    Compare,
    Expression,
    IsIn,
    IsNull,
    Literal,
    Not,
    Or,
)
from discreet.data.language.measures import (
    Axis,
    ContingencyTable,
    CountDistinct,
    CountNonNull,
    CountPersons,
    CountRows,
    Factor,
    Histogram,
    Measure,
    Moment,
    Sum,
    SumDistinct,
)
from discreet.data.language.plan import KeyCountPlan, KeyPlan, Plan, RowPlan
from discreet.data.language.relations import (
    Derive,
    Distinct,
    Filter,
    JoinPersons,
    JoinPublic,
    PerPerson,
    Project,
    Relation,
    Source,
    Union,
    Window,
    sources,
)
from discreet.data.language.serialization import calculates
from discreet.privacy.rational import show

__all__ = ["describe", "describe_expression", "describe_measure", "describe_relation"]


def describe(plan: Plan | KeyPlan | KeyCountPlan | RowPlan) -> str:
    """Write a plan for people, one node to a line."""
    if isinstance(plan, KeyCountPlan):
        each = "persons" if plan.rows == 1 else "rows"
        keys = f"{each} with each {plan.column}, at most {plan.total} of a person"
        return "\n".join([keys, *_lines(plan.source, "  ")])
    if isinstance(plan, KeyPlan):
        keys = f"persons with each {plan.column}, at most {plan.keys} of a person"
        return "\n".join([keys, *_lines(plan.source, "  ")])
    if isinstance(plan, RowPlan):
        return "\n".join([*_read_columns(plan), *_lines(plan.source, "  ")])
    by = ", ".join(f"{key.column} ({len(key.values)} keys)" for key in plan.keys)
    lines = [f"group by {by}" if by else "all rows together"]
    told = not calculates(plan)
    lines += [f"  {describe_measure(measure, bounds=told)}" for measure in plan.measures]
    if plan.present:
        lines.append(f"  of rows with a cell of {', '.join(axis.column for axis in plan.present)}")
    lines += _lines(plan.source, "  ")
    return "\n".join(lines)


def _read_columns(plan: RowPlan) -> Iterator[str]:
    told = not calculates(plan)
    yield f"{plan.reader.replace('_', ' ')} of rows, at most {plan.rows} of a person"
    for axis in plan.columns:
        whole = (
            f"in {_within(axis.values) if told else 'its bounds'}" if isinstance(axis.values, Bounds) else ""
        )
        among = whole or f"among {len(axis.values)} keys"  # type: ignore[arg-type]
        yield f"  {axis.column} {among}{', the target' if axis.column == plan.target else ''}"


def _lines(relation: Relation, indent: str) -> Iterator[str]:
    yield f"{indent}{describe_relation(relation)}"
    for below in sources(relation):
        yield from _lines(below, indent + "  ")


def describe_relation(node: Relation) -> str:
    """Write what a relation does to the rows below it, in one line."""
    if isinstance(node, Source):
        return f"source {node.table}{_limited(node)}"
    if isinstance(node, Filter):
        return f"filter {describe_expression(node.condition)}"
    if isinstance(node, Project | Derive):
        written = (_named(describe_expression(column.expression), column.name) for column in node.columns)
        return f"{'columns' if isinstance(node, Project) else 'add'} {', '.join(written)}"
    if isinstance(node, JoinPublic):
        on = ", ".join(f"{part.left} = {part.right}" for part in node.on)
        return f"{'left join' if node.outer else 'join'} public {_public(node)}{f' on {on}' if on else ''}"
    if isinstance(node, JoinPersons):
        on = "".join(f", {part.left} = {part.right}" for part in node.on)
        return f"{'left join' if node.outer else 'join'} on the person{on}"
    if isinstance(node, Union):
        return f"union of {len(node.sources)} relations"
    if isinstance(node, PerPerson):
        by = "".join(f", {key}" for key in node.keys)
        columns = (
            _named(f"{column.function.value} of {column.column or 'rows'}", column.name)
            for column in node.columns
        )
        return f"per person{by}: {', '.join(columns) or 'nothing else'}"
    if isinstance(node, Distinct):
        return "distinct rows of each person"
    if isinstance(node, Window):
        of = f" of {node.column}" if node.column else ""
        within = "".join(f", {name}" for name in node.partition)
        order = ", ".join(f"{part.column}{' descending' * part.descending}" for part in node.order)
        ordered = f" by {order}" if order else ""
        return f"{_named(f'{node.function.value}{of} within the person{within}{ordered}', node.name)}"
    raise TypeError("not a relation")


def _limited(source: Source) -> str:
    limits = source.limits
    if limits is None:
        return ""
    if limits.rows is not None:
        return f", at most {_rows(limits.rows)} of a person"
    return f", at most {_rows(limits.rows_per_group)} of a person in each of {limits.groups} groups"


def _rows(number: int | None) -> str:
    return "1 row" if number == 1 else f"{number} rows"


def _named(text: str, name: str) -> str:
    return text if text == name else f"{text} as {name}"


def describe_measure(measure: Measure, *, bounds: bool = True) -> str:
    """Write a measure for people; without `bounds` if they could reveal literals."""
    if isinstance(measure, CountRows):
        return "count of rows"
    if isinstance(measure, CountPersons):
        return "count of persons"
    if isinstance(measure, CountNonNull):
        return f"count of {measure.column}"
    if isinstance(measure, CountDistinct):
        return f"count of distinct {measure.column}"
    if isinstance(measure, SumDistinct):
        what = ("count of distinct", "sum of distinct", "sum of squares of distinct")[measure.power]
        within = f" within {_within(measure.bounds)}" if bounds else ""
        return f"{what} {measure.column}{within}"
    if isinstance(measure, Sum):
        return f"sum of {_summed(measure, bounds=bounds)}"
    if isinstance(measure, Moment):
        product = " x ".join(_factor(factor, bounds=bounds) for factor in measure.factors)
        shift = f" - {measure.shift}" if measure.shift and bounds else ""
        return f"sum of {product}{shift}"
    if isinstance(measure, Histogram):
        values = measure.values
        ends = _within(values) if isinstance(values, Bounds) and bounds else "its bounds"
        over = ends if isinstance(values, Bounds) else f"{len(values)} keys"
        return f"histogram of {measure.column} over {over}"
    if isinstance(measure, ContingencyTable):
        return f"table of {' by '.join(_axis(axis, bounds=bounds) for axis in measure.axes)}"
    raise TypeError("not a measure")


def _centered(part: Sum | Factor) -> str:
    return f" - {show(part.center)}" if part.center else ""


def _within(bounds: Bounds) -> str:
    return f"[{show(bounds.lower)}, {show(bounds.upper)}], step {show(bounds.step)}"


def _summed(measure: Sum, *, bounds: bool) -> str:
    if not bounds:
        return f"{measure.column} in its bounds"
    return f"{measure.column}{_centered(measure)} in {_within(measure.bounds)}"


def _factor(factor: Factor, *, bounds: bool) -> str:
    power = "" if factor.power == 1 else f"^{factor.power}"
    if not bounds:
        return f"({factor.column}){power} in its bounds"
    return f"({factor.column}{_centered(factor)}){power} in {_within(factor.bounds)}"


def _axis(axis: Axis, *, bounds: bool) -> str:
    if isinstance(axis.values, Keys):
        return f"{axis.column} ({axis.cells} keys)"
    return f"{axis.column} ({f'{axis.cells} cells' if bounds else 'cells of its bounds'})"


def describe_expression(node: Expression) -> str:
    """Write an expression for people, with a question mark for every literal."""
    if isinstance(node, Column):
        return node.name
    if isinstance(node, Literal):
        return "?"
    if isinstance(node, Compare | Arithmetic):
        return f"{_inner(node.left)} {node.operator.value} {_inner(node.right)}"
    if isinstance(node, And | Or):
        word = " and " if isinstance(node, And) else " or "
        return word.join(_inner(operand) for operand in node.operands)
    if isinstance(node, Not):
        return f"not {_inner(node.operand)}"
    if isinstance(node, IsNull):
        return f"{_inner(node.operand)} is null"
    if isinstance(node, IsIn):
        return f"{_inner(node.operand)} in ({', '.join('?' * len(node.values))})"
    if isinstance(node, Case):
        branches = " ".join(
            f"when {describe_expression(part.condition)} then {_inner(part.value)}" for part in node.branches
        )
        has_default = not (isinstance(node.otherwise, Literal) and node.otherwise.value is None)
        return f"case {branches}{f' else {_inner(node.otherwise)}' if has_default else ''} end"
    if isinstance(node, Cast):
        return f"cast({describe_expression(node.operand)} as {node.type.value})"
    if isinstance(node, Call):
        return f"{node.function.name}({', '.join(describe_expression(one) for one in node.operands)})"
    raise TypeError("not an expression")


def _inner(node: Expression) -> str:
    text = describe_expression(node)
    return text if isinstance(node, Column | Literal | Cast | Call) else f"({text})"


def _public(join: JoinPublic) -> str:
    if isinstance(join.table, str):
        return join.table
    return f"rows ({', '.join(column.name for column in join.table.columns)})"
