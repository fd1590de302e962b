/* server/http/router.c: paths to routes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "http/http_internal.h"

static void nothing(struct http_request *r) {
    (void)r;
}

#define ROUTE(m, p)                                                                                                    \
    { .method = m, .path = p, .handle = nothing }
static const struct http_route routes[] = {
    ROUTE("GET", "/{page...}"),
    ROUTE("GET", "/"),
    ROUTE("GET", "/recordings"),
    ROUTE("POST", "/recordings"),
    ROUTE("GET", "/recordings/{id}"),
    ROUTE("PATCH", "/recordings/{id}"),
    ROUTE("DELETE", "/recordings/{id}"),
    ROUTE("PUT", "/recordings/by-name/{collection}/{name}"),
    ROUTE("GET", "/recordings/{id}/as/{name}"),
    ROUTE("GET", "/recordings/trash"),
    ROUTE("POST", "/tags:batch"),
    ROUTE("POST", "/grafana/{rest...}"),
    {0},
};

static struct http_router *router;

static int open_router(void **state) {
    (void)state;
    router = router_new(routes, NULL);
    return router ? 0 : -1;
}
static int close_router(void **state) {
    (void)state;
    router_free(router);
    return 0;
}

/* "PATH_OF_ROUTE name=value …", "405 allowed", "404" or "400". */
static const char *answer_to(const char *method, const char *raw) {
    static char text[1024];
    char buffer[1024], captures[1024];
    struct http_path path;
    if (!router_split(raw, strlen(raw), buffer, &path)) {
        return "400";
    }
    const struct http_route *route = NULL;
    enum http_match match = router_match(router, method, &path, &route);
    if (match == MATCH_NONE) {
        return "404";
    }
    if (match == MATCH_METHOD) {
        char allow[128];
        router_allow(router, &path, allow, sizeof allow);
        snprintf(text, sizeof text, "405 %s", allow);
        return text;
    }
    struct reel_bytes names[HTTP_ROUTE_PARTS_MAX];
    const char *values[HTTP_ROUTE_PARTS_MAX];
    size_t count = router_capture(route, &path, captures, names, values);
    size_t used = (size_t)snprintf(text, sizeof text, "%s", route->path);
    for (size_t i = 0; i < count; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, " %.*s=%s", (int)names[i].size,
                                 (const char *)names[i].data, values[i]);
    }
    return text;
}

static void matching(void **state) {
    (void)state;
    static const struct {
        const char *method, *path, *answer;
    } cases[] = {
        {"GET", "/", "/"},
        {"GET", "/recordings", "/recordings"},
        {"HEAD", "/recordings", "/recordings"},
        {"POST", "/recordings", "/recordings"},
        {"GET", "/recordings/x", "/recordings/{id} id=x"},
        {"GET", "/recordings/sha256%3Aab", "/recordings/{id} id=sha256:ab"},
        {"GET", "/recordings/a%2Fb", "/recordings/{id} id=a/b"},
        {"GET", "/recordings/trash", "/recordings/trash"},
        {"DELETE", "/recordings/trash", "/recordings/{id} id=trash"},
        {"GET", "/recordings/7/as/run.mcap", "/recordings/{id}/as/{name} id=7 name=run.mcap"},
        {"PUT", "/recordings/by-name/lab/run%201.log",
         "/recordings/by-name/{collection}/{name} collection=lab name=run 1.log"},
        {"PUT", "/recordings/by-name/lab/", "405 GET, HEAD, OPTIONS"},
        {"GET", "/recordings/", "/{page...} page=recordings/"},
        {"GET", "/css/a%20b/c.css", "/{page...} page=css/a b/c.css"},
        {"POST", "/tags:batch", "/tags:batch"},
        {"POST", "/grafana/", "/grafana/{rest...} rest="},
        {"POST", "/grafana/query", "/grafana/{rest...} rest=query"},
        {"POST", "/grafana", "405 GET, HEAD, OPTIONS"},
        {"PUT", "/recordings/x", "405 GET, HEAD, PATCH, DELETE, OPTIONS"},
        {"?", "/recordings", "405 GET, HEAD, POST, OPTIONS"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_string_equal(answer_to(cases[i].method, cases[i].path), cases[i].answer);
    }
}

static void bad_paths(void **state) {
    (void)state;
    static const char *const bad[] = {"/%",      "/%4", "/%4g",      "/a%00",       "/\xff", "/%c3",
                                      "/a/../b", "/.",  "/a/%2e./b", "/x%2f..%2fy", "/a/.."};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_string_equal(answer_to("GET", bad[i]), "400");
    }
    char deep[2 * HTTP_PATH_PARTS_MAX + 3] = "";
    for (size_t i = 0; i < HTTP_PATH_PARTS_MAX; i++) {
        strcat(deep, "/a");
    }
    assert_string_not_equal(answer_to("GET", deep), "400");
    strcat(deep, "/a");
    assert_string_equal(answer_to("GET", deep), "400");
}

static void bad_tables(void **state) {
    (void)state;
    static const struct http_route bad[][2] = {
        {ROUTE("GET", "x"), {0}},
        {ROUTE("GET", "/{}"), {0}},
        {ROUTE("GET", "/{a...}/b"), {0}},
        {{.method = "GET", .path = "/x"}, {0}},
        {ROUTE("A-METHOD-TOO-LONG", "/x"), {0}},
        {ROUTE("GET", "/1/2/3/4/5/6/7/8/9/10/11/12/13"), {0}},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct reel_error err;
        assert_null(router_new(bad[i], &err));
        assert_int_equal(err.code, REEL_ARGUMENT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(matching), cmocka_unit_test(bad_paths),
                                       cmocka_unit_test(bad_tables)};
    return cmocka_run_group_tests(tests, open_router, close_router);
}
