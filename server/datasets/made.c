/* See layout_internal.h. */
#include "datasets/layout_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/disk.h"
#include "catalog/definitions.h"
#include "chunks/codec.h"
#include "chunks/spool.h"
#include "decode/encoding.h"
#include "json_whole.h"
#include "reel/version.h"
#include "scans/open_recordings.h"
#include "store/store.h"

static const int64_t OPEN_WAIT_NS = INT64_C(600000000000); /* for the index of a recording */
static const unsigned FORMAT_VERSION = 3;                  /* of all bytes that are made here and in lib/datasets */

/* ---- keys: over all that the bytes depend on */

int made_clock(const struct catalog_recording *row) {
    return row->annotations.has_clock ? (int)row->annotations.clock : -1;
}

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
    made_add_number(d, e->clock); /* an MP4 file has the time of day */
    made_add_number(d, spec->fps);
    made_add_text(d, spec->clock);
}

static void episode_key(const struct dataset_layout *l, const struct layout_episode *e, struct digest *d) {
    const struct dataset_spec *spec = &l->definition.spec;
    made_start_key(d, l, e);
    made_add_number(d, spec->max_age_ns);
    for (uint32_t i = 0; i < spec->n_features; i++) {
        made_add_text(d, spec->features[i].name);
        made_add_number(d, spec->features[i].n_sources);
        for (uint32_t k = 0; k < spec->features[i].n_sources; k++) {
            made_add_text(d, spec->features[i].sources[k]);
        }
    }
    made_add_number(d, e->is_cut);
    made_add_number(d, e->cut.start_ns);
    made_add_number(d, e->cut.end_ns);
    made_add_number(d, e->place.episode);
    made_add_number(d, e->place.first_row);
    made_add_number(d, e->place.task);
}

struct known_key made_known_key(struct app *app, const struct layout_request *q) {
    struct known_key key = {.version = catalog_definitions_version(app->catalog)};
    AUTO_MEM char *text = json_whole_text(q->value, JSON_COMPACT);
    struct digest d;
    if (!text) {
        return key;
    }
    digest_start(&d, DIGEST_SHA1);
    made_add_number(&d, made_version());
    made_add_text(&d, text);
    made_add_number(&d, q->max);
    made_add_number(&d, q->allowed != NULL);
    for (const char *const *glob = q->allowed; glob && *glob; glob++) {
        made_add_text(&d, *glob);
    }
    digest_end_hex(&d, key.name);
    return key;
}

bool made_path(struct app *app, const struct layout_episode *e, const struct digest *key, const char *suffix,
               char out[MADE_PATH], struct reel_error *err) {
    char hex[SHA1_HEX];
    digest_end_hex(key, hex);
    return snprintf(out, MADE_PATH, "%s/%s-%s.%s", store_derived_folder(app->store), e->content, hex, suffix) <
               MADE_PATH ||
           reel_fail(err, REEL_ARGUMENT, "the path of the data folder is too long");
}

/* ---- recordings */

struct reel_recording *made_recording(struct app *app, const struct layout_episode *e, struct reel_error *err) {
    AUTO_STRUCT(catalog_recording_done) struct catalog_recording row = {0};
    char job[JOB_ID_TEXT];
    if (!catalog_get(app->catalog, e->id, &row, err)) {
        return NULL;
    }
    if (row.state != STATE_READY || made_clock(&row) != e->clock || strcmp(row.content, e->content) != 0) {
        reel_fail(err, REEL_BUSY, "a recording of the dataset has just changed; try again");
        return NULL;
    }
    struct reel_recording *recording = recordings_get_resting(app->recordings, &row, OPEN_WAIT_NS, job, err);
    if (!recording && err->code == REEL_CONFLICT) { /* it passes: the recording is not left out for it */
        err->code = REEL_BUSY;
    }
    return recording;
}

struct dataset_spec made_spec(const struct dataset_layout *l, const struct layout_episode *e) {
    struct dataset_spec spec = l->definition.spec;
    spec.cut = e->is_cut ? &e->cut : NULL;
    return spec;
}

struct made_sum made_sum_start(void) {
    struct made_sum s = {0};
    digest_start(&s.digest, DIGEST_SHA256);
    return s;
}
void made_sum_add(struct made_sum *s, const void *data, size_t size) {
    digest_add(&s->digest, data, size);
    s->crc = (uint32_t)crc32_z(s->crc, data, size);
}
void made_sum_end(const struct made_sum *s, struct layout_sum *out) {
    *out = (struct layout_sum){.size = s->digest.size, .crc = s->crc};
    digest_end_hex(&s->digest, out->sha256);
}

static bool count_bytes(void *context, const char *data, size_t size) {
    made_sum_add(context, data, size);
    return true;
}

/* ---- notes: files beside the videos, which other versions of the program do not read: their keys have the version */

enum { NOTE_MAX = 16 << 20 };

bool made_begin_file(struct app *app, const char *path, struct output_file *o, struct reel_error *err) {
    *o = (struct output_file){.path = path, .fd = -1, .replace = true};
    if (asprintf(&o->temporary, "%s/making-XXXXXX", store_derived_folder(app->store)) < 0) {
        o->temporary = NULL;
        return reel_fail_memory(err);
    }
    if ((o->fd = mkostemp(o->temporary, O_CLOEXEC)) < 0) {
        free(TAKE(o->temporary));
        return reel_fail_errno(err, "the store cannot write a derived file");
    }
    return true;
}

bool made_write_note(struct app *app, const char *path, const void *data, size_t size, struct reel_error *err) {
    AUTO(output_file_done) struct output_file file = {.fd = -1};
    return made_begin_file(app, path, &file, err) && output_file_write(&file, data, size, err) &&
           output_file_finish(&file, err);
}

void *made_read_note(const char *path, size_t *size) {
    struct stat st;
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size > NOTE_MAX) {
        return NULL;
    }
    AUTO_MEM void *data = malloc((size_t)st.st_size + 1);
    *size = (size_t)st.st_size;
    return data && disk_read_at(fd, data, *size, 0) ? TAKE(data) : NULL;
}

/* ---- episodes */

struct episode_note { /* then its arrays, in the order of their members, the names last */
    char magic[8];
    struct layout_sum sum;
    struct dataset_episode e; /* its pointers mean nothing */
};
static const char magic[8] = "reelrun";

static void *take_array(struct reel_bytes *rest, size_t n, size_t each) {
    void *out = n * each <= rest->size ? calloc(n + 1, each) : NULL;
    if (out) {
        memcpy(out, rest->data, n * each);
        *rest = bytes_of(rest->data + n * each, rest->size - n * each);
    }
    return out;
}

static bool take_names(struct reel_bytes *rest, struct dataset_episode *e) {
    e->names = calloc((size_t)e->n_numbers + 1, sizeof *e->names);
    for (uint32_t i = 0; e->names && i < e->n_numbers; i++) {
        const uint8_t *end = memchr(rest->data, '\0', rest->size);
        if (!end || !(e->names[i] = strdup((const char *)rest->data))) {
            return false;
        }
        *rest = bytes_of(end + 1, rest->size - (size_t)(end + 1 - rest->data));
    }
    return e->names;
}

static bool take_episode(struct reel_bytes data, struct layout_episode *out) {
    struct episode_note note;
    if (data.size < sizeof note) {
        return false;
    }
    memcpy(&note, data.data, sizeof note);
    struct dataset_episode *e = &out->e;
    struct reel_bytes rest = bytes_of(data.data + sizeof note, data.size - sizeof note);
    if (memcmp(note.magic, magic, sizeof magic) != 0 || note.sum.sha256[SHA256_HEX - 1] != '\0' ||
        note.e.n_sources > DATASET_SOURCES_MAX || note.e.n_numbers > DATASET_WIDTH_MAX) {
        return false;
    }
    *e = note.e;
    e->names = NULL;
    e->widths = take_array(&rest, e->n_sources, sizeof *e->widths);
    e->pictures = take_array(&rest, e->n_sources, sizeof *e->pictures);
    e->ages = take_array(&rest, e->n_sources, sizeof *e->ages);
    e->stats = take_array(&rest, e->n_numbers, sizeof *e->stats);
    out->sum = note.sum;
    return e->widths && e->pictures && e->ages && e->stats && take_names(&rest, e) && rest.size == 0;
}

static bool read_episode(const char *path, struct layout_episode *e) {
    size_t size = 0;
    AUTO_MEM void *data = made_read_note(path, &size);
    if (!data || !take_episode(bytes_of(data, size), e)) {
        dataset_episode_done(&e->e);
        return false;
    }
    return true;
}

static bool note_episode(struct app *app, const char *path, const struct layout_episode *e, struct reel_error *err) {
    struct episode_note note = {.sum = e->sum, .e = e->e};
    struct grow out = {0};
    memcpy(note.magic, magic, sizeof magic);
    grow_put(&out, &note, sizeof note);
    grow_put(&out, e->e.widths, e->e.n_sources * sizeof *e->e.widths);
    grow_put(&out, e->e.pictures, e->e.n_sources * sizeof *e->e.pictures);
    grow_put(&out, e->e.ages, e->e.n_sources * sizeof *e->e.ages);
    grow_put(&out, e->e.stats, e->e.n_numbers * sizeof *e->e.stats);
    for (uint32_t i = 0; i < e->e.n_numbers; i++) {
        grow_put(&out, e->e.names[i], strlen(e->e.names[i]) + 1);
    }
    bool good = !out.failed ? made_write_note(app, path, out.data, out.size, err) : reel_fail_memory(err);
    grow_done(&out);
    return good;
}

static bool write_episode(struct reel_recording *recording, const struct dataset_layout *l, struct layout_episode *e,
                          struct reel_error *err) {
    const struct dataset_spec spec = made_spec(l, e);
    struct made_sum sum = made_sum_start();
    const struct reel_text_sink sink = {count_bytes, &sum};
    if (!dataset_episode_write(recording, &spec, &e->place, &sink, &e->e, &e->e, err)) {
        return false;
    }
    made_sum_end(&sum, &e->sum);
    return true;
}

bool made_episode(struct app *app, struct dataset_layout *l, struct layout_episode *e,
                  bool (*checks)(struct dataset_layout *l, const struct dataset_episode *planned,
                                 struct reel_error *err),
                  const struct reel_progress *progress, struct reel_error *err) {
    const struct dataset_spec spec = made_spec(l, e);
    char path[MADE_PATH];
    struct digest d;
    episode_key(l, e, &d);
    if (!made_path(app, e, &d, "note", path, err)) {
        return false;
    }
    if (read_episode(path, e)) {
        return checks(l, &e->e, err);
    }
    AUTO(reel_recording_free) struct reel_recording *recording = made_recording(app, e, err);
    return recording && dataset_episode_plan(recording, &spec, progress, &e->e, err) && checks(l, &e->e, err) &&
           write_episode(recording, l, e, err) && note_episode(app, path, e, err);
}

/* ---- the table of an episode once more */

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
    const struct dataset_spec spec = made_spec(l, episode);
    AUTO(reel_recording_free) struct reel_recording *recording = made_recording(app, episode, err);
    AUTO_FD int fd = recording ? spool_open(NULL, err) : -1;
    struct spooling s = {.fd = fd};
    const struct reel_text_sink sink = {spool_bytes, &s};
    char hex[SHA256_HEX];
    if (fd < 0) {
        return -1;
    }
    digest_start(&s.digest, DIGEST_SHA256);
    if (!dataset_episode_write(recording, &spec, &episode->place, &sink, &episode->e, NULL, err)) {
        return s.failed ? (reel_fail_errno(err, "could not write a temporary file"), -1) : -1;
    }
    digest_end_hex(&s.digest, hex);
    if (strcmp(hex, episode->sum.sha256) != 0) {
        reel_fail(err, REEL_CHANGED, "an episode is not what was planned");
        return -1;
    }
    int taken = fd;
    fd = -1;
    return taken;
}
