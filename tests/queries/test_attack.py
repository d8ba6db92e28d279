"""An attacker's questions to neighboring worlds of hard types: nothing moves further than is declared.

Compared are exact integers with their sensitivities, refusals word by word, and the rows of intermediate
results with the bounds of `fanout`; those of everybody but the stranger do not move at all. An engine that
fails in either world is a finding. Long runs take seeds that follow from `SEED`, which a failure names.
"""

from __future__ import annotations

import random
from collections import Counter
from unittest import mock

import pytest

import effort
from data import three_engines
from data.conftest import engine, postgres, postgres_engine, spark_engine  # noqa: F401
from discreet.data.compile import relations
from discreet.data.compile.relations import PERSON, rows_of
from discreet.data.engines.base import fetch
from discreet.data.facts.fanout import fan_out
from discreet.data.facts.persons import Tables, private_table
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.relations import Relation, Source, sources_of, walk_relation
from discreet.data.salt import Salt
from discreet.errors import RequestRefused
from discreet.privacy.offer import Offer
from discreet.queries.noise.unknown_keys import selection_for
from queries.attack_grammar import Attacks
from queries.hard_worlds import STRANGER, hard_worlds
from queries.test_neighbors import OFFER, ask, outcome
from queries.wide_grammar import Wide
from queries.worlds import Worlds
from randomness import some_seed

CROWDED = 6
"""A seed of worlds in which the stranger has 300 visits that are alike."""
BESIDE_THEMSELVES = "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.patient = b.patient"
QUESTIONS = {three_engines.DUCKDB: 200, three_engines.POSTGRES: 160, three_engines.SPARK: 40}
"""How many are asked in `make test-all`; in `make test-slow` 40, 40 and 20."""


def counted(relation: Relation, tables: Tables, salt: Salt) -> Counter:
    """How many rows each person has in a relation; where each row is a person, of all together."""
    found = rows_of(relation, tables, salt)
    backend = private_table(sources_of(relation)[0], tables)._backend
    if not found.has_person:
        return Counter({None: fetch(found.table.agg(n=found.table.count()), backend)["n"][0].as_py()})
    counts = fetch(found.table.group_by(PERSON).agg(n=found.table.count()), backend)
    persons = (int(one) for one in counts[PERSON].to_pylist())
    return Counter(dict(zip(persons, counts["n"].to_pylist(), strict=True)))


def check_rows(relation: Relation, pair: Worlds, salt: Salt) -> None:
    """Compare two worlds in the rows of every part of a relation."""
    for part in dict.fromkeys(walk_relation(relation)):
        if isinstance(part, Source):
            continue
        bound = fan_out(part, pair.without)
        assert bound == fan_out(part, pair.with_person)
        assert columns_of_relation(part, pair.without) == columns_of_relation(part, pair.with_person)
        one, other = (counted(part, tables, salt) for tables in (pair.without, pair.with_person))
        if None in one:
            assert 0 <= other[None] - one[None] <= bound.rows
            continue
        many = other.pop(STRANGER, 0)
        assert one == other
        owned = max(
            counted(Source(table=name), pair.with_person, salt)[STRANGER] for name in sources_of(part)
        )
        assert many <= bound.rows * owned
        assert bound.person is None or many <= bound.person


def attack(text: str, pair: Worlds, salt: Salt, seen: Counter) -> None:
    """Ask a question in two worlds and compare everything, intermediate results too."""
    ask(text, pair, salt, seen)
    query, words, bound = outcome(text, pair.without)
    if words == "keys":
        try:
            requests = selection_for(query, pair.without, Offer(**OFFER)).requests
        except RequestRefused:
            return
        for _, request in requests:
            check_rows(request.plan.source, pair, salt)
    elif bound is not None:
        check_rows(bound.plan.source, pair, salt)


def session(
    made: three_engines.Engine, seed: int, questions: int, seen: Counter, grammar: type[Attacks] = Attacks
) -> None:
    """Some questions to one pair of worlds."""
    chooser = random.Random(seed)
    writer, salt, pair = grammar(chooser), Salt(value=f"salt {seed}"), hard_worlds(made, seed)
    for _ in range(questions):
        text = writer.question(chooser.choice([1, 2, 3, 4]))
        try:
            attack(text, pair, salt, seen)
        except Exception as problem:
            raise AssertionError(f"{made.name}, seed {seed}: {text}") from problem


def test_an_attacker_moves_nothing_further_than_declared():
    seen = Counter()
    for seed in (35, 41):
        session(three_engines.embedded(), seed, 8, seen)
    assert seen["reached"] + seen["answered"] >= 5
    assert seen["keys"] >= 2


def test_an_attacker_who_writes_as_people_do_moves_nothing_further_than_declared():
    seen = Counter()
    session(three_engines.embedded(), 53, 12, seen, Wide)
    assert seen["reached"] + seen["answered"] >= 3


def test_the_comparison_notices_rows_that_multiply():
    """The control: without the bound before a join, a person of 309 rows has 95,481 behind it."""
    pair, salt = hard_worlds(three_engines.embedded(), CROWDED), Salt(value="salt")
    attack(BESIDE_THEMSELVES, pair, salt, Counter())
    with mock.patch.object(relations, "thin_rows", lambda left, *_: left), pytest.raises(AssertionError):
        attack(BESIDE_THEMSELVES, pair, salt, Counter())


@pytest.mark.slow
@pytest.mark.parametrize("grammar", [Attacks, Wide])
def test_an_attacker_of_any_engine_moves_nothing_further_than_declared(engine, grammar):  # noqa: F811
    seen = Counter()
    sessions = QUESTIONS[engine.name] // 20
    for _ in range(sessions if effort.ALL else min(2, sessions // 2)):
        session(engine, some_seed(), 20, seen, grammar)
