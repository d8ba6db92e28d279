"""What users type as a formula: operators and methods of columns, cases, aggregates.

It is written in expressions, which are stored, and stands above them: nothing else of the language reads it.

- `aggregates`: what is computed of a group, by name.
- `formula`: columns with their operators and aggregates; `formula_methods`, the methods that calculate one.
- `cases`: functions of several formulas, as `when` and `coalesce` are.
- `other_libraries`: what pandas, Polars or Spark call the same thing.
"""
