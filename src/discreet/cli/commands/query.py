"""``discreet query``: spend, then answer."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from discreet.cli import charge_lines, declared, questions, rendering
from discreet.cli.answering import Asking
from discreet.cli.command import Command

__all__ = ["QUERY"]

_LESSON = """\
examples:
  a table, with an interval for every number
    discreet query "SELECT city, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY city" --epsilon 0.5
  the cost of an error of at most 2000, and the answer in a file
    discreet query "SELECT COUNT(*) AS n FROM visits WHERE age < 40" --error n=2000 --output young.csv
  with normal noise, for one analyst, with the statement of what is promised
    discreet query "SELECT COUNT(*) AS n FROM visits" --epsilon 0.5 --delta 1e-7 --analyst ana --label n.json
  from a scheduler, with a line for every charge: when, who, which tables, what it cost; never a question
    discreet query "SELECT COUNT(*) AS n FROM visits" --epsilon 0.5 --format json --log charges.log

The same question with the same offer is answered from the store, at no cost. Questions are not logged, but
your shell keeps its history: discreet query - --epsilon 0.5 < question.sql
"""


def _configure(parser: ArgumentParser) -> None:
    questions.add_question(parser)
    declared.add_file_option(parser)
    questions.add_offer_options(parser)
    rendering.add_output_options(parser)
    charge_lines.add_log_option(parser)


def _run(options: Namespace) -> str:
    rendering.check_output(options)
    terms = questions.offer_of(options)
    question = questions.question_of(options)
    return Asking.of_text(question, terms).pay(options)


QUERY = Command(
    name="query",
    summary="Answer a question in SQL: spends, then answers, with an interval for every number.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
