"""Generator networks of a curator: every round of votes is paid for before a row is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from discreet.curator import Preview
from discreet.front.arguments import refuse_others
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number, confidence_level, rational, whole
from discreet.queries.counts.question import relation_of
from discreet.queries.question.terms import ASSUMED_ROWS, CONFIDENCE

if TYPE_CHECKING:
    from discreet.curator.request.fit_request import FitRequest
    from discreet.front.curator import Curator
    from discreet.queries import TableRequest
    from discreet.synthesis.asking.generator_release import GeneratorRelease

__all__ = ["preview_generator", "train_generator"]


def train_generator(
    curator: Curator,
    table: str | TableRequest,
    columns: Sequence[str],
    *unnamed: NoReturn,
    epsilon: Number,
    delta: Number,
    method: str = "PATE-GAN",
    teachers: int = 200,
    rounds: int | None = None,
    queries: int | None = None,
    columns_share: Number | None = None,
    seed: int = 0,
    rows: int | None = None,
    width: Mapping[str, Number] | None = None,
    analyst: str = "",
    **unknown: NoReturn,
) -> GeneratorRelease:
    """Spend, then train a generator of rows behind teachers who vote, and return it.

    Marginals are closer to the data in all that was measured, and cheaper: take `synthesize` unless you study
    generators. `measure_fidelity` shows both. The networks are those of the library, and what all rounds cost
    is charged before a row is read. The same question with the same offer on the same data returns the same
    generator, at no cost. Needs ``discreet[learn-torch]``.

    Parameters
    ----------
    table : str or TableRequest
        The name of a table; or its rows, filtered or calculated.
    columns : sequence of str
        Columns with declared keys, or with bounds. What is missing or not declared is a value of its own.
    epsilon, delta : number
        The offer.
    method : {"PATE-GAN", "G-PATE"}
        See `discreet.synthesis.PateGAN` and `discreet.synthesis.GPATE`.
    teachers : int
        How many. People are divided among them.
    rounds, queries : int, optional
        How many rounds of votes there are, and on how many generated rows (PATE-GAN) in each.
    columns_share : number, optional
        Which share of the budget goes to counts of the columns, by default a half.
    seed : int
        Public: where weights and generated rows come from.
    rows : int, optional
        How many rows to draw; by default as many as the measurements say there are.
    width : mapping of columns to numbers, optional
        How wide a cell of a column of numbers is; by default one that leaves at most 64 cells.
    analyst : str
        Who asks, for caps per analyst.

    Raises
    ------
    BudgetExceeded, UnsupportedQuery, UndeclaredColumn
        Before anything is charged.
    EngineFailed
        After the charge; asking again computes without another.
    """
    from discreet.synthesis.asking.generator_release import GeneratorRelease
    from discreet.synthesis.release.synthetic_data import rows_to_draw

    refuse_others(unnamed, unknown)
    wanted = rows_to_draw(rows)
    options = _options(teachers, rounds, queries, columns_share, seed)
    request = _request(curator, table, columns, epsilon, delta, method, width, options)
    return GeneratorRelease.of(curator.answer_fit(request, analyst=analyst), wanted)


def preview_generator(
    curator: Curator,
    table: str | TableRequest,
    columns: Sequence[str],
    *unnamed: NoReturn,
    epsilon: Number,
    delta: Number,
    method: str = "PATE-GAN",
    teachers: int = 200,
    rounds: int | None = None,
    queries: int | None = None,
    columns_share: Number | None = None,
    seed: int = 0,
    rows: int = ASSUMED_ROWS,
    width: Mapping[str, Number] | None = None,
    analyst: str = "",
    **unknown: NoReturn,
) -> Preview:
    """Return what a generator would cost, and how much noise votes would have. Spends nothing.

    Takes what `train_generator` takes; `rows` is a hypothetical number of rows of the private table.
    """
    refuse_others(unnamed, unknown)
    options = _options(teachers, rounds, queries, columns_share, seed)
    request = _request(curator, table, columns, epsilon, delta, method, width, options)
    return curator.preview_request(request, analyst=analyst, rows=rows)


def _options(
    teachers: int, rounds: int | None, queries: int | None, columns_share: Number | None, seed: int
) -> dict[str, Number | int]:
    given = {"teachers": teachers, "rounds": rounds, "queries": queries}
    stated: dict[str, Number | int] = {
        name: whole(value, name, least=1, most=1 << 20) for name, value in given.items() if value is not None
    }
    if columns_share is not None:
        stated["columns_share"] = rational(columns_share, "columns_share")
    return {**stated, "seed": whole(seed, "seed", least=0, most=2**62)}


def _request(  # noqa: PLR0917
    curator: Curator,
    table: str | TableRequest,
    columns: Sequence[str],
    epsilon: Number,
    delta: Number,
    method: str,
    width: Mapping[str, Number] | None,
    options: Mapping[str, Number | int],
) -> FitRequest:
    from discreet.synthesis.asking.generator_question import GeneratorQuestion

    offer = Offer(epsilon=epsilon, delta=delta)
    curator.budget.check_synthesis()
    curator.budget.check_offer(offer)
    question = GeneratorQuestion(
        relation=relation_of(table),
        columns=(columns,) if isinstance(columns, str) else tuple(columns),
        method=method,
        widths=dict(width or {}),
        options=options,
    )
    return question.request(curator.tables, offer, confidence_level(CONFIDENCE))
