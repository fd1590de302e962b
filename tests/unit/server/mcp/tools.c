/* The tools are made from rows of the route table: each names a row and parameters that are there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "api/mcp/tools.h"
#include "base/cleanup.h"

static void each_word_is_a_parameter(const struct mcp_operation *o) {
    AUTO_MEM char *words = strdup(o->params);
    char *rest = NULL;
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        if (!mcp_param(o, word)) {
            fail_msg("%s has no parameter %s", o->id, word);
        }
    }
}

static void test_rows(void **state) {
    (void)state;
    for (const struct mcp_tool *tool = mcp_tools; tool->name; tool++) {
        assert_ptr_equal(mcp_tool(tool->name), tool);
        for (const struct mcp_operation *o = tool->operations; o->id; o++) {
            const struct api_route *row = mcp_row(o);
            assert_non_null(row);
            assert_string_equal(row->http.method, "GET");
            assert_true(row->http.role <= ROLE_READ);
            each_word_is_a_parameter(o);
        }
        assert_true(!tool->amount || (tool->fallback >= 1 && tool->fallback <= tool->max));
    }
    assert_null(mcp_tool("search"));
}

static char *target(const char *name, const char *arguments, struct reel_error *err) {
    const struct mcp_tool *tool = mcp_tool(name);
    json_auto_t *object = json_loads(arguments, 0, NULL);
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    assert_non_null(f);
    bool good = mcp_put_target(f, tool, tool->operations, object, 7, err);
    fclose(f);
    if (!good) {
        free(text);
        text = NULL;
    }
    return text;
}

static void expect(const char *name, const char *arguments, const char *want) {
    struct reel_error err = {0};
    AUTO_MEM char *text = target(name, arguments, &err);
    assert_string_equal(text ? text : err.text, want);
}

static void test_targets(void **state) {
    (void)state;
    expect("search_recordings", "{\"q\":\"a b&limit=9\",\"limit\":9,\"tag\":[\"x\",\"y=1\"]}",
           "/api/v1/recordings?q=a%20b%26limit%3D9&tag=x&tag=y%3D1&limit=7");
    expect("messages", "{\"id\":\"a/../b\",\"every\":10,\"start\":null}",
           "/api/v1/recordings/a%2F..%2Fb/messages?every=10&limit=7&output=ndjson");
    expect("export_link", "{\"id\":\"1\",\"name\":\"x?y.csv\"}", "/api/v1/recordings/1/as/x%3Fy.csv");
    expect("events", "{\"derived\":true,\"kind\":\"collision\"}", "/api/v1/events?derived=true&kind=collision&limit=7");
}

static void test_refused(void **state) {
    (void)state;
    expect("messages", "{}", "\"id\" is missing, or is not a text");
    expect("messages", "{\"id\":\"..\"}", "\"id\" is missing, or is not a text");
    expect("messages", "{\"id\":\"1\",\"follow\":true}", "\"follow\" is no argument of this tool");
    expect("messages", "{\"id\":\"1\",\"topic\":[[\"a\"]]}",
           "\"topic\" is neither a text nor a number nor true or false");
    expect("describe_recording", "{\"id\":\"1\",\"topic\":\"x\"}",
           "\"topic\" is no argument of this tool with kind=info");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
