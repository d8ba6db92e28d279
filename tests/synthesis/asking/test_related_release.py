"""Related tables through a curator: one charge, stored, and read again."""

import pytest

import discreet as dp
from discreet.errors import BudgetExceeded, EngineFailed, ParameterError
from discreet.noise import replay
from discreet.synthesis.asking.related_synthesis import RelatedSynthesis
from discreet.synthesis.related.related_fidelity import related_fidelity
from synthesis.related.tiny_clinic import clinic, tables

ASKED = {"columns": ["age", "sex"], "events": "visits", "event_columns": ["ward", "cost"]}


@pytest.fixture
def curator(tmp_path):
    return dp.Curator(tables(*clinic(300), limit=3), budget=dp.Budget(rho=100), ledger=tmp_path / "c.ledger")


@pytest.mark.slow
def test_both_tables_are_charged_once_stored_and_read_again(curator):
    preview = curator.preview_related("patients", **ASKED, rho=1)
    assert curator.spent.requests == 0
    found = curator.synthesize_related("patients", **ASKED, rho=1, rows=40)
    assert found.event == preview.event
    assert found.event.concentrated_rho <= 1
    assert found.label["private"]
    assert set(found.label["unit"]) == {"patients", "visits"}
    again = curator.synthesize_related("patients", **ASKED, rho=1, rows=40)
    assert again.stored
    assert not found.stored
    assert curator.spent.requests == 1
    for name, frame in found.to_pandas().items():
        assert frame.equals(again.to_pandas()[name])
    assert found.to_arrow(7)["patients"].num_rows == 7
    assert "paid with epsilon" in repr(found)


@pytest.mark.slow
def test_without_noise_worth_mentioning_both_tables_are_close(curator):
    with replay(1):
        found = curator.synthesize_related("patients", **ASKED, rho=90)
    patients, visits = clinic(300)
    import pandas as pd

    report = related_fidelity(
        pd.DataFrame(patients, columns=["patient", "age", "sex"]),
        pd.DataFrame(visits, columns=["patient", "ward", "cost"]),
        found.data,
    )
    assert report.persons.mean(1) < 0.03
    assert report.numbers < 0.03
    assert report.events.mean(2) < 0.05
    assert report.across["age", "ward"] < 0.1
    assert not found.label["private"]


@pytest.mark.slow
def test_filtered_rows_and_narrower_limits(curator):
    old = curator.table("patients").filter(dp.col("age") >= 2)
    with replay(1):
        found = curator.synthesize_related(old, **ASKED, rho=90, limits=dp.Limits(rows=1))
    made = found.to_pandas(200)
    assert made["patients"]["age"].min() >= 2
    assert made["visits"]["patient"].is_unique


@pytest.mark.slow
def test_a_draw_that_failed_is_the_one_answer(curator, monkeypatch):
    drawn = []
    draw = RelatedSynthesis.draw

    def fails(self, held):
        drawn.append(draw(self, held))
        raise MemoryError

    monkeypatch.setattr(RelatedSynthesis, "draw", fails)
    for _ in range(2):
        with pytest.raises(EngineFailed):
            curator.synthesize_related("patients", **ASKED, rho=1)
    assert len(drawn) == curator.spent.requests == 1


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"rho": 200}, BudgetExceeded),
        ({"rho": None, "epsilon": 1}, ParameterError),
        ({"events": "patients"}, ParameterError),
        ({"budget": 3}, (TypeError, ParameterError)),
    ],
)
def test_refusals_come_before_the_charge(curator, wrong, error):
    with pytest.raises(error):
        curator.synthesize_related("patients", **({**ASKED, "rho": 1} | wrong))
    assert curator.spent.requests == 0


def test_tables_in_which_each_row_is_a_person_have_no_events(tmp_path):
    held = tables(*clinic(20))
    held["visits"] = dp.Table(
        held["visits"]._relation.to_pyarrow().select(["ward", "cost"]),
        person=dp.EACH_ROW,
        columns={"ward": dp.Keys(["eyes"]), "cost": dp.Bounds(0, 4)},
    )
    curator = dp.Curator(held, budget=dp.Budget(rho=10), ledger=tmp_path / "c.ledger")
    with pytest.raises(dp.errors.UnsupportedQuery):
        curator.synthesize_related("patients", **ASKED, rho=1)
    assert curator.spent.requests == 0
