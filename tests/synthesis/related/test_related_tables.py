import numpy as np
import pytest

from discreet.data import Keys
from discreet.errors import UnsupportedQuery
from discreet.noise import replay
from discreet.privacy.offer import Offer
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.measuring.exact_tables import CountedRows
from discreet.synthesis.related.related_tables import RelatedTables, TableNames, number_axis
from synthesis.charged_steps import is_charged, watched
from synthesis.related.tiny_clinic import PATIENT_COLUMNS, VISIT_COLUMNS

NAMES = TableNames(persons="p", events="e", person_key="k", event_key="k", columns=("age", "sex"))


def synthesizer(rho=1, rows=3, kind=RelatedTables):
    return kind.bought(
        CodedColumns.declared(PATIENT_COLUMNS).columns,
        CodedColumns.declared(VISIT_COLUMNS).columns,
        number=number_axis("number", rows),
        offer=Offer(rho=rho),
        rows=rows,
        names=NAMES,
    )


def counted(made, people=300, seed=0):
    random = np.random.default_rng(seed)
    shape = made.persons.domain.shape
    codes = np.stack([random.integers(0, size, people) for size in shape], axis=1)
    owners = np.repeat(codes, codes[:, -1], axis=0)
    own = [random.integers(0, size, len(owners)) for size in made.events.events.shape]
    events = np.hstack([owners, np.stack(own, axis=1)])
    return CountedRows(shape=shape, codes=codes), CountedRows(shape=made.events.shape, codes=events)


def test_persons_and_events_are_what_is_charged():
    made = synthesizer()
    with watched() as drawn:
        made.draw(*counted(made))
    assert is_charged(made, drawn)
    assert made.guarantee.rho == 1
    assert len(made.steps) == 5


class Unpaid(RelatedTables):
    """Planted: only persons are paid for."""

    @property
    def event(self):
        return self.persons.event


class Twice(RelatedTables):
    """Planted: persons are measured again for their events."""

    def draw(self, persons, events):
        found = super().draw(persons, events)
        self.persons.measured_columns(persons)
        return found


class Unbounded(RelatedTables):
    """Planted: events have noise for one row of a person, whatever the limit is."""

    def draw(self, persons, events):
        first = self.persons.draw(persons)
        model = self.persons.model(first)
        one = type(self.events).costing(self.events.persons, self.events.events, self.stated.rho * 3 / 5, 1)
        return first, one.draw(events, self.columns_of_persons(first), model)


@pytest.mark.parametrize("planted", [Unpaid, Twice, Unbounded])
def test_planted_faults_are_noticed(planted):
    made = synthesizer(kind=planted)
    with watched() as drawn:
        made.draw(*counted(made))
    assert not is_charged(made, drawn)


def test_numbers_of_events_have_cells_of_their_own_up_to_256():
    assert number_axis("n", 256).cells == 257
    wide = number_axis("n", 10_000)
    assert wide.cells <= 257
    made = synthesizer(rows=10_000)
    values = made.events.numbers
    assert values[0] == (wide.width - 1) / 2
    assert values[-1] <= 10_000
    assert len(values) == wide.cells
    with replay(1):
        persons, events = (
            counted(made, 5)[0],
            CountedRows(shape=made.events.shape, codes=np.zeros((0, len(made.events.shape)), np.int64)),
        )
        found = made.finished(*made.draw(persons, events), private=False)
    assert found.codes(3).numbers.max() <= 10_000


def test_too_many_cells_are_refused():
    few = CodedColumns.declared(PATIENT_COLUMNS).columns
    many = CodedColumns.declared({f"x{place}": Keys(range(700)) for place in range(10)}).columns
    with pytest.raises(UnsupportedQuery, match="lower limit"):
        RelatedTables.bought(few, many, number=number_axis("n", 3), offer=Offer(rho=1), rows=3, names=NAMES)
