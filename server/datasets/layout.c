/* See layout.h. */
#include "datasets/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "chunks/spool.h"
#include "decode/encoding.h"
#include "json_whole.h"
#include "recordings/names.h"
#include "scans/open_recordings.h"
#include "work/derived_cache.h"

static const int64_t OPEN_WAIT_NS = INT64_C(600000000000); /* for the index of a recording */
static const unsigned LAYOUT_VERSION = 1;                  /* of all bytes that are made here and in lib/datasets */

/* ---- references */

struct dataset_layout *layout_ref(struct dataset_layout *l) {
    atomic_fetch_add(&l->references, 1);
    return l;
}

static void episode_done(struct layout_episode *e) {
    dataset_episode_done(&e->e);
    free(e->name);
    free(e->task);
    free(e->problem);
}

void layout_free(struct dataset_layout *l) {
    if (!l || atomic_fetch_sub(&l->references, 1) != 1) {
        return;
    }
    for (uint32_t i = 0; i < l->n_episodes; i++) {
        episode_done(&l->episodes[i]);
    }
    for (uint32_t i = 0; i < l->n_files; i++) {
        grow_done(&l->files[i].data);
    }
    free(l->episodes);
    free(l->tasks);
    free(l->files);
    json_decref(l->value);
    free(l);
}

/* ---- which recordings */

static char *task_of(const struct catalog_recording *row) {
    const struct catalog_annotations *a = &row->annotations;
    for (uint32_t i = 0; i < a->n_tags; i++) {
        if (strcmp(a->tags[i].key, "task") == 0 && a->tags[i].value[0]) {
            return strdup(a->tags[i].value);
        }
    }
    return strdup(a->description && a->description[0] ? a->description : names_file(row->name));
}

static bool add_recording(struct dataset_layout *l, const struct catalog_recording *row, struct reel_error *err) {
    struct layout_episode *e = &l->episodes[l->n_episodes++];
    memcpy(e->id, row->id, sizeof e->id);
    memcpy(e->content, row->content, sizeof e->content);
    e->task = task_of(row);
    if (asprintf(&e->name, "%s/%s", row->collection, row->name) < 0) {
        e->name = NULL;
    }
    return (e->name && e->task) || reel_fail_memory(err);
}

static bool find_search(struct app *app, struct dataset_layout *l, const struct layout_request *q,
                        struct reel_error *err) {
    struct catalog_query query = l->definition.query;
    struct catalog_page page;
    query.limit = q->max > 0 ? q->max : DATASET_EPISODES_MAX;
    query.allowed = q->allowed;
    if (!catalog_list(app->catalog, &query, &page, err)) {
        return false;
    }
    bool good = !page.next || q->max > 0 ||
                reel_fail(err, REEL_LIMIT, "the search finds more than %d recordings: narrow it", DATASET_EPISODES_MAX);
    for (uint32_t i = 0; good && i < page.n_items; i++) {
        good = add_recording(l, &page.items[i], err);
    }
    catalog_page_done(&page);
    return good;
}

static bool is_allowed(const struct layout_request *q, const struct catalog_recording *row) {
    const struct http_caller caller = {.collections = q->allowed};
    return row->state == STATE_READY && http_caller_sees(&caller, row->collection);
}

static bool find_ids(struct app *app, struct dataset_layout *l, const struct layout_request *q,
                     struct reel_error *err) {
    size_t n = json_array_size(l->definition.recordings);
    for (size_t i = 0; i < n && (q->max == 0 || i < q->max); i++) {
        AUTO_STRUCT(catalog_recording_done) struct catalog_recording row = {0};
        const char *id = json_string_value(json_array_get(l->definition.recordings, i));
        if (!catalog_get(app->catalog, id, &row, err)) {
            return false;
        }
        if (!is_allowed(q, &row)) {
            return reel_fail(err, REEL_NOT_FOUND, "%s", catalog_not_found(id));
        }
        if (!add_recording(l, &row, err)) {
            return false;
        }
    }
    return true;
}

static void digest_text(struct digest *d, const char *text) {
    digest_add(d, text, strlen(text) + 1);
}

/* Over all that the bytes depend on. */
static bool name_layout(struct dataset_layout *l, struct reel_error *err) {
    AUTO_MEM char *text = json_whole_text(l->value, JSON_COMPACT);
    unsigned versions[] = {LAYOUT_VERSION, reel_decoders_version()};
    struct digest d;
    if (!text) {
        return reel_fail_memory(err);
    }
    digest_start(&d, DIGEST_SHA1);
    digest_add(&d, versions, sizeof versions);
    digest_text(&d, text);
    for (uint32_t i = 0; i < l->n_episodes; i++) {
        digest_text(&d, l->episodes[i].id);
        digest_text(&d, l->episodes[i].content);
        digest_text(&d, l->episodes[i].name);
        digest_text(&d, l->episodes[i].task);
    }
    digest_end_hex(&d, l->sha);
    return true;
}

/* ---- planning */

static bool count_bytes(void *context, const char *data, size_t size) {
    digest_add(context, data, size);
    return true;
}

/* Sources that have other widths than those of the first episode. */
static bool fits(const struct dataset_layout *l, const struct layout_episode *e) {
    for (const struct layout_episode *first = l->episodes; first < e; first++) {
        if (!first->problem) {
            return memcmp(first->e.widths, e->e.widths, e->e.n_sources * sizeof *e->e.widths) == 0;
        }
    }
    return true;
}

static int64_t number_task(struct dataset_layout *l, const char *task) {
    uint32_t i = 0;
    while (i < l->n_tasks && strcmp(l->tasks[i], task) != 0) {
        i++;
    }
    if (i == l->n_tasks) {
        l->tasks[l->n_tasks++] = task;
    }
    return i;
}

static bool plan_episode(struct dataset_layout *l, struct layout_episode *e, struct reel_recording *recording,
                         const struct reel_progress *progress, struct reel_error *err) {
    struct digest d;
    const struct reel_text_sink sink = {count_bytes, &d};
    if (!dataset_episode_plan(recording, &l->definition.spec, progress, &e->e, err)) {
        return false;
    }
    if (e->e.frames == 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "no frame has all values");
    }
    if (!fits(l, e)) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         "its features have other numbers of values than those of the first episode");
    }
    e->place = (struct dataset_place){l->n_good, (int64_t)l->frames, number_task(l, e->task)};
    digest_start(&d, DIGEST_SHA256);
    if (!dataset_episode_write(recording, &l->definition.spec, &e->place, &sink, &e->e, &e->e, err)) {
        return false;
    }
    e->size = d.size;
    digest_end_hex(&d, e->sha256);
    return true;
}

static struct reel_recording *open_recording(struct app *app, const struct layout_episode *e, struct reel_error *err) {
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording row = {0};
    char job[JOB_ID_TEXT];
    if (!catalog_get(app->catalog, e->id, &row, err)) {
        return NULL;
    }
    if (row.state != STATE_READY || strcmp(row.content, e->content) != 0) {
        reel_fail(err, REEL_CHANGED, "a recording of the dataset is not what it was");
        return NULL;
    }
    return recordings_get_resting(app->recordings, &row, OPEN_WAIT_NS, job, err);
}

/* What is wrong with one recording leaves it out, and is reported. */
static bool plan_or_leave_out(struct app *app, struct dataset_layout *l, struct layout_episode *e,
                              const struct reel_progress *progress, struct reel_error *err) {
    struct reel_error why = {0};
    AUTO(reel_recording_free) struct reel_recording *recording = open_recording(app, e, &why);
    if (recording && plan_episode(l, e, recording, progress, &why)) {
        l->n_good++;
        l->frames += e->e.frames;
        return true;
    }
    if (reel_is_transient(why.code)) {
        return reel_error_pass(err, &why);
    }
    e->problem = strdup(why.text);
    return e->problem || reel_fail_memory(err);
}

struct planning {
    struct app *app;
    struct dataset_layout *layout;
};

static void planning_free(void *context) {
    struct planning *p = context;
    layout_free(p->layout);
    free(p);
}

static uint64_t memory_of(const struct dataset_layout *l) {
    uint64_t sum = sizeof *l + l->n_files * sizeof *l->files;
    for (uint32_t i = 0; i < l->n_episodes; i++) {
        const struct dataset_episode *e = &l->episodes[i].e;
        sum += sizeof l->episodes[i] + 512 + e->n_numbers * (sizeof *e->stats + 48) + e->n_sources * 32;
    }
    for (uint32_t i = 0; i < l->n_files; i++) {
        sum += l->files[i].data.capacity;
    }
    return sum;
}

static bool make_layout(void *context, const struct reel_progress *progress, void **object, uint64_t *memory,
                        struct reel_error *err) {
    const struct planning *p = context;
    struct dataset_layout *l = p->layout;
    bool good = (l->tasks = calloc((size_t)l->n_episodes + 1, sizeof *l->tasks)) || reel_fail_memory(err);
    for (uint32_t i = 0; good && i < l->n_episodes; i++) {
        good = plan_or_leave_out(p->app, l, &l->episodes[i], progress, err);
    }
    if (!good || !layout_put_meta(l, err)) {
        return false;
    }
    *memory = memory_of(l);
    *object = layout_ref(l);
    return true;
}

static void *ref_layout(void *layout) {
    return layout_ref(layout);
}
static void unref_layout(void *layout) {
    layout_free(layout);
}

static struct dataset_layout *new_layout(struct app *app, const struct layout_request *q, struct reel_error *err) {
    AUTO(layout_free) struct dataset_layout *l = calloc(1, sizeof *l);
    if (!l || !(l->episodes = calloc(DATASET_EPISODES_MAX, sizeof *l->episodes))) {
        if (l) {
            atomic_init(&l->references, 1);
        }
        reel_fail_memory(err);
        return NULL;
    }
    atomic_init(&l->references, 1);
    if (!(l->value = json_deep_copy(q->value))) {
        reel_fail_memory(err);
        return NULL;
    }
    if (!dataset_definition_read(l->value, &l->definition, err) ||
        !(l->definition.recordings ? find_ids : find_search)(app, l, q, err) || !name_layout(l, err)) {
        return NULL;
    }
    return TAKE(l);
}

struct dataset_layout *layout_get(struct app *app, const struct layout_request *q, char job[33],
                                  struct reel_error *err) {
    static const struct derived_kind kind = {
        .job = "plan", .make = make_layout, .free_context = planning_free, .ref = ref_layout, .unref = unref_layout};
    char key[SHA1_HEX + 16];
    job[0] = '\0';
    struct dataset_layout *l = new_layout(app, q, err);
    if (!l) {
        return NULL;
    }
    snprintf(key, sizeof key, "dataset %s", l->sha);
    const struct derived_request derived = {.key = key, .subject = "dataset", .owner = q->owner, .wait_ns = q->wait_ns};
    struct planning *p = calloc(1, sizeof *p);
    if (!p) {
        layout_free(l);
    } else {
        *p = (struct planning){app, l};
    }
    return derived_get(app->derived, &kind, &derived, p, job, err);
}

/* ---- files */

static int compare_path(const void *key, const void *file) {
    return strcmp(key, ((const struct layout_file *)file)->path);
}

const struct layout_file *layout_file(const struct dataset_layout *l, const char *path) {
    return bsearch(path, l->files, l->n_files, sizeof *l->files, compare_path);
}

struct spooling {
    int fd;
    struct digest digest;
    bool failed;
};
static bool spool_bytes(void *context, const char *data, size_t size) {
    struct spooling *s = context;
    digest_add(&s->digest, data, size);
    s->failed = !disk_write_all(s->fd, data, size);
    return !s->failed;
}

int layout_episode_open(struct app *app, const struct dataset_layout *l, const struct layout_episode *episode,
                        struct reel_error *err) {
    AUTO(reel_recording_free) struct reel_recording *recording = open_recording(app, episode, err);
    AUTO_FD int fd = recording ? spool_open(NULL, err) : -1;
    struct spooling s = {.fd = fd};
    const struct reel_text_sink sink = {spool_bytes, &s};
    char hex[SHA256_HEX];
    if (fd < 0) {
        return -1;
    }
    digest_start(&s.digest, DIGEST_SHA256);
    if (!dataset_episode_write(recording, &l->definition.spec, &episode->place, &sink, &episode->e, NULL, err)) {
        return s.failed ? (reel_fail_errno(err, "could not write a temporary file"), -1) : -1;
    }
    digest_end_hex(&s.digest, hex);
    if (strcmp(hex, episode->sha256) != 0) {
        reel_fail(err, REEL_CHANGED, "an episode is not what was planned");
        return -1;
    }
    int taken = fd;
    fd = -1;
    return taken;
}
