"""Answers and previews between a server and its client: exact, and without code.

Nothing is pickled: a client that trusts no server, and a server that trusts no client, read JSON only. A
float that JSON lacks, and a day, are objects of one key; everything else is itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import date
from fractions import Fraction
from typing import Any, cast

import numpy as np

from discreet.curator import AnswerColumn, Expectation, Preview, Release
from discreet.curator.release.cell_text import remark_of
from discreet.curator.release.preview import KeyExpectation
from discreet.errors import LedgerError
from discreet.privacy.events import Event
from discreet.records import dataclass
from discreet.visible import visible

__all__ = ["ReceivedRelease", "received_preview", "received_release", "sent_release"]

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


def received_release(content: Mapping[str, Any]) -> Release:
    """Return the answer that a server sent.

    Raises
    ------
    LedgerError
        If it is not one.
    """
    try:
        return ReceivedRelease(
            request=cast(
                "Any",
                AnsweredRequest(
                    event=Event.from_object(content["event"]), confidence=Fraction(content["confidence"])
                ),
            ),
            keys={name: [_received(one) for one in values] for name, values in content["keys"].items()},
            outputs=tuple(_received_column(column) for column in content["outputs"]),
            label=content["label"],
            stored=content["stored"],
            order=tuple(content["order"]),
            said=tuple(content["remarks"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        raise LedgerError("the server sent something that is not an answer") from None


def received_preview(content: Mapping[str, Any]) -> Preview:
    """Return the preview that a server sent, in the form of `preview_object`."""
    return Preview(
        event=Event.from_object(content["event"]),
        costs=tuple(
            (
                one["limit"],
                None if one["cost"] is None else Fraction(one["cost"]),
                Fraction(one["left"]),
                Fraction(one["of"]),
            )
            for one in content["budget"]
        ),
        left=Fraction(content["left"]),
        expectations=tuple(
            Expectation(
                name=one["name"],
                margin=float(one["margin"]),
                standard_deviation=float(one["standard_deviation"]),
                assumes=one["assumes"],
                means=one["means"],
            )
            for one in content["outputs"]
        ),
        confidence=Fraction(str(content["confidence"])),
        fits=content["fits"],
        answered=content["answered"],
        keys=tuple(
            KeyExpectation(
                column=one["column"], half=one["shown_by_half"], most=one["shown_by_most"], unit=one["unit"]
            )
            for one in content["chosen_keys"]
        ),
        cap=content["cap"],
        bought=tuple(content["bought"]),
        remark=content["remark"],
        counted=content["counted"],
        groups=content["groups"],
    )


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
    return AnswerColumn(
        name=content["name"],
        offers=content["offers"],
        excess=content["excess"],
        bias=content["bias"],
        **arrays,
    )
