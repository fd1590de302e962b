/* Messages as Parquet, one row a message. A row group that is packed goes to the output column by column. Otherwise a
 * run of the writer encodes it as a whole and keeps it: of a large one several windows are taken, one after another.
 * A reader so takes the values of a row group (32 MiB, or one larger message), its encoded bytes and a window. */
#include "base/bytes.h"
#include "tables/columns/messages.h"
#include "tables/parquet/parquet.h"

struct totals {
    struct columns columns; /* the tree; read by all runs */
    struct columns_groups groups;
    struct parquet_leaf *leaves;
    uint32_t n_leaves;
};
struct parquet_run {
    struct columns_run columns;
    struct parquet_encoder encoder;
    struct grow group;           /* the encoded row group, or a column of it … */
    struct parquet_chunk *notes; /* … and its chunks, by leaf */
    uint64_t kept;               /* number of that group + 1; 0: none */
};

static bool codec_named(const char *name, enum parquet_codec *codec, struct reel_error *err) {
    bool none = strcmp(name, "none") == 0, lz4 = strcmp(name, "lz4") == 0 || strcmp(name, "lz4_raw") == 0;
    *codec = none ? PARQUET_UNCOMPRESSED : lz4 ? PARQUET_LZ4_RAW : PARQUET_ZSTD;
    return none || lz4 || name[0] == '\0' || strcmp(name, "zstd") == 0 ||
           reel_fail(err, REEL_UNSUPPORTED,
                     "Parquet is not written with compression \"%.32s\": zstd, lz4_raw or none is", name);
}

static bool parquet_open(struct reel_write *w, struct reel_error *err) {
    struct parquet_run *run = w->run;
    return codec_named(w->options->compression ? w->options->compression : "", &run->encoder.codec, err) &&
           columns_run_open(&run->columns, w, err);
}

static void parquet_close(struct reel_write *w) {
    struct parquet_run *run = w->run;
    columns_run_close(&run->columns);
    parquet_encoder_free(&run->encoder);
    free(run->group.data);
    free(run->notes);
}

static bool plan_leaves(struct reel_write *w, struct reel_error *err) {
    struct totals *totals = w->totals;
    const struct columns *columns = &totals->columns;
    totals->leaves = reel_write_keep(w, columns->n * sizeof *totals->leaves, err);
    if (totals->leaves) {
        totals->n_leaves = parquet_leaves(columns, totals->leaves);
    }
    return totals->leaves != NULL;
}

static bool parquet_head(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct parquet_run *run = w->run;
    struct totals *totals = w->totals;
    if (w->planning) {
        totals->groups.most = REEL_ROW_GROUP_BYTES;
        if (!columns_plan(&run->columns, w, &totals->columns, &totals->groups, err) || !plan_leaves(w, err)) {
            return false;
        }
    }
    reel_sink_put(out, PARQUET_MAGIC, 4);
    return true;
}

/* ---- row groups */

/* Takes the messages of the group. */
static bool take_group(struct reel_write *w, struct reel_error *err) {
    struct parquet_run *run = w->run;
    const struct totals *totals = w->totals;
    run->kept = 0;
    if (!run->notes && !(run->notes = calloc((size_t)totals->n_leaves + 1, sizeof *run->notes))) {
        return reel_fail_memory(err);
    }
    return columns_take(&run->columns, w, &totals->columns, err);
}

/* Encodes the group and keeps it. */
static bool encode_group(struct reel_write *w, struct reel_error *err) {
    struct parquet_run *run = w->run;
    const struct totals *totals = w->totals;
    run->group.size = 0;
    if (!take_group(w, err) || !parquet_put_group(&run->encoder, totals->leaves, totals->n_leaves, &run->columns.fill,
                                                  run->notes, &run->group, err)) {
        return false;
    }
    run->kept = w->group + 1;
    return true;
}

static bool pack_group(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct parquet_run *run = w->run;
    const struct totals *totals = w->totals;
    if (!take_group(w, err)) {
        return false;
    }
    run->encoder.pages.size = 0;
    for (uint32_t i = 0; i < totals->n_leaves; i++) {
        run->group.size = 0;
        if (!parquet_put_leaf(&run->encoder, &totals->leaves[i], &run->columns.fill, &run->notes[i], &run->group,
                              err)) {
            return false;
        }
        reel_sink_put(out, run->group.data, run->group.size);
    }
    return true;
}

static bool note_group(struct reel_write *w, struct reel_error *err) {
    const struct parquet_run *run = w->run;
    const struct totals *totals = w->totals;
    return reel_write_note(w, run->notes, totals->n_leaves * sizeof *run->notes, err) &&
           reel_write_note(w, run->encoder.pages.data, run->encoder.pages.size, err);
}

static bool parquet_messages(struct reel_write *w, struct reel_sink *out, struct reel_error *err) {
    struct parquet_run *run = w->run;
    const struct totals *totals = w->totals;
    if (w->planning) {
        return columns_lay(w, &totals->groups, out, err);
    }
    if (w->packing) {
        return pack_group(w, out, err) && note_group(w, err);
    }
    if (run->kept == w->group + 1 ? !columns_skip(w, err) : !encode_group(w, err)) {
        return false;
    }
    reel_sink_put(out, run->group.data, run->group.size);
    return true;
}

/* ---- the end */

static struct parquet_group group_at(void *context, uint64_t group) {
    const struct reel_write *w = context;
    const struct totals *totals = w->totals;
    const struct reel_group *g = reel_write_group(w, group);
    const struct parquet_chunk *chunks = (const void *)g->note;
    return (struct parquet_group){.offset = g->offset,
                                  .size = g->size,
                                  .rows = g->count,
                                  .chunks = chunks,
                                  .pages = (const void *)(chunks + totals->n_leaves)};
}

static bool parquet_tail(struct reel_write *w, uint64_t part, struct reel_sink *out, struct reel_error *err) {
    const struct parquet_run *run = w->run;
    const struct totals *totals = w->totals;
    struct columns_about about[COLUMNS_ABOUT];
    (void)part;
    (void)err;
    const struct parquet_footer footer = {.columns = &totals->columns,
                                          .leaves = totals->leaves,
                                          .n_leaves = totals->n_leaves,
                                          .codec = run->encoder.codec,
                                          .n_groups = reel_write_groups(w),
                                          .group = group_at,
                                          .context = w,
                                          .about = about,
                                          .n_about = columns_about(w->stream, about)};
    return parquet_put_footer(&footer, out, err);
}

const struct reel_writer reel_writer_parquet = {
    .name = "parquet",
    .extension = ".parquet",
    .media_type = "application/vnd.apache.parquet",
    .compressions = "zstd lz4_raw none",
    .needs = REEL_COMPRESSES | REEL_DECODES | REEL_HEAD_FIRST,
    .version = 3,
    .totals_size = sizeof(struct totals),
    .run_size = sizeof(struct parquet_run),
    .accepts = rows_accept,
    .accepts_all = columns_accept_all,
    .open = parquet_open,
    .close = parquet_close,
    .head = parquet_head,
    .messages = parquet_messages,
    .tail = parquet_tail,
};
