"""An attacker who joins tables by keys at random: nobody moves an answer further than is declared."""

# ruff: noqa: S608
from __future__ import annotations

import random

import pytest

from data.tables.key_worlds import LEGS, OWNERS, PEOPLE, SCHEMAS, SEALS, TRIPS, tables_of, without
from discreet.data import Limits, Salt, compute
from discreet.errors import DiscreetError
from discreet.queries import bind, parse
from randomness import some_seed

SALT = Salt(value="salt")
HIDDEN = "who"
LIKELY = {("badge", "badge"), ("id", "trip"), ("trip", "trip"), ("trip", "id"), ("leg", "leg")}
KINDS = {"who": "text", "badge": "integer", "id": "text", "trip": "text", "leg": "integer", "n": "integer"}
VALUES = {
    "who": ["ann", "Ann", "ä", "bob", None],
    "badge": [1, 2, 3, 4, None],
    "id": ["t", "T", "u", "", None],
    "trip": ["t", "T", "u", "", None],
    "leg": [1, 2, None],
    "n": [0, 1, 2],
}


def some_world(draw):
    """Few keys for many rows, so that keys are shared, missing and repeated."""
    sizes = {PEOPLE: 7, TRIPS: 8, LEGS: 12, SEALS: 12}
    return {
        table: [
            {column: draw.choice(VALUES[column]) for column in SCHEMAS[table]} for _ in range(sizes[table])
        ]
        for table in OWNERS
    }


class Asked:
    """Writes one question after another."""

    def __init__(self, seed):
        self.draw = random.Random(seed)

    def question(self):
        what = self.draw.choice(
            ["COUNT(*)", "COUNT(*)", "COUNT(DISTINCT who)", "SUM(a.n)", "COUNT(b.n)", "SUM(DISTINCT a.n)"]
        )
        rows, where = self.rows()
        return f"SELECT {what} AS x FROM {rows}{' WHERE ' + ' AND '.join(where) if where else ''}"

    def rows(self):
        tables = [self.draw.choice(list(OWNERS)) for _ in range(self.draw.choice([1, 2, 2, 2, 3]))]
        named = list(zip(tables, "abc", strict=False))
        written, where = self.item(*named[0]), []
        for place, (table, name) in enumerate(named[1:], start=1):
            equal = self.equalities(named[:place], (table, name))
            if self.draw.random() < 0.5:
                written += f", {self.item(table, name)}"
                where += equal
            else:
                kind = self.draw.choice(["JOIN", "JOIN", "LEFT JOIN", "SEMI JOIN", "ANTI JOIN"])
                written += f" {kind} {self.item(table, name)} ON {' AND '.join(equal)}"
        if self.draw.random() < 0.4:
            table, name = self.draw.choice(named)
            column = self.draw.choice(list(SCHEMAS[table]))
            value = self.draw.choice([one for one in VALUES[column] if one is not None])
            where.append(f"{name}.{column} {self.draw.choice(['=', '<>', '<'])} {value!r}")
        if self.draw.random() < 0.3:
            where.append(self.looked_up(named))
        return written, where

    def looked_up(self, named):
        """A condition about other rows with the same key."""
        table = self.draw.choice(list(OWNERS))
        (equal,) = self.equalities(named, (table, "x"))[:1]
        return self.draw.choice(
            [
                f"EXISTS (SELECT 1 FROM {table} x WHERE {equal})",
                f"NOT EXISTS (SELECT 1 FROM {table} x WHERE {equal} AND x.n > a.n)",
                f"a.n NOT IN (SELECT x.n FROM {table} x WHERE {equal})",
                f"a.n >= (SELECT MAX(x.n) FROM {table} x WHERE {equal})",
            ]
        )

    def item(self, table, name):
        if self.draw.random() < 0.7:
            return f"{table} {name}"
        keys = self.draw.sample(list(SCHEMAS[table]), self.draw.choice([1, 2]))
        listed = ", ".join(key for key in keys if key != "n") or "who"
        return self.draw.choice(
            [
                f"(SELECT {listed}, LEAST(COUNT(*), 3) AS n FROM {table} GROUP BY {listed}) {name}",
                f"(SELECT DISTINCT {listed}, 1 AS n FROM {table}) {name}",
                f"(SELECT * FROM {table} UNION ALL SELECT * FROM {table}) {name}",
                f"(SELECT {listed}, k AS n FROM (SELECT {listed}, LAG(n) OVER (PARTITION BY {listed} "
                f"ORDER BY n) AS k FROM {table}) w) {name}",
            ]
        )

    def equalities(self, before, item):
        table, name = item
        found = []
        for _ in range(self.draw.choice([1, 1, 2])):
            other, its = self.draw.choice(before)
            pairs = [
                (one, two)
                for one in (*SCHEMAS[other], HIDDEN)
                for two in (*SCHEMAS[table], HIDDEN)
                if KINDS[one] == KINDS[two] and "n" not in (one, two)
            ]
            likely = [pair for pair in pairs if pair in LIKELY and self.draw.random() < 0.8]
            one, two = self.draw.choice(likely or pairs)
            found.append(f"{its}.{one} = {name}.{two}")
        return found


@pytest.mark.parametrize(
    "many", [pytest.param(40, marks=pytest.mark.slow), pytest.param(150, marks=pytest.mark.exhaustive)]
)
def test_no_answer_moves_further_with_one_person_than_is_declared(many):
    seed = some_seed()
    asked, answered = Asked(seed), 0
    worlds = []
    for _ in range(5):
        world = some_world(asked.draw)
        persons = sorted({row["who"] for row in world[PEOPLE]} - {None})[:2]
        limits = Limits(rows=asked.draw.choice([1, 3]))
        near = [tables_of(without(person, world), limits=limits) for person in persons]
        worlds.append((tables_of(world, limits=limits), near))
    for _ in range(40 * many):
        sql = asked.question()
        here, near = asked.draw.choice(worlds)
        try:
            plan = bind(parse(sql, here), here).plan
        except DiscreetError:
            continue
        answered += 1
        full = compute(plan, here, salt=SALT)
        for there in near:
            less = compute(plan, there, salt=SALT)
            assert less.statistics == full.statistics
            for place, statistic in enumerate(full.statistics.statistics):
                one, other = (values[place].astype(object) for values in (full.values, less.values))
                assert abs(one - other).sum() <= statistic.sensitivity.l1, (seed, sql)
        if answered == many:
            return
    raise AssertionError("too few questions are answered")
