"""Teachers: one model for each shard, of any kind that has `fit` and `predict`. Only their votes are kept.

A teacher is a function of its own shard and of public numbers: a copy of the model, the shard's rows in an
order that they determine themselves, and the teacher's number as its seed (proof:
docs/proofs/private_teachers.md, lemma 1).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.records import Record, dataclass

__all__ = ["Ensemble"]

_MOST_TEACHERS = 2**20


@dataclass(frozen=True, slots=True, kw_only=True, init=False, eq=False)
class Ensemble(Record):
    """So many teachers of one kind.

    Parameters
    ----------
    model : object with fit and predict
        It is copied for every teacher, and never fitted itself. Its parameters named `random_state`, also
        those of its parts, become the teacher's number. It must not keep anything outside of itself.
    teachers : int
        How many.
    classes : int
        Labels are integers from 0 to classes - 1.
    """

    model: Any
    teachers: int
    classes: int

    def __init__(self, *, model: Any, teachers: int, classes: int) -> None:
        if not (callable(getattr(model, "fit", None)) and callable(getattr(model, "predict", None))):
            raise ParameterError("model", "has no fit and predict", "a classifier, as scikit-learn has them")
        self._set(
            model=model,
            teachers=whole(teachers, "teachers", least=2, most=_MOST_TEACHERS),
            classes=whole(classes, "classes", least=2),
        )

    def votes(
        self,
        rows: Floats,
        labels: Integers,
        shards: Integers,
        queries: Floats,
        *,
        jobs: int | None = None,
        progress: Callable[[int, int], object] | None = None,
    ) -> Integers:
        """Train every teacher, and return the number of the class that it votes for, for each query. Private.

        A teacher without rows, one that fails in whatever way, and one whose predictions are no classes vote
        for the class of their own number, modulo the number of classes, in every query. One that has seen a
        single class votes for it. So the run never stops, and what a teacher does has no effect on others.

        Parameters
        ----------
        rows, labels, shards : arrays
            One entry for each row: numbers, class and teacher. Rows of classes or teachers that do not exist
            are left out.
        queries : array
            Public rows with the same columns.
        jobs : int, optional
            How many processes of joblib train them; by default this one.
        progress : callable, optional
            Called with how many teachers are done, and how many there are. Not with `jobs`.
        """
        known = (labels >= 0) & (labels < self.classes)
        shares = [np.flatnonzero(known & (shards == teacher)) for teacher in range(self.teachers)]
        parts = (
            (self.model, teacher, self.classes, rows[share], labels[share], queries)
            for teacher, share in enumerate(shares)
        )
        if jobs is not None:
            from joblib import Parallel, delayed

            return np.array(Parallel(n_jobs=jobs)(delayed(_vote)(*part) for part in parts))
        found = np.empty((self.teachers, len(queries)), dtype=np.int64)
        for teacher, part in enumerate(parts):
            found[teacher] = _vote(*part)
            if progress is not None:
                progress(teacher + 1, self.teachers)
        return found


def _vote(  # noqa: PLR0917
    model: Any, teacher: int, classes: int, rows: Floats, labels: Integers, queries: Floats
) -> Integers:
    """Return the votes of one teacher, from its own rows and public numbers alone."""
    fallback = np.full(len(queries), teacher % classes, dtype=np.int64)
    if not len(rows) or not len(queries):
        return fallback
    if (labels == labels[0]).all():
        return np.full(len(queries), labels[0], dtype=np.int64)
    order = sorted(range(len(rows)), key=lambda place: (int(labels[place]), rows[place].tobytes()))
    before = np.random.get_state()  # noqa: NPY002
    try:
        np.random.seed(teacher)  # noqa: NPY002
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            own = _copied(model, teacher)
            own.fit(rows[order], labels[order])
            found = np.asarray(own.predict(queries))
    except Exception:
        return fallback
    finally:
        np.random.set_state(before)  # noqa: NPY002
    if found.shape != (len(queries),) or found.dtype.kind not in "iuf":
        return fallback
    with np.errstate(all="ignore"):
        numbers = found.astype(np.int64)
    good = (numbers == found) & (numbers >= 0) & (numbers < classes)
    return np.where(good, numbers, fallback)


def _copied(model: Any, teacher: int) -> Any:
    """Return an unfitted copy that is seeded by the teacher's number."""
    own = copy.deepcopy(model)
    if hasattr(own, "get_params") and hasattr(own, "set_params"):
        names = [name for name in own.get_params() if name.split("__")[-1] == "random_state"]
        own.set_params(**dict.fromkeys(names, teacher))
    return own
