"""How many rows one row may become: a public bound on every intermediate result of a request.

An engine that worked a thousand times longer on some rows, or failed on them, would reveal something about
these rows. Rows are multiplied in three places: a union reads a table several times, a join finds several
rows of a public table, and a join of private tables combines every row of a person with every other one of
theirs. The first two are known from the request and from public content. The third, and the second where
it multiplies much, are bounded before they happen: no more than `LARGEST_MEETING` rows of a person come
out of one join, unless they had more on one side of it (`compile.join_limits`).

Where the facts say that this cannot happen, because a side has one row of each person, or a table was
bounded in advance, nothing is bounded and nothing is counted. (Proof: fanout.)
"""

from __future__ import annotations

from math import isqrt

from discreet.data.facts.joins import most_matches
from discreet.data.facts.persons import Tables, has_person, private_table
from discreet.data.facts.question_tables import found_once
from discreet.data.facts.relation_facts import columns_of_relation, is_single
from discreet.data.language.relations import (
    Filter,
    JoinPersons,
    JoinPublic,
    PerPerson,
    Relation,
    Source,
    Union,
)
from discreet.errors import UnsupportedQuery
from discreet.records import Record, dataclass

__all__ = [
    "LARGEST_FAN_OUT",
    "LARGEST_MEETING",
    "SMALL_FAN_OUT",
    "FanOut",
    "fan_out",
    "is_crowded",
]

SMALL_FAN_OUT = 1 << 8
"""How many rows one row may become in joins with public tables before a person's rows are counted.

Its square is `LARGEST_MEETING`, so that a join of two private tables may make as many of a row."""
LARGEST_MEETING = SMALL_FAN_OUT**2
"""How many rows of a person come out of a join that multiplies them; proof: fanout, lemma 2."""
LARGEST_FAN_OUT = LARGEST_MEETING
"""How many rows one row may become in a whole request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FanOut(Record):
    """What is public about the number of rows of a relation.

    Attributes
    ----------
    rows : int
        A person with at most n rows in each table has at most `rows` times n here.
    person : int or None
        How many rows any person has at most, for any data; None if nothing limits them.
    """

    rows: int
    person: int | None

    def __post_init__(self) -> None:
        if self.person is not None and self.person < self.rows:
            self._amend(rows=max(1, self.person))


@found_once
def fan_out(relation: Relation, tables: Tables) -> FanOut:
    """Return how many rows a relation has at most, for each row of its tables and for each person.

    Raises
    ------
    UnsupportedQuery
        For a relation, or a part of one, in which one row could become more than `LARGEST_FAN_OUT`.
    """
    found = _fan_out(relation, tables)
    if found.rows > LARGEST_FAN_OUT:
        raise _too_many()
    return found


def _fan_out(relation: Relation, tables: Tables) -> FanOut:
    if isinstance(relation, Source):
        return FanOut(rows=1, person=_bounded_ahead(relation, tables))
    if isinstance(relation, PerPerson | Filter):
        below = fan_out(relation.source, tables)
        return FanOut(rows=1, person=1) if is_single(relation, tables) else below
    if isinstance(relation, Union):
        parts = [fan_out(source, tables) for source in relation.sources]
        known = [part.person for part in parts if part.person is not None]
        return FanOut(
            rows=sum(part.rows for part in parts), person=sum(known) if len(known) == len(parts) else None
        )
    if isinstance(relation, JoinPublic):
        below = fan_out(relation.source, tables)
        return _beside_public(below, _matches(relation, tables), outer=relation.outer)
    if isinstance(relation, JoinPersons):
        left, right = fan_out(relation.left, tables), fan_out(relation.right, tables)
        return _beside_persons(left, right, outer=relation.outer)
    return fan_out(relation.source, tables)


def is_crowded(relation: JoinPublic | JoinPersons, tables: Tables) -> bool:
    """Return whether a join may multiply a person's rows so far that they are bounded before it."""
    if isinstance(relation, JoinPublic):
        if not has_person(relation, tables):
            return False
        return _meets_many(fan_out(relation.source, tables), _matches(relation, tables))
    return _meet_in_crowds(fan_out(relation.left, tables), fan_out(relation.right, tables))


def _beside_public(source: FanOut, matches: int, *, outer: bool) -> FanOut:
    if matches > LARGEST_MEETING:
        raise _too_many()
    rows = source.rows * max(1, matches)
    person = None if source.person is None else source.person * max(1, matches)
    if not _meets_many(source, matches):
        return FanOut(rows=rows, person=person)
    if not outer:
        return FanOut(rows=min(rows, LARGEST_MEETING), person=LARGEST_MEETING)
    return FanOut(
        rows=min(rows, source.rows + LARGEST_MEETING),
        person=None if source.person is None else source.person + LARGEST_MEETING,
    )


def _beside_persons(left: FanOut, right: FanOut, *, outer: bool) -> FanOut:
    if right.person == 1:
        return left
    if left.person == 1:
        return right
    met = min(LARGEST_MEETING, SMALL_FAN_OUT * (1 + isqrt(left.rows * right.rows - 1)))
    rows = max(met, right.rows)
    person = None if right.person is None else max(LARGEST_MEETING, right.person)
    if person is not None and left.person is not None and right.person is not None:
        person = min(person, left.person * right.person)
    if not outer:
        return FanOut(rows=rows, person=person)
    return FanOut(
        rows=left.rows + rows,
        person=None if left.person is None or person is None else left.person + person,
    )


def _meets_many(source: FanOut, matches: int) -> bool:
    if matches <= 1 or (source.person is not None and source.person * matches <= LARGEST_MEETING):
        return False
    return source.rows * matches > SMALL_FAN_OUT


def _meet_in_crowds(left: FanOut, right: FanOut) -> bool:
    if left.person is None or right.person is None:
        return 1 not in (left.person, right.person)
    return min(left.person, right.person) > 1 and left.person * right.person > LARGEST_MEETING


def _matches(relation: JoinPublic, tables: Tables) -> int:
    return most_matches(relation, columns_of_relation(relation.source, tables), tables)


def _bounded_ahead(source: Source, tables: Tables) -> int | None:
    table = private_table(source.table, tables)
    return None if table._prepared is None else table.limits.rows


def _too_many() -> UnsupportedQuery:
    return UnsupportedQuery(
        f"one row could become more than {LARGEST_FAN_OUT} rows by the unions and joins of this request; "
        "join public tables by columns in which fewer of their rows are equal, unite fewer parts, "
        "or GROUP BY the person before a join"
    )
