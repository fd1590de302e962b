/* The statements of sql/, built in (cmake/EmbedSql.cmake). All tables are in the order of their names. */
#ifndef SERVER_CATALOG_SQL_H
#define SERVER_CATALOG_SQL_H

#include <stddef.h>

struct sql_text {
    const char *name; /* of a migration: that of its file, without ".sql" */
    const char *text;
};
extern const struct sql_text sql_migrations[];
extern const size_t sql_migrations_count;
extern const struct sql_text sql_statements[];
extern const size_t sql_statements_count;
/* For PostgreSQL: the tables, and statements in place of those of the same name. */
extern const struct sql_text sql_postgres_migrations[];
extern const size_t sql_postgres_migrations_count;
extern const struct sql_text sql_postgres_statements[];
extern const size_t sql_postgres_statements_count;

#endif
