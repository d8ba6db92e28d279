"""Bounds that fit: most values within, zeros at zero, noise that the limits of the table do not enlarge."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas
import pytest

from discreet.data import EACH_ROW, Bounds, Limits, Source, Table, Type, compute, fresh_salt
from discreet.errors import ParameterError
from discreet.privacy.offer import Offer
from discreet.queries.fitting.size_counts import SizeCounts
from discreet.queries.fitting.value_bounds import VALUE_EDGES, bounds_in_words, fitting_bounds, values_query
from discreet.queries.noise.build_request import build_request

VISITS = Source(table="visits")


def visits(values, each=1, limits=None):
    persons = np.arange(len(values)) // each
    frame = pandas.DataFrame({"who": persons, "x": values})
    return {"visits": Table(frame, person="who", limits=limits or Limits(rows=1))}


def counted(values, epsilon=50, **options):
    tables = visits(values, **options)
    request = build_request(values_query(VISITS, tables, "x"), tables, Offer(epsilon=epsilon))
    exact = compute(request.plan, tables, salt=fresh_salt()).values[0][: len(VALUE_EDGES) + 1]
    return SizeCounts(edges=VALUE_EDGES, counts=exact, part=request.parts[0])


@pytest.mark.parametrize(
    ("values", "lower", "upper"),
    [
        (np.linspace(1, 90, 5000), 0, 100),
        (np.linspace(0, 1, 5000), 0, 1),
        (np.zeros(5000), -0.001, 0.001),
        (np.repeat([0.0, 7.0], 2500), 0, 10),
        (np.repeat([-7.0, 0.0], 2500), -10, 0),
        (np.linspace(-40, -3, 5000), -50, 0),
        (np.linspace(60, 90, 5000), 50, 100),
        (np.linspace(-3, 150, 5000), -5, 200),
        (np.append(np.linspace(0, 90, 9990), np.full(10, 1e300)), 0, 100),
    ],
)
def test_bounds_are_round_numbers_around_most_values(values, lower, upper):
    found = fitting_bounds(counted(values), Type.FLOAT)
    assert (float(found.lower), float(found.upper)) == (lower, upper)
    inside = np.mean((values >= float(found.lower)) & (values <= float(found.upper)))
    assert inside >= 0.985


def test_whole_numbers_have_steps_of_one_and_zeros_no_negative_bound():
    values = np.repeat([0, 1, 2, 3], 1000)
    assert fitting_bounds(counted(values), Type.INTEGER) == Bounds(0, 5, step=1)
    assert fitting_bounds(counted(np.zeros(1000, int)), Type.INTEGER) == Bounds(-1, 1, step=1)


@pytest.mark.parametrize("limits", [Limits(rows=4), Limits(rows=10**6), Limits(groups=5, rows_per_group=100)])
def test_every_person_counts_once_whatever_the_limits_are(limits):
    tables = visits(np.arange(4000.0), each=4, limits=limits)
    request = build_request(values_query(VISITS, tables, "x"), tables, Offer(epsilon=1))
    assert request.parts[0].statistic.sensitivity.l1 == 1
    assert compute(request.plan, tables, salt=fresh_salt()).values[0].sum() == 1000
    persons = np.append(np.arange(4000) // 4, np.full(50_000, -1))
    crowd = Table(pandas.DataFrame({"who": persons, "x": 7.0}), person="who", limits=limits)
    assert compute(request.plan, {"visits": crowd}, salt=fresh_salt()).values[0].sum() == 1001


def test_rows_without_a_person_column_count_as_they_are():
    tables = {"visits": Table(pandas.DataFrame({"x": np.arange(100.0)}), person=EACH_ROW)}
    request = build_request(values_query(VISITS, tables, "x"), tables, Offer(epsilon=1))
    assert compute(request.plan, tables, salt=fresh_salt()).values[0].sum() == 100


def test_noise_alone_is_refused():
    with pytest.raises(ParameterError, match="may be noise"):
        fitting_bounds(counted([1.0], epsilon=1), Type.FLOAT)


def test_noise_seldom_widens_bounds_and_what_is_said_of_them_holds():
    """Log-normal values of 3,000 persons at epsilon 1/2, 400 times with fresh noise."""
    random = np.random.default_rng(5)
    values = random.lognormal(4, 1, 3000)
    exact = counted(values, epsilon=Fraction(1, 2))
    wide = said = 0
    for _ in range(400):
        noise = np.rint(random.laplace(0, 2, len(exact.counts))).astype(int)
        seen = SizeCounts(edges=exact.edges, counts=exact.counts + noise, part=exact.part)
        found = fitting_bounds(seen, Type.FLOAT)
        cut = np.mean((values < float(found.lower)) | (values > float(found.upper)))
        assert cut < 0.08
        wide += not (found.lower == 0 and found.upper <= 2000)
        words = bounds_in_words(seen, "x", found, Fraction(95, 100))
        said += cut <= float(words.split("at most ")[1].split("%")[0]) / 100
    assert wide <= 12
    assert said >= 380


def test_what_is_said_of_bounds():
    words = bounds_in_words(counted(np.linspace(1, 90, 5000)), "x", Bounds(0, 50, step=1), Fraction(95, 100))
    assert words.startswith("'x' from 0 to 50 in steps of 1, bounds that were bought: about 44.9% of values")
