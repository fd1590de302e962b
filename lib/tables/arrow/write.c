/* Messages as an Arrow IPC stream, one row a message. It is planned like a file, so that it has a length and ranges. */
#include "base/bytes.h"
#include "tables/arrow/arrow.h"

struct totals {
    struct columns columns; /* the tree; read by all runs */
    struct columns_groups groups;
};

static bool arrow_open(struct reel_write *w, struct reel_error *err) {
    const char *compression = w->options->compression ? w->options->compression : "";
    if (compression[0] != '\0' && strcmp(compression, "none") != 0) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         "Arrow streams are not written with compression \"%.32s\": many readers have none",
                         compression);
    }
    return columns_run_open(w->run, w, err);
}

static void arrow_close(struct reel_write *w) {
    columns_run_close(w->run);
}

static bool arrow_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct totals *totals = w->totals;
    struct columns_about about[COLUMNS_ABOUT];
    if (w->planning) {
        totals->groups.most = ARROW_BATCH_BYTES;
        if (!columns_plan(w->run, w, &totals->columns, &totals->groups, err)) {
            return false;
        }
    }
    return arrow_put_schema(&totals->columns, about, columns_about(w->stream, about), out, err);
}

static bool arrow_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct columns_run *run = w->run;
    const struct totals *totals = w->totals;
    return w->planning
               ? columns_lay(w, &totals->groups, out, err)
               : columns_take(run, w, &totals->columns, err) && arrow_put_batch(&totals->columns, &run->fill, out, err);
}

static bool arrow_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    (void)w;
    (void)part;
    (void)err;
    arrow_put_end(out);
    return true;
}

const struct reel_writer reel_writer_arrow = {
    .name = "arrow",
    .extension = ".arrows",
    .media_type = "application/vnd.apache.arrow.stream",
    .needs = REEL_DECODES | REEL_HEAD_FIRST,
    .version = 2,
    .totals_size = sizeof(struct totals),
    .run_size = sizeof(struct columns_run),
    .accepts = rows_accept,
    .accepts_all = columns_accept_all,
    .open = arrow_open,
    .close = arrow_close,
    .head = arrow_head,
    .messages = arrow_messages,
    .tail = arrow_tail,
};
