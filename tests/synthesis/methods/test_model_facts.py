"""Declared facts in the three methods: kept by every row, public, and never read off the data."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from discreet.data import Bounds, Determined, Impossible, Keys
from discreet.errors import ParameterError
from discreet.noise import replay
from discreet.privacy.events import compose
from discreet.synthesis import Adaptive, Independent, SpanningTree
from discreet.synthesis.columns.impossible_cells import ImpossibleCells
from discreet.synthesis.measuring.exact_tables import CountedRows
from discreet.synthesis.methods.model_facts import ModelFacts, model_facts
from discreet.synthesis.models.possible_rows import PossibleRows
from synthesis.charged_steps import is_charged, watched

METHODS = [Independent, SpanningTree, Adaptive]
CITIES = {0: "a", 1: "a", 2: "b", 3: "c"}
COLUMNS = {
    "age": Bounds(0, 79),
    "married": Keys(["yes", "no"]),
    "zip": Keys([0, 1, 2, 3]),
    "city": Keys(["a", "b", "c"]),
}
YOUNG = Impossible({"age": (None, 15), "married": "yes"})


def people(rows=800, seed=0):
    """Nobody is married below 15, but for five rows that break every rule."""
    random = np.random.default_rng(seed)
    age = random.integers(0, 80, rows)
    married = np.where((age >= 15) & (random.random(rows) < 0.6), "yes", "no")
    places = random.integers(0, 4, rows)
    city = np.array([CITIES[place] for place in places.tolist()])
    age[:5], married[:5], city[:5] = 3, "yes", "c"
    return {"age": age, "married": married, "zip": places, "city": city}


@pytest.mark.parametrize("method", METHODS)
def test_no_row_has_what_is_impossible_though_the_data_do(method):
    rows = people()
    made = method(columns=COLUMNS, rho=1, facts=YOUNG)
    with replay(0):
        found = made.release(rows)
    frame = found.to_pandas(3000)
    assert not ((frame["age"] < 15) & (frame["married"] == "yes")).any()
    assert (frame["age"] < 15).mean() == pytest.approx((rows["age"] < 15).mean(), abs=0.05)
    assert (frame["married"] == "yes").mean() == pytest.approx((rows["married"] == "yes").mean(), abs=0.05)
    codes = found.model.model.sample(2000, np.random.default_rng(0))  # of the model itself, not repaired
    joined = made.facts.possible.joined([fold.places for fold in found.model.folds])
    assert not joined.violated(codes).any()
    assert found.total == pytest.approx(800, abs=40)  # rows that break a fact are counted as any others


@pytest.mark.parametrize("method", METHODS)
def test_a_declared_mapping_costs_nothing_and_is_never_read(method):
    fact = Determined("city", by="zip", mapping=CITIES)
    made = method(columns={**COLUMNS, "city": None}, rho=1, facts=[fact])
    assert (
        made.event == method(columns={name: COLUMNS[name] for name in ("age", "married", "zip")}, rho=1).event
    )
    rows = people()
    with replay(0):
        frame = made.release({name: rows[name] for name in ("age", "married", "zip")}).to_pandas(500)
    assert list(frame) == list(COLUMNS)
    known = frame.dropna(subset=["zip"])
    assert all(CITIES[place] == city for place, city in zip(known["zip"], known["city"], strict=True))
    assert frame[frame["zip"].isna()]["city"].isna().all()


@pytest.mark.parametrize("method", METHODS)
def test_a_bought_mapping_is_charged_and_a_function(method):
    fact = Determined("city", by="zip")
    made = method(columns=COLUMNS, rho=1, facts=fact)
    counted = CountedRows(shape=made.counted.shape, codes=made.counted.codes(people()))
    with watched() as drawn:
        made.draw(counted)
    assert is_charged(made, drawn)
    with replay(0):
        frame = made.release(people()).to_pandas(2000)
    assert frame.groupby("zip")["city"].nunique().max() == 1
    assert frame.dropna().groupby("zip")["city"].first().to_dict() == CITIES
    assert any("right at 95% from" in step for step in made.steps)


class FreeMapping(SpanningTree):
    """Planted: the table of a mapping is measured and not paid for."""

    def with_bought(self, events):
        return compose(list(events))


def test_a_mapping_that_is_not_paid_for_is_noticed():
    made = FreeMapping(columns=COLUMNS, rho=1, facts=Determined("city", by="zip"))
    counted = CountedRows(shape=made.counted.shape, codes=made.counted.codes(people()))
    with watched() as drawn:
        made.draw(counted)
    assert not is_charged(made, drawn)


def zero_cells(method, rows, planted=False):
    """The combinations of age and married to which a released model gives no probability."""
    made = method(columns={name: COLUMNS[name] for name in ("age", "married")}, rho=50, facts=YOUNG)
    if planted:  # a mask of what has no rows, in place of what was declared
        counts = CountedRows(shape=made.domain.shape, codes=made.domain.codes(rows)).table((0, 1))
        empty = [((int(age),), (int(one),)) for age, one in np.argwhere(counts == 0)]
        zeros = tuple(ImpossibleCells(columns=(0, 1), cells=cells) for cells in empty)
        made._amend(facts=ModelFacts(possible=PossibleRows(shape=made.domain.shape, zeros=zeros)))
    with replay(1):
        found = made.release(rows)
    table = found.model.table((0, 1))[:-1, :-1]
    return {tuple(cell) for cell in np.argwhere(table == 0).tolist()}


@pytest.mark.parametrize("method", [SpanningTree, Adaptive])
def test_zeros_come_from_the_declaration_alone(method):
    """A person more or less, of whatever values, changes no zero; a mask of the data would."""
    rows = people(8000)
    others = {name: values[5:] for name, values in rows.items()}
    person = {"age": 3, "married": "yes", "zip": 0, "city": "a"}
    without, lonely = others, {name: np.append(values, person[name]) for name, values in others.items()}
    declared = zero_cells(method, without)
    assert zero_cells(method, lonely) == declared
    made = method(columns={name: COLUMNS[name] for name in ("age", "married")}, rho=50, facts=YOUNG)
    (zero,) = made.facts.possible.zeros
    assert {(age, 0) for age in zero.cells[0]} == declared
    assert zero_cells(method, lonely, planted=True) != zero_cells(method, without, planted=True)


def test_facts_about_a_mapped_column_are_about_what_leads_to_it():
    facts = [
        Determined("city", by="zip", mapping=CITIES),
        Determined("north", by="city", mapping={"a": True, "b": False, "c": False}),
        Impossible({"city": ["a"], "married": "yes"}),
        Impossible({"north": False, "age": (60, None)}),
        Impossible({"city": "nowhere", "age": (0, 5)}),
    ]
    columns = {**COLUMNS, "city": None, "north": None}
    made = SpanningTree(columns=columns, rho=10, facts=facts)
    assert [zero.columns for zero in made.facts.possible.zeros] == [(1, 2), (0, 2)]
    with replay(0):
        frame = made.release(people()).to_pandas(2000)
    assert not ((frame["city"] == "a") & (frame["married"] == "yes")).any()
    assert not ((frame["north"] == False) & (frame["age"] >= 60)).any()  # noqa: E712
    assert list(frame) == [*COLUMNS, "north"]


def test_facts_are_a_part_of_what_was_asked():
    plain = SpanningTree(columns=COLUMNS, rho=1)
    assert plain.options == {}
    ruled = SpanningTree(columns=COLUMNS, rho=1, facts=YOUNG)
    other = SpanningTree(columns=COLUMNS, rho=1, facts=Impossible({"age": (None, 16), "married": "yes"}))
    assert (ruled.options, ruled.domain) != (other.options, other.domain)  # both are in the request
    wider = SpanningTree(columns=COLUMNS, rho=1, facts=Impossible({"age": (None, 15)}))
    assert ruled.options != wider.options
    mapped = {**COLUMNS, "city": None}
    one = Independent(columns=mapped, rho=1, facts=Determined("city", by="zip", mapping=CITIES))
    changed = {**CITIES, 3: "b"}
    two = Independent(columns=mapped, rho=1, facts=Determined("city", by="zip", mapping=changed))
    assert one.options != two.options


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (Impossible({"age": (0, 15), "height": (0, 1)}), "not among the columns"),
        (
            [Impossible({"married": "yes"}), Impossible({"married": "no"}), Impossible({"married": None})],
            "no row",
        ),
        (Impossible({"married": "perhaps", "age": (0, 5)}), "not one of its keys"),
        (Impossible({"age": (90, 99), "married": "yes"}), "leave nothing"),
        (Impossible({"age": "old", "married": "yes"}), "compare"),
        (Impossible({"age": True, "married": "yes"}), "compare"),
        (Determined("city", by="zip", mapping={0: "a"}), "says nothing about 3 of 4"),
        (Determined("city", by="age", mapping={(0, 40): "a", (41, None): "b"}), "says nothing about 40"),
        ([Determined("city", by="zip"), Determined("city", by="age")], "two others"),
        (
            [
                Determined("city", by="zip", mapping=CITIES),
                Determined("zip", by="city", mapping={"a": 0, "b": 2, "c": 3}),
            ],
            "each other",
        ),
        ([Determined("city", by="zip"), Impossible({"city": "a", "age": (0, 9)})], "unknown way"),
        ([Determined("city", by="zip"), Determined("zip", by="age")], "not counted"),
        ("age < 15", "something else"),
    ],
)
def test_facts_that_cannot_be_used_are_refused(facts, words):
    with pytest.raises(ParameterError, match=words):
        Independent(columns=COLUMNS, rho=1, facts=facts)


def test_facts_about_many_cells_are_refused_with_what_fits():
    columns = {"one": Bounds(0, 1), **{f"x{at}": Keys(range(300)) for at in range(3)}}
    wide = Impossible({f"x{at}": [0] for at in range(3)})
    with pytest.raises(ParameterError, match="at most 1,048,576"):
        Independent(columns=columns, rho=1, facts=wide)
    pair = Impossible({"x0": [0], "x1": [0]})
    with pytest.raises(ParameterError, match="tree_cells"):
        Adaptive(columns=columns, rho=1, facts=pair)
    assert Adaptive(columns=columns, rho=1, facts=pair, tree_cells=1 << 20).workload
    mapping = {"x": Keys(range(2000)), "y": Keys(range(2000))}
    with pytest.raises(ParameterError, match="declared mapping"):
        Independent(columns=mapping, rho=1, facts=Determined("y", by="x"))


def test_workloads_beside_facts_must_fit_and_name_what_a_column_follows_from():
    facts = [Determined("city", by="zip", mapping=CITIES), YOUNG]
    made = Adaptive(columns={**COLUMNS, "city": None}, rho=1, facts=facts, workload=[("city", "age")])
    assert made.workload == (((0, 2), 1),)
    columns = {"a": Keys(range(60)), "b": Keys(range(60)), "c": Keys(range(60))}
    facts = [Impossible({"a": [0], "b": [0]}), Impossible({"b": [1], "c": [1]})]
    with pytest.raises(ParameterError, match="beside the facts"):
        Adaptive(columns=columns, rho=1, facts=facts, workload=[("a", "c")])
    assert Adaptive(columns=columns, rho=1, facts=facts).workload == (((0, 1), 1), ((1, 2), 1))


def test_a_tree_that_has_no_room_measures_again_what_it_has():
    """The number of choices is fixed: facts that join columns leave room for few other pairs."""
    columns = {name: Keys(range(60)) for name in "abcd"}
    facts = [Impossible({one: [0], other: [0]}) for one, other in ("ab", "bc", "cd")]
    made = SpanningTree(columns=columns, rho=10, facts=facts)
    rows = {name: np.arange(3000) % 60 for name in "abcd"}
    with replay(0):
        found = made.release(rows)
    assert len(found.measured) == 4 + made.edges
    assert not made.facts.possible.violated(found.codes(500)).any()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "rows",
    [
        {"age": [None] * 30, "married": ["yes"] * 30},
        {"age": [3] * 50, "married": ["yes"] * 50},
        {"age": [], "married": []},
    ],
    ids=["all missing", "all impossible", "none"],
)
def test_whatever_the_rows_are_there_is_an_answer(method, rows):
    columns = {"age": Bounds(0, 79), "married": Keys(["yes"])}
    found = method(columns=columns, epsilon=0.01, delta=1e-9, facts=YOUNG).release(rows)
    frame = found.to_pandas(200)
    assert not ((frame["age"] < 15) & (frame["married"] == "yes")).any()


@pytest.mark.slow
@pytest.mark.parametrize(("method", "many"), [(Independent, 200), (SpanningTree, 100)])
def test_many_columns_and_10000_categories(method, many):
    columns = {f"x{at}": Keys(["a", "b"]) for at in range(many)} | {"big": Keys(range(10_000))}
    facts = [Impossible({f"x{at}": "a", f"x{at + 1}": "b"}) for at in range(0, 60, 2)]
    facts.append(Impossible({"big": list(range(5000)), "x0": "b"}))
    random = np.random.default_rng(0)
    rows = pd.DataFrame({name: ["a"] * 50 for name in columns} | {"big": random.integers(0, 10_000, 50)})
    made = method(columns=columns, rho=1, facts=facts)
    with replay(0):
        found = made.release(rows)
    assert not made.facts.possible.violated(found.codes(1000)).any()


def test_coded_facts_keep_the_order_of_columns():
    domain, facts, left = model_facts(COLUMNS, [YOUNG, Determined("city", by="zip")], 1, 1)
    assert domain.names == ("age", "married", "zip")
    assert facts.order == tuple(COLUMNS)
    assert left == pytest.approx(0.9)
    assert domain.columns[0].axis.cuts == (15,)


@pytest.mark.parametrize("method", METHODS)
def test_rows_that_facts_leave_possible_stay_where_each_cell_is_its_own_kind(method):
    columns = {"a": Keys(["x", "y"]), "b": Keys(["u", "v"])}
    facts = [Impossible({"a": "x", "b": "u"}), Impossible({"a": "y", "b": "v"})]
    rows = {"a": ["x"] * 900 + ["y"] * 100, "b": ["v"] * 900 + ["u"] * 100}
    with replay(0):
        found = method(columns=columns, rho=1000, facts=facts).release(rows)
    assert found.table(["a", "b"])[:2, :2] == pytest.approx(np.array([[0, 900], [100, 0]]), abs=10)
    drawn = found.to_pandas(1000).groupby(["a", "b"]).size().to_dict()
    assert drawn[("x", "v")] == pytest.approx(900, abs=40)
    assert drawn[("y", "u")] == pytest.approx(100, abs=40)


THIRD = Fraction(1, 3)
LEVELS = Determined("m", by="x", mapping={(None, THIRD): "low", (THIRD, None): "high", None: "none"})
CHAIN = [Determined("m", by="x", mapping={"a": "p", "b": "q"}), Determined("n", by="m", mapping={"p": "u"})]


@pytest.mark.parametrize(
    ("columns", "facts", "wrong"),
    [
        (
            {"x": Bounds(0, 1, step=THIRD), "s": Keys(["f"]), "m": None},
            [LEVELS, Impossible({"m": "low", "s": "f"})],
            lambda row: row["m"] == "low" and row["s"] == "f",
        ),
        (
            {"x": Keys(["a", "b"]), "m": None, "n": None},
            [*CHAIN, Impossible({"n": None})],
            lambda row: row["n"] is None,
        ),
        (
            {"x": Keys(["a", "b"]), "m": None},
            [Determined("m", by="x", mapping={"a": 1.0, "b": 2.0}), Impossible({"m": 1})],
            lambda row: row["m"] == 1,
        ),
    ],
)
def test_no_row_has_an_impossible_value_of_a_mapped_column(columns, facts, wrong):
    given = [0.0, 1 / 3] if isinstance(columns["x"], Bounds) else ["a", "b"]
    with replay(0):
        made = SpanningTree(columns=columns, rho=100, facts=facts).release(
            {"x": given * 50, "s": ["f"] * 100}
        )
    drawn = made.columns(300)
    rows = [dict(zip(drawn, row, strict=True)) for row in zip(*drawn.values(), strict=True)]
    assert not any(map(wrong, rows))
    assert len(rows) == 300
