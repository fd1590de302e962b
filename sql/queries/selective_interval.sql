-- How many recordings have to be read for this interval, counted no further than :limit.
SELECT count(*) FROM (
    SELECT 1 FROM json_each('[1000000000,16000000000,256000000000,4096000000000,65536000000000,1048576000000000,9223372036854775807]') AS width
    CROSS JOIN recordings AS i INDEXED BY recordings_spans ON i.width_ns = width.value AND i.calendar_start_ns > :start - width.value
    WHERE i.calendar_start_ns < :end AND i.state <> 4 LIMIT :limit
);
