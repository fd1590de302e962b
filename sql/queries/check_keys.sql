SELECT 'a row of ' || "table" || ' names a row of ' || parent || ' that is not there' FROM pragma_foreign_key_check;
