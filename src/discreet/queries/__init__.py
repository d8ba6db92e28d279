"""Requests in SQL and like a dataframe, from names to noise.

- `sql` and `frame` make a `Query` of names; neither reads any data.
- `binding` resolves it against declared tables: a plan, and outputs that share measures (`meanings`).
- `splitting` divides an offer over the measures and `choosing` over choices, `budgeting` makes a `Request`
  of it or finds the offer for a wanted error, `explain` describes all of it.
- `outputs`, `spread_outputs` and `choice_outputs` turn noisy integers and choices into values with intervals.
"""

from __future__ import annotations

from discreet.queries.binding import BoundQuery, bind
from discreet.queries.budgeting import ROWS, build_request, expectations, for_error
from discreet.queries.choice_outputs import ExtremeOutput, FrequentOutput, QuantileOutput
from discreet.queries.explain import explain
from discreet.queries.frame import GroupedRequest, TableRequest
from discreet.queries.offers import Offer
from discreet.queries.outputs import CountOutput, MeanOutput, QueryOutput, SumOutput
from discreet.queries.query import Query
from discreet.queries.spread_outputs import CorrelationOutput, CovarianceOutput, VarianceOutput
from discreet.queries.sql import parse

__all__ = [
    "ROWS",
    "BoundQuery",
    "CorrelationOutput",
    "CountOutput",
    "CovarianceOutput",
    "ExtremeOutput",
    "FrequentOutput",
    "GroupedRequest",
    "MeanOutput",
    "Offer",
    "QuantileOutput",
    "Query",
    "QueryOutput",
    "SumOutput",
    "TableRequest",
    "VarianceOutput",
    "bind",
    "build_request",
    "expectations",
    "explain",
    "for_error",
    "parse",
]
