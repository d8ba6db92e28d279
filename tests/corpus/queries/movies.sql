-- Many joins over movies, as in the Join Order Benchmark, counted.
-- world: movies

-- name: 01 production companies with a rank
SELECT COUNT(*) AS n
FROM company_type AS ct, info_type AS it, movie_companies AS mc, movie_info_idx AS mi_idx, title AS t
WHERE ct.kind = 'production companies' AND it.info = 'bottom 10 rank'
  AND (mc.note LIKE '%(co-production)%' OR mc.note LIKE '%(presents)%')
  AND ct.id = mc.company_type_id AND t.id = mc.movie_id AND t.id = mi_idx.movie_id
  AND mc.movie_id = mi_idx.movie_id AND it.id = mi_idx.info_type_id;

-- name: 02 german companies with a character
SELECT COUNT(*) AS n
FROM company_name AS cn, keyword AS k, movie_companies AS mc, movie_keyword AS mk, title AS t
WHERE cn.country_code = '[de]' AND k.keyword = 'character-name-in-title' AND cn.id = mc.company_id
  AND mc.movie_id = t.id AND t.id = mk.movie_id AND mk.keyword_id = k.id AND mc.movie_id = mk.movie_id;

-- name: 03 sequels of countries
SELECT COUNT(*) AS n
FROM keyword AS k, movie_info AS mi, movie_keyword AS mk, title AS t
WHERE k.keyword LIKE '%sequel%' AND mi.info IN ('Sweden', 'Germany', 'Denmark', 'USA') AND t.production_year > 2005
  AND t.id = mi.movie_id AND t.id = mk.movie_id AND mk.movie_id = mi.movie_id AND k.id = mk.keyword_id;

-- name: 04 rated sequels
SELECT COUNT(*) AS n
FROM info_type AS it, keyword AS k, movie_info_idx AS mi_idx, movie_keyword AS mk, title AS t
WHERE it.info = 'rating' AND k.keyword LIKE '%sequel%' AND mi_idx.info > '5.0' AND t.production_year > 1990
  AND t.id = mi_idx.movie_id AND t.id = mk.movie_id AND mk.movie_id = mi_idx.movie_id
  AND k.id = mk.keyword_id AND it.id = mi_idx.info_type_id;

-- name: 05 typical american movies
SELECT t.kind_id, COUNT(*) AS n
FROM company_type ct, info_type it, movie_companies mc, movie_info mi, title t
WHERE ct.kind = 'production companies' AND mc.note LIKE '%(USA)%' AND mi.info IN ('USA', 'Sweden')
  AND t.production_year > 1970 AND t.id = mi.movie_id AND t.id = mc.movie_id AND mc.movie_id = mi.movie_id
  AND ct.id = mc.company_type_id AND it.id = mi.info_type_id
GROUP BY t.kind_id ORDER BY t.kind_id;

-- name: 06 a hero's movies
SELECT COUNT(*) AS n
FROM cast_info AS ci, keyword AS k, movie_keyword AS mk, name AS n, title AS t
WHERE k.keyword = 'marvel-cinematic-universe' AND n.name LIKE '%Downey%' AND t.production_year > 1980
  AND k.id = mk.keyword_id AND t.id = mk.movie_id AND t.id = ci.movie_id AND ci.movie_id = mk.movie_id
  AND n.id = ci.person_id;

-- name: 07 voices of women
SELECT COUNT(DISTINCT t.id) AS titles
FROM title t JOIN cast_info ci ON ci.movie_id = t.id JOIN name n ON n.id = ci.person_id
     JOIN role_type rt ON rt.id = ci.role_id
WHERE ci.note = '(voice)' AND n.gender = 'f' AND rt.role = 'actress';

-- name: 08 writers by decade
SELECT FLOOR(t.production_year / 10) * 10 AS decade, COUNT(*) AS n
FROM title AS t, cast_info AS ci, role_type AS rt
WHERE t.id = ci.movie_id AND ci.role_id = rt.id AND rt.role = 'writer' AND t.production_year >= 1960
GROUP BY decade ORDER BY decade;

-- name: 09 companies by country and kind
SELECT cn.country_code, ct.kind, COUNT(*) AS n
FROM movie_companies mc, company_name cn, company_type ct
WHERE mc.company_id = cn.id AND mc.company_type_id = ct.id AND cn.country_code IS NOT NULL
GROUP BY cn.country_code, ct.kind
ORDER BY n DESC;

-- name: 10 genres of dark movies
SELECT mi.info AS genre, COUNT(DISTINCT mi.movie_id) AS titles
FROM movie_info mi, info_type it, movie_keyword mk, keyword k
WHERE mi.info_type_id = it.id AND it.info = 'genres' AND mk.movie_id = mi.movie_id AND mk.keyword_id = k.id
  AND k.keyword IN ('murder', 'blood', 'fight')
GROUP BY mi.info
ORDER BY titles DESC;

-- name: 11 complete casts
SELECT cct.kind, COUNT(*) AS n, AVG(t.production_year) AS mean_year
FROM complete_cast cc JOIN comp_cast_type cct ON cct.id = cc.status_id JOIN title t ON t.id = cc.movie_id
GROUP BY cct.kind;

-- name: 12 kinds without a rating
SELECT kt.kind, COUNT(*) AS unrated
FROM title t JOIN kind_type kt ON kt.id = t.kind_id
LEFT JOIN movie_info_idx r ON r.movie_id = t.id AND r.info_type_id = 4
WHERE r.movie_id IS NULL
GROUP BY kt.kind;

-- name: 13 actors of at least a dozen movies
SELECT n.name, COUNT(DISTINCT ci.movie_id) AS titles
FROM name n JOIN cast_info ci ON ci.person_id = n.id
GROUP BY n.name
HAVING COUNT(DISTINCT ci.movie_id) >= 30
ORDER BY titles DESC, n.name;

-- name: 14 movies with a cast and a company and a keyword
SELECT COUNT(*) AS n
FROM title t
WHERE t.id IN (SELECT movie_id FROM cast_info) AND t.id IN (SELECT movie_id FROM movie_companies)
  AND t.id NOT IN (SELECT movie_id FROM movie_keyword);

-- name: 15 cast size
SELECT ROUND(AVG(size), 2) AS mean_cast
FROM (SELECT movie_id, LEAST(COUNT(*), 30) AS size FROM cast_info GROUP BY movie_id) AS s;

-- name: 16 first title in the alphabet
-- never: take that of 'production_year', or read it as numbers, as in CLIP(CAST("title" AS FLOAT), 0, 100)
SELECT MIN(t.title) AS first_title
FROM title t, movie_keyword mk, keyword k
WHERE t.id = mk.movie_id AND mk.keyword_id = k.id AND k.keyword = 'sequel';

-- name: 17 titles one by one
-- never: add it to GROUP BY, or take COUNT, SUM or AVG of it
SELECT t.title, t.production_year FROM title AS t WHERE t.production_year > 2015 ORDER BY t.production_year LIMIT 5;

-- name: 18 pairs of movies that share an actor
-- never: equate the persons of both sides, as in ON a.movie_id = b.movie_id
SELECT COUNT(*) AS pairs FROM cast_info a, cast_info b WHERE a.person_id = b.person_id AND a.movie_id < b.movie_id;

-- name: 19 recent titles with a director
SELECT t.production_year, COUNT(*) AS n
FROM (title t JOIN cast_info ci ON t.id = ci.movie_id) JOIN role_type r ON r.id = ci.role_id
WHERE r.role = 'director' AND t.production_year BETWEEN 2010 AND 2015
GROUP BY t.production_year
ORDER BY 1 DESC;

-- name: 20 keywords of dramas
SELECT k.keyword, COUNT(*) AS uses
FROM movie_keyword mk JOIN keyword k ON k.id = mk.keyword_id
     JOIN movie_info mi ON mi.movie_id = mk.movie_id AND mi.info = 'Drama'
GROUP BY k.keyword
ORDER BY uses DESC
LIMIT 8;
