SELECT 'a row of ' || "table" || ' refers to a row of ' || parent || ' that does not exist' FROM pragma_foreign_key_check;
