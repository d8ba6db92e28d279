"""The questions of `twenty_questions`, in SQL: all aggregates and relations of the language."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and what is offered for it.

    Attributes
    ----------
    words, sql : str
        The question, in words and in SQL.
    then : str
        HAVING, ORDER BY and LIMIT, which choose among released groups.
    plain : str or None
        The same for a database without privacy, where that is another text.
    epsilon, delta : numbers
        The offer; undeclared keys need a delta.
    """

    words: str
    sql: str
    then: str = ""
    plain: str | None = None
    epsilon: float = 1
    delta: str | None = None


FLIGHTS = (
    Question(
        words="How many flights left each airport?",
        sql="SELECT origin, COUNT(*) AS flights FROM flights GROUP BY origin",
    ),
    Question(
        words="How late does each airline leave? (Its name is in a public table.)",
        sql="SELECT name, AVG(dep_delay) AS minutes, COUNT(*) AS flights FROM flights "
        "JOIN airlines USING (carrier) GROUP BY name",
        then="HAVING flights > 500 ORDER BY minutes DESC",
        epsilon=2,
    ),
    Question(
        words="How many flights leave more than a quarter of an hour late?",
        sql="SELECT month, COUNT_IF(dep_delay > 15) AS late, COUNT(dep_delay) AS left_at_all FROM flights "
        "GROUP BY month",
    ),
    Question(
        words="How many planes does each airline fly?",
        sql="SELECT carrier, COUNT(DISTINCT tailnum) AS planes FROM flights GROUP BY carrier",
        then="HAVING planes > 100",
    ),
    Question(
        words="How far do they fly?",
        sql="SELECT origin, MEDIAN(distance) AS half, QUANTILE(distance, 0.9) AS most FROM flights "
        "GROUP BY origin",
        plain="SELECT origin, QUANTILE_DISC(distance, 0.5), QUANTILE_DISC(distance, 0.9) FROM flights "
        "GROUP BY origin",
        epsilon=4,
    ),
    Question(
        words="When do flights leave?",
        sql="SELECT CASE WHEN hour < 12 THEN 'morning' WHEN hour < 18 THEN 'afternoon' ELSE 'evening' END "
        "AS part, COUNT(*) AS flights FROM flights GROUP BY part",
    ),
    Question(
        words="How are distances distributed, in steps of 500 miles?",
        sql="SELECT WIDTH_BUCKET(distance, 0, 3000, 6) AS bin, COUNT(*) AS flights FROM flights GROUP BY bin",
        plain="SELECT LEAST(distance // 500 + 1, 7) AS bin, COUNT(*) FROM flights GROUP BY bin",
    ),
    Question(
        words="How many flights does a plane make?",
        sql="SELECT AVG(made) AS mean, STDDEV(made) AS deviation FROM "
        "(SELECT tailnum, LEAST(COUNT(*), 150) AS made FROM flights GROUP BY tailnum) AS each",
        plain="SELECT AVG(made), STDDEV(made) FROM "
        "(SELECT COUNT(*) AS made FROM flights WHERE tailnum IS NOT NULL GROUP BY tailnum) AS each",
    ),
    Question(
        words="How many seats have planes that come often? (Two private tables, joined on the plane.)",
        sql="SELECT AVG(seats) AS mean, COUNT(*) AS planes FROM planes JOIN (SELECT tailnum FROM flights "
        "GROUP BY tailnum HAVING COUNT(*) > 10) AS often USING (tailnum)",
    ),
    Question(
        words="How many seats leave each airport with a flight?",
        sql="SELECT origin, AVG(seats) AS mean FROM flights JOIN planes USING (tailnum) GROUP BY origin",
    ),
    Question(
        words="Where do they fly? (Nobody declared the airports: which can be named is chosen privately.)",
        sql="SELECT dest, COUNT(*) AS flights FROM flights GROUP BY dest",
        then="ORDER BY flights DESC LIMIT 5",
        epsilon=2,
        delta="1e-6",
    ),
    Question(
        words="Does a late start make a late arrival?",
        sql="SELECT CORR(dep_delay, arr_delay) AS correlation, STDDEV(arr_delay) AS deviation FROM flights",
        epsilon=4,
    ),
    Question(
        words="Who flies most from each airport?",
        sql="SELECT origin, MODE(carrier) AS most, APPROX_TOP_K(carrier, 3) AS three FROM flights "
        "GROUP BY origin",
        plain="SELECT origin, ARG_MAX(carrier, n), LIST(carrier ORDER BY n DESC)[:3] FROM (SELECT origin, "
        "carrier, COUNT(*) AS n FROM flights GROUP BY origin, carrier) AS counted GROUP BY origin",
        epsilon=2,
    ),
    Question(
        words="How long are the shortest and the longest flights? (A few ranks inside, so that none shows.)",
        sql="SELECT MIN(air_time) AS shortest, MAX(air_time) AS longest FROM flights",
        epsilon=2,
    ),
    Question(
        words="How many flights go to each time zone?",
        sql="SELECT tzone, COUNT(*) AS flights FROM flights LEFT JOIN airports ON dest = faa GROUP BY tzone",
        then="HAVING flights > 200 ORDER BY flights DESC",
    ),
)

BASEBALL = (
    Question(words="How do players bat?", sql="SELECT bats, COUNT(*) AS players FROM people GROUP BY bats"),
    Question(
        words="Have players grown?",
        sql="SELECT FLOOR(birthYear / 10) * 10 AS born, AVG(height) AS inches, AVG(weight) AS pounds "
        "FROM people GROUP BY born",
        then="HAVING born < 2000 AND born >= 1950",
    ),
    Question(
        words="How many players did each league have, by season?",
        sql="SELECT yearID, lgID, COUNT(*) AS players FROM batting GROUP BY yearID, lgID",
        then="HAVING yearID > 2015 ORDER BY yearID, lgID",
    ),
    Question(
        words="How many home runs were hit?",
        sql="SELECT lgID, SUM(HR) AS home_runs FROM batting GROUP BY lgID",
    ),
    Question(
        words="What does a player earn?",
        sql="SELECT yearID, MEDIAN(salary) AS dollars FROM salaries GROUP BY yearID",
        plain="SELECT yearID, QUANTILE_DISC(salary, 0.5) FROM salaries GROUP BY yearID",
        then="HAVING yearID >= 2010 AND yearID <= 2016",
        epsilon=4,
    ),
    Question(
        words="How long is a career?",
        sql="WITH careers AS (SELECT playerID, LEAST(COUNT(DISTINCT yearID), 30) AS seasons FROM batting "
        "GROUP BY playerID) SELECT AVG(seasons) AS mean, MEDIAN(seasons) AS half FROM careers",
        plain="WITH careers AS (SELECT COUNT(DISTINCT yearID) AS seasons FROM batting GROUP BY playerID) "
        "SELECT AVG(seasons), QUANTILE_DISC(seasons, 0.5) FROM careers",
    ),
    Question(
        words="Do left-handers hit more home runs? (Two private tables, joined on the player.)",
        sql="SELECT bats, AVG(HR) AS home_runs FROM batting JOIN people USING (playerID) WHERE AB > 100 "
        "GROUP BY bats",
    ),
    Question(
        words="Which teams pay best? (Franchises are in a public table, by season and team.)",
        sql="SELECT franchID, AVG(salary) AS dollars FROM salaries JOIN teams USING (yearID, teamID) "
        "GROUP BY franchID",
        then="ORDER BY dollars DESC LIMIT 5",
        epsilon=4,
    ),
    Question(
        words="Where were players born? (Nobody declared the countries.)",
        sql="SELECT birthCountry, COUNT(*) AS players FROM people GROUP BY birthCountry",
        then="HAVING players > 20",
        delta="1e-6",
    ),
    Question(
        words="In which league did players begin? (The first row of each.)",
        sql="SELECT lgID, COUNT(*) AS players FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY playerID "
        "ORDER BY yearID, stint) AS number FROM batting) AS seasons WHERE number = 1 GROUP BY lgID",
    ),
    Question(
        words="How many players were on how many teams?",
        sql="SELECT LEAST(teams, 5) AS teams, COUNT(*) AS players FROM (SELECT playerID, "
        "COUNT(DISTINCT teamID) AS teams FROM batting GROUP BY playerID) AS each GROUP BY LEAST(teams, 5)",
    ),
    Question(
        words="Are tall players heavy?",
        sql="SELECT COVAR_SAMP(height, weight) AS covariance, CORR(height, weight) AS correlation "
        "FROM people",
    ),
    Question(
        words="How many strikeouts and home runs were there? (Two tables, one below the other.)",
        sql="SELECT lgID, SUM(feat) AS feats FROM (SELECT lgID, SO AS feat FROM pitching UNION ALL "
        "SELECT lgID, HR AS feat FROM batting) AS all_feats GROUP BY lgID",
    ),
    Question(
        words="How many players were ever in each league?",
        sql="SELECT lgID, COUNT(*) AS players FROM (SELECT DISTINCT playerID, lgID FROM batting) AS pairs "
        "GROUP BY lgID",
    ),
    Question(
        words="How many players began in each season?",
        sql="SELECT DATE_TRUNC('year', debut) AS season, COUNT(*) AS players FROM people GROUP BY season",
        then="HAVING season >= DATE '2016-01-01'",
        plain="SELECT DATE_TRUNC('year', debut)::DATE AS season, COUNT(*) FROM people GROUP BY season",
    ),
    Question(
        words="How far does a season's batting average vary?",
        sql="SELECT lgID, AVG(hits) AS mean, STDDEV_POP(hits) AS deviation FROM (SELECT lgID, "
        "LEAST(GREATEST(H / AB, 0), 0.5) AS hits FROM batting WHERE AB >= 100) AS seasons GROUP BY lgID",
        epsilon=2,
    ),
)
