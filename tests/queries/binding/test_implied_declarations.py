"""What needs no declaration: sums of truth values, and groups by what is counted of each person."""

from __future__ import annotations

import duckdb
import pyarrow
import pytest

import discreet as dp
from discreet.data.facts.conditions.group_keys import LARGEST_USUAL

ROWS = pyarrow.table(
    {
        "who": [1, 1, 1, 2, 3, 3, 4, 4, 4, 4, 5],
        "ward": ["A", "B", "A", "A", "B", "B", "A", "A", "B", "B", "A"],
        "urgent": [True, False, None, True, True, None, False, False, True, True, None],
        "nights": [1, 2, 0, 3, 1, 0, 2, 2, 1, 1, 3],
    }
)
OF_EACH = "(SELECT who, COUNT(*) AS k, SUM(nights) AS s FROM visits GROUP BY who) AS t"


def curator(place, rows: int = 4) -> dp.Curator:
    table = dp.Table(
        ROWS,
        person="who",
        limits=dp.Limits(rows=rows),
        columns={"ward": dp.Keys(["A", "B"]), "nights": dp.Bounds(0, 3)},
    )
    return dp.Curator({"visits": table}, budget=dp.Budget(epsilon=10**9), ledger=place / "l.ledger")


def exact(text: str) -> list[tuple[object, ...]]:
    connection = duckdb.connect()
    connection.register("visits", ROWS)
    return connection.sql(text).fetchall()


@pytest.mark.parametrize("rows", ["visits", "(SELECT * FROM visits WHERE nights > 0) AS t"])
def test_truth_values_are_summed_as_1_and_0(tmp_path, rows):
    text = f"SELECT ward, SUM(urgent) AS s, AVG(urgent) AS m, COUNT(urgent) AS n FROM {rows} GROUP BY ward"  # noqa: S608
    found = curator(tmp_path).ask(text, epsilon=10**4).to_pandas()
    numbers = text.replace("(urgent)", "(urgent::INTEGER)")
    for ward, total, mean, count in exact(numbers):
        (row,) = found[found["ward"] == ward].to_dict("records")
        assert (row["s"], row["n"]) == (total, count)
        assert row["m"] == pytest.approx(mean, abs=1e-6)


def test_truth_values_of_each_person_are_summed(tmp_path):
    text = "SELECT SUM(u) AS s FROM (SELECT who, SUM(urgent) AS u FROM visits GROUP BY who) AS t"
    ((total,),) = exact(text.replace("SUM(urgent)", "SUM(urgent::INTEGER)"))
    assert curator(tmp_path).ask(text, epsilon=10**4).value == total


@pytest.mark.parametrize("key", ["k", "s", "k + 1", "2 * k - s"])
def test_what_is_counted_of_each_person_has_the_keys_of_the_limits(tmp_path, key):
    text = f"SELECT {key} AS g, COUNT(*) AS n FROM {OF_EACH} GROUP BY g"  # noqa: S608
    found = curator(tmp_path).ask(text, epsilon=10**4)
    counts = dict(zip(found["g"], found["n"], strict=True))
    assert {group: many for group, many in counts.items() if many} == dict(exact(text))


def test_persons_beyond_the_limits_are_in_no_group_and_the_answer_says_so(tmp_path):
    text = f"SELECT k, COUNT(*) AS n FROM {OF_EACH} GROUP BY k"  # noqa: S608
    found = curator(tmp_path, rows=2).ask(text, epsilon=10**4)
    known = dict(exact(text))
    assert dict(zip(found["k"], found["n"], strict=True)) == {k: known.get(k, 0) for k in (0, 1, 2)}
    assert "rows whose k is missing or not among its keys are in no group" in str(found)


def test_conditions_list_keys_beyond_the_limits_and_narrow_those_within(tmp_path):
    asked = curator(tmp_path, rows=3)
    for where, keys in (("k BETWEEN 2 AND 7", [*range(2, 8)]), ("k >= 2", [2, 3])):
        text = f"SELECT k, COUNT(*) AS n FROM {OF_EACH} WHERE {where} GROUP BY k"  # noqa: S608
        found = asked.ask(text, epsilon=10**4)
        assert found["k"].tolist() == keys
        assert all(
            known in dict(exact(text)).items()
            for known in zip(found["k"], found["n"], strict=True)
            if known[1]
        )


def test_counts_of_very_many_rows_are_refused_with_a_mend(tmp_path):
    asked = curator(tmp_path, rows=LARGEST_USUAL + 1)
    text = f"SELECT k, COUNT(*) AS n FROM {OF_EACH} GROUP BY k"  # noqa: S608
    with pytest.raises(dp.errors.UndeclaredColumn, match=r"bound it, as in LEAST\(k, 20\)"):
        asked.preview(text, epsilon=1)
    bounded = text.replace("COUNT(*) AS k", "LEAST(COUNT(*), 20) AS k")
    found = asked.ask(bounded, epsilon=10**4)
    assert {k: n for k, n in zip(found["k"], found["n"], strict=True) if n} == dict(exact(bounded))
