/* The columns of tables: types from values and schemas, the values column by column, Parquet's levels, encodings and
 * bounds. What readers make of it is checked in tests/peers/peer_tables.py. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "tables/columns/survey.h"
#include "tables/parquet/parquet.h"

/* --- helpers
 * ----------------------------------------------------------------------------------------------------------- */

static void *take(void *arena, size_t size) {
    return arena_alloc(arena, size);
}

struct table {
    struct arena arena;
    struct columns columns;
    struct columns_fill fill;
    struct reel_decoder *decoder;
    char text[8192];
    struct reel_bytes rows[64];
    unsigned n;
};

static void describe(const struct column *column, char *out) {
    static const char *const names[] = {"", "", "bool", "", "f32", "f64", "text", "json", "bytes", "time", "duration"};
    out += strlen(out);
    if (column->kind == COLUMN_LIST) {
        strcat(out, "[");
        describe(column->children[0], out);
        strcat(out, "]");
    } else if (column->kind == COLUMN_STRUCT) {
        strcat(out, "{");
        for (uint32_t i = 0; i < column->n_children && i < 12; i++) {
            sprintf(out + strlen(out), "%s%s:", i > 0 ? " " : "", column->children[i]->name);
            describe(column->children[i], out);
        }
        strcat(out, "}");
    } else if (column->kind == COLUMN_INTEGER) {
        sprintf(out, "%c%u", column->is_signed ? 'i' : 'u', column->bits);
    } else {
        strcat(out, names[column->kind]);
    }
    strcat(out, column->optional ? "?" : "");
}

static void begin(struct table *t, const char *encoding, const char *definition) {
    static struct reel_schema schema;
    static struct reel_channel channel;
    schema = (struct reel_schema){.name = "a/B",
                                  .encoding = strcmp(encoding, "cdr") == 0 ? "ros2msg" : "ros1msg",
                                  .data = bytes_text(definition ? definition : "")};
    channel = (struct reel_channel){
        .name = "/a", .type = "a/B", .encoding = encoding, .schemas = &schema, .n_schemas = definition ? 1 : 0};
    struct reel_error err = {0};
    memset(t, 0, sizeof *t);
    assert_true(columns_init(&t->columns, take, &t->arena));
    t->decoder = reel_decoder_open(&channel, &err);
    if (!t->decoder) {
        fail_msg("%s", err.text);
    }
    columns_shape(&t->columns, t->decoder, &t->columns.exact);
}

static bool can_decode(const struct table *t, struct reel_bytes payload) {
    bool can;
    return columns_can_decode(t->decoder, payload, &can, NULL, NULL) && can;
}

static void add(struct table *t, struct reel_bytes payload) {
    struct columns_survey survey;
    t->rows[t->n++ % 64] = payload;
    t->columns.rows++;
    if (!can_decode(t, payload)) {
        t->columns.raw++;
    } else if (!t->columns.exact) {
        columns_survey_start(&survey, &t->columns);
        assert_true(reel_decode(t->decoder, payload, &survey.visitor, NULL));
    }
}

/* Settles the columns, fills them with the rows, and returns the types. */
static const char *settle(struct table *t) {
    struct reel_error err = {0};
    assert_true(columns_settle(&t->columns, &(struct columns_fixed){0}));
    assert_true(columns_fill_open(&t->fill, &t->columns, &err));
    for (unsigned i = 0; i < t->n && i < 64; i++) {
        if (can_decode(t, t->rows[i])) {
            columns_fill_start(&t->fill);
            assert_true(reel_decode(t->decoder, t->rows[i], &t->fill.visitor, NULL));
        } else {
            columns_fill_bytes(&t->fill, t->rows[i]);
        }
        columns_fill_end(&t->fill);
    }
    assert_true(columns_fill_check(&t->fill, &err));
    for (uint32_t i = 0; i < t->columns.root->n_children; i++) {
        assert_int_equal(t->fill.data[t->columns.root->children[i]->index].length, t->fill.rows);
    }
    describe(t->columns.root, t->text);
    return t->text;
}

static void end(struct table *t) {
    columns_fill_close(&t->fill);
    reel_decoder_free(t->decoder);
    arena_free(&t->arena);
}

static void types_of(const char *expected, ...) {
    struct table *t = calloc(1, sizeof *t);
    va_list texts;
    va_start(texts, expected);
    begin(t, "json", NULL);
    for (const char *text = va_arg(texts, const char *); text; text = va_arg(texts, const char *)) {
        add(t, bytes_text(text));
    }
    va_end(texts);
    assert_string_equal(settle(t), expected);
    end(t);
    free(t);
}
#define TYPES(expected, ...) types_of(expected, __VA_ARGS__, (const char *)NULL)

/* --- types of values
 * -------------------------------------------------------------------------------------------------- */

static void one_kind_is_a_type(void **state) {
    (void)state;
    TYPES("{i:i64 f:f64 t:text b:bool l:[i64] o:{p:[{q:i64}]}}",
          "{\"i\":1,\"f\":0.5,\"t\":\"\",\"b\":true,\"l\":[1],\"o\":{\"p\":[{\"q\":1}]}}");
    TYPES("{value:i64}", "1", "-1");
    TYPES("{value:[text?]}", "[null,\"x\"]");
    TYPES("{value:json}", "{}", "{}"); /* no members were seen */
}

static void missing_and_null(void **state) {
    (void)state;
    TYPES("{a:i64? b:text?}", "{\"a\":1}", "{\"b\":\"x\"}", "{\"a\":null}");
    TYPES("{a:{b:i64?}?}", "{\"a\":{\"b\":1}}", "{\"a\":{}}", "{}");
    TYPES("{a:json?}", "{\"a\":null}", "{\"a\":[]}", "{}");
    TYPES("{a:[{b:i64?}]}", "{\"a\":[{\"b\":1},{}]}");
    TYPES("{value:json?}", "null", "null");
}

static void kinds_together(void **state) {
    (void)state;
    TYPES("{a:f64}", "{\"a\":1}", "{\"a\":0.5}");
    TYPES("{a:json}", "{\"a\":9007199254740993}", "{\"a\":0.5}");
    TYPES("{a:u64}", "{\"a\":1}", "{\"a\":18446744073709551615}");
    TYPES("{a:json}", "{\"a\":-1}", "{\"a\":18446744073709551615}");
    TYPES("{a:json}", "{\"a\":1}", "{\"a\":\"x\"}");
    TYPES("{a:json}", "{\"a\":true}", "{\"a\":1}");
    TYPES("{a:json}", "{\"a\":{\"b\":1}}", "{\"a\":[1]}");
    TYPES("{value:json}", "{\"a\":1}", "[1]");
}

static void names(void **state) {
    (void)state;
    TYPES("{a:i64 A_2:i64 _:i64 a.b:i64}", "{\"a\":1,\"A\":2,\"\":3,\"a.b\":4}");
    TYPES("{a:i64}", "{\"a\":1,\"a\":\"x\"}", "{\"a\":2}");
    TYPES("{a:i64?}", "{\"a\":1,\"a\":2}", "{}"); /* a key twice is no value more */
}

static void ceilings(void **state) {
    (void)state;
    struct table *t = calloc(1, sizeof *t);
    char *text = malloc(100000);
    begin(t, "json", NULL);
    strcpy(text, "{\"many\":{");
    for (unsigned i = 0; i < REEL_COLUMN_KEYS_MAX + 1; i++) {
        sprintf(text + strlen(text), "%s\"k%u\":%u", i > 0 ? "," : "", i, i);
    }
    strcat(text, "},\"b\":1}");
    add(t, bytes_text(text));
    assert_string_equal(settle(t), "{many:json b:i64}");
    end(t);

    begin(t, "json", NULL);
    strcpy(text, "{\"few\":1");
    for (unsigned i = 0; i < 3; i++) {
        sprintf(text + strlen(text), ",\"s%u\":{", i);
        for (unsigned k = 0; k < REEL_COLUMN_KEYS_MAX - 1; k++) {
            sprintf(text + strlen(text), "%s\"k%u\":%u", k > 0 ? "," : "", k, k);
        }
        strcat(text, "}");
    }
    strcat(text, "}");
    add(t, bytes_text(text));
    assert_string_equal(settle(t), "{value:json}");
    end(t);

    begin(t, "json", NULL);
    text[0] = '\0';
    for (unsigned i = 0; i < 40; i++) {
        strcat(text, "{\"a\":");
    }
    strcat(text, "1");
    for (unsigned i = 0; i < 40; i++) {
        strcat(text, "}");
    }
    add(t, bytes_text(text));
    assert_int_equal(strlen(settle(t)), REEL_COLUMN_DEPTH_MAX * 4 + strlen("json"));
    end(t);
    free(text);
    free(t);
}

static void objects_that_are_maps(void **state) {
    (void)state;
    struct table *t = calloc(1, sizeof *t);
    static char texts[64][200];
    begin(t, "json", NULL);
    for (unsigned i = 0; i < 64; i++) {
        sprintf(texts[i], "{\"m\":{\"k%u\":1,\"k%u\":2},\"n\":1}", 2 * i, 2 * i + 1);
        add(t, bytes_text(texts[i]));
    }
    assert_string_equal(settle(t), "{m:json n:i64}");
    end(t);
    free(t);
}

/* --- types of schemas
 * -------------------------------------------------------------------------------------------------- */

static void a_definition_gives_the_types(void **state) {
    (void)state;
    struct table *t = calloc(1, sizeof *t);
    begin(t, "ros1",
          "uint8 a\nint16 b\nfloat32[] c\nuint8[] d\nstring e\ntime f\nduration[2] g\na/C h\na/C[] i\nbool j\n"
          "================\nMSG: a/C\nfloat64 x\nuint64[3] y\n");
    assert_true(t->columns.exact);
    assert_string_equal(
        settle(t),
        "{a:u8 b:i16 c:[f32] d:bytes e:text f:time g:[duration] h:{x:f64 y:[u64]} i:[{x:f64 y:[u64]}] j:bool}");
    assert_int_equal(t->columns.root->n_children, 10);
    end(t);

    begin(t, "ros1", "uint8 a\nstring b\n");
    add(t, bytes_of("\1\1\0\0\0x", 6));
    add(t, bytes_of("\1\1", 2));
    assert_string_equal(settle(t), "{a:u8? b:text? data:bytes?}");
    assert_int_equal(t->fill.data[t->columns.data->index].nulls, 1);
    end(t);

    begin(t, "ros1", "a/E a\nstring b\n================\nMSG: a/E\n"); /* readers refuse a struct without members */
    add(t, bytes_of("\1\0\0\0\xff", 5));
    assert_string_equal(settle(t), "{a:{_empty:bool} b:text}");
    assert_memory_equal(t->fill.data[t->columns.root->children[1]->index].values.data, "\xef\xbf\xbd", 3);
    end(t);
    free(t);
}

static void types_that_multiply(void **state) {
    (void)state;
    struct table *t = calloc(1, sizeof *t);
    char definition[4096] = "";
    for (char type = 'P'; type < 'V'; type++) { /* 4 ^ 7 fields */
        for (unsigned k = 0; k < 4; k++) {
            sprintf(definition + strlen(definition), "a/%c f%u\n", type, k);
        }
        sprintf(definition + strlen(definition), "================\nMSG: a/%c\n", type);
    }
    strcat(definition, "uint8 x\n");
    begin(t, "ros1", definition);
    assert_string_equal(settle(t), "{value:json}");
    end(t);
    free(t);
}

/* --- Parquet
 * ----------------------------------------------------------------------------------------------------------- */

static void levels(void **state) {
    (void)state;
    struct table *t = calloc(1, sizeof *t);
    struct parquet_leaf leaves[8];
    struct parquet_entries e = {0};
    begin(t, "json", NULL);
    add(t, bytes_text("{\"a\":null}"));
    add(t, bytes_text("{\"a\":[]}"));
    add(t, bytes_text("{\"a\":[[]]}"));
    add(t, bytes_text("{\"a\":[[1,null],[2]]}"));
    assert_string_equal(settle(t), "{a:[[i64?]]?}");
    assert_int_equal(parquet_leaves(&t->columns, leaves), 1);
    assert_int_equal(leaves[0].max_repetition, 2);
    assert_int_equal(leaves[0].max_definition, 4);
    parquet_entries_of(&leaves[0], t->fill.data, 0, 4, &e);
    assert_int_equal(e.entries, 6);
    assert_memory_equal(e.repetition.data, "\0\0\0\0\2\1", 6);
    assert_memory_equal(e.definition.data, "\0\1\2\4\3\4", 6);
    assert_int_equal(e.values, 2);
    parquet_entries_of(&leaves[0], t->fill.data, 3, 4, &e); /* a page may begin anywhere */
    assert_int_equal(e.entries, 3);
    assert_memory_equal(e.definition.data, "\4\3\4", 3);
    parquet_entries_free(&e);
    end(t);
    free(t);
}

static void runs_and_packed_groups(void **state) {
    (void)state;
    struct grow out = {0};
    parquet_put_levels((const uint8_t *)"\2\2\2\2\2\2\2\2\2", 9, 2, &out);
    assert_int_equal(out.size, 2);
    assert_memory_equal(out.data, "\x12\x02", 2);
    out.size = 0;
    parquet_put_levels((const uint8_t *)"\0\1\2\3\0\1\2\3", 8, 2, &out);
    assert_int_equal(out.size, 3);
    assert_memory_equal(out.data, "\x03\xe4\xe4", 3);
    free(out.data);
}

static void fill_rows(struct table *t, const uint8_t *payloads, size_t size, unsigned n, bool one_by_one,
                      struct columns_fill *fill) {
    assert_true(columns_fill_open(fill, &t->columns, NULL));
    struct reel_visitor_ops ops = *fill->visitor.ops;
    ops.members = one_by_one ? NULL : ops.members;
    fill->visitor.ops = &ops;
    for (unsigned i = 0; i < n; i++) {
        columns_fill_start(fill);
        assert_true(reel_decode(t->decoder, bytes_of(payloads + i * size, size), &fill->visitor, NULL));
        columns_fill_end(fill);
    }
    assert_true(columns_fill_check(fill, NULL));
}

static void assert_same(const struct grow *a, const struct grow *b) {
    assert_int_equal(a->size, b->size);
    assert_true(a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

/* Members of a fixed size, which go to their columns in one call, are there what they are one by one; also where a name
 * occurs twice, of which the first counts. */
static void members_at_once(void **state) {
    (void)state;
    static const char *const definitions[] = {
        "bool a\nint8 b\nuint16 c\nint32 d\nuint64 e\nfloat32 f\nfloat64 g\ntime h\nduration i\nfloat64[3] j\n"
        "uint8[4] k\nIn l\nuint8[] m\nIn[2] n\n"
        "=====================================\nMSG: a/In\nfloat64 x\nint16[2] y\nTwo z\n"
        "=====================================\nMSG: a/Two\nfloat32 x\ntime y\n",
        "float64 a\nfloat64 b\nuint8[] c\nfloat64 b\nfloat64 d\n",
        "float64 a\nfloat64 a\nIn b\nIn b\n=====================================\nMSG: a/In\nuint8 x\nuint8 x\n",
        "builtin_interfaces/Time a\nuint8 b\nbuiltin_interfaces/Duration c\nfloat64 d\n"};
    static const char *const encodings[] = {"ros1", "ros1", "ros1", "cdr"};
    static const size_t sizes[] = {1 + 1 + 2 + 4 + 8 + 4 + 8 + 8 + 8 + 24 + 4 + 24 + 4 + 48, 36, 20,
                                   4 + 8 + 4 + 12 + 8},
                        lists[] = {1 + 1 + 2 + 4 + 8 + 4 + 8 + 8 + 8 + 24 + 4 + 24, 16, SIZE_MAX, SIZE_MAX};
    enum { ROWS = 50 };
    uint8_t payloads[ROWS * 256];
    uint64_t seed = 1;
    for (unsigned d = 0; d < 4; d++) {
        struct table *t = calloc(1, sizeof *t);
        struct columns_fill once = {0}, each = {0};
        begin(t, encodings[d], definitions[d]);
        for (unsigned i = 0; i < ROWS * sizes[d]; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            payloads[i] = i % sizes[d] - lists[d] < 4 ? 0 : (uint8_t)(seed >> 33) & (d < 3 ? 0x7f : 0xff);
        }
        for (unsigned i = 0; i < ROWS && d == 3; i++) {
            memcpy(payloads + i * sizes[d], "\0\1\0", 4); /* the head of CDR */
        }
        for (unsigned i = 0; i < ROWS; i++) {
            add(t, bytes_of(payloads + i * sizes[d], sizes[d]));
        }
        assert_int_equal(t->columns.raw, 0);
        assert_true(columns_settle(&t->columns, &(struct columns_fixed){0}));
        fill_rows(t, payloads, sizes[d], ROWS, false, &once);
        fill_rows(t, payloads, sizes[d], ROWS, true, &each);
        for (uint32_t i = 0; i < t->columns.n; i++) {
            assert_int_equal(once.data[i].length, each.data[i].length);
            assert_int_equal(once.data[i].nulls, each.data[i].nulls);
            assert_same(&once.data[i].valid, &each.data[i].valid);
            assert_same(&once.data[i].offsets, &each.data[i].offsets);
            assert_same(&once.data[i].values, &each.data[i].values);
        }
        assert_int_equal(once.bytes, each.bytes);
        columns_fill_close(&once);
        columns_fill_close(&each);
        end(t);
        free(t);
    }
}

static void check_split(uint32_t width, uint64_t first, uint64_t second) {
    struct column column = {.kind = width == 8 ? COLUMN_DOUBLE : COLUMN_FLOAT};
    struct column_data data = {0};
    struct parquet_span spans[] = {{1, 1 + first}, {3 + first, 3 + first + second}};
    struct parquet_entries e = {.spans = spans, .n_spans = 2, .values = first + second};
    struct grow out = {0};
    for (uint64_t i = 0; i < (spans[1].to + 1) * width; i++) {
        grow_u8(&data.values, (uint8_t)(i * 37 ^ i >> 3));
    }
    parquet_put_split(&column, &data, &e, &out);
    assert_int_equal(out.size, e.values * width);
    for (uint64_t i = 0; i < e.values; i++) {
        uint64_t slot = i < first ? spans[0].from + i : spans[1].from + (i - first);
        for (uint32_t k = 0; k < width; k++) {
            assert_int_equal(out.data[k * e.values + i], data.values.data[slot * width + k]);
        }
    }
    free(out.data);
    free(data.values.data);
}

static void bytes_of_floats_are_split(void **state) {
    (void)state;
    for (uint64_t i = 0; i < 20; i++) {
        check_split(4, i, 19 - i);
        check_split(8, i, 19 - i);
    }
}

static void differences(void **state) {
    (void)state;
    struct column column = {.kind = COLUMN_TIME};
    struct column_data data = {0};
    struct parquet_span span = {0, 5};
    struct parquet_entries e = {.spans = &span, .n_spans = 1, .values = 5};
    struct grow out = {0};
    for (uint64_t i = 1; i <= 5; i++) {
        grow_u64(&data.values, i);
    }
    parquet_put_delta(&column, &data, &e, &out);
    assert_int_equal(out.size, 10);
    assert_memory_equal(out.data, "\x80\x01\x04\x05\x02\x02\x00\x00\x00\x00", 10);
    free(out.data);
    free(data.values.data);
}

static void bounds_of_reals(void **state) {
    (void)state;
    struct column column = {.kind = COLUMN_DOUBLE};
    struct column_data data = {0};
    struct parquet_bounds b = {0};
    const double values[] = {NAN, 0.0, -1.5, NAN, 0.0};
    struct parquet_span spans[] = {{0, 5}, {0, 1}, {1, 2}};
    grow_put(&data.values, values, sizeof values);
    parquet_bounds_add(&column, &data, &(struct parquet_entries){.spans = spans, .n_spans = 1, .values = 5}, &b);
    assert_true(b.any && load_f64le(b.bytes[0]) == -1.5 && load_f64le(b.bytes[1]) == 0 &&
                !signbit(load_f64le(b.bytes[1])));
    struct parquet_bounds none = {0};
    parquet_bounds_add(&column, &data, &(struct parquet_entries){.spans = spans + 1, .n_spans = 1, .values = 1}, &none);
    assert_false(none.any); /* NaN alone has no bounds */
    struct parquet_bounds zero = {0};
    parquet_bounds_add(&column, &data, &(struct parquet_entries){.spans = spans + 2, .n_spans = 1, .values = 1}, &zero);
    assert_true(zero.any && signbit(load_f64le(zero.bytes[0])));
    parquet_bounds_join(&column, &b, &none);
    assert_true(b.any && load_f64le(b.bytes[0]) == -1.5);
    free(data.values.data);
}

static void bounds_of_texts(void **state) {
    (void)state;
    struct table *t = calloc(1, sizeof *t);
    struct parquet_leaf leaf[8];
    struct parquet_entries e = {0};
    char longest[200] = "{\"a\":\"";
    begin(t, "json", NULL);
    for (unsigned i = 0; i < 31; i++) {
        strcat(longest, "y");
    }
    strcat(longest, "\xc3\xa9zz\"}"); /* cut before the character that does not fit */
    add(t, bytes_text("{\"a\":\"b\"}"));
    add(t, bytes_text(longest));
    settle(t);
    parquet_leaves(&t->columns, leaf);
    struct parquet_bounds b = {0};
    parquet_entries_of(leaf, t->fill.data, 0, 2, &e);
    parquet_bounds_add(t->columns.all[0], t->fill.data, &e, &b);
    assert_true(b.any && !b.unknown && b.exact[0] && !b.exact[1]);
    assert_int_equal(b.size[1], 31);
    assert_memory_equal(b.bytes[1], "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyz", 31);
    end(t);

    begin(t, "json", NULL); /* nothing of it can be raised */
    strcpy(longest, "{\"a\":\"");
    for (unsigned i = 0; i < 30; i++) {
        strcat(longest, "\xc3\xbf");
    }
    strcat(longest, "\"}");
    add(t, bytes_text(longest));
    settle(t);
    b = (struct parquet_bounds){0};
    parquet_leaves(&t->columns, leaf);
    parquet_entries_of(leaf, t->fill.data, 0, 1, &e);
    parquet_bounds_add(t->columns.all[0], t->fill.data, &e, &b);
    assert_true(b.unknown);
    parquet_entries_free(&e);
    end(t);
    free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_kind_is_a_type),
        cmocka_unit_test(missing_and_null),
        cmocka_unit_test(kinds_together),
        cmocka_unit_test(names),
        cmocka_unit_test(ceilings),
        cmocka_unit_test(objects_that_are_maps),
        cmocka_unit_test(a_definition_gives_the_types),
        cmocka_unit_test(types_that_multiply),
        cmocka_unit_test(levels),
        cmocka_unit_test(runs_and_packed_groups),
        cmocka_unit_test(members_at_once),
        cmocka_unit_test(bytes_of_floats_are_split),
        cmocka_unit_test(differences),
        cmocka_unit_test(bounds_of_reals),
        cmocka_unit_test(bounds_of_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
