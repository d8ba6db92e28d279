from __future__ import annotations

import datetime
import json

import pytest
from hypothesis import given

from data import strategies
from discreet.data import (
    Axis,
    Bounds,
    ContingencyTable,
    CountRows,
    Dates,
    Filter,
    Group,
    GroupKey,
    Keys,
    Source,
    Sum,
    col,
    from_json,
    from_object,
    literal,
    outline,
    to_json,
    to_object,
    when,
)
from discreet.data.language.relations import Named, Project
from discreet.errors import ParameterError


@given(strategies.plans())
def test_a_plan_comes_back_as_it_was(case):
    plan, _ = case
    text = to_json(plan)
    assert from_json(text) == plan
    assert to_json(from_json(text)) == text
    assert from_object(to_object(plan)) == plan
    assert to_object(plan) == json.loads(text)
    assert text.isascii()
    assert b" " not in json.dumps(json.loads(text), separators=(",", ":")).encode().replace(text, b"")


@given(strategies.formulas, strategies.formulas)
def test_bytes_are_equal_just_if_expressions_are(one, other):
    assert (to_json(one.expression) == to_json(other.expression)) == (one.expression == other.expression)
    assert from_json(to_json(one.expression)) == one.expression


@pytest.mark.parametrize(
    "value",
    [None, True, False, 0, -(2**70), 0.1, "", "quo\"te'\u2028日本", datetime.date(1, 1, 1),
     datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)],
)  # fmt: skip
def test_literals_come_back_as_they_were(value):
    assert from_json(to_json(literal(value))) == literal(value)


def test_one_spelling():
    condition = (col("age") < 40.5).expression
    plan = Group(source=Filter(source=Source(table="visits"), condition=condition), measures=(CountRows(),))
    assert to_json(plan) == (
        b'{"keys":[],"measures":[{"node":"count_rows"}],"node":"group","present":[],"source":{"condition":'
        b'{"left":{"name":"age","node":"column"},"node":"compare","operator":"<","right":{"node":"literal",'
        b'"type":"decimal","value":"81/2"}},"node":"filter","source":{"node":"source","table":"visits"}}}'
    )


def test_one_spelling_of_a_table():
    axes = (Axis(column="age", values=Bounds(0, 110), width=10), Axis(column="flag", values=Keys([True])))
    text = to_json(ContingencyTable(axes=axes))
    assert text == (
        b'{"axes":[{"column":"age","node":"axis","values":{"infinity":"clamp","lower":"0","nan":"drop",'
        b'"node":"bounds","null":"drop","step":"1","upper":"110"},"width":10},{"column":"flag","node":"axis",'
        b'"values":{"node":"keys","type":"boolean","values":["true"]},"width":1}],"node":"contingency_table"}'
    )
    assert from_json(text) == ContingencyTable(axes=axes)
    assert from_json(to_json(axes[0])) == axes[0]
    assert to_json(ContingencyTable(axes=axes[::-1])) != text
    for other in (b'"width":0', b'"width":"10"', b'"width":10.0', b'"width":true', b'"column":"age"'):
        with pytest.raises(ParameterError):
            from_json(text.replace(b'"width":10', other))


def written(outlined):
    return json.dumps(outlined)


def test_outlines_hold_no_literal():
    canary = "canary-8675309"
    node = ((col("name") == canary) | col("age").isin([8675309])).expression
    assert b"8675309" in to_json(node)
    assert "8675309" not in written(outline(node))
    assert outline(node) == outline(((col("name") == "x") | col("age").isin([1])).expression)


def test_outlines_hold_no_key_and_no_bound_that_a_literal_made():
    case = when(col("age") == 8675309).then("canary").otherwise("x").expression
    calculated = Project(
        source=Source(table="t"),
        columns=(
            Named(name="k", expression=case),
            Named(name="v", expression=col("cost").clip(0, 8675309).expression),
        ),
    )
    keys = (GroupKey(column="k", values=Keys(["canary", "x"])),)
    total = Sum(column="v", bounds=Bounds(0, 8675309), center=8675309)
    axes = (
        Axis(column="v", values=Bounds(0, 8675309), width=86753090),
        Axis(column="k", values=keys[0].values),
    )
    plan = Group(source=calculated, keys=keys, measures=(total, ContingencyTable(axes=axes)))
    for canary in (b"8675309", b"canary"):
        assert canary in to_json(plan)
        assert canary.decode() not in written(outline(plan))
    plain = Group(source=Source(table="t"), keys=keys, measures=(total,))
    assert "canary" in written(outline(plain))  # declared keys are public


@pytest.mark.parametrize(
    "declared",
    [
        Bounds(0, 5000, step=0.01, nan=7),
        Bounds(-1, 1, infinity="drop", null=0),
        Keys([3, None, -1]),
        Dates(datetime.date(2025, 1, 1), datetime.date(2026, 12, 31)),
    ],
)
def test_declarations_come_back_as_they_were(declared):
    assert from_object(json.loads(json.dumps(to_object(declared)))) == declared


GOOD = to_json((col("age") < 40).expression)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"3",
        b'{"node":"bounds"}',
        GOOD + b" ",
        b" " + GOOD,
        GOOD.replace(b'"40"', b'"040"'),
        GOOD.replace(b'"40"', b'"4_0"'),
        GOOD.replace(b'"40"', b"40"),
        GOOD.replace(b'"integer"', b'"decimal"'),
        GOOD.replace(b'"compare"', b'"exec"'),
        GOOD.replace(b'"<"', b'"LIKE"'),
        GOOD.replace(b'"age"', b"null"),
        GOOD.replace(b'"name"', b'"names"'),
        b'{"node":"not","operand":' * 5000 + b"1" + b"}" * 5000,
        b'{"a":' * 100000,
        "not bytes",
        b'{"node":"literal","type":"date","value":"2026-13-01"}',
        b'{"node":"literal","type":"null","value":"x"}',
        b'{"node":"keys","type":"text","values":[]}',
    ],
)
def test_other_text_is_refused(text):
    with pytest.raises(ParameterError) as refusal:
        from_json(text)
    assert "what to_json writes" in str(refusal.value)


def test_only_nodes_are_written():
    with pytest.raises(ParameterError):
        to_object(object())


def test_outlines_hold_no_key_that_a_request_listed():
    keys, listed = Keys(["a", "b"]), Keys(["canary"])
    for build in (
        lambda one: {"keys": (GroupKey(column="x", values=one),), "measures": (CountRows(),)},
        lambda one: {"measures": (ContingencyTable(axes=(Axis(column="x", values=one),)),)},
    ):
        plans = [Group(source=Source(table="t"), **build(one)) for one in (keys, listed)]
        assert ["canary" in written(outline(plan, declared=[keys])) for plan in plans] == [False, False]
        assert outline(plans[0], declared=[keys]) == outline(plans[0])
        assert '"count": 1' in written(outline(plans[1], declared=[keys]))
        assert "canary" in written(outline(plans[1]))
