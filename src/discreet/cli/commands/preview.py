"""``discreet preview``: what a question would cost, and how wrong its answer would be."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from discreet.cli import declared, formatting, questions
from discreet.cli.command import Command
from discreet.cli.runs import whole_number

if TYPE_CHECKING:
    from discreet.curator import Preview

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
    offer = questions.offer_of(options)
    rows = {} if options.rows is None else {"rows": options.rows}
    question = questions.question_of(options)
    read = declared.declaration(options)
    with declared.rehearsal(read) as rehearsed:
        found = rehearsed.preview(question, analyst=options.analyst, **offer, **rows)
        if not declared.exists(read.ledger):
            return _written(options, found, "there is no ledger yet: as if nothing was spent")
        with declared.real(read, rehearsed) as curator:
            found = curator.preview(question, analyst=options.analyst, **offer, **rows)
            return _written(options, found, "")


def _written(options: Namespace, found: Preview, remark: str) -> str:
    if not options.json:
        cost = "costs nothing: stored" if found.answered else f"costs {questions.cost(found.event)}"
        return "\n".join([str(found), *filter(None, [cost, remark])])
    return formatting.as_json(
        {
            "event": found.event.to_object(),
            "epsilon": found.epsilon,
            "outputs": [
                {
                    "name": one.name,
                    "margin": formatting.json_number(one.margin),
                    "standard_deviation": formatting.json_number(one.standard_deviation),
                    "assumes": one.assumes,
                }
                for one in found.expectations
            ],
            "chosen_keys": [
                {"column": one.column, "shown_by_half": one.half, "shown_by_most": one.most}
                for one in found.keys
            ],
            "bought": list(found.bought),
            "counted": found.counted,
            "groups": found.groups,
            "confidence": float(found.confidence),
            "budget": [
                {
                    "limit": name,
                    "cost": None if cost is None else str(cost),
                    "left": str(left),
                    "of": str(whole),
                }
                for name, cost, left, whole in found.costs
            ],
            "fits": found.fits,
            "answered": found.answered,
        }
    )


PREVIEW = Command(
    name="preview",
    summary="Show what a question would cost and how wrong its answer would be; spends nothing.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
