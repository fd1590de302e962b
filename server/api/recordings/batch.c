/* /recordings:batch changes many recordings: what would change at first, with dry_run, then a job with a result for
 * each
 * (/jobs/{id}/results). New names are made here, so that they do not depend on how often the job runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/body.h"
#include "api/change.h"
#include "api/job_reply.h"
#include "api/paging.h"
#include "api/recording.h"
#include "api/recordings/recordings.h"
#include "base/cleanup.h"
#include "base/text_stream.h"
#include "catalog/batches.h"
#include "catalog/notes.h"
#include "json_whole.h"
#include "recordings/names.h"
#include "stream/merge_names.h"
#include "stream/stream.h"
#include "work/jobs.h"

enum { SHOWN_MAX = 1000 }; /* recordings in the answer to a dry run */

struct planned {
    struct catalog_batch_item item;
    bool changes;
    char *problem; /* why it cannot be changed; NULL: it can */
};

struct batch { /* of one request */
    struct http_request *r;
    const char *action, *pattern;
    json_t *change; /* as in the options of the job */
    struct planned *items;
    uint32_t n, room;
    json_t *missing, *targets; /* ids that are not there; COLLECTION/NAME of the items before */
};

static void recordings_batch_batch_done(struct batch *b) {
    for (uint32_t i = 0; i < b->n; i++) {
        free(b->items[i].item.collection);
        free(b->items[i].item.name);
        free(b->items[i].item.new_name);
        free(b->items[i].problem);
    }
    free(b->items);
    json_decref(b->change);
    json_decref(b->missing);
    json_decref(b->targets);
}

/* ---- the body */

/* "{stem}-day1{ending}": nothing else in braces. */
static bool is_pattern(const char *text) {
    static const char *const known[] = {"{name}", "{stem}", "{ending}", "{collection}", "{id}", "{n}"};
    for (const char *at = text; (at = strpbrk(at, "{}"));) {
        size_t size = 0;
        for (size_t i = 0; i < sizeof known / sizeof *known && size == 0; i++) {
            size = strncmp(at, known[i], strlen(known[i])) == 0 ? strlen(known[i]) : 0;
        }
        if (size == 0) {
            return false;
        }
        at += size;
    }
    return *text;
}

/* The members of a change, as the job takes them. False: replied. */
static bool read_change(struct batch *b, const json_t *body) {
    const json_t *collection = json_object_get(body, "collection"), *name = json_object_get(body, "name"),
                 *tags = json_object_get(body, "tags"), *epoch = json_object_get(body, "epoch");
    struct catalog_tag items[2 * TAGS_MAX];
    struct catalog_change c = {0};
    uint32_t n = 0;
    if (strcmp(b->action, "change") != 0) {
        if (collection || name || tags || epoch) {
            body_refuse(b->r, "action", "collection, name, tags and epoch are of the action change");
            return false;
        }
        return true;
    }
    if (!collection && !name && !tags && !epoch) {
        body_refuse(b->r, "action", "to change needs collection, name, tags or epoch");
        return false;
    }
    if (collection && (!json_is_string(collection) || !api_may_use(b->r, json_string_value(collection)))) {
        if (!json_is_string(collection)) {
            body_refuse(b->r, "collection", "must be a text");
        }
        return false;
    }
    b->pattern = json_string_value(name);
    if (name && (!b->pattern || !is_pattern(b->pattern))) {
        body_refuse(
            b->r, "name",
            "must be a text with {name}, {stem}, {ending}, {collection}, {id} or {n} in it, such as day1/{name}");
        return false;
    }
    if ((tags && !json_is_object(tags)) || !change_read_tags(b->r, tags, items, 2 * TAGS_MAX, &n) ||
        !change_read_epoch(b->r, epoch, &c)) {
        if (tags && !json_is_object(tags)) {
            body_refuse(b->r, "tags", "must be an object; null takes a tag away");
        }
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct reel_error err = {0};
        if (!catalog_tag_check(items[i].key, items[i].value, &err)) {
            body_refuse(b->r, "tags", "%s", err.text);
            return false;
        }
    }
    json_object_set(b->change, "collection", (json_t *)collection);
    json_object_set(b->change, "tags", (json_t *)tags);
    if (epoch) {
        json_object_set_new(b->change, "epoch_ns", c.has_epoch ? json_integer(c.epoch_ns) : json_null());
    }
    return true;
}

static bool read_action(struct batch *b, const json_t *body) {
    static const char *const actions[] = {"change", "trash", "restore", "rescan"};
    b->action = json_string_value(json_object_get(body, "action"));
    for (size_t i = 0; b->action && i < sizeof actions / sizeof *actions; i++) {
        if (strcmp(b->action, actions[i]) == 0) {
            return read_change(b, body);
        }
    }
    body_refuse(b->r, "action", "must be change, trash, restore or rescan");
    return false;
}

/* ---- recordings */

static void put_pattern(FILE *out, const struct batch *b, const struct catalog_recording *row) {
    const char *name = row->name;
    size_t stem = reel_name_stem(name);
    for (const char *at = b->pattern; *at;) {
        if (strncmp(at, "{name}", 6) == 0) {
            fputs(name, out);
        } else if (strncmp(at, "{stem}", 6) == 0) {
            fwrite(name, 1, stem, out);
        } else if (strncmp(at, "{ending}", 8) == 0) {
            fputs(name + stem, out);
        } else if (strncmp(at, "{collection}", 12) == 0) {
            fputs(row->collection, out);
        } else if (strncmp(at, "{id}", 4) == 0) {
            fputs(row->id, out);
        } else if (strncmp(at, "{n}", 3) == 0) {
            fprintf(out, "%u", b->n + 1);
        } else {
            fputc(*at++, out);
            continue;
        }
        at = strchr(at, '}') + 1;
    }
}

static char *new_name(const struct batch *b, const struct catalog_recording *row) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = b->pattern ? open_memstream(&text, &size) : NULL;
    if (!out) {
        return b->pattern ? NULL : strdup("");
    }
    put_pattern(out, b, row);
    return text_stream_close(out, &text) ? text : NULL;
}

/* Whether another recording has the place it would get: in the catalog, or by this batch. */
static bool batch_is_taken(struct batch *b, const struct catalog_recording *row, const char *collection,
                           const char *name, bool *taken, struct reel_error *err) {
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording other = {0};
    struct reel_error why = {0};
    AUTO_MEM char *target = NULL;
    if (asprintf(&target, "%s/%s", collection, name) < 0) {
        target = NULL;
        return reel_fail_memory(err);
    }
    bool there = catalog_get_named(http_app(b->r)->catalog, collection, name, &other, &why);
    if (!there && why.code != REEL_NOT_FOUND) {
        return reel_error_pass(err, &why);
    }
    *taken = (there && strcmp(other.id, row->id) != 0) || json_object_get(b->targets, target);
    return json_object_set_new(b->targets, target, json_true()) == 0 || reel_fail_memory(err);
}

/* What the action would do with it: changes and problem. */
static bool foresee(struct batch *b, struct planned *p, const struct catalog_recording *row, struct reel_error *err) {
    const char *to = json_string_value(json_object_get(b->change, "collection")),
               *collection = to ? to : row->collection, *name = p->item.new_name[0] ? p->item.new_name : row->name;
    struct reel_error why = {0};
    bool moves = strcmp(collection, row->collection) != 0 || strcmp(name, row->name) != 0, taken = false;
    p->changes = strcmp(b->action, "restore") == 0 ? row->state == STATE_TRASHED : row->state != STATE_TRASHED;
    if (strcmp(b->action, "change") == 0) {
        p->changes = moves || json_object_get(b->change, "tags") || json_object_get(b->change, "epoch_ns");
        if (moves && !batch_is_taken(b, row, collection, name, &taken, err)) {
            return false;
        }
    }
    if (row->state == STATE_RECORDING) {
        p->problem = strdup("it is still growing");
    } else if (!names_check(collection, name, &why)) {
        p->problem = strdup(why.text);
    } else if (taken) {
        p->problem = strdup("another recording has that name");
    } else if (strcmp(b->action, "rescan") == 0 && row->state == STATE_TRASHED) {
        p->problem = strdup("it is in the trash");
    }
    return true;
}

/* False: replied. */
static bool batch_add_row(struct batch *b, const struct catalog_recording *row) {
    struct reel_error err = {0};
    if (b->n == BATCH_ITEMS_MAX) {
        http_reply_problem(b->r, 413, "too-many", "at most %d recordings are changed at a time; narrow the search",
                           BATCH_ITEMS_MAX);
        return false;
    }
    if (b->n == b->room) {
        struct planned *more = realloc(b->items, (b->room ? 2 * b->room : 64) * sizeof *more);
        if (!more) {
            http_reply_no_memory(b->r);
            return false;
        }
        b->items = more;
        b->room = b->room ? 2 * b->room : 64;
    }
    struct planned *p = &b->items[b->n];
    *p = (struct planned){
        .item = {.collection = strdup(row->collection), .name = strdup(row->name), .new_name = new_name(b, row)}};
    memcpy(p->item.recording, row->id, sizeof p->item.recording);
    b->n++;
    bool good =
        p->item.collection && p->item.name && p->item.new_name ? foresee(b, p, row, &err) : reel_fail_memory(&err);
    if (!good) {
        http_reply_error(b->r, &err);
    }
    return good;
}

/* False: replied. */
static bool add_ids(struct batch *b, const json_t *ids) {
    json_t *id;
    size_t i;
    json_array_foreach((json_t *)ids, i, id) {
        AUTO_STRUCT(catalog_recording_done) struct catalog_recording row = {0};
        struct reel_error err = {0};
        if (!json_is_string(id)) {
            body_refuse(b->r, "ids", "must be an array of ids");
            return false;
        }
        bool there = catalog_get(http_app(b->r)->catalog, json_string_value(id), &row, &err);
        if (!there && err.code != REEL_NOT_FOUND) {
            http_reply_error(b->r, &err);
            return false;
        }
        if (!there || !http_caller_sees(http_caller(b->r), row.collection)) {
            json_array_append(b->missing, id);
        } else if (!batch_add_row(b, &row)) {
            return false;
        }
    }
    return true;
}

/* False: replied. */
static bool batch_add_found(struct batch *b, const char *words) {
    struct catalog_query q = {.words = words,
                              .allowed = http_caller(b->r)->collections,
                              .has_state = strcmp(b->action, "restore") == 0, /* others: all but trashed */
                              .state = STATE_TRASHED,
                              .limit = 1000,
                              .sort = "created"};
    AUTO_MEM char *cursor = NULL;
    bool good = true;
    do {
        struct catalog_page page = {0};
        struct reel_error err = {0};
        q.cursor = cursor;
        if (!catalog_list(http_app(b->r)->catalog, &q, &page, &err)) {
            http_reply_error(b->r, &err);
            return false;
        }
        for (uint32_t i = 0; i < page.n_items && good; i++) {
            good = batch_add_row(b, &page.items[i]);
        }
        free(cursor);
        cursor = TAKE(page.next);
        catalog_page_done(&page);
    } while (cursor && good);
    return good;
}

/* ---- replies */

static json_t *view_planned(const struct batch *b, const struct planned *p) {
    const char *to = json_string_value(json_object_get(b->change, "collection"));
    json_t *o = json_pack("{s:s, s:s, s:s, s:b}", "recording", p->item.recording, "collection", p->item.collection,
                          "name", p->item.name, "changes", p->changes && !p->problem);
    if (to) {
        json_object_set_new(o, "new_collection", json_string(to));
    }
    if (p->item.new_name[0]) {
        json_object_set_new(o, "new_name", json_string(p->item.new_name));
    }
    if (p->problem) {
        json_object_set_new(o, "problem", json_string(p->problem));
    }
    return o;
}

static void reply_dry_run(const struct batch *b) {
    json_t *items = json_array();
    int changes = 0, problems = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        changes += b->items[i].changes && !b->items[i].problem;
        problems += b->items[i].problem != NULL;
    }
    for (int pass = 0; pass < 2; pass++) { /* what cannot be changed comes first */
        for (uint32_t i = 0; i < b->n && json_array_size(items) < SHOWN_MAX; i++) {
            if ((b->items[i].problem == NULL) == (pass != 0)) {
                json_array_append_new(items, view_planned(b, &b->items[i]));
            }
        }
    }
    http_reply_json(b->r, 200,
                    json_pack("{s:i, s:i, s:i, s:O, s:o}", "matched", (int)b->n, "changes", changes, "problems",
                              problems, "not_found", b->missing, "items", items));
}

/* Malloc'd; NULL: no memory. */
static char *job_options(const struct batch *b) {
    const char *const *globs = http_caller(b->r)->collections;
    json_t *options = json_pack("{s:s, s:O}", "action", b->action, "change", b->change),
           *allowed = globs ? json_array() : NULL;
    for (; globs && *globs; globs++) {
        json_array_append_new(allowed, json_string(*globs));
    }
    if (allowed) {
        json_object_set_new(options, "allowed", allowed);
    }
    char *text = json_whole_text(options, JSON_COMPACT);
    json_decref(options);
    return text;
}

static void batch_start(const struct batch *b) {
    struct app *app = http_app(b->r);
    struct reel_error err = {0};
    char key[RECORDING_ID_TEXT], id[JOB_ID_TEXT], subject[80];
    AUTO_MEM char *options = job_options(b);
    AUTO_MEM struct catalog_batch_item *items = calloc((size_t)b->n + 1, sizeof *items);
    for (uint32_t i = 0; items && i < b->n; i++) {
        items[i] = b->items[i].item; /* lent */
    }
    snprintf(subject, sizeof subject, "%s %u recordings", b->action, b->n);
    bool good = options && items ? catalog_make_id(key, &err) && catalog_batch_add(app->catalog, key, items, b->n, &err)
                                 : reel_fail_memory(&err);
    if (good && jobs_add(app->jobs,
                         &(struct job_spec){.kind = "batch",
                                            .key = key,
                                            .collection = b->n > 0 ? items[0].collection : "",
                                            .subject = subject,
                                            .options = options},
                         id, &err)) {
        api_reply_job(b->r, id);
    } else {
        http_reply_error(b->r, &err);
    }
}

void api_recordings_batch(struct http_request *r) {
    static const char *const known[] = {"ids", "q", "action", "collection", "name", "tags", "epoch", NULL};
    const json_t *body = body_json(r), *ids = json_object_get(body, "ids"), *q = json_object_get(body, "q");
    AUTO_STRUCT(recordings_batch_batch_done)
    struct batch b = {.r = r, .change = json_object(), .missing = json_array(), .targets = json_object()};
    bool dry = false;
    http_param_bool(r, "dry_run", &dry);
    if (!body || !body_knows(r, body, known)) {
        return;
    }
    if (!ids == !q || (ids && !json_is_array(ids)) || (q && !json_string_length(q))) {
        body_refuse(r, ids ? "ids" : "q", "either ids, an array, or q, a search that is not empty, is required");
        return;
    }
    if (read_action(&b, body) && (ids ? add_ids(&b, ids) : batch_add_found(&b, json_string_value(q)))) {
        dry ? reply_dry_run(&b) : batch_start(&b);
    }
}
