/* /recordings/{id}/tags/{key}, /tags and /tags:batch. */
#include <stdlib.h>
#include <string.h>

#include "api/annotations/annotations.h"
#include "api/body.h"
#include "api/change.h"
#include "api/paging.h"
#include "api/recording.h"
#include "base/ascii.h"
#include "catalog/notes.h"
#include "manifests/manifests.h"

/* ---- one tag of one recording */

static void reply_tag(struct http_request *r, unsigned status, const char *key, const char *value) {
    http_reply_json(r, status, json_pack("{s:s, s:s}", "key", key, "value", value));
}

void api_tag_get(struct http_request *r) {
    struct api_recording a;
    if (!api_find(r, &a)) {
        return;
    }
    const char *key = http_segment(r, "key"), *value = catalog_annotations_tag(&a.row.annotations, key);
    if (value) {
        reply_tag(r, 200, key, value);
    } else {
        http_reply_problem(r, 404, "not-found", "the recording has no tag of that key");
    }
    api_recording_done(&a);
}

/* False: replied. */
static bool change_tag(struct http_request *r, const struct api_recording *a, const char *key, const char *value) {
    const struct catalog_tag tag = {.key = (char *)key, .value = (char *)value};
    int64_t version = change_version(r, &a->row);
    const struct catalog_change change = {.has_version = version != CATALOG_ANY_VERSION,
                                          .version = version,
                                          .absent_tag = http_if_absent(r) ? key : NULL,
                                          .tags = &tag,
                                          .n_tags = 1};
    struct reel_error err = {0};
    bool changed;
    if (!change_if_match(r, &a->row)) {
        return false;
    }
    if (!catalog_change(http_app(r)->catalog, a->row.id, &change, &changed, &err)) {
        change_refuse(r, &err);
        return false;
    }
    if (changed) {
        manifests_changed(http_app(r));
    }
    return true;
}

static bool is_json(const struct http_request *r) {
    const char *type = http_header(r, "Content-Type");
    return type && ascii_ncasecmp(type, "application/json", strlen("application/json")) == 0;
}

/* {"value": "r1"}: its text; NULL: the body is something else. */
static const char *json_value(struct http_request *r, const char *body) {
    const char *value;
    if (body[0] != '{') {
        return NULL;
    }
    json_auto_t *check = json_loads(body, JSON_REJECT_DUPLICATES, NULL);
    bool alone = json_object_size(check) == 1 && json_string_value(json_object_get(check, "value"));
    if (!alone && !is_json(r)) {
        return NULL;
    }
    const json_t *object = body_json(r);
    value = object ? json_string_value(json_object_get(object, "value")) : NULL;
    return alone ? value : "";
}

/* Copies a value without its last line end. NULL: replied. */
static const char *copy_value(struct http_request *r, const char *value, size_t size, char text[TAG_VALUE_MAX + 2]) {
    size -= size > 0 && value[size - 1] == '\n';
    if (size == 0) {
        http_reply_problem(r, 400, "bad-body",
                           "the value is missing: send it as the body, as {\"value\": \"…\"}, or as ?value=");
        return NULL;
    }
    if (size > TAG_VALUE_MAX || memchr(value, '\0', size)) {
        http_reply_problem(r, 400, "bad-argument", "a tag's value has at most %d bytes, without control characters",
                           TAG_VALUE_MAX);
        return NULL;
    }
    memcpy(text, value, size);
    text[size] = '\0';
    return text;
}

/* "r1", as JSON. NULL: replied. */
static const char *json_text(struct http_request *r, const char *body, size_t size, char text[TAG_VALUE_MAX + 2]) {
    json_auto_t *value = json_loadb(body, size, JSON_DECODE_ANY, NULL);
    if (!value) {
        http_reply_problem(r, 400, "bad-body", "the body is no JSON text");
        return NULL;
    }
    return copy_value(r, json_string_value(value), json_string_length(value), text);
}

/* The value: the parameter, JSON, or the body. NULL: replied. */
static const char *tags_value_of(struct http_request *r, char text[TAG_VALUE_MAX + 2]) {
    size_t size;
    const char *given = http_param(r, "value"), *body = body_text(r, &size);
    if (given && size > 0) {
        http_reply_bad_param(r, "value", "the value is in the body already");
        return NULL;
    }
    if (given) {
        return given;
    }
    if (is_json(r) && body[strspn(body, " \t\r\n")] == '"') {
        return json_text(r, body, size, text);
    }
    const char *json = json_value(r, body);
    return json ? copy_value(r, json, strlen(json), text) : copy_value(r, body, size, text);
}

void api_tag_put(struct http_request *r) {
    char text[TAG_VALUE_MAX + 2];
    const char *value = tags_value_of(r, text), *key = http_segment(r, "key");
    struct api_recording a;
    if (!value || !api_find(r, &a)) {
        return;
    }
    bool fresh = !catalog_annotations_tag(&a.row.annotations, key);
    if (change_tag(r, &a, key, value)) {
        reply_tag(r, fresh ? 201 : 200, key, value);
    }
    api_recording_done(&a);
}

void api_tag_delete(struct http_request *r) {
    struct api_recording a;
    const char *key = http_segment(r, "key");
    if (!api_find(r, &a)) {
        return;
    }
    if (!catalog_annotations_tag(&a.row.annotations, key)) {
        http_reply_problem(r, 404, "not-found", "the recording has no tag of that key");
    } else if (change_tag(r, &a, key, NULL)) {
        http_reply_empty(r, 204);
    }
    api_recording_done(&a);
}

/* ---- all tags */

static void reply_counts(struct http_request *r, struct catalog_counts *counts, const char *member) {
    const char *const columns[] = {member, "recordings", NULL};
    json_t *items = json_array();
    for (uint32_t i = 0; i < counts->n; i++) {
        json_array_append_new(items, json_pack("{s:s, s:I}", member, counts->items[i].name, "recordings",
                                               (json_int_t)counts->items[i].recordings));
    }
    paging_reply(r, items, counts->more ? counts->items[counts->n - 1].name : NULL, columns);
    catalog_counts_done(counts);
}

/* Counts cover all collections. */
static bool sees_all(struct http_request *r) {
    if (!http_caller(r)->collections) {
        return true;
    }
    http_reply_problem(r, 403, "forbidden", "tags are counted over all collections, and this token is limited to some");
    return false;
}

void api_tags_list(struct http_request *r) {
    const char *key = http_segment(r, "key"), *prefix = http_param(r, "prefix");
    struct catalog_counts counts;
    struct reel_error err = {0};
    uint32_t limit = paging_limit(r);
    char *after = NULL;
    if (!sees_all(r) || !paging_after(r, &after)) {
        return;
    }
    bool good = key ? catalog_tag_values(http_app(r)->catalog, key, prefix, after, limit, &counts, &err)
                    : catalog_tag_keys(http_app(r)->catalog, prefix, after, limit, &counts, &err);
    if (good) {
        reply_counts(r, &counts, key ? "value" : "key");
    } else {
        http_reply_error(r, &err);
    }
    free(after);
}

/* ---- many recordings at once */

struct batch {
    int64_t rows[TAG_BATCH_MAX];
    uint32_t n;
    struct catalog_tag tags[2 * TAGS_MAX];
    uint32_t n_tags;
    json_t *missing; /* ids that do not exist or that this caller may not see */
};

/* False: replied. */
static bool add_ids(struct http_request *r, struct batch *b, const json_t *ids) {
    size_t i;
    json_t *id;
    if (json_array_size(ids) > TAG_BATCH_MAX) {
        http_reply_problem(r, 413, "limit", "at most %d recordings are tagged at a time", TAG_BATCH_MAX);
        return false;
    }
    json_array_foreach((json_t *)ids, i, id) {
        struct catalog_recording row;
        struct reel_error err = {0};
        const char *key = json_string_value(id);
        if (!key) {
            body_refuse(r, "ids", "must be an array of ids");
            return false;
        }
        bool there = catalog_get(http_app(r)->catalog, key, &row, &err);
        if (!there && err.code != REEL_NOT_FOUND) {
            http_reply_error(r, &err);
            return false;
        }
        if (there && http_caller_sees(http_caller(r), row.collection)) {
            b->rows[b->n++] = row.row;
        } else {
            json_array_append(b->missing, id);
        }
        if (there) {
            catalog_recording_done(&row);
        }
    }
    return true;
}

/* All recordings that the search finds. False: replied. */
static bool tags_add_found(struct http_request *r, struct batch *b, const char *words) {
    struct catalog_query q = {.words = words, .allowed = http_caller(r)->collections, .limit = 1000};
    struct reel_error err = {0};
    char *cursor = NULL;
    bool good = true;
    do {
        struct catalog_page page;
        q.cursor = cursor;
        good = catalog_list(http_app(r)->catalog, &q, &page, &err);
        free(cursor);
        cursor = NULL;
        if (!good) {
            http_reply_error(r, &err);
            break;
        }
        if (b->n + page.n_items > TAG_BATCH_MAX) {
            http_reply_problem(r, 413, "limit", "this finds more than %d recordings; narrow the search", TAG_BATCH_MAX);
            good = false;
        }
        for (uint32_t i = 0; i < page.n_items && good; i++) {
            b->rows[b->n++] = page.items[i].row;
        }
        cursor = page.next;
        page.next = NULL;
        catalog_page_done(&page);
    } while (cursor && good);
    free(cursor);
    return good;
}

static bool read_batch(struct http_request *r, const json_t *body, struct batch *b) {
    static const char *const known[] = {"ids", "q", "set", "unset", NULL};
    const json_t *ids = json_object_get(body, "ids"), *q = json_object_get(body, "q"),
                 *set = json_object_get(body, "set"), *unset = json_object_get(body, "unset");
    size_t i;
    json_t *key;
    if (!body_knows(r, body, known)) {
        return false;
    }
    if (!ids == !q || (ids && !json_is_array(ids)) || (q && !json_string_length(q))) {
        body_refuse(r, ids ? "ids" : "q", "either ids, an array, or q, a search that is not empty, is required");
        return false;
    }
    if ((set && !json_is_object(set)) || (unset && !json_is_array(unset)) ||
        json_object_size(set) + json_array_size(unset) == 0) {
        body_refuse(r, unset && !json_is_array(unset) ? "unset" : "set",
                    "set is an object of tags, unset an array of keys; one of them must not be empty");
        return false;
    }
    if (!change_read_tags(r, set, b->tags, TAGS_MAX, &b->n_tags)) {
        return false;
    }
    json_array_foreach((json_t *)unset, i, key) {
        if (!json_is_string(key) || i >= TAGS_MAX) {
            body_refuse(r, "unset", "must be an array of at most %d keys", TAGS_MAX);
            return false;
        }
        b->tags[b->n_tags++] = (struct catalog_tag){.key = (char *)json_string_value(key)};
    }
    return ids ? add_ids(r, b, ids) : tags_add_found(r, b, json_string_value(q));
}

static void run_batch(struct http_request *r, struct batch *b) {
    struct catalog_tag_batch batch = {.rows = b->rows, .n_rows = b->n, .tags = b->tags, .n_tags = b->n_tags};
    struct reel_error err = {0};
    if (!catalog_tag_many(http_app(r)->catalog, &batch, &err)) {
        http_reply_error(r, &err);
        return;
    }
    if (batch.changed > 0) {
        manifests_changed(http_app(r));
    }
    http_reply_json(
        r, 200,
        json_pack("{s:i, s:i, s:O}", "matched", (int)b->n, "changed", (int)batch.changed, "not_found", b->missing));
}

void api_tags_batch(struct http_request *r) {
    const json_t *body = body_json(r);
    if (!body) {
        return;
    }
    struct batch *b = calloc(1, sizeof *b);
    if (b && (b->missing = json_array())) {
        if (read_batch(r, body, b)) {
            run_batch(r, b);
        }
        json_decref(b->missing);
    } else {
        http_reply_no_memory(r);
    }
    free(b);
}
