"""Private tables, the plan of a request, bounded contributions, exact statistics.

- `expressions`, `schema`, `checking`, `formulas`: total functions over the columns of a row.
- `declarations`: limits per person, bounds of numbers, keys of groups.
- `relation`, `measures`, `plan`: what a request asks; `canonical` and `description` spell it for machines and
  for people.
- `columns`, `implied`, `facts`, `admission`: what is public about every column on the way; what is refused.
- `table`: private rows behind an engine (`engine`, `duckdb_engine`), with what is declared of them.
- `statistics`: a plan's sensitivity, from public facts alone, and its exact integers. They are computed by
  `compile` (conditions), `rows` (relations), `grid` (numbers to integers), `contributions` and `bounding`.

Ibis and the engine load when a table is opened, not before.
"""

from __future__ import annotations

from discreet.data.admission import check_plan
from discreet.data.canonical import from_json, outline, to_json
from discreet.data.checking import check_condition, type_of
from discreet.data.declarations import CLAMP, DROP, EACH_ROW, Bounds, Keys, Limits
from discreet.data.description import describe
from discreet.data.expressions import Expression, literal
from discreet.data.formulas import Aggregate, AggregateFunction, Formula, col, count
from discreet.data.measures import CountNonNull, CountRows, Measure, Sum
from discreet.data.plan import Group, GroupKey, Plan
from discreet.data.relation import Filter, Relation, Source
from discreet.data.salt import Salt, fresh_salt
from discreet.data.schema import Schema, Type
from discreet.data.statistics import Exact, Statistic, Statistics, compute, engine_sql, sensitivity
from discreet.data.table import Table

__all__ = [
    "CLAMP",
    "DROP",
    "EACH_ROW",
    "Aggregate",
    "AggregateFunction",
    "Bounds",
    "CountNonNull",
    "CountRows",
    "Exact",
    "Expression",
    "Filter",
    "Formula",
    "Group",
    "GroupKey",
    "Keys",
    "Limits",
    "Measure",
    "Plan",
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
    "col",
    "compute",
    "count",
    "describe",
    "engine_sql",
    "fresh_salt",
    "from_json",
    "literal",
    "outline",
    "sensitivity",
    "to_json",
    "type_of",
]
