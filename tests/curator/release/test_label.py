"""A label states the guarantee in a form that its schema fixes."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest

from curator.doors import BY_CITY, COUNT, Clock, clinic, usual_visits
from discreet import accounting
from discreet.accounting.filters import UnionFilter
from discreet.curator import Budget, schema
from discreet.data import EACH_ROW, Bounds, Table
from discreet.front import Curator
from discreet.noise import replay
from discreet.privacy.decimals import show_above
from discreet.privacy.events import Event, Pure

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}
KNOWN = {
    "$schema", "title", "description", "type", "const", "pattern", "minimum", "exclusiveMinimum",
    "exclusiveMaximum", "required", "properties", "additionalProperties", "items",
}  # fmt: skip


def problems(value, rules, place="label"):
    """Validate by the part of JSON Schema that the schema uses."""
    assert set(rules) <= KNOWN, set(rules) - KNOWN
    kinds = rules.get("type", list(TYPES))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    fits = any(isinstance(value, TYPES[kind]) for kind in kinds)
    if not fits or (isinstance(value, bool) and "boolean" not in kinds):
        yield f"{place} is no {kinds}"
        return
    if "const" in rules and value != rules["const"]:
        yield f"{place} is not {rules['const']}"
    if isinstance(value, str) and not re.search(rules.get("pattern", ""), value):
        yield f"{place} has another form"
    if isinstance(value, int | float) and not isinstance(value, bool):
        if "minimum" in rules and value < rules["minimum"]:
            yield f"{place} is too small"
        if "exclusiveMinimum" in rules and value <= rules["exclusiveMinimum"]:
            yield f"{place} is too small"
        if "exclusiveMaximum" in rules and value >= rules["exclusiveMaximum"]:
            yield f"{place} is too large"
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from problems(item, rules.get("items", {}), f"{place}[{number}]")
    if isinstance(value, dict):
        yield from (f"{place}.{name} is missing" for name in rules.get("required", []) if name not in value)
        for name, item in value.items():
            inner = rules.get("properties", {}).get(name, rules.get("additionalProperties", {}))
            if inner is False:
                yield f"{place}.{name} is unknown"
            else:
                yield from problems(item, inner, f"{place}.{name}")


def valid(label):
    """Return the label as it is read back from JSON, if it keeps to the schema."""
    read = json.loads(json.dumps(label, allow_nan=False))
    assert list(problems(read, schema())) == []
    return read


BUDGETS = {
    "pure": (Budget(epsilon=3), {"epsilon": "1/3"}),
    "approximate": (Budget(epsilon=3, delta="1e-6"), {"epsilon": "1/3", "delta": "1e-7"}),
    "normal noise": (Budget(epsilon=3, delta="1e-6"), {"rho": "1/50"}),
    "concentrated": (Budget(rho="1/3"), {"rho": "1/50"}),
    "renewing": (Budget(epsilon=3, renews="monthly", per_analyst=Budget(epsilon=1)), {"epsilon": "1/3"}),
}


@pytest.mark.parametrize("kind", BUDGETS)
def test_labels_keep_to_the_schema(place, kind):
    budget, offer = BUDGETS[kind]
    curator = clinic(place, budget=budget, clock=Clock(2026, 3, 5))
    for question in (BY_CITY, COUNT):
        label = valid(curator.ask(question, **offer).label)
        event = Event.from_object(label["event"])
        assert event == curator.request(question, **offer).event
        epsilon, rho = label["loss"]["epsilon"], label["loss"]["rho"]
        assert epsilon is None or event.pure_epsilon == Fraction(epsilon)
        assert event.concentrated_rho <= Fraction(rho)
        assert label["cost"] == expected_costs(budget.filter(), event)
        price = label["price"]
        assert price["certified"] is (epsilon is not None or budget.delta > 0)
        if epsilon is not None:
            assert price == {"epsilon": show_above(Fraction(epsilon)), "delta": "0", "certified": True}
        elif budget.delta:
            assert price["delta"] == "1e-6"
            assert accounting.epsilon(event, delta=budget.delta).lower <= float(price["epsilon"]) <= 3
        else:
            assert (price["epsilon"], price["delta"]) == (None, "0")


def expected_costs(cap, event):
    """What is taken of each limit, member by member where there are several."""
    members = cap.alive if isinstance(cap, UnionFilter) else [cap]
    return {
        f"{one.title}: {name}" if isinstance(cap, UnionFilter) else name: None if cost is None else str(cost)
        for one in members
        for name, cost in zip(one.names, one.cost(event), strict=True)
        if name != "delta" or one.limits[name] or not isinstance(cap, UnionFilter)
    }


def test_each_rule_of_the_schema_is_kept(place):
    """The control: a label with anything changed is refused."""
    label = clinic(place).ask(BY_CITY, epsilon=1).label

    def changed(path, value):
        copy = json.loads(json.dumps(label))
        inner = copy
        for name in path[:-1]:
            inner = inner[name]
        if value is None:
            del inner[path[-1]]
        else:
            inner[path[-1]] = value
        return copy

    assert list(problems(label, schema())) == []
    for path, value in [
        # Labels of earlier versions have none of these.
        *(((name,), None) for name in label if name not in {"price", "counted", "left"}),
        *((("budget", name), None) for name in label["budget"]),
        (("format",), "discreet-label-2"),
        (("private",), 1),
        (("confidence",), 1),
        (("confidence",), True),
        (("outputs",), "n"),
        (("outputs", 0), 3),
        (("loss", "epsilon"), "0.5"),
        (("loss", "delta"), 0),
        (("cost", "epsilon"), "-1"),
        (("price", "epsilon"), 0.5),
        (("price", "certified"), None),
        (("counted",), 1),
        (("left",), 0.5),
        (("charge", "entry"), 0),
        (("charge", "time"), "yesterday"),
        (("budget", "lifetime_epsilon"), "much"),
        (("anything",), 3),
    ]:
        assert list(problems(changed(path, value), schema())) != [], path


def test_what_a_label_says(place):
    curator = clinic(place, budget=Budget(epsilon=3, renews="monthly"), clock=Clock(2026, 3, 5))
    label = curator.ask(BY_CITY, epsilon="1/2").label
    assert label["private"] is True
    assert label["unit"] == {"visits": "all rows with the same patient"}
    assert label["neighbors"] == "add-remove person"
    assert label["loss"] == {"epsilon": "1/2", "rho": "1/24", "delta": "0"}
    assert label["charge"] == {"entry": 3, "time": "2026-03-05T00:00:00.000000Z"}
    assert label["budget"] == {
        "cap": "epsilon 3, monthly",
        "epsilon": "3",
        "delta": "0",
        "rho": None,
        "renews": "monthly",
        "period": "2026-03-01",
        "lifetime_epsilon": 0.5,
        "lifetime_delta": 0.0,
        "lifetime_rho": pytest.approx(1 / 24),
    }
    declared = usual_visits().declaration
    assert label["tables"] == {"visits": {**declared, "version": "1"}}
    assert label["outputs"] == ["n", "mean_cost"]
    assert any("clipping" in words for words in label["not_covered"])
    assert any("how long" in words for words in label["not_covered"])
    assert any("without looking" in words for words in label["assumptions"])


def test_the_lifetime_total_goes_on_over_all_periods(place):
    clock = Clock(2026, 3, 5)
    curator = clinic(place, budget=Budget(epsilon=1, renews="daily"), clock=clock)
    for day in range(5, 9):
        clock.set(2026, 3, day)
        label = curator.ask(f"{COUNT} AND age < {day}", epsilon=1).label
    assert label["budget"]["period"] == "2026-03-08"
    assert label["budget"]["lifetime_epsilon"] == 4
    clock.set(2026, 3, 9)
    curator.permit("training", epsilon="1/2")
    assert curator.ask(COUNT, epsilon="1/2").label["budget"]["lifetime_epsilon"] == 5


def test_a_total_without_a_finite_epsilon_is_stated_as_rho(place):
    curator = clinic(place, budget=Budget(rho="1/2"))
    budget = valid(curator.ask(COUNT, rho="1/50").label)["budget"]
    assert budget["lifetime_epsilon"] is None
    assert budget["lifetime_rho"] == pytest.approx(0.02, rel=1e-6)


def test_replayed_noise_is_not_private(place):
    with replay(3):
        label = clinic(place).ask(COUNT, epsilon=1).label
    assert valid(label)["private"] is False


def test_rows_as_persons(place):
    table = Table({"age": [1]}, person=EACH_ROW, columns={"age": Bounds(0, 9)})
    curator = Curator({"people": table}, budget=Budget(epsilon=1), ledger=place / "l")
    with curator.permit("x", epsilon="1/4") as permit:
        permit.charge(Pure(epsilon="1/8"))
    label = valid(curator.ask("SELECT COUNT(*) AS n FROM people", epsilon="1/2").label)
    assert label["unit"] == {"people": "one row"}
    assert label["budget"]["lifetime_epsilon"] == 0.625


def test_the_schema_is_a_copy():
    schema()["required"] = []
    assert "budget" in schema()["required"]
