/* What upgrades of the catalog need of PostgreSQL: see db_engine.h. Tables are altered in place, so foreign keys stay
 * enforced. No copy is made before: of a large database it would take as long as the upgrade and as much space again,
 * inside the server that has to hold both, while each migration is a transaction that fails as a whole. pg_dump or
 * point-in-time recovery lead back to an older version. */
#include "catalog/postgres/postgres.h"

/* Names and types alone, which all versions of PostgreSQL write alike. Indexes are left out: administrators add some.
 */
const char pg_schema[] =
    "SELECT line FROM ("
    "SELECT 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || "
    "CASE WHEN a.attnotnull THEN ' not null' ELSE '' END AS line "
    "FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid "
    "WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND c.relkind = 'r' AND a.attnum > 0 AND NOT "
    "a.attisdropped "
    "UNION ALL SELECT 'trigger ' || c.relname || '.' || t.tgname FROM pg_trigger AS t "
    "JOIN pg_class AS c ON c.oid = t.tgrelid "
    "WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND NOT t.tgisinternal "
    "UNION ALL SELECT 'constraint ' || c.relname || '.' || o.conname FROM pg_constraint AS o "
    "JOIN pg_class AS c ON c.oid = o.conrelid "
    "WHERE c.relnamespace = CAST(current_schema() AS regnamespace) AND o.contype IN ('c', 'f', 'p', 'u') "
    "UNION ALL SELECT 'function ' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' "
    "FROM pg_proc AS p WHERE p.pronamespace = CAST(current_schema() AS regnamespace) AND NOT EXISTS "
    "(SELECT 1 FROM pg_depend AS d WHERE d.objid = p.oid AND d.deptype = 'e')"
    ") AS lines ORDER BY line COLLATE \"C\"";

const char pg_scratch[] = "CREATE SCHEMA reel_scratch; "
                          "SELECT set_config('search_path', 'reel_scratch, ' || current_setting('search_path'), true)";
