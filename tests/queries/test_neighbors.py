"""One person more, with the worst rows in every table: exact statistics move no further than is declared.

Questions come from the whole language. What is public (plans, refusals, shapes) does not move at all.
"""

# ruff: noqa: E501, S608

from __future__ import annotations

import random
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from unittest import mock

import ibis
import numpy as np
import pyarrow
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from curator.doors import Clock
from curator.test_door_neighbors import Seen
from curator.test_door_neighbors import ask as answer
from discreet.curator import Budget
from discreet.curator.request.counted_keys_request import CountedKeysRequest
from discreet.data import EACH_ROW, Keys, Limits, Table, Type, compute, contributions, to_json
from discreet.data import statistics as statistics_module
from discreet.data.combination_counts import compute_combination_counts
from discreet.data.compile import relations
from discreet.data.engines import base
from discreet.data.facts import relation_facts
from discreet.data.facts.limits import counted_rows
from discreet.data.key_counts import compute_key_counts
from discreet.data.key_pairs import compute_key_pairs
from discreet.data.language.relations import Distinct
from discreet.data.prepared import groups, sample
from discreet.data.salt import Salt
from discreet.data.tables.public_table import PublicTable
from discreet.errors import RequestRefused
from discreet.front import Curator
from discreet.mechanisms.keys.counted_keys import Reach
from discreet.noise import replay
from discreet.privacy.offer import Offer
from discreet.privacy.sensitivity import Sensitivity
from discreet.queries.binding.bind import bind
from discreet.queries.noise.counted_keys import counted_request
from discreet.queries.noise.unknown_keys import selection_for, unknown_keys
from discreet.queries.sql.select import parse
from effort import examples
from queries.fuzz_grammar import Grammar
from queries.worlds import Worlds, created, worlds

PATIENT = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (Phase.explicit, Phase.generate),  # an example takes seconds: report the first
    "derandomize": True,
    "database": None,
}
OFFER = {"epsilon": 3, "delta": "1e-6"}


def both(plan, pair: Worlds, salt: Salt):
    """The exact statistics of both worlds, with one salt; one statement serves both where names are the same."""
    if pair.prepared:
        return tuple(compute(plan, tables, salt=salt) for tables in (pair.without, pair.with_person))
    written: dict[str, object] = {}

    def once(name, work):
        def call(*arguments):
            if name not in written:
                written[name] = work(*arguments)
            return written[name]

        return call

    with ExitStack() as patches:
        for place, name in ((contributions, "bounded_totals"), (base, "statement")):
            patches.enter_context(mock.patch.object(place, name, once(name, getattr(place, name))))
        return tuple(compute(plan, tables, salt=salt) for tables in (pair.without, pair.with_person))


def moved_at_most(moved: np.ndarray, bound: Sensitivity) -> None:
    """Whether a vector of changes keeps to a sensitivity in every norm."""
    size = np.abs(moved)
    assert np.count_nonzero(size) <= bound.l0
    assert size.sum() <= bound.l1
    assert (size**2).sum() <= bound.squared_l2
    assert max(size, default=0) <= bound.linf


def check_statistics(plan, statistics, pair: Worlds, salt: Salt) -> bool:
    """Compare two worlds in one plan; tell whether the person reached what is declared."""
    first, second = both(plan, pair, salt)
    assert first.statistics == second.statistics == statistics
    moves = []
    for statistic, one, other in zip(statistics.statistics, first.values, second.values, strict=True):
        assert one.shape == other.shape
        moves.append(other.astype(object) - one.astype(object))
        moved_at_most(moves[-1], statistic.sensitivity)
    moved_at_most(np.concatenate(moves), statistics.joint())
    return any(
        np.abs(moved).sum() == statistic.sensitivity.l1
        for moved, statistic in zip(moves, statistics.statistics, strict=True)
    )


def check_keys(query, pair: Worlds, salt: Salt) -> None:
    """Compare two worlds in the counts of undeclared keys."""
    selections = [selection_for(query, tables, Offer(**OFFER)) for tables in (pair.without, pair.with_person)]
    assert selections[0] == selections[1]
    for _, request in selections[0].requests:
        found = []
        for tables in (pair.without, pair.with_person):
            counts = compute_key_counts(request.plan, tables, salt=salt)
            found.append(Counter(dict(zip(counts._values.to_pylist(), counts.counts.tolist(), strict=True))))
        more, fewer = found[1] - found[0], found[0] - found[1]
        assert not fewer
        assert len(more) <= request.plan.keys <= request.mechanism.keys
        assert set(more.values()) <= {1}
        check_pairs(request.plan, pair, salt)
    for chosen in (False, True):
        check_combinations(query, pair, salt, chosen=chosen)


def check_pairs(plan, pair: Worlds, salt: Salt) -> None:
    """Compare two worlds in which keys each person has: one person more has few, and the others the same."""
    kept = []
    for tables in (pair.without, pair.with_person):
        pairs = compute_key_pairs(plan, tables, salt=salt)
        names = [str(one) for one in pairs._values.to_pylist()]
        of_person: dict[int, list[str]] = {}
        for person, key in zip(pairs.persons.tolist(), pairs.keys.tolist(), strict=True):
            of_person.setdefault(person, []).append(names[key])
        kept.append(Counter(tuple(sorted(keys)) for keys in of_person.values()))
    assert not kept[0] - kept[1]
    more = list((kept[1] - kept[0]).elements())
    assert len(more) <= 1
    assert all(len(keys) <= plan.keys for keys in more)


def check_combinations(query, pair: Worlds, salt: Salt, *, chosen: bool) -> None:
    """Compare two worlds in the counts of combinations that are shown at once."""
    made = []
    for tables in (pair.without, pair.with_person):
        try:
            asked = counted_request(query, tables, Offer(**OFFER), confidence=Fraction(9, 10), chosen=chosen)
        except RequestRefused as refusal:  # something else than keys is lacking
            made.append(str(refusal))
        else:
            made.append(asked)
    assert made[0] == made[1]
    if not isinstance(made[0], CountedKeysRequest):
        return
    found, plan = [], made[0].plan
    for tables in (pair.without, pair.with_person):
        counts = compute_combination_counts(plan, tables, salt=salt)
        rows = zip(*(one.to_pylist() for one in counts._values), strict=True)
        found.append(Counter(dict(zip(rows, counts.counts.tolist(), strict=True))))
    assert not found[0] - found[1]
    more = found[1] - found[0]
    assert len(more) <= plan.keys
    assert max(more.values(), default=0) <= plan.rows
    assert sum(more.values()) <= plan.total
    assert made[0].mechanism.reach == Reach(keys=plan.keys, rows=plan.rows, total=plan.total)


def outcome(text: str, tables):
    """What is public about a question: its plan and the shape of its answer, or the refusal."""
    try:
        query = parse(text, tables)
        if unknown_keys(query, tables):
            return query, "keys", query
        bound = bind(query, tables)
    except RequestRefused as error:
        return None, f"{type(error).__name__}: {error}", None
    return query, to_json(bound.plan), bound


def ask(text: str, pair: Worlds, salt: Salt, seen: Counter) -> None:
    """Ask a question in two worlds and compare everything."""
    query, words, bound = outcome(text, pair.without)
    other, other_words, other_bound = outcome(text, pair.with_person)
    assert (query, words, bound) == (other, other_words, other_bound)
    if words == "keys":
        try:
            check_keys(query, pair, salt)
        except RequestRefused:
            seen["refused"] += 1
            return
        seen["keys"] += 1
    elif bound is None:
        seen["refused"] += 1
    else:
        seen["reached" if check_statistics(bound.plan, bound.statistics, pair, salt) else "answered"] += 1


def session(seed: int, questions: int, seen: Counter) -> None:
    """Some questions to one pair of worlds."""
    chooser = random.Random(seed)
    grammar, salt = Grammar(chooser), Salt(value=f"salt {seed}")
    with (
        mock.patch.object(sample, "fresh_salt", return_value=salt),
        mock.patch.object(groups, "fresh_salt", return_value=salt),
    ):
        pair = worlds(seed, prepare=seed % 3 == 0)
        for _ in range(questions):
            ask(grammar.question(chooser.choice([0, 1, 2, 3])), pair, salt, seen)


@pytest.mark.hypothesis
def test_one_person_moves_statistics_no_further_than_declared():
    seen = Counter()

    @settings(max_examples=examples(8), **PATIENT)
    @given(st.integers(0, 10**6))
    def check(seed):
        session(seed, 16, seen)

    check()
    assert seen["reached"] >= examples(8) // 2  # the bounds are met, so that a smaller one would be noticed
    assert seen["answered"] >= examples(8) * 2
    assert seen["keys"] >= examples(8) // 4


@pytest.mark.slow
@settings(max_examples=examples(80), **PATIENT)
@given(st.integers(10**6, 10**9))
def test_one_person_moves_statistics_no_further_than_declared_in_many_worlds(seed):
    session(seed, 30, Counter())


def pair_of(schema: str, rows_of_others: str, more: str, **declared) -> Worlds:
    """Two worlds of one table `h`, written in DuckDB's own words."""
    found = []
    for values in (rows_of_others, f"{rows_of_others} UNION ALL {more}"):
        connection = ibis.duckdb.connect()
        connection.raw_sql(f"CREATE TABLE h ({schema})")
        connection.raw_sql(f"INSERT INTO h {values}")
        found.append({"h": Table(created(connection, "h"), **declared)})
    return Worlds(without=found[0], with_person=found[1], prepared=False)


# The controls: what is planted is noticed.

COUNT = "SELECT COUNT(*) AS n FROM visits"
CITIES = "SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient, city FROM h) x"


def salted(seed: int = 4) -> tuple[Worlds, Salt]:
    return worlds(seed), Salt(value="salt")


def test_the_comparison_notices_a_bound_that_is_too_small_by_one():
    pair, salt = salted()
    bound = bind(parse(COUNT, pair.without), pair.without)
    assert check_statistics(bound.plan, bound.statistics, pair, salt)
    (statistic,) = bound.statistics.statistics
    assert statistic.sensitivity.l1 == 2
    smaller = replace(statistic.sensitivity, l1=1, squared_l2=1, linf=1)
    first, second = both(bound.plan, pair, salt)
    with pytest.raises(AssertionError):
        moved_at_most(second.values[0].astype(object) - first.values[0].astype(object), smaller)


def test_the_comparison_notices_bounding_that_keeps_a_row_too_many():
    pair, salt = salted()

    def lax(relation, tables):
        return Limits(rows=statistics_module.limits_of(relation, tables).rows + 1)

    ask(COUNT, pair, salt, Counter())
    with mock.patch.object(contributions, "limits_of", lax), pytest.raises(AssertionError):
        ask(COUNT, pair, salt, Counter())


def test_the_comparison_notices_rows_whose_presence_depends_on_others():
    """DISTINCT over everybody: a row that several people have belongs to the last of them."""
    towns = "patient INTEGER, city VARCHAR"
    some, all_of_them = (
        "SELECT i, CAST(i AS VARCHAR) FROM range(6) t(i)",
        "SELECT 77, CAST(i AS VARCHAR) FROM range(6) t(i)",
    )
    pair = pair_of(towns, some, all_of_them, person="patient", limits=Limits(rows=1))
    salt, plain = Salt(value="salt"), relations._RelationCompiler.rows

    def shared(self, relation):
        if not isinstance(relation, Distinct):
            return plain(self, relation)
        below = plain(self, relation.source)
        others = [inner for name, inner in below.names.items() if name != "patient"]
        last = below.table.group_by(others).agg(**{relations.PERSON: below.table[relations.PERSON].max()})
        last = last.mutate(**{below.names["patient"]: last[relations.PERSON]})
        return relations.CompiledRows(table=last, names=below.names)

    ask(CITIES, pair, salt, Counter())
    with mock.patch.object(relations._RelationCompiler, "rows", shared), pytest.raises(AssertionError):
        ask(CITIES, pair, salt, Counter())


def test_the_comparison_notices_a_plan_that_follows_the_data():
    pair, salt = salted()
    pair.with_person["cities"] = PublicTable(pyarrow.table({"name": ["Oslo", "Oslo"], "region": ["a", "b"]}))
    with pytest.raises(AssertionError):
        ask(
            "SELECT region, COUNT(*) AS n FROM visits JOIN cities ON city = name GROUP BY region",
            pair,
            salt,
            Counter(),
        )


# What was found once.


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "kind", ["HUGEINT", "DECIMAL(38, 0)", "DECIMAL(38, 9)", "DOUBLE", "TIMESTAMP_NS", "BIGINT", "UBIGINT"]
)
@pytest.mark.parametrize("kept_only", [True, False])
def test_a_literal_that_equals_many_keys_makes_nobody_count_more(kind, kept_only):
    """GROUP BY person, key and WHERE key = literal leave one row, since long decimals are compared exactly."""
    values = {
        "TIMESTAMP_NS": "make_timestamp_ns(1577836800000000000 + i)",
        "DOUBLE": "CASE WHEN i % 2 = 0 THEN 0.0 ELSE -0.0 END",
    }.get(kind, f"CAST(1000000000000000000 + i AS {kind})")
    literal = {"TIMESTAMP_NS": "TIMESTAMP '2020-01-01 00:00:00'", "DOUBLE": "0"}.get(
        kind, "1000000000000000000"
    )
    pair = pair_of(
        f"patient INTEGER, big {kind}",
        f"SELECT 1, {values} FROM range(3) t(i)",
        f"SELECT 77, {values} FROM range(40) t(i)",
        person="patient",
        limits=Limits(rows=2),
    )
    measure = "COUNT(DISTINCT big)" if kept_only else "COUNT(*)"
    below = "SELECT patient, big, COUNT(*) AS k FROM h GROUP BY patient, big"
    seen = Counter()
    ask(f"SELECT {measure} AS n FROM ({below}) x WHERE big = {literal}", pair, Salt(value="salt"), seen)
    assert not seen["refused"]
    if kind.startswith("DECIMAL"):  # even if the key is taken for one that a literal equals once
        with mock.patch.object(relation_facts, "_EXACT", frozenset(Type)):
            ask(
                f"SELECT {measure} AS n FROM ({below}) x WHERE big = {literal}",
                pair,
                Salt(value="salt"),
                seen,
            )


def test_a_collation_does_not_multiply_rows():
    pair = pair_of("city VARCHAR COLLATE NOCASE", "SELECT 'Rome'", "SELECT 'TAIPEI'", person=EACH_ROW)
    for tables in (pair.without, pair.with_person):
        tables["cities"] = PublicTable(pyarrow.table({"name": ["Taipei", "TAIPEI", "taipei"]}))
    ask("SELECT COUNT(*) AS n FROM h JOIN cities ON city = name", pair, Salt(value="salt"), Counter())


def test_a_collation_does_not_make_the_engine_fail():
    keys = {"city": Keys(["Taipei"])}
    pair = pair_of(
        "city VARCHAR COLLATE NOCASE", "SELECT 'Rome'", "SELECT 'TAIPEI'", person=EACH_ROW, columns=keys
    )
    ask("SELECT city, COUNT(*) AS n FROM h GROUP BY city", pair, Salt(value="salt"), Counter())


UNITED = ("SELECT patient, city, age FROM visits", "SELECT patient, city, age FROM staff")


@pytest.mark.parametrize(
    "parts", [UNITED, UNITED[::-1], (*UNITED, UNITED[0])], ids=["one", "other", "thrice"]
)
def test_a_person_with_all_rows_in_every_part_of_a_union_moves_it_by_the_sum(parts):
    pair, salt = salted()
    text = f"SELECT COUNT(*) AS n FROM ({' UNION ALL '.join(parts)}) x"
    bound = bind(parse(text, pair.without), pair.without)
    assert check_statistics(bound.plan, bound.statistics, pair, salt)
    (statistic,) = bound.statistics.statistics
    assert statistic.sensitivity.l1 == sum(
        counted_rows(pair.without["visits" if "visits" in part else "staff"].limits) for part in parts
    )


# Everything that an analyst and an auditor see.

QUESTIONS = (
    "SELECT city, COUNT(*) AS n, SUM(cost) AS s, MEDIAN(age) AS m FROM visits GROUP BY city",
    "SELECT region, COUNT(*) AS n FROM visits JOIN cities ON city = name GROUP BY region",
    "SELECT COUNT(*) AS n FROM visits v LEFT JOIN staff s ON v.patient = s.patient WHERE s.cost IS NULL",
    "SELECT COUNT(*) AS n, AVG(age) AS a FROM (SELECT patient, city, age FROM visits UNION ALL "
    "SELECT patient, city, age FROM staff) x WHERE CAST(city AS INTEGER) IS NULL",
    "SELECT COUNT(*) AS n FROM (SELECT patient, COUNT(*) AS k, AVG(cost) AS m FROM visits GROUP BY patient) x WHERE k / m > 1",
    "SELECT MONTH(day) AS k, COUNT(DISTINCT patient) AS p, COUNT(DISTINCT note) AS d FROM visits GROUP BY k",
    "SELECT SUM(age) AS n FROM (SELECT patient, age, ROW_NUMBER() OVER (PARTITION BY patient ORDER BY seen) AS k "
    "FROM visits) x WHERE k = 1",
    "SELECT floor, CORR(age, cost) AS r FROM crowd c JOIN wards w ON c.ward = w.ward GROUP BY floor",
    "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.city = b.city",
    "SELECT note, COUNT(*) AS n FROM visits GROUP BY note",
    "SELECT SUM(small) AS n FROM visits",
    "SELECT city, ROUND(AVG(age), 1) AS a, 100.0 * SUM(cost) / COUNT(*) AS r, 7 AS c FROM visits GROUP BY city "
    "ORDER BY city, MAX(age) - MIN(age)",
    "SELECT COUNT(*) / note AS n FROM visits",
    "SELECT city, UPPER(city) AS u, SUM(COUNT(*)) OVER (ORDER BY city) AS r, RANK() OVER (ORDER BY SUM(age)) AS k "
    "FROM visits GROUP BY city",
    "SELECT city, AVG(cost) AS a, GROUPING(city) AS g FROM visits GROUP BY ROLLUP (city)",
    "SELECT city, LAG(note) OVER (ORDER BY COUNT(*)) AS n FROM visits GROUP BY city",
)


def everything_said(tables, place):
    seen = Seen()
    with replay(1):
        curator = Curator(tables, budget=Budget(epsilon=40), ledger=place / "clinic.ledger", clock=Clock())
        for text in QUESTIONS:
            seen.attempt(lambda text=text: answer(seen, curator, text, {"epsilon": 2}))
            seen.say(curator.spent, curator.remaining.epsilon)
    for entry in curator.ledger.entries():
        shown = entry.body["charge"] if entry.kind == "answer" else entry.text
        seen.say(entry.sequence, entry.kind, entry.key, entry.time, shown)
    return seen


def test_one_person_changes_no_word_of_answers_refusals_and_ledger(tmp_path):
    pair = worlds(7)
    said = []
    for name, tables in (("one", pair.without), ("other", pair.with_person)):
        (tmp_path / name).mkdir()
        said.append(everything_said(tables, tmp_path / name))
    assert said[0].words == said[1].words
    assert len(said[0].draws) == len(said[1].draws) == 11
