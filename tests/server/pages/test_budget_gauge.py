"""Gauges: what was spent of a cap."""

from __future__ import annotations

from discreet.server.pages.budget_gauge import gauge_of, gauges_of_analysts

CAPS = {"epsilon": "3", "delta": "0", "rho": None, "renews": None, "per_analyst": None}
OWN = {"name": "ana", "epsilon": 0.5, "delta": 0.0}


def test_the_gauge_of_all():
    found = gauge_of({"caps": CAPS, "epsilon": 1.5, "rho": 0.1})
    assert (found.unit, found.spent, found.cap, found.percent) == ("epsilon", 1.5, 3.0, 50.0)
    found = gauge_of({"caps": {**CAPS, "epsilon": None, "rho": "1/2"}, "epsilon": None, "rho": 0.1})
    assert (found.unit, found.percent) == ("rho", 20.0)


def test_what_is_not_known_counts_as_full():
    assert gauge_of({"caps": CAPS, "epsilon": None, "rho": 0.1}).percent == 100.0
    assert gauge_of({"caps": CAPS, "epsilon": 9.0, "rho": 0.1}).percent == 100.0


def test_analysts_by_their_own_caps():
    share = {**CAPS, "epsilon": "1"}
    (found,) = gauges_of_analysts({"caps": {**CAPS, "per_analyst": share}, "own": OWN})
    assert (found.name, found.percent) == ("ana", 50.0)
    both = gauges_of_analysts({"caps": CAPS, "own": OWN, "analysts": [OWN, {**OWN, "name": "ben"}]})
    assert [one.name for one in both] == ["ana", "ben"]
    (found,) = gauges_of_analysts({"caps": {**CAPS, "epsilon": None, "rho": "1"}, "own": OWN})
    assert found.cap is None
