"""What is bought, applied to a question and said in words."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas
import pytest

from discreet.curator import Budget
from discreet.data import AUTO, Bounds, Limits, Source, Table, Type
from discreet.data.language.relations import leftmost
from discreet.front import Curator
from discreet.privacy.offer import Offer
from discreet.queries.fitting.buying import Wanted, purchase

VISITS = Source(table="visits")


@pytest.fixture
def clinic(tmp_path):
    rows = pandas.DataFrame({"who": np.repeat(np.arange(2000), 3), "cost": np.tile([10.0, 40.0, 70.0], 2000)})
    table = Table(rows, person="who", limits=Limits(rows=AUTO, at_most=100))
    curator = Curator({"visits": table}, budget=Budget(epsilon=100), ledger=tmp_path / "ledger")
    yield curator
    curator.close()


def test_a_limit_and_bounds_are_applied_to_the_first_table(clinic):
    wanted = Wanted(most=100, columns=("cost",))
    limit, bounds = purchase(VISITS, clinic.tables, wanted, Offer(epsilon=8), Fraction(1, 4)).fits
    assert (limit.most, limit.spare, bounds.column, bounds.kind) == (100, 1 / 6, "cost", Type.FLOAT)
    assert "from 1 to 100" in limit.announced
    assert "'cost'" in bounds.announced
    relation = VISITS
    for fit, words in ((limit, "at most "), (bounds, "'cost' from 0 to 100")):
        release = clinic.answer(fit.request)
        relation = fit.applied(relation, release)
        assert fit.found(release).startswith(words)
    assert leftmost(relation).limits in {Limits(rows=4), Limits(rows=8)}  # by its noise
    assert leftmost(relation).bounds == (("cost", Bounds(0, 100, step=Fraction(1, 100))),)
