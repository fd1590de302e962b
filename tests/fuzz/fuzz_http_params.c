/* Whatever a client may write into a target or a header: the query, the path, Range, Accept, entity tags, dates, times.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "http/http_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const kinds[] = {"a", "b", NULL};
static const struct http_param table[] = {{.name = "x", .type = HTTP_TEXT, .repeats = true},
                                          {.name = "u", .type = HTTP_UINT},
                                          {.name = "i", .type = HTTP_INT},
                                          {.name = "t", .type = HTTP_TIME},
                                          {.name = "f", .type = HTTP_TIME_MS},
                                          {.name = "d", .type = HTTP_DURATION},
                                          {.name = "b", .type = HTTP_BOOL},
                                          {.name = "k", .type = HTTP_CHOICE, .choices = kinds},
                                          {0}};
static const char *const offers[] = {"application/json", "text/csv; charset=utf-8", NULL};

static void must(bool holds) {
    if (!holds) {
        abort();
    }
}

static void try_query(const char *text, size_t size) {
    char *buffer = malloc(size + 1); /* exactly as large as is promised */
    struct http_query query;
    json_t *errors = json_array();
    bool good = params_parse(text, buffer, table, NULL, &query, errors);
    must(good == (json_array_size(errors) == 0));
    json_decref(errors);
    free(query.values);
    free(buffer);
}

static void try_path(const char *text, size_t size) {
    char *buffer = malloc(size + 1);
    struct http_path path;
    if (text[0] == '/' && router_split(text, size, buffer, &path)) {
        must(strlen(path.text) <= size);
    }
    free(buffer);
}

static void try_range(const char *text, uint64_t length) {
    struct http_ranges ranges;
    if (range_parse(text, length, &ranges) == RANGE_PARTS) {
        must(ranges.count >= 1 && ranges.count <= HTTP_RANGES_MAX);
        for (size_t i = 0; i < ranges.count; i++) {
            must(ranges.items[i].first <= ranges.items[i].last && ranges.items[i].last < length);
        }
    }
}

static void try_time(const char *text) {
    struct reel_time t;
    int64_t ns;
    char out[REEL_TIME_TEXT];
    if (reel_time_parse(text, 1000000, &t, NULL)) {
        ns = reel_time_resolve(&t, INT64_MIN + 5, INT64_MAX - 5, 0);
        must(reel_time_rfc3339(ns, out) < REEL_TIME_TEXT && reel_time_seconds(ns, out) < REEL_TIME_TEXT);
    }
    must(!reel_duration_parse(text, &ns, NULL) || ns > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    size = strlen(text);
    int64_t seconds;
    struct http_server server = {.any_address = true};
    try_query(text, size);
    try_path(text, size);
    try_range(text, 1000);
    try_range(text, UINT64_MAX);
    try_range(text, 0);
    try_time(text);
    accept_best(text, offers);
    accept_coding(text, "gzip");
    conditional_etag_listed(text, "\"a\"", true);
    if (conditional_parse_date(text, &seconds)) {
        char out[HTTP_DATE_TEXT];
        conditional_format_date(seconds, out);
    }
    guard_host_is_ours(&server, text);
    free(text);
    return 0;
}
