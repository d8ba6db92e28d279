"""What OpenDP does of the common work."""

from __future__ import annotations

import opendp.prelude as dp
import polars
import work

dp.enable_features("contrib")
zeros = [0] * 20_000
space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
noise = dp.m.make_laplace(*space, float(work.SCALE))
work.tell("noise", rate=len(zeros) / work.timed(lambda: noise(zeros)))
single = dp.m.make_laplace(dp.atom_domain(T=int), dp.absolute_distance(T=int), float(work.SCALE))
work.tell("time", correlation=work.time_correlation(lambda: single(0)))

data = polars.LazyFrame(work.rows())
keys = polars.LazyFrame({"city": list(range(work.CITIES))})
answers = []


def ask() -> None:
    """Ask for counts and sums, from a new compositor with the epsilon of one question."""
    context = dp.Context.compositor(
        data=data,
        privacy_unit=dp.unit_of(identifier=polars.col("person"), contributions=1),
        privacy_loss=dp.loss_of(epsilon=work.EPSILON),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=work.PERSONS * work.PER_PERSON * 2, max_groups=1_000)],
    )
    asked = context.query().truncate_per_group(work.PER_PERSON).group_by("city")
    released = asked.agg(
        dp.len(signed=True).alias("n"), polars.col("cost").fill_null(0).dp.sum((0, work.TOP)).alias("s")
    )
    frame = released.with_keys(keys).release().collect()
    answers.append({row["city"]: (row["n"], row["s"]) for row in frame.iter_rows(named=True)})


seconds = work.timed(ask, repeats=work.DRAWS)
work.tell("groups", seconds=seconds, **work.group_errors(answers))
