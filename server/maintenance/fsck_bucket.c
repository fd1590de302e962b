/* Checks what uploads have put into the bucket against the catalog, the upload sessions and the manifests. What is
 * younger than the age asked for may belong to an upload that another server is taking. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "catalog/objects.h"
#include "maintenance/fsck_internal.h"
#include "reel/time.h"
#include "store/bucket/sent.h"

struct lost { /* an object that neither the catalog nor a session names */
    char name[33];
    bool named; /* by a manifest */
    uint64_t bytes;
    int64_t at_s;
};
struct search {
    struct fsck *f;
    int64_t before_s;
    struct lost *items;
    size_t n, room;
    bool unreadable; /* a manifest is, and may name any of them */
};

static bool fsck_bucket_is_known(struct fsck *f, const struct store_sent *sent, bool *known) {
    char location[64];
    snprintf(location, sizeof location, "objects/%.32s", sent->name);
    return catalog_object_in_session(f->app.catalog, sent->name, known, &f->error) &&
           (*known || sent->kind != SENT_OBJECT || catalog_object_known(f->app.catalog, location, known, &f->error));
}

static bool add_lost(struct search *s, const struct store_sent *sent) {
    if (s->n == s->room) {
        size_t room = s->room ? 2 * s->room : 64;
        struct lost *more = realloc(s->items, room * sizeof *more);
        if (!more) {
            return reel_fail_memory(&s->f->error);
        }
        s->items = more;
        s->room = room;
    }
    struct lost *one = &s->items[s->n++];
    *one = (struct lost){.bytes = sent->bytes, .at_s = sent->at_s};
    snprintf(one->name, sizeof one->name, "%s", sent->name);
    return true;
}

static void report_leftover(struct fsck *f, const struct store_sent *sent) {
    struct reel_error ignored;
    char subject[64];
    bool parts = sent->kind == SENT_PARTS, removed = f->repair && store_remove_sent(f->app.store, sent, &ignored);
    snprintf(subject, sizeof subject, "%s/%.32s", parts ? "objects" : "incoming", sent->name);
    fsck_found(f, FSCK_LEFTOVER, subject, removed ? "removed" : NULL,
               parts ? "parts of an object that no upload will complete"
                     : "the end of an upload that cannot be resumed");
}

static bool visit_sent(void *context, const struct store_sent *sent) {
    struct search *s = context;
    struct fsck *f = s->f;
    bool known;
    f->report->files += sent->kind == SENT_OBJECT;
    if (!fsck_step(f, f->report->recordings + f->report->files) || !fsck_bucket_is_known(f, sent, &known)) {
        return false;
    }
    if (known) {
        return true;
    }
    if (sent->at_s > s->before_s) {
        f->report->under_way++;
        return true;
    }
    if (sent->kind == SENT_OBJECT) {
        return add_lost(s, sent);
    }
    report_leftover(f, sent);
    return true;
}

/* ---- objects */

static int fsck_bucket_by_name(const void *a, const void *b) {
    return strcmp(((const struct lost *)a)->name, ((const struct lost *)b)->name);
}

static bool note_named(void *context, const char *location) {
    struct search *s = context;
    struct lost key;
    static const char folder[] = "objects/";
    if (!location) {
        s->unreadable = true;
    } else if (strncmp(location, folder, sizeof folder - 1) == 0) {
        snprintf(key.name, sizeof key.name, "%s", location + sizeof folder - 1);
        struct lost *one = bsearch(&key, s->items, s->n, sizeof *s->items, fsck_bucket_by_name);
        if (one) {
            one->named = true;
        }
    }
    return fsck_step(s->f, s->f->report->recordings + s->f->report->files);
}

/* Asked again: the catalog may know it by now. */
static bool remove_lost(struct fsck *f, const struct lost *one) {
    const struct store_sent sent = {.kind = SENT_OBJECT, .name = one->name};
    struct reel_error ignored;
    bool known;
    return fsck_bucket_is_known(f, &sent, &known) && !known && store_remove_sent(f->app.store, &sent, &ignored);
}

static void report_lost(const struct search *s, const struct lost *one) {
    struct fsck *f = s->f;
    char subject[64], when[REEL_TIME_TEXT];
    const char *stays = !f->repair      ? ""
                        : s->unreadable ? "; it stays, because a manifest cannot be read"
                        : f->made_new   ? "; it stays, because the catalog has just been made again"
                                        : NULL;
    bool removed = !stays && remove_lost(f, one);
    snprintf(subject, sizeof subject, "objects/%s", one->name);
    reel_time_rfc3339(one->at_s * 1000000000, when);
    fsck_found(f, FSCK_ORPHAN, subject, removed ? "removed" : NULL,
               "no recording, manifest or upload names this object of %" PRIu64 " bytes, written %s%s", one->bytes,
               when, stays ? stays : "");
}

bool fsck_bucket(struct fsck *f, struct reel_error *err) {
    struct search s = {.f = f, .before_s = f->began_ns / 1000000000 - (int64_t)f->options->leftover_s};
    bool good = store_each_sent(f->app.store, true, visit_sent, &s, err) &&
                (f->error.code == REEL_OK || reel_error_pass(err, &f->error));
    if (good && s.n > 0) {
        qsort(s.items, s.n, sizeof *s.items, fsck_bucket_by_name);
        good = store_each_named(f->app.store, note_named, &s, err) &&
               (f->error.code == REEL_OK || reel_error_pass(err, &f->error));
    }
    for (size_t i = 0; good && i < s.n; i++) {
        if (!s.items[i].named) {
            report_lost(&s, &s.items[i]);
        }
    }
    free(s.items);
    return good;
}
