"""Synthetic tables with facts and with unknown keys, asked of a curator: one price, paid before reading."""

import datetime
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.curator.request.key_request import KeyRequest
from discreet.data import fresh_salt
from discreet.data.key_counts import compute_key_counts
from discreet.errors import BudgetExceeded, ParameterError, UndeclaredColumn
from discreet.mechanisms.keys.key_selection import KeySelection
from discreet.noise import replay
from discreet.privacy.offer import Offer
from discreet.queries.counts.question import relation_of
from discreet.synthesis.asking.asked_synthesis import AskedSynthesis
from discreet.synthesis.asking.question import SynthesisQuestion

YOUNG = dp.Impossible({"age": (None, 15), "married": "yes"})
ILL = ["age", "married", "illness"]
OFFER = {"epsilon": 4, "delta": 1e-6, "method": "independent"}


def frame(rows=1200):
    random = np.random.default_rng(0)
    age = random.integers(0, 80, rows)
    married = np.where((age >= 15) & (random.random(rows) < 0.6), "yes", "no")
    illness = np.array(["flu", "cold", "cough"])[np.arange(rows) % 3].astype(object)
    illness[:3] = ["kuru", "gout", "scurvy"]  # one person each
    illness[100:200] = None
    found = pd.DataFrame({"p": np.arange(rows), "age": age, "married": married, "illness": illness})
    found["day"] = [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(one)) for one in age * 9]
    found.loc[:4, ["age", "married"]] = [3, "yes"]  # rows that break the fact
    return found


def curator(tmp_path, facts=YOUNG, rows=None, **caps):
    columns = {
        "age": dp.Bounds(0, 79),
        "married": dp.Keys(["yes", "no"]),
        "day": dp.Dates(datetime.date(2020, 1, 1), datetime.date(2021, 12, 31)),
    }
    held = frame() if rows is None else rows
    table = dp.Table(held, person="p", limits=dp.Limits(rows=1), columns=columns, facts=facts)
    budget = dp.Budget(**(caps or {"epsilon": 100, "delta": 1e-3}))
    return dp.Curator({"people": table}, budget=budget, ledger=tmp_path / "c.ledger")


@pytest.fixture
def clinic(tmp_path):
    return curator(tmp_path)


def breaks(rows):
    return ((rows["age"] < 15) & (rows["married"] == "yes")).any()


def test_declared_facts_are_kept_by_rows_of_the_table_and_of_a_part_of_it(clinic):
    with replay(0):
        found = clinic.synthesize("people", ["age", "married"], rho=1, method="spanning tree")
        part = clinic.table("people").filter(dp.col("age") < 40)
        some = clinic.synthesize(part, ["age", "married"], rho=1, method="independent")
    assert not breaks(found.to_pandas(3000))
    assert not breaks(some.to_pandas(3000))
    counts = found.data.measured[0].counts
    exact = np.bincount(found.data.domain.codes(frame())[:, 0], minlength=len(counts))
    assert np.abs(counts - exact).max() <= 6  # cells that were cut, too: 14 is apart from 15
    assert found.data.domain.columns[0].axis.cuts == (15,)


def test_calculated_columns_need_not_keep_to_facts(clinic):
    rows = clinic.table("people").derive(age=dp.col("age") + 0)
    found = clinic.synthesize(rows, ["age", "married"], rho=1, method="independent")
    assert not found.data.model.possible


def test_facts_are_in_the_bytes_of_a_request(clinic, tmp_path):
    first = clinic.synthesize("people", ["age", "married"], rho=1, method="independent")
    (tmp_path / "other").mkdir()
    plain = curator(tmp_path / "other", facts=None)
    second = plain.synthesize("people", ["age", "married"], rho=1, method="independent", facts=YOUNG)
    assert first.measured.request.identity == second.measured.request.identity
    third = plain.synthesize("people", ["age", "married"], rho=1, method="independent")
    assert third.measured.request.identity != second.measured.request.identity
    assert plain.spent.requests == 2
    assert plain.synthesize("people", ["age", "married"], rho=1, method="independent", facts=[YOUNG]).stored


def test_facts_about_other_columns(clinic):
    assert (
        clinic.synthesize("people", ["age"], rho=1).data.model is not None
    )  # the table's fact is not about it
    with pytest.raises(ParameterError, match="'married', which is not among the columns"):
        clinic.synthesize("people", ["age"], rho=1, facts=YOUNG)
    assert clinic.spent.requests == 1


@pytest.mark.parametrize(
    "facts",
    [
        [dp.Impossible({"married": "yes"}), dp.Impossible({"married": ["no", None]})],
        dp.Impossible({"age": (15, 10_000), "married": "perhaps"}),
        dp.Determined("age", by="married", mapping={"yes": 30}),
    ],
)
def test_facts_that_cannot_be_are_refused_before_the_charge(clinic, facts):
    with pytest.raises(ParameterError):
        clinic.synthesize("people", ILL, facts=facts, **OFFER)
    assert clinic.spent.requests == 0


def test_bought_mappings_are_stored_and_read_again(tmp_path):
    clinic = curator(tmp_path, facts=None)
    asked = {"rho": 5, "method": "independent", "facts": dp.Determined("married", by="age")}
    first = clinic.synthesize("people", ["age", "married"], **asked)
    again = clinic.synthesize("people", ["age", "married"], **asked)
    assert again.stored
    assert again.to_pandas().equals(first.to_pandas())
    assert first.to_pandas().groupby("age")["married"].nunique(dropna=False).max() == 1
    assert "age, married" in set(first.measured.to_pandas()["table"])
    assert float(first.event.concentrated_rho) <= 5


def test_days_are_synthesized_in_cells(clinic):
    late = dp.Impossible({"day": (datetime.date(2021, 6, 10), None), "married": "no"})
    with replay(0):
        found = clinic.synthesize(
            "people", ["day", "married"], rho=5, facts=late, width={"day": 30}, method="spanning tree"
        )
    rows = found.to_pandas(2000)
    days = rows["day"].dropna()
    assert days.map(type).eq(datetime.date).all()
    assert days.between(datetime.date(2020, 1, 1), datetime.date(2021, 12, 31)).all()
    kept = rows[rows["married"] == "no"]["day"].dropna()
    assert kept.max() < datetime.date(2021, 6, 10)
    codes = found.data.domain.codes(frame())
    counts = found.data.measured[0].counts
    assert np.abs(counts - np.bincount(codes[:, 0], minlength=len(counts))).max() <= 4


def test_unknown_keys_are_chosen_for_a_part_of_one_price(clinic):
    preview = clinic.preview_synthesis("people", ILL, **OFFER)
    assert "keys of illness are chosen: shown with probability 50% at" in str(preview)
    assert clinic.spent.requests == 0
    found = clinic.synthesize("people", ILL, **OFFER)
    rows = found.to_pandas(3000)
    assert {"flu", "cold", "cough"} <= set(rows["illness"].dropna()) <= {"flu", "cold", "cough", "(other)"}
    assert rows["illness"].isna().mean() == pytest.approx(100 / 1200, abs=0.05)
    assert not breaks(rows)
    assert clinic.spent.requests == 2  # the keys and the tables
    assert found.measured.event == preview.event
    assert len(found.label["chosen_keys"]) == 1
    again = clinic.synthesize("people", ILL, **OFFER)
    assert again.stored
    assert clinic.spent.requests == 2
    assert "answered before" in str(clinic.preview_synthesis("people", ILL, **OFFER))
    assert clinic.measure_fidelity(found, rho=1, ways=1).to_pandas() is not None


def test_facts_about_chosen_keys(clinic):
    facts = [
        dp.Impossible({"illness": "flu", "married": "yes"}),
        dp.Impossible({"illness": "kuru", "age": (0, 9)}),
    ]
    rows = clinic.synthesize("people", ILL, facts=facts, **OFFER).to_pandas(3000)
    assert not ((rows["illness"] == "flu") & (rows["married"] == "yes")).any()


def test_no_key_at_all_is_one_other(tmp_path):
    rows = frame()
    rows["illness"] = [f"only {number}" for number in range(len(rows))]
    made = curator(tmp_path, rows=rows).synthesize("people", ILL, **OFFER)
    assert set(made.to_pandas(500)["illness"].dropna()) == {"(other)"}
    assert "only 7" not in str(made.measured.to_pandas()["illness"].tolist())


@pytest.mark.parametrize("offer", [{"rho": 1}, {"epsilon": 1}])
def test_without_delta_nothing_is_chosen(clinic, offer):
    with pytest.raises((UndeclaredColumn, ParameterError), match="delta"):
        clinic.synthesize("people", ILL, **offer)
    assert clinic.spent.requests == 0


def test_rho_with_delta_chooses_keys(tmp_path):
    clinic = curator(tmp_path, rho=10, delta=1e-3)
    found = clinic.synthesize("people", ILL, rho=2, delta=1e-6, method="independent")
    assert {"flu", "cold"} <= set(found.to_pandas()["illness"])


def test_both_charges_must_fit_before_the_first(tmp_path):
    clinic = curator(tmp_path, epsilon=2, delta=1e-6)
    with pytest.raises(BudgetExceeded):
        clinic.synthesize("people", ILL, **OFFER)
    assert clinic.spent.requests == 0
    with pytest.raises(ParameterError, match="key_share"):
        clinic.synthesize("people", ILL, key_share=1, **OFFER)


def test_persons_are_not_keys(clinic):
    with pytest.raises(UndeclaredColumn):
        clinic.synthesize("people", ["age", "p"], **OFFER)


def test_too_many_chosen_keys_keep_the_first_names(clinic, monkeypatch):
    """What does not fit is known only once keys are chosen: then nothing may be refused any more."""
    many = tuple(f"key {number:05}" for number in range(40_000))
    question = clinic_question(clinic)
    request = question.request(question.choice(question.offer).rest, {"illness": many}, {})
    column = request.mechanism.synthesizer.domain.columns[2]
    assert column.labels[:2] == ["key 00000", "key 00001"]
    assert 100 < column.cells < 40_000


def clinic_question(clinic):
    """The question that `synthesize` would ask."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(AskedSynthesis, "preview", lambda self, *given, **named: found.append(self))
        clinic.preview_synthesis("people", ILL, epsilon=4, delta=1e-6, workload=[("age", "illness")])
    return found[0]


def rare_keys_are_named(clinic):
    """Whether a key is shown that one person has."""
    made = clinic.synthesize("people", ILL, **OFFER)
    shown = {*made.to_pandas(2000)["illness"]} | {*made.measured.to_pandas()["illness"]}
    return bool({"kuru", "gout", "scurvy"} & shown)


def test_keys_chosen_without_noise_are_noticed(tmp_path, monkeypatch):
    assert not rare_keys_are_named(curator(tmp_path))
    (tmp_path / "planted").mkdir()
    monkeypatch.setattr(KeySelection, "release", lambda self, counts: np.asarray(counts) > 0)
    assert rare_keys_are_named(curator(tmp_path / "planted"))


def everything_is_charged(clinic):
    """Whether the ledger counts what the preview said."""
    preview = clinic.preview_synthesis("people", ILL, **OFFER)
    clinic.synthesize("people", ILL, **OFFER)
    charged = [entry.body["event"] for entry in clinic.ledger.entries() if "event" in entry.body]
    return len(charged) == 2 and preview.event.to_object() == _together(charged)


def _together(written):
    from discreet.privacy.events import Event, compose

    return compose([Event.from_object(one) for one in written]).to_object()


def test_a_choice_of_keys_that_is_not_charged_is_noticed(tmp_path, monkeypatch):
    assert everything_is_charged(curator(tmp_path))
    (tmp_path / "planted").mkdir()

    def free(self, request, *, analyst=""):
        counts = compute_key_counts(request.plan, self.tables, salt=fresh_salt())
        shown = counts.chosen(request.mechanism.release(counts.counts))
        return type("Found", (), {"keys": {request.plan.column: shown}, "label": _FREE})()

    monkeypatch.setattr("discreet.curator.door.Door.choose_keys", free)
    assert not everything_is_charged(curator(tmp_path / "planted"))


_FREE = {"loss": None, "event": None, "charge": None, "private": True}


def test_nothing_is_read_before_it_is_charged(clinic, monkeypatch):
    drawn = []
    draw = KeyRequest.draw

    def watching(self, tables):
        drawn.append(clinic.spent.requests)
        return draw(self, tables)

    monkeypatch.setattr(KeyRequest, "draw", watching)
    clinic.synthesize("people", ILL, **OFFER)
    assert drawn == [1]


@pytest.mark.parametrize("rows", [-3, 0, 1.5])
def test_rows_that_cannot_be_drawn_are_refused_before_the_charge(clinic, rows):
    with pytest.raises(ParameterError, match="rows"):
        clinic.synthesize("people", ["age", "married"], rows=rows, **OFFER)
    with pytest.raises(ParameterError, match="rows"):
        clinic.train_generator("people", ["age", "married"], epsilon=1, delta=1e-6, rows=rows)
    related = {"events": "people", "event_columns": ["age"], "epsilon": 1, "delta": 1e-6}
    with pytest.raises(ParameterError, match="rows"):
        clinic.synthesize_related("people", ["married"], rows=rows, **related)
    assert clinic.spent.requests == 0


def test_a_workload_may_be_an_iterator(clinic):
    question = SynthesisQuestion(
        relation=relation_of("people"),
        columns=("age", "married"),
        method="adaptive",
        widths={"age": 20},
        workload=(iter(one) for one in [("age", "married")]),
    )
    for _ in range(2):  # what is supposed, and what is bought
        made = question.request(clinic.tables, Offer(rho=1), Fraction(95, 100)).mechanism.synthesizer
        assert made.workload == (((0, 1), 1),)


def test_a_bought_mapping_to_unknown_keys_says_what_to_declare(clinic):
    fact = dp.Determined("illness", by="age")
    for ask in (clinic.synthesize, clinic.preview_synthesis):
        with pytest.raises(ParameterError, match="declare the keys of 'illness', or give the mapping"):
            ask("people", ILL, facts=fact, **OFFER)
    assert clinic.spent.requests == 0


def test_keys_that_a_mapping_does_not_list_are_known_to_facts(clinic):
    facts = [
        dp.Determined("kind", by="illness", mapping={"flu": "viral", "cold": "viral"}),
        dp.Impossible({"kind": None, "married": "yes"}),
    ]
    with replay(0):
        found = clinic.synthesize("people", ["married", "illness", "kind"], facts=facts, **OFFER)
    drawn = found.to_pandas(1000)
    assert not (drawn["kind"].isna() & (drawn["married"] == "yes")).any()
    assert {"flu", "cough"} <= set(drawn["illness"])


@pytest.mark.parametrize("method", ["independent", "spanning tree", "adaptive"])
@pytest.mark.parametrize("offer", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-9}, {"rho": 0.05}])
@pytest.mark.parametrize(
    "caps", [{"epsilon": 10}, {"epsilon": 10, "delta": 1e-3, "per_analyst": dp.Budget(epsilon=1)}]
)
def test_a_budget_of_pure_epsilon_says_that_no_offer_would_do(tmp_path, method, offer, caps):
    """Each offer was refused in the words of another, and the next said to go back to the first."""
    clinic = curator(tmp_path, **caps)
    for word in (clinic.synthesize, clinic.preview_synthesis):
        with pytest.raises(
            ParameterError, match=r"budget counts pure epsilon only.*with a delta.*or one of rho"
        ):
            word("people", ["married"], method=method, **offer)
