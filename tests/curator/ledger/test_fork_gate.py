"""Forks and ledgers: no connection crosses a fork, and an object made before it works after it."""

from __future__ import annotations

import pytest

from curator.ledger.processes import run

HERE = "curator.ledger.forks"


@pytest.mark.few(1)
def test_parent_and_child_use_what_was_opened_before(backend):
    result = run(f"{HERE}:use_on_both_sides", location=backend.location, name=backend.name)
    assert result == {"child": 0, "spent": 30, "entries": 30}


@pytest.mark.few(1)
def test_a_fork_waits_for_the_transaction_of_another_thread(backend):
    result = run(f"{HERE}:fork_beside_a_transaction", location=backend.location, name=backend.name)
    assert result["child"] == 0
    assert result["entries"] == 2
    if backend.name is None:
        assert result["order"] == ["in", "out", "forked"]


@pytest.mark.few(1)
@pytest.mark.parametrize("point", ["decided", "appended"])
@pytest.mark.parametrize("ending", ["return", "exit"])
def test_a_child_forked_inside_a_transaction_cannot_touch_it(backend, point, ending):
    result = run(
        f"{HERE}:fork_inside_a_transaction",
        location=backend.location,
        name=backend.name,
        point=point,
        ending=ending,
    )
    assert result == {"child": 0, "entries": 2, "spent": 2}
