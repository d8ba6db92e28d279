-- What the tests and manuals of other systems for private SQL ask.
-- world: survey

-- name: count of everybody
SELECT COUNT(*) FROM pums;

-- name: count of rows without persons
SELECT COUNT(*) AS n FROM pums_row;

-- name: counts by sex
SELECT sex, COUNT(*) AS n FROM pums GROUP BY sex;

-- name: counts by two keys
SELECT sex, married, COUNT(*) AS n, SUM(income) AS total FROM pums GROUP BY sex, married ORDER BY sex, married;

-- name: sum and mean of income
SELECT SUM(income) AS total, AVG(income) AS mean FROM pums_row;

-- name: aliases of aggregates
SELECT COUNT(*) AS c, COUNT(age) AS ca, COUNT(DISTINCT pid) AS p FROM pums;

-- name: variance and deviation
SELECT VARIANCE(age) AS v, STDDEV(age) AS s, VAR_POP(age) AS vp, STDDEV_POP(age) AS sp FROM pums;

-- name: mean by education with order
SELECT educ, AVG(income) AS avg_income FROM pums GROUP BY educ ORDER BY avg_income DESC;

-- name: top educations
SELECT educ, COUNT(*) AS n FROM pums GROUP BY educ ORDER BY n DESC LIMIT 5;

-- name: key last
SELECT COUNT(*) AS n, married FROM pums GROUP BY married;

-- name: keys alone
SELECT educ FROM pums GROUP BY educ;

-- name: distinct keys
SELECT DISTINCT race FROM pums;

-- name: having with an aggregate
SELECT race, COUNT(*) AS n FROM pums GROUP BY race HAVING COUNT(*) > 400;

-- name: having with another aggregate
SELECT educ, AVG(age) AS a FROM pums GROUP BY educ HAVING SUM(income) > 1000000 ORDER BY educ;

-- name: sums of cases
SELECT SUM(CASE WHEN married THEN 1 ELSE 0 END) AS married, SUM(CASE WHEN NOT married THEN income ELSE 0 END) AS single_income FROM pums;

-- name: income in thousands
SELECT SUM(income / 1000) AS thousands FROM pums;

-- name: expression of a mean
SELECT AVG(age) * 12 AS months, AVG(age) + 1 AS next_year, -AVG(age) AS minus FROM pums;

-- name: ratio of sums
SELECT sex, SUM(income) / COUNT(*) AS per_head, ROUND(SUM(income) / SUM(age), 1) AS per_year FROM pums GROUP BY sex;

-- name: boolean as a number
SELECT COUNT(*) AS n FROM pums WHERE married = 1;

-- name: text as a number
SELECT COUNT(*) AS n FROM pums WHERE age > '40';

-- name: bins of age
SELECT FLOOR(age / 10) AS decade, COUNT(*) AS n FROM pums WHERE age < 90 GROUP BY FLOOR(age / 10) ORDER BY decade;

-- name: key with arithmetic in SELECT
SELECT educ * 2 AS twice, COUNT(*) AS n FROM pums GROUP BY educ;

-- name: upper case of a key
-- refused: write the position of the calculation, as in GROUP BY 1, or give it another name with AS
SELECT UPPER(race) AS race, COUNT(*) AS n FROM pums GROUP BY race;

-- name: alias that hides a column
SELECT CASE WHEN age < 40 THEN 'young' ELSE 'old' END AS age, COUNT(*) AS n FROM pums WHERE age IS NOT NULL GROUP BY 1;

-- name: a subquery that renames
SELECT AVG(years) AS mean FROM (SELECT pid, age AS years FROM pums WHERE income > 20000) AS t;

-- name: nested subqueries
SELECT COUNT(*) AS n FROM (SELECT * FROM (SELECT pid, age, sex FROM pums WHERE age > 30) AS a WHERE sex = '1') AS b;

-- name: WITH and a star
WITH adults AS (SELECT * FROM pums WHERE age >= 21) SELECT race, COUNT(*) AS n FROM adults GROUP BY race;

-- name: WITH after WITH
WITH a AS (SELECT pid, income, race FROM pums WHERE income > 1000), b AS (SELECT pid, race FROM a WHERE income < 200000)
SELECT race, COUNT(*) AS n FROM b GROUP BY race;

-- name: mean of group means
SELECT AVG(m) AS mean_of_means FROM (SELECT educ, AVG(income) AS m FROM pums GROUP BY educ) AS g;

-- name: largest group
SELECT MAX(n) AS largest, MIN(n) AS smallest, SUM(n) AS everybody FROM (SELECT educ, COUNT(*) AS n FROM pums GROUP BY educ) AS g;

-- name: filter over groups
SELECT educ, n FROM (SELECT educ, COUNT(*) AS n FROM pums GROUP BY educ) AS g WHERE n > 180 ORDER BY educ;

-- name: join of groups with a public table
SELECT e.label, g.n FROM (SELECT educ, COUNT(*) AS n FROM pums GROUP BY educ) AS g JOIN education AS e ON e.code = g.educ ORDER BY e.label;

-- name: difference of two aggregates of two subqueries
SELECT a.m - b.m AS gap FROM (SELECT AVG(income) AS m FROM pums WHERE sex = '1') AS a, (SELECT AVG(income) AS m FROM pums WHERE sex = '0') AS b;

-- name: scalar subqueries side by side
SELECT (SELECT COUNT(*) FROM pums WHERE married) * 100.0 / (SELECT COUNT(*) FROM pums) AS percent_married;

-- name: public join
SELECT e.years, COUNT(*) AS n FROM pums p JOIN education e ON p.educ = e.code WHERE e.years >= 12 GROUP BY e.years ORDER BY e.years;

-- name: median by race
SELECT race, MEDIAN(age) AS m FROM pums GROUP BY race;

-- name: quantiles
SELECT QUANTILE(income, 0.1) AS p10, QUANTILE(income, 0.9) AS p90 FROM pums;

-- name: several percentiles
SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY income) AS p50, PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY income) AS p90 FROM pums;

-- name: correlation
SELECT CORR(age, educ) AS r FROM pums;

-- name: covariance
SELECT COVAR_POP(age, educ) AS c FROM pums;

-- name: extremes
SELECT MIN(age) AS lo, MAX(age) AS hi FROM pums;

-- name: constants
SELECT 1 AS one, 'x' AS x, COUNT(*) AS n FROM pums;

-- name: exactly the same column twice
SELECT COUNT(*) AS n, COUNT(*) AS m FROM pums;

-- name: always true
SELECT COUNT(*) AS n FROM pums WHERE 1 = 1 AND age > 30;

-- name: average quantity of items
SELECT item, AVG(quantity) AS average_quantity, AVG(cost) AS average_cost FROM items GROUP BY item;

-- name: users of each item
SELECT item, COUNT(DISTINCT uid) AS users, COUNT(*) AS n FROM items GROUP BY item ORDER BY users DESC;

-- name: items in small quantities
SELECT item, SUM(quantity) AS q FROM items WHERE quantity < 100 AND item <> 'ruler' GROUP BY item;

-- name: how many distinct items
SELECT COUNT(DISTINCT item) AS items FROM items;

-- name: approximate distinct users
-- plain: SELECT COUNT(DISTINCT uid) AS users FROM items
SELECT APPROX_COUNT_DISTINCT(uid) AS users FROM items;

-- name: spending per user
SELECT AVG(total) AS mean, COUNT(*) AS users FROM (SELECT uid, LEAST(SUM(cost), 1000) AS total FROM items GROUP BY uid) AS t;

-- name: sum of distinct quantities
SELECT SUM(DISTINCT quantity) AS s FROM items WHERE item = 'pen';

-- name: users of pens and pencils
-- refused: write SELECT DISTINCT in both parts, which are answers then, or JOIN private rows on the person
SELECT COUNT(*) AS users FROM (SELECT uid FROM items WHERE item = 'pen' INTERSECT SELECT uid FROM items WHERE item = 'pencil') AS both;

-- name: ratios of items
SELECT item, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM items GROUP BY item;

-- name: trips by city name
SELECT c.name, COUNT(*) AS trips FROM trips t JOIN cities c ON t.city_id = c.id GROUP BY c.name;

-- name: trips of unbanned drivers
SELECT COUNT(*) AS n FROM trips JOIN drivers ON trips.driver = drivers.id WHERE NOT drivers.banned AND trips.status = 'completed';

-- name: cancellation rate by city
SELECT city_id, ROUND(SUM(CASE WHEN status <> 'completed' THEN 1.0 ELSE 0.0 END) / COUNT(*), 2) AS rate
FROM trips WHERE status IS NOT NULL GROUP BY city_id ORDER BY city_id;

-- name: drivers with many trips
SELECT COUNT(*) AS drivers FROM (SELECT driver, COUNT(*) AS n FROM trips GROUP BY driver) AS t WHERE n > 10;

-- name: fares by rating
SELECT FLOOR(d.rating) AS stars, AVG(t.fare) AS fare FROM trips t INNER JOIN drivers d ON t.driver = d.id
WHERE d.rating IS NOT NULL GROUP BY FLOOR(d.rating) ORDER BY stars;

-- name: trips out of the home city
SELECT c.country, COUNT(*) AS away FROM trips t, drivers d, cities c
WHERE t.driver = d.id AND c.id = d.home_city AND t.city_id <> d.home_city GROUP BY c.country;

-- name: trips by status and month
SELECT status, DATE_TRUNC('month', request_at) AS month, COUNT(*) AS n FROM trips GROUP BY status, DATE_TRUNC('month', request_at);

-- name: a driver's own trips
-- never: equate the persons of both, as in WHERE d.patient = v.patient, or list the values, as in x IN ('a', 'b')
SELECT COUNT(*) AS n FROM trips t WHERE t.fare > (SELECT AVG(u.fare) FROM trips u WHERE u.city_id = t.city_id);

-- name: reach of campaigns
SELECT campaign, COUNT(DISTINCT device_id) AS reach, COUNT(*) AS impressions FROM impressions GROUP BY campaign;

-- name: frequency of impressions
SELECT frequency, COUNT(*) AS devices
FROM (SELECT device_id, LEAST(COUNT(*), 12) AS frequency FROM impressions GROUP BY device_id) AS f GROUP BY frequency ORDER BY frequency;

-- name: conversions after an impression
SELECT i.campaign, COUNT(DISTINCT i.device_id) AS converted, SUM(p.amount) AS revenue
FROM impressions i INNER JOIN purchases p ON i.device_id = p.device_id
WHERE p.bought_at > i.seen_at GROUP BY i.campaign;

-- name: cost per purchase
SELECT i.campaign, SUM(i.cost_micros) / 1000000.0 AS cost FROM impressions i GROUP BY i.campaign ORDER BY cost DESC;

-- name: sites by impressions
SELECT site, COUNT(*) AS n FROM impressions GROUP BY site ORDER BY n DESC;

-- name: devices that saw nothing
SELECT COUNT(DISTINCT p.device_id) AS organic FROM purchases p LEFT JOIN impressions i ON p.device_id = i.device_id WHERE i.device_id IS NULL;

-- name: impressions by hour
SELECT EXTRACT(HOUR FROM seen_at) AS h, COUNT(*) AS n FROM impressions GROUP BY EXTRACT(HOUR FROM seen_at) ORDER BY h;

-- name: patients by diagnosis
SELECT diagnosis, COUNT(*) AS n, AVG(age) AS mean_age FROM patients GROUP BY diagnosis ORDER BY n DESC;

-- name: cholesterol of the old
SELECT AVG(cholesterol) AS mean, COUNT(cholesterol) AS known FROM patients WHERE age BETWEEN 60 AND 80;

-- name: patients by zip with unknown
SELECT COALESCE(zip, 'unknown') AS zip, COUNT(*) AS n FROM patients GROUP BY COALESCE(zip, 'unknown');

-- name: patients in no group
SELECT zip, diagnosis, COUNT(*) AS n FROM patients WHERE diagnosis LIKE 'd%' GROUP BY zip, diagnosis;

-- name: histogram of ages
-- plain: SELECT FLOOR(age / 10) + 1 AS bucket, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY 1
SELECT WIDTH_BUCKET(age, 0, 100, 10) AS bucket, COUNT(*) AS n FROM patients GROUP BY 1 ORDER BY 1;

-- name: rows of patients
-- never: list the keys and aggregates, as in SELECT city, COUNT(*) AS n
SELECT * FROM patients;

-- name: a patient's age
-- never: add it to GROUP BY, or take COUNT, SUM or AVG of it
SELECT patient_id, age FROM patients WHERE diagnosis = 'asthma';

-- name: patients by patient
-- never: ask without GROUP BY patient_id
SELECT patient_id, COUNT(*) FROM patients GROUP BY patient_id;

-- name: noise by oneself
-- never: leave it out: answers are noisy already
SELECT COUNT(*) + RANDOM() AS n FROM patients;

-- name: a list of values
-- never: it would list what single rows hold; write APPROX_TOP_K(x, 3)
SELECT diagnosis, STRING_AGG(zip, ',') AS zips FROM patients GROUP BY diagnosis;

-- name: any value
SELECT diagnosis, ANY_VALUE(diagnosis) AS same, COUNT(*) AS n FROM patients GROUP BY diagnosis;

-- name: deleting
-- never: write SELECT city, COUNT(*) AS n FROM a table GROUP BY city
DELETE FROM patients WHERE age > 50;
