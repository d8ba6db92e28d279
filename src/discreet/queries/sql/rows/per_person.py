"""Subqueries with GROUP BY person: aggregates of each person's own rows."""

from __future__ import annotations

from sqlglot import exp

from discreet.data.facts.foreign_keys import tell_persons_apart
from discreet.data.facts.persons import Tables, has_person, no_person, person_columns
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.description import describe_expression
from discreet.data.language.expressions import Column, Expression
from discreet.data.language.relations import Named, PerPerson, Personal, PersonalFunction, Relation
from discreet.errors import UnsupportedQuery
from discreet.queries.question.per_person import take_name
from discreet.queries.question.query import derived, filtered
from discreet.queries.sql.columns.post_processing import position_of
from discreet.queries.sql.formulas.expressions import expression_of, unwrapped
from discreet.queries.sql.formulas.key_names import calculated_key_name
from discreet.queries.sql.syntax.refusals import (
    AcrossPersons,
    check_parts,
    function_name,
    no_aggregate_here,
    refused,
    refused_node,
)
from discreet.queries.sql.tables.scope import Field, Scope

__all__ = ["Item", "per_person"]

_FUNCTIONS: dict[type[exp.Expression], PersonalFunction] = {
    exp.Count: PersonalFunction.COUNT,
    exp.Sum: PersonalFunction.SUM,
    exp.Avg: PersonalFunction.MEAN,
    exp.Min: PersonalFunction.MINIMUM,
    exp.Max: PersonalFunction.MAXIMUM,
}
_WORDS = {
    PersonalFunction.COUNT: "count",
    PersonalFunction.COUNT_DISTINCT: "count_distinct",
    PersonalFunction.SUM: "sum",
    PersonalFunction.MEAN: "avg",
    PersonalFunction.MINIMUM: "min",
    PersonalFunction.MAXIMUM: "max",
}
_SUPPORTED = "COUNT, SUM, AVG, MIN and MAX can be taken of each person's rows"

Item = tuple[exp.Expression, str | None]


def per_person(select: exp.Select, items: list[Item], scope: Scope, tables: Tables) -> Scope:
    """Return one row for each person and combination of keys, or refuse a SELECT that mixes persons."""
    if not has_person(scope.relation, tables):
        raise no_person("an aggregate of each person's rows")
    return _Grouping(select, items, scope, tables).scope()


class _Grouping:
    """Reads the SELECT list, GROUP BY and HAVING of one subquery with aggregates."""

    def __init__(self, select: exp.Select, items: list[Item], scope: Scope, tables: Tables) -> None:
        self._select, self._items, self._scope, self._tables = select, items, scope, tables
        self._columns = scope.over(tables)
        self._taken = {name.lower() for name in columns_of_relation(scope.relation, tables)}
        self._below: dict[Expression, str] = {}
        self._personals: list[Personal] = []
        self._named = {alias.lower() for _, alias in items if alias is not None}
        self._keys: list[str] = []

    def scope(self) -> Scope:
        self._group()
        fields: list[Field] = []
        calculated: list[Named] = []
        for node, alias in self._items:
            if type(node) is exp.Column or self._key_of(node) is not None:
                key = self._key(node, alias)
                fields.append(Field(table="", name=alias or self._shown(node, key), column=key))
            elif type(node) in _FUNCTIONS:
                column = self._personal(node, alias)
                fields.append(Field(table="", name=column, column=column))
            elif isinstance(node, exp.Star):
                raise refused_node(node)
            else:
                if alias is None:
                    raise UnsupportedQuery(
                        "a calculated column of a subquery has no name; give it one with AS"
                    )
                calculated.append(Named(name=alias, expression=self._expression(node)))
                fields.append(Field(table="", name=alias, column=alias))
        if len({field.name.lower() for field in fields}) != len(fields):
            raise UnsupportedQuery(
                "two columns of a subquery have the same name, apart from case; give them different names "
                "with AS"
            )
        having = self._having()
        relation: Relation = PerPerson(
            source=derived(
                self._scope.relation,
                tuple(Named(name=name, expression=expression) for expression, name in self._below.items()),
            ),
            keys=tuple(self._keys),
            columns=tuple(self._personals),
        )
        relation = relation if having is None else filtered(relation, having)
        return Scope(relation=derived(relation, tuple(calculated)), fields=tuple(fields))

    def _group(self) -> None:
        group = self._select.args.get("group")
        nodes = [] if group is None else group.expressions
        if group is not None:
            check_parts(group, "expressions")
        for node in nodes:
            column = self._grouped(unwrapped(node))
            if column not in self._keys:
                self._keys.append(column)
        if not tell_persons_apart(self._keys, self._scope.relation, self._tables):
            persons = person_columns(self._scope.relation, self._tables)
            person = min(persons) if persons else "the person"
            raise AcrossPersons(
                *refused(
                    "an aggregate over several persons in a subquery",
                    f"add the person to GROUP BY, as in GROUP BY {person}, so that each row stays one "
                    "person's",
                ).args
            )

    def _grouped(self, node: exp.Expression) -> str:
        """Return the column that an item of GROUP BY is: one in sight, or what SELECT calculates."""
        if type(node) is exp.Column and (node.args.get("table") or self._scope.has(node)):
            return self._scope.field(node).column
        if type(node) is exp.Column:
            for item, alias in self._items:
                if alias is not None and alias.lower() == node.name.lower() and type(item) not in _FUNCTIONS:
                    return self._calculated(item, alias)
            return self._scope.field(node).column
        for item, alias in self._items:
            if item == node and alias is not None:
                return self._calculated(item, alias)
        if isinstance(node, exp.Literal):
            item, alias = self._items[position_of(node, len(self._items), "GROUP BY")]
            if item.find(exp.AggFunc, exp.Star):
                raise no_aggregate_here("GROUP BY")
            return self._calculated(item, alias)
        return self._calculated(node, None)

    def _calculated(self, node: exp.Expression, alias: str | None) -> str:
        if type(node) is exp.Column:
            return self._scope.field(node).column
        if isinstance(node, exp.AggFunc):
            raise no_aggregate_here("GROUP BY")
        expression = expression_of(node, self._columns)
        if expression not in self._below:
            self._below[expression] = take_name(alias or calculated_key_name(expression), self._taken)
        return self._below[expression]

    def _key_of(self, node: exp.Expression) -> str | None:
        if isinstance(node, exp.AggFunc | exp.Star) or not self._below or node.find(*_FUNCTIONS):
            return None
        return self._below.get(expression_of(node, self._columns))

    def _key(self, node: exp.Expression, alias: str | None) -> str:
        found = self._key_of(node) if type(node) is not exp.Column else self._scope.field(node).column
        if found is None or found not in self._keys:
            raise UnsupportedQuery(
                f"{alias or found!r} is neither grouped by nor aggregated; add it to GROUP BY, or take "
                "COUNT, SUM, AVG, MIN or MAX of it"
            )
        return found

    def _shown(self, node: exp.Expression, key: str) -> str:
        return self._scope.field(node).name if type(node) is exp.Column else key

    def _personal(self, node: exp.Expression, alias: str | None) -> str:
        """Return the name of an aggregate; without an alias, that of an equal one if there is one."""
        function, column = self._read(node)
        if alias is None:
            for known in self._personals:
                if (known.function, known.column) == (function, column):
                    return known.name
        name = alias
        if name is None:
            word = _WORDS[function] if column is None else f"{_WORDS[function]}_{column}"
            taken = {*(one.name.lower() for one in self._personals), *(key.lower() for key in self._keys)}
            name = take_name(word, taken | self._named)
        self._personals.append(Personal(name=name, function=function, column=column))
        return name

    def _read(self, node: exp.Expression) -> tuple[PersonalFunction, str | None]:
        check_parts(node, "this", "big_int")
        function, operand = _FUNCTIONS[type(node)], node.args.get("this")
        if isinstance(operand, exp.Distinct):
            if function is not PersonalFunction.COUNT or len(operand.expressions) != 1:
                raise refused("DISTINCT in an aggregate", "write COUNT(DISTINCT x) of one column")
            check_parts(operand, "expressions")
            function, operand = PersonalFunction.COUNT_DISTINCT, operand.expressions[0]
        if function is PersonalFunction.COUNT and isinstance(operand, exp.Star | exp.Literal):
            return function, None
        if operand is None or operand.find(exp.AggFunc):
            raise refused("an aggregate of an aggregate, or of nothing", "aggregate once in each subquery")
        expression = expression_of(operand, self._columns)
        if isinstance(expression, Column):
            return function, expression.name
        if expression not in self._below:
            self._below[expression] = take_name(describe_expression(expression), self._taken)
        return function, self._below[expression]

    def _expression(self, node: exp.Expression) -> Expression:
        """Return a calculation with aggregates and keys, over the rows that persons have then."""
        places: dict[str, str] = {}

        def replaced(one: exp.Expression) -> exp.Expression:
            if isinstance(one, exp.Window | exp.Filter):
                raise refused_node(one)
            if type(one) in _FUNCTIONS:
                name = self._personal(one, None)
                places[f"aggregate {len(places)}"] = name
                return exp.Column(this=exp.Identifier(this=f"aggregate {len(places) - 1}", quoted=True))
            if isinstance(one, exp.AggFunc):
                raise refused(f"{function_name(one)}() of each person's rows", _SUPPORTED)
            return one

        def column(one: exp.Column) -> Expression:
            if one.name in places and one.args.get("table") is None:
                return Column(name=places[one.name])
            if one.args.get("table") is None and not self._scope.has(one):
                for known in self._personals:
                    if known.name.lower() == one.name.lower():
                        return Column(name=known.name)
            return Column(name=self._key(one, None))

        return expression_of(node.copy().transform(replaced), column)

    def _having(self) -> Expression | None:
        having = self._select.args.get("having")
        if having is None:
            return None
        check_parts(having, "this")
        return self._expression(having.this)
