"""From a query and an offer to a request: how much noise each measure gets.

What an offer buys:

- `epsilon` alone: pure DP. Every measure gets Laplace noise, and their epsilons add up to exactly the offer.
- `rho`: zero-concentrated DP. Every measure gets the noise of the smaller variance: Gaussian, at its share of
  rho, or Laplace of the epsilon with epsilon^2 / 2 at most that share. The rhos add up to at most the offer.
- Quantiles and most frequent keys are chosen from histograms, which get no noise: see `choices`.
- `epsilon` with `delta`: whichever of three has the smaller error: pure noise of this epsilon; Gaussian noise
  on every measure, where squares of mu add up to that of the largest mu that implies (epsilon, delta); or
  the noise of the largest rho that implies it, which serves choices too.

Noise of less than a hundredth of a step is not drawn: what an offer could buy beyond that is not spent. Noise
of more than 2^40 steps is added to rounded totals: see `parts`. The division over measures is that of
`split`; counts under several conditions are measured together where that has less error (`joint_request`).
Everything here depends on the query, the declarations
and the offer, which are public.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

from discreet.curator.request.request import Expectation, Request
from discreet.data import Table, sensitivity
from discreet.errors import ParameterError
from discreet.mechanisms.calibration import smallest
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number, confidence_level, rational, whole
from discreet.queries.binding.bind import BoundQuery, bind
from discreet.queries.noise.joint_request import least_joint
from discreet.queries.noise.parts import is_least, noise_parts
from discreet.queries.noise.shown_columns import showing
from discreet.queries.noise.split import PURE, shares_of
from discreet.queries.outputs.base import QueryOutput, of_several
from discreet.queries.question.query import Query
from discreet.queries.question.terms import ASSUMED_ROWS, CONFIDENCE, LARGEST_ROWS

__all__ = ["build_request", "expectations", "for_error", "remeasuring_request"]


def build_request(
    query: Query,
    tables: Mapping[str, Table],
    offer: Offer,
    *,
    confidence: Number = CONFIDENCE,
    split: Mapping[str, Number] | None = None,
    together: int = 1,
) -> Request:
    """Return the request for an offer: everything is fixed except the data and the noise.

    Parameters
    ----------
    query : Query
        From `parse` or a dataframe request.
    tables : mapping of names to Table
        The declared tables; no data is read.
    offer : Offer
        The most that may be spent.
    confidence : number
        Of every interval, above 0 and below 1.
    split : mapping of output names to numbers, optional
        How much of the offer each output gets, in proportion; by default it is divided by expected error.
    together : int
        With how many others, itself included, an output that is chosen for its confidence is calculated.

    Guarantee
    ---------
    The event of the request costs at most the offer, in exact fractions: for epsilon alone the sum of pure
    epsilons is the offer, or less where the least noise costs less; for rho the sum of rhos is at most the
    offer. For epsilon and delta the composition is (epsilon, delta)-private, as any accountant of Gaussian
    noise finds it (docs/proofs/gaussian.md, theorem 7), or through rho.
    """
    level = confidence_level(confidence)
    bound = bind(query, tables)
    bound = replace(bound, together=max(bound.together, together))
    return _built(query, bound, tables, offer, split=split, confidence=level)


def remeasuring_request(
    request: Request,
    tables: Mapping[str, Table],
    offer: Offer,
    *,
    repetition: int,
    split: Mapping[str, Number] | None = None,
) -> Request:
    """Return a request for what another one measured, with the noise of another offer."""
    bound = BoundQuery(
        plan=request.plan,
        outputs=tuple(output for output in request.outputs if isinstance(output, QueryOutput)),
        statistics=sensitivity(request.plan, tables),
        versions=request.versions,
    )
    parts = noise_parts(bound, offer, split, request.confidence)
    return replace(request, parts=parts, repetition=repetition)


def expectations(request: Request, *, rows: int = ASSUMED_ROWS) -> tuple[Expectation, ...]:
    """Return how wrong every output is expected to be, if each group has a hypothetical number of values."""
    rows = whole(rows, "rows", least=1, most=LARGEST_ROWS)
    return request.expectations(rows)


def for_error(
    query: Query,
    tables: Mapping[str, Table],
    *,
    error: Mapping[str, Number],
    offer: Callable[[Fraction], Offer] = Offer.pure,
    confidence: Number = CONFIDENCE,
    split: Mapping[str, Number] | None = None,
    rows: int = ASSUMED_ROWS,
) -> Offer:
    """Return the smallest offer for which some outputs are as accurate as wanted.

    Parameters
    ----------
    query, tables, confidence, split
        As for `build_request`, which gives intervals that narrow with the returned offer.
    error : mapping of output names to numbers
        The margin that each named output may have at most.
    offer : callable
        Makes an offer from the number that is searched for: by default a pure epsilon;
        ``Offer.concentrated`` for rho, ``lambda epsilon: Offer(epsilon=epsilon, delta=1e-6)`` for both.
    rows : int
        The assumed number of values in a group, which the error of a mean depends on.
    """
    bound, level = bind(query, tables), confidence_level(confidence)
    names = list(query.shown)
    if not isinstance(error, Mapping) or not error or not set(error) <= set(names):
        raise ParameterError(
            "error", "is empty, or names an unknown output", f"a margin for some of {', '.join(names)}"
        )
    wanted = {name: rational(margin, "error", positive=True) for name, margin in error.items()}
    rows = whole(rows, "rows", least=1, most=LARGEST_ROWS)
    shares_of(bound, PURE, split)  # a wrong `split` or `offer` must be reported, not searched around
    offer(Fraction(1))

    def suffices(parameter: Fraction) -> bool:
        request = _built(query, bound, tables, offer(parameter), split=split, confidence=level)
        return not any(map(is_least, request.parts)) and all(
            expected.margin <= wanted[expected.name]
            for expected in expectations(request, rows=rows)
            if expected.name in wanted
        )

    return offer(smallest(suffices, "error"))


def _built(
    query: Query,
    bound: BoundQuery,
    tables: Mapping[str, Table],
    offer: Offer,
    *,
    split: Mapping[str, Number] | None,
    confidence: Fraction,
) -> Request:
    """Return the request whose outputs have their own noise or, if that has less error, joint noise."""
    alone = Request(
        plan=bound.plan,
        versions=bound.versions,
        parts=noise_parts(bound, offer, split, of_several(confidence, bound.together)),
        outputs=bound.outputs,
        confidence=confidence,
    )
    if split is not None or query.after.levels:
        return showing(query, alone)
    return showing(query, least_joint(query, bound, tables, offer, alone=alone))
