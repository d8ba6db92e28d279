"""Graphs and tables of a public number of rows through a curator: preview, pay, answer, label."""

from __future__ import annotations

import json
from fractions import Fraction
from unittest import mock

import numpy as np
import pandas as pd
import pytest

from curator.release.test_label import valid
from discreet.curator import Budget
from discreet.curator.request.statistics import graph_counts
from discreet.data import EACH_ROW, Bounds, FixedTable, Graph, Keys, Table, count
from discreet.errors import BudgetExceeded, EngineFailed, LedgerMismatch, ParameterError, UnsupportedQuery
from discreet.front import Curator
from discreet.privacy.events import Pure
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, ADD_REMOVE_ROW, REPLACE_ROW
from effort import sizes

DELTA = Fraction(1, 10**6)
CAPS = {"epsilon": 20, "delta": Fraction(1, 1000)}
ENDS = ("one", "other")


def edges(seed=0, rows=400, nodes=60):
    random = np.random.default_rng(seed)
    return pd.DataFrame(random.integers(0, nodes, (rows, 2)), columns=list(ENDS))


def friends(place, *, frame=None, nodes=60, budget=None, version="1"):
    graph = Graph(edges() if frame is None else frame, ends=ENDS, nodes=nodes, version=version)
    caps = budget or Budget(**CAPS, neighbors="edges")
    return Curator({"friends": graph}, budget=caps, ledger=place / "friends.ledger")


def people(rows=300):
    random = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "income": random.normal(50, 10, rows),
            "city": random.choice(["Oslo", "Taipei", "Hamilton"], rows, p=[0.6, 0.3, 0.1]),
            "member": random.choice([True, False], rows),
        }
    )


COLUMNS = {
    "income": Bounds(0, 100, step=Fraction(1, 2)),
    "city": Keys(["Oslo", "Taipei", "Hamilton"]),
    "member": Keys([True, False]),
}


def survey(place, *, frame=None, rows=300):
    table = FixedTable(people() if frame is None else frame, rows=rows, columns=COLUMNS)
    caps = Budget(**CAPS, neighbors="replace-one")
    return Curator({"survey": table}, budget=caps, ledger=place / "survey.ledger")


GRAPH = [
    (lambda ask: ask.edges(), {"epsilon": 1}),
    (lambda ask: ask.edges(), {"rho": Fraction(1, 10)}),
    (lambda ask: ask.degrees(most=8), {"epsilon": 1}),
    (lambda ask: ask.triangles(), {"epsilon": 1, "delta": DELTA}),
    (lambda ask: ask.triangles(common=5), {"epsilon": 1}),
    (lambda ask: ask.triangles_within(30), {"epsilon": 1, "delta": DELTA}),
]
FIXED = [
    (lambda ask: ask.count(city="Oslo", member=True), {"epsilon": 1}),
    (lambda ask: ask.counts("city", "member"), {"epsilon": 1, "delta": DELTA}),
    (lambda ask: ask.mean("income"), {"rho": Fraction(1, 10)}),
    (lambda ask: ask.median("income"), {"epsilon": 1}),
    (lambda ask: ask.median_within("income", 2), {"epsilon": 2, "delta": DELTA}),
    (lambda ask: ask.mode("city"), {"epsilon": 1, "delta": DELTA}),
    (lambda ask: ask.small_database("city", records=5), {"epsilon": 1}),
    (lambda ask: ask.learned("city", "member", rounds=3), {"epsilon": 1}),
]


def paid(curator, question, offer, relation):
    """Preview, ask and ask again; return the answer."""
    before = curator.preview(question, **offer)
    assert not before.answered
    assert before.event.neighbors == relation
    assert curator.spent.requests == 0
    release = curator.ask(question, **offer)
    assert not release.stored
    assert release.event == before.event
    assert curator.preview(question, **offer).answered
    again = curator.ask(curator.request(question, **offer))
    assert again.stored
    assert again.columns() == release.columns() or "nan" in str(release.columns())
    assert curator.spent.requests == 1
    return release


@pytest.mark.parametrize(("question", "offer"), GRAPH)
def test_questions_about_a_graph_are_previewed_paid_and_stored(tmp_path, question, offer):
    curator = friends(tmp_path)
    release = paid(curator, question(curator.graph("friends")), offer, ADD_REMOVE_ROW)
    assert valid(release.label)
    assert release.label["neighbors"] == "add-remove row"
    assert release.label["unit"] == {"friends": "one edge, which is one row"}
    assert release.label["tables"]["friends"]["graph"]["nodes"] == 60
    assert "person column" not in str(release.label["assumptions"])
    assert str(release)
    assert release._repr_html_()
    with pytest.raises(AttributeError, match="no plan"):
        release.plan  # noqa: B018


@pytest.mark.parametrize(("question", "offer"), FIXED)
def test_questions_about_a_fixed_number_of_rows_are_previewed_paid_and_stored(tmp_path, question, offer):
    curator = survey(tmp_path)
    release = paid(curator, question(curator.fixed("survey")), offer, REPLACE_ROW)
    assert valid(release.label)
    assert release.label["neighbors"] == "replace row"
    assert release.label["tables"]["survey"]["rows"] == 300
    assert str(release)


def shown(curator, ask, questions):
    """Everything public about questions and their answers but the numbers that were drawn."""
    found = []
    for question, offer in questions:
        asked = question(ask(curator))
        found += [str(curator.preview(asked, **offer)), curator.explain(asked, **offer)]
        release = curator.ask(asked, **offer)
        label = {name: value for name, value in release.label.items() if name != "charge"}
        found += [label, release.keys, [(one.name, len(one.values)) for one in release.outputs]]
    return found


@pytest.mark.parametrize("many", sizes(1, 8))
def test_nothing_public_depends_on_the_rows(tmp_path, many):
    """Neighbors, and a table with other rows altogether, in numbers that are not the declared one."""
    graphs = [edges(), edges().iloc[1:], edges(3, rows=5)]
    tables = [people(), people().iloc[1:], people(5)]
    questions = GRAPH[::-1][:many], FIXED[:many]
    for place, (frame, rows) in enumerate(zip(graphs, tables, strict=True)):
        home = tmp_path / str(place)
        home.mkdir()
        found = [
            shown(friends(home, frame=frame), lambda curator: curator.graph("friends"), questions[0]),
            shown(survey(home, frame=rows), lambda curator: curator.fixed("survey"), questions[1]),
        ]
        if not place:
            first = found
        assert found == first


def test_an_answer_is_found_again_by_another_process(tmp_path):
    question = friends(tmp_path).graph("friends").triangles()
    first = friends(tmp_path).ask(question, epsilon=1, delta=DELTA)
    second = friends(tmp_path).ask(question, epsilon=1, delta=DELTA)
    assert second.stored
    assert second.columns() == first.columns()
    assert not friends(tmp_path).preview(question, epsilon=2, delta=DELTA).answered


def test_what_does_not_fit_is_refused_before_any_row_is_read(tmp_path):
    curator = friends(tmp_path, budget=Budget(epsilon=1, neighbors="edges"))
    question = curator.graph("friends").edges()
    with mock.patch.object(graph_counts, "edge_codes", side_effect=AssertionError) as read:
        with pytest.raises(BudgetExceeded):
            curator.ask(question, epsilon=2)
        with pytest.raises(ParameterError, match="the budget has none"):
            curator.ask(curator.graph("friends").triangles(), epsilon=1, delta=DELTA)
        curator.preview(question, epsilon=2)
        curator.explain(question, epsilon=2)
        assert not read.called
    assert curator.spent.requests == 0


def test_a_crash_between_charge_and_answer_keeps_the_charge_and_asks_for_no_second_one(tmp_path):
    curator = friends(tmp_path)
    question = curator.graph("friends").edges()
    with (
        mock.patch.object(graph_counts, "graph_of", side_effect=KeyboardInterrupt),
        pytest.raises(KeyboardInterrupt),
    ):
        curator.ask(question, epsilon=1)
    assert curator.spent.epsilon == 1
    with mock.patch.object(graph_counts, "graph_of", side_effect=ValueError), pytest.raises(EngineFailed):
        friends(tmp_path).ask(question, epsilon=1)
    release = friends(tmp_path).ask(question, epsilon=1)
    assert not release.stored
    assert friends(tmp_path).spent.requests == 1


def test_no_answer_costs_as_much_as_an_answer_and_is_kept(tmp_path):
    """Two nodes share most of the others, and a bound of 1 is proposed."""
    star = pd.DataFrame([(0, n) for n in range(2, 60)] + [(1, n) for n in range(2, 60)], columns=list(ENDS))
    curator = friends(tmp_path, frame=star)
    question = curator.graph("friends").triangles_within(1)
    with mock.patch(
        "discreet.mechanisms.adaptive.distance_to_instability.DistanceToInstability.passes",
        return_value=False,
    ):
        release = curator.ask(question, epsilon=1, delta=DELTA)
    assert np.isnan(release.value)
    assert "no answer, which costs the same" in str(release)
    assert curator.spent.epsilon == 1
    again = curator.ask(question, epsilon=1, delta=DELTA)
    assert again.stored
    assert np.isnan(again.value)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "rows",
    [
        [(0, 0)] * 5,
        [(0, 1), (1, 0), (0, 1)],
        [(None, 1), (1, None), (None, None)],
        [(-1, 4), (60, 2), (2**62, 0)],
        [],
    ],
)
def test_no_rows_make_a_question_about_a_graph_fail(tmp_path, rows):
    frame = pd.DataFrame(rows, columns=list(ENDS)).astype("Int64")
    curator = friends(tmp_path, frame=frame)
    for question, offer in GRAPH:
        curator.ask(question(curator.graph("friends")), **offer)
    assert curator.spent.requests == len(GRAPH)


@pytest.mark.few(1)
@pytest.mark.parametrize("rows", [299, 1, 301, 1000])
def test_a_wrong_number_of_rows_shows_in_no_error(tmp_path, rows):
    curator = survey(tmp_path, rows=rows)
    for question, offer in FIXED:
        curator.ask(question(curator.fixed("survey")), **offer)


SQL = "SELECT COUNT(*) AS n FROM {}"


@pytest.mark.parametrize("method", ["ask", "preview", "explain", "request"])
def test_questions_about_persons_are_refused_with_what_to_ask(tmp_path, method):
    for curator, name, way in (
        (friends(tmp_path), "friends", r"curator\.graph\('friends'\)"),
        (survey(tmp_path), "survey", r"curator\.fixed\('survey'\)"),
    ):
        for question in (SQL.format(name), curator.table(name).agg(n=count())):
            with pytest.raises(UnsupportedQuery, match=way):
                getattr(curator, method)(question, epsilon=1)
        assert curator.spent.requests == 0


def test_a_table_of_persons_in_such_a_ledger_is_for_permits(tmp_path):
    table = Table(edges(), person=EACH_ROW)
    caps = Budget(epsilon=1, neighbors="edges")
    curator = Curator({"friends": table}, budget=caps, ledger=tmp_path / "permits.ledger")
    with pytest.raises(UnsupportedQuery, match="reserve a permit"):
        curator.ask(SQL.format("friends"), epsilon=1)
    with curator.permit("counting", epsilon=1) as permit:
        permit.charge(Pure(epsilon=1, neighbors=ADD_REMOVE_ROW))
    with pytest.raises(ParameterError, match="not a declared graph"):
        curator.graph("friends")


def test_a_ledger_of_another_relation_takes_no_such_table(tmp_path):
    graph = Graph(edges(), ends=ENDS, nodes=60)
    table = FixedTable(people(), rows=300, columns=COLUMNS)
    for place, (one, caps, named) in enumerate(
        [
            (graph, Budget(epsilon=1), "edges"),
            (graph, Budget(epsilon=1, neighbors=REPLACE_ROW), "edges"),
            (table, Budget(epsilon=1), "replace-one"),
            (table, Budget(epsilon=1, neighbors="edges"), "replace-one"),
        ]
    ):
        with pytest.raises(ParameterError, match=named):
            Curator({"t": one}, budget=caps, ledger=tmp_path / f"{place}.ledger")
        assert not (tmp_path / f"{place}.ledger").exists()


def test_no_amendment_brings_in_a_table_of_another_relation(tmp_path):
    curator = friends(tmp_path)
    table = FixedTable(people(), rows=300, columns=COLUMNS)
    with pytest.raises(ParameterError, match="replace-one"):
        curator.amend(reason="more", tables={**curator.tables, "survey": table})
    with pytest.raises(ParameterError, match="'friends' is a Graph"):
        curator.amend(reason="other", budget=Budget(**CAPS))
    more = Graph(edges(), ends=ENDS, nodes=61)
    before = curator.ask(curator.graph("friends").edges(), epsilon=1)
    curator.amend(reason="one more node", tables={"friends": more})
    assert not curator.preview(curator.graph("friends").edges(), epsilon=1).answered
    assert curator.ask(curator.graph("friends").edges(), epsilon=1).request != before.request
    with pytest.raises(LedgerMismatch):
        friends(tmp_path)


def test_relations_have_names():
    assert Budget(epsilon=1, neighbors="edges") == Budget(epsilon=1, neighbors=ADD_REMOVE_ROW)
    assert Budget(epsilon=1, neighbors="replace-one").neighbors == REPLACE_ROW
    assert Budget(epsilon=1, neighbors="add-remove person").neighbors == ADD_REMOVE_PERSON
    for bad in ("nodes", "", "EDGES", None, 1):
        with pytest.raises(ParameterError, match="neighbors"):
            Budget(epsilon=1, neighbors=bad)
    body = Budget(epsilon=1, neighbors="edges").to_body()
    assert body["neighbors"] == "add-remove row"
    assert Budget.from_body(json.loads(json.dumps(body))) == Budget(epsilon=1, neighbors="edges")


def test_what_is_not_such_a_table_has_no_such_questions(tmp_path):
    with pytest.raises(ParameterError, match="public number of rows"):
        friends(tmp_path).fixed("friends")
    with pytest.raises(ParameterError, match=r"one of \['friends'\]"):
        friends(tmp_path).graph("foes")
    with pytest.raises(ParameterError, match="made up yourself"):
        friends(tmp_path).sandbox()


def test_answers_are_near_the_truth(tmp_path):
    frame = pd.DataFrame({**people(), "income": 40.0})
    ask = survey(tmp_path, frame=frame).fixed("survey")
    curator = survey(tmp_path, frame=frame)
    assert curator.ask(ask.mean("income"), epsilon=5).value == pytest.approx(40, abs=2)
    assert curator.ask(ask.median("income"), epsilon=5).value == pytest.approx(40, abs=2)
    assert curator.ask(ask.mode("city"), epsilon=2, delta=Fraction(1, 10**4)).value == "Oslo"
    true = int((frame["city"] == "Taipei").sum())
    assert curator.ask(ask.count(city="Taipei"), epsilon=4).value == pytest.approx(true, abs=15)
