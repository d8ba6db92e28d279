"""``discreet preview``: what a question would cost, and how wrong its answer would be."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from discreet.cli import declared, questions
from discreet.cli.answering import Asking
from discreet.cli.command import Command
from discreet.cli.runs import whole_number

__all__ = ["PREVIEW"]

_LESSON = """\
examples:
  how wrong will the answer be, for an epsilon of 0.5?
    discreet preview "SELECT city, COUNT(*) AS n FROM visits GROUP BY city" --epsilon 0.5
  the inverse: what does an error of at most 100, at 95%, cost?
    discreet preview "SELECT city, COUNT(*) AS n FROM visits GROUP BY city" --error n=100
  for a mean, if every city has about 20,000 visits
    discreet preview "SELECT city, AVG(cost) AS m FROM visits GROUP BY city" --epsilon 0.5 --rows 20000

A preview spends nothing and depends on no data: it follows from what is declared. Where there is no ledger
yet, none is made.
"""


def _configure(parser: ArgumentParser) -> None:
    questions.add_question(parser)
    declared.add_file_option(parser)
    questions.add_offer_options(parser)
    parser.add_argument(
        "--rows",
        type=whole_number,
        metavar="N",
        help="assume this many rows in every group, for means (1000)",
    )
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def _run(options: Namespace) -> str:
    terms = questions.offer_of(options)
    rows = {} if options.rows is None else {"rows": options.rows}
    question = questions.question_of(options)
    return Asking.of_text(question, terms).preview(options, as_json=options.json, **rows)


PREVIEW = Command(
    name="preview",
    summary="Show what a question would cost and how wrong its answer would be; spends nothing.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
