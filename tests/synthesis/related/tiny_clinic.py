"""Small tables of patients and visits, and the tables of counts that related synthesis reads of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd

import discreet as dp
from discreet.data import Source
from discreet.privacy.offer import Offer
from discreet.synthesis.asking.related_question import RelatedQuestion

PATIENT_COLUMNS = {"age": dp.Bounds(0, 3), "sex": dp.Keys(["f", "m"])}
VISIT_COLUMNS = {"ward": dp.Keys(["eyes", "heart"]), "cost": dp.Bounds(0, 4)}


def tables(patients, visits, limit=2, of_patients=1, version="1"):
    """Return declared tables of rows (patient, age, sex) and (patient, ward, cost)."""
    people = pd.DataFrame(patients, columns=["patient", "age", "sex"]).astype(
        {"patient": "Int64", "age": "Int64", "sex": "object"}
    )
    events = pd.DataFrame(visits, columns=["patient", "ward", "cost"]).astype(
        {"patient": "Int64", "ward": "object", "cost": "Int64"}
    )
    return {
        "patients": dp.Table(
            people,
            person="patient",
            limits=dp.Limits(rows=of_patients),
            columns=PATIENT_COLUMNS,
            version=version,
        ),
        "visits": dp.Table(
            events, person="patient", limits=dp.Limits(rows=limit), columns=VISIT_COLUMNS, version=version
        ),
    }


def request(held, rho=1, **given):
    """Return the request for all columns of both tables."""
    question = RelatedQuestion(
        relation=Source(table="patients"),
        events=Source(table="visits"),
        columns=("age", "sex"),
        event_columns=("ward", "cost"),
        widths={},
        **given,
    )
    return question.request(held, Offer(rho=rho), Fraction(19, 20))


def clinic(people=400, seed=0):
    """Return rows of patients and visits: older patients have more visits, and to other wards."""
    random = np.random.default_rng(seed)
    ages = random.integers(0, 4, people)
    patients = [(10 * place, int(age), "fm"[random.integers(2)]) for place, age in enumerate(ages)]
    visits = []
    for place, age in enumerate(ages):
        for _ in range(random.integers(0, 1 + int(age))):
            ward = "heart" if random.random() < age / 4 else "eyes"
            visits.append((10 * place, ward, 4 if ward == "heart" else int(random.integers(0, 2))))
    return patients, visits
