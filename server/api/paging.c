/* See paging.h. Cursors are hex, so they need no escaping in URLs. */
#include "api/paging.h"
#include "http/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/rows.h"
#include "base/cleanup.h"
#include "base/hex.h"
#include "base/number.h"
#include "http/json_text.h"
#include "tables/table.h"

enum { LIMIT_DEFAULT = 100, CURSOR_MAX = 2048 };
enum { LINK_MAX = 4096 }; /* a header of a response, which shares 32 KiB with the request's */

void api_add_next_link(struct http_request *r, const char *cursor) {
    char link[LINK_MAX];
    http_add_header(r, "X-Next-Cursor", cursor); /* a link with all parameters may be too long */
    const char *target = http_target(r), *query = strchr(target, '?');
    size_t used = (size_t)snprintf(link, sizeof link, "<%s%.*s?", http_prefix(r), (int)strcspn(target, "?"), target);
    for (const char *p = query ? query + 1 : ""; *p && used < sizeof link;) {
        size_t n = strcspn(p, "&");
        if (n > 0 && strncmp(p, "cursor=", 7) != 0 && strncmp(p, "offset=", 7) != 0 && strncmp(p, "sig=", 4) != 0 &&
            strncmp(p, "exp=", 4) != 0) { /* a signature is valid for one page only */
            used += (size_t)snprintf(link + used, sizeof link - used, "%.*s&", (int)n, p);
        }
        p += n + (p[n] == '&');
    }
    if (used < sizeof link &&
        (size_t)snprintf(link + used, sizeof link - used, "cursor=%s>; rel=\"next\"", cursor) < sizeof link - used) {
        http_add_header(r, "Link", link);
    }
}

uint32_t paging_limit(const struct http_request *r) {
    uint64_t limit = LIMIT_DEFAULT;
    http_param_u64(r, "limit", &limit);
    return (uint32_t)limit;
}

static bool refuse_cursor(struct http_request *r) {
    http_reply_bad_param(r, "cursor", "is not one of ours; take it from the page before");
    return false;
}

bool paging_after(struct http_request *r, char **after) {
    const char *cursor = http_param(r, "cursor");
    *after = NULL;
    if (!cursor) {
        return true;
    }
    size_t size = strlen(cursor);
    if (size % 2 != 0 || size > CURSOR_MAX) {
        return refuse_cursor(r);
    }
    if (!(*after = calloc(1, size / 2 + 1))) {
        http_reply_no_memory(r);
        return false;
    }
    if (!hex_read(cursor, size / 2, *after)) {
        free(TAKE(*after));
        return refuse_cursor(r);
    }
    return true;
}

bool paging_after_row(struct http_request *r, int64_t *after) {
    AUTO_MEM char *text = NULL;
    if (!paging_after(r, &text)) {
        return false;
    }
    return !text || number_i64(text, after) || refuse_cursor(r);
}

static void paging_write_cursor(const char *next, size_t size, char cursor[CURSOR_MAX + 1]) {
    hex_write(next, size < CURSOR_MAX / 2 ? size : CURSOR_MAX / 2, cursor);
}

bool paging_slice(struct http_request *r, struct view_slice *slice) {
    int64_t from = 0;
    uint64_t limit = VIEW_ITEMS_MAX;
    http_param_u64(r, "limit", &limit);
    if (!paging_after_row(r, &from)) {
        return false;
    }
    *slice = (struct view_slice){.from = (size_t)from, .limit = (size_t)limit};
    return from >= 0 || refuse_cursor(r);
}

static bool slice_cursor(const struct view_slice *slice, char cursor[CURSOR_MAX + 1]) {
    char row[24];
    snprintf(row, sizeof row, "%zu", slice->next);
    paging_write_cursor(row, strlen(row), cursor);
    return slice->next > 0;
}

json_t *paging_next(const struct view_slice *slice) {
    char cursor[CURSOR_MAX + 1];
    return slice_cursor(slice, cursor) ? json_string(cursor) : json_null();
}

json_t *paging_next_link(struct http_request *r, const struct view_slice *slice) {
    char cursor[CURSOR_MAX + 1];
    if (slice_cursor(slice, cursor)) {
        api_add_next_link(r, cursor);
    }
    return paging_next(slice);
}

void paging_reply_slice(struct http_request *r, const struct rows_form *form, json_t *items,
                        const struct view_slice *slice, const char *const *columns) {
    rows_reply(r, form, json_pack("{s:O, s:o}", "items", items, "next", paging_next_link(r, slice)), items, columns);
}

static int put_piece(const char *data, size_t size, void *context) {
    grow_put(context, data, size);
    return 0;
}

char *paging_topics(struct http_request *r, json_t *recording, const struct reel_index *index,
                    struct view_slice *slice) {
    struct grow topics = {0}, out = {0};
    json_auto_t *body = recording ? json_incref(recording) : json_object();
    const char *name = recording ? ",\"topics\":" : ",\"items\":";
    bool good = body && view_topics_text(index, slice, &topics) &&
                json_object_set_new(body, recording ? "topics_next" : "next",
                                    recording ? paging_next(slice) : paging_next_link(r, slice)) == 0 &&
                json_text_write(body, 0, put_piece, &out);
    if (good) {
        out.size--; /* its "}" */
        grow_put(&out, name, strlen(name));
        grow_put(&out, topics.data, topics.size);
        grow_put(&out, "}\n", 3);
    }
    free(topics.data);
    if (good && !out.failed) {
        return (char *)out.data;
    }
    free(out.data);
    return NULL;
}

const char *const paging_outputs[] = {"json", "csv", "ndjson", "parquet", "arrows", NULL};

static void api_paging_reply(struct http_request *r, json_t *items, const char *next, const struct rows_form *form,
                             const char *const *columns, json_t *members) {
    char cursor[CURSOR_MAX + 1];
    paging_write_cursor(next, next ? strlen(next) : 0, cursor);
    if (next) {
        api_add_next_link(r, cursor);
    }
    json_t *body = json_pack("{s:O, s:o}", "items", items, "next", next ? json_string(cursor) : json_null());
    if (members) {
        json_object_update(body, members);
        json_decref(members);
    }
    rows_reply(r, form, body, items, columns);
}

void paging_reply(struct http_request *r, json_t *items, const char *next, const char *const *columns) {
    struct rows_form form = {.form = REEL_TABLE_JSON};
    if (columns && !rows_form(r, &form)) {
        json_decref(items);
        return;
    }
    api_paging_reply(r, items, next, &form, columns, NULL);
}

void paging_reply_found(struct http_request *r, json_t *items, const char *next, const char *const *columns,
                        json_t *members) {
    struct rows_form form;
    if (rows_form(r, &form)) {
        api_paging_reply(r, items, next, &form, columns, members);
    } else {
        json_decref(items);
        json_decref(members);
    }
}
