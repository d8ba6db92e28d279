"""Small runs of generators: what they drew and charged, and whether anything but answers decides them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from unittest.mock import patch

import numpy as np

from discreet.errors import BudgetExceeded
from discreet.learning.teachers.aggregation import Answers, ConfidentGNMax, GNMax
from discreet.privacy.events import compose
from discreet.synthesis import GPATE, PateGAN
from discreet.synthesis.measuring.steps import TableNoise
from discreet.synthesis.models.measured import MeasuredTable
from synthesis.charged_steps import COLUMNS, made_up

SMALL = {"columns": COLUMNS, "epsilon": 2, "delta": 1e-6, "teachers": 6, "rounds": 3}
KINDS = (GNMax, ConfidentGNMax)


@cache
def pate_gan(**others):
    """A small mechanism; calibrated once for the same numbers."""
    return PateGAN(**SMALL | {"queries": 4} | others)


@cache
def g_pate(**others):
    """The same, by directions."""
    return GPATE(**SMALL | {"batch": 2, "directions": 3} | others)


def planted_in(mechanism, kind):
    """The same mechanism with a fault: the numbers are those of the sound one."""
    found = object.__new__(kind)
    for field in fields(mechanism):
        object.__setattr__(found, field.name, getattr(mechanism, field.name))
    return found


class Book:
    """A record that lists charges, and draws, in their order."""

    def __init__(self, refuse_from=None):
        self.lines, self._refuse_from = [], refuse_from
        self.settle = lambda: None

    def charge(self, event):
        self.settle()
        if self._refuse_from is not None and len(self.charged) >= self._refuse_from:
            raise BudgetExceeded("nothing is left")
        self.lines.append(("charged", event))

    @property
    def charged(self):
        return [event for kind, event in self.lines if kind == "charged"]

    @property
    def drawn(self):
        return [event for kind, event in self.lines if kind == "drawn"]

    @property
    def is_paid(self):
        """Whether everything that was drawn had been charged before, and nothing else was charged."""
        open_charges = []
        for kind, event in self.lines:
            if kind == "charged":
                open_charges.append(event)
            elif not open_charges or compose(open_charges) != event:
                return False
            else:
                open_charges = []
        return not open_charges


@contextmanager
def watched(book):
    """List in a book what is drawn: the columns together, and each round of votes."""
    answers = {kind: kind.answer for kind in KINDS}
    measured = TableNoise.measured
    held = []

    def settle():
        if held:
            book.lines.append(("drawn", compose(held)))
            held.clear()

    def answering(kind):
        def answer(self, counts):
            settle()
            book.lines.append(("drawn", self.event(len(counts))))
            return answers[kind](self, counts)

        return answer

    def measuring(self, columns, table):
        held.append(self.event)
        return measured(self, columns, table)

    book.settle = settle
    with patch.object(TableNoise, "measured", measuring):
        for kind in KINDS:
            kind.answer = answering(kind)
        try:
            yield
        finally:
            settle()
            for kind in KINDS:
                kind.answer = answers[kind]


@contextmanager
def scripted():
    """Let counts and answers come from a script: nothing that is released knows the rows."""
    answers = {kind: kind.answer for kind in KINDS}

    def answer(self, counts):
        labels = np.arange(len(counts)) % self.classes
        return Answers(labels=labels, voted=np.ones(len(counts), dtype=bool), checks=0)

    def measured(self, columns, table):
        counts = 10 + np.arange(table.size).reshape(table.shape)
        return MeasuredTable(columns=columns, counts=counts, variance=self.variance)

    with patch.object(TableNoise, "measured", measured):
        for kind in KINDS:
            kind.answer = answer
        try:
            yield
        finally:
            for kind in KINDS:
                kind.answer = answers[kind]


def shown(data):
    """All that a release shows, in bytes."""
    layers = [part.tobytes() for layer in data.model.layers for part in (layer.weights, layer.bias)]
    labels = [column.labels for column in data.domain.columns]
    return repr((data.label, data.total, labels, data.codes(20).tolist())).encode() + b"".join(layers)


def depends_on_rows(mechanism):
    """Whether a release is decided by anything but measured counts and answers."""
    many, few = made_up(300, seed=1), made_up(170, seed=2)
    few["score"] = few["score"] // 2 + 3  # other extremes
    few["sex"] = np.full(170, "f")  # another balance
    with scripted():
        return shown(mechanism.release(many)) != shown(mechanism.release(few))
