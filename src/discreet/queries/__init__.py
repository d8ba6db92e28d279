"""Requests in SQL and like a dataframe, from names to noise.

- `sql` and `frame` make a `Query` of names; neither reads any data.
- `binding` resolves it against declared tables: a plan, and outputs that share measures (`meanings`).
- `splitting` divides an offer over the measures and `choosing` over choices, `budgeting` makes a `Request`
  of it or finds the offer for a wanted error, `explain` describes all of it.
- `outputs`, `spread_outputs` and `choice_outputs` turn noisy integers and choices into values with intervals.
"""

from __future__ import annotations

from discreet.privacy.offer import Offer
from discreet.queries.binding.bind import BoundQuery, bind
from discreet.queries.explanation.query import explain
from discreet.queries.noise.request import build_request, expectations, for_error
from discreet.queries.outputs.choices import ExtremeOutput, QuantileOutput
from discreet.queries.outputs.counts_sums_means import CountOutput, MeanOutput, QueryOutput, SumOutput
from discreet.queries.outputs.frequent import FrequentOutput
from discreet.queries.outputs.moments import CorrelationOutput, CovarianceOutput, VarianceOutput
from discreet.queries.question.dataframe import GroupedRequest, TableRequest
from discreet.queries.question.query import Query
from discreet.queries.sql.select import parse

__all__ = [
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
