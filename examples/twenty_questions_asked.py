"""The questions of `examples.twenty_questions`, in SQL: every aggregate and every relation of the language."""

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
        The offer; keys that nobody declared need a delta.
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
        sql="SELECT name, AVG(dep_delay) AS minutes FROM flights JOIN airlines USING (carrier) GROUP BY name",
        then="ORDER BY minutes DESC",
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
        sql="SELECT origin, MEDIAN(distance) AS half, QUANTILE(distance, 0.9) AS most FROM flights GROUP BY origin",
        plain="SELECT origin, QUANTILE_DISC(distance, 0.5), QUANTILE_DISC(distance, 0.9) FROM flights GROUP BY origin",
        epsilon=4,
    ),
    Question(
        words="When do flights leave?",
        sql="SELECT CASE WHEN hour < 12 THEN 'morning' WHEN hour < 18 THEN 'afternoon' ELSE 'evening' END AS part, "
        "COUNT(*) AS flights FROM flights GROUP BY part",
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
        words="How many seats do planes have that come more than ten times? (Two private tables, joined on the plane.)",
        sql="SELECT AVG(seats) AS mean, COUNT(*) AS planes FROM planes JOIN (SELECT tailnum, COUNT(*) AS made "
        "FROM flights GROUP BY tailnum) AS each USING (tailnum) WHERE made > 10",
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
        sql="SELECT origin, MODE(carrier) AS most, APPROX_TOP_K(carrier, 3) AS three FROM flights GROUP BY origin",
        plain="SELECT origin, MODE(carrier), LIST_SLICE(LIST(carrier ORDER BY n DESC), 1, 3) FROM (SELECT origin, "
        "carrier, COUNT(*) AS n FROM flights GROUP BY origin, carrier) AS counted GROUP BY origin",
        epsilon=2,
    ),
    Question(
        words="How long are the shortest and the longest flights? (A few ranks inside: nobody's own may show.)",
        sql="SELECT MIN(air_time) AS shortest, MAX(air_time) AS longest FROM flights",
        epsilon=2,
    ),
    Question(
        words="How many flights go to each time zone?",
        sql="SELECT tzone, COUNT(*) AS flights FROM flights LEFT JOIN airports ON flights.dest = airports.faa "
        "GROUP BY tzone",
        then="HAVING flights > 200 ORDER BY flights DESC",
    ),
)

BASEBALL = (
    Question(words="How do players bat?", sql="SELECT bats, COUNT(*) AS players FROM people GROUP BY bats"),
    Question(
        words="Have players grown?",
        sql="SELECT FLOOR(birthYear / 10) * 10 AS born, AVG(height) AS inches, AVG(weight) AS pounds FROM people "
        "WHERE birthYear >= 1950 AND birthYear < 2000 GROUP BY born",
        then="HAVING born < 2000 AND born >= 1950",
    ),
    Question(
        words="How many home runs were hit in each league and season?",
        sql="SELECT yearID, lgID, SUM(HR) AS home_runs FROM batting GROUP BY yearID, lgID",
        then="ORDER BY home_runs DESC LIMIT 5",
    ),
    Question(
        words="What does a player earn?",
        sql="SELECT yearID, MEDIAN(salary) AS dollars FROM salaries WHERE yearID >= 2010 AND yearID <= 2016 "
        "GROUP BY yearID",
        plain="SELECT yearID, QUANTILE_DISC(salary, 0.5) FROM salaries WHERE yearID >= 2010 AND yearID <= 2016 "
        "GROUP BY yearID",
        then="HAVING yearID >= 2010 AND yearID <= 2016",
        epsilon=4,
    ),
    Question(
        words="How long is a career?",
        sql="SELECT AVG(seasons) AS mean, MEDIAN(seasons) AS half FROM (SELECT playerID, "
        "LEAST(COUNT(DISTINCT yearID), 30) AS seasons FROM batting GROUP BY playerID) AS careers",
        plain="SELECT AVG(seasons), QUANTILE_DISC(seasons, 0.5) FROM (SELECT COUNT(DISTINCT yearID) AS seasons "
        "FROM batting GROUP BY playerID) AS careers",
    ),
    Question(
        words="Do left-handers hit more home runs? (Two private tables, joined on the player.)",
        sql="SELECT bats, AVG(HR) AS home_runs FROM batting JOIN people USING (playerID) WHERE AB > 100 "
        "GROUP BY bats",
    ),
    Question(
        words="Which teams pay best? (Their owners are in a public table, by season and team.)",
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
        sql="SELECT LEAST(teams, 5) AS teams, COUNT(*) AS players FROM (SELECT playerID, COUNT(DISTINCT teamID) "
        "AS teams FROM batting GROUP BY playerID) AS each GROUP BY LEAST(teams, 5)",
    ),
    Question(
        words="Are tall players heavy?",
        sql="SELECT COVAR_SAMP(height, weight) AS covariance, CORR(height, weight) AS correlation FROM people",
    ),
    Question(
        words="How many strikeouts were thrown and home runs hit, by league? (Two tables, one below the other.)",
        sql="SELECT lgID, SUM(feat) AS feats FROM (SELECT lgID, SO AS feat FROM pitching UNION ALL "
        "SELECT lgID, HR AS feat FROM batting) AS all_feats GROUP BY lgID",
    ),
    Question(
        words="Which pairs of player and league are there?",
        sql="SELECT lgID, COUNT(*) AS players FROM (SELECT DISTINCT playerID, lgID FROM batting) AS pairs "
        "GROUP BY lgID",
    ),
    Question(
        words="When did those begin who play now?",
        sql="SELECT DATE_TRUNC('year', debut) AS season, COUNT(*) AS players FROM people "
        "WHERE debut >= DATE '2010-01-01' GROUP BY season",
        delta="1e-6",
    ),
    Question(
        words="How far does a season's batting average vary?",
        sql="SELECT lgID, VAR_POP(H / AB) AS variance, AVG(H / AB) AS mean FROM batting WHERE AB >= 100 GROUP BY lgID",
    ),
)
