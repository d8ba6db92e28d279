"""``discreet query``: spend, then answer."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from discreet.cli import declared, new_files, questions, rendering
from discreet.cli.bill import Bill, bill_of
from discreet.cli.command import Command
from discreet.cli.progress import note, working

if TYPE_CHECKING:
    from discreet.curator import Release

__all__ = ["QUERY"]

_LESSON = """\
examples:
  a table, with an interval for every number
    discreet query "SELECT city, COUNT(*) AS n, AVG(cost) AS m FROM visits GROUP BY city" --epsilon 0.5
  the cost of an error of at most 2000, and the answer in a file
    discreet query "SELECT COUNT(*) AS n FROM visits WHERE age < 40" --error n=2000 --output young.csv
  with normal noise, for one analyst, with the statement of what is promised
    discreet query "SELECT COUNT(*) AS n FROM visits" --epsilon 0.5 --delta 1e-7 --analyst ana --label n.json

The same question with the same offer is answered from the store, at no cost. Questions are not logged, but
your shell keeps its history: discreet query - --epsilon 0.5 < question.sql
"""


def _configure(parser: ArgumentParser) -> None:
    questions.add_question(parser)
    declared.add_file_option(parser)
    questions.add_offer_options(parser)
    rendering.add_output_options(parser)


def _run(options: Namespace) -> str:
    rendering.check_output(options)
    offer = questions.offer_of(options)
    question = questions.question_of(options)
    read = declared.declaration(options)
    for name in ("output", "label") if options.overwrite else ():
        new_files.refuse_declared(name, getattr(options, name), declared.files(options, read))
    with declared.rehearsal(read) as rehearsed:
        rehearsed.preview(question, analyst=options.analyst, **offer)
        is_new = not declared.exists(read.ledger)
        if is_new:
            rehearsed.check_fits(question, analyst=options.analyst, **offer)
        with declared.real(read, rehearsed) as curator:
            if is_new:
                note("a new ledger was made; keep it: another one over the same data voids the guarantee")
            paid = curator.preview(question, analyst=options.analyst, **offer).answered
            with working("answering"):
                release = curator.ask(question, analyst=options.analyst, **offer)
            return _delivered(options, release, bill_of(curator, release, options.analyst, paid_before=paid))


def _delivered(options: Namespace, release: Release, bill: Bill) -> str:
    """Write the files, and return what is printed. If a file fails, the answer is still in the store."""
    form = rendering.format_of(options)
    content = rendering.render(release, form, bill=bill.to_object())
    if options.label is not None:
        label = json.dumps(release.label, indent=2, ensure_ascii=False, allow_nan=False)
        new_files.write(options.label, f"{label}\n".encode(), overwrite=options.overwrite)
    if options.output is not None:
        new_files.write(options.output, content, overwrite=options.overwrite)
        return "\n".join([f"wrote {options.output}", *rendering.shell_remarks(release), str(bill)])
    text = content.decode().removesuffix("\n")
    if form == "table":
        return f"{text}\n\n{bill}"
    note(str(bill))
    return text


QUERY = Command(
    name="query",
    summary="Answer a question in SQL: spends, then answers, with an interval for every number.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
