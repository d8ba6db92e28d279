"""Statements that are kept: the next release gets what a new statement would give it, and nothing lasts."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor

import pyarrow
import pytest

from data import oracle
from discreet.data import (
    Bounds,
    CountPersons,
    CountRows,
    Filter,
    Group,
    GroupKey,
    Keys,
    Limits,
    PublicTable,
    Salt,
    Source,
    Sum,
    Table,
    col,
    compute,
    contributions,
    fresh_salt,
)
from discreet.data.engines import statements
from discreet.data.key_counts import compute_key_counts
from discreet.data.key_pairs import compute_key_pairs
from discreet.data.language.plan import KeyPlan
from discreet.data.language.relations import Derive, Equality, JoinPersons, JoinPublic, Named

COLUMNS = {"city": Keys(["a", "b", "c"]), "cost": Bounds(0, 50)}
LIMITS = Limits(rows=2)
ROWS = [
    {"who": number % 7, "city": "abcd"[number % 4], "cost": 3 * number % 53, "size": number % 3}
    for number in range(60)
]
PLAN = Group(
    source=Source(table="t"),
    keys=(GroupKey(column="city", values=COLUMNS["city"]),),
    measures=(CountRows(), Sum(column="cost", bounds=COLUMNS["cost"])),
)
SALTS = [Salt(value=f"{number:032x}") for number in range(0, 2**70, 2**67)]


def table(rows=ROWS, limits=LIMITS, columns=COLUMNS, **others):
    return Table(pyarrow.Table.from_pylist(rows), person="who", limits=limits, columns=columns, **others)


def conditioned(condition):
    return Group(
        source=Filter(source=Source(table="t"), condition=condition.expression),
        measures=(CountRows(),),
    )


def values(plan, tables, salt):
    return [array.tolist() for array in compute(plan, tables, salt=salt).values]


@pytest.fixture
def written(monkeypatch):
    """How many statements were written."""
    found = []
    write = statements.base.written
    monkeypatch.setattr(statements.base, "written", lambda *given: found.append(1) or write(*given))
    return found


@pytest.mark.parametrize("limits", [LIMITS, Limits(groups=1, rows_per_group=2)], ids=["rows", "groups"])
def test_every_release_has_its_own_salt(limits, written):
    tables = {"t": table(limits=limits)}
    found = [values(PLAN, tables, salt) for salt in SALTS]
    assert found == [oracle.compute(PLAN, ROWS, "who", limits, salt) for salt in SALTS]
    assert len({str(one) for one in found}) > 1
    assert len(written) == 1


def test_an_arranged_table_draws_again_for_every_release(written):
    tables = {"t": table(limits=Limits(groups=1, rows_per_group=2), prepare=True)}
    assert len({str(values(PLAN, tables, salt)) for salt in SALTS}) > 1
    assert len(written) == 2  # the arrangement, and the question


def test_what_compares_equal_is_not_the_same_plan(written):
    """To Python 1 and True are equal, and a key of one is a key of the other."""
    rows = [
        {"who": 1, "city": "a", "cost": 1, "flag": True},
        {"who": 2, "city": "a", "cost": 1, "flag": False},
    ]
    tables = {"t": table(rows)}
    for literal, expected in ((1, 2), (True, 1)):
        name = "flag" if literal is True else "cost"
        derived = Derive(
            source=Source(table="t"), columns=(Named(name="x", expression=col(name).expression),)
        )
        plan = Group(
            source=Filter(source=derived, condition=(col("x") == literal).expression),
            measures=(CountRows(),),
        )
        assert values(plan, tables, SALTS[1]) == [[expected]]
    assert len(written) == 2


def test_another_table_of_the_same_name_has_statements_of_its_own(written):
    salt = SALTS[3]
    first, second = table(), table([{**row, "city": "a"} for row in ROWS])
    assert values(PLAN, {"t": first}, salt) != values(PLAN, {"t": second}, salt)
    assert len(written) == 2


def test_a_joined_table_that_was_replaced_is_read_anew(written):
    """The statement belongs to the first table; the second one is amended."""
    joined = JoinPersons(left=Source(table="t"), right=Source(table="u"), columns=())
    plan = Group(source=joined, measures=(CountRows(),))
    mine = table(ROWS[:7])
    others = [[{"who": number} for number in range(size)] for size in (3, 5)]
    people = [Table(pyarrow.Table.from_pylist(one), person="who", limits=Limits(rows=1)) for one in others]
    found = [values(plan, {"t": mine, "u": one}, SALTS[5]) for one in (people[0], people[1], people[0])]
    assert found == [[[3]], [[5]], [[3]]]
    assert len(written) >= 3  # and copies of the others' rows


def test_a_public_table_that_was_replaced_is_read_anew():
    plan = Group(
        source=JoinPublic(source=Source(table="t"), table="p", on=(Equality(left="city", right="city"),)),
        measures=(CountRows(),),
    )
    mine = table(ROWS[:7])
    public = [PublicTable(pyarrow.table({"city": names})) for names in (["a"], ["a", "b"])]
    found = [values(plan, {"t": mine, "p": one}, SALTS[5]) for one in (*public, public[0])]
    assert found == [[[2]], [[4]], [[2]]]


def test_counting_keys_and_listing_them_are_two_statements():
    """Both read the same plan."""
    plan = KeyPlan(source=Source(table="t"), column="city", keys=1)
    tables = {"t": table()}
    for _ in range(2):
        assert compute_key_counts(plan, tables, salt=fresh_salt()).counts.sum() == 7
        assert len(compute_key_pairs(plan, tables, salt=fresh_salt()).persons) == 7
    assert len(tables["t"]._statements) == 2


def test_short_salts_are_never_cut_out():
    """A short text might be a part of the statement itself."""
    tables = {"t": table()}
    for salt in (Salt(value="5"), Salt(value="a'" * 16)):
        assert values(PLAN, tables, salt) == oracle.compute(PLAN, ROWS, "who", LIMITS, salt)
    assert len(tables["t"]._statements) == 0


def test_no_more_is_kept_than_was_said(monkeypatch):
    monkeypatch.setattr(statements, "MOST_STATEMENTS", 3)
    tables = {"t": table()}
    plans = [conditioned(col("cost") > -1 - number) for number in range(5)]
    for plan in plans:
        compute(plan, tables, salt=fresh_salt())
    kept = tables["t"]._statements
    assert len(kept) == 3
    assert kept.size == sum(one.size for one in kept._kept.values())
    monkeypatch.setattr(statements, "MOST_CHARACTERS", kept.size - 1)
    compute(plans[0], tables, salt=fresh_salt())
    assert len(kept) == 2
    monkeypatch.setattr(statements, "MOST_CHARACTERS", 10)
    compute(plans[1], tables, salt=fresh_salt())
    assert len(kept) == 2


def test_the_statement_used_last_stays(monkeypatch, written):
    monkeypatch.setattr(statements, "MOST_STATEMENTS", 2)
    tables = {"t": table()}
    first, second, third = (conditioned(col("cost") > -1 - number) for number in range(3))
    for plan in (first, second, first, third, first):
        compute(plan, tables, salt=fresh_salt())
    assert len(written) == 3


def test_threads_share_statements():
    tables = {"t": table()}
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda salt: values(PLAN, tables, salt), SALTS * 2))
    assert found == [oracle.compute(PLAN, ROWS, "who", LIMITS, salt) for salt in SALTS] * 2


def test_lists_of_keys_stay_where_a_kept_statement_reads_them():
    """More keys than are written into a statement lie in a table in memory, which the engine may not lose."""
    many = Keys([f"{number}" for number in range(400)] + ["a"])
    plan = Group(
        source=Source(table="t"), keys=(GroupKey(column="city", values=many),), measures=(CountRows(),)
    )
    tables = {"t": table(columns={"city": many})}
    for _ in range(3):
        assert compute(plan, tables, salt=fresh_salt()).values[0][-1] > 0
        gc.collect()


def test_a_table_and_its_statements_go_together():
    tables = {"t": table()}
    compute(PLAN, tables, salt=fresh_salt())
    connection, kept = weakref.ref(tables["t"]._backend), weakref.ref(tables["t"])
    tables.clear()
    gc.collect()
    assert kept() is None
    assert connection() is None


def test_a_question_of_persons_is_compiled_once(monkeypatch):
    plan = Group(source=Source(table="t"), measures=(CountPersons(),))
    tables = {"t": table()}
    compute(plan, tables, salt=fresh_salt())
    monkeypatch.setattr(contributions, "rows_of", lambda *_: pytest.fail("compiled again"))
    assert values(plan, tables, fresh_salt()) == [[7]]
