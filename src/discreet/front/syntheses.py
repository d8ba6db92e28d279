"""Synthetic tables of a curator: previewed, paid for, and released with what was measured for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from discreet.curator import Preview, Release
from discreet.front.arguments import refuse_others
from discreet.front.generators import preview_generator, train_generator
from discreet.front.related_syntheses import preview_related, synthesize_related
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number, confidence_level
from discreet.queries.counts.question import relation_of
from discreet.queries.question.terms import ASSUMED_ROWS, CONFIDENCE

if TYPE_CHECKING:
    from discreet.curator.request.tabulated_request import TabulatedRequest
    from discreet.front.curator import Curator
    from discreet.queries import TableRequest
    from discreet.synthesis.asking.fidelity_question import AnySynthesis
    from discreet.synthesis.asking.synthesis_release import SynthesisRelease
    from discreet.synthesis.methods.adaptive import WeightedSets

__all__ = [
    "measure_fidelity",
    "preview_fidelity",
    "preview_generator",
    "preview_related",
    "preview_synthesis",
    "synthesize",
    "synthesize_related",
    "train_generator",
]


def synthesize(
    curator: Curator,
    table: str | TableRequest,
    columns: Sequence[str],
    *unnamed: NoReturn,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    method: str = "adaptive",
    rows: int | None = None,
    width: Mapping[str, Number] | None = None,
    missing: bool = True,
    workload: WeightedSets | None = None,
    confidence: Number = CONFIDENCE,
    analyst: str = "",
    **unknown: NoReturn,
) -> SynthesisRelease:
    """Spend, then return a synthetic table of some columns.

    The same question with the same offer on the same data returns the same table, at no cost. Counts are made
    in the engine, all of them in one pass.

    Parameters
    ----------
    table : str or TableRequest
        The name of a table; or its rows, filtered or calculated.
    columns : sequence of str
        Columns with declared keys, or with bounds.
    epsilon, delta, rho : number, optional
        The offer: epsilon with delta, or rho.
    method : {"adaptive", "spanning tree", "independent"}
        Which tables are measured: see `discreet.synthesis`.
    rows : int, optional
        How many rows to draw from the model; by default as many as the measurements say there are.
    width : mapping of columns to numbers, optional
        How wide a cell of a column of numbers is; by default one that leaves at most 64 cells.
    missing : bool
        Whether what is missing or not declared is a value of its own, shown as None; else such rows are left
        out.
    workload : sets of columns, or their weights, optional
        For the adaptive method: the tables that should be right; by default all pairs.
    confidence : number
        Of the intervals of measured counts.
    analyst : str
        Who asks, for caps per analyst.

    Raises
    ------
    BudgetExceeded, UnsupportedQuery, UndeclaredColumn
        Before anything is charged.
    EngineFailed
        After the charge; asking again computes without another.
    """
    from discreet.synthesis.asking.synthesis_release import SynthesisRelease

    refuse_others(unnamed, unknown)
    offer = Offer(epsilon=epsilon, delta=delta, rho=rho)
    request = _request(curator, table, columns, offer, method, width, workload, confidence, missing=missing)
    answer = curator.answer(request, analyst=analyst)
    content = curator.stored(request)
    assert content is not None  # noqa: S101
    return SynthesisRelease.of(answer, content, rows)


def preview_synthesis(
    curator: Curator,
    table: str | TableRequest,
    columns: Sequence[str],
    *unnamed: NoReturn,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    method: str = "adaptive",
    rows: int = ASSUMED_ROWS,
    width: Mapping[str, Number] | None = None,
    missing: bool = True,
    workload: WeightedSets | None = None,
    confidence: Number = CONFIDENCE,
    analyst: str = "",
    **unknown: NoReturn,
) -> Preview:
    """Return what a synthetic table would cost, what would be measured, and how wrong. Spends nothing.

    Takes what `synthesize` takes; `rows` is a hypothetical number of rows of the private table.
    """
    refuse_others(unnamed, unknown)
    offer = Offer(epsilon=epsilon, delta=delta, rho=rho)
    request = _request(curator, table, columns, offer, method, width, workload, confidence, missing=missing)
    return curator.preview_request(request, analyst=analyst, rows=rows)


def measure_fidelity(
    curator: Curator,
    made: AnySynthesis | Sequence[AnySynthesis],
    *unnamed: NoReturn,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    ways: int = 2,
    confidence: Number = CONFIDENCE,
    analyst: str = "",
    **unknown: NoReturn,
) -> Release:
    """Spend, then return how far a synthetic table is from the data: a report that may be shown to anyone.

    For every table of one column, or of two, the total variation of the data from the model, with its
    interval; in the first line their mean. A generator stands beside the columns that it began with. It has a
    price of its own. `discreet.synthesis.fidelity` is exact, free, and not private.

    Parameters
    ----------
    made : SynthesisRelease, GeneratorRelease or RelatedRelease
        What `synthesize`, `train_generator` or `synthesize_related` of this curator returned; or a list of
        the first two, of the same rows and columns, to show methods side by side.
    epsilon, delta, rho : number, optional
        The offer: epsilon with delta, or rho.
    ways : int
        How many columns a table has, 1 or 2.
    confidence : number
        Of each interval.
    analyst : str
        Who asks, for caps per analyst.

    Raises
    ------
    BudgetExceeded, UnsupportedQuery
        Before anything is charged.
    EngineFailed
        After the charge; asking again computes without another.
    """
    from discreet.synthesis.asking.fidelity_question import fidelity_request

    refuse_others(unnamed, unknown)
    offer = Offer(epsilon=epsilon, delta=delta, rho=rho)
    curator.budget.check_offer(offer)
    return curator.answer(fidelity_request(made, offer, ways, confidence_level(confidence)), analyst=analyst)


def preview_fidelity(
    curator: Curator,
    made: AnySynthesis | Sequence[AnySynthesis],
    *unnamed: NoReturn,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    ways: int = 2,
    confidence: Number = CONFIDENCE,
    analyst: str = "",
    **unknown: NoReturn,
) -> Preview:
    """Return what a private fidelity report would cost, and its margins. Spends nothing.

    Takes what `measure_fidelity` takes.
    """
    from discreet.synthesis.asking.fidelity_question import fidelity_request

    refuse_others(unnamed, unknown)
    offer = Offer(epsilon=epsilon, delta=delta, rho=rho)
    curator.budget.check_offer(offer)
    request = fidelity_request(made, offer, ways, confidence_level(confidence))
    return curator.preview_request(request, analyst=analyst)


def _request(  # noqa: PLR0917
    curator: Curator,
    table: str | TableRequest,
    columns: Sequence[str],
    offer: Offer,
    method: str,
    width: Mapping[str, Number] | None,
    workload: WeightedSets | None,
    confidence: Number,
    *,
    missing: bool,
) -> TabulatedRequest:
    from discreet.synthesis.asking.question import SynthesisQuestion

    curator.budget.check_offer(offer)
    question = SynthesisQuestion(
        relation=relation_of(table),
        columns=(columns,) if isinstance(columns, str) else tuple(columns),
        method=method,
        widths=dict(width or {}),
        missing=missing,
        workload=workload,
    )
    return question.request(curator.tables, offer, confidence_level(confidence))
