"""Private tables, the plan of a request, bounded contributions, exact statistics.

- `expressions`, `functions`, `schema`: total functions over the columns of a row; `checking`, `signatures`
  and `spread` check them, `formulas`, `words` and `cases` are what users write.
- `declarations`: limits per person, bounds of numbers, keys of groups, days.
- `relation`, `measures`, `plan`: what a request asks; `canonical` and `description` spell it for machines and
  for people.
- `columns`, `implied`, `facts`, `admission`: what is public about every column on the way; what is refused.
- `table`: private rows behind an engine (`engine`, `duckdb_engine`), with what is declared about them.
  `normal_forms` says what is left of every stored value; `arrow_forms`, `object_forms`, `csv_records` and
  `parquet_files` bring frames and files to that.
- `statistics`: a plan's sensitivity, from public facts alone, and its exact integers. They are computed by
  `compile` (expressions, with `comparing`, `numbers`, `texts`, `moments` and `casts`), `rows` (relations),
  `grid` (numbers to integers), `contributions` and `bounding`.

Ibis and the engine load when a table is opened, not before.
"""

from __future__ import annotations

from discreet.data.facts.plan_check import check_plan
from discreet.data.facts.type_check import check_condition, type_of
from discreet.data.language.cases import coalesce, concat, greatest, least, when
from discreet.data.language.declarations import CLAMP, DROP, EACH_ROW, Bounds, Dates, Keys, Limits
from discreet.data.language.description import describe
from discreet.data.language.expressions import Expression, literal
from discreet.data.language.formula import (
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
from discreet.data.language.plan import Group, GroupKey, Plan
from discreet.data.language.relations import Filter, Relation, Source
from discreet.data.language.schema import Schema, Type
from discreet.data.language.serialization import from_json, outline, to_json
from discreet.data.salt import Salt, fresh_salt
from discreet.data.statistics import Exact, Statistic, Statistics, compute, engine_sql, sensitivity
from discreet.data.tables.public_table import PublicTable
from discreet.data.tables.table import Table

__all__ = [
    "CLAMP",
    "DROP",
    "EACH_ROW",
    "Aggregate",
    "AggregateFunction",
    "Axis",
    "Bounds",
    "ContingencyTable",
    "CountDistinct",
    "CountNonNull",
    "CountPersons",
    "CountRows",
    "Dates",
    "Exact",
    "Expression",
    "Factor",
    "Filter",
    "Formula",
    "Group",
    "GroupKey",
    "Histogram",
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
    "greatest",
    "least",
    "literal",
    "outline",
    "sensitivity",
    "to_json",
    "type_of",
    "when",
]
