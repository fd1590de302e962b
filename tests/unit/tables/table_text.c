/* Tables as CSV, JSON and NDJSON: what must be quoted is, whatever the cells hold; and %g without printf. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/c_locale.h"
#include "base/cleanup.h"
#include "base/grow.h"
#include "base/shortest_number.h"
#include "tables/table.h"

static bool put(void *context, const char *text, size_t size) {
    grow_put(context, text, size);
    return true;
}

static const char *table_as(enum reel_table_form form, unsigned rows) {
    static const char *const names[] = {"plain", "odd, \"name\"", "c", "d", "e", "f", "g"};
    static struct grow out;
    struct reel_error err = {0};
    const struct reel_text_sink sink = {.put = put, .context = &out};
    AUTO(reel_table_text_free) struct reel_table_text *text = reel_table_text_new(form, &sink, &err);
    assert_non_null(text);
    out.size = 0;
    const struct reel_table *t = reel_table_of_text(text);
    const struct reel_cell first[] = {
        reel_cell_text(bytes_text("a \"b\",\r\n\xff")),
        reel_cell_json(bytes_text("{\"k\":1}")),
        reel_cell_integer(-7),
        reel_cell_real(0.1),
        reel_cell_real32(0.1f),
        reel_cell_bool(true),
        {0},
    };
    const struct reel_cell second[] = {
        reel_cell_text(bytes_text("")), reel_cell_json(bytes_text("[]")),
        reel_cell_integer(INT64_MIN),   reel_cell_real(NAN),
        reel_cell_real32(-INFINITY),    reel_cell_bool(false),
        reel_cell_real(INFINITY),
    };
    assert_true(t->columns(t->context, names, 7));
    assert_true(rows < 1 || t->row(t->context, first, 7));
    assert_true(rows < 2 || t->row(t->context, second, 7));
    assert_true(t->end(t->context));
    grow_put(&out, "", 1);
    return (const char *)out.data;
}

static void csv(void **state) {
    (void)state;
    assert_string_equal(table_as(REEL_TABLE_CSV, 0), "plain,\"odd, \"\"name\"\"\",c,d,e,f,g\r\n");
    assert_string_equal(table_as(REEL_TABLE_CSV, 2), "plain,\"odd, \"\"name\"\"\",c,d,e,f,g\r\n"
                                                     "\"a \"\"b\"\",\r\n\xff\",\"{\"\"k\"\":1}\",-7,0.1,0.1,true,\r\n"
                                                     ",[],-9223372036854775808,NaN,-Infinity,false,Infinity\r\n");
}

#define FIRST                                                                                                          \
    "{\"plain\":\"a \\\"b\\\",\\u000d\\u000a\\\\xff\",\"odd, "                                                         \
    "\\\"name\\\"\":{\"k\":1},\"c\":-7,\"d\":0.1,\"e\":0.1,\"f\":true,\"g\":null}"
#define SECOND                                                                                                         \
    "{\"plain\":\"\",\"odd, "                                                                                          \
    "\\\"name\\\"\":[],\"c\":\"-9223372036854775808\",\"d\":\"NaN\",\"e\":\"-Infinity\",\"f\":false,\"g\":"            \
    "\"Infinity\"}"

static void json(void **state) {
    (void)state;
    assert_string_equal(table_as(REEL_TABLE_JSON, 0), "[\n]\n");
    assert_string_equal(table_as(REEL_TABLE_JSON, 2), "[\n" FIRST ",\n" SECOND "\n]\n");
    assert_string_equal(table_as(REEL_TABLE_NDJSON, 0), "");
    assert_string_equal(table_as(REEL_TABLE_NDJSON, 2), FIRST "\n" SECOND "\n");
}

static void general_matches_printf(void **state) {
    (void)state;
    uint64_t seed = 1;
    char want[64], got[SHORTEST_ROOM + 1];
    for (unsigned i = 0; i < 200000; i++) {
        double value;
        uint64_t bits = i < 8 ? (uint64_t[]){0,
                                             UINT64_C(1) << 63,
                                             UINT64_C(0x7ff0000000000000),
                                             UINT64_C(0xfff0000000000000),
                                             UINT64_C(0x7ff8000000000000),
                                             UINT64_C(0xfff8000000000000),
                                             1,
                                             UINT64_C(0x7fefffffffffffff)}[i]
                              : (seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407);
        memcpy(&value, &bits, sizeof value);
        value = i % 2 && i > 8 ? (double)(float)((double)(int64_t)(bits >> 40) / 64 - 1e5) : value; /* also what stands
                                                                                                       in logs */
        got[general_double(value, got)] = '\0';
        {
            C_LOCALE;
            snprintf(want, sizeof want, "%g", value);
        }
        assert_string_equal(got, want);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(csv), cmocka_unit_test(json),
                                       cmocka_unit_test(general_matches_printf)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
