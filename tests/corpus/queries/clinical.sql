-- Health records in the OMOP model, in the manner of the OHDSI query library.
-- world: clinical

-- name: pe01 persons
SELECT COUNT(person_id) AS num_persons FROM cdm.person;

-- name: pe02 persons by gender
SELECT person.gender_concept_id, concept.concept_name AS gender_name, COUNT(person.person_id) AS num_persons_count
FROM cdm.person
INNER JOIN cdm.concept ON person.gender_concept_id = concept.concept_id
GROUP BY person.gender_concept_id, concept.concept_name;

-- name: pe03 persons by year of birth
SELECT year_of_birth, COUNT(person_id) AS num_persons FROM cdm.person GROUP BY year_of_birth ORDER BY year_of_birth;

-- name: pe04 persons by state
SELECT NVL(state, 'XX') AS state_abbr, COUNT(*) AS num_persons
FROM cdm.person LEFT OUTER JOIN cdm.location USING (location_id)
GROUP BY NVL(state, 'XX');

-- name: pe05 persons by zip code
SELECT zip, COUNT(*) AS num_persons FROM cdm.person JOIN cdm.location USING (location_id) GROUP BY zip ORDER BY zip;

-- name: pe06 gender by year of birth
SELECT gender_concept_id, c.concept_name AS gender_name, year_of_birth, COUNT(p.person_id) AS num_persons
FROM cdm.person p INNER JOIN cdm.concept c ON p.gender_concept_id = c.concept_id
WHERE year_of_birth BETWEEN 1980 AND 1990
GROUP BY gender_concept_id, c.concept_name, year_of_birth
ORDER BY concept_name, year_of_birth;

-- name: pe07 years of birth, their statistics
SELECT MIN(year_of_birth) AS min_year, MAX(year_of_birth) AS max_year, ROUND(AVG(year_of_birth), 1) AS avg_year,
       ROUND(STDDEV(year_of_birth), 1) AS std_dev_year, MEDIAN(year_of_birth) AS median_year
FROM cdm.person;

-- name: pe08 statistics by gender
SELECT gender_concept_id, COUNT(*) AS n, MIN(year_of_birth) AS min_year, MAX(year_of_birth) AS max_year,
       PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY year_of_birth) AS percentile_25,
       PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY year_of_birth) AS percentile_75
FROM cdm.person
GROUP BY gender_concept_id;

-- name: pe09 month and day of birth missing
SELECT SUM(CASE WHEN month_of_birth IS NULL THEN 1 ELSE 0 END) AS months_missing,
       100.0 * SUM(CASE WHEN month_of_birth IS NULL THEN 1 ELSE 0 END) / COUNT(*) AS percent
FROM cdm.person;

-- name: co01 persons with a condition
SELECT COUNT(DISTINCT person_id) AS persons FROM cdm.condition_occurrence WHERE condition_concept_id = 201826;

-- name: co02 conditions by prevalence
SELECT c.concept_name, COUNT(DISTINCT co.person_id) AS persons, COUNT(*) AS records
FROM cdm.condition_occurrence co JOIN cdm.concept c ON c.concept_id = co.condition_concept_id
GROUP BY c.concept_name
ORDER BY persons DESC
LIMIT 5;

-- name: co03 with descendants of a concept
SELECT COUNT(DISTINCT co.person_id) AS persons
FROM cdm.condition_occurrence co
JOIN cdm.concept_ancestor ca ON ca.descendant_concept_id = co.condition_concept_id
WHERE ca.ancestor_concept_id = 201820;

-- name: co04 with descendants in a subquery
SELECT COUNT(*) AS records
FROM cdm.condition_occurrence
WHERE condition_concept_id IN (SELECT descendant_concept_id FROM cdm.concept_ancestor WHERE ancestor_concept_id = 201820);

-- name: co05 age at diagnosis
SELECT AVG(YEAR(co.condition_start_date) - p.year_of_birth) AS mean_age
FROM cdm.condition_occurrence co JOIN cdm.person p ON p.person_id = co.person_id
WHERE co.condition_concept_id = 4329847;

-- name: co06 age at diagnosis by decade and gender
SELECT c.concept_name AS gender, FLOOR((EXTRACT(YEAR FROM condition_start_date) - year_of_birth) / 10) * 10 AS age_group,
       COUNT(DISTINCT p.person_id) AS persons
FROM cdm.condition_occurrence co, cdm.person p, cdm.concept c
WHERE co.person_id = p.person_id AND p.gender_concept_id = c.concept_id AND condition_concept_id IN (201820, 201826)
  AND c.concept_name IN ('MALE', 'FEMALE')
GROUP BY c.concept_name, age_group
ORDER BY 1, 2;

-- name: co07 seasons of a disease
SELECT season, COUNT(*) AS cases
FROM (SELECT person_id, CASE WHEN EXTRACT(MONTH FROM condition_start_date) IN (12, 1, 2) THEN 'Winter'
                             WHEN EXTRACT(MONTH FROM condition_start_date) IN (3, 4, 5) THEN 'Spring'
                             WHEN EXTRACT(MONTH FROM condition_start_date) IN (6, 7, 8) THEN 'Summer'
                             ELSE 'Fall' END AS season
      FROM cdm.condition_occurrence WHERE condition_concept_id = 255573) AS s
GROUP BY season
ORDER BY season;

-- name: co08 duration in days
SELECT condition_concept_id, AVG(DATEDIFF(day, condition_start_date, condition_end_date)) AS duration
FROM cdm.condition_occurrence
WHERE condition_end_date IS NOT NULL
GROUP BY condition_concept_id;

-- name: co09 long episodes
SELECT COUNT(*) AS n FROM cdm.condition_occurrence WHERE DATEDIFF(day, condition_start_date, condition_end_date) > 30;

-- name: co10 both of two conditions
SELECT COUNT(*) AS persons
FROM (SELECT DISTINCT person_id FROM cdm.condition_occurrence WHERE condition_concept_id = 316866) h
JOIN (SELECT DISTINCT person_id FROM cdm.condition_occurrence WHERE condition_concept_id = 432867) l
  ON h.person_id = l.person_id;

-- name: co11 first diagnosis by year
SELECT EXTRACT(YEAR FROM first_date) AS y, COUNT(*) AS new_cases
FROM (SELECT person_id, MIN(condition_start_date) AS first_date FROM cdm.condition_occurrence
      WHERE condition_concept_id = 313217 GROUP BY person_id) AS f
GROUP BY 1
ORDER BY 1;

-- name: co12 conditions per person
SELECT AVG(n) AS mean_conditions, MAX(n) AS most
FROM (SELECT person_id, COUNT(*) AS n FROM cdm.condition_occurrence GROUP BY person_id) AS c;

-- name: co13 persons by number of diagnoses
SELECT diagnoses, COUNT(*) AS persons
FROM (SELECT person_id, COUNT(DISTINCT condition_concept_id) AS diagnoses FROM cdm.condition_occurrence GROUP BY person_id) AS c
WHERE diagnoses <= 8
GROUP BY diagnoses
ORDER BY diagnoses;

-- name: de01 exposures of drugs
SELECT drug.concept_name AS drug_name, COUNT(*) AS exposures, SUM(days_supply) AS days
FROM cdm.drug_exposure de JOIN cdm.concept drug ON drug.concept_id = de.drug_concept_id
GROUP BY drug.concept_name
ORDER BY exposures DESC;

-- name: de02 warfarin by sex and age
SELECT gender.concept_name AS sex,
       CASE WHEN YEAR(drug_exposure_start_date) - year_of_birth < 40 THEN 'under 40'
            WHEN YEAR(drug_exposure_start_date) - year_of_birth < 65 THEN '40-64' ELSE '65+' END AS age_band,
       COUNT(*) AS n
FROM cdm.drug_exposure JOIN cdm.person USING (person_id)
JOIN cdm.concept gender ON gender.concept_id = person.gender_concept_id
WHERE drug_concept_id = 1310149
GROUP BY 1, 2
ORDER BY 1, 2;

-- name: de03 quantity statistics
SELECT drug_concept_id, MIN(quantity) AS min_value, MAX(quantity) AS max_value, AVG(quantity) AS mean,
       ROUND(STDDEV(quantity), 0) AS sd
FROM cdm.drug_exposure
WHERE quantity > 0
GROUP BY drug_concept_id;

-- name: de04 refills
SELECT refills, COUNT(1) AS frequency FROM cdm.drug_exposure WHERE drug_concept_id IN (1503297, 1545958)
GROUP BY refills ORDER BY refills;

-- name: de05 drug within thirty days of a diagnosis
SELECT COUNT(DISTINCT co.person_id) AS persons
FROM cdm.condition_occurrence co, cdm.drug_exposure de
WHERE co.person_id = de.person_id AND co.condition_concept_id = 201826 AND de.drug_concept_id = 1503297
  AND de.drug_exposure_start_date BETWEEN co.condition_start_date AND DATEADD(day, 30, co.condition_start_date);

-- name: de06 days from diagnosis to drug
SELECT AVG(DATEDIFF(day, co.condition_start_date, de.drug_exposure_start_date)) AS mean_days
FROM cdm.condition_occurrence co JOIN cdm.drug_exposure de ON de.person_id = co.person_id
WHERE co.condition_concept_id = 316866 AND de.drug_concept_id = 1545958
  AND de.drug_exposure_start_date >= co.condition_start_date;

-- name: de07 new users by month
SELECT DATE_TRUNC('month', first_use) AS start_month, COUNT(*) AS new_users
FROM (SELECT person_id, MIN(drug_exposure_start_date) AS first_use FROM cdm.drug_exposure
      WHERE drug_concept_id = 1112807 GROUP BY person_id) AS u
GROUP BY DATE_TRUNC('month', first_use)
ORDER BY start_month;

-- name: de08 persons with several drugs
SELECT COUNT(*) AS persons
FROM (SELECT person_id, COUNT(DISTINCT drug_concept_id) AS drugs FROM cdm.drug_exposure GROUP BY person_id
      HAVING COUNT(DISTINCT drug_concept_id) >= 3) AS many;

-- name: de09 days since the exposure before
SELECT AVG(gap) AS mean_gap
FROM (SELECT person_id, DATEDIFF(day, LAG(drug_exposure_start_date) OVER (PARTITION BY person_id ORDER BY drug_exposure_start_date, drug_exposure_id), drug_exposure_start_date) AS gap
      FROM cdm.drug_exposure) AS g
WHERE gap IS NOT NULL;

-- name: de10 most recent drug
SELECT drug_concept_id, COUNT(*) AS n
FROM (SELECT person_id, drug_concept_id, ROW_NUMBER() OVER (PARTITION BY person_id ORDER BY drug_exposure_start_date DESC, drug_exposure_id) AS rn
      FROM cdm.drug_exposure) AS d
WHERE rn = 1
GROUP BY drug_concept_id
ORDER BY n DESC;

-- name: de11 route of aspirin
SELECT COALESCE(CAST(route_concept_id AS VARCHAR), 'unknown') AS route, COUNT(*) AS n
FROM cdm.drug_exposure WHERE drug_concept_id = 1112807 GROUP BY 1;

-- name: de12 never took a statin
SELECT COUNT(*) AS persons
FROM cdm.person p
WHERE NOT EXISTS (SELECT 1 FROM cdm.drug_exposure d WHERE d.person_id = p.person_id AND d.drug_concept_id = 1545958);

-- name: vo01 visits by kind and year
SELECT c.concept_name, EXTRACT(YEAR FROM visit_start_date) AS y, COUNT(*) AS visits
FROM cdm.visit_occurrence v INNER JOIN cdm.concept c ON v.visit_concept_id = c.concept_id
GROUP BY c.concept_name, EXTRACT(YEAR FROM visit_start_date)
ORDER BY 1, 2;

-- name: vo02 length of stay
SELECT MIN(los) AS shortest, MAX(los) AS longest, AVG(los) AS mean, MEDIAN(los) AS median
FROM (SELECT person_id, DATEDIFF(day, visit_start_date, visit_end_date) AS los FROM cdm.visit_occurrence
      WHERE visit_concept_id = 9201) AS stays;

-- name: vo03 visits per year-month
SELECT EXTRACT(YEAR FROM visit_start_date) * 100 + EXTRACT(MONTH FROM visit_start_date) AS year_month, COUNT(*) AS visits
FROM cdm.visit_occurrence
WHERE visit_start_date >= '2012-01-01' AND visit_start_date < '2013-01-01'
GROUP BY EXTRACT(YEAR FROM visit_start_date) * 100 + EXTRACT(MONTH FROM visit_start_date)
ORDER BY year_month;

-- name: vo04 places of care
SELECT cs.care_site_name, COUNT(DISTINCT v.person_id) AS patients
FROM cdm.care_site cs JOIN cdm.visit_occurrence v ON v.care_site_id = cs.care_site_id
GROUP BY cs.care_site_name
ORDER BY patients DESC;

-- name: vo05 visits by state of the site
SELECT l.state, COUNT(*) AS visits
FROM cdm.visit_occurrence v
JOIN cdm.care_site cs ON v.care_site_id = cs.care_site_id
JOIN cdm.location l ON l.location_id = cs.location_id
GROUP BY l.state
HAVING COUNT(*) > 500
ORDER BY visits DESC;

-- name: vo06 readmitted within thirty days
SELECT COUNT(*) AS readmissions
FROM cdm.visit_occurrence a JOIN cdm.visit_occurrence b ON a.person_id = b.person_id
WHERE a.visit_concept_id = 9201 AND b.visit_concept_id = 9201 AND b.visit_start_date > a.visit_end_date
  AND DATEDIFF(day, a.visit_end_date, b.visit_start_date) <= 30;

-- name: vo07 share of kinds
SELECT visit_concept_id, COUNT(*) AS n, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) AS percent
FROM cdm.visit_occurrence
GROUP BY visit_concept_id
ORDER BY n DESC;

-- name: op01 length of observation
SELECT AVG(DATEDIFF(day, observation_period_start_date, observation_period_end_date)) AS mean_days,
       MEDIAN(DATEDIFF(day, observation_period_start_date, observation_period_end_date)) AS median_days
FROM cdm.observation_period;

-- name: op02 years of observation
SELECT FLOOR(DATEDIFF(day, observation_period_start_date, observation_period_end_date) / 365) AS years, COUNT(*) AS persons
FROM cdm.observation_period
GROUP BY FLOOR(DATEDIFF(day, observation_period_start_date, observation_period_end_date) / 365)
ORDER BY years;

-- name: op03 observed on a day
SELECT COUNT(DISTINCT person_id) AS persons
FROM cdm.observation_period
WHERE '2010-06-30' BETWEEN observation_period_start_date AND observation_period_end_date;

-- name: op04 age at the beginning
SELECT p.gender_concept_id, AVG(YEAR(op.observation_period_start_date) - p.year_of_birth) AS age
FROM cdm.person p JOIN cdm.observation_period op ON p.person_id = op.person_id
GROUP BY p.gender_concept_id;

-- name: me01 values of a measurement
SELECT c.concept_name, COUNT(*) AS n, AVG(value_as_number) AS mean, STDDEV_SAMP(value_as_number) AS sd
FROM cdm.measurement m JOIN cdm.concept c ON c.concept_id = m.measurement_concept_id
WHERE value_as_number IS NOT NULL
GROUP BY c.concept_name;

-- name: me02 high pressure
SELECT COUNT(DISTINCT person_id) AS persons
FROM cdm.measurement WHERE measurement_concept_id = 3004249 AND value_as_number >= 126;

-- name: me03 mean of last values
SELECT AVG(value_as_number) AS mean
FROM (SELECT person_id, value_as_number, ROW_NUMBER() OVER (PARTITION BY person_id ORDER BY measurement_date DESC, value_as_number) AS k
      FROM cdm.measurement WHERE measurement_concept_id = 3004249) AS x
WHERE k = 1;

-- name: dt01 deaths by cause
SELECT COALESCE(concept_name, 'unknown') AS cause, COUNT(*) AS deaths
FROM cdm.death LEFT JOIN cdm.concept ON cause_concept_id = concept_id
GROUP BY 1
ORDER BY deaths DESC;

-- name: dt02 died within a year of a heart attack
SELECT COUNT(DISTINCT d.person_id) AS persons
FROM cdm.death d JOIN cdm.condition_occurrence co ON co.person_id = d.person_id
WHERE co.condition_concept_id = 4329847 AND d.death_date >= co.condition_start_date
  AND d.death_date < co.condition_start_date + INTERVAL '1' YEAR;

-- name: dt03 mortality by gender
SELECT p.gender_concept_id, 1000.0 * COUNT(d.person_id) / COUNT(p.person_id) AS per_thousand
FROM cdm.person p LEFT JOIN cdm.death d ON d.person_id = p.person_id
GROUP BY p.gender_concept_id;

-- name: cohort with CTEs
WITH diabetics AS (SELECT person_id, MIN(condition_start_date) AS index_date FROM cdm.condition_occurrence
                   WHERE condition_concept_id = 201826 GROUP BY person_id),
     treated AS (SELECT DISTINCT d.person_id FROM diabetics d JOIN cdm.drug_exposure e ON e.person_id = d.person_id
                 WHERE e.drug_concept_id = 1503297 AND e.drug_exposure_start_date >= d.index_date)
SELECT p.gender_concept_id, COUNT(*) AS persons
FROM treated t JOIN cdm.person p ON p.person_id = t.person_id
GROUP BY p.gender_concept_id;

-- name: pl01 list of patients
-- never: add it to GROUP BY, or take COUNT, SUM or AVG of it
SELECT person_id, year_of_birth FROM cdm.person WHERE year_of_birth < 1925;

-- name: pl02 patients with their diagnoses
-- never: ask without GROUP BY person_id
SELECT p.person_id, COUNT(*) AS diagnoses FROM cdm.person p JOIN cdm.condition_occurrence co ON co.person_id = p.person_id
GROUP BY p.person_id ORDER BY diagnoses DESC;

-- name: pl03 twins of birth
-- never: equate the persons of both sides, as in ON a.person_id =
SELECT COUNT(*) AS pairs FROM cdm.person a JOIN cdm.person b ON a.birth_date = b.birth_date AND a.person_id < b.person_id;

-- name: pl04 rank among all patients
-- never: begin it with the person, as in OVER (PARTITION BY
SELECT AVG(r) AS mean_rank FROM (SELECT person_id, RANK() OVER (ORDER BY year_of_birth) AS r FROM cdm.person) AS x;
