"""What Tumult Analytics does of the common work: counts and sums by group, on Spark."""

from __future__ import annotations

import os
import sys
import tempfile
import time

import pandas
import work
from pyspark.sql import SparkSession
from tmlt.analytics import AddRowsWithID, KeySet, MaxRowsPerID, PureDPBudget, QueryBuilder, Session
from tmlt.core.measurements.noise_mechanisms import AddGeometricNoise

DRAWS = 4  # each starts jobs of Spark that take seconds

noise = AddGeometricNoise(work.SCALE)  # of Tumult Core, which Analytics draws with
work.tell("time", correlation=work.time_correlation(lambda: noise(0)))

os.environ["PYSPARK_PYTHON"] = sys.executable  # for the processes of Spark
settings = SparkSession.builder.config("spark.ui.enabled", "false")
spark = settings.config("spark.sql.warehouse.dir", tempfile.mkdtemp()).getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
visits = spark.createDataFrame(pandas.DataFrame(work.rows()))
cities = KeySet.from_dict({"city": list(range(work.CITIES))})


def by_city() -> dict[int, tuple[float, float]]:
    """Return a noisy count and a noisy sum of each city, half of epsilon for each."""
    session = Session.from_dataframe(
        privacy_budget=PureDPBudget(work.EPSILON),
        source_id="visits",
        dataframe=visits,
        protected_change=AddRowsWithID("person"),
    )
    bounded = QueryBuilder("visits").enforce(MaxRowsPerID(work.PER_PERSON)).groupby(cities)
    half = PureDPBudget(work.EPSILON / 2)
    counts = session.evaluate(bounded.count(name="found"), half).collect()
    sums = session.evaluate(bounded.sum("cost", 0, work.TOP, name="found"), half).collect()
    held = {row["city"]: row["found"] for row in sums}
    return {row["city"]: (row["found"], held[row["city"]]) for row in counts}


by_city()
start = time.monotonic()
answers = [by_city() for _ in range(DRAWS)]
# Most of the work is done by Java, of which this process sees no CPU time.
work.tell("groups", seconds=(time.monotonic() - start) / DRAWS, **work.group_errors(answers))
