"""Multiplicative weights: every update gains what the lemma says, replays never lose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.workloads.data_release.reweighting import NoisyAnswer, Reweighting
from effort import examples


def relative_entropy(truth, cells):
    share, other = truth / truth.sum(), cells / cells.sum()
    kept = share > 0
    return float((share[kept] * np.log(share[kept] / other[kept])).sum())


@settings(deadline=None)
@given(
    table=st.lists(st.integers(0, 20), min_size=2, max_size=6).filter(lambda counts: sum(counts) > 0),
    data=st.data(),
)
def test_an_update_gains_what_the_lemma_says(table, data):
    """Entropy falls by at least (e^2 - noise^2) / (4 N^2 h^2); the answer may lie anywhere."""
    truth = np.array(table)
    total, cells = int(truth.sum()), truth.size
    queries = np.array(
        data.draw(
            st.lists(st.lists(st.integers(-2, 3), min_size=cells, max_size=cells), min_size=1, max_size=3)
        )
    )
    half = (queries.max(axis=1) - queries.min(axis=1)).max() / 2
    learner, history = Reweighting(queries, total, tolerated=np.inf), []
    for _ in range(4):
        query = data.draw(st.integers(0, len(queries) - 1))
        right = int(queries[query] @ truth)
        history.append(NoisyAnswer(query=query, answer=right + data.draw(st.integers(-30, 30))))
        error = right - float(queries[query] @ learner.cells)
        noise = history[-1].answer - right
        before = relative_entropy(truth, learner.cells)
        learner = learner.corrected(history, passes=0)
        assert learner.cells.sum() == pytest.approx(total)
        if half > 0:
            gained = before - relative_entropy(truth, learner.cells)
            assert gained >= (error**2 - noise**2) / (4 * total**2 * half**2) - 1e-9


@settings(deadline=None, max_examples=examples(50))
@given(seed=st.integers(0, 10_000))
def test_replays_within_the_tolerance_never_lose(seed):
    """With every noise at most b and replays only beyond 2 b, each replay brings the estimate closer."""
    random = np.random.default_rng(seed)
    queries = random.integers(0, 2, (5, 8))
    truth = random.poisson(30, 8)
    bound = 20
    history = [
        NoisyAnswer(query=q, answer=int(queries[q] @ truth + random.integers(-bound, bound + 1)))
        for q in range(5)
    ]
    learner = Reweighting(queries, int(truth.sum()), tolerated=2 * bound)
    once = learner.corrected(history, passes=0)
    often = learner.corrected(history, passes=30)
    assert relative_entropy(truth, often.cells) <= relative_entropy(truth, once.cells) + 1e-12
    for one in history:  # nothing is left to replay, or passes ran out
        assert abs(one.answer - queries[one.query] @ often.cells) <= 2 * bound + 0.25 * truth.sum()


def test_queries_that_cannot_tell_cells_apart_change_nothing():
    learner = Reweighting(np.ones((1, 4), int), 100, tolerated=0.0)
    assert learner.corrected([NoisyAnswer(query=0, answer=7)], passes=3).cells.tolist() == [25.0] * 4


def test_it_starts_uniform_and_learns():
    queries = np.eye(3, dtype=int)
    learner = Reweighting(queries, 90, tolerated=0.0)
    assert learner.cells.tolist() == [30.0, 30.0, 30.0]
    history = [
        NoisyAnswer(query=0, answer=80),
        NoisyAnswer(query=1, answer=10),
        NoisyAnswer(query=2, answer=0),
    ]
    learned = learner.corrected(history, passes=2000).cells
    assert learned == pytest.approx([80, 10, 0], abs=0.5)


def test_an_impossible_answer_moves_the_estimate_no_farther_than_the_nearest_possible_one():
    learner = Reweighting(np.array([[1, 1, 0, 0]]), 100, tolerated=0.0)
    for impossible, possible in ((10**9, 100), (-(10**9), 0)):
        moved = learner.corrected([NoisyAnswer(query=0, answer=impossible)], passes=0).cells
        edge = learner.corrected([NoisyAnswer(query=0, answer=possible)], passes=0).cells
        assert np.array_equal(moved, edge)
