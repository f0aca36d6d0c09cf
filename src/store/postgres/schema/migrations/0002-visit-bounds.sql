-- A row refuses a text of a visit that is longer than it may be. Of failures, of looks of the owner and of edits the log keeps the
-- first 500 each; later ones are only counted, with the time and address of the latest.

ALTER TABLE pushes
  ADD edits int NOT NULL DEFAULT 0,
  ADD counted_failures int NOT NULL DEFAULT 0,
  ADD counted_at bigint NOT NULL DEFAULT 0,
  ADD counted_from text NOT NULL DEFAULT '' CHECK (char_length(counted_from) <= 45);

WITH placed AS (
  SELECT push_id, n, row_number() OVER (
    PARTITION BY push_id, kind = 'owner_view', starts_with(kind, 'failed') ORDER BY n) AS place
  FROM audit_entries WHERE bound IS NOT NULL OR starts_with(kind, 'failed')
), gone AS (
  DELETE FROM audit_entries USING placed
  WHERE audit_entries.push_id = placed.push_id AND audit_entries.n = placed.n AND place > 500
  RETURNING audit_entries.push_id, audit_entries.n, at, ip
), latest AS (
  SELECT DISTINCT ON (push_id) push_id, at, ip FROM gone ORDER BY push_id, n DESC
)
UPDATE pushes SET counted_at = at, counted_from = left(ip, 45) FROM latest WHERE latest.push_id = pushes.id;

UPDATE pushes SET counted_failures = greatest(0, failures - 500), audit_entries = log.entries, edits = log.edits
FROM (
  SELECT push_id, count(*) AS entries, count(*) FILTER (WHERE kind = 'edit') AS edits FROM audit_entries GROUP BY push_id
) AS log WHERE log.push_id = pushes.id AND (failures > 500 OR owner_views > 0 OR log.edits > 0);

UPDATE audit_entries SET ip = left(ip, 45), user_agent = left(user_agent, 255),
  referrer = CASE WHEN char_length(referrer) > 300 THEN '' ELSE referrer END
WHERE char_length(ip) > 45 OR char_length(user_agent) > 255 OR char_length(referrer) > 300;
ALTER TABLE audit_entries
  DROP bound,
  ADD CHECK (char_length(kind) <= 30),
  ADD CHECK (char_length(ip) <= 45),
  ADD CHECK (char_length(user_agent) <= 255),
  ADD CHECK (char_length(referrer) <= 300);

UPDATE sessions SET ip = left(ip, 45), user_agent = left(user_agent, 255)
WHERE char_length(ip) > 45 OR char_length(user_agent) > 255;
ALTER TABLE sessions
  ADD CHECK (char_length(ip) <= 45),
  ADD CHECK (char_length(user_agent) <= 255);
