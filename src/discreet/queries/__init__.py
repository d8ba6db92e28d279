"""Questions in SQL and like dataframes, from names to noise.

- `sql`, `question`: a `Query` of names, and the terms it is asked on; neither reads any data.
- `binding`: what it means over declared tables: a plan, and outputs that share measures.
- `noise`: how an offer is divided over measures, or found for a wanted error; the `Request` it makes.
- `outputs`: noisy integers and choices as values with intervals.
- `counts`: ranges, distribution functions and marginals, from one table of counts.
- `explanation`: all of it in words.
- `asking`: a question on its terms, settled: what the curator previews, explains and answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exports import publish

if TYPE_CHECKING:
    from discreet.privacy.offer import Offer
    from discreet.queries.binding.bind import BoundQuery, bind
    from discreet.queries.explanation.query import explain
    from discreet.queries.noise.build_request import build_request, expectations, for_error
    from discreet.queries.outputs.counts_sums_means import CountOutput, MeanOutput, QueryOutput, SumOutput
    from discreet.queries.outputs.frequent import FrequentOutput
    from discreet.queries.outputs.moments import VarianceOutput
    from discreet.queries.outputs.pairs import CorrelationOutput, CovarianceOutput
    from discreet.queries.outputs.quantiles_and_extremes import ExtremeOutput, QuantileOutput
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

_HOMES = {
    "BoundQuery": "discreet.queries.binding.bind",
    "CorrelationOutput": "discreet.queries.outputs.pairs",
    "CountOutput": "discreet.queries.outputs.counts_sums_means",
    "CovarianceOutput": "discreet.queries.outputs.pairs",
    "ExtremeOutput": "discreet.queries.outputs.quantiles_and_extremes",
    "FrequentOutput": "discreet.queries.outputs.frequent",
    "GroupedRequest": "discreet.queries.question.dataframe",
    "MeanOutput": "discreet.queries.outputs.counts_sums_means",
    "Offer": "discreet.privacy.offer",
    "QuantileOutput": "discreet.queries.outputs.quantiles_and_extremes",
    "Query": "discreet.queries.question.query",
    "QueryOutput": "discreet.queries.outputs.counts_sums_means",
    "SumOutput": "discreet.queries.outputs.counts_sums_means",
    "TableRequest": "discreet.queries.question.dataframe",
    "VarianceOutput": "discreet.queries.outputs.moments",
    "bind": "discreet.queries.binding.bind",
    "build_request": "discreet.queries.noise.build_request",
    "expectations": "discreet.queries.noise.build_request",
    "explain": "discreet.queries.explanation.query",
    "for_error": "discreet.queries.noise.build_request",
    "parse": "discreet.queries.sql.select",
}

publish(__name__, homes=_HOMES)
