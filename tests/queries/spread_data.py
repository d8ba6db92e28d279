"""Values in groups, their exact moments and histograms, and answers drawn from them many times."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from scipy import stats

from discreet.curator.release.release import finish, pack, unpack
from discreet.curator.request.request import Draw
from discreet.data import Bounds, CountNonNull, CountRows, Histogram, Keys, Moment, Sum
from discreet.queries import TableRequest, build_request
from queries.clinic import visits
from significance import FALSE_ALARM

X, Y = Bounds(-20, 80), Bounds(0, 12, step=0.5)


def request_for(aggregates, offer, *, cells, limits, confidence=0.95, columns=None):
    """A request for some aggregates of `age`, `balance` and `city`, for groups numbered by `ward`."""
    declared = {"ward": Keys(range(cells)), "age": X, "cost": Y, "city": Keys(list("abcde"))} | (
        columns or {}
    )
    tables = {"visits": visits([], limits=limits, columns=declared)}
    query = TableRequest(table="visits").group_by("ward").agg(**aggregates)
    return build_request(query, tables, offer, confidence=confidence)


def steps_of(values, bounds, center=0):
    """Grid indices less the center; None if a value is absent."""
    middle = round(center / bounds.step)
    index = {None: None} | {
        value: min(max(math.floor(value / bounds.step + 0.5), bounds.lower_steps), bounds.upper_steps)
        - middle
        for value in set(values) - {None}
    }
    return [index[value] for value in values]


def exact_of(measure, data):
    """The integers of a measure in one group, from lists of values by column."""
    rows = len(next(iter(data.values())))
    if isinstance(measure, CountRows):
        return [rows]
    if isinstance(measure, CountNonNull):
        return [sum(value is not None for value in data[measure.column])]
    if isinstance(measure, Sum):
        found = steps_of(data[measure.column], measure.bounds, measure.center)
        return [sum(value for value in found if value is not None)]
    if isinstance(measure, Moment):
        lists = [steps_of(data[f.column], f.bounds, f.center) for f in measure.factors]
        total = 0
        for row, times in Counter(zip(*lists, strict=True)).items():
            if None not in row:
                powers = [value**f.power for value, f in zip(row, measure.factors, strict=True)]
                total += times * (math.prod(powers) - measure.shift)
        return [total]
    assert isinstance(measure, Histogram)
    if isinstance(measure.values, Keys):
        return [sum(value == key for value in data[measure.column]) for key in measure.values.values]
    found = steps_of(data[measure.column], measure.values)
    return [found.count(k) for k in range(measure.values.lower_steps, measure.values.upper_steps + 1)]


def answers(request, groups):
    """Columns by name, for groups of data, by the noise that ships, through the form that is stored."""
    kinds = list({id(data): data for data in groups}.values())
    draws = []
    for part in request.parts:
        found = {id(data): exact_of(part.measure, data) for data in kinds}
        integers = np.array([found[id(data)] for data in groups], np.int64).reshape(-1)
        draws.append(Draw(part=part, steps=np.asarray(part.mechanism.release(integers))))
    release = finish(request, unpack(request, pack(draws)), {"private": True})
    return {column.name: column for column in release.outputs}


def noiseless(request, data):
    """The answer if no noise were drawn."""
    draws = {
        part.measure: Draw(part=part, steps=np.array(exact_of(part.measure, data), np.int64))
        for part in request.parts
    }
    return {
        output.name: output.finish([draws[measure] for measure in output.measures], request.confidence)
        for output in request.outputs
    }


def allowed_misses(draws, failure):
    """The most misses that an interval of this failure probability has, except for a false alarm."""
    return int(stats.binom.isf(FALSE_ALARM, draws, failure))
