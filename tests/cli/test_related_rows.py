import io
import json
from dataclasses import dataclass, field

import pyarrow.parquet
import pytest

from discreet.cli.related_rows import render_related
from discreet.noise import replay
from synthesis.related.test_related_tables import counted, synthesizer


@dataclass
class Released:
    """What is rendered of a release, without a curator."""

    data: object
    rows: int | None = 30
    label: dict = field(default_factory=lambda: {"private": True})

    def to_arrow(self, *, seed):
        return self.data.to_arrow(self.rows, seed=seed)


@pytest.fixture(scope="module")
def released():
    made = synthesizer(rho=100)
    with replay(3):
        return Released(made.finished(*made.draw(*counted(made)), private=False))


def test_all_forms_hold_the_same_rows(released):
    persons, events = render_related(released, "csv", seed=2, bill={})
    assert persons.startswith(b"k,age,sex\n")
    content = json.loads(render_related(released, "json", seed=2, bill={"paid": "x"})[0])
    assert content["paid"] == "x"
    assert len(content["synthetic"]["p"]) == len(persons.splitlines()) - 1 == 30
    assert len(content["synthetic"]["e"]) == len(events.splitlines()) - 1
    held = [
        pyarrow.parquet.read_table(io.BytesIO(one))
        for one in render_related(released, "parquet", seed=2, bill={})
    ]
    assert held[0].num_rows == 30
    assert held[1].column_names == ["k", "ward", "cost"]
    assert json.loads(held[1].schema.metadata[b"discreet.label"]) == {"private": True}
    shown = render_related(released, "table", seed=2, bill={})[0].decode()
    assert shown.startswith("p\n")
    assert "synthetic rows: 30" in shown
