-- Values in a range, of the keys in a range.
SELECT v.id, v.value, k.name FROM tag_keys AS k CROSS JOIN tag_values AS v ON v.key = k.id
WHERE k.name >= :key_from AND k.name <= :key_end AND v.value >= :from AND v.value <= :end;
