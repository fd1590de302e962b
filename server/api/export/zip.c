/* /search/export.zip: the recordings that a search finds, as they are or converted, or the cuts around their events, in
 * one ZIP archive, which may be a package for a repository (bag.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/digests.h"
#include "api/export/bag.h"
#include "api/export/export.h"
#include "api/export/inputs.h"
#include "api/export/plans.h"
#include "api/export/zip_archive.h"
#include "api/job_reply.h"
#include "api/recording.h"
#include "api/reserve.h"
#include "base/cleanup.h"
#include "base/glob.h"
#include "base/text_stream.h"
#include "catalog/notes.h"
#include "stream/merge_names.h"
#include "syntax/ustar.h"

enum { MEMBERS_MAX = 1000, AS_MAX = 32, FORMATS_MAX = 8, TITLE_MAX = 60 };
#define ORIGINAL "original"

struct export { /* of one request */
    struct http_request *r;
    struct inputs *in;
    struct zip_items *items;
    char formats[FORMATS_MAX][AS_MAX + 1]; /* "mcap"; ORIGINAL: the files themselves */
    uint32_t n_formats;
    struct bag *bag;            /* until the items own it; NULL: no package */
    struct bag_member *members; /* of each item but the texts */
    bool is_bag;
    const char *event; /* glob of the titles of events; NULL: whole recordings */
    int64_t before_ns, after_ns;
    FILE *text; /* what decides the bytes */
    char *all_text;
    size_t all_size;
    FILE *left_out; /* a line for each recording that is left out */
    char *left_out_text;
    size_t left_out_size;
    uint32_t n_left_out;
};

static void export_done(struct export *e) {
    zip_items_free(e->items);
    bag_free(e->bag);
    inputs_free(e->in);
    free(e->members);
    if (e->text) {
        fclose(e->text);
    }
    if (e->left_out) {
        fclose(e->left_out);
    }
    free(e->all_text);
    free(e->left_out_text);
}

/* ---- parameters */

static bool has_format(const struct export *e, const char *format) {
    uint32_t i = 0;
    while (i < e->n_formats && strcmp(e->formats[i], format) != 0) {
        i++;
    }
    return i < e->n_formats;
}

/* as. False: replied. */
static bool read_formats(struct export *e) {
    const char *as = http_param(e->r, "as");
    for (const char *at = as ? as : e->is_bag ? ORIGINAL : "mcap"; at;) {
        size_t size = strcspn(at, ",");
        char *format = e->formats[e->n_formats];
        if (size == 0 || size > AS_MAX || memchr(at, '/', size)) {
            http_reply_bad_param(e->r, "as", "is the ending of a format, for example mcap, or " ORIGINAL);
            return false;
        }
        memcpy(format, at, size);
        format[size] = '\0';
        if (has_format(e, format) || ++e->n_formats == FORMATS_MAX) {
            http_reply_bad_param(e->r, "as", "names fewer than %d formats, each once", FORMATS_MAX);
            return false;
        }
        at = at[size] ? at + size + 1 : NULL;
    }
    return true;
}

/* package and deposit. False: replied. */
static bool read_package(struct export *e) {
    e->is_bag = http_param(e->r, "package");
    if (!e->is_bag && http_param(e->r, "deposit")) {
        http_reply_bad_param(e->r, "deposit", "it needs package=bagit");
        return false;
    }
    return !e->is_bag || (e->bag = bag_new(e->r));
}

/* False: replied. */
static bool read_params(struct export *e) {
    const char *around = http_param(e->r, "around");
    if (!read_package(e) || !read_formats(e)) {
        return false;
    }
    if (around && has_format(e, ORIGINAL)) {
        http_reply_bad_param(e->r, "as", "a cut is no original file: name a format with around");
        return false;
    }
    if (around && (strncmp(around, "event:", 6) != 0 || !around[6])) {
        http_reply_bad_param(e->r, "around", "is written event:TITLE, for example event:fall");
        return false;
    }
    if (http_param(e->r, "recording") && http_param(e->r, "q")) {
        http_reply_bad_param(e->r, "recording", "either recording or q: recordings that are named are not searched");
        return false;
    }
    e->event = around ? around + 6 : NULL;
    bool before = http_param_duration(e->r, "before", &e->before_ns),
         after = http_param_duration(e->r, "after", &e->after_ns);
    if (!around && (before || after)) {
        http_reply_bad_param(e->r, before ? "before" : "after", "it needs around");
        return false;
    }
    return true;
}

/* ---- members */

static bool note_left_out(struct export *e, const struct catalog_recording *row, const char *why) {
    fprintf(e->left_out, "%s/%s (%s): %s\n", row->collection, row->name, row->id, why);
    e->n_left_out++;
    return true;
}

/* Adds an item with this name. NULL: replied. */
static struct zip_item *add_item(struct export *e, char *name) {
    if (!name) {
        http_reply_no_memory(e->r);
        return NULL;
    }
    if (e->items->n >= e->items->room) {
        http_reply_problem(e->r, 413, "too-many", "the archive would have more than %d members; narrow the search",
                           MEMBERS_MAX);
        free(name);
        return NULL;
    }
    struct zip_item *item = &e->items->items[e->items->n++];
    item->name = name;
    return item;
}

/* Where a member lies: formats that are together have a folder each. Readers of manifests disagree whether "%" is
 * escaped in them, so packages have none. NULL: no memory. */
static char *member_name(const struct export *e, const char *format, char *path) {
    char *name = NULL;
    bool folder = e->is_bag || e->n_formats > 1;
    archive_make_safe(path);
    for (char *at = path; e->is_bag && *at; at++) {
        *at = *at == '%' ? '_' : *at;
    }
    return asprintf(&name, "%s%s%s", folder ? format : "", folder ? "/" : "", path) < 0 ? NULL : name;
}

/* A member at `path`, which it owns (NULL: no memory). *out NULL: it is left out. False: replied. */
static bool add_member(struct export *e, uint32_t i, const char *format, char *path, struct zip_item **out) {
    AUTO_MEM char *owned = path;
    AUTO_MEM char *name = path ? member_name(e, format, path) : NULL;
    *out = NULL;
    if (name && strlen(name) > USTAR_NAME_MAX - 64) {
        return note_left_out(e, &e->in->items[i].row, "its name is too long for an archive");
    }
    if ((*out = add_item(e, TAKE(name)))) {
        e->members[e->items->n - 1] =
            (struct bag_member){.input = i, .as = strcmp(format, ORIGINAL) == 0 ? NULL : format};
    }
    return *out;
}

/* One recording, or a cut of it, as a member. False: replied. */
static bool zip_add_member(struct export *e, uint32_t i, const char *format, const char *label, const int64_t *cut) {
    const struct api_recording *a = &e->in->items[i];
    struct reel_error err = {0};
    char etag[64];
    char target[AS_MAX + 4];
    snprintf(target, sizeof target, "x.%s", format);
    AUTO(reel_conversion_free) struct reel_conversion *conversion = api_member(e->r, a, target, cut, etag, &err);
    if (!conversion) {
        if (err.code != REEL_OK && reel_is_transient(err.code) && err.code != REEL_IO) { /* the next try has it */
            http_reply_error(e->r, &err);
            return false;
        }
        return err.code != REEL_OK && note_left_out(e, &a->row, err.text);
    }
    char *path = NULL;
    struct zip_item *item;
    if (asprintf(&path, "%s/%.*s%s", a->row.collection, (int)reel_name_stem(a->row.name), a->row.name, label) < 0) {
        path = NULL;
    }
    if (!add_member(e, i, format, path, &item)) {
        return false;
    }
    if (item) {
        item->conversion = TAKE(conversion);
        fprintf(e->text, "%s\n", etag);
    }
    return true;
}

/* Whether all files of a recording are there; else it is left out. *good false: replied. */
static bool is_complete(struct export *e, const struct catalog_recording *row, bool *good) {
    struct reel_error err = {0};
    uint64_t size;
    uint32_t k = 0;
    while (k < row->n_parts && store_examine(e->items->store, row->parts[k].sha256, &size, &err)) {
        k++;
    }
    *good = k == row->n_parts || !reel_is_transient(err.code);
    if (!*good) { /* the next try has it */
        http_reply_error(e->r, &err);
    } else if (k < row->n_parts) {
        note_left_out(e, row, err.text);
    }
    return k == row->n_parts;
}

/* The files of a recording as they are. False: replied. */
static bool add_originals(struct export *e, uint32_t i) {
    const struct catalog_recording *row = &e->in->items[i].row;
    bool several = row->n_parts > 1, good, complete = is_complete(e, row, &good);
    for (uint32_t k = 0; good && complete && k < row->n_parts; k++) {
        const struct catalog_part *part = &row->parts[k];
        char *path = NULL;
        struct zip_item *item;
        if (asprintf(&path, "%s/%s%s%s", row->collection, row->name, several ? "/" : "",
                     several ? part->file_name : "") < 0) {
            path = NULL;
        }
        good = add_member(e, i, ORIGINAL, path, &item);
        if (item) {
            memcpy(item->sha256, part->sha256, sizeof item->sha256);
            item->size = part->size;
            fprintf(e->text, "%s\n", part->sha256);
        }
    }
    return good;
}

/* A cut around one event. False: replied. */
static bool add_cut(struct export *e, uint32_t i, const char *format, const struct catalog_event *event,
                    uint32_t number) {
    int64_t cut[2], end = event->end_ns + (event->end_ns == event->start_ns && event->end_ns < INT64_MAX); /* an instant
                                                                                                              is in */
    char label[TITLE_MAX + 16];
    if (__builtin_sub_overflow(event->start_ns, e->before_ns, &cut[0])) {
        cut[0] = REEL_TIME_MIN + 1;
    }
    if (__builtin_add_overflow(end, e->after_ns, &cut[1])) {
        cut[1] = REEL_TIME_MAX;
    }
    size_t title = strlen(event->title) < TITLE_MAX ? strlen(event->title) : TITLE_MAX;
    while (title > 0 && ((unsigned char)event->title[title] & 0xC0) == 0x80) {
        title--; /* do not cut inside a UTF-8 character */
    }
    snprintf(label, sizeof label, ".%03u-%.*s", number, (int)title, event->title);
    for (char *at = label; *at; at++) {
        *at = *at == '/' ? '_' : *at;
    }
    return zip_add_member(e, i, format, label, cut);
}

/* A cut around each event of a recording that has such a title. False: replied. */
static bool add_cuts(struct export *e, uint32_t i, const char *format) {
    struct catalog_event_query q = {.recording = e->in->items[i].row.id, .limit = 1000};
    AUTO_MEM char *cursor = NULL;
    uint32_t number = 0;
    bool good = true;
    do {
        struct catalog_events events;
        struct reel_error err = {0};
        q.cursor = cursor;
        if (!catalog_events_list(http_app(e->r)->catalog, &q, &events, &err)) {
            http_reply_error(e->r, &err);
            return false;
        }
        for (uint32_t k = 0; good && k < events.n; k++) {
            good =
                !reel_glob_match(e->event, events.items[k].title) || add_cut(e, i, format, &events.items[k], ++number);
        }
        free(cursor);
        cursor = TAKE(events.next);
        catalog_events_done(&events);
    } while (good && cursor);
    return good;
}

/* The last member lists what is left out. False: replied. */
static bool add_left_out(struct export *e) {
    if (e->n_left_out == 0) {
        return true;
    }
    char count[24];
    e->items->room++;
    struct zip_item *item = add_item(e, strdup("LEFT-OUT"));
    if (!item || !text_stream_flush(e->left_out) || !(item->text = strdup(e->left_out_text))) {
        if (item) {
            http_reply_no_memory(e->r);
        }
        return false;
    }
    fprintf(e->text, "%s", item->text);
    snprintf(count, sizeof count, "%u", e->n_left_out);
    http_add_header(e->r, "X-Left-Out", count);
    return true;
}

/* The names get their ending, and where they lie in a package. */
static bool end_names(struct export *e) {
    for (uint32_t i = 0; i < e->items->n; i++) {
        struct zip_item *item = &e->items->items[i];
        const char *ending = item->text ? "txt" : item->conversion ? e->members[i].as : NULL;
        char *whole = NULL;
        if (asprintf(&whole, "%s%s%s%s", e->is_bag ? BAG_DATA : "", item->name, ending ? "." : "",
                     ending ? ending : "") < 0) {
            return false;
        }
        free(item->name);
        item->name = whole;
        fprintf(e->text, "%s\n", whole);
    }
    return true;
}

/* No two names are equal, and none is a folder of another. False: replied. */
static bool part_names(struct export *e) {
    struct zip_items *all = e->items;
    struct reel_error err = {0};
    AUTO_MEM struct ustar_name *names = calloc((size_t)all->n + 1, sizeof *names);
    char(*tags)[16] = calloc((size_t)all->n + 1, sizeof *tags);
    for (uint32_t i = 0; names && tags && i < all->n; i++) {
        snprintf(tags[i], sizeof tags[i], "%u", i + 1);
        names[i] = (struct ustar_name){.name = all->items[i].name, .tag = tags[i], .position = i};
    }
    bool good = names && tags ? ustar_part(names, all->n, &err) : reel_fail_memory(&err);
    for (uint32_t i = 0; names && tags && i < all->n; i++) {
        all->items[names[i].position].name = names[i].name;
    }
    free(tags);
    if (!good || !end_names(e)) {
        good ? http_reply_no_memory(e->r) : http_reply_error(e->r, &err);
        return false;
    }
    return true;
}

/* ---- the request */

static bool add_format(struct export *e, uint32_t i, const char *format) {
    return strcmp(format, ORIGINAL) == 0 ? add_originals(e, i)
           : e->event                    ? add_cuts(e, i, format)
                                         : zip_add_member(e, i, format, "", NULL);
}

/* The texts of a package. False: replied. */
static bool end_package(struct export *e) {
    struct reel_error err = {0};
    uint32_t n = e->items->n - (e->n_left_out > 0);
    if (!e->is_bag || bag_add_texts(TAKE(e->bag), e->in, e->members, n, e->items, e->text, &err)) {
        return true;
    }
    http_reply_error(e->r, &err);
    return false;
}

static bool list_members(struct export *e) {
    bool good = true;
    for (uint32_t i = 0; good && i < e->in->n; i++) {
        for (uint32_t k = 0; good && k < e->n_formats; k++) {
            good = add_format(e, i, e->formats[k]);
        }
    }
    if (good && e->items->n == 0 && e->n_left_out == 0) {
        http_reply_problem(e->r, 404, "not-found", "no recording that the search finds has an event of that title");
        return false;
    }
    return good && add_left_out(e) && part_names(e) && end_package(e);
}

static void zip_reply(struct export *e) {
    struct reel_error err = {0};
    char etag[64], job[33] = "";
    if (!text_stream_flush(e->text)) {
        http_reply_no_memory(e->r);
        return;
    }
    api_etag(e->all_text, etag);
    char owner[HTTP_PRINCIPAL];
    const struct derived_request request = {.key = etag,
                                            .subject = "export.zip",
                                            .owner = http_client(e->r, owner),
                                            .wait_ns = api_wait_ns(e->r, API_PLAN_WAIT_NS)};
    AUTO(zip_plan_free)
    struct zip_plan *plan = zip_plan_get(http_app(e->r)->derived, e->items, &request, job, &err);
    if (!plan && job[0]) {
        api_reply_busy(e->r, job, "the archive is being planned; try again");
        return;
    }
    struct zip_archive *archive = plan ? zip_archive_new(e->items, plan, &err) : NULL;
    if (!archive) {
        http_reply_error(e->r, &err);
        return;
    }
    http_reply_file(e->r, &(struct http_file){.length = zip_archive_length(archive),
                                              .etag = etag,
                                              .media_type = "application/zip",
                                              .file_name = "export.zip",
                                              .fd = -1,
                                              .read = zip_archive_read,
                                              .free = zip_archive_free,
                                              .context = archive});
}

/* The memory of a stream of one recording: they are read one after the other. False: replied. */
static bool reserve_one(struct http_request *r, const struct inputs *in) {
    uint32_t most = 0;
    uint64_t largest = 0;
    for (uint32_t i = 0; i < in->n; i++) {
        uint64_t payload = reel_index_info(reel_recording_index(in->recordings[i]))->largest_payload;
        most = payload > largest ? i : most;
        largest = payload > largest ? payload : largest;
    }
    return api_reserve_stream(r, &in->recordings[most], 1, API_DECODES | API_CONVERTS, 0);
}

void api_search_zip(struct http_request *r) {
    AUTO_STRUCT(export_done) struct export e = {.r = r};
    struct reel_error err = {0};
    if (!read_params(&e) || !(e.in = http_param(r, "recording") ? inputs_named(r, NULL) : inputs_found(r, NULL))) {
        return;
    }
    e.text = open_memstream(&e.all_text, &e.all_size);
    e.left_out = open_memstream(&e.left_out_text, &e.left_out_size);
    e.items = zip_items_new(MEMBERS_MAX + 1 + BAG_TEXTS, &err); /* and what is left out */
    e.members = calloc(MEMBERS_MAX + 1, sizeof *e.members);
    if (!e.text || !e.left_out || !e.items || !e.members) {
        http_reply_no_memory(r);
        return;
    }
    e.items->room = MEMBERS_MAX;
    e.items->store = http_app(r)->store;
    if (reserve_one(r, e.in) && list_members(&e)) {
        zip_reply(&e);
    }
}
