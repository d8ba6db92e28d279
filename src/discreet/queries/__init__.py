"""Requests in SQL and in the manner of dataframes, from names to noise.

- `sql` and `frame` make a `Query` of names; neither touches any data.
- `binding` says what it means over declared tables: a plan, and outputs that share measures.
- `splitting` divides an offer over the measures, `budgeting` makes a `Request` of it or finds the offer for a
  wanted error, `outputs` turns noisy integers into values with intervals, `explain` describes all of it.
"""

from __future__ import annotations

from discreet.queries.binding import BoundQuery, bind
from discreet.queries.budgeting import ROWS, Offer, build_request, expectations, for_error
from discreet.queries.explain import explain
from discreet.queries.frame import GroupedRequest, TableRequest
from discreet.queries.outputs import CountOutput, MeanOutput, QueryOutput, SumOutput
from discreet.queries.query import Query
from discreet.queries.sql import parse

__all__ = [
    "ROWS",
    "BoundQuery",
    "CountOutput",
    "GroupedRequest",
    "MeanOutput",
    "Offer",
    "Query",
    "QueryOutput",
    "SumOutput",
    "TableRequest",
    "bind",
    "build_request",
    "expectations",
    "explain",
    "for_error",
    "parse",
]
