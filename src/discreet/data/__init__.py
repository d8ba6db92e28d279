"""Private tables, the plan of a request, bounded contributions, exact statistics.

- `language`: what a request can say: expressions, relations, measures, plans, declarations.
- `reading`, `engines`, `tables`: stored values in their normal form, behind DuckDB, PostgreSQL or Spark.
- `facts`: what is public about every column, and what is refused because of it.
- `compile`: expressions and relations in Ibis; `grid` rounds numbers to integers.
- `lots`, `bounding`, `prepared`: which rows of a person count.
- `contributions`, `statistics`, `key_counts`: a plan's sensitivity, from public facts alone, and its exact
  integers.

Ibis and the engine are loaded when a table is opened, not before.
"""

from __future__ import annotations

from discreet.data.facts.plan_check import check_plan
from discreet.data.facts.type_check import check_condition, type_of
from discreet.data.language.declarations import AUTO, CLAMP, DROP, EACH_ROW, Bounds, Dates, Keys, Limits
from discreet.data.language.description import describe
from discreet.data.language.expressions import Expression, literal
from discreet.data.language.formulas.cases import coalesce, concat, greatest, least, when
from discreet.data.language.formulas.formula import (
    Aggregate,
    AggregateFunction,
    Formula,
    col,
    correlation,
    count,
    count_persons,
    covariance,
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
)
from discreet.data.language.ownership import through
from discreet.data.language.plan import Group, GroupKey, Plan
from discreet.data.language.relations import Filter, Relation, Source
from discreet.data.language.serialization import from_json, from_object, outline, to_json, to_object
from discreet.data.language.types import Schema, Type
from discreet.data.reading.csv_format import Csv
from discreet.data.salt import Salt, fresh_salt
from discreet.data.statistics import Exact, Statistic, Statistics, compute, engine_sql, sensitivity
from discreet.data.tables.check_report import Check
from discreet.data.tables.fixed_table import FixedTable
from discreet.data.tables.graph import Graph
from discreet.data.tables.public_table import PublicTable
from discreet.data.tables.row_facts import Determined, Impossible
from discreet.data.tables.table import Table
from discreet.exports import publish

__all__ = [
    "AUTO",
    "CLAMP",
    "DROP",
    "EACH_ROW",
    "Aggregate",
    "AggregateFunction",
    "Axis",
    "Bounds",
    "Check",
    "ContingencyTable",
    "CountDistinct",
    "CountNonNull",
    "CountPersons",
    "CountRows",
    "Csv",
    "Dates",
    "Determined",
    "Exact",
    "Expression",
    "Factor",
    "Filter",
    "FixedTable",
    "Formula",
    "Graph",
    "Group",
    "GroupKey",
    "Histogram",
    "Impossible",
    "Keys",
    "Limits",
    "Measure",
    "Moment",
    "Plan",
    "PublicTable",
    "Relation",
    "Salt",
    "Schema",
    "Source",
    "Statistic",
    "Statistics",
    "Sum",
    "Table",
    "Type",
    "check_condition",
    "check_plan",
    "coalesce",
    "col",
    "compute",
    "concat",
    "correlation",
    "count",
    "count_persons",
    "covariance",
    "describe",
    "engine_sql",
    "fresh_salt",
    "from_json",
    "from_object",
    "greatest",
    "least",
    "literal",
    "outline",
    "sensitivity",
    "through",
    "to_json",
    "to_object",
    "type_of",
    "when",
]

publish(__name__)
