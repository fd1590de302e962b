/* The messages of a stream as rows of columns, for the writers of tables. */
#ifndef REEL_TABLES_COLUMNS_MESSAGES_H
#define REEL_TABLES_COLUMNS_MESSAGES_H

#include "tables/columns/fill.h"
#include "tables/rows.h"

struct columns_run { /* of one run of a writer */
    struct rows rows;
    struct columns_fill fill;
};

/* The rows of a table in groups, found while its columns are. Memory lives with the plan. */
struct columns_group {
    uint64_t rows, bytes; /* bytes: about what their values take */
};
struct columns_groups {
    struct columns_group *items;
    uint64_t n, room;
    uint64_t most; /* bytes from which a group is full */
};

bool columns_accept_all(const struct reel_stream *stream, struct reel_loss *loss);

bool columns_run_open(struct columns_run *run, struct reel_write *w, struct reel_error *err);
void columns_run_close(struct columns_run *run);

/* While planning, in head(): runs through the stream to find the columns and the groups, and returns to its beginning.
 * The tree lives with the plan. */
bool columns_plan(struct columns_run *run, struct reel_write *w, struct columns *columns, struct columns_groups *groups,
                  struct reel_error *err);
/* While planning, in messages(): takes the messages of a group, which is packed. */
bool columns_lay(struct reel_write *w, const struct columns_groups *groups, struct reel_sink *out,
                 struct reel_error *err);
/* In messages(): fills run->fill with the messages of the group. */
bool columns_take(struct columns_run *run, struct reel_write *w, const struct columns *columns, struct reel_error *err);
/* The same group once more, whose bytes the writer still has. */
bool columns_skip(struct reel_write *w, struct reel_error *err);

/* What a table says about itself: visits each pair of key and value. */
struct columns_about {
    const char *key, *value;
};
enum { COLUMNS_ABOUT = 3 };
uint32_t columns_about(const struct reel_stream *stream, struct columns_about out[COLUMNS_ABOUT]);

#endif
