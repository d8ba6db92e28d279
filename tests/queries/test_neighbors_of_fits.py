"""One person more, with the worst rows in every table: narrower limits of a question hold, also in advance.

Questions come from the whole language. The counts by size that limits are bought with move by one at most.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data import Limits
from discreet.data.facts.relation_facts import is_single
from discreet.data.language.first_table import with_limits
from discreet.data.language.relations import leftmost
from discreet.data.prepared import groups, sample
from discreet.data.salt import Salt
from discreet.errors import RequestRefused
from discreet.privacy.offer import Offer
from discreet.queries.binding.bind import bind
from discreet.queries.fitting.row_limits import rows_query
from discreet.queries.noise.build_request import build_request
from discreet.queries.noise.unknown_keys import unknown_keys
from discreet.queries.sql.select import parse
from effort import examples
from queries.fuzz_grammar import Grammar
from queries.test_neighbors import PATIENT, both, check_statistics
from queries.worlds import worlds


def narrower(declared: Limits, chooser: random.Random) -> Limits:
    if declared.rows is not None:
        return Limits(rows=chooser.randint(1, declared.rows))
    return Limits(
        groups=chooser.randint(1, declared.groups), rows_per_group=chooser.randint(1, declared.rows_per_group)
    )


def ask(text: str, pair, salt: Salt, chooser: random.Random, seen: Counter) -> None:
    """Ask a question under narrower limits, and for the persons by their rows, in two worlds."""
    tables = pair.without
    try:
        query = parse(text, tables)
        if unknown_keys(query, tables) or is_single(query.relation, tables):
            return
        stated = narrower(tables[leftmost(query.relation).table].limits, chooser)
        bound = bind(replace(query, relation=with_limits(query.relation, stated)), tables)
        counted = build_request(rows_query(query.relation, 4), tables, Offer(epsilon=1))
    except RequestRefused:
        return
    seen["reached" if check_statistics(bound.plan, bound.statistics, pair, salt) else "answered"] += 1
    first, second = both(counted.plan, pair, salt)
    moved = second.values[0].astype(object) - first.values[0].astype(object)
    assert sum(map(abs, moved)) <= counted.parts[0].statistic.sensitivity.l1 == 1
    seen["persons"] += int(sum(map(abs, moved)))


def session(seed: int, questions: int, seen: Counter) -> None:
    chooser = random.Random(seed)
    grammar, salt = Grammar(chooser), Salt(value=f"salt {seed}")
    with (
        mock.patch.object(sample, "fresh_salt", return_value=salt),
        mock.patch.object(groups, "fresh_salt", return_value=salt),
    ):
        pair = worlds(seed, prepare=seed % 2 == 0)
        for _ in range(questions):
            ask(grammar.question(chooser.choice([0, 1, 2])), pair, salt, chooser, seen)


@pytest.mark.slow
@pytest.mark.hypothesis
def test_one_person_keeps_to_the_limits_of_a_question():
    seen = Counter()

    @settings(max_examples=examples(4), **PATIENT)
    @given(st.integers(0, 10**6))
    def check(seed):
        session(seed, 12, seen)

    check()
    assert seen["reached"] >= 1  # the bounds are met, so that a smaller one would be noticed
    assert seen["persons"] >= 1


@pytest.mark.slow
@settings(max_examples=examples(16), **PATIENT)
@given(st.integers(10**6, 10**9))
def test_one_person_keeps_to_the_limits_of_a_question_in_many_worlds(seed):
    session(seed, 24, Counter())
