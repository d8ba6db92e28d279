"""SmallDB: its law, its guarantee on all small tables, its bound."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, log, sqrt

import mpmath
import numpy as np
import pytest

from discreet.audit import check_mechanism, output_law
from discreet.errors import ParameterError
from discreet.mechanisms import Exponential
from discreet.noise import is_private, replay
from discreet.privacy.events import ExponentialChoice
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import REPLACE_PERSON
from discreet.workloads.data_release.small_database import SmallDatabase
from workloads.data_release.person_oracle import neighboring_tables

QUERIES = [[1, 1, 0], [0, 1, 1], [1, 0, 0]]


def textbook_law(queries, table, records, total, rate):
    """P(y) proportional to exp(-rate max over q of abs(m q(x) - N q(y))), over all y of m records."""
    queries = np.array(queries)
    weights = {}
    for counts in product(range(records + 1), repeat=queries.shape[1]):
        if sum(counts) == records:
            error = np.abs(records * (queries @ table) - total * (queries @ np.array(counts))).max()
            weights[counts] = mpmath.exp(-mpmath.mpf(rate.numerator) / rate.denominator * int(error))
    whole = mpmath.fsum(weights.values())
    return {counts: weight / whole for counts, weight in weights.items()}


class Records:
    """The mechanism, as one that releases the chosen records alone."""

    def __init__(self, mechanism):
        self.mechanism = mechanism

    def release(self, table):
        return self.mechanism.release(table).records


def test_three_faces():
    mechanism = SmallDatabase(queries=QUERIES, epsilon=0.5, records=4, total=10)
    assert mechanism.event == ExponentialChoice(epsilon=Fraction(1, 2))
    assert mechanism.guarantee == PureDP(epsilon=Fraction(1, 2))
    assert mechanism.candidates == comb(6, 4) == len(mechanism.databases())
    assert (mechanism.databases().sum(axis=1) == 4).all()
    assert len({tuple(row) for row in mechanism.databases().tolist()}) == mechanism.candidates
    made = mechanism.release([3, 4, 3])
    assert made.records.sum() == 4
    assert made.cells == pytest.approx(made.records * 2.5)
    assert made.answers == pytest.approx(np.array(QUERIES) @ made.cells)
    assert made.max_error == mechanism.error_bound(0.95)


@pytest.mark.parametrize(("rows", "groups", "change"), [(1, None, 1), (2, None, 2), (2, 2, 4)])
def test_small_databases_are_chosen_by_the_textbooks_law(rows, groups, change):
    """The implemented law, along every random path of a release, is the exponential mechanism's."""
    mechanism = SmallDatabase(
        queries=QUERIES, epsilon=Fraction(3, 2), records=2, total=5, rows=rows, groups=groups
    )
    table = np.array([2, 0, 4])
    rate = Fraction(3, 2) / (2 * 2 * change)
    implemented = output_law(Records(mechanism).release, table)
    claimed = textbook_law(QUERIES, table, 2, 5, rate)
    assert float(implemented.unresolved) < 1e-12
    masses = {key[3]: float(mass) for key, mass in implemented.masses.items()}
    assert masses == pytest.approx({counts: float(p) for counts, p in claimed.items()}, rel=1e-9)


def largest_loss(mechanism, rows, groups):
    """Over all pairs of small tables and all outputs; laws by the textbook at the mechanism's own rate."""
    known = {}

    def law(table):
        key = tuple(table.tolist())
        if key not in known:
            known[key] = textbook_law(
                mechanism.queries, table, mechanism.records, mechanism.total, mechanism.choice.rate
            )
        return known[key]

    return max(
        abs(mpmath.log(law(table)[counts] / law(other)[counts]))
        for table, other in neighboring_tables(3, 2, rows, groups)
        for counts in law(table)
    )


@pytest.mark.parametrize(("rows", "groups"), [(1, None), (2, None), (1, 2), (2, 2)])
def test_pure_epsilon_holds_on_all_small_tables(rows, groups):
    mechanism = SmallDatabase(
        queries=QUERIES, epsilon=Fraction(3, 4), records=3, total=4, rows=rows, groups=groups
    )
    assert largest_loss(mechanism, rows, groups) <= 0.75 * (1 + 1e-12)


@pytest.mark.parametrize(("rows", "groups"), [(1, None), (2, None), (1, 2), (2, 2)])
def test_pure_epsilon_is_nearly_attained(rows, groups):
    """One query, a total far from the table: what was chosen gains as all others lose."""
    mechanism = SmallDatabase(queries=[[1, 1, 0]], epsilon=2, records=3, total=200, rows=rows, groups=groups)
    assert 1.9 < largest_loss(mechanism, rows, groups) <= 2 * (1 + 1e-12)


def test_a_person_with_more_rows_than_declared_breaks_the_guarantee():
    """The check above can tell: two rows, charged as one."""
    mechanism = SmallDatabase(queries=[[1, 1, 0]], epsilon=2, records=3, total=200)
    assert largest_loss(mechanism, 2, None) > 3.8


def test_the_error_bound_holds_for_every_table_of_the_total():
    """By the exact law: the largest error exceeds the bound with probability at most 1 - confidence."""
    queries, total = np.array(QUERIES), 6
    for records in (1, 2, 4):
        mechanism = SmallDatabase(queries=queries, epsilon=2, records=records, total=total)
        sampling = total * sqrt(log(2 * 3) / (2 * records))
        for table in product(range(total + 1), repeat=3):
            if sum(table) != total:
                continue
            truth = queries @ np.array(table)
            errors = {
                tuple(y): float(np.abs(truth - total / records * (queries @ y)).max())
                for y in mechanism.databases()
            }
            assert min(errors.values()) <= sampling + 1e-9
            law = textbook_law(queries, np.array(table), records, total, mechanism.choice.rate)
            for confidence in (Fraction(1, 2), Fraction(19, 20)):
                bound = mechanism.error_bound(confidence)
                failing = sum(p for counts, p in law.items() if errors[counts] > bound)
                assert failing <= 1 - float(confidence) + 1e-12


def test_the_error_bound_is_sampling_and_the_choice():
    mechanism = SmallDatabase(queries=QUERIES, epsilon=2, records=4, total=100)
    choice = Exponential(sensitivity=4, epsilon=2)
    expected = 100 * sqrt(log(6) / 8) + choice.error.quantile(0.9, candidates=15) / 4
    assert mechanism.error_bound(0.9) == pytest.approx(expected)


def test_the_textbooks_number_of_records():
    """m = log|Q| / alpha^2; the error that sampling leaves is then at most alpha."""
    assert SmallDatabase.records_for(100, 0.25) == 74
    assert SmallDatabase.records_for(1, 0.5) == 2
    for queries, alpha in ((2, 0.5), (8, 0.2), (1000, 0.1)):
        records = SmallDatabase.records_for(queries, alpha)
        assert sqrt(log(2 * queries) / (2 * records)) <= alpha


def test_a_clear_table_is_chosen():
    mechanism = SmallDatabase(queries=np.eye(3, dtype=int), epsilon=50, records=5, total=1000)
    assert mechanism.release([200, 0, 800]).records.tolist() == [1, 0, 4]


@pytest.mark.parametrize("cells", [1, 2])
def test_tiny_domains(cells):
    mechanism = SmallDatabase(queries=np.ones((1, cells), int), epsilon=1, records=3, total=7)
    assert mechanism.release([4] * cells).answers.tolist() == [7.0]


def test_replacement_charges_both_moves():
    mechanism = SmallDatabase(queries=[[1, -1, 0]], epsilon=1, records=2, total=5, neighbors=REPLACE_PERSON)
    assert mechanism.choice.sensitivity == 4
    assert mechanism.guarantee.neighbors == REPLACE_PERSON


def test_replayed_choices_are_marked():
    mechanism = SmallDatabase(queries=QUERIES, epsilon=1, records=2, total=5)
    assert is_private(mechanism.release([1, 2, 2]).cells)
    with replay(1):
        made = mechanism.release([1, 2, 2])
    assert not is_private(made.cells)
    assert not is_private(made.records)
    assert not is_private(made.answers)


@pytest.mark.slow
@pytest.mark.statistical
def test_it_passes_the_battery():
    mechanism = SmallDatabase(queries=QUERIES, epsilon=1, records=2, total=3)
    report = check_mechanism(
        Records(mechanism), mechanism.guarantee, mechanism.neighboring_inputs(), draws=20_000
    )
    assert report.passed
    charged_as_half = PureDP(epsilon=Fraction(1, 4))
    assert not check_mechanism(
        Records(mechanism), charged_as_half, mechanism.neighboring_inputs(), draws=20_000
    ).passed


def test_too_many_databases_are_refused_with_their_number_and_a_smaller_one():
    with pytest.raises(ParameterError, match=r"makes 42634215112710 databases over 100 cells") as refused:
        SmallDatabase(queries=np.eye(100, dtype=int), epsilon=1, records=10, total=5)
    assert "at most 3 records, or MultiplicativeWeights" in refused.value.allowed


@pytest.mark.parametrize(
    "changed",
    [
        {"records": 0},
        {"total": 0},
        {"total": 1 << 62},
        {"epsilon": 0},
        {"confidence": 1},
        {"confidence": 0},
        {"rows": 0},
        {"groups": 0},
        {"queries": np.zeros((0, 3), int)},
    ],
)
def test_bad_parameters_are_refused(changed):
    with pytest.raises(ParameterError):
        SmallDatabase(**{"queries": QUERIES, "epsilon": 1, "records": 2, "total": 5, **changed})


def test_a_number_of_databases_that_is_too_long_to_print_is_refused_in_words():
    with pytest.raises(ParameterError, match=r"about 2\^\d+ databases"):
        SmallDatabase(queries=np.ones((1, 20000), int), epsilon=1, records=4096, total=10)
