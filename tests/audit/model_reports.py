"""A small report of an audit of models, for the tests of what it says and draws."""

from __future__ import annotations

import numpy as np

from discreet.audit import Membership, ModelReport

ATTACK = Membership(name="scores", scores=np.arange(4.0), included=np.array([False, False, True, True]))


def report(claim, bound):
    """A report with this bound."""
    return ModelReport(
        claim=claim,
        bound=bound,
        reach=3.0,
        false_alarm=1e-3,
        attack="scores",
        side="in",
        guesses=2,
        right=2,
        canaries=4,
        runs=1,
        shadows=0,
        attacks=(ATTACK,),
    )
