"""``discreet account``: what a run costs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeAlias

from discreet.cli import formatting, runs
from discreet.cli.command import Command
from discreet.errors import ParameterError
from discreet.privacy.decimals import float_text_above, float_text_below, json_number
from discreet.privacy.events import Event, compose, group
from discreet.privacy.rational import non_negative, rational

if TYPE_CHECKING:
    from discreet.accounting import Interval
    from discreet.accounting.ladder import Ladder

__all__ = ["ACCOUNT"]

Said: TypeAlias = "dict[str, Interval | float]"
"""What was asked, as an interval, and what was given, by name."""

_LESSON = """\
examples:
  DP-SGD: noise 4, each person in a batch with probability 0.01, 10,000 steps
    discreet account --noise-multiplier 4 --rate 0.01 --steps 10000 --delta 1e-5
  the same by every theorem, from the loosest to the tight one
    discreet account --noise-multiplier 4 --rate 0.01 --steps 10000 --delta 1e-5 --ladder
  the same where the loader shuffles instead: the safe answer, without amplification
    discreet account --noise-multiplier 4 --rate 0.01 --steps 10000 --delta 1e-5 --loader shuffled
  several parts, one after another; each may depend on the answers before it
    discreet account --mechanism laplace --epsilon 0.1 --steps 50 \\
        --then --mechanism gaussian --noise-multiplier 20 --steps 200 --delta 1e-6
  what a ledger or a mechanism recorded (event.to_json()), for a family of three
    discreet account --event spent.json --group 3 --delta 1e-6

The answer holds if all these numbers were fixed in advance. It is an interval: the true epsilon lies inside,
and the upper end is safe to promise.
"""


def _configure(parser: ArgumentParser) -> None:
    runs.add_part_options(parser, "--each-epsilon", "--epsilon")
    parser.add_argument(
        "--then", action=runs.Then, nargs=0, help="and then: the options after it describe another part"
    )
    question = parser.add_argument_group("what is asked")
    question.add_argument("--delta", metavar="D", help="show the epsilon at this delta, from 0 to below 1")
    question.add_argument("--at-epsilon", metavar="E", help="show the delta at this epsilon instead")
    question.add_argument("--group", type=runs.whole_number, metavar="K", help="protect K units at once (1)")
    question.add_argument("--ladder", action="store_true", help="show the cost of the run by every theorem")
    question.add_argument("--json", action="store_true", help="answer as JSON")


def _run(options: Namespace) -> str:
    from discreet.accounting import delta, epsilon, ladder

    parts = runs.parts_of(options)
    event = compose(runs.event_of(part) for part in parts)
    if options.group is not None:
        event = group(event, options.group)
    if (options.delta is None) == (options.at_epsilon is None):
        raise ParameterError("delta", "or --at-epsilon: one of them is needed", "--delta D or --at-epsilon E")
    if options.at_epsilon is not None:
        if options.ladder:
            raise ParameterError("ladder", "does not apply at an epsilon", "with --delta")
        given = non_negative(options.at_epsilon, "at_epsilon")
        found = delta(event, epsilon=given)
        said: Said = {"delta": found, "epsilon": float(given)}
    else:
        found = epsilon(event, delta=options.delta)
        said = {"epsilon": found, "delta": float(rational(options.delta, "delta"))}
    rows = ladder(event, float(rational(options.delta, "delta"))) if options.ladder else None
    assumption = runs.assumption(parts, event)
    written = _as_json if options.json else _as_table
    return written(event, said, found, assumption, rows)


def _as_json(event: Event, said: Said, found: Interval, assumption: str, rows: Ladder | None) -> str:
    content: dict[str, object] = {
        "event": event.to_object(),
        **{
            name: value if isinstance(value, float) else formatting.interval(value)
            for name, value in said.items()
        },
        "method": found.method,
        "certified": found.certified,
        "neighbors": None if found.neighbors is None else str(found.neighbors),
        "assumption": assumption,
    }
    if rows is not None:
        content["ladder"] = [{**asdict(row), "epsilon": json_number(row.epsilon)} for row in rows]
    return formatting.as_json(content)


def _as_table(event: Event, said: Said, found: Interval, assumption: str, rows: Ladder | None) -> str:
    shown = {name: f"{value:g}" if isinstance(value, float) else _held(value) for name, value in said.items()}
    table = formatting.as_table(
        {
            "run": repr(event),
            **shown,
            "hides": "nothing was released" if found.neighbors is None else found.neighbors.phrase,
            "method": found.method,
            "assumes": assumption,
        }
    )
    return table if rows is None else f"{table}\n\n{rows!r}"


def _held(found: Interval) -> str:
    return f"{float_text_above(found.upper)}  {_between(found)}"


def _between(found: Interval) -> str:
    if found.upper == found.lower:
        return "(exact)"
    if not found.certified:
        return "(an upper bound)"
    return f"(certified: from {float_text_below(found.lower)} to {float_text_above(found.upper)})"


ACCOUNT = Command(
    name="account",
    summary="Show what a run costs: its epsilon at a delta, or its delta at an epsilon.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
