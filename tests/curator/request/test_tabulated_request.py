from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet.curator.request.tabulated_request import TabulatedRequest
from discreet.data import Source
from discreet.errors import EngineFailed, LedgerTampered, ParameterError
from discreet.privacy.offer import Offer
from discreet.synthesis import SpanningTree
from discreet.synthesis.asking.question import SynthesisQuestion
from discreet.synthesis.asking.table_synthesis import TableSynthesis


def table(rows=2, version="1"):
    frame = pd.DataFrame({"p": [1, 1, 2, 3], "age": [1, 2, 3, 3], "sex": ["f", "m", "f", "x"]})
    return dp.Table(
        frame,
        person="p",
        limits=dp.Limits(rows=rows),
        columns={"age": dp.Bounds(0, 3), "sex": dp.Keys(["f", "m"])},
        version=version,
    )


def request(tables, rho=1, **given):
    question = SynthesisQuestion(
        relation=Source(table="t"), columns=("age", "sex"), method="spanning tree", widths={}, **given
    )
    return question.request(tables, Offer(rho=rho), Fraction(19, 20))


def test_identities_tell_requests_apart_and_names_do_not_matter():
    tables = {"t": table()}
    one = request(tables)
    assert isinstance(one, TabulatedRequest)
    assert one.identity == request(tables).identity
    assert one.identity != request(tables, rho=2).identity
    assert one.identity != request(tables, missing=False).identity


def test_other_tables_and_larger_limits_are_refused():
    one = request({"t": table()})
    one.check({"t": table()})
    one.check({"t": table(rows=1)})  # a person moves less than is covered
    for wrong in ({}, {"t": table(version="2")}, {"t": table(rows=3)}):
        with pytest.raises(ParameterError):
            one.check(wrong)


def test_what_is_drawn_is_read_again_and_nothing_else():
    tables = {"t": table()}
    one = request(tables)
    content = one.draw(tables)
    keys, (column,), private = one.opened(content)
    assert private
    assert len(keys["table"]) == len(column.values)
    assert (column.lower < column.values).all()
    for wrong in (
        b"",
        b"{}",
        b'{"drawn":[],"private":true}',
        content.replace(b'"columns":[0]', b'"columns":[1]'),
    ):
        with pytest.raises(LedgerTampered):
            one.opened(wrong)


def test_errors_of_the_engine_do_not_leave_and_nothing_is_stored(monkeypatch):
    def fails(*given, **named):
        raise ValueError("a value from the data")

    tables = {"t": table()}
    one = request(tables)
    monkeypatch.setattr("discreet.curator.request.tabulated_request.compute", fails)
    with pytest.raises(EngineFailed) as found:
        one.draw(tables)
    assert found.value.__cause__ is found.value.__context__ is None
    assert "value from the data" not in str(found.value)


@pytest.mark.parametrize("wrong", [MemoryError("a value from the data"), float("nan"), object()])
def test_a_draw_that_failed_is_the_one_answer(monkeypatch, wrong):
    tables = {"t": table()}
    one = request(tables)

    def fails(self, tables):
        if isinstance(wrong, Exception):
            raise wrong
        return [wrong]

    monkeypatch.setattr(type(one.mechanism), "draw", fails)
    content = one.draw(tables)
    assert content == b'{"drawn":null,"private":true}'
    with pytest.raises(EngineFailed) as found:
        one.opened(content)
    assert found.value.__cause__ is found.value.__context__ is None


def test_a_curator_draws_once_even_if_that_failed(monkeypatch, tmp_path):
    # Planted: a mechanism that fails after it drew, as if memory had run out. Whether it does depends on its
    # noise, so that asking again until it works would be many draws for one charge.
    drawn = []
    draw = TableSynthesis.draw

    def fails(self, tables):
        drawn.append(draw(self, tables))
        raise MemoryError

    monkeypatch.setattr(TableSynthesis, "draw", fails)
    clinic = dp.Curator({"t": table()}, budget=dp.Budget(rho=10), ledger=tmp_path / "c.ledger")
    for _ in range(3):
        with pytest.raises(EngineFailed):
            clinic.synthesize("t", ["age", "sex"], rho=1, method="independent")
    assert len(drawn) == clinic.spent.requests == 1


def test_a_mechanism_must_read_tables():
    one = request({"t": table()})
    with pytest.raises(ParameterError):
        TabulatedRequest(plan=one.plan, versions=one.versions, mechanism=None)
    with pytest.raises(ParameterError):
        TabulatedRequest(plan=one.plan, versions=(), mechanism=one.mechanism)
    assert np.isfinite(one.expectations(100)[0].margin)


def test_only_mechanisms_of_the_library_are_taken_and_so_are_their_parts():
    class Kept(TableSynthesis):
        """Planted: a mechanism that would answer with what it reads."""

        def draw(self, tables):
            return [one.tolist() for one in tables]

    class Evil(SpanningTree):
        """Planted: a synthesizer that would keep what it counts."""

    one = request({"t": table()})
    made = one.mechanism.synthesizer
    evil = Evil(columns=made.domain, rho=1, rows=made.rows)
    for wrong in (Kept(synthesizer=made), TableSynthesis(synthesizer=evil)):
        with pytest.raises(ParameterError, match="proven"):
            TabulatedRequest(plan=one.plan, versions=one.versions, mechanism=wrong)
