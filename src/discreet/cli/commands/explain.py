"""``discreet explain``: how a question would be answered, from the rows up."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from discreet.cli import declared, questions
from discreet.cli.command import Command
from discreet.errors import ParameterError

__all__ = ["EXPLAIN"]

_LESSON = """\
examples:
  the plan: units, bounds, limits, sensitivities
    discreet explain "SELECT city, AVG(cost) AS mean_cost FROM visits GROUP BY city"
  and the noise that an offer would buy
    discreet explain "SELECT city, AVG(cost) AS mean_cost FROM visits GROUP BY city" --rho 0.01

  the statement of the engine, with the literals of the question
    discreet explain "SELECT COUNT(*) AS n FROM visits WHERE age < 40" --sql

Needs no ledger, spends nothing, and without --sql repeats no literal of the question.
"""


def _configure(parser: ArgumentParser) -> None:
    questions.add_question(parser)
    declared.add_file_option(parser)
    offer = parser.add_argument_group("what is offered, if anything")
    offer.add_argument("--epsilon", metavar="E", help="alone: pure privacy")
    offer.add_argument("--delta", metavar="D", help="with --epsilon: permits normal noise")
    offer.add_argument("--rho", metavar="R", help="instead: zero-concentrated privacy")
    questions.add_fit_options(offer)
    parser.add_argument("--sql", action="store_true", help="show what the engine would run, too")


def _run(options: Namespace) -> str:
    offer = {name: getattr(options, name) for name in ("epsilon", "delta", "rho")}
    given = {name: value for name, value in offer.items() if value is not None}
    if set(given) == {"delta"}:
        raise ParameterError("delta", "is given alone", "with --epsilon, or left out")
    given |= questions.fits_of(options)
    question = questions.question_of(options)
    with declared.rehearsal(declared.declaration(options)) as curator:
        return curator.explain(question, sql=options.sql, **given)


EXPLAIN = Command(
    name="explain",
    summary="Describe how a question would be answered: the plan, its bounds, sensitivities and noise.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
