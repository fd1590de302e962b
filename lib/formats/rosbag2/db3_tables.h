/* The tables of a written database but for its messages: page 1 with the schema, and the tables that describe topics.
 */
#ifndef REEL_FORMATS_ROSBAG2_DB3_TABLES_H
#define REEL_FORMATS_ROSBAG2_DB3_TABLES_H

#include "formats/rosbag2/db3_pages.h"
#include "stream/stream.h"

enum db3_table { DB3_SCHEMA, DB3_METADATA, DB3_TOPICS, DB3_MESSAGES, DB3_DEFINITIONS, DB3_TIMES, DB3_TABLES };

struct db3_roots {
    uint64_t of[DB3_TABLES]; /* page numbers; DB3_TIMES 0: there is no index */
    uint64_t pages;          /* of the file */
};
/* Page 1. */
void db3_put_first_page(const struct db3_roots *roots, struct reel_sink *out);

/* Appends the pages of the small tables, of which the first has that number; sets their roots and the number of pages:
 * they are the last.
 */
bool db3_put_tables(const struct reel_stream *stream, uint64_t first, struct db3_roots *roots, struct reel_sink *out,
                    struct reel_error *err);

#endif
