-- A label is its kind, a digit, and its name. Returns those that are new.
INSERT INTO labels (kind, name) SELECT CAST(substr(l.value, 1, 1) AS INTEGER), substr(l.value, 2) FROM {texts :labels} AS l WHERE TRUE
ON CONFLICT (kind, name) DO NOTHING RETURNING CAST(kind AS TEXT) || name;
