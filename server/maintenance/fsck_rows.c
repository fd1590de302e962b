/* Checks each recording of the catalog against its files, index and manifest. While a server runs, a finding is
 * verified against the row as it is by then. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "catalog/maintenance.h"
#include "index/index.h"
#include "maintenance/fsck_internal.h"
#include "manifests/manifests.h"
#include "scans/scanning.h"
#include "store/inspect.h"
#include "store/manifest.h"
#include "store/reference.h"
#include "store/roots.h"

static void fsck_rows_name_of(const struct catalog_recording *r, char out[320]) {
    snprintf(out, 320, "%.32s (%.120s/%.150s)", r->id, r->collection, r->name);
}

/* Whether the row is still as it was when it was read; alone, it is. */
static bool is_as_it_was(struct fsck *f, const struct catalog_recording *r) {
    struct catalog_recording now;
    struct reel_error none;
    if (f->report->alone) {
        return true;
    }
    if (!catalog_get(f->app.catalog, r->id, &now, &none)) {
        return false;
    }
    bool same = now.updated_ns == r->updated_ns;
    catalog_recording_done(&now);
    return same;
}

/* ---- files */

static const char *repair_file(struct fsck *f, const struct catalog_recording *r, const char *sha256, bool there,
                               const char *why) {
    struct reel_error err;
    if (!f->repair || (there && !store_set_aside(f->app.store, sha256, "", &err)) ||
        !catalog_set_state(f->app.catalog, r->id, STATE_MISSING, why, &err)) {
        return NULL;
    }
    f->wrote = true;
    return there ? "moved to lost+found, the recording is missing it now" : "the recording is missing it now";
}

/* A referenced file; true: unchanged, or below none of the roots. */
static bool check_reference(struct fsck *f, const struct catalog_recording *r, const char *sha256,
                            const char *subject) {
    enum recording_state now = r->state == STATE_TRASHED ? r->state_before_trash : r->state;
    struct store_reference ref;
    struct reel_error why = {0}, ignored;
    if (!store_load_reference(f->app.store, sha256, &ref, &why) || !roots_below(f->app.roots, ref.path)) {
        f->report->elsewhere++;
        return true;
    }
    AUTO_FD int fd = store_open_reference(f->app.store, sha256, &why);
    if (fd >= 0) {
        return true;
    }
    enum recording_state then = why.code == REEL_NOT_FOUND ? STATE_MISSING : STATE_CHANGED;
    /* else the catalog has that state already */
    if (now != STATE_MISSING && now != STATE_CHANGED && is_as_it_was(f, r)) {
        bool repaired = f->repair && !reel_is_transient(why.code) &&
                        catalog_set_state(f->app.catalog, r->id, then, why.text, &ignored);
        f->wrote = f->wrote || repaired;
        fsck_found(f, FSCK_FILE, subject,
                   !repaired               ? NULL
                   : then == STATE_MISSING ? "the recording is missing it now"
                                           : "the recording is changed now",
                   "its file %s, which is not copied: %s", sha256, why.text);
    }
    return false;
}

/* True: all exist. */
static bool check_files(struct fsck *f, const struct catalog_recording *r, const char *subject) {
    bool whole = true, known = (r->state == STATE_TRASHED ? r->state_before_trash : r->state) == STATE_MISSING;
    for (uint32_t i = 0; i < r->n_parts; i++) {
        const struct catalog_part *part = &r->parts[i];
        uint64_t size, unused;
        bool there = store_file_size(f->app.store, part->sha256, "", &size),
             elsewhere = !there && store_file_size(f->app.store, part->sha256, ".ref", &unused);
        if ((there && size == part->size) || !whole) {
            continue;
        }
        if (elsewhere) {
            whole = check_reference(f, r, part->sha256, subject);
            continue;
        }
        whole = false;
        if (known || !is_as_it_was(f, r)) {
            continue; /* the catalog has it already */
        }
        if (!there) {
            fsck_found(f, FSCK_FILE, subject, repair_file(f, r, part->sha256, false, "the stored file is gone"),
                       "its file %s is gone", part->sha256);
        } else {
            fsck_found(f, FSCK_FILE, subject, repair_file(f, r, part->sha256, true, "the stored file had another size"),
                       "its file %s has %llu bytes instead of %llu", part->sha256, (unsigned long long)size,
                       (unsigned long long)part->size);
        }
    }
    return whole;
}

/* ---- the index */

/* Without jobs: no other thread uses the archive. */
static const char *repair_index(struct fsck *f, const struct catalog_recording *r) {
    struct reel_error err = {0};
    struct catalog_recording now = {0};
    AUTO(reel_index_free) struct reel_index *index = NULL;
    if (!f->repair) {
        return NULL;
    }
    f->wrote = true;
    bool scanned = scan_content(&f->app, r, *r->format ? reel_format_named(r->format) : NULL, NULL, &err) &&
                   (index = scan_open_pack(&f->app, r->content, &err)) &&
                   catalog_get(f->app.catalog, r->id, &now, &err) && scan_fill(&now, index, &err) &&
                   catalog_update_scan(f->app.catalog, &now, index, &err);
    catalog_recording_done(&now);
    if (!scanned) {
        catalog_set_state(f->app.catalog, r->id, STATE_FAILED, err.text, NULL);
    }
    return scanned ? "rebuilt" : "the recording is now marked as failed";
}

/* After an upgrade: it is made again when the recording is opened. */
static bool is_pack_of_another_version(struct fsck *f, const char *content) {
    struct reel_error ignored;
    char path[PATH_MAX];
    AUTO_FD int fd = store_open_file(f->app.store, content, STORE_PACK, false, path, sizeof path, &ignored);
    return fd >= 0 && index_is_of_another_version(fd);
}

static void check_index(struct fsck *f, const struct catalog_recording *r, const char *subject) {
    struct reel_error why = {0};
    AUTO(reel_index_free) struct reel_index *index = scan_open_pack(&f->app, r->content, &why);
    bool broken = !index || !reel_index_verify(index, &why);
    if (broken && !is_pack_of_another_version(f, r->content) && is_as_it_was(f, r)) {
        fsck_found(f, FSCK_INDEX, subject, repair_index(f, r), "its index: %s",
                   why.code == REEL_NOT_FOUND ? "it is gone" : why.text);
    }
}

/* What a robot has announced cannot be made again here. */
static void check_announced(struct fsck *f, const struct catalog_recording *r, const char *subject) {
    struct reel_error why = {0};
    AUTO(reel_index_free) struct reel_index *index = scan_open_announced(&f->app, r->content, &why);
    if ((!index || !reel_index_verify(index, &why)) && is_as_it_was(f, r)) {
        fsck_found(f, FSCK_INDEX, subject, NULL, "its index, which the robot has sent: %s",
                   why.code == REEL_NOT_FOUND ? "it is gone" : why.text);
    }
}

/* ---- the manifest */

static bool has_text(const json_t *item, const char *key, const char *text) {
    const char *its = json_string_value(json_object_get(item, key));
    return strcmp(its ? its : "", text ? text : "") == 0;
}

static bool has_tags(const json_t *item, const struct catalog_annotations *annotations) {
    const json_t *tags = json_object_get(item, "tags");
    bool same = json_object_size(tags) == annotations->n_tags;
    for (uint32_t i = 0; i < annotations->n_tags && same; i++) {
        same = has_text(tags, annotations->tags[i].key, annotations->tags[i].value);
    }
    return same;
}

static bool has_parts(const json_t *manifest, const struct catalog_recording *r) {
    const json_t *parts = json_object_get(manifest, "parts");
    bool same = json_array_size(parts) == r->n_parts;
    for (uint32_t i = 0; i < r->n_parts && same; i++) {
        same = has_text(json_array_get(parts, i), "sha256", r->parts[i].sha256);
    }
    return same;
}

/* How it differs from the catalog; NULL: it does not. */
static const char *difference(const json_t *manifest, const struct catalog_recording *r) {
    const json_t *item = store_manifest_entry(manifest, r->id), *epoch = json_object_get(item, "epoch_ns");
    if (!item) {
        return "it does not name the recording";
    }
    if (!has_text(item, "collection", r->collection) || !has_text(item, "name", r->name) ||
        json_integer_value(json_object_get(item, "revision")) != (json_int_t)r->revision) {
        return "it has another name";
    }
    if (!has_text(item, "state", recording_state_name(r->state))) {
        return "it has another state";
    }
    if (!has_parts(manifest, r)) {
        return "it has other files";
    }
    bool annotations = has_text(item, "group", r->group) && has_text(item, "announced", r->announced) &&
                       has_text(item, "description", r->annotations.description) && has_tags(item, &r->annotations) &&
                       json_is_integer(epoch) == r->annotations.has_epoch &&
                       json_integer_value(epoch) == (r->annotations.has_epoch ? r->annotations.epoch_ns : 0) &&
                       has_text(item, "clock", r->annotations.has_clock ? clock_name(r->annotations.clock) : "") &&
                       json_array_size(json_object_get(item, "notes")) == r->annotations.notes &&
                       json_array_size(json_object_get(item, "events")) == r->annotations.events;
    return annotations ? NULL : "it differs from the catalog";
}

static void check_manifest(struct fsck *f, const struct catalog_recording *r, const char *subject) {
    struct reel_error why = {0}, ignored;
    bool due = false;
    json_t *manifest = store_load_manifest(f->app.store, r->content, &why);
    const char *wrong = manifest ? difference(manifest, r) : why.code == REEL_NOT_FOUND ? "it is gone" : why.text;
    if (wrong && catalog_manifest_is_due(f->app.catalog, r->row, &due, &ignored) && !due && is_as_it_was(f, r)) {
        bool repaired =
            f->repair &&
            (manifest || why.code == REEL_NOT_FOUND || store_set_aside(f->app.store, r->content, ".json", &ignored)) &&
            catalog_manifest_mark(f->app.catalog, r->id, &ignored);
        f->wrote = f->wrote || repaired;
        fsck_found(f, FSCK_MANIFEST, subject, repaired ? "written again" : NULL, "its manifest: %s", wrong);
    }
    json_decref(manifest);
}

static bool fsck_rows_visit(void *context, const struct catalog_recording *r) {
    struct fsck *f = context;
    char subject[320];
    fsck_rows_name_of(r, subject);
    enum recording_state state = r->state == STATE_TRASHED ? r->state_before_trash : r->state;
    if (check_files(f, r, subject) && state == STATE_READY) {
        check_index(f, r, subject);
    } else if (state == STATE_ANNOUNCED) {
        check_announced(f, r, subject);
    }
    check_manifest(f, r, subject);
    return fsck_step(f, ++f->report->recordings);
}

bool fsck_rows(struct fsck *f, struct reel_error *err) {
    return catalog_each(f->app.catalog, fsck_rows_visit, f, err) &&
           (f->error.code == REEL_OK || reel_fail(err, f->error.code, "%s", f->error.text));
}
