"""The dosing study: patients follow published laws, noise costs doses, and the attack learns the science."""

from __future__ import annotations

import numpy as np
import pytest
import warfarin

from examples import dosing_study as example


def test_patients_follow_the_stated_laws():
    people = warfarin.patients(40_000, np.random.default_rng(1))
    assert people.design.shape == (40_000, len(warfarin.NAMES)) == (40_000, len(warfarin.EFFECTS))
    for place, (low, high) in enumerate(warfarin.BOUNDS):
        assert (people.design[:, place] >= low).all()
        assert (people.design[:, place] <= high).all()
    for group in range(3):
        counts = np.bincount(people.genotype[people.group == group], minlength=3)
        assert counts / counts.sum() == pytest.approx(warfarin.prior()[group], abs=0.02)
    assert (people.design[:, 3] + 2 * people.design[:, 4] == people.genotype).all()
    explained = warfarin.CONSTANT + people.design @ warfarin.EFFECTS
    assert np.std(people.root_dose - explained) == pytest.approx(warfarin.ERROR, abs=0.02)
    assert 0.4 < 1 - warfarin.ERROR**2 / people.root_dose.var() < 0.65
    assert 25 < (people.root_dose**2).mean() < 40


def test_least_squares_finds_the_printed_effects():
    people = warfarin.patients(40_000, np.random.default_rng(2))
    fresh = warfarin.patients(1000, np.random.default_rng(3))
    difference = example.plain_fit(people)(fresh.design) - example.true_effects(people)(fresh.design)
    assert np.abs(difference).mean() < 0.05


def test_risk_is_least_at_the_right_dose():
    right = np.full(10, 35.0)
    risks = [example.adverse_events(right * factor, right) for factor in (0.25, 0.5, 1.0, 2.0, 3.0)]
    assert risks[2] == pytest.approx(20)
    assert risks[0] > risks[1] > risks[2] < risks[3] < risks[4]


def test_the_attack_is_the_most_probable_genotype_by_a_plain_loop():
    people = warfarin.patients(60, np.random.default_rng(4))
    model = example.true_effects(people)
    guessed = example.guessed_genotypes(model, people)
    for place in range(60):
        density = []
        for genotype in range(3):
            row = people.design[place : place + 1].copy()
            row[0, 3], row[0, 4] = genotype == 1, genotype == 2
            away = (people.root_dose[place] - model(row)[0]) / warfarin.ERROR
            density.append(warfarin.prior()[people.group[place], genotype] * np.exp(-(away**2) / 2))
        assert guessed[place] == int(np.argmax(density))


@pytest.mark.statistical
def test_noise_costs_accuracy_and_the_attack_gains_little_from_being_in_the_data():
    table = example.study(count=3000, runs=3, epsilons=(0.02, 10.0))
    assert table["epsilon 10"]["error"].mean() < table["epsilon 0.02"]["error"].mean()
    assert table["without privacy"]["error"].mean() < table["35 mg for all"]["error"].mean()
    plain = table["without privacy"]
    assert plain["members"].mean() > table["no model"]["members"].mean() + 0.05
    assert abs(plain["members"].mean() - plain["others"].mean()) < 0.03
    assert abs(plain["members"].mean() - table["printed effects"]["members"].mean()) < 0.03


def test_it_prints(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(example.study, "__defaults__", (500, 2, (1.0,)))
    example.main(str(tmp_path))
    assert "without privacy" in capsys.readouterr().out
