"""The ladder: the lecture's numbers, and rows that stay in order."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from discreet import accounting
from discreet.accounting.ladder import Ladder, Rung, ladder
from discreet.errors import ParameterError
from discreet.privacy import REPLACE_PERSON, events

RUN = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000


@pytest.fixture(scope="module")
def lecture():
    return ladder(RUN, 1e-5, tight=lambda event, delta: 0.9468668)


def test_the_lectures_numbers_within_rounding(lecture):
    # (12,000, 0.1), (360, 0.1), (10, 0.001), (1.25, 1e-5); the last is 1.2586, cut off after two digits.
    rounded = {
        name: (float(f"{lecture[name].epsilon:.2g}"), float(f"{lecture[name].delta:.1g}"))
        for name in ("basic", "strong", "amplified")
    }
    assert rounded == {"basic": (12_000, 0.1), "strong": (360, 0.1), "amplified": (10, 0.001)}
    assert math.floor(lecture["moments"].epsilon * 100) / 100 == 1.25
    assert lecture["moments"].delta == 1e-5
    assert lecture["renyi"].epsilon == pytest.approx(1.0355, abs=1e-4)


def test_the_lectures_formulas_by_hand(lecture):
    step = math.sqrt(2 * math.log(1.25 / 1e-5)) / 4
    assert lecture["basic"].epsilon == pytest.approx(1e4 * step)
    assert "1.211" in lecture["basic"].note
    assert lecture["strong"].epsilon == pytest.approx(step * math.sqrt(2e4 * math.log(9 / 0.1)))
    assert lecture["amplified"].epsilon == pytest.approx(0.02 * step * math.sqrt(2e4 * math.log(9 / 0.001)))


def test_rules_of_thumb_are_not_called_proven(lecture):
    assert {row.name for row in lecture if not row.proven} == {"strong", "amplified"}
    assert all("no guarantee" in row.note for row in lecture if not row.proven)
    assert lecture["optimal"].epsilon > lecture["strong"].epsilon


def test_rows_fall_and_end_with_the_tight_one(lecture):
    assert all(a.epsilon >= b.epsilon for a, b in pairwise(lecture))
    assert lecture.rows[-1] == Rung(
        name="tight", epsilon=0.9468668, delta=1e-5, method="laws of the losses, composed"
    )


def test_the_table_reads(lecture):
    lines = repr(lecture).splitlines()
    assert len(lines) == len(lecture.rows) + 2
    assert "add-remove person" in lines[0]
    assert any(line.startswith("basic") and "12,112" in line and "0.1" in line for line in lines)
    assert not any(line != line.rstrip() for line in lines)
    with pytest.raises(KeyError):
        lecture["magic"]


def test_general_runs_get_the_rows_that_apply():
    mixed = events.Laplace(epsilon=0.05) * 50 + events.Gaussian(noise_multiplier=20) * 20
    names = [row.name for row in ladder(mixed, 1e-6, tight=lambda event, delta: 1.0)]
    assert names == ["basic", "optimal", "renyi", "tight"]
    pure = ladder(events.Pure(epsilon=0.1) * 100, 1e-5, tight=lambda event, delta: 0.0)
    assert {row.delta for row in pure} == {0.0, 1e-5}
    assert pure["optimal"].epsilon < pure["advanced"].epsilon < pure["basic"].epsilon == 10
    one = ladder(events.Gaussian(noise_multiplier=1), 1e-6, tight=lambda event, delta: 0.0)
    assert [row.name for row in one][:1] == ["basic"]
    curve = ladder(events.Renyi(curve=[(8, 0.1)]) * 3, 1e-5, tight=lambda event, delta: 0.0)
    assert [row.name for row in curve] == ["renyi", "tight"]
    fixed = (
        events.SampledWithoutReplacement(
            events.Pure(epsilon=0.5, neighbors=REPLACE_PERSON), batch=1, population=50
        )
        * 200
    )
    rows = ladder(fixed, 1e-6, tight=lambda event, delta: 0.0)
    assert rows["amplified optimal"].epsilon < rows["optimal"].epsilon
    assert isinstance(rows, Ladder)


def test_the_last_row_is_the_accountants():
    assert ladder(RUN, 1e-5).rows[-1].epsilon == pytest.approx(0.94687, abs=1e-5)
    assert ladder(RUN, 1e-5).rows[-1].epsilon == float(accounting.epsilon(RUN, delta=1e-5))


def test_steps_with_a_delta_of_their_own():
    run = ladder(events.Approximate(epsilon=0.1, delta=1e-7) * 100, 1e-4, tight=lambda event, delta: 0.0)
    assert run["basic"].delta == pytest.approx(1e-5)
    assert run["renyi"].delta == 1e-4


def test_steps_that_only_fail_now_and_then_add_their_delta_to_every_theorem():
    step = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01)
    plain, failing = (
        ladder(run, 1e-5, tight=lambda event, delta: 0.0)
        for run in (step * 100, (step + events.Approximate(epsilon=0, delta=1e-9)) * 100)
    )
    assert [row.name for row in failing] == [row.name for row in plain]
    for one, other in zip(plain, failing, strict=True):
        if one.name in {"renyi", "tight"}:
            assert other.delta == one.delta == 1e-5
            assert other.epsilon >= one.epsilon
        else:
            assert other.epsilon == one.epsilon
            assert one.delta + 1e-7 <= other.delta <= (one.delta + 1e-7) * (1 + 1e-12)
    alone = ladder(events.Approximate(epsilon=0, delta=1e-9) * 10, 1e-5, tight=lambda event, delta: 0.0)
    assert alone["basic"].delta == pytest.approx(1e-8)


@pytest.mark.parametrize("delta", [0, 1, -1, math.nan])
def test_bad_delta(delta):
    with pytest.raises(ParameterError, match=r"^delta "):
        ladder(RUN, delta)
