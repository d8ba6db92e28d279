"""``discreet synthesize``: spend, then write synthetic rows of a table."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from discreet.cli import charge_lines, declared, new_files, rendering
from discreet.cli.answering import previewed
from discreet.cli.bill import bill_lines
from discreet.cli.command import Command
from discreet.cli.progress import note, working
from discreet.cli.related_rows import render_related
from discreet.cli.runs import whole_number
from discreet.cli.stated_facts import stated_facts
from discreet.cli.synthetic_rows import render_rows
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.curator import Preview
    from discreet.data.tables.row_facts import RowFact
    from discreet.front.bill import Bill
    from discreet.front.curator import Curator
    from discreet.synthesis.asking.related_release import RelatedRelease
    from discreet.synthesis.asking.synthesis_release import SynthesisRelease

__all__ = ["SYNTHESIZE"]

_LESSON = """\
examples:
  what would be measured, what would it cost, and how wrong would it be?
    discreet synthesize visits age city cost --epsilon 1 --delta 1e-7 --preview --rows 50000
  rows that look like the visits, with the statement of what is promised
    discreet synthesize visits age city cost --epsilon 1 --delta 1e-7 --output rows.csv --label rows.json
  a tree of pairs of columns, ages in cells of 10 years, and all that was measured, with intervals
    discreet synthesize visits age city --rho 0.02 --method spanning-tree --width age=10 --measured counts.csv
  some pairs matter more than others
    discreet synthesize visits age city cost --rho 0.02 --workload age,city=3 --workload city,cost
  Hamilton treats nobody under 15
    discreet synthesize visits age city cost --rho 0.02 --impossible 'age<15, city=Hamilton'
  patients, and visits for each of them, of which at most two count: two files, one charge
    discreet synthesize patients age sex --events visits city cost --limit 2 --rho 0.02 \\
      --output made_patients.csv --events-output made_visits.csv

One charge buys noisy tables of counts; rows are drawn from a model of them, never from the data. So any
number of rows costs the same, and another --seed draws other rows at no cost. What is missing or not declared
is a value of its own, unless --drop-missing leaves such rows out. A column of text without declared keys has
them chosen first, for --key-share of the offer: those that enough persons have, and all others as (other).

Facts may be wrong about some rows: these are counted as any others, and no row of the answer is like them.
--determined city=zip:cities.csv rebuilds one column from another by a public file, at no cost; without the
file the mapping is bought: the most frequent city of each zip code, by a noisy table.
"""

_METHODS = {"adaptive": "adaptive", "spanning-tree": "spanning tree", "independent": "independent"}


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("table", metavar="TABLE", help="a declared table")
    parser.add_argument("columns", metavar="COLUMN", nargs="+", help="its columns")
    parser.add_argument(
        "--events",
        nargs="+",
        metavar="TABLE COLUMN",
        help="rows for each person besides: a table of the same persons, and its columns",
    )
    parser.add_argument(
        "--limit", type=whole_number, metavar="N", help="of --events: how many of a person count"
    )
    declared.add_file_option(parser)
    offer = parser.add_argument_group("what is offered")
    offer.add_argument("--epsilon", metavar="E", help="with --delta")
    offer.add_argument("--delta", metavar="D", help="with --epsilon: marginals get normal noise")
    offer.add_argument("--rho", metavar="R", help="instead: zero-concentrated privacy")
    offer.add_argument("--key-share", metavar="S", help="for choosing keys that nobody declared (0.2)")
    offer.add_argument("--confidence", default="0.95", metavar="C", help="of measured counts (0.95)")
    offer.add_argument("--analyst", default="", metavar="NAME", help="who asks, for caps per analyst")
    offer.add_argument("--preview", action="store_true", help="show what it would cost; spends nothing")
    made = parser.add_argument_group("how rows are made")
    made.add_argument(
        "--method",
        choices=tuple(_METHODS),
        help="adaptive chooses what the model gets most wrong; spanning-tree is faster (adaptive)",
    )
    made.add_argument(
        "--width", action="append", metavar="COLUMN=W", help="how wide a cell of numbers is; may be repeated"
    )
    made.add_argument(
        "--bins",
        action="append",
        metavar="COLUMN=N",
        help="instead N cells of about as many rows, by bought quantiles; may be repeated",
    )
    made.add_argument(
        "--workload",
        action="append",
        metavar="COLUMN,COLUMN[=WEIGHT]",
        help="a table that should be right, for adaptive; may be repeated; by default all pairs",
    )
    made.add_argument(
        "--impossible",
        action="append",
        metavar="'COLUMN<N, COLUMN=KEY'",
        help="values that no row has together, besides declared facts; may be repeated",
    )
    made.add_argument(
        "--determined",
        action="append",
        metavar="COLUMN=BY[:FILE]",
        help="a column that follows from another, by a CSV file or by what is measured; may be repeated",
    )
    made.add_argument("--drop-missing", action="store_true", help="leave rows with a missing value out")
    made.add_argument(
        "--rows",
        type=whole_number,
        metavar="N",
        help="draw N rows, instead of as many as were measured; with --preview: of the table, assumed",
    )
    made.add_argument("--seed", type=whole_number, default=0, metavar="S", help="draws other rows (0)")
    rendering.add_output_options(parser)
    parser.add_argument(
        "--events-output", metavar="FILE", help="write the rows of --events to a new file, in the same form"
    )
    parser.add_argument(
        "--measured", metavar="FILE", help="write measured counts to a new file, with intervals"
    )
    charge_lines.add_log_option(parser)


def _run(options: Namespace) -> str:
    rendering.check_output(options)
    for name, others in (
        ("measured", ("output", "label")),
        ("events_output", ("output", "label", "measured")),
    ):
        path = getattr(options, name)
        new_files.refuse_taken(name, path, overwrite=options.overwrite)
        if path is not None and path in {getattr(options, other) for other in others}:
            raise ParameterError(name, "is another file of the answer", "another file")
    _check_events(options)
    question = _question(options)
    if not options.events:
        question["facts"] = _facts(options)
    return _preview(options, question) if options.preview else _pay(options, question)


def _preview(options: Namespace, question: dict[str, Any]) -> str:
    """Return what the rows would cost, and how wrong they would be; no ledger is made."""
    terms = {**question, **({} if options.rows is None else {"rows": options.rows})}
    as_json = rendering.format_of(options) == "json"
    read = declared.declaration(options)
    with declared.rehearsal(read) as rehearsed:
        found = _previewed(rehearsed, terms)
        if not declared.exists(read.ledger):
            return previewed(found, "there is no ledger yet: as if nothing was spent", as_json=as_json)
        with declared.real(read, rehearsed) as curator:
            return previewed(_previewed(curator, terms), "", as_json=as_json)


def _pay(options: Namespace, question: dict[str, Any]) -> str:
    """Pay, draw rows, write the files that are wanted, and return what is printed."""
    from discreet.front.bill import bill_of

    read = declared.declaration(options)
    written = ("output", "label", "measured", "events_output") if options.overwrite else ()
    for name in (*written, "log"):
        new_files.refuse_declared(name, getattr(options, name), declared.files(options, read))
    with declared.rehearsal(read) as rehearsed:
        event = _previewed(rehearsed, question).event
        is_new = not declared.exists(read.ledger)
        if is_new:
            rehearsed.account().check(options.analyst, event)
        with declared.real(read, rehearsed) as curator, charge_lines.logging_charges(options.log):
            if is_new:
                note("a new ledger was made; keep it: another one over the same data voids the guarantee")
            paid = _previewed(curator, question).answered
            with working("synthesizing"):
                found = _bought(curator, {**question, "rows": options.rows})
            return _delivered(
                options, found, bill_of(curator, found.measured, options.analyst, paid_before=paid)
            )


def _previewed(curator: Curator, question: dict[str, Any]) -> Preview:
    if "events" in question:
        return curator.preview_related(**question)
    return curator.preview_synthesis(**question)


def _bought(curator: Curator, question: dict[str, Any]) -> SynthesisRelease | RelatedRelease:
    if "events" in question:
        return curator.synthesize_related(**question)
    return curator.synthesize(**question)


def _delivered(options: Namespace, found: SynthesisRelease | RelatedRelease, bill: Bill) -> str:
    """Write the files, and return what is printed. If a file fails, the answer is still in the store."""
    from discreet.synthesis.asking.related_release import RelatedRelease

    form = rendering.format_of(options)
    bought = bill.to_object()
    if isinstance(found, RelatedRelease):
        content, events = render_related(found, form, seed=options.seed, bill=bought)
        if options.events_output is not None:
            new_files.write(options.events_output, events, overwrite=options.overwrite)
    else:
        content = render_rows(found, form, seed=options.seed, bill=bought)
    if options.label is not None:
        label = json.dumps(found.label, indent=2, ensure_ascii=False, allow_nan=False)
        new_files.write(options.label, f"{label}\n".encode(), overwrite=options.overwrite)
    if options.measured is not None:
        counts = rendering.render(found.measured, "csv")
        new_files.write(options.measured, counts, overwrite=options.overwrite)
    if options.output is not None:
        new_files.write(options.output, content, overwrite=options.overwrite)
        wrote = [f"wrote {name}" for name in (options.output, options.events_output) if name is not None]
        return "\n".join([*wrote, repr(found.data), bill_lines(bill)])
    text = content.decode().removesuffix("\n")
    if form == "table":
        return f"{text}\n\n{bill_lines(bill)}"
    note(bill_lines(bill))
    return text


def _question(options: Namespace) -> dict[str, Any]:
    """Return what `Curator.synthesize` and `preview_synthesis` take, or those of related tables."""
    offer = {name: getattr(options, name) for name in ("epsilon", "delta", "rho")}
    if offer["epsilon"] is None and offer["rho"] is None:
        raise ParameterError("epsilon", "is missing", "--epsilon E --delta D, or --rho R")
    stated = {
        "columns": options.columns,
        **{name: value for name, value in offer.items() if value is not None},
        "width": _widths(options.width or (), "width"),
        "confidence": options.confidence,
        "analyst": options.analyst,
    }
    if options.events:
        from discreet.data import Limits

        table, *columns = options.events
        limits = None if options.limit is None else Limits(rows=options.limit)
        return {
            **stated,
            "persons": options.table,
            "events": table,
            "event_columns": columns,
            "limits": limits,
        }
    return {
        **stated,
        "table": options.table,
        "method": _METHODS[options.method or "adaptive"],
        "bins": {name: _whole(many) for name, many in _widths(options.bins or (), "bins").items()},
        "workload": _workload(options.workload) if options.workload else None,
        "missing": not options.drop_missing,
        "key_share": options.key_share,
    }


def _check_events(options: Namespace) -> None:
    """Refuse options of one kind of tables with the other, before anything is charged."""
    if not options.events:
        for name in ("limit", "events_output"):
            if getattr(options, name) is not None:
                raise ParameterError(name, "goes with --events", "--events TABLE COLUMN")
        return
    if len(options.events) < 2:
        raise ParameterError(
            "events", "name no column", "a table and its columns, as in --events visits cost"
        )
    for name in ("method", "workload"):
        if getattr(options, name):
            raise ParameterError(name, "does not go with --events: a tree is chosen", f"no --{name}")
    for name in ("bins", "impossible", "determined", "key_share"):
        if getattr(options, name):
            raise ParameterError(name, "does not go with --events", f"no --{name.replace('_', '-')}")
    if options.drop_missing:
        raise ParameterError("drop_missing", "does not go with --events", "no --drop-missing")
    form = rendering.format_of(options)
    if form == "json" and options.events_output is not None:
        raise ParameterError("events_output", "is not needed: JSON holds both tables", "--output alone")
    apart = (options.output is None) != (options.events_output is None) and form != "json"
    if apart or (options.output is None and form == "csv" and not options.preview):
        raise ParameterError("events_output", "goes with --output: two tables are two files", "both files")


def _facts(options: Namespace) -> tuple[RowFact, ...]:
    """Return the facts that were typed; their values are of the types that the file declares."""
    from discreet.front.declaring.declaration import TableFacts

    if not options.impossible and not options.determined:
        return ()
    found = declared.declaration(options).tables.get(options.table)
    columns = found.columns if isinstance(found, TableFacts) else {}
    return stated_facts(options.impossible or (), options.determined or (), columns)


def _widths(typed: list[str] | tuple[()], option: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in typed:
        column, equals, width = one.rpartition("=")
        if not equals or not column or column in found:
            raise ParameterError(option, "is not a pair, or names a column twice", "COLUMN=N, as in age=10")
        found[column] = width
    return found


def _whole(typed: str) -> int:
    if not (typed.isascii() and typed.isdecimal() and len(typed) < 10):
        raise ParameterError("bins", "is not a whole number", "COLUMN=N, as in age=10")
    return int(typed)


def _workload(typed: list[str]) -> dict[tuple[str, ...], int]:
    """Return sets of columns with their weights, 1 where none is given."""
    found: dict[tuple[str, ...], int] = {}
    for one in typed:
        columns, weight = one.rsplit("=", 1) if "=" in one else (one, "1")
        names = tuple(columns.split(","))
        if names in found or not all(names) or not (weight.isascii() and weight.isdecimal()):
            raise ParameterError(
                "workload", "is not a set of columns, or names one twice", "as in age,city or age,city=3"
            )
        found[names] = int(weight)
    return found


SYNTHESIZE = Command(
    name="synthesize",
    summary="Write synthetic rows of a table: spends, then draws rows from noisy counts.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
