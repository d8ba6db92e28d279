-- Cells of notebooks about bicycle rides.
-- world: mobility

-- name: how long is the table
SELECT COUNT(*) FROM rides;

-- name: describe
SELECT COUNT(duration_min) AS n, AVG(duration_min) AS mean, STDDEV(duration_min) AS std, MIN(duration_min) AS min,
       QUANTILE(duration_min, 0.25) AS q25, QUANTILE(duration_min, 0.5) AS q50, QUANTILE(duration_min, 0.75) AS q75, MAX(duration_min) AS max
FROM rides;

-- name: missing values
SELECT SUM(CASE WHEN end_station IS NULL THEN 1 ELSE 0 END) AS no_end, SUM(CASE WHEN distance_km IS NULL THEN 1 ELSE 0 END) AS no_distance FROM rides;

-- name: value counts
SELECT bike_type, COUNT(*) AS n FROM rides GROUP BY bike_type ORDER BY n DESC;

-- name: value counts normalized
SELECT bike_type, COUNT(*) / SUM(COUNT(*)) OVER () AS share FROM rides GROUP BY bike_type ORDER BY share DESC;

-- name: crosstab
SELECT bike_type, member, COUNT(*) AS n FROM rides GROUP BY bike_type, member ORDER BY bike_type, member;

-- name: rides per day
SELECT started_at::DATE AS day, COUNT(*) AS n FROM rides GROUP BY 1 ORDER BY 1;

-- name: rides per month with a cast
SELECT CAST(DATE_TRUNC('month', started_at) AS DATE) AS month, COUNT(*) AS n FROM rides GROUP BY CAST(DATE_TRUNC('month', started_at) AS DATE) ORDER BY month;

-- name: rides per weekday
SELECT EXTRACT(ISODOW FROM started_at) AS weekday, AVG(duration_min) AS mean FROM rides GROUP BY 1 ORDER BY 1;

-- name: rush hours
SELECT CASE WHEN EXTRACT(HOUR FROM started_at) BETWEEN 7 AND 9 THEN 'morning' WHEN EXTRACT(HOUR FROM started_at) BETWEEN 16 AND 18 THEN 'evening' ELSE 'other' END AS rush,
       COUNT(*) AS n
FROM rides GROUP BY rush ORDER BY rush;

-- name: hour and weekday
SELECT EXTRACT(DOW FROM started_at) AS dow, EXTRACT(HOUR FROM started_at) AS h, COUNT(*) AS n FROM rides WHERE member GROUP BY 1, 2;

-- name: minutes from times
SELECT AVG((EXTRACT(EPOCH FROM ended_at) - EXTRACT(EPOCH FROM started_at)) / 60) AS minutes FROM rides;

-- name: speed
-- within: 0.001
SELECT bike_type, AVG(LEAST(distance_km / (duration_min / 60.0), 40)) AS kmh FROM rides WHERE duration_min > 1 AND distance_km IS NOT NULL GROUP BY bike_type;

-- name: speed from sums
SELECT bike_type, SUM(distance_km) / (SUM(duration_min) / 60) AS kmh FROM rides GROUP BY bike_type;

-- name: long rides
SELECT COUNT(*) FILTER (WHERE duration_min > 30) * 100.0 / COUNT(*) AS percent_long FROM rides;

-- name: rides by district
SELECT s.district, COUNT(*) AS n FROM rides r JOIN stations s ON r.start_station = s.station_id GROUP BY s.district ORDER BY n DESC;

-- name: from district to district
SELECT a.district AS origin, b.district AS destination, COUNT(*) AS n
FROM rides r JOIN stations a ON r.start_station = a.station_id JOIN stations b ON r.end_station = b.station_id
GROUP BY a.district, b.district ORDER BY n DESC;

-- name: busiest stations
SELECT s.station_name, COUNT(*) AS departures FROM stations s, rides r WHERE s.station_id = r.start_station GROUP BY s.station_name ORDER BY departures DESC LIMIT 3;

-- name: arrivals and departures
WITH d AS (SELECT start_station AS station, COUNT(*) AS departures FROM rides GROUP BY start_station),
     a AS (SELECT end_station AS station, COUNT(*) AS arrivals FROM rides WHERE end_station IS NOT NULL GROUP BY end_station)
SELECT d.station, arrivals - departures AS balance FROM d JOIN a ON a.station = d.station ORDER BY d.station;

-- name: round trips
SELECT COUNT(*) AS n FROM rides WHERE start_station = end_station;

-- name: rain
SELECT CASE WHEN w.rain_mm > 0 THEN 'wet' ELSE 'dry' END AS weather, COUNT(*) AS rides
FROM rides r JOIN weather w ON CAST(r.started_at AS DATE) = w.day GROUP BY 1;

-- name: rides per wet day
SELECT w.rain_mm, COUNT(*) AS rides FROM (SELECT rider_id, CAST(started_at AS DATE) AS day FROM rides) r JOIN weather w ON w.day = r.day GROUP BY w.rain_mm ORDER BY w.rain_mm;

-- name: temperature bands
SELECT FLOOR(temperature / 10) * 10 AS t, AVG(duration_min) AS mean FROM rides JOIN weather ON DATE_TRUNC('day', started_at) = day GROUP BY t ORDER BY t;

-- name: riders by age
SELECT FLOOR((2024 - birth_year) / 10) * 10 AS age, COUNT(*) AS riders FROM riders WHERE birth_year IS NOT NULL GROUP BY 1 ORDER BY 1;

-- name: body mass index
SELECT COUNT(*) FILTER (WHERE weight_kg / POWER(height_cm / 100.0, 2) < 18.5) AS low,
       COUNT(*) FILTER (WHERE weight_kg / POWER(height_cm / 100.0, 2) BETWEEN 18.5 AND 25) AS normal,
       COUNT(*) FILTER (WHERE weight_kg / POWER(height_cm / 100.0, 2) >= 30) AS obese
FROM riders;

-- name: plan and age
SELECT plan, AVG(2024 - birth_year) AS age, COUNT(*) AS n FROM riders GROUP BY plan ORDER BY n DESC;

-- name: rides of young riders
SELECT COUNT(*) AS n, SUM(distance_km) AS km FROM rides JOIN riders ON rides.rider_id = riders.rider_id WHERE riders.birth_year >= 1990;

-- name: rides by plan
SELECT COALESCE(u.plan, 'none') AS plan, COUNT(*) AS rides, COUNT(DISTINCT r.rider_id) AS riders, 1.0 * COUNT(*) / COUNT(DISTINCT r.rider_id) AS each_one
FROM rides r INNER JOIN riders u USING (rider_id) GROUP BY COALESCE(u.plan, 'none') ORDER BY 1;

-- name: days since joining
SELECT FLOOR(DATEDIFF('day', u.joined, CAST(r.started_at AS DATE)) / 365) AS years, COUNT(*) AS n
FROM rides r JOIN riders u ON u.rider_id = r.rider_id GROUP BY 1 ORDER BY 1;

-- name: rides per rider
SELECT AVG(n) AS mean, STDDEV(n) AS sd, MAX(n) AS most FROM (SELECT rider_id, LEAST(COUNT(*), 40) AS n FROM rides GROUP BY rider_id) AS t;

-- name: riders without rides
SELECT COUNT(*) AS idle FROM riders LEFT JOIN rides USING (rider_id) WHERE ride_id IS NULL;

-- name: gap between rides
SELECT AVG(DATEDIFF('day', previous, day)) AS mean_gap
FROM (SELECT rider_id, CAST(started_at AS DATE) AS day, LAG(CAST(started_at AS DATE)) OVER (PARTITION BY rider_id ORDER BY started_at) AS previous FROM rides) AS g
WHERE previous IS NOT NULL;

-- name: next ride on the same kind of bike
SELECT COUNT(*) AS same FROM (SELECT rider_id, bike_type, LEAD(bike_type) OVER (PARTITION BY rider_id ORDER BY started_at) AS next_type FROM rides) AS x WHERE bike_type = next_type;

-- name: first rides by month
SELECT DATE_TRUNC('month', first_ride) AS month, COUNT(*) AS riders FROM (SELECT rider_id, MIN(started_at) AS first_ride FROM rides GROUP BY rider_id) AS f GROUP BY 1 ORDER BY 1;

-- name: logarithm of minutes
SELECT AVG(LN(duration_min + 1)) AS m FROM rides;

-- name: correlation of distance and time
SELECT CORR(distance_km, duration_min) AS r FROM rides;

-- name: slope
SELECT REGR_SLOPE(distance_km, duration_min) AS slope, REGR_INTERCEPT(distance_km, duration_min) AS intercept FROM rides;

-- name: summer compared with spring
SELECT SUM(CASE WHEN started_at >= '2024-06-01' THEN 1 ELSE 0 END) * 1.0 / SUM(CASE WHEN started_at < '2024-06-01' THEN 1 ELSE 0 END) AS ratio FROM rides;

-- name: stations by name
SELECT COUNT(*) AS n FROM rides WHERE start_station IN (SELECT station_id FROM stations WHERE station_name LIKE 'Univ%' OR capacity > 30);

-- name: share of electric by month
SELECT month, electric * 1.0 / everything AS share
FROM (SELECT DATE_TRUNC('month', started_at) AS month, COUNT(*) AS everything, SUM(CASE WHEN bike_type = 'electric' THEN 1 ELSE 0 END) AS electric FROM rides GROUP BY 1) AS m
ORDER BY month;

-- name: seven-day average
SELECT day, AVG(n) OVER (ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS smooth
FROM (SELECT CAST(started_at AS DATE) AS day, COUNT(*) AS n FROM rides WHERE started_at >= '2024-06-01' AND started_at < '2024-07-01' GROUP BY 1) AS d
ORDER BY day;

-- name: busiest day
SELECT MAX(n) AS most FROM (SELECT CAST(started_at AS DATE) AS day, COUNT(*) AS n FROM rides GROUP BY CAST(started_at AS DATE)) AS d;

-- name: a random sample
-- never: list the keys and aggregates, as in SELECT city, COUNT(*)
SELECT * FROM rides ORDER BY RANDOM() LIMIT 5;

-- name: the longest ride
-- never: add it to GROUP BY, or take COUNT, SUM or AVG of it
SELECT ride_id, duration_min FROM rides ORDER BY duration_min DESC LIMIT 1;

-- name: outliers by the spread of all
-- never: begin it with the person, as in OVER (PARTITION BY
SELECT COUNT(*) AS n FROM (SELECT rider_id, duration_min, AVG(duration_min) OVER () AS m, STDDEV(duration_min) OVER () AS s FROM rides) AS x WHERE duration_min > m + 3 * s;

-- name: who rode with whom
-- never: equate the persons of both sides, as in ON a.rider_id =
SELECT COUNT(*) AS pairs FROM rides a JOIN rides b ON a.started_at = b.started_at AND a.rider_id <> b.rider_id;
