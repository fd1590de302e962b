/* Fuzzes the columns of tables. Input: JSON values, one a line. Whatever values decide the columns, the same values fit
 * them: all columns have as many rows, and Parquet and Arrow are written twice alike. */
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/hash_table.h"
#include "exact.h"
#include "tables/arrow/arrow.h"
#include "tables/columns/survey.h"
#include "tables/parquet/parquet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS_MAX = 256 };

static void expect(bool good, const char *what) {
    if (!good) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void *take(void *arena, size_t size) {
    return arena_alloc(arena, size);
}

/* Free it by exact_free(). */
static struct reel_bytes copy_row_at(const uint8_t **at, const uint8_t *end) {
    const uint8_t *begin = *at, *stop = memchr(begin, '\n', (size_t)(end - begin));
    stop = stop ? stop : end;
    *at = stop < end ? stop + 1 : end;
    return exact_copy(bytes_of(begin, (size_t)(stop - begin)));
}

static void fill(struct columns_fill *f, const struct columns *c, const struct reel_decoder *decoder,
                 const uint8_t *data, size_t size) {
    const uint8_t *at = data;
    columns_fill_clear(f);
    for (unsigned i = 0; at < data + size && i < ROWS_MAX; i++) {
        AUTO_EXACT struct reel_bytes row = copy_row_at(&at, data + size);
        bool can;
        if (columns_can_decode(decoder, row, &can, NULL, NULL) && can) {
            columns_fill_start(f);
            expect(reel_decode(decoder, row, &f->visitor, NULL), "a row does not fit the columns that were made of it");
        } else {
            columns_fill_bytes(f, row);
        }
        columns_fill_end(f);
    }
    for (uint32_t i = 0; i < c->root->n_children; i++) {
        expect(f->data[c->root->children[i]->index].length == f->rows, "a column is shorter than others");
    }
    for (uint32_t i = 0; i < c->n; i++) {
        const struct column_data *d = &f->data[i];
        expect(c->all[i]->optional || d->nulls == 0, "a required column has a null");
        expect(column_is_leaf(c->all[i]) == 0 || column_is_bytes(c->all[i]) ||
                   d->values.size == d->length * column_width(c->all[i]),
               "a leaf has too few values");
    }
}

static uint64_t encode(struct columns_fill *f, const struct columns *c) {
    struct parquet_encoder encoder = {.codec = PARQUET_UNCOMPRESSED};
    struct parquet_leaf *leaves = calloc((size_t)c->n + 1, sizeof *leaves);
    uint32_t n = parquet_leaves(c, leaves);
    struct parquet_chunk *chunks = calloc((size_t)n + 1, sizeof *chunks);
    struct reel_sink arrow = {0};
    struct grow out = {0};
    expect(arrow_put_schema(c, NULL, 0, &arrow, NULL) && arrow_put_batch(c, f, &arrow, NULL), "Arrow fails");
    expect(parquet_put_group(&encoder, leaves, n, f, chunks, &out, NULL), "Parquet fails");
    uint64_t sum = arrow.pos * 31 + hash_bytes(0, bytes_of(out.data, out.size));
    free(out.data);
    free(chunks);
    free(leaves);
    parquet_encoder_free(&encoder);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct reel_channel channel = {.name = "/a", .type = "", .encoding = "json"};
    struct reel_decoder *decoder = reel_decoder_open(&channel, NULL);
    struct arena arena = {0};
    struct columns c;
    struct columns_survey survey;
    struct columns_fill f = {0};
    const uint8_t *at = data;
    expect(columns_init(&c, take, &arena), "no memory");
    for (unsigned i = 0; at < data + size && i < ROWS_MAX; i++) {
        AUTO_EXACT struct reel_bytes row = copy_row_at(&at, data + size);
        c.rows++;
        bool can;
        if (columns_can_decode(decoder, row, &can, NULL, NULL) && can) {
            columns_survey_start(&survey, &c);
            reel_decode(decoder, row, &survey.visitor, NULL);
        } else {
            c.raw++;
        }
    }
    expect(columns_settle(&c, &(struct columns_fixed){0}) && columns_fill_open(&f, &c, NULL), "no memory");
    fill(&f, &c, decoder, data, size);
    uint64_t first = encode(&f, &c);
    fill(&f, &c, decoder, data, size);
    expect(encode(&f, &c) == first, "the same rows are other bytes");
    columns_fill_close(&f);
    reel_decoder_free(decoder);
    arena_free(&arena);
    return 0;
}
