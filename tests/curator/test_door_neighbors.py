"""One person more, with whatever rows: nothing public changes but the noisy numbers, and these by little."""

from __future__ import annotations

import math
import tempfile
import traceback
from dataclasses import dataclass, field, replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from curator.doors import CITIES, Clock, computing, visits
from curator.ledger.backends import quick_directory
from discreet.curator import Budget
from discreet.curator import door as door_module
from discreet.curator.release.label import label_of
from discreet.curator.release.release import unpack_several
from discreet.curator.request.histogram_choices import Choices
from discreet.data import Limits, compute
from discreet.errors import DiscreetError
from discreet.front import Curator
from discreet.noise import replay
from discreet.privacy.events import Pure
from effort import examples

STRANGER = 10**15

AGES = st.none() | st.integers(-(2**63), 2**63 - 1) | st.sampled_from([0, 110, 2**63 - 1, -(2**63)])
COSTS = st.none() | st.floats() | st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.8e308])
TOWNS = st.sampled_from([*CITIES, None, "", "Atlantis", "'; DROP TABLE visits; --", "ß\u202e\U0001f600"])
PLAIN_ROWS = st.fixed_dictionaries(
    {
        "patient": st.integers(0, 6),
        "household": st.integers(0, 3),
        "city": TOWNS,
        "age": st.integers(0, 120),
        "cost": st.floats(0, 6000),
    }
)
ADVERSE_ROWS = st.fixed_dictionaries(
    {
        "patient": st.just(STRANGER),
        "household": st.none() | st.integers(0, 3),
        "city": TOWNS,
        "age": AGES,
        "cost": COSTS,
    }
)
LIMITS = st.sampled_from([Limits(rows=2), Limits(rows=1), Limits(groups=2, rows_per_group=2)])

QUESTIONS = (
    ("SELECT COUNT(*) AS n FROM visits", {"epsilon": 1}),
    ("SELECT city, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS m FROM visits GROUP BY city", {"epsilon": 2}),
    ("SELECT COUNT(cost) AS n, AVG(age) AS m FROM visits WHERE age / (cost - 3) > 0.5", {"epsilon": 1}),
    ("SELECT SUM(age) AS s FROM visits WHERE NOT (city = 'Atlantis' OR cost * cost < 9)", {"rho": "1/8"}),
    (
        "SELECT city, AVG(age) AS m FROM visits WHERE cost IS NOT NULL GROUP BY city",
        {"epsilon": 1, "delta": 1e-6},
    ),
    (
        "SELECT city, COUNT(DISTINCT patient) AS p, COUNT(DISTINCT cost) AS d, STDDEV(cost) AS s, "
        "CORR(age, cost) AS r FROM visits GROUP BY city",
        {"epsilon": 2},
    ),
    ("SELECT MEDIAN(age) AS m, MAX(cost) AS x, MODE(city) AS c, COUNT(*) AS n FROM visits", {"epsilon": 2}),
    (
        "SELECT MAX(n) AS m, SUM(s) AS s FROM (SELECT city, COUNT(*) AS n, SUM(cost) AS s FROM visits "
        "GROUP BY city) AS t WHERE city <> 'Atlantis'",
        {"epsilon": 2},
    ),
    (
        "SELECT city, COUNT(*) * 100.0 / (SELECT COUNT(*) FROM visits WHERE age > 7) AS share FROM visits "
        "GROUP BY city UNION ALL SELECT 'all', (SELECT AVG(age) FROM visits)",
        {"epsilon": 2},
    ),
    ("SELECT COUNT(*) AS n FROM visits", {"epsilon": 1}),  # again
    ("SELECT COUNT(*) AS n FROM visits", {"epsilon": 10**6}),  # refused
    ("SELECT ARRAY_AGG(age) AS n FROM visits", {"epsilon": 1}),
    ("SELECT agee, COUNT(*) AS n FROM visits GROUP BY agee", {"epsilon": 1}),
    ("SELECT COUNT(*) AS n FROM visits WHERE city < 3", {"epsilon": 1}),
    ("SELECT COUNT(*) AS n FROM", {"epsilon": 1}),
)


@dataclass
class Seen:
    """All that is public about a session: words, and numbers with their noise."""

    words: list[str] = field(default_factory=list)
    draws: list = field(default_factory=list)

    def say(self, *things):
        self.words += [repr(thing) for thing in things]

    def attempt(self, action):
        try:
            return action()
        except DiscreetError as error:
            self.words.append("".join(traceback.format_exception(error)))
            return None


def session(rows, limits, place):
    """Everything that an analyst and an auditor see, with replayed noise and a clock that stands still."""
    seen = Seen()
    with replay(1):
        table = visits(rows, limits=limits)
        curator = Curator(
            {"visits": table},
            budget=Budget(epsilon=40, delta=1e-6, per_analyst=Budget(epsilon=39, delta=1e-6), renews="daily"),
            ledger=place / "clinic.ledger",
            clock=Clock(),
        )
        seen.say(table, curator.tables, curator.budget)
        for sql, offer in QUESTIONS:
            seen.attempt(lambda sql=sql, offer=offer: ask(seen, curator, sql, offer))
            seen.say(curator.spent, curator.remaining.epsilon)
        with curator.permit("training", epsilon=1) as permit:
            permit.charge(Pure(epsilon="1/2"))
    for entry in curator.ledger.entries():
        noisy = entry.kind == "answer"
        seen.say(
            entry.sequence, entry.kind, entry.key, entry.time, entry.body["charge"] if noisy else entry.text
        )
    return seen


def ask(seen, curator, sql, offer):
    seen.say(seen.attempt(lambda: curator.explain(sql, **offer)))
    preview = curator.preview(sql, **offer)
    seen.say(str(preview), preview._repr_html_(), preview)
    release = curator.ask(sql, analyst="ana", **offer)
    arrow = release.to_arrow()
    seen.say(release.keys, arrow.schema, arrow.num_rows, release.label, release.event, release.plan)
    request = release.request
    key = request.digest(curator._secret, door_module.declare(curator.tables))
    content = curator.ledger.answer(curator.ledger.find("charge", key))
    seen.draws.append([draw for draws in unpack_several(request, content) for draw in draws])


def check_neighbors(rows, adverse, limits):
    with (
        tempfile.TemporaryDirectory(dir=quick_directory()) as one,
        tempfile.TemporaryDirectory(dir=quick_directory()) as other,
    ):
        without = session(rows, limits, Path(one))
        with_person = session([*adverse[::2], *rows, *adverse[1::2]], limits, Path(other))
    assert without.words == with_person.words
    assert len(without.draws) == len(with_person.draws) == 10
    for first, second in zip(without.draws, with_person.draws, strict=True):
        for one, other in zip(first, second, strict=True):
            if isinstance(one.part.mechanism, Choices):
                continue  # chosen places move freely; `test_choices` has their law
            moved = np.abs(np.asarray(other.steps).astype(object) - np.asarray(one.steps).astype(object))
            bound = one.part.statistic.sensitivity
            assert np.count_nonzero(moved) <= bound.l0
            assert moved.sum() <= bound.l1
            assert (moved**2).sum() <= bound.squared_l2
            assert moved.max() <= bound.linf


PATIENT = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (Phase.explicit, Phase.reuse, Phase.generate),  # an example takes seconds: report the first
}


@settings(max_examples=examples(4), **PATIENT)
@given(st.lists(PLAIN_ROWS, max_size=12), st.lists(ADVERSE_ROWS, min_size=1, max_size=12), LIMITS)
def test_one_person_changes_nothing_public_but_noisy_numbers(rows, adverse, limits):
    check_neighbors(rows, adverse, limits)


@pytest.mark.slow
@settings(max_examples=examples(50), **PATIENT)
@given(st.lists(PLAIN_ROWS, max_size=30), st.lists(ADVERSE_ROWS, min_size=1, max_size=40), LIMITS)
def test_one_person_changes_nothing_public_in_many_tables(rows, adverse, limits):
    check_neighbors(rows, adverse, limits)


ROW = {"patient": 1, "household": 1, "city": "Oslo", "age": 30, "cost": 1.0}


@pytest.mark.slow
def test_the_comparison_notices_a_word_about_the_data():
    """The control: a label with the number of rows in it."""

    def telling(request, tables, *arguments, **options):
        return {**label_of(request, tables, *arguments, **options), "rows": tables["visits"]._rows().num_rows}

    check_neighbors([ROW], [{**ROW, "patient": STRANGER}], Limits(rows=1))
    with mock.patch.object(door_module, "label_of", telling), pytest.raises(AssertionError):
        check_neighbors([ROW], [{**ROW, "patient": STRANGER}], Limits(rows=1))


@pytest.mark.slow
def test_the_comparison_notices_a_person_who_counts_too_much():
    """The control: statistics in which everybody counts twice."""

    def doubled(plan, tables, *, salt):
        exact = compute(plan, tables, salt=salt)
        return replace(exact, values=tuple(2 * values for values in exact.values))

    with computing(doubled), pytest.raises(AssertionError):
        check_neighbors([ROW], [{**ROW, "patient": STRANGER}], Limits(rows=1))
