"""Planted secrets: exact ranks of codes, memory without privacy, and none to speak of with it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from examples import planted_secrets as example


def test_contexts_come_before_their_characters():
    contexts, targets = example.coded(["the cat sees the dog."])
    assert contexts.shape == (1, example.LENGTH, example.CONTEXT)
    for place in range(1, example.LENGTH):
        assert contexts[0, place, -1] == targets[0, place - 1]
    assert "".join(example.LETTERS[one] for one in targets[0]).strip() == "the cat sees the dog."


def test_ranks_of_codes_are_those_of_whole_lines(monkeypatch):
    """The loss of a code digit by digit orders codes as the loss of its line does."""
    monkeypatch.setattr(example, "DIGITS", 2)
    torch.manual_seed(5)
    model = example.CharacterModel()
    codes = [f"{number:02d}" for number in range(100)]
    contexts, targets = example.coded([example.PREFIX + code for code in codes])
    here = slice(len(example.PREFIX), len(example.PREFIX) + 2)
    with torch.no_grad():
        whole = example.losses(model, contexts[:, here], targets[:, here]).double().numpy()
    for code in ("00", "37", "99"):
        rank = 1 + np.sum(np.delete(whole, int(code)) <= whole[int(code)])
        assert example.text_exposure(model, code).bits == pytest.approx(np.log2(100 / rank), abs=0.15)


def test_perplexities_of_rows_are_sums_over_their_pairs(monkeypatch):
    """The rank of a row, by a plain loop over all rows of rare values."""
    kept = {}
    monkeypatch.setattr(
        example, "rank_exposure", lambda value, others: kept.update(value=value, others=others)
    )
    example.table_exposure(None, np.random.default_rng(7))
    source = np.random.default_rng(7)
    rows = source.integers(0, 5, (1000, 6))
    rows[0] = secret = source.integers(5, 10, 6)

    def perplexity(row):
        total = 0.0
        for place in range(5):
            after = rows[rows[:, place] == row[place], place + 1]
            total -= np.log((np.sum(after == row[place + 1]) + 0.5) / (len(after) + 5))
        return total

    assert kept["value"] == pytest.approx(perplexity(secret))
    assert len(kept["others"]) == 5**6 - 1
    assert kept["others"][0] == pytest.approx(perplexity([5] * 6))
    assert kept["others"][-1] == pytest.approx(perplexity([9] * 6))
    assert kept["others"][-2] == pytest.approx(perplexity([9] * 5 + [8]))


@pytest.mark.statistical
def test_a_table_of_counts_gives_a_rare_row_away_and_a_noisy_one_does_not():
    plain = [example.table_exposure(None, np.random.default_rng(k)).bits for k in range(3)]
    noisy = [example.table_exposure(0.5, np.random.default_rng(k)).bits for k in range(30)]
    assert min(plain) > 13
    assert np.mean(noisy) < 4


@pytest.mark.slow
@pytest.mark.statistical
def test_without_privacy_a_code_is_remembered_and_with_it_it_is_not():
    plain = example.text_runs("RMSprop", None, 2)[:, -1]
    quiet = example.text_runs("RMSprop", 2.0, 5, epochs=8)[:, -1]
    assert plain.min() > 17
    assert quiet.mean() < 4.5


def test_it_prints(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example, "DIGITS", 2)
    monkeypatch.setattr(example, "LINES", 80)
    monkeypatch.setattr(example.text_runs, "__defaults__", (2,))
    monkeypatch.setattr(example.study, "__defaults__", (1, (1.0,)))
    example.main(str(tmp_path))
    assert "table, no privacy" in capsys.readouterr().out
