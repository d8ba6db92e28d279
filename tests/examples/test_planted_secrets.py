"""Planted secrets: exact ranks of codes, memory without privacy, and none to speak of with it."""

from __future__ import annotations

import character_model
import numpy as np
import pytest
import torch

from examples import planted_secrets as example


def test_contexts_come_before_their_characters():
    contexts, targets = character_model.coded(["the cat sees the dog."])
    assert contexts.shape == (1, character_model.LENGTH, character_model.CONTEXT)
    for place in range(1, character_model.LENGTH):
        assert contexts[0, place, -1] == targets[0, place - 1]
    assert "".join(character_model.LETTERS[one] for one in targets[0]).strip() == "the cat sees the dog."


def test_ranks_of_codes_are_those_of_whole_lines(monkeypatch):
    """The loss of a code digit by digit orders codes as the loss of its line does."""
    monkeypatch.setattr(example, "DIGITS", 2)
    torch.manual_seed(5)
    model = character_model.CharacterModel()
    codes = [f"{number:02d}" for number in range(100)]
    contexts, targets = character_model.coded([example.PREFIX + code for code in codes])
    here = slice(len(example.PREFIX), len(example.PREFIX) + 2)
    with torch.no_grad():
        whole = character_model.losses(model, contexts[:, here], targets[:, here]).double().numpy()
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
    plain = example.text_runs("RMSprop", None, 2)[0][:, -1]
    quiet = example.text_runs("RMSprop", 2.0, 5, epochs=8)[0][:, -1]
    assert plain.min() > 17
    assert quiet.mean() < 4.5


def test_shortened_gradients_are_those_of_lines_one_by_one():
    torch.manual_seed(3)
    model = character_model.CharacterModel()
    contexts, targets = character_model.coded(["the cat sees the dog.", "the code is 123456."])
    character_model.clipped_gradient(model, contexts, targets)
    found = torch.cat([one.grad.flatten() for one in model.parameters()])
    expected = torch.zeros_like(found)
    for line in range(2):
        model.zero_grad()
        character_model.losses(model, contexts[line : line + 1], targets[line : line + 1]).sum().backward()
        one = torch.cat([each.grad.flatten() for each in model.parameters()])
        assert one.norm() > character_model.CLIP
        expected += one * (character_model.CLIP / one.norm()) / 2
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-7)


def test_extraction_is_a_matter_of_rank():
    bits = np.log2(1e6 / np.array([1, 99, 101, 5e5]))[:, None]
    assert example.Row("any", bits, None, 10**6).extracted == 2


def test_there_are_nine_ways_and_the_last_forget_privacy():
    assert len(example.WAYS) == 9
    assert [epsilon for _, epsilon in example.WAYS[-3:]] == [float("inf"), None, None]


def test_it_prints(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example, "DIGITS", 2)
    monkeypatch.setattr(example, "LINES", 80)
    monkeypatch.setattr(example.text_runs, "__defaults__", (2,))
    monkeypatch.setattr(example.study, "__defaults__", (1, (("RMSprop", 1.0), ("SGD", float("inf")))))
    example.main(str(tmp_path))
    shown = capsys.readouterr().out
    assert "table, no privacy" in shown
    assert "SGD, clipped, no noise" in shown
