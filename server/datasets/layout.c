/* See layout.h. */
#include "datasets/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "catalog/notes.h"
#include "datasets/layout_internal.h"
#include "json_whole.h"
#include "recordings/names.h"
#include "work/derived_cache.h"

/* ---- references */

struct dataset_layout *layout_ref(struct dataset_layout *l) {
    atomic_fetch_add(&l->references, 1);
    return l;
}

static void episode_done(struct layout_episode *e) {
    dataset_episode_done(&e->e);
    free(e->videos);
    free(e->name);
    free(e->task);
    free(e->event);
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

static struct layout_episode *add_episode(struct dataset_layout *l, const struct catalog_recording *row,
                                          struct reel_error *err) {
    if (l->n_episodes == DATASET_EPISODES_MAX) {
        reel_fail(err, REEL_LIMIT, "a dataset has at most %d episodes: narrow its search", DATASET_EPISODES_MAX);
        return NULL;
    }
    struct layout_episode *e = &l->episodes[l->n_episodes++];
    memcpy(e->id, row->id, sizeof e->id);
    memcpy(e->content, row->content, sizeof e->content);
    e->clock = made_clock(row);
    e->task = task_of(row);
    if (asprintf(&e->name, "%s%s%s", row->collection, row->collection[0] ? "/" : "", row->name) < 0) {
        e->name = NULL;
    }
    return (e->name && e->task) || reel_fail_memory(err) ? e : NULL;
}

static bool has_room(const struct dataset_layout *l, const struct layout_request *q) {
    return q->max == 0 || l->n_episodes < q->max;
}

/* The tag `task` of an event names that of its episode. */
static bool take_event(struct layout_episode *e, const struct catalog_event *event,
                       const struct dataset_definition *d) {
    json_auto_t *tags = event->tags && event->tags[0] ? json_loads(event->tags, 0, NULL) : NULL;
    const char *task = json_string_value(json_object_get(tags, "task"));
    char *own = task && *task ? strdup(task) : NULL;
    if (own) {
        free(e->task);
        e->task = own;
    }
    e->is_cut = true;
    e->event = strdup(event->title);
    if (__builtin_sub_overflow(event->start_ns, d->before_ns, &e->cut.start_ns)) {
        e->cut.start_ns = INT64_MIN;
    }
    int64_t last_ns = event->end_ns - (event->end_ns > event->start_ns); /* the end is out */
    if (__builtin_add_overflow(last_ns, d->after_ns, &e->cut.end_ns)) {
        e->cut.end_ns = INT64_MAX;
    }
    return e->event && (own || !task || !*task);
}

static bool add_cuts(struct dataset_layout *l, const struct layout_request *q, const struct catalog_recording *row,
                     const struct catalog_events *page, struct reel_error *err) {
    const struct dataset_definition *d = &l->definition;
    for (uint32_t i = 0; i < page->n && has_room(l, q); i++) {
        if (d->title && !reel_glob_match(d->title, page->items[i].title)) {
            continue;
        }
        struct layout_episode *e = add_episode(l, row, err);
        if (!e || !take_event(e, &page->items[i], d)) {
            return e ? reel_fail_memory(err) : false;
        }
    }
    return true;
}

static bool add_recording(struct app *app, struct dataset_layout *l, const struct layout_request *q,
                          const struct catalog_recording *row, struct reel_error *err) {
    AUTO_MEM char *cursor = NULL;
    if (!l->definition.cuts) {
        return add_episode(l, row, err);
    }
    for (bool more = true; more && has_room(l, q);) {
        AUTO_STRUCT(catalog_events_done) struct catalog_events page = {0};
        const struct catalog_event_query events = {
            .recording = row->id, .limit = DATASET_EPISODES_MAX, .cursor = cursor};
        if (!catalog_events_list(app->catalog, &events, &page, err) || !add_cuts(l, q, row, &page, err)) {
            return false;
        }
        free(cursor);
        cursor = TAKE(page.next);
        more = cursor;
    }
    return true;
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
        good = !has_room(l, q) || add_recording(app, l, q, &page.items[i], err);
    }
    catalog_page_done(&page);
    return good;
}

/* What the definition names but the catalog does not have; `problem` says why. */
static bool add_missing(struct dataset_layout *l, const struct catalog_recording *row, const char *problem,
                        struct reel_error *err) {
    struct layout_episode *e = add_episode(l, row, err);
    return e && ((e->problem = strdup(problem)) || reel_fail_memory(err));
}

/* A preview is of what is being written: there it is a mistake. */
static bool add_unknown(struct dataset_layout *l, const struct layout_request *q, const char *key,
                        struct reel_error *err) {
    if (q->max > 0) {
        return reel_fail(err, REEL_NOT_FOUND, "%s: %s", key, catalog_not_found(key));
    }
    struct catalog_recording none = {.collection = (char *)"", .name = (char *)key};
    snprintf(none.id, sizeof none.id, "%s", key);
    return add_missing(l, &none, catalog_not_found(key), err);
}

static bool add_unready(struct dataset_layout *l, const struct catalog_recording *row, struct reel_error *err) {
    char problem[64];
    if (row->state == STATE_SCANNING) { /* which passes: no copy of the dataset is to lose its files meanwhile */
        return reel_fail(err, REEL_BUSY, "a recording of the dataset is being scanned; try again");
    }
    snprintf(problem, sizeof problem, "the recording is not ready: it is %s", recording_state_name(row->state));
    return add_missing(l, row, problem, err);
}

/* The others stay a dataset when one was deleted: it is left out, and reported. */
static bool find_ids(struct app *app, struct dataset_layout *l, const struct layout_request *q,
                     struct reel_error *err) {
    const struct http_caller caller = {.collections = q->allowed};
    size_t n = json_array_size(l->definition.recordings);
    bool good = true;
    for (size_t i = 0; good && i < n && has_room(l, q) && (q->max == 0 || i < q->max); i++) {
        AUTO_STRUCT(catalog_recording_done) struct catalog_recording row = {0};
        struct reel_error why = {0};
        const char *key = json_string_value(json_array_get(l->definition.recordings, i));
        bool found = catalog_get(app->catalog, key, &row, &why);
        if (!found && why.code != REEL_NOT_FOUND) {
            return reel_error_pass(err, &why);
        }
        good = !found || !http_caller_sees(&caller, row.collection) ? add_unknown(l, q, key, err)
               : row.state != STATE_READY                           ? add_unready(l, &row, err)
                                                                    : add_recording(app, l, q, &row, err);
    }
    return good;
}

static void digest_text(struct digest *d, const char *text) {
    digest_add(d, text, strlen(text) + 1);
}

/* Over all that the bytes depend on. */
static bool name_layout(struct dataset_layout *l, struct reel_error *err) {
    AUTO_MEM char *text = json_whole_text(l->value, JSON_COMPACT);
    unsigned version = made_version();
    struct digest d;
    if (!text) {
        return reel_fail_memory(err);
    }
    digest_start(&d, DIGEST_SHA1);
    digest_add(&d, &version, sizeof version);
    digest_text(&d, text);
    for (uint32_t i = 0; i < l->n_episodes; i++) {
        digest_text(&d, l->episodes[i].id);
        digest_text(&d, l->episodes[i].content);
        digest_text(&d, l->episodes[i].name);
        digest_text(&d, l->episodes[i].task);
        made_add_number(&d, l->episodes[i].clock);
        digest_text(&d, l->episodes[i].event ? l->episodes[i].event : "");
        digest_add(&d, &l->episodes[i].cut, sizeof l->episodes[i].cut);
        digest_text(&d, l->episodes[i].problem ? l->episodes[i].problem : "");
    }
    digest_end_hex(&d, l->sha);
    return true;
}

/* ---- planning */

/* The first episode; all others have its shapes. */
static const struct layout_episode *first_good(const struct dataset_layout *l) {
    const struct layout_episode *e = l->episodes;
    while (l->n_good > 0 && e->problem) {
        e++;
    }
    return e;
}

static bool same_shapes(const struct dataset_episode *a, const struct dataset_episode *b) {
    for (uint32_t i = 0; i < a->n_sources; i++) {
        const struct dataset_picture *x = &a->pictures[i], *y = &b->pictures[i];
        if (a->widths[i] != b->widths[i] || x->width != y->width || x->height != y->height ||
            (x->video == DATASET_H265) != (y->video == DATASET_H265)) {
            return false;
        }
    }
    return true;
}

/* Frames a second, rounded: of a clock its mean rate. */
static int64_t rate_of(const struct dataset_episode *e) {
    int64_t span = (int64_t)((uint64_t)e->end_ns - (uint64_t)e->start_ns);
    return span <= 0
               ? 0
               : (int64_t)(((unsigned __int128)(e->frames - 1) * 1000000000 + (uint64_t)span / 2) / (uint64_t)span);
}

static bool check_rate(struct dataset_layout *l, const struct dataset_episode *planned, struct reel_error *err) {
    int64_t rate = rate_of(planned);
    if (!l->definition.spec.clock || l->definition.has_fps || rate == l->definition.spec.fps) {
        return true;
    }
    if (rate < 1 || rate > DATASET_FPS_MAX || l->n_good > 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "its clock has %lld messages a second, %s", (long long)rate,
                         l->n_good > 0 ? "other than that of the first episode" : "which is no rate of frames");
    }
    l->definition.spec.fps = (uint32_t)rate;
    return true;
}

static bool check_episode(struct dataset_layout *l, const struct dataset_episode *planned, struct reel_error *err) {
    if (planned->frames == 0) {
        return reel_fail(err, REEL_UNSUPPORTED, "no frame has all values");
    }
    if (l->n_good > 0 && !same_shapes(&first_good(l)->e, planned)) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         "its features have other numbers of values, or images of another size, than those of the "
                         "first episode");
    }
    return check_rate(l, planned, err);
}

static uint32_t number_task(const struct dataset_layout *l, const char *task) {
    uint32_t i = 0;
    while (i < l->n_tasks && strcmp(l->tasks[i], task) != 0) {
        i++;
    }
    return i;
}

static bool make_videos(struct app *app, struct dataset_layout *l, struct layout_episode *e,
                        const struct reel_progress *progress, struct reel_error *err) {
    uint32_t n = 0;
    if (!(e->videos = calloc((size_t)l->n_videos + 1, sizeof *e->videos))) {
        return reel_fail_memory(err);
    }
    for (uint32_t f = 0; f < l->definition.spec.n_features; f++) {
        struct layout_video *v = &e->videos[n];
        if (!layout_is_video(l, f, &v->source)) {
            continue;
        }
        if (!made_video(app, l, e, progress, v, err)) {
            return false;
        }
        n++;
    }
    return true;
}

struct planning {
    struct app *app;
    struct dataset_layout *layout;
    bool reports;
};

static bool plan_episode(const struct planning *p, struct layout_episode *e, const struct reel_progress *progress,
                         struct reel_error *err) {
    struct dataset_layout *l = p->layout;
    uint32_t fps = l->definition.spec.fps;
    e->place = (struct dataset_place){l->n_good, (int64_t)l->frames, number_task(l, e->task)};
    if (!made_episode(p->app, l, e, check_episode, progress, err) ||
        (!p->reports && !make_videos(p->app, l, e, progress, err))) {
        l->definition.spec.fps = l->n_good > 0 ? l->definition.spec.fps : fps; /* of the first good one */
        return false;
    }
    return true;
}

/* What is wrong with one recording leaves it out, and is reported. */
static bool plan_or_leave_out(const struct planning *p, struct layout_episode *e, const struct reel_progress *progress,
                              struct reel_error *err) {
    struct dataset_layout *l = p->layout;
    struct reel_error why = {0};
    if (e->problem) {
        return true;
    }
    bool good = plan_episode(p, e, progress, &why);
    if (!good || l->n_good > 0) { /* all have the names of the first one */
        dataset_episode_forget_names(&e->e);
    }
    if (good) {
        if (e->place.task == l->n_tasks) {
            l->tasks[l->n_tasks++] = e->task;
        }
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

static void planning_free(void *context) {
    struct planning *p = context;
    layout_free(p->layout);
    free(p);
}

static uint64_t memory_of_names(const struct dataset_episode *e) {
    uint64_t sum = 0;
    for (uint32_t i = 0; e->names && i < e->n_numbers; i++) {
        sum += sizeof *e->names + strlen(e->names[i]) + 32;
    }
    return sum;
}

static uint64_t memory_of(const struct dataset_layout *l) {
    uint64_t sum = sizeof *l + l->n_files * sizeof *l->files;
    for (uint32_t i = 0; i < l->n_episodes; i++) {
        const struct dataset_episode *e = &l->episodes[i].e;
        sum += sizeof l->episodes[i] + 512 + e->n_numbers * sizeof *e->stats + memory_of_names(e) + e->n_sources * 64 +
               l->n_videos * sizeof *l->episodes[i].videos;
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
        good = plan_or_leave_out(p, &l->episodes[i], progress, err);
    }
    if (!good || (!p->reports && !layout_put_meta(l, err))) {
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
    if (!dataset_definition_read(l->value, &l->definition, err)) {
        return NULL;
    }
    for (uint32_t f = 0, source; f < l->definition.spec.n_features; f++) {
        l->n_videos += layout_is_video(l, f, &source);
    }
    if (!(l->definition.recordings ? find_ids : find_search)(app, l, q, err) || !name_layout(l, err)) {
        return NULL;
    }
    return TAKE(l);
}

enum { LAYOUT_KEY = SHA1_HEX + 24 };
static void put_key(const char *sha, bool reports, char out[LAYOUT_KEY]) {
    snprintf(out, LAYOUT_KEY, "dataset %s%s", sha, reports ? " report" : "");
}

/* A reference; NULL: it is not planned. One with files has what is reported, too. */
static struct dataset_layout *find_made(struct app *app, const char *sha, bool reports) {
    char key[LAYOUT_KEY];
    put_key(sha, false, key);
    struct dataset_layout *found = derived_find(app->derived, key);
    put_key(sha, true, key);
    return found || !reports ? found : derived_find(app->derived, key);
}

struct dataset_layout *layout_get(struct app *app, const struct layout_request *q, char job[33],
                                  struct reel_error *err) {
    static const struct derived_kind kind = {
        .job = "plan", .make = make_layout, .free_context = planning_free, .ref = ref_layout, .unref = unref_layout};
    const struct known_key known = made_known_key(app, q);
    char sha[SHA1_HEX], key[LAYOUT_KEY];
    job[0] = '\0';
    struct dataset_layout *l = known_find(app->known, &known, sha) ? find_made(app, sha, q->reports) : NULL, *made;
    if (l || !(l = new_layout(app, q, err))) {
        return l;
    }
    known_keep(app->known, &known, l->sha);
    if ((made = find_made(app, l->sha, q->reports))) {
        layout_free(l);
        return made;
    }
    put_key(l->sha, q->reports, key);
    const struct derived_request derived = {.key = key, .subject = "dataset", .owner = q->owner, .wait_ns = q->wait_ns};
    struct planning *p = calloc(1, sizeof *p);
    if (!p) {
        layout_free(l);
    } else {
        *p = (struct planning){app, l, q->reports};
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
