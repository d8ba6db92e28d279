"""Undeclared keys: exactly how likely it is that any key of one person alone is shown.

The law of each mechanism is summed over its noise, with no help from the mechanism.
"""

# ruff: noqa: E501

from __future__ import annotations

from fractions import Fraction

import ibis
import mpmath
import numpy as np
import pytest

from discreet.data import Keys, Limits, Table, Type, count
from discreet.data.key_counts import compute_key_counts
from discreet.data.language.plan import KeyPlan
from discreet.data.language.relations import Source
from discreet.data.salt import Salt
from discreet.mechanisms.keys.gaussian_threshold import GaussianThreshold
from discreet.mechanisms.keys.key_selection import KeySelection
from discreet.mechanisms.keys.laplace_threshold import LaplaceThreshold
from discreet.mechanisms.keys.truncated_geometric import TruncatedGeometric
from discreet.privacy.offer import Offer
from discreet.queries.noise.unknown_keys import selection_for
from discreet.queries.question.dataframe import TableRequest
from mechanisms.key_selection_oracle import (
    gaussian_chance,
    geometric_chance,
    laplace_chance,
    real,
    rounded_chance,
)
from queries.worlds import created

OFFERS = [(1, "1e-6"), ("1/4", "1e-9"), (8, "1e-3"), (30, "1e-30")]
LIMITS = [Limits(rows=1), Limits(groups=2, rows_per_group=5), Limits(rows=20)]


def table(limits: Limits) -> Table:
    """One person with many keys, in text and in integers."""
    connection = ibis.duckdb.connect()
    connection.raw_sql(
        "CREATE TABLE v AS SELECT 1 AS patient, 'k' || i AS note, i AS code FROM range(300) t(i)"
    )
    return Table(created(connection, "v"), person="patient", limits=limits)


def chance_of_one(mechanism: KeySelection) -> mpmath.mpf:
    """The exact probability that a key of one person is shown."""
    if isinstance(mechanism, TruncatedGeometric):
        table = mechanism._table  # what coins are tossed with
        drawn = Fraction(int(table.numerators[0]), 1 << table.bits)
        loss, delta = mechanism.offer.loss_of_a_key, mechanism.offer.delta / mechanism.offer.keys
        assert real(drawn) <= geometric_chance(loss, delta, 1)[1]
        return real(drawn)
    if isinstance(mechanism, LaplaceThreshold):
        return laplace_chance(mechanism.scale, mechanism.threshold)(1)
    assert isinstance(mechanism, GaussianThreshold)
    chance_of = gaussian_chance if mechanism.keys == 1 else rounded_chance  # of epsilon and delta
    return chance_of(mechanism.variance, mechanism.threshold)(1)


@pytest.mark.parametrize("limits", LIMITS, ids=repr)
@pytest.mark.parametrize(("epsilon", "delta"), OFFERS)
@pytest.mark.parametrize("names", [("note",), ("note", "code")])
def test_any_key_of_one_person_alone_is_shown_with_probability_delta_at_most(limits, epsilon, delta, names):
    tables = {"v": table(limits)}
    query = TableRequest(table="v").group_by(*names).agg(n=count())
    selection = selection_for(query, tables, Offer(epsilon=epsilon, delta=delta))
    assert len(selection.requests) == len(names)
    total = mpmath.mpf(0)
    for name, request in selection.requests:
        counts = compute_key_counts(request.plan, tables, salt=Salt(value=name)).counts
        assert set(counts.tolist()) == {1}
        mechanism = request.mechanism
        assert len(counts) <= mechanism.keys
        shown = chance_of_one(mechanism)
        assert mpmath.mpf(mechanism.shown(1)) <= shown * (1 + mpmath.mpf(10) ** -12)
        total += len(counts) * shown  # no less than the probability of any
    assert total <= real(Fraction(delta)) / 2 * (
        1 + mpmath.mpf(10) ** -50
    )  # the other half is for the values
    assert selection.rest.delta + sum(
        request.mechanism.offer.delta for _, request in selection.requests
    ) <= Fraction(delta)


def test_keys_that_no_request_could_name_are_left_out():
    """Text with a NUL, days without end and integers of more than 63 bits would fail long after the charge."""
    connection = ibis.duckdb.connect()
    connection.raw_sql(
        "CREATE TABLE v AS SELECT i AS patient, CASE WHEN i % 2 = 0 THEN 'a' || chr(0) ELSE 'b' END AS note, "
        "CASE i % 3 WHEN 0 THEN DATE 'infinity' WHEN 1 THEN DATE '20000-01-01' ELSE DATE '2026-01-31' END AS day, "
        "CASE WHEN i % 2 = 0 THEN 18446744073709551615::UBIGINT ELSE 7 END AS code FROM range(12) t(i)"
    )
    declared = {"code": Type.INTEGER}  # undeclared, an unsigned column is not a column of integers
    tables = {"v": Table(created(connection, "v"), person="patient", limits=Limits(rows=1), columns=declared)}
    for column, many in (("note", 1), ("day", 1), ("code", 1)):
        plan = KeyPlan(source=Source(table="v"), column=column, keys=1)
        counts = compute_key_counts(plan, tables, salt=Salt(value="salt"))
        chosen = counts.chosen(np.ones(len(counts.counts), np.bool_))
        assert len(Keys(chosen)) == many
