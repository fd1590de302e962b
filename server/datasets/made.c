/* See layout_internal.h. */
#include "datasets/layout_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "chunks/codec.h"
#include "decode/encoding.h"
#include "reel/version.h"
#include "scans/open_recordings.h"
#include "work/derived_cache.h"

enum { KEY_ROOM = SHA1_HEX + 16 };

static const int64_t OPEN_WAIT_NS = INT64_C(600000000000); /* for the index of a recording */
static const unsigned FORMAT_VERSION = 2;                  /* of all bytes that are made here and in lib/datasets */

/* ---- keys: over all that the bytes depend on */

void made_add_text(struct digest *d, const char *text) {
    digest_add(d, text ? text : "", text ? strlen(text) + 1 : 1);
}
void made_add_number(struct digest *d, int64_t number) {
    digest_add(d, &number, sizeof number);
}

unsigned made_version(void) {
    struct digest d;
    uint8_t out[DIGEST_SHA1];
    digest_start(&d, DIGEST_SHA1);
    made_add_text(&d, REEL_VERSION); /* tasks.parquet has it */
    made_add_number(&d, FORMAT_VERSION);
    made_add_number(&d, reel_encodings_version()); /* with the definitions that users have stored */
    made_add_number(&d, codec_encode_version());
    made_add_number(&d, dataset_camera_version());
    digest_end(&d, out);
    return (unsigned)out[0] << 24 | (unsigned)out[1] << 16 | (unsigned)out[2] << 8 | out[3];
}

void made_start_key(struct digest *d, const struct dataset_layout *l, const struct layout_episode *e) {
    const struct dataset_spec *spec = &l->definition.spec;
    digest_start(d, DIGEST_SHA1);
    made_add_number(d, made_version());
    made_add_text(d, e->content);
    made_add_number(d, spec->fps);
    made_add_text(d, spec->clock);
}

static void episode_key(const struct dataset_layout *l, const struct layout_episode *e, char key[KEY_ROOM]) {
    const struct dataset_spec *spec = &l->definition.spec;
    struct digest d;
    made_start_key(&d, l, e);
    made_add_number(&d, spec->max_age_ns);
    for (uint32_t i = 0; i < spec->n_features; i++) {
        made_add_text(&d, spec->features[i].name);
        made_add_number(&d, spec->features[i].n_sources);
        for (uint32_t k = 0; k < spec->features[i].n_sources; k++) {
            made_add_text(&d, spec->features[i].sources[k]);
        }
    }
    made_add_number(&d, e->is_cut);
    made_add_number(&d, e->cut.start_ns);
    made_add_number(&d, e->cut.end_ns);
    made_add_number(&d, e->place.episode);
    made_add_number(&d, e->place.first_row);
    made_add_number(&d, e->place.task);
    snprintf(key, KEY_ROOM, "episode ");
    digest_end_hex(&d, key + strlen(key));
}

/* ---- recordings */

struct reel_recording *made_recording(struct app *app, const struct layout_episode *e, struct reel_error *err) {
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

struct dataset_spec made_spec(const struct dataset_layout *l, const struct layout_episode *e) {
    struct dataset_spec spec = l->definition.spec;
    spec.cut = e->is_cut ? &e->cut : NULL;
    return spec;
}

static bool count_bytes(void *context, const char *data, size_t size) {
    digest_add(context, data, size);
    return true;
}

/* ---- episodes */

void made_episode_free(struct made_episode *m) {
    if (m && atomic_fetch_sub(&m->references, 1) == 1) {
        dataset_episode_done(&m->e);
        free(m);
    }
}

static void *ref_episode(void *made) {
    atomic_fetch_add(&((struct made_episode *)made)->references, 1);
    return made;
}
static void unref_episode(void *made) {
    made_episode_free(made);
}

static uint64_t episode_memory(const struct made_episode *m) {
    return sizeof *m + m->e.n_numbers * (sizeof *m->e.stats + 48) + m->e.n_sources * 64;
}

static bool write_episode(struct reel_recording *recording, const struct dataset_layout *l,
                          const struct layout_episode *e, struct made_episode *m, struct reel_error *err) {
    const struct dataset_spec spec = made_spec(l, e);
    struct digest d;
    const struct reel_text_sink sink = {count_bytes, &d};
    digest_start(&d, DIGEST_SHA256);
    if (!dataset_episode_write(recording, &spec, &e->place, &sink, &m->e, &m->e, err)) {
        return false;
    }
    m->size = d.size;
    digest_end_hex(&d, m->sha256);
    return true;
}

struct made_episode *made_episode_get(struct app *app, struct dataset_layout *l, struct layout_episode *e,
                                      bool (*checks)(struct dataset_layout *l, struct layout_episode *e,
                                                     const struct dataset_episode *planned, struct reel_error *err),
                                      const struct reel_progress *progress, struct reel_error *err) {
    static const struct derived_kind kind = {.ref = ref_episode, .unref = unref_episode};
    const struct dataset_spec spec = made_spec(l, e);
    char key[KEY_ROOM];
    episode_key(l, e, key);
    AUTO(made_episode_free) struct made_episode *m = derived_find(app->derived, key);
    if (m) {
        return checks(l, e, &m->e, err) ? TAKE(m) : NULL;
    }
    AUTO(reel_recording_free) struct reel_recording *recording = made_recording(app, e, err);
    if (!recording || !(m = calloc(1, sizeof *m))) {
        return recording ? (reel_fail_memory(err), NULL) : NULL;
    }
    atomic_init(&m->references, 1);
    if (!dataset_episode_plan(recording, &spec, progress, &m->e, err) || !checks(l, e, &m->e, err) ||
        !write_episode(recording, l, e, m, err)) {
        return NULL;
    }
    derived_put(app->derived, &kind, key, m, episode_memory(m));
    return TAKE(m);
}
