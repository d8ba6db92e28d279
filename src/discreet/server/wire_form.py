"""Answers and previews between a server and its client: exact, and without code.

Nothing is pickled: a client that trusts no server, and a server that trusts no client, read JSON only. A
float that JSON lacks, and a day, are objects of one key; everything else is itself. What is not of the form
is refused as a whole: numbers are of bounded length, columns are as long as each other, and no text reaches a
terminal with characters that it obeys.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from datetime import date
from fractions import Fraction
from typing import Any, cast

import numpy as np

from discreet.curator import AnswerColumn, Expectation, Preview, Release
from discreet.curator.release.cell_text import remark_of
from discreet.curator.release.preview import KeyExpectation
from discreet.errors import LedgerError, ParameterError
from discreet.privacy.events import Event
from discreet.privacy.rational import rational
from discreet.records import dataclass
from discreet.visible import visible, visible_lines

__all__ = ["ReceivedRelease", "received", "received_preview", "received_release", "sent_release"]

_DATE, _FLOAT = "date", "float"
_KINDS = {"i": np.int64, "f": np.float64, "b": np.bool_}


def sent_release(release: Release) -> dict[str, object]:
    """Return all of an answer, from which `received_release` makes the same."""
    of_columns = {visible(remark_of(column)) for column in release.outputs}
    return {
        "keys": {name: [_sent(one) for one in values] for name, values in release.keys.items()},
        "outputs": [_sent_column(column) for column in release.outputs],
        "order": list(release.order),
        "event": release.event.to_object(),
        "confidence": str(release.request.confidence),
        "stored": release.stored,
        "remarks": [one for one in release.remarks() if one not in of_columns],
        "label": release.label,
    }


@contextmanager
def received() -> Iterator[None]:
    """Read what a server sent: whatever is wrong with it is one error, and not that of a question."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        raise LedgerError("the server sent something that is not an answer") from None


def received_release(content: Mapping[str, Any]) -> Release:
    """Return the answer that a server sent.

    Raises
    ------
    LedgerError
        If it is not one.
    """
    with received():
        keys = {_text(name): [_received(one) for one in values] for name, values in content["keys"].items()}
        outputs = tuple(_received_column(column) for column in content["outputs"])
        release = ReceivedRelease(
            request=cast(
                "Any",
                AnsweredRequest(
                    event=Event.from_object(content["event"]), confidence=_exact(content["confidence"])
                ),
            ),
            keys=keys,
            outputs=outputs,
            label=_label(content["label"]),
            stored=content["stored"] is True,
            order=tuple(map(_text, content["order"])),
            said=tuple(map(visible, content["remarks"])),
        )
        lengths = {*map(len, keys.values()), *(len(column.values) for column in outputs)}
        if len(lengths) > 1:
            raise ParameterError("answer", "has columns of different lengths", "equal ones")
        str(release)  # what cannot be shown is not one either
        return release


def received_preview(content: Mapping[str, Any]) -> Preview:
    """Return the preview that a server sent, in the form of `preview_object`.

    Raises
    ------
    LedgerError
        If it is not one.
    """
    with received():
        found = Preview(
            event=Event.from_object(content["event"]),
            costs=tuple(
                (
                    _text(one["limit"]),
                    None if one["cost"] is None else _exact(one["cost"]),
                    _exact(one["left"]),
                    _exact(one["of"]),
                )
                for one in content["budget"]
            ),
            left=_exact(content["left"]),
            expectations=tuple(
                Expectation(
                    name=_text(one["name"]),
                    margin=float(one["margin"]),
                    standard_deviation=float(one["standard_deviation"]),
                    assumes=_text(one["assumes"]),
                    means=_text(one["means"]),
                )
                for one in content["outputs"]
            ),
            confidence=_exact(str(content["confidence"])),
            fits=content["fits"],
            answered=content["answered"] is True,
            keys=tuple(
                KeyExpectation(
                    column=_text(one["column"]),
                    half=one["shown_by_half"],
                    most=one["shown_by_most"],
                    unit=_text(one["unit"]),
                )
                for one in content["chosen_keys"]
            ),
            cap=content["cap"],
            bought=tuple(map(_text, content["bought"])),
            remark=_text(content["remark"]),
            counted=_text(content["counted"]),
            groups=content["groups"],
        )
        str(found)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredRequest:
    """What is known of a request that a server answered: its price, and its confidence. Its plan is there.

    Attributes
    ----------
    event : Event
        What was charged.
    confidence : Fraction
        Of the intervals.
    """

    event: Event
    confidence: Fraction


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ReceivedRelease(Release):
    """An answer that came from a server: a `Release` in everything but its plan, which stays there.

    Attributes
    ----------
    said : tuple of str
        What the server says below the table.
    """

    said: tuple[str, ...] = field(default=(), repr=False)

    @property
    def plan(self) -> Any:
        """Refuse: it is on the server, and in words in the label."""
        raise AttributeError("the plan of this answer is on its server: release.label['plan'] says it")

    def remarks(self) -> list[str]:
        """Return what has to be said below the table."""
        return [*(visible(words) for one in self.outputs if (words := remark_of(one))), *self.said]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _label(value: Any) -> Any:
    """Return a label, its texts without what a terminal obeys."""
    if not isinstance(value, dict):
        raise TypeError
    return {name: _shown(one) for name, one in value.items()}


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _shown(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_shown(one) for one in value]
    return visible_lines(value) if isinstance(value, str) else value


def _exact(value: Any) -> Fraction:
    """Return a number that is written as text; one of a million digits is not read at all."""
    return rational(_text(value), "answer")


def _sent(value: object) -> object:
    if isinstance(value, date):
        return {_DATE: value.isoformat()}
    if isinstance(value, float) and not np.isfinite(value):
        return {_FLOAT: str(value)}
    if isinstance(value, list | tuple):
        return [_sent(one) for one in value]
    return value


def _received(value: Any) -> Any:
    if isinstance(value, dict):
        return date.fromisoformat(value[_DATE]) if _DATE in value else float(value[_FLOAT])
    if isinstance(value, list):
        return [_received(one) for one in value]
    return value


def _sent_array(values: np.ndarray | None) -> object:
    if values is None:
        return None
    return {"kind": values.dtype.kind, "values": [_sent(one) for one in values.tolist()]}


def _received_array(content: Any) -> Any:
    if content is None:
        return None
    listed = [_received(one) for one in content["values"]]
    if content["kind"] in _KINDS:
        return np.array(listed, _KINDS[content["kind"]])
    array = np.empty(len(listed), np.object_)
    array[:] = listed
    return array


def _sent_column(column: AnswerColumn) -> dict[str, object]:
    return {
        "name": column.name,
        "values": _sent_array(column.values),
        "lower": _sent_array(column.lower),
        "upper": _sent_array(column.upper),
        "unknown": _sent_array(column.unknown),
        "offers": column.offers,
        "excess": column.excess,
        "bias": column.bias,
    }


def _received_column(content: Mapping[str, Any]) -> AnswerColumn:
    arrays = {name: _received_array(content[name]) for name in ("values", "lower", "upper", "unknown")}
    lengths = {len(array) for array in arrays.values() if array is not None}
    if arrays["values"] is None or len(lengths) > 1:
        raise ParameterError("answer", "has columns of different lengths", "equal ones")
    return AnswerColumn(
        name=_text(content["name"]),
        offers=content["offers"],
        excess=content["excess"],
        bias=content["bias"],
        **arrays,
    )
