"""What users of pandas, Polars or Spark type, and what it is called here: one name for each thing.

>>> print(unknown_word(ROWS, "groupby"))
rows of a table have no 'groupby'; write group_by('city')
>>> print(unknown_word(ROWS, "cost"))
rows of a table have no 'cost'; write col('cost') for a column
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.records import dataclass

__all__ = ["ANSWER", "FORMULA", "GROUPS", "ROWS", "Vocabulary", "unknown_word"]

_GROUP_BY = "group_by('city')"
_DERIVE = "derive(month=col('day').month())"
_FILTER = "filter(col('cost') > 100)"
_COUNT = "agg(n=count())"
_HEAD = "head(10) after agg(…): answers have groups to show, rows are never shown"
_SORT = "sort_by('n', descending=True)"
_ASK = "clinic.ask(query, epsilon=1) for the answer, which has to_pandas, to_polars and to_arrow"
_NUMBERS = "agg(total=col('cost').sum(), mean=col('cost').mean())"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """What a thing is called in a message, and the names that other libraries have for what it does.

    Attributes
    ----------
    thing : str
        Which has no such name, with its verb.
    words : mapping of names to what to write
        Those of other libraries.
    otherwise : str
        What to write for any other name, with the name in place of {}.
    """

    thing: str
    words: Mapping[str, str]
    otherwise: str


ROWS = Vocabulary(
    thing="rows of a table have",
    words={
        **dict.fromkeys(("groupby", "groupBy"), _GROUP_BY),
        **dict.fromkeys(("with_columns", "with_column", "withColumn", "assign", "mutate"), _DERIVE),
        **dict.fromkeys(("where", "query", "loc", "iloc"), _FILTER),
        **dict.fromkeys(("count", "len", "height", "shape", "size"), _COUNT),
        **dict.fromkeys(("sum", "mean", "avg", "median", "min", "max", "std", "describe"), _NUMBERS),
        **dict.fromkeys(("head", "tail", "limit", "sample", "show", "collect", "to_pandas"), _HEAD),
        **dict.fromkeys(("sort", "sort_values", "sort_by", "order_by", "orderBy"), f"{_SORT} after agg(…)"),
        **dict.fromkeys(("merge", "join_asof"), "join('wards', on='ward')"),
        **dict.fromkeys(("drop_duplicates", "unique"), "distinct()"),
        **dict.fromkeys(("concat", "vstack", "unionByName"), "union(others)"),
        **dict.fromkeys(("drop", "rename"), "select('city', price=col('cost'))"),
        "value_counts": f"{_GROUP_BY}.{_COUNT}",
        "nunique": "agg(n=col('city').count_distinct())",
        "having": "having(col('n') > 10) after agg(…)",
    },
    otherwise="col({!r}) for a column",
)
GROUPS = Vocabulary(
    thing="groups of rows have",
    words={
        **dict.fromkeys(("count", "len", "size"), _COUNT),
        **dict.fromkeys(("sum", "mean", "avg", "median", "min", "max", "std", "quantile"), _NUMBERS),
        **dict.fromkeys(("aggregate", "summarize", "summarise"), _COUNT),
        **dict.fromkeys(("filter", "where", "having"), f"having(col('n') > 10) after {_COUNT}"),
    },
    otherwise=f"agg(m=col({{!r}}).mean()) for the mean of a column, {_COUNT} for the rows",
)
ANSWER = Vocabulary(
    thing="what is asked has",
    words={
        **dict.fromkeys(("filter", "where", "query"), "having(col('n') > 10)"),
        **dict.fromkeys(("limit", "nlargest", "top_k"), "sort_by('n', descending=True).head(10)"),
        **dict.fromkeys(("sort", "sort_values", "order_by", "orderBy"), _SORT),
        **dict.fromkeys(
            ("with_columns", "with_column", "withColumn", "assign", "mutate"), "derive(r=col('a') / col('b'))"
        ),
        **dict.fromkeys(("collect", "compute", "show", "to_pandas", "to_polars", "to_arrow", "to_csv"), _ASK),
    },
    otherwise="col({!r}) for a column of the answer, within having and derive",
)
FORMULA = Vocabulary(
    thing="a formula has",
    words={
        "is_in": "isin(['a', 'b'])",
        **dict.fromkeys(("isnull", "isna", "isNull"), "is_null()"),
        **dict.fromkeys(("notnull", "notna", "is_not_null", "isNotNull"), "~col('x').is_null()"),
        **dict.fromkeys(("fillna", "fill_null"), "coalesce(0)"),
        **dict.fromkeys(("astype", "to"), "cast('integer')"),
        **dict.fromkeys(("str", "dt"), "the function itself, as col('name').lower() or col('day').month()"),
        "stddev": "std()",
        "var": "variance()",
        "avg": "mean()",
        **dict.fromkeys(("nunique", "n_unique", "approx_n_unique"), "count_distinct()"),
        **dict.fromkeys(("alias", "name"), "the name before it, as agg(total=col('cost').sum())"),
        **dict.fromkeys(("startswith", "str_starts_with"), "starts_with('a')"),
        "endswith": "ends_with('a')",
        **dict.fromkeys(("len", "len_chars"), "length()"),
        **dict.fromkeys(("weekday", "dayofweek"), "day_of_week()"),
        **dict.fromkeys(("value_counts", "unique"), "group_by('city').agg(n=count())"),
        "over": "per_person(n=count()) for numbers of each person",
    },
    otherwise="one of its functions: dir(col('x')) lists them",
)


def unknown_word(vocabulary: Vocabulary, name: str) -> AttributeError:
    """Return the error for a name that a thing does not have, which says what to write."""
    if name.startswith("_"):
        return AttributeError(name)
    write = vocabulary.words.get(name) or vocabulary.otherwise.format(name)
    return AttributeError(f"{vocabulary.thing} no {name!r}; write {write}")
