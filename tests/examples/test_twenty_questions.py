"""Twenty questions on three engines: the same integers, intervals that hold, and nothing else printed.

Tests ask about one month and the seasons since 2012, so that Spark is done in time. All engines bound
contributions under one salt, which makes their integers comparable; the noise is fresh.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from unittest.mock import patch

import numpy as np
import public_records
import pyarrow
import pytest
import twenty_questions
from public_records import ENGINES
from scipy import stats
from twenty_questions import Answer
from twenty_questions_asked import BASEBALL, FLIGHTS

from curator.ledger.conftest import postgres  # noqa: F401
from data.conftest import spark_engine  # noqa: F401
from discreet.data import Exact, compute
from discreet.data.key_counts import compute_key_counts
from discreet.data.salt import Salt
from discreet.queries.outputs.counts_sums_means import CountOutput
from effort import sizes
from significance import FALSE_ALARM

FIRST_MONTH, FIRST_SEASON = 12, 2012
SALT = Salt(value="5a17" * 8)
LEVEL = 0.95


def in_memory(name: str, table: pyarrow.Table) -> pyarrow.Table:
    del name
    return table


@dataclass(frozen=True)
class Run:
    """What an engine answered, the persons of keys that it counted, and all that was printed."""

    engine: str
    answers: list[Answer]
    key_counts: list[dict[object, int]]
    printed: str


@contextmanager
def loader(name: str, request: pytest.FixtureRequest) -> Iterator[public_records.Loader]:
    """The example's way into an engine that the tests have started already."""
    if name == "postgresql":
        opened = public_records.postgresql(request.getfixturevalue("postgres"))
    else:
        request.getfixturevalue("spark_engine")
        from pyspark.sql import SparkSession

        opened = public_records.spark(SparkSession.getActiveSession())
    with opened as load:
        yield load


def asked(name: str, load: public_records.Loader) -> Run:
    kept: list[Answer] = []
    counted: list[dict[object, int]] = []
    printed = StringIO()

    def counts(*what, **how):
        found = compute_key_counts(*what, **how)
        counted.append(dict(zip(found._values.to_pylist(), found.counts.tolist(), strict=True)))
        return found

    def keeping():
        for answer in twenty_questions.answers(load, FIRST_MONTH, FIRST_SEASON):
            kept.append(answer)
            yield answer

    with (
        patch("discreet.curator.door.fresh_salt", lambda: SALT),
        patch("discreet.curator.request.key_request.fresh_salt", lambda: SALT),
        patch("discreet.curator.request.key_request.compute_key_counts", counts),
        redirect_stdout(printed),
        redirect_stderr(printed),
    ):
        twenty_questions.tell(keeping(), name)
    return Run(engine=name, answers=kept, key_counts=counted, printed=printed.getvalue())


@pytest.fixture(scope="module")
def reference() -> Run:
    return asked("duckdb", in_memory)


@pytest.fixture(scope="module", params=sizes(*ENGINES))
def run(request: pytest.FixtureRequest, reference: Run) -> Run:
    if request.param == "duckdb":
        return reference
    with loader(request.param, request) as load:
        return asked(request.param, load)


def integers(answer: Answer, exact: Exact | None = None) -> dict[tuple[object, ...], list[list[int]]]:
    """The exact integers of each group, measure by measure."""
    groups = list(zip(*answer.whole.keys.values(), strict=True)) or [()]
    tables = [values.reshape(len(groups), -1) for values in (exact or answer.exact).values]
    return {group: [table[place].tolist() for table in tables] for place, group in enumerate(groups)}


def test_every_question_has_an_answer(run):
    assert len(run.answers) == len(FLIGHTS) + len(BASEBALL) >= 20
    for answer in run.answers:
        assert len(answer.whole.outputs) == len(answer.bounded.outputs)
        assert any(any(map(any, group)) for group in integers(answer).values()), "no row was found"


def test_engines_compute_the_same_integers(run, reference):
    """Where keys were chosen, noise decides what is asked: there DuckDB is asked again, for the same keys."""
    assert run.key_counts == reference.key_counts
    embedded = [
        twenty_questions.flights_declared(in_memory, public_records.flights(FIRST_MONTH)),
        twenty_questions.baseball_declared(in_memory, public_records.baseball(FIRST_SEASON)),
    ]
    chosen = 0
    for number, (mine, theirs) in enumerate(zip(run.answers, reference.answers, strict=True)):
        expected = integers(theirs)
        if mine.shown.chosen:
            chosen += 1
            tables = embedded[number >= len(FLIGHTS)]
            expected = integers(mine, compute(mine.whole.request.plan, tables, salt=SALT))
        assert integers(mine) == expected, mine.question.sql
    assert chosen == len(run.key_counts) > 0


@pytest.mark.statistical
def test_intervals_hold_the_bounded_truth(run):
    """Each kind of output, at each place of SELECT, by itself: those of one group may share noise.

    Kinds whose intervals hold more often than promised would hide others that hold less often.
    """
    held: dict[tuple[type, int], list[bool]] = defaultdict(list)
    for answer in run.answers:
        for place, (output, kept) in enumerate(
            zip(answer.whole.request.outputs, answer.holds(), strict=True)
        ):
            held[type(output), place] += kept
    assert len(held) >= 10
    assert len(held[CountOutput, 0]) > 100
    for kind, kept in held.items():
        misses = kept.count(False)
        assert stats.binom.sf(misses - 1, len(kept), 1 - LEVEL) > FALSE_ALARM, (kind, misses, len(kept))


def test_bounding_loses_what_it_must(reference):
    """Counts of rows can only shrink; with one row for each person nothing is lost."""
    by_words = {answer.question.words: answer for answer in reference.answers}
    for words, loses in (("How many flights left each airport?", True), ("How do players bat?", False)):
        answer = by_words[words]
        (column,) = answer.bounded.outputs
        for group, bounded in zip(
            zip(*answer.bounded.keys.values(), strict=True), column.values, strict=True
        ):
            (plain,) = answer.plain[group]
            assert (bounded < plain) if loses else (bounded == plain)


def test_truths_without_noise_are_those_of_plain_sql_where_nothing_is_bounded(reference):
    """Players have one row each, and bounds that hold: every kind of output can be compared."""
    by_words = {answer.question.words: answer for answer in reference.answers}
    for words in ("Are tall players heavy?", "How long is a career?", "In which league did players begin?"):
        matching = [answer for asked, answer in by_words.items() if asked.startswith(words)]
        for group, row in matching[0].plain.items():
            place = list(zip(*matching[0].bounded.keys.values(), strict=True)).index(group) if group else 0
            bounded = [column.values[place] for column in matching[0].bounded.outputs]
            assert np.array(bounded, float) == pytest.approx(np.array(row, float), rel=0.01)


def test_nothing_else_is_printed(run):
    told = [twenty_questions.told(number, answer) for number, answer in enumerate(run.answers, 1)]
    *questions, last, end = run.printed.split("\n")
    assert "\n".join(questions) == "\n".join(told)
    assert end == ""
    assert last.startswith(f"{run.engine}: ")
    assert last.endswith("bounded truths lie where they were promised with 95 % confidence")


def test_it_runs_from_its_main(reference, capfd):
    with patch("twenty_questions.answers", lambda load: iter(reference.answers)):
        twenty_questions.main(["duckdb"])
    said = capfd.readouterr()
    assert said.out == reference.printed
    assert said.err == ""


def test_it_starts_a_server_of_its_own(request):
    request.getfixturevalue("postgres")  # if there is none, there is nothing to test
    with public_records.engine("postgresql") as load:
        table = load(
            "numbers", pyarrow.table({"n": [1, None, 3], "day": pyarrow.array([0, 1, None], "date32")})
        )
        assert table.n.sum().execute() == 4


def test_other_engines_are_refused():
    with pytest.raises(SystemExit, match="one of duckdb, postgresql, spark"):
        twenty_questions.main(["oracle"])
