"""Requests over many groups, and their answers from made-up exact integers."""

from __future__ import annotations

import numpy as np

from discreet.curator.request.request import Draw
from discreet.data import Bounds, Keys, Limits
from discreet.queries import Offer, TableRequest, build_request
from queries.clinic import visits

OFFERS = {
    "pure": Offer(epsilon=0.8),
    "approximate": Offer(epsilon=0.8, delta=1e-3),
    "zCDP": Offer(rho=0.02),
}
LIMITS = {"rows": Limits(rows=2), "groups": Limits(groups=40, rows_per_group=1)}


def request_for(aggregates, offer, *, cells, bounds=None, limits=LIMITS["rows"], confidence=0.95, split=None):
    """A request for some aggregates of `cost`, for groups numbered by `ward`."""
    columns = {"ward": Keys(range(cells)), "cost": bounds or Bounds(0, 50, step=0.5)}
    tables = {"visits": visits([], limits=limits, columns=columns)}
    query = TableRequest(table="visits").group_by("ward").agg(**aggregates)
    return build_request(query, tables, offer, confidence=confidence, split=split)


def exact(request, values, count):
    """The exact integers of each measure, if every group has `count` values that add up to `values`."""
    found = []
    for measure in request.plan.measures:
        if hasattr(measure, "center"):
            found.append(round((values - count * measure.center) / measure.bounds.step))
        else:
            found.append(count)
    return found


def drawn(request, integers):
    """Release made-up integers, by the noise that ships, and return the columns of the answer."""
    draws = {}
    for part, integer in zip(request.parts, integers, strict=True):
        steps = part.mechanism.release(np.full(request.plan.cells, integer, np.int64))
        draws[part.measure] = Draw(part=part, steps=steps)
    return finished(request, draws)


def finished(request, draws):
    """The columns of an answer, by name."""
    return {
        output.name: output.finish([draws[measure] for measure in output.measures], request.confidence)
        for output in request.outputs
    }
