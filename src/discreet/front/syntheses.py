"""Synthetic tables of a curator: previewed, paid for, and released with what was measured for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from discreet.curator import Preview, Release
from discreet.data.tables.row_facts import RowFact, checked_facts
from discreet.errors import ParameterError
from discreet.front.arguments import refuse_others
from discreet.front.generators import preview_generator, train_generator
from discreet.front.related_syntheses import preview_related, synthesize_related
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number, confidence_level, rational
from discreet.queries.counts.question import relation_of
from discreet.queries.question.terms import ASSUMED_ROWS, CONFIDENCE

if TYPE_CHECKING:
    from discreet.front.curator import Curator
    from discreet.queries import TableRequest
    from discreet.synthesis.asking.asked_synthesis import AskedSynthesis
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
    bins: Mapping[str, int] | None = None,
    missing: bool = True,
    workload: WeightedSets | None = None,
    facts: Iterable[RowFact] | RowFact | None = None,
    key_share: Number | None = None,
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
        Columns with declared keys, with bounds or with days. Keys of a column of text that has none are
        chosen first, privately; all others are shown as one, ``"(other)"``.
    epsilon, delta, rho : number, optional
        The offer: epsilon with delta, or rho; with delta, too, where keys are to be chosen.
    method : {"adaptive", "spanning tree", "independent"}
        Which tables are measured: see `discreet.synthesis`.
    rows : int, optional
        How many rows to draw from the model; by default as many as the measurements say there are.
    width : mapping of columns to numbers, optional
        How wide a cell of a column of numbers is; by default one that leaves at most 64 cells.
    bins : mapping of columns to int, optional
        Instead, so many cells of about as many rows each: quantiles are bought first, for a tenth of the
        offer.
    missing : bool
        Whether what is missing or not declared is a value of its own, shown as None; else such rows are left
        out.
    workload : sets of columns, or their weights, optional
        For the adaptive method: the tables that should be right; by default all pairs.
    facts : Impossible, Determined or several of them, optional
        What is declared about rows, besides what the owner of the table declared: combinations that no
        synthetic row has, and columns that follow from others.
    key_share : number, optional
        The share of the offer that chooses keys where some are unknown; by default a fifth.
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
    refuse_others(unnamed, unknown)
    asked = _asked(
        curator,
        SynthesisTerms(
            table=table,
            columns=columns,
            offer=_offer(epsilon, delta, rho),
            method=method,
            width=width,
            bins=bins,
            workload=workload,
            facts=facts,
            key_share=key_share,
            confidence=confidence,
            missing=missing,
        ),
    )
    return asked.release(curator, analyst=analyst, rows=rows)


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
    bins: Mapping[str, int] | None = None,
    missing: bool = True,
    workload: WeightedSets | None = None,
    facts: Iterable[RowFact] | RowFact | None = None,
    key_share: Number | None = None,
    confidence: Number = CONFIDENCE,
    analyst: str = "",
    **unknown: NoReturn,
) -> Preview:
    """Return what a synthetic table would cost, what would be measured, and how wrong. Spends nothing.

    Takes what `synthesize` takes; `rows` is a hypothetical number of rows of the private table.
    """
    refuse_others(unnamed, unknown)
    asked = _asked(
        curator,
        SynthesisTerms(
            table=table,
            columns=columns,
            offer=_offer(epsilon, delta, rho),
            method=method,
            width=width,
            bins=bins,
            workload=workload,
            facts=facts,
            key_share=key_share,
            confidence=confidence,
            missing=missing,
        ),
    )
    return asked.preview(curator, analyst=analyst, rows=rows)


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
    curator.budget.check_synthesis()
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
    curator.budget.check_synthesis()
    curator.budget.check_offer(offer)
    request = fidelity_request(made, offer, ways, confidence_level(confidence))
    return curator.preview_request(request, analyst=analyst)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SynthesisTerms:
    """What is stated about a synthetic table, as it was typed."""

    table: str | TableRequest
    columns: Sequence[str]
    offer: Offer
    method: str
    width: Mapping[str, Number] | None
    bins: Mapping[str, int] | None
    workload: WeightedSets | None
    facts: Iterable[RowFact] | RowFact | None
    key_share: Number | None
    confidence: Number
    missing: bool


def _offer(epsilon: Number | None, delta: Number | None, rho: Number | None) -> Offer:
    """Return what is offered: beside rho, a delta is for the choice of keys."""
    if rho is not None and delta is not None and epsilon is None:
        return Offer.concentrated(rho, delta)
    return Offer(epsilon=epsilon, delta=delta, rho=rho)


def _asked(curator: Curator, stated: SynthesisTerms) -> AskedSynthesis:
    from discreet.synthesis.asking.asked_synthesis import KEY_SHARE, AskedSynthesis
    from discreet.synthesis.asking.question import SynthesisQuestion

    curator.budget.check_synthesis()
    curator.budget.check_offer(stated.offer)
    share = KEY_SHARE if stated.key_share is None else rational(stated.key_share, "key_share", positive=True)
    if share >= 1:
        raise ParameterError("key_share", "leaves nothing for the tables", "a number between 0 and 1")
    question = SynthesisQuestion(
        relation=relation_of(stated.table),
        columns=(stated.columns,) if isinstance(stated.columns, str) else tuple(stated.columns),
        method=stated.method,
        widths=dict(stated.width or {}),
        bins=dict(stated.bins or {}),
        missing=stated.missing,
        workload=stated.workload,
        facts=checked_facts(stated.facts),
    )
    return AskedSynthesis(
        question=question,
        tables=curator.tables,
        offer=stated.offer,
        confidence=confidence_level(stated.confidence),
        key_share=share,
    )
