"""Previews of means by counts that were released before: which counts, and at no cost."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest

from discreet.curator import Budget
from discreet.curator.door import Door
from discreet.data import Bounds, Keys, Limits, Table
from discreet.front import Curator
from discreet.queries.asking.released_counts import released_counts

SIZES = {"a": 3000, "b": 400, "c": 60}
ROWS = pyarrow.table(
    {
        "who": np.arange(sum(SIZES.values())),
        "city": np.repeat(list(SIZES), list(SIZES.values())),
        "age": np.arange(sum(SIZES.values())) % 90,
        "cost": pyarrow.array([None if k % 2 else k % 50 for k in range(sum(SIZES.values()))]),
    }
)
COUNT = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
MEAN = "SELECT city, AVG(age) AS m FROM visits GROUP BY city"


@pytest.fixture
def curator(tmp_path):
    columns = {"city": Keys(list(SIZES)), "age": Bounds(0, 100), "cost": Bounds(0, 50)}
    table = Table(ROWS, person="who", limits=Limits(rows=1), columns=columns)
    budget = Budget(epsilon=1000, delta=0.1)
    return Curator({"visits": table}, budget=budget, ledger=tmp_path / "ledger")


@pytest.mark.parametrize(
    "offer", [{"epsilon": 2}, {"epsilon": 2, "delta": 1e-6}, {"rho": 1}], ids=["pure", "approximate", "zCDP"]
)
def test_a_released_count_is_what_a_mean_is_previewed_by(curator, offer):
    before = curator.preview(MEAN, epsilon=1)
    assert before["m"].assumes.startswith("1000 values in every group, their mean")
    released = curator.ask(COUNT, **offer)
    spent = curator.account().largest_epsilon("")
    after = curator.preview(MEAN, epsilon=1)
    counts = sorted(int(one) for one in released["n"])
    assert after["m"].assumes.startswith(
        f"{counts[1]} values in the median group, as an earlier answer counted"
    )
    assert f"in the smallest group, of {counts[0]:,}" in after["m"].assumes
    same = curator.preview(MEAN, epsilon=1, rows=counts[1])
    assert after["m"].margin == same["m"].margin
    assert curator.account().largest_epsilon("") == spent
    assert len([entry for entry in curator.ledger.entries() if entry.kind == "charge"]) == 1
    # The margin is what the interval of that group turns out to be, up to noise of the count.
    (answer,) = curator.ask(MEAN, epsilon=1).outputs
    assert float(answer.upper[1] - answer.lower[1]) / 2 <= after["m"].margin * 1.2


def test_a_stated_number_of_rows_is_taken_instead(curator):
    curator.ask(COUNT, epsilon=2)
    assert curator.preview(MEAN, epsilon=1, rows=50)["m"].assumes.startswith(
        "50 values in every group, their"
    )


def test_only_counts_of_the_same_rows_and_groups_are_taken(curator):
    curator.ask("SELECT city, COUNT(*) AS n FROM visits WHERE age > 10 GROUP BY city", epsilon=2)
    curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=2)
    assert curator.preview(MEAN, epsilon=1)["m"].assumes.startswith("1000 ")
    above = "SELECT city, AVG(age) AS m FROM visits WHERE age > {} GROUP BY city"
    assert not curator.preview(above.format(10), epsilon=1)["m"].assumes.startswith("1000 ")
    assert curator.preview(above.format(11), epsilon=1)["m"].assumes.startswith("1000 ")
    alone = curator.preview("SELECT AVG(age) AS m FROM visits", epsilon=1)["m"].assumes
    assert "values in every group, as an earlier answer counted" in alone
    assert "smallest" not in alone


def test_values_are_counted_rather_than_rows(curator):
    """Half of the costs are missing: a count of them is better than one of rows, which serves without it."""
    mean = "SELECT city, AVG(cost) AS m FROM visits GROUP BY city"
    curator.ask(COUNT, epsilon=5)
    rows = released_counts(curator.request(mean, epsilon=1), curator, "")
    curator.ask("SELECT city, COUNT(cost) AS n FROM visits GROUP BY city", epsilon=5)
    values = released_counts(curator.request(mean, epsilon=1), curator, "")
    assert rows[0] == pytest.approx(3000, abs=30)
    assert values[0] == pytest.approx(1500, abs=30)


def test_an_answer_of_the_same_question_serves(curator):
    curator.ask(MEAN, epsilon=2)
    again = curator.preview(MEAN, epsilon=2)
    assert again.answered
    assert "as an earlier answer counted" in again["m"].assumes


def test_counts_of_another_analyst_are_not_taken(curator):
    curator.ask(COUNT, epsilon=2, analyst="one")
    assert "counted" in curator.preview(MEAN, epsilon=1, analyst="one")["m"].assumes
    assert "counted" not in curator.preview(MEAN, epsilon=1, analyst="two")["m"].assumes


def test_no_data_are_read_and_nothing_is_charged(curator, monkeypatch):
    curator.ask(COUNT, epsilon=2)

    def refused(*_):
        raise AssertionError("a preview reads no data")

    monkeypatch.setattr("discreet.curator.door.compute", refused)
    monkeypatch.setattr(Door, "_find_or_charge", refused)
    assert "counted" in curator.preview(MEAN, epsilon=1)["m"].assumes


def test_a_charge_without_an_answer_gives_nothing(curator, monkeypatch):
    """The engine failed after the charge: there is no count, and a preview does not compute one."""

    def failed(*_, **__):
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr("discreet.curator.door.compute", failed)
        with pytest.raises(Exception, match="engine"):
            curator.ask(COUNT, epsilon=2)
    assert curator.preview(MEAN, epsilon=1)["m"].assumes.startswith("1000 ")


def test_counts_of_an_earlier_version_are_not_taken(curator, tmp_path):
    curator.ask(COUNT, epsilon=2)
    table = curator.tables["visits"]
    changed = Table(ROWS, person="who", limits=table.limits, columns=dict(table.columns), version="2")
    curator.amend(reason="new rows", tables={"visits": changed})
    assert curator.preview(MEAN, epsilon=1)["m"].assumes.startswith("1000 ")


def test_negative_counts_are_those_of_one_value(curator):
    curator.ask(COUNT, epsilon="1/1000")
    assert np.isfinite(curator.preview(MEAN, epsilon=1)["m"].margin)
