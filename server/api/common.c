/* See common.h. */
#include "api/common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/hash_table.h"
#include "base/hex.h"
#include "base/limits.h"
#include "base/number.h"
#include "live/live.h"
#include "peers/peers.h"
#include "scans/open_recordings.h"
#include "scans/references.h"
#include "syntax/base64.h"

enum { LINK_MAX = 4096, RENAME_MAX = 1000 }; /* a header of a response, which shares 32 KiB with the request's */

/* Bytes for which memory is reserved, as measured. */
enum {
    REQUEST_MEMORY = 16 << 10,
    WALK_MEMORY = 40,             /* of a channel, to list them */
    STREAM_MEMORY = 2 << 20,      /* buffers of a stream and of its response */
    CHANNEL_MEMORY = 350,         /* of a channel of a stream and its writer */
    DECODER_MEMORY = 6 << 10,     /* of the decoder of a definition … */
    DEFINITION_MEMORY = 16,       /* … and times the size of its text */
    TRANSLATION_MEMORY = 4 << 10, /* of a channel that is translated … */
    TRANSLATED_MEMORY = 6,        /* … and times the size of its definition */
    SEGMENT_MEMORY = 100,         /* of an index segment of a stream */
    IDLE_MEMORY = 256 << 10,      /* … while it waits for messages */
    BLOCK_MEMORY = 8 << 20,       /* of a payload that is copied: at most this much is held at once */
    THREAD_MEMORY = 8 << 20,      /* of a thread that renders ahead */
    CLIENT_ROOM = 192,
    DECODED_MEMORY = 4, /* times the size of a payload: its values or their text */
};
static const int64_t PACK_WAIT_NS = 2000000000;

void api_recording_done(struct api_recording *a) {
    reel_recording_free(a->recording);
    catalog_recording_done(&a->row);
    *a = (struct api_recording){0};
}

/* What the caller may not see is not found, so that its existence is not disclosed. A link does not reach a recording
 * in the trash. */
static bool is_visible(const struct http_caller *caller, const struct catalog_recording *row) {
    bool linked = !caller->recording[0] || (strcmp(caller->recording, row->id) == 0 && row->state != STATE_TRASHED);
    return linked && http_caller_sees(caller, row->collection);
}

/* `needs_file`: without the server that has the file of a live recording there is no answer. */
static bool find_key(struct http_request *r, const char *key, bool needs_file, struct api_recording *out) {
    struct reel_error err = {0};
    *out = (struct api_recording){0};
    if (!catalog_get(http_app(r)->catalog, key, &out->row, &err)) {
        http_reply_error(r, &err);
        return false;
    }
    if (!is_visible(http_caller(r), &out->row)) {
        api_recording_done(out);
        http_reply_problem(r, 404, "not-found", "%s", catalog_not_found(key));
        return false;
    }
    bool elsewhere = out->row.state == STATE_RECORDING && peers_is_other(http_app(r), out->row.home);
    if (elsewhere && peers_forward(r, out->row.home, needs_file, api_wait_ns(r, 0))) {
        api_recording_done(out);
        return false;
    }
    references_observe(http_app(r), &out->row);
    live_fill(http_app(r)->live, &out->row);
    return true;
}

bool api_may_use(struct http_request *r, const char *collection) {
    if (http_caller_sees(http_caller(r), collection)) {
        return true;
    }
    http_reply_problem(r, 403, "forbidden", "the collection %s is not one of those that %s is limited to", collection,
                       http_caller(r)->name);
    return false;
}

bool api_find_key(struct http_request *r, const char *key, struct api_recording *out) {
    return find_key(r, key, false, out);
}

bool api_find(struct http_request *r, struct api_recording *out) {
    return find_key(r, http_segment(r, "id"), false, out);
}

bool api_find_growing(struct http_request *r, struct api_recording *out) {
    return find_key(r, http_segment(r, "id"), true, out);
}

json_t *api_view_job(const struct http_request *r, const char *id) {
    return json_pack("{s:s, s:o}", "id", id, "href", json_sprintf("%s/api/v1/jobs/%s", http_prefix(r), id));
}

static void add_job_location(struct http_request *r, const char *id) {
    char address[64];
    snprintf(address, sizeof address, "/api/v1/jobs/%s", id);
    http_add_address(r, "Location", address);
}

void api_reply_job(struct http_request *r, const char *id) {
    add_job_location(r, id);
    http_reply_json(r, 202, json_pack("{s:o}", "job", api_view_job(r, id)));
}

void api_reply_busy(struct http_request *r, const char *job, const char *what) {
    http_add_header(r, "Retry-After", "2");
    if (job && job[0]) {
        add_job_location(r, job);
        http_reply_problem_with(r, 503, "busy", what, json_pack("{s:o}", "job", api_view_job(r, job)));
        return;
    }
    http_reply_problem(r, 503, "busy", "%s", what);
}

int64_t api_wait_ns(const struct http_request *r, int64_t default_ns) {
    enum { WAIT_MAX_S = 60 };
    const char *prefer = http_header(r, "Prefer"), *wait = prefer ? strstr(prefer, "wait=") : NULL;
    if (!wait || wait[5] < '0' || wait[5] > '9') {
        return prefer && strstr(prefer, "respond-async") ? 0 : default_ns;
    }
    unsigned long seconds = strtoul(wait + 5, NULL, 10);
    return (int64_t)(seconds < WAIT_MAX_S ? seconds : WAIT_MAX_S) * 1000000000;
}

static bool state_allows(struct http_request *r, const struct catalog_recording *row) {
    switch (row->state) {
    case STATE_READY:
    case STATE_RECORDING:
    case STATE_SCANNING: /* api_open() has waited already */
        return true;
    case STATE_FAILED:
        http_reply_problem(r, 422, "unreadable", "this recording could not be read: %s", row->problem);
        return false;
    case STATE_MISSING:
        http_reply_problem(r, 410, "missing", "%s",
                           row->n_parts == 0 ? row->problem
                                             : "the stored file of this recording is gone or changed; upload it again");
        return false;
    case STATE_CHANGED:
        http_reply_problem(r, 410, "missing", "the file that this recording refers to is not what it was");
        return false;
    case STATE_TRASHED:
        http_reply_problem(r, 410, "trashed", "this recording is in the trash; POST …/restore brings it back");
        return false;
    }
    return false;
}

struct reel_recording *api_recording_open(struct app *app, const struct catalog_recording *row, int64_t wait_ns,
                                          char job[33], struct reel_error *err) {
    job[0] = '\0';
    return row->state == STATE_RECORDING ? live_get(app->live, row, err)
                                         : recordings_get(app->recordings, row, wait_ns, job, err);
}

bool api_open(struct http_request *r, struct api_recording *out) {
    return api_open_key(r, http_segment(r, "id"), out);
}

bool api_open_key(struct http_request *r, const char *key, struct api_recording *out) {
    if (!find_key(r, key, true, out)) {
        return false;
    }
    if (!state_allows(r, &out->row)) {
        api_recording_done(out);
        return false;
    }
    struct reel_error err = {0};
    char job[33] = "";
    out->recording = api_recording_open(http_app(r), &out->row, api_wait_ns(r, PACK_WAIT_NS), job, &err);
    if (!out->recording) {
        if (job[0]) {
            api_reply_busy(r, job, err.text);
        } else {
            http_reply_error(r, &err);
        }
        api_recording_done(out);
        return false;
    }
    if (!api_reserve_open(r, &out->recording, 1)) {
        api_recording_done(out);
        return false;
    }
    return true;
}

bool api_reserve_open(struct http_request *r, struct reel_recording *const *recordings, uint32_t n) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_index_info *info = reel_index_info(reel_recording_index(recordings[i]));
        bytes += REQUEST_MEMORY + (uint64_t)info->n_channels * WALK_MEMORY +
                 (n > 1 ? reel_recording_index(recordings[i])->memory : 0);
    }
    return http_reserve(r, bytes);
}

/* Of the decoders of all channels. Those of one definition share one (decode/decoder_set.h). */
static uint64_t decoders_memory(const struct reel_index *index) {
    AUTO_STRUCT(hash_table_free) struct hash_table known = {0};
    const uint32_t n = reel_index_info(index)->n_channels;
    const uint8_t *latest = NULL;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_channel *c = reel_index_channel(index, i);
        const uint8_t *definition = c->n_schemas > 0 ? c->schemas[0].data.data : NULL;
        struct hash_key key = hash_key_number((uintptr_t)definition);
        if (definition == latest || (c->n_schemas == 1 && hash_table_get(&known, key) != 0)) {
            continue;
        }
        latest = definition;
        (void)hash_table_set(&known, key, 1, NULL); /* else it is counted again */
        bytes += DECODER_MEMORY;
        for (uint32_t k = 0; k < c->n_schemas; k++) {
            bytes += c->schemas[k].data.size * DEFINITION_MEMORY;
        }
    }
    return bytes;
}

/* Of the channels that another encoding or a view makes of these. */
static uint64_t translation_memory(const struct reel_index *index) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels; i++) {
        const struct reel_channel *c = reel_index_channel(index, i);
        bytes += c->n_schemas > 0 ? TRANSLATION_MEMORY + c->schemas[0].data.size * TRANSLATED_MEMORY : 0;
    }
    return bytes;
}

/* Of the definitions of these, beyond that of the recording. */
static uint64_t definitions_memory(struct reel_recording *const *recordings, uint32_t n, unsigned use) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_index *index = reel_recording_index(recordings[i]);
        bytes += use & API_DECODES ? decoders_memory(index) : 0;
        bytes += use & API_CONVERTS ? translation_memory(index) : 0;
    }
    return bytes;
}

unsigned api_stream_use(const struct reel_writer *writer, const struct reel_selection *selection) {
    const char *encoding = selection->encoding ? selection->encoding : writer->encoding;
    bool converts = selection->view || (encoding && encoding[0]);
    return converts ? API_CONVERTS | API_DECODES : writer->needs & (REEL_STREAMED | REEL_DECODES) ? API_DECODES : 0;
}

static uint64_t stream_memory(struct reel_recording *const *recordings, uint32_t n, unsigned use) {
    const bool decodes = use & API_DECODES;
    uint64_t bytes = STREAM_MEMORY, payloads = 0, one = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct reel_index_info *info = reel_index_info(reel_recording_index(recordings[i]));
        uint64_t largest = info->largest_payload, most = decodes ? REEL_DECODED_MAX : BLOCK_MEMORY;
        largest = largest < most ? largest : most;
        bytes += info->n_channels * CHANNEL_MEMORY + info->messages / REEL_SEGMENT_ENTRIES * SEGMENT_MEMORY;
        payloads += largest;
        one = largest > one ? largest : one;
    }
    uint64_t held = REEL_STREAM_AWAKE * one; /* so many recordings of a stream hold payloads at a time */
    return bytes + definitions_memory(recordings, n, use) +
           (payloads < held ? payloads : held) * (decodes ? DECODED_MEMORY : 1);
}

uint64_t api_idle_memory(const struct reel_recording *recording, bool whole) {
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    uint64_t largest = info->largest_payload < REEL_DECODED_MAX ? info->largest_payload : REEL_DECODED_MAX;
    return whole ? stream_memory((struct reel_recording *const[]){(struct reel_recording *)recording}, 1, API_DECODES)
                 : STREAM_MEMORY - IDLE_MEMORY + largest * DECODED_MEMORY;
}

bool api_reserve_stream(struct http_request *r, struct reel_recording *const *recordings, uint32_t n, unsigned use) {
    uint64_t definitions = definitions_memory(recordings, n, use);
    if (definitions > http_memory_max(r)) {
        http_reply_problem(r, 413, "limit",
                           "the definitions of all channels take %llu MiB here, more than one response may hold "
                           "(--memory-mb); the file as it is needs no memory",
                           (unsigned long long)(definitions >> 20));
        return false;
    }
    return http_reserve(r, stream_memory(recordings, n, use));
}

struct reel_conversion *api_conversion(struct http_request *r, const struct reel_writer *writer,
                                       struct reel_recording *const *recordings, uint32_t n,
                                       const struct reel_selection *selection, const struct reel_write_options *options,
                                       struct reel_error *err) {
    char client[CLIENT_ROOM];
    snprintf(client, sizeof client, "%.80s %.80s", http_peer(r), http_caller(r)->name);
    return reel_conversion_new(writer, recordings, n, selection, options, http_app(r)->threads, client, err);
}

bool api_reserve_threads(struct http_request *r, struct reel_conversion *c) {
    bool table = (c->writer->needs & REEL_DECODES) && !(c->writer->needs & REEL_STREAMED);
    uint64_t each = stream_memory(c->recordings, c->n_recordings, api_stream_use(c->writer, &c->selection)) +
                    THREAD_MEMORY + (table ? 3 * REEL_ROW_GROUP_BYTES : 0);
    uint64_t most = http_app(r)->config.memory_bytes / (table ? 2 : 8) / each; /* others need memory, too */
    unsigned threads = reel_conversion_threads(c);
    c->max_threads = threads < most ? threads : most > 1 ? (unsigned)most : 1;
    return threads == 0 || c->max_threads == 1 || http_reserve(r, c->max_threads * each);
}

bool api_open_messages(struct http_request *r, struct api_recording *out) {
    if (!api_open(r, out)) {
        return false;
    }
    bool good = api_reserve_stream(r, &out->recording, 1, API_DECODES);
    if (!good) {
        api_recording_done(out);
    }
    return good;
}

/* ---- selection */

static bool read_globs(struct http_request *r, const char *name, const char **out, uint32_t *n) {
    size_t count = http_params(r, name, out, API_GLOBS_MAX);
    if (count > API_GLOBS_MAX) {
        http_reply_bad_param(r, name, "at most %d of them", API_GLOBS_MAX);
        return false;
    }
    *n = (uint32_t)count;
    return true;
}

bool api_read_channels(struct http_request *r, uint32_t out[API_GLOBS_MAX], uint32_t *n) {
    const char *texts[API_GLOBS_MAX];
    if (!read_globs(r, "channel", texts, n)) {
        return false;
    }
    for (uint32_t i = 0; i < *n; i++) {
        uint64_t id;
        out[i] = number_u64(texts[i], &id) && id < UINT32_MAX ? (uint32_t)id : UINT32_MAX; /* which no channel has */
    }
    return true;
}

static bool read_renames(struct http_request *r, const char **out, uint32_t *n) {
    if (!read_globs(r, "rename", out, n)) {
        return false;
    }
    for (uint32_t i = 0; i < *n; i++) {
        const char *colon = strrchr(out[i], ':');
        if (!colon || colon == out[i] || !colon[1] || strlen(colon + 1) > RENAME_MAX) {
            http_reply_bad_param(r, "rename", "is written FROM:TO, for example /scan:/laser");
            return false;
        }
    }
    return true;
}

/* One end of the time range, by either of its names. Sets *given when it was sent. */
static bool common_read_time(struct http_request *r, const int64_t span[2], const char *name, const char *alias,
                             int64_t *ns, bool *given) {
    struct reel_time t, u;
    bool has = http_param_time(r, name, &t), has_alias = http_param_time(r, alias, &u);
    if (has && has_alias) {
        http_reply_bad_param(r, alias, "%s and %s mean the same; send only one", name, alias);
        return false;
    }
    *given = has || has_alias;
    if (has_alias) { /* of a dashboard, which may show any time */
        *ns = reel_time_resolve(&u, span[0], span[1], reel_now_ns());
    }
    struct reel_error err = {0};
    if (has && !reel_time_within(&t, span[0], span[1], ns, &err)) {
        http_reply_bad_param(r, name, "%s", err.text);
        return false;
    }
    return true;
}

static bool read_every(struct http_request *r, struct reel_selection *s) {
    const char *text = http_param(r, "every");
    if (!text) {
        return true;
    }
    if (number_u64(text, &s->every_n) && s->every_n > 0) {
        return true;
    }
    struct reel_error err = {0};
    if (!reel_duration_parse(text, &s->every_ns, &err)) {
        http_reply_bad_param(r, "every", "a count such as 10, or an interval such as 100ms: %s", err.text);
        return false;
    }
    return true;
}

bool api_select(struct http_request *r, int64_t first_ns, int64_t last_ns, struct api_selection *out) {
    const int64_t span[2] = {first_ns, last_ns};
    *out = (struct api_selection){.selection = selection_all};
    struct reel_selection *s = &out->selection;
    bool has_end;
    if (!read_globs(r, "topic", out->topics, &s->n_topics) ||
        !read_globs(r, "exclude_topic", out->exclude, &s->n_exclude) ||
        !api_read_channels(r, out->channels, &s->n_channels) || !read_renames(r, out->renames, &s->n_renames) ||
        !read_globs(r, "where", out->where, &s->n_where) ||
        !common_read_time(r, span, "start", "from", &s->start_ns, &out->has_start) ||
        !common_read_time(r, span, "end", "to", &s->end_ns, &has_end) || !read_every(r, s)) {
        return false;
    }
    s->topics = out->topics;
    s->exclude = out->exclude;
    s->channels = out->channels;
    s->renames = out->renames;
    s->where = out->where;
    s->last_per_topic = http_param(r, "last") != NULL;
    http_param_duration(r, "lookback", &s->lookback_ns);
    if (s->last_per_topic && !out->has_start) {
        http_reply_bad_param(r, "last", "it needs start");
        return false;
    }
    if (out->has_start && has_end && s->end_ns < s->start_ns) {
        http_reply_bad_param(r, "end", "must not be before start");
        return false;
    }
    return true;
}

static bool selects_all(const struct reel_selection *q) {
    return q->n_topics == 0 && q->n_exclude == 0 && q->n_channels == 0 && q->start_ns == REEL_TIME_MIN &&
           q->end_ns == REEL_TIME_MAX;
}

/* `good`: `any` and `why` were found out. False: replied with `err`. */
static bool note_matches(struct http_request *r, bool good, bool any, const char *why, const struct reel_error *err) {
    if (!good) {
        http_reply_error(r, err);
    } else if (!any) {
        http_add_header(r, "X-Matched", "0");
        http_add_header(r, "X-Warning", why);
    }
    return good;
}

bool api_note_matches(struct http_request *r, struct reel_recording *const *recordings, uint32_t n,
                      const struct reel_selection *selection) {
    struct reel_error err = {0};
    char why[REEL_MATCHES_TEXT];
    bool any = true, good = selects_all(selection) || reel_selection_matches(recordings, n, selection, &any, why, &err);
    return note_matches(r, good, any, why, &err);
}

bool api_note_conversion(struct http_request *r, struct reel_conversion *c) {
    struct reel_error err = {0};
    char why[REEL_MATCHES_TEXT];
    bool any = true, good = selects_all(&c->selection) || reel_conversion_matches(c, false, &any, why, &err);
    return note_matches(r, good, any, why, &err);
}

static enum reel_time_format time_format(const struct http_request *r) {
    static const char *const names[] = {"rfc3339", "seconds", "milliseconds", "nanoseconds", "relative"};
    const char *text = http_param(r, "time_format");
    for (unsigned i = 0; text && i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], text) == 0) {
            return (enum reel_time_format)i;
        }
    }
    return REEL_TIME_RFC3339;
}

/* fields=a,b&fields=c */
static bool common_read_fields(struct http_request *r, struct api_text *text, uint32_t *n) {
    const char *values[API_GLOBS_MAX];
    size_t n_values = http_params(r, "fields", values, API_GLOBS_MAX), size = 1;
    for (size_t i = 0; i < n_values && i < API_GLOBS_MAX; i++) {
        size += strlen(values[i]) + 1;
    }
    if (!(text->memory = calloc(1, size))) {
        http_reply_no_memory(r);
        return false;
    }
    char *at = text->memory;
    for (size_t i = 0; i < n_values && i < API_GLOBS_MAX; i++) {
        at = stpcpy(stpcpy(at, at == text->memory ? "" : ","), values[i]);
    }
    for (char *rest = text->memory, *field; (field = strsep(&rest, ","));) {
        if (*field && *n == API_FIELDS_MAX) {
            http_reply_bad_param(r, "fields", "at most %d of them", API_FIELDS_MAX);
            return false;
        }
        if (*field) {
            text->fields[(*n)++] = field;
        }
    }
    return true;
}

bool api_read_text(struct http_request *r, struct api_text *text, struct reel_write_options *out) {
    const char *decode = http_param(r, "decode");
    text->memory = NULL;
    out->time_format = time_format(r);
    out->raw = decode && strcmp(decode, "none") == 0;
    out->fields = text->fields;
    http_param_bool(r, "end_record", &out->separated);
    http_param_bool(r, "channels", &out->channels);
    if (!common_read_fields(r, text, &out->n_fields)) {
        return false;
    }
    if (out->raw && out->n_fields > 0) {
        http_reply_bad_param(r, "fields", "there are none without decoding");
        return false;
    }
    return true;
}

void api_text_done(struct api_text *text) {
    free(text->memory);
}

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

/* ---- digests */

void api_base64_digest(const uint8_t digest[32], char out[45]) {
    base64_write(bytes_of(digest, 32), out);
    out[BASE64_TEXT(32)] = '\0';
}

bool api_digest_from_base64(const char *text, size_t size, uint8_t digest[32]) {
    uint8_t raw[33];
    size_t n;
    if (size != 44 || !base64_read(bytes_of(text, size), raw, &n) || n != 32) {
        return false;
    }
    memcpy(digest, raw, 32);
    return true;
}

void api_etag(const char *text, char out[64]) {
    uint8_t digest[DIGEST_SHA256];
    char base64[45];
    digest_of(DIGEST_SHA256, bytes_text(text), digest);
    api_base64_digest(digest, base64);
    snprintf(out, 64, "\"sha256-%s\"", base64);
}

void api_digest_texts(const char *sha256_hex, char etag[64], char repr_digest[72]) {
    uint8_t digest[32];
    char base64[45];
    hex_read(sha256_hex, sizeof digest, digest);
    api_base64_digest(digest, base64);
    snprintf(etag, 64, "\"sha256-%s\"", base64);
    snprintf(repr_digest, 72, "sha-256=:%s:", base64);
}
