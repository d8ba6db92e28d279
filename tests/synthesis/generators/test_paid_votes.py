import numpy as np
import pytest

from discreet.learning.teachers.aggregation import GNMax
from discreet.privacy.events import compose
from discreet.synthesis.generators.paid_votes import PaidVotes
from synthesis.charged_steps import made_up
from synthesis.generators.generator_runs import Book, pate_gan, watched

VOTES = GNMax(sigma=3, teachers=4, classes=2)
COUNTS = np.array([[4, 0], [1, 3]])


def test_a_round_is_charged_before_votes_are_counted():
    book = Book()
    gate = PaidVotes(VOTES, rounds=2, queries=2, record=book)

    def counted():
        assert len(book.charged) == gate.taken  # this round's charge is there
        return COUNTS

    assert gate.answer(counted) is not None
    assert gate.answer(counted) is not None
    assert gate.answer(counted) is None
    assert compose(book.charged) == VOTES.event(2) * 2


def test_nobody_votes_on_what_cannot_be_paid():
    gate = PaidVotes(VOTES, rounds=9, queries=2, record=Book(refuse_from=1))
    assert gate.answer(lambda: COUNTS) is not None
    for _ in range(2):
        assert gate.answer(lambda: pytest.fail("asked without paying")) is None
    assert gate.taken == 1


def test_a_round_of_more_queries_than_were_charged_is_refused():
    gate = PaidVotes(VOTES, rounds=1, queries=1, record=None)
    with pytest.raises(ValueError, match="another number of queries"):
        gate.answer(lambda: COUNTS)


class CountsEpochs(PaidVotes):
    """Planted: an accountant of epochs, of which each has three rounds."""

    def answer(self, counted):
        if self.taken % 3:
            self.taken += 1
            return self._aggregation.answer(counted()) if self.taken <= self._rounds else None
        return super().answer(counted)


class PaysLater(PaidVotes):
    """Planted: charged when the answer is there."""

    def answer(self, counted):
        record, self._record = self._record, None
        found = super().answer(counted)
        self._record = record
        if found is not None:
            record.charge(self.event_of_round)
        return found


@pytest.mark.parametrize("gate", [PaidVotes, CountsEpochs, PaysLater])
def test_untracked_steps_are_noticed(gate, monkeypatch):
    monkeypatch.setattr("discreet.synthesis.generators.base.PaidVotes", gate)
    book = Book()
    with watched(book):
        pate_gan().release(made_up(60), record=book)
    assert book.is_paid == (gate is PaidVotes)
