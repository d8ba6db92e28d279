"""A release: an answer with its errors, what was drawn for it, and what it promises."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from discreet.curator.release import said
from discreet.curator.release.cell_text import cell, key_text, known_values
from discreet.curator.request.compound_request import CompoundRequest
from discreet.curator.request.counted_keys_request import CountedKeysRequest
from discreet.curator.request.histogram import HistogramMechanism
from discreet.curator.request.key_request import KeyRequest
from discreet.curator.request.request import AnswerColumn, AnswerValues, Draw, Output, Request, column_names
from discreet.curator.request.statistic_request import StatisticRequest
from discreet.curator.request.tabulated_request import TabulatedRequest
from discreet.errors import LedgerTampered, MissingExtra
from discreet.noise import is_private
from discreet.noise.replayed import mark_replayed
from discreet.privacy.events import Event, compose
from discreet.records import dataclass
from discreet.visible import visible, visible_json

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from discreet.data import Plan
    from discreet.data.language.plan import KeyPlan
    from discreet.figures import Axes, Panels

__all__ = [
    "Release",
    "WholeOutput",
    "are_private",
    "as_drawn",
    "assembled",
    "finish",
    "pack",
    "pack_several",
    "unpack",
    "unpack_several",
]

_Numbers = TypeVar("_Numbers", bound=np.ndarray)

_SHOWN = 20
_REPLAYED = "replayed"
_MEASURED = "measured"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """An answer. Everything in it is public and may be processed freely.

    Attributes
    ----------
    keys : mapping of names to columns
        The keys of every group, in declared order.
    outputs : tuple of AnswerColumn
        For every output its values, and the interval around each or another promise.
    label : mapping
        A machine-readable statement of the guarantee; see `discreet.curator.release.label`.
    stored : bool
        Whether it was read from the ledger's store: then nothing was spent for it this time.
    chosen : tuple of KeyRequest
        How its keys were chosen, if they were undeclared. This was paid for as well.
    before : tuple of Request
        The earlier measurements that it is averaged with. They were paid for as well.
    bought : tuple of Request
        What its limits and bounds were derived from, if they were bought. This was paid for as well.
    order : tuple of str
        The keys and outputs that are shown, in order, if these are not all keys and then all outputs: those
        of SELECT, and keys that are needed to tell the rows apart.
    """

    request: Request | CompoundRequest | KeyRequest | StatisticRequest | TabulatedRequest
    keys: Mapping[str, Sequence[object]]
    outputs: tuple[AnswerColumn, ...]
    label: Mapping[str, object]
    stored: bool = False
    chosen: tuple[KeyRequest, ...] = ()
    before: tuple[Request, ...] = ()
    bought: tuple[Request, ...] = ()
    order: tuple[str, ...] = ()

    def at(self, places: Sequence[int]) -> Release:
        """Return the groups at some places, in their order."""
        keys = {name: [values[place] for place in places] for name, values in self.keys.items()}
        listed = np.array(places, np.int64)
        return replace(self, keys=keys, outputs=tuple(column.at(listed) for column in self.outputs))

    def showing(self, names: Sequence[str]) -> Release:
        """Return some of its columns, by name and in their order."""
        outputs = {column.name: column for column in self.outputs}
        request = self.request
        if isinstance(request, Request):
            columns = {column.name: column for column in request.columns}
            request = replace(request, shown=tuple(columns[name] for name in names))
        elif isinstance(request, CountedKeysRequest):
            request = request.showing(names)
        label = {**self.label, "outputs": list(names)} if "outputs" in self.label else self.label
        return replace(self, request=request, outputs=tuple(outputs[name] for name in names), label=label)

    def nonnegative(self) -> Release:
        """Return the answer with negative counts raised to 0, and with the bias that this gives them.

        Public arithmetic on released values: it costs nothing, and nothing is stored. Without it a count has
        no bias, so sums and means of many counts are right on average; raised to 0, each lies above the
        true count by up to ``bias`` on average, which is reached where the true count is 0. An answer without
        counts is unchanged.
        """
        outputs = tuple(column.nonnegative() for column in self.outputs)
        biases = {column.name: column.bias for column in outputs if column.bias}
        if not biases:
            return self
        return replace(self, outputs=outputs, label={**self.label, "nonnegative": biases})

    @property
    def event(self) -> Event:
        """What was charged for it."""
        earlier: list[Request | KeyRequest] = [*self.bought, *self.chosen, *self.before]
        return compose([*(one.event for one in earlier), self.request.event])

    @property
    def plan(self) -> Plan | KeyPlan:
        """What was computed; the first plan, where a statement was made of several."""
        if isinstance(self.request, StatisticRequest):
            raise AttributeError(
                "the answer is of a statistic, which has no plan: release.label['plan'] says"
            )
        return self.request.plans[0]

    def __getitem__(self, name: str) -> AnswerValues:
        """Return the values of an output, or the keys of a column."""
        for column in self.outputs:
            if column.name == name:
                return column.values
        if name in self.keys:
            values = np.empty(len(self.keys[name]), np.object_)
            values[:] = self.keys[name]
            return values
        names = ", ".join([*self.keys, *(column.name for column in self.outputs)])
        raise KeyError(f"there is no column {name!r}; the answer has {names}; intervals are in to_pandas()")

    def __len__(self) -> int:
        """Return the number of groups."""
        return self._groups

    def __bool__(self) -> bool:
        """Return True: an answer without groups is an answer, too."""
        return True

    @property
    def value(self) -> object:
        """The only value, if there is one group and one output: a float, or a key."""
        if len(self.outputs) != 1 or len(self.outputs[0].values) != 1:
            raise ValueError("the answer has several values; name a column: release['n']")
        values = self.outputs[0].values
        return values[0] if values.dtype == object else float(values[0])

    def columns(self) -> dict[str, Sequence[object]]:
        """Return keys, values and intervals, by name: an output n has n, n_lower and n_upper.

        An output of keys has no interval, only n; the top k of them are a list for each group. Values are
        as they were calculated, also where print says that nothing is known: see `known_columns`.
        """
        return self._columns([column.values for column in self.outputs])

    def known_columns(self) -> dict[str, Sequence[object]]:
        """Return the same, as exports have it: NaN where nothing is known of a value, beside its interval."""
        return self._columns([known_values(column) for column in self.outputs])

    def _columns(self, values: Sequence[AnswerValues]) -> dict[str, Sequence[object]]:
        table: dict[str, Sequence[object]] = {}
        outputs = {column.name: (column, own) for column, own in zip(self.outputs, values, strict=True)}
        for shown in self.shown:
            if shown not in outputs:
                table[shown] = self.keys[shown]
                continue
            column, own = outputs[shown]
            arrays = (own, column.lower, column.upper)
            for name, array in zip(column_names(column.name), arrays, strict=True):
                if array is not None:
                    table[name] = (array if array.dtype == object else array + 0).tolist()  # no minus zero
        return table

    @property
    def shown(self) -> tuple[str, ...]:
        """The names of the keys and outputs that are shown, in order."""
        return self.order or (*self.keys, *(column.name for column in self.outputs))

    def to_arrow(self) -> pyarrow.Table:
        """Return an Arrow table, with nulls where there is no number."""
        import pyarrow

        return pyarrow.table(
            {
                name: pyarrow.array(values, pyarrow.float64(), from_pandas=True)
                if values and all(isinstance(one, float) for one in values)
                else pyarrow.array(values)
                for name, values in self.known_columns().items()
            }
        )

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas frame."""
        import pandas

        return pandas.DataFrame(self.known_columns())

    def to_polars(self) -> polars.DataFrame:
        """Return a Polars frame, with nulls where there is no number."""
        try:
            import polars
        except ImportError:
            raise MissingExtra("polars", "polars") from None
        return polars.DataFrame(self.known_columns()).fill_nan(None)

    def to_csv(self) -> str:
        """Return the text of a CSV file: keys, values, intervals, and the confidence of these."""
        from discreet.curator.release.csv_form import csv_text

        return csv_text(self)

    def to_json(self) -> str:
        """Return the text of a JSON file: a list of rows, the confidence of intervals, and the label."""
        from discreet.curator.release.json_form import release_object

        return visible_json(json.dumps(release_object(self), indent=2, ensure_ascii=False, allow_nan=False))

    def plot(self, output: str | None = None, ax: Panels | None = None, label: str | None = None) -> Axes:
        """Draw an output with its intervals, by group; without a name, every output in a panel of its own."""
        from discreet.curator.release.plot import plot_release

        return plot_release(self, output, ax, label)

    def __str__(self) -> str:
        header, rows = self.texts(_SHOWN)
        widths = [max(len(line[i]) for line in [header, *rows]) for i in range(len(header))]
        text = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in [header, *rows]
        ]
        return "\n".join([*text, *said.groups_left_out(self, _SHOWN), *self.remarks(), *said.notes(self)])

    __repr__ = __str__

    def texts(self, most: int | None = None) -> tuple[list[str], list[list[str]]]:
        """Return the header, and the first groups as text: each value with its interval."""
        count = self._groups if most is None else min(self._groups, most)
        outputs = {column.name: column for column in self.outputs}
        columns = [
            [cell(outputs[name], place) for place in range(count)]
            if name in outputs
            else [key_text(value) for value in self.keys[name][:count]]
            for name in self.shown
        ]
        return [visible(name) for name in self.shown], [list(row) for row in zip(*columns, strict=True)]

    @property
    def _groups(self) -> int:
        return len(self.outputs[0].values) if self.outputs else len(next(iter(self.keys.values())))

    def remarks(self) -> list[str]:
        """Return what has to be said below the table: of columns, of what was counted and bought."""
        return said.remarks(self)

    def _repr_html_(self) -> str:
        names, rows = self.texts(_SHOWN)
        header = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join("<tr>" + "".join(f"<td>{escape(one)}</td>" for one in row) + "</tr>" for row in rows)
        notes = "<br>".join(
            map(escape, [*said.groups_left_out(self, _SHOWN), *self.remarks(), *said.notes(self)])
        )
        caption = f"<caption>{notes}</caption>" if notes else ""
        return f"<table>{caption}<tr>{header}</tr>{body}</table>"


class WholeOutput(Output):
    """The only output of a request whose answer is more than a column: it makes the release itself."""

    __slots__ = ()

    @abstractmethod
    def release(
        self, request: Request, draws: Sequence[Draw], label: Mapping[str, object], *, stored: bool
    ) -> Release:
        """Return the release, from the draws of `measures` in their order."""


def pack(draws: Sequence[Draw]) -> bytes:
    """Write noisy integers for the ledger's store, with a mark if their noise was replayed."""
    return json.dumps(_packed(draws), separators=(",", ":")).encode()


def pack_several(request: Request | CompoundRequest, draws: Sequence[Sequence[Draw]]) -> bytes:
    """Write the noisy integers of several requests, in the order of their identities; of one, as `pack`."""
    if not isinstance(request, CompoundRequest) or len(draws) == 1:
        return pack(draws[0])
    content = [_packed(draws[place]) for place in request.in_order]
    return json.dumps({_MEASURED: content}, separators=(",", ":")).encode()


def unpack(request: Request, content: bytes) -> list[Draw]:
    """Read what `pack` wrote for the same request."""
    return _unpacked(request, json.loads(content))


def unpack_several(request: Request | CompoundRequest, content: bytes) -> list[list[Draw]]:
    """Read what `pack_several` wrote for the same measurements."""
    found = json.loads(content)
    if not isinstance(request, CompoundRequest) or len(request.requests) == 1:
        return [_unpacked(request.requests[0], found)]
    if not isinstance(found, dict) or len(found.get(_MEASURED, ())) != len(request.requests):
        raise LedgerTampered("a stored answer is not one of its request")
    stored = dict(zip(request.in_order, found[_MEASURED], strict=True))
    return [_unpacked(one, stored[place]) for place, one in enumerate(request.requests)]


def _packed(draws: Sequence[Draw]) -> object:
    lists = [draw.steps.tolist() for draw in draws]
    return lists if are_private(draws) else {_REPLAYED: lists}


def _unpacked(request: Request, lists: Any) -> list[Draw]:
    replayed = isinstance(lists, dict)
    if replayed:
        lists = lists[_REPLAYED]
    if tuple(len(values) for values in lists) != request.sizes:
        raise LedgerTampered("a stored answer is not one of its request")
    arrays = [np.array(values, np.int64) for values in lists]
    for part, steps in zip(request.parts, arrays, strict=True):
        if isinstance(part.mechanism, HistogramMechanism) and not part.mechanism.may_draw(steps):
            raise LedgerTampered("a stored answer is not one of its request")
    return [
        Draw(part=part, steps=mark_replayed(steps) if replayed else steps)
        for part, steps in zip(request.parts, arrays, strict=True)
    ]


def are_private(draws: Sequence[Draw]) -> bool:
    """Return whether the noise came from the operating system, not from a replay for tests."""
    return all(is_private(draw.steps) for draw in draws)


def as_drawn(values: _Numbers, draws: Sequence[Draw]) -> _Numbers:
    """Return what was calculated from draws, marked as not private if they are not."""
    return values if are_private(draws) else mark_replayed(values)


def finish(
    request: Request, draws: Sequence[Draw], label: Mapping[str, object], *, stored: bool = False
) -> Release:
    """Make a release from noisy integers, by public arithmetic; `stored` if they come from the store."""
    by_measure = {draw.part.measure: draw for draw in draws}
    (first, *others) = request.outputs
    if isinstance(first, WholeOutput) and not others:
        read = [by_measure[measure] for measure in first.measures]
        return first.release(request, read, label, stored=stored)
    outputs = tuple(
        column.finish([by_measure[measure] for measure in column.measures], request.confidence)
        for column in request.columns
    )
    return Release(request=request, keys=request.answer_keys, outputs=outputs, label=label, stored=stored)


def assembled(
    request: Request | CompoundRequest,
    draws: Sequence[Sequence[Draw]],
    label: Mapping[str, object],
    *,
    stored: bool = False,
) -> Release:
    """Make a release from the noisy integers of all measurements of a request."""
    if not isinstance(request, CompoundRequest):
        return finish(request, draws[0], label, stored=stored)
    keys, outputs = request.assembly.finish(request.requests, draws, request.confidence)
    return Release(request=request, keys=keys, outputs=outputs, label=label, stored=stored)
