"""``discreet cut``: how many rows and persons a limit cuts, for a price."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from discreet.cli import charge_lines, declared, questions, rendering
from discreet.cli.answering import Asking
from discreet.cli.command import Command
from discreet.cli.runs import whole_number
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.curator import Release
    from discreet.front import Curator
    from discreet.queries.question.query import Query

__all__ = ["CUT"]

_LESSON = """\
examples:
  which share of the visits does the limit on rows of each person leave out?
    discreet cut "SELECT COUNT(*) AS n FROM visits" --epsilon 0.1
  what would that cost, and how wrong would it be?
    discreet cut "SELECT COUNT(*) AS n FROM visits" --epsilon 0.1 --preview
  what would a limit of 2 rows leave out, if hardly anyone has more than 8?
    discreet cut "SELECT COUNT(*) AS n FROM visits" --limits 2 --most 8 --epsilon 0.1

An answer counts at most as many rows of each person as the limit allows. How many that leaves out is a fact
about the data: it is asked like any other, paid for from the same budget, and answered with intervals.
The rows are those of FROM and WHERE, of all groups together.
"""


def _configure(parser: ArgumentParser) -> None:
    questions.add_question(parser)
    declared.add_file_option(parser)
    questions.add_offer_options(parser)
    parser.add_argument(
        "--most",
        type=whole_number,
        metavar="M",
        help="count at most M rows of each person (ten times the limit); a smaller number has less noise",
    )
    parser.add_argument("--preview", action="store_true", help="show what it would cost; spends nothing")
    rendering.add_output_options(parser)
    charge_lines.add_log_option(parser)


def _run(options: Namespace) -> str:
    from discreet.data import Limits
    from discreet.front.limit_cuts import cut_question

    rendering.check_output(options)
    terms = questions.offer_of(options)
    limits = terms.pop("limits", None)
    if not isinstance(limits, Limits | None):
        raise ParameterError("limits", "would be bought by each question", "a number of rows, such as 8")
    if "bounds" in terms:
        raise ParameterError("bounds", "are of no use: rows are counted", "left out")
    text = questions.question_of(options)

    def question(curator: Curator) -> tuple[Query, Callable[[Release], Release]]:
        cut = cut_question(curator, text, limits=limits, most=options.most)
        return cut.query, cut.told

    asking = Asking(question=question, terms=terms)
    if options.preview:
        return asking.preview(options, as_json=rendering.format_of(options) == "json")
    return asking.pay(options)


CUT = Command(
    name="cut",
    summary="Answer how many rows and persons the limit on rows cuts: spends, then answers.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
