/* See file.h. */
#include "tables/parquet/file.h"

#include <stdlib.h>
#include <string.h>

#include "tables/columns/messages.h"

void parquet_file_done(struct parquet_file *f) {
    for (size_t i = 0; i < f->n_groups; i++) {
        free(f->groups[i].chunks);
        free(f->groups[i].pages);
    }
    parquet_encoder_free(&f->encoder);
    free(f->groups);
    free(f->leaves);
    *f = (struct parquet_file){0};
}

static bool send(struct parquet_file *f, const void *data, size_t size, struct reel_error *err) {
    f->written += size;
    return f->sink->put(f->sink->context, data, size) || reel_fail(err, REEL_IO, "the table could not be written");
}

bool parquet_file_begin(struct parquet_file *f, const struct columns *columns, const struct reel_text_sink *sink,
                        struct reel_error *err) {
    *f = (struct parquet_file){.columns = columns, .sink = sink, .encoder = {.codec = PARQUET_ZSTD}};
    if (!(f->leaves = calloc((size_t)columns->n + 1, sizeof *f->leaves))) {
        return reel_fail_memory(err);
    }
    f->n_leaves = parquet_leaves(columns, f->leaves);
    return send(f, PARQUET_MAGIC, 4, err);
}

static bool put_group(struct parquet_file *f, struct columns_fill *fill, struct grow *out, struct reel_error *err) {
    if (!GROW_ARRAY(f->groups, f->n_groups, f->room)) {
        return reel_fail_memory(err);
    }
    struct parquet_file_group *group = &f->groups[f->n_groups];
    uint64_t rows = fill->rows;
    *group = (struct parquet_file_group){.chunks = calloc((size_t)f->n_leaves + 1, sizeof *group->chunks)};
    f->n_groups++;
    if (!group->chunks) {
        return reel_fail_memory(err);
    }
    if (!parquet_put_group(&f->encoder, f->leaves, f->n_leaves, fill, group->chunks, out, err)) {
        return false;
    }
    if (out->failed || !(group->pages = malloc(f->encoder.pages.size + 1))) {
        return reel_fail_memory(err);
    }
    memcpy(group->pages, f->encoder.pages.data, f->encoder.pages.size);
    group->at = (struct parquet_group){
        .offset = f->written, .size = out->size, .rows = rows, .chunks = group->chunks, .pages = group->pages};
    return send(f, out->data, out->size, err);
}

bool parquet_file_group(struct parquet_file *f, struct columns_fill *fill, struct reel_error *err) {
    struct grow out = {0};
    bool good = fill->rows == 0 || (columns_fill_check(fill, err) && put_group(f, fill, &out, err));
    grow_done(&out);
    columns_fill_clear(fill);
    return good;
}

static struct parquet_group group_at(void *context, uint64_t group) {
    return ((const struct parquet_file *)context)->groups[group].at;
}

bool parquet_file_end(struct parquet_file *f, const struct columns_about *about, uint32_t n_about,
                      struct reel_error *err) {
    const struct parquet_footer footer = {.columns = f->columns,
                                          .leaves = f->leaves,
                                          .n_leaves = f->n_leaves,
                                          .codec = f->encoder.codec,
                                          .n_groups = f->n_groups,
                                          .group = group_at,
                                          .context = f,
                                          .about = about,
                                          .n_about = n_about};
    struct reel_sink out = {.pos = f->written}; /* it only counts */
    if (!parquet_put_footer(&footer, &out, err)) {
        return false;
    }
    size_t size = out.pos - f->written;
    uint8_t *data = malloc(size);
    out = (struct reel_sink){.pos = f->written, .lo = f->written, .hi = f->written + size, .buffer = data};
    bool good = (data || reel_fail_memory(err)) && parquet_put_footer(&footer, &out, err) && send(f, data, size, err);
    free(data);
    return good;
}
