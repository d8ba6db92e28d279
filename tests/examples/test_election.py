"""The election: a clear winner is named exactly, a close one is not."""

from __future__ import annotations

from discreet.mechanisms.adaptive.no_answer import NO_ANSWER
from examples import election


def test_a_clear_winner_is_named_and_a_close_one_is_not():
    assert election.WINNER.release(election.CLEAR) == 0  # for certain: the lead is beyond the table
    assert election.WINNER.error_at(lead=election.CLEAR[0] - election.CLEAR[1]) == 0.0
    assert election.WINNER.error_at(lead=election.CLOSE[0] - election.CLOSE[1]) > 0.99999
    assert election.FINALISTS.release(election.CLOSE).tolist() == [0, 1]
    assert election.named(NO_ANSWER) == "no answer"


def test_many_candidates_cost_the_exponential_mechanism_only():
    table = {lead: (silent, few, many) for lead, silent, few, many in election.comparison()}
    assert table[28] == (0.0, table[28][1], table[28][2])
    assert table[15][0] < table[15][2]  # a million candidates
    assert table[15][0] > table[15][1]  # two
    for earlier, later in zip(table.values(), list(table.values())[1:], strict=False):
        assert all(b < a for a, b in zip(earlier, later, strict=True))


def test_it_prints(capsys, tmp_path):
    election.main(str(tmp_path))
    printed = capsys.readouterr().out
    assert "winner, exact or nothing:     Ada\n" in printed
    assert "multiplies the probability of any set of outcomes" in printed
