/* Parquet and Arrow as planned outputs: any piece is the same bytes, also of row groups that are rendered in windows;
 * recordings without messages; refusals. */
#include "makers/toy_format.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "convert/conversion.h"
#include "makers/tables.h"
#include "tables/parquet/parquet.h"
#include "tables/table.h"

static void channel(struct toy *toy, const char *topic, const char *type, const char *encoding) {
    toy_channel(toy, &(struct reel_channel){.name = topic, .type = type, .encoding = encoding});
}

static uint8_t *convert(struct reel_recording *recording, const struct reel_writer *writer, const char *compression,
                        size_t step, uint64_t *size) {
    struct reel_error err = {0};
    uint8_t *all = toy_render_planned(recording, writer, &(struct reel_write_options){.compression = compression},
                                      &selection_all, step, size, &err);
    if (!all) {
        fail_msg("%s", err.text);
    }
    return all;
}

static void any_piece_is_the_same(void **state) {
    (void)state;
    enum { MESSAGES = 36, SIZE = 1 << 20 };
    struct toy toy = {0};
    uint8_t *payload = malloc(SIZE);
    uint64_t seed = 1;
    toy_start(&toy, REEL_CLOCK_WALL);
    /* not decoded: a column of bytes in two row groups, the first of five windows */
    channel(&toy, "/a", "", "unknown");
    for (unsigned k = 0; k < SIZE; k++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        payload[k] = (uint8_t)(seed >> 33);
    }
    for (unsigned i = 0; i < MESSAGES; i++) {
        payload[0] = (uint8_t)i;
        toy_message(&toy, 0, i, i, payload, SIZE);
    }
    struct reel_recording *recording = toy_open(&toy);
    const struct {
        const struct reel_writer *writer;
        const char *compression;
    } ways[] = {{&reel_writer_parquet, "none"}, {&reel_writer_parquet, "zstd"}, {&reel_writer_arrow, ""}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        uint64_t size = 0, again = 0;
        uint8_t *whole = convert(recording, ways[i].writer, ways[i].compression, 64 << 20, &size);
        uint8_t *pieces = convert(recording, ways[i].writer, ways[i].compression, (3 << 20) + 7, &again);
        assert_true(size > (uint64_t)MESSAGES * SIZE);
        assert_int_equal(size, again);
        assert_memory_equal(whole, pieces, size);
        free(whole);
        free(pieces);
    }
    reel_recording_free(recording);
    free(payload);
    toy_free(&toy);
}

static bool append(void *context, const void *data, size_t size, struct reel_error *err) {
    (void)err;
    toy_put(context, data, size);
    return true;
}

/* Random bytes, which LZ4 makes longer than the room planned for the group: it is packed again with more room. */
static void a_group_longer_than_planned(void **state) {
    (void)state;
    enum { SIZE = 600000 };
    struct toy toy = {0}, file = {0};
    struct reel_error err = {0};
    uint8_t *payload = malloc(SIZE);
    uint64_t seed = 1, size = 0;
    toy_start(&toy, REEL_CLOCK_WALL);
    channel(&toy, "/b", "", "unknown");
    for (unsigned i = 0; i < 2; i++) {
        for (unsigned k = 0; k < SIZE; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            payload[k] = (uint8_t)(seed >> 33);
        }
        toy_message(&toy, 0, i, i, payload, SIZE);
    }
    struct reel_recording *recording = toy_open(&toy);
    uint8_t *alone = convert(recording, &reel_writer_parquet, "lz4_raw", 1 << 20, &size);
    struct reel_conversion *c =
        reel_conversion_new(&reel_writer_parquet, &recording, 1, &selection_all,
                            &(struct reel_write_options){.compression = "lz4_raw"}, NULL, NULL, &err);
    assert_non_null(c);
    if (!conversion_write(c, &(struct reel_output){.write = append, .context = &file}, NULL, NULL, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(file.size, size);
    assert_memory_equal(file.data, alone, size);
    reel_conversion_free(c);
    reel_recording_free(recording);
    toy_free(&toy);
    toy_free(&file);
    free(alone);
    free(payload);
}

static void nothing_to_write(void **state) {
    (void)state;
    struct toy empty = {0}, idle = {0};
    toy_start(&empty, REEL_CLOCK_WALL);
    toy_start(&idle, REEL_CLOCK_RELATIVE);
    channel(&idle, "/never", "", "json");
    struct toy *toys[] = {&empty, &idle};
    for (size_t i = 0; i < 2; i++) {
        struct reel_recording *recording = toy_open(toys[i]);
        uint64_t size = 0;
        uint8_t *all = convert(recording, &reel_writer_parquet, "", 1000, &size);
        assert_memory_equal(all, "PAR1", 4);
        assert_memory_equal(all + size - 4, "PAR1", 4);
        assert_int_equal(load_u32le(all + size - 8), size - 12);
        assert_non_null(memmem(all, size, "log_time", 8));
        free(all);
        all = convert(recording, &reel_writer_arrow, "", 1000, &size);
        assert_memory_equal(all + size - 8, "\xff\xff\xff\xff\0\0\0\0", 8);
        assert_int_equal(load_u32le(all + 4) + 16, size); /* the schema and the end */
        free(all);
        reel_recording_free(recording);
        toy_free(toys[i]);
    }
}

static bool keep(void *context, const char *text, size_t size) {
    toy_put(context, text, size);
    return true;
}

/* A table of a list or report, of more rows than are held in memory. */
static struct toy table_of(enum reel_table_form form, unsigned rows) {
    static const char *const names[] = {"n", "name", "odd"};
    struct toy out = {0};
    struct reel_table_text *text =
        reel_table_text_new(form, &(struct reel_text_sink){.put = keep, .context = &out}, NULL);
    const struct reel_table *t = reel_table_of_text(text);
    assert_true(t->columns(t->context, names, 3));
    for (unsigned i = 0; i < rows; i++) {
        const struct reel_cell cells[] = {reel_cell_integer(i), reel_cell_text(bytes_text(i % 2 ? "a name" : "")),
                                          i % 2 ? reel_cell_json(bytes_text("[1,2]")) : reel_cell_of(REEL_CELL_NULL)};
        assert_true(t->row(t->context, cells, 3));
    }
    assert_true(t->end(t->context));
    reel_table_text_free(text);
    return out;
}

/* Column indexes of 5 pages without nulls whose boundary_order is ascending, or is not. */
static unsigned column_indexes(const struct toy *file, bool ascending) {
    const uint8_t ends[] = {0x15, ascending ? 2 : 0, 0x19, 0x56, 0, 0, 0, 0, 0, 0};
    unsigned found = 0;
    for (const uint8_t *p = file->data; (p = memmem(p, (size_t)(file->data + file->size - p), ends, sizeof ends));
         p++) {
        found++;
    }
    return found;
}

static void tables_of_many_rows(void **state) {
    (void)state;
    const enum reel_table_form forms[] = {REEL_TABLE_PARQUET, REEL_TABLE_ARROW};
    for (size_t i = 0; i < 2; i++) {
        struct toy none = table_of(forms[i], 0), many = table_of(forms[i], 100000), again = table_of(forms[i], 100000);
        assert_true(none.size > 50 && many.size > none.size);
        assert_int_equal(many.size, again.size);
        assert_memory_equal(many.data, again.data, many.size);
        assert_non_null(memmem(none.data, none.size, "name", 4));
        if (forms[i] == REEL_TABLE_PARQUET) {
            assert_memory_equal(many.data + many.size - 4, "PAR1", 4);
            assert_true(load_u32le(many.data + many.size - 8) < many.size);
            assert_true(column_indexes(&many, true) > 0); /* n only grows */
            assert_true(column_indexes(&none, true) == 0);
        } else {
            assert_true(many.size > 100000 * 8); /* not compressed */
        }
        toy_free(&none);
        toy_free(&many);
        toy_free(&again);
    }
}

static void what_is_refused(void **state) {
    (void)state;
    struct toy toy = {0};
    toy_start(&toy, REEL_CLOCK_WALL);
    channel(&toy, "/a", "one", "json");
    channel(&toy, "/b", "two", "json");
    toy_message(&toy, 0, 1, 0, "{}", 2);
    struct reel_recording *recording = toy_open(&toy);
    struct reel_stream *stream = toy_stream(recording, &selection_all);
    struct reel_error err = {0};
    assert_false(reel_writer_accepts(&reel_writer_parquet, stream, NULL, &err));
    assert_non_null(strstr(err.text, "/a is one, and /b is two"));
    struct reel_plan *plan =
        reel_plan_new(&reel_writer_parquet, &(struct reel_write_options){.compression = "snappy"}, stream, NULL, &err);
    assert_null(plan);
    assert_non_null(strstr(err.text, "zstd, lz4_raw or none"));
    reel_stream_free(stream);
    reel_recording_free(recording);
    toy_free(&toy);
}

static bool stop(void *context, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    ++*(unsigned *)context;
    return false;
}

static void the_search_for_columns_can_be_cancelled(void **state) {
    (void)state;
    struct toy toy = {0};
    unsigned asked = 0;
    toy_start(&toy, REEL_CLOCK_WALL);
    channel(&toy, "/a", "", "json");
    for (unsigned i = 0; i < 10000; i++) {
        toy_message(&toy, 0, i, i, "{\"a\":1}", 7);
    }
    struct reel_recording *recording = toy_open(&toy);
    struct reel_stream *stream = toy_stream(recording, &selection_all);
    struct reel_error err = {0};
    const struct reel_progress progress = {.report = stop, .context = &asked};
    assert_null(reel_plan_new(&reel_writer_parquet, &(struct reel_write_options){0}, stream, &progress, &err));
    assert_int_equal(err.code, REEL_CANCELLED);
    assert_int_equal(asked, 1);
    reel_stream_free(stream);
    reel_recording_free(recording);
    toy_free(&toy);
}

static struct parquet_group one_group(void *context, uint64_t number) {
    (void)number;
    return (struct parquet_group){.chunks = context, .rows = 1};
}

/* Its length is a number of 32 bits, with a sign. A column's name is in the description of each of its chunks. */
static void a_footer_has_a_ceiling(void **state) {
    (void)state;
    enum { NAME = 60000 };
    static const uint64_t groups[] = {1, INT32_MAX / NAME - 100, INT32_MAX / NAME + 1};
    char *name = malloc(NAME + 1);
    memset(name, 'n', NAME);
    name[NAME] = '\0';
    struct column root = {.name = "table", .kind = COLUMN_STRUCT, .n_children = 1};
    struct column leaf = {.name = name, .kind = COLUMN_DOUBLE, .parent = &root, .index = 1, .depth = 1};
    root.children = (struct column *[]){&leaf};
    struct column *all[] = {&leaf};
    const struct columns columns = {.root = &root, .all = all, .n = 1};
    struct parquet_leaf leaves[1];
    struct parquet_chunk chunk = {0};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        const struct parquet_footer footer = {.columns = &columns,
                                              .leaves = leaves,
                                              .n_leaves = parquet_leaves(&columns, leaves),
                                              .n_groups = groups[i],
                                              .group = one_group,
                                              .context = &chunk};
        struct reel_sink out = {0};
        struct reel_error err = {0};
        assert_int_equal(footer.n_leaves, 1);
        bool fits = parquet_put_footer(&footer, &out, &err);
        assert_true(out.pos > groups[i] * NAME);
        assert_int_equal(fits, i < 2);
        assert_int_equal(err.code, fits ? REEL_OK : REEL_UNSUPPORTED);
    }
    free(name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_piece_is_the_same),
        cmocka_unit_test(a_footer_has_a_ceiling),
        cmocka_unit_test(a_group_longer_than_planned),
        cmocka_unit_test(nothing_to_write),
        cmocka_unit_test(tables_of_many_rows),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(the_search_for_columns_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
