"""Twenty questions and more about two public data sets, on DuckDB, PostgreSQL or Spark.

    python examples/twenty_questions.py [duckdb|postgresql|spark]

The person is the plane in the flights that left New York in the last quarter of 2013, and the player in the
baseball seasons since 1990. These data are public, so that for once the truth can be shown. Beside every
private answer stand the same answer without noise, over bounded contributions, which the interval is for; and
the answer of plain SQL over all rows, which shows what bounding costs. The door forgets what is exact once
noise is added; here it is overheard.

Bounds, limits and keys are what one knows without these data: that New York has three airports, that hardly
a flight is more than four hours late, that few play more than 15 seasons.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from unittest.mock import patch

import duckdb
import numpy as np
from public_records import (
    ENGINES,
    FIRST_MONTH,
    FIRST_SEASON,
    Loader,
    Records,
    baseball,
    engine,
    flights,
)
from twenty_questions_asked import BASEBALL, FLIGHTS, Question

import discreet as dp
from discreet.curator.release.release import Release, finish
from discreet.curator.request.histogram_choices import Choices
from discreet.curator.request.histogram_rules import FrequencyRule, HistogramReachRule
from discreet.curator.request.request import AnswerColumn, Draw, Part
from discreet.data import Exact, compute
from discreet.queries.outputs.frequent import FrequentOutput
from discreet.queries.outputs.quantiles_and_extremes import ExtremeOutput

SHOWN = 6
AIRLINES = ["9E", "AA", "AS", "B6", "DL", "EV", "F9", "FL", "HA", "MQ", "OO", "UA", "US", "VX", "WN", "YV"]
Group = tuple[object, ...]


def flights_declared(load: Loader, records: Records) -> dict[str, object]:
    """Declare the flights, whose person is the plane, what is known of planes, and public lists."""
    late = dp.Bounds(-60, 240)
    return {
        "flights": dp.Table(
            load("flights", records["flights"]),
            person="tailnum",
            limits=dp.Limits(rows=40),
            columns={
                "origin": dp.Keys(["EWR", "JFK", "LGA"]),
                "carrier": dp.Keys(AIRLINES),
                "month": dp.Keys([10, 11, 12]),
                "hour": dp.Bounds(0, 23),
                "distance": dp.Bounds(0, 3000),
                "air_time": dp.Bounds(0, 480),
                "dep_delay": late,
                "arr_delay": late,
            },
        ),
        "planes": dp.Table(
            load("planes", records["planes"]),
            person="tailnum",
            limits=dp.Limits(rows=1),
            columns={"seats": dp.Bounds(0, 400), "year": dp.Bounds(1950, 2013)},
        ),
        "airlines": dp.PublicTable(records["airlines"]),
        "airports": dp.PublicTable(records["airports"]),
    }


def baseball_declared(load: Loader, records: Records) -> dict[str, object]:
    """Declare seasons, salaries and players, whose person is the player, and the teams, which are public."""
    seasons = dp.Keys(range(FIRST_SEASON, 2021))
    leagues = dp.Keys(["AL", "NL"])
    return {
        "people": dp.Table(
            load("people", records["people"]),
            person="playerID",
            limits=dp.Limits(rows=1),
            columns={
                "bats": dp.Keys(["L", "R", "B"]),
                "birthYear": dp.Bounds(1940, 2005),
                "debut": dp.Dates(date(1970, 1, 1), date(2020, 12, 31)),
                "height": dp.Bounds(60, 84),
                "weight": dp.Bounds(130, 300),
            },
        ),
        "batting": dp.Table(
            load("batting", records["batting"]),
            person="playerID",
            limits=dp.Limits(rows=15),
            columns={
                "yearID": seasons,
                "lgID": leagues,
                "AB": dp.Bounds(0, 700),
                "H": dp.Bounds(0, 250),
                "HR": dp.Bounds(0, 60),
            },
        ),
        "pitching": dp.Table(
            load("pitching", records["pitching"]),
            person="playerID",
            limits=dp.Limits(rows=15),
            columns={
                "yearID": seasons,
                "lgID": leagues,
                "SO": dp.Bounds(0, 300),
                "IPouts": dp.Bounds(0, 800),
            },
        ),
        "salaries": dp.Table(
            load("salaries", records["salaries"]),
            person="playerID",
            limits=dp.Limits(rows=10),
            columns={"yearID": seasons, "salary": dp.Bounds(0, 20_000_000, step=1000)},
        ),
        "teams": dp.PublicTable(records["teams"]),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A question with its private answer and both truths.

    Attributes
    ----------
    shown, whole : Release
        The private answer: as it was asked for, and all its groups.
    exact : Exact
        The integers before noise was added.
    bounded : Release
        What the answer would be without noise.
    plain : mapping of groups to rows
        What plain SQL says about all rows.
    """

    question: Question
    shown: Release
    whole: Release
    exact: Exact
    bounded: Release
    plain: dict[Group, Sequence[object]]

    def holds(self) -> list[list[bool]]:
        """Tell for every output and group whether its promise about the bounded truth was kept."""
        held = []
        for output, noisy, true in zip(
            self.whole.request.outputs, self.whole.outputs, self.bounded.outputs, strict=True
        ):
            if isinstance(output, FrequentOutput):
                part = self.whole.request.part_of(output.histogram)
                held.append(_nearly_most_frequent(output, part, self.exact, noisy, self.whole))
            else:
                within = (noisy.lower <= true.values) & (true.values <= noisy.upper)
                held.append(within.tolist())
        return held


def answers(
    load: Loader, first_month: int = FIRST_MONTH, first_season: int = FIRST_SEASON
) -> Iterator[Answer]:
    """Ask everything, of both data sets."""
    for records, declared, questions in (
        (flights(first_month), flights_declared, FLIGHTS),
        (baseball(first_season), baseball_declared, BASEBALL),
    ):
        with tempfile.TemporaryDirectory() as directory, duckdb.connect() as plain:
            for name, rows in records.items():
                plain.register(name, rows)
            curator = dp.Curator(
                declared(load, records),
                budget=dp.Budget(epsilon=40, delta="1e-4"),
                ledger=f"{directory}/ledger",
            )
            for question in questions:
                yield ask(curator, question, plain)
            curator.close()


def ask(curator: dp.Curator, question: Question, plain: duckdb.DuckDBPyConnection) -> Answer:
    """Ask one question, overhear what is exact, and ask plain SQL the same."""
    offer = {"epsilon": question.epsilon} | (
        {} if question.delta is None else {"delta": question.delta, "key_share": "1/3"}
    )
    with overheard() as kept:
        shown = curator.ask(f"{question.sql} {question.then}", **offer)
    whole = curator.answer(shown.request)  # from the store: with the groups that HAVING or LIMIT left out
    rows = plain.execute(question.plain or question.sql).fetchall()
    keys = len(whole.keys)
    return Answer(
        question=question,
        shown=shown,
        whole=whole,
        exact=kept[-1],
        bounded=noiseless(whole, kept[-1]),
        plain={row[:keys]: row[keys:] for row in rows},
    )


@contextmanager
def overheard() -> Iterator[list[Exact]]:
    """Keep the exact integers of answers, which no one may see if data are private."""
    kept = []

    def computed(*what: object, **how: object) -> Exact:
        kept.append(compute(*what, **how))
        return kept[-1]

    with patch("discreet.curator.door.compute", computed):
        yield kept


def noiseless(release: Release, exact: Exact) -> Release:
    """Return what an answer would have been without noise."""
    request = release.request
    draws = [Draw(part=part, steps=_best(part, exact[part.measure])) for part in request.parts]
    finished = finish(request, draws, release.label)
    outputs = tuple(
        _extreme(output, request.part_of(output.histogram), exact)
        if isinstance(output, ExtremeOutput)
        else column
        for output, column in zip(request.outputs, finished.outputs, strict=True)
    )
    return Release(request=request, keys=finished.keys, outputs=outputs, label=release.label)


def _best(part: Part, integers: np.ndarray) -> np.ndarray:
    """Return exact integers as they are and, of histograms, the places that should be chosen."""
    if not isinstance(part.mechanism, Choices):
        return integers
    counts = integers.reshape(part.mechanism.cells, part.mechanism.width)
    places = []
    for choice in part.mechanism.choices:
        if isinstance(choice.rule, HistogramReachRule):  # exact values need no interval around them
            places.append(np.zeros((len(counts), 1), np.int64))
            continue
        order = np.argsort(-choice.rule.scores(counts), axis=1, kind="stable")
        places.append(order[:, : choice.rule.picks])
    return np.concatenate(places, axis=1).reshape(-1)


def _extreme(output: ExtremeOutput, part: Part, exact: Exact) -> AnswerColumn:
    """Return the least or the largest value of each group."""
    counts = exact[output.histogram].reshape(part.mechanism.cells, part.mechanism.width)
    bounds = output.histogram.values
    places = [np.flatnonzero(row)[-1 if output.largest else 0] for row in counts]
    values = np.array([float(bounds.lower + int(place) * bounds.step) for place in places])
    return AnswerColumn(name=output.name, values=values)


def _nearly_most_frequent(
    output: FrequentOutput, part: Part, exact: Exact, noisy: AnswerColumn, release: Release
) -> list[bool]:
    """Tell for each group whether no chosen key is too far short of the most frequent in its place."""
    mechanism = part.mechanism
    keys = output.histogram.values.values
    short = mechanism.of(FrequencyRule(picks=output.picks)).error.quantile(
        release.request.confidence, candidates=mechanism.width
    )
    held = []
    for counts, chosen in zip(
        exact[output.histogram].reshape(mechanism.cells, mechanism.width), noisy.values, strict=True
    ):
        listed = chosen if isinstance(chosen, list) else [chosen]
        most = np.sort(counts)[::-1]
        held.append(all(counts[keys.index(key)] >= most[j] - short for j, key in enumerate(listed)))
    return held


def told(number: int, answer: Answer) -> str:
    """Write an answer as a table: every private number with its error, and both truths."""
    question, shown = answer.question, answer.shown
    offer = f"epsilon {question.epsilon:g}" + (f", delta {question.delta}" if question.delta else "")
    header = list(shown.keys)
    for column in shown.outputs:
        header += [column.name, "bounded", "plain SQL"]
    groups = list(zip(*shown.keys.values(), strict=True)) or [()]
    places = {group: place for place, group in enumerate(zip(*answer.bounded.keys.values(), strict=True))}
    lines = [header]
    for row, group in enumerate(groups[:SHOWN]):
        line = [str(key) for key in group]
        plain = answer.plain.get(group)
        for index, (noisy, true) in enumerate(zip(shown.outputs, answer.bounded.outputs, strict=True)):
            line += [
                _with_error(noisy, row),
                _number(true.values[places.get(group, 0)]),
                "-" if plain is None else _number(plain[index]),
            ]
        lines.append(line)
    widths = [max(len(line[place]) for line in lines) for place in range(len(header))]
    text = [f"{number}. {question.words} ({offer})", f"   {question.sql} {question.then}".rstrip(), ""]
    text += [
        "   " + "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ]
    if len(groups) > SHOWN:
        text.append(f"   … {len(groups) - SHOWN} more groups")
    text += [f"   {column.name}: {column.offers}" for column in shown.outputs if column.offers]
    return "\n".join([*text, ""])


def _with_error(column: AnswerColumn, place: int) -> str:
    value = column.values[place]
    if column.lower is None or column.upper is None:
        return _number(value)
    lower, upper = column.lower[place], column.upper[place]
    below, above = value - lower, upper - value
    if abs(above - below) <= 0.05 * max(above, below):
        return f"{_number(value)} ± {_number(above)}"
    return f"{_number(value)} ({_number(lower)} to {_number(upper)})"


def _number(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if value is None or isinstance(value, str):
        return str(value)
    number = float(value)
    if number.is_integer() or abs(number) >= 1000:
        return f"{number:,.0f}"
    return f"{number:.3g}"


def main(arguments: Sequence[str] = ("duckdb",)) -> None:
    """Ask everything on an engine, and print it."""
    name = arguments[0] if arguments else ENGINES[0]
    with engine(name) as load:
        tell(answers(load), name)


def tell(asked: Iterator[Answer], name: str) -> None:
    """Print answers as they come, and how often intervals held."""
    held = []
    for number, answer in enumerate(asked, 1):
        print(told(number, answer))
        held += [one for output in answer.holds() for one in output]
    print(
        f"{name}: {sum(held)} of {len(held)} bounded truths lie where they were promised with 95 % confidence"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
