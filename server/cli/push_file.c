/* See push_file.h. No state is kept on this side: the Idempotency-Key is a hash of the file (host, path, size,
 * modification time) and of the options, so running the same command again finds the same upload session. */
#include "cli/push_file.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/hex.h"
#include "cli/push_rate.h"
#include "json_whole.h"
#include "syntax/base64.h"

enum {
    WAIT_LONGEST_S = 30,
    READ_BYTES = 1 << 20,
    /* up to this size a file is sent in one request, and again as a whole after an interruption */
    SMALL_BYTES = 1 << 20,
};

struct push {
    struct push_http *http;
    const struct push_options *options;
    struct push_file *file;
    _Atomic uint64_t *sent;
    int fd;
    uint64_t size, at;  /* at: next byte to send */
    uint64_t counted;   /* of *sent */
    struct digest hash; /* of the file's first hash.size bytes */
    char sha256[65];    /* once the whole file is hashed; else "" */
    char key[96];
    char *metadata;
    char location[1024], recording[1024];
    struct push_answer answer;
    struct reel_error *err;
};
static void push_done(struct push *p) {
    if (p->fd >= 0) {
        close(p->fd);
    }
    free(p->metadata);
}

/* ---- the file */

/* Hashes the part of these bytes that has not been hashed yet. */
static void hash_more(struct push *p, uint64_t at, const void *data, size_t size) {
    if (at <= p->hash.size && at + size > p->hash.size) {
        size_t known = (size_t)(p->hash.size - at);
        digest_add(&p->hash, (const uint8_t *)data + known, size - known);
    }
}

/* Hashes everything before `end`; bytes that an earlier run sent are read again. */
static bool hash_up_to(struct push *p, uint64_t end, struct reel_error *err) {
    AUTO_MEM uint8_t *buffer = malloc(READ_BYTES);
    if (!buffer) {
        return reel_fail_memory(err);
    }
    while (p->hash.size < end) {
        uint64_t left = end - p->hash.size;
        ssize_t n = pread(p->fd, buffer, left < READ_BYTES ? (size_t)left : READ_BYTES, (off_t)p->hash.size);
        if (n <= 0) {
            return n == 0 ? reel_fail(err, REEL_CHANGED, "the file became shorter")
                          : reel_fail_errno(err, "cannot be read");
        }
        if (!p->options->go_on()) {
            return reel_fail(err, REEL_CANCELLED, "interrupted");
        }
        hash_more(p, p->hash.size, buffer, (size_t)n);
    }
    return true;
}

static bool hash_all(struct push *p, struct reel_error *err) {
    if (p->sha256[0]) {
        return true;
    }
    if (!hash_up_to(p, p->size, err)) {
        return false;
    }
    digest_end_hex(&p->hash, p->sha256);
    return true;
}

static bool read_piece(void *context, void *buffer, size_t size, size_t *got) {
    struct push *p = context;
    uint64_t left = p->size - p->at;
    ssize_t n = left > 0 ? pread(p->fd, buffer, left < size ? (size_t)left : size, (off_t)p->at) : 0;
    if (n < 0 || (n == 0 && left > 0)) {
        return n < 0 ? reel_fail_errno(p->err, "cannot be read")
                     : reel_fail(p->err, REEL_CHANGED, "the file became shorter while it was being sent");
    }
    hash_more(p, p->at, buffer, (size_t)n);
    p->at += (uint64_t)n;
    if (p->at > p->counted) {
        atomic_fetch_add(p->sent, p->at - p->counted);
        p->counted = p->at;
    }
    *got = (size_t)n;
    return true;
}

/* ---- requests */

static bool push_file_add_pair(char **metadata, const char *key, const char *value) {
    size_t size = strlen(value);
    AUTO_MEM char *coded = malloc(BASE64_TEXT(size) + 1), *before = *metadata;
    if (!coded) {
        return false;
    }
    base64_write(bytes_of(value, size), coded);
    coded[BASE64_TEXT(size)] = '\0';
    *metadata = NULL;
    return asprintf(metadata, "%s%s%s %s", before ? before : "Upload-Metadata: ", before ? "," : "", key, coded) >= 0;
}

static bool make_metadata(struct push *p, struct reel_error *err) {
    const struct push_options *w = p->options;
    json_t *tags = json_object();
    for (size_t i = 0; w->tags && w->tags[i]; i++) {
        const char *equals = strchr(w->tags[i], '=');
        AUTO_MEM char *key = strndup(w->tags[i], (size_t)(equals - w->tags[i]));
        json_object_set_new(tags, key ? key : "", json_string(equals + 1));
    }
    AUTO_MEM char *text = json_whole_text(tags, JSON_COMPACT | JSON_SORT_KEYS);
    bool plain = !p->file->part_of; /* a part has no tags of its own */
    bool ok = text && push_file_add_pair(&p->metadata, "name", p->file->name) &&
              push_file_add_pair(&p->metadata, "collection", w->collection) &&
              (!p->file->file_name || push_file_add_pair(&p->metadata, "file_name", p->file->file_name)) &&
              (plain || push_file_add_pair(&p->metadata, "part_of", p->file->part_of)) &&
              (!plain || !w->group || push_file_add_pair(&p->metadata, "group", w->group)) &&
              (!plain || !w->replace || push_file_add_pair(&p->metadata, "replace", "true")) &&
              (!plain || json_object_size(tags) == 0 || push_file_add_pair(&p->metadata, "tags", text));
    json_decref(tags);
    return ok || reel_fail_memory(err);
}

static bool make_key(struct push *p, const struct stat *st, struct reel_error *err) {
    char host[256] = "", whole[PATH_MAX];
    AUTO_MEM char *text = NULL;
    gethostname(host, sizeof host - 1);
    if (!realpath(p->file->path, whole)) {
        return reel_fail_errno(err, "cannot be found");
    }
    const char *agent = p->options->agent;
    int n = asprintf(&text, "%s\n%s\n%lld\n%lld.%09ld\n%s%s%s", host, whole, (long long)st->st_size,
                     (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec, p->metadata, agent ? "\n" : "",
                     agent ? agent : "");
    if (n < 0) {
        text = NULL;
        return reel_fail_memory(err);
    }
    strcpy(p->key, "Idempotency-Key: push-");
    digest_hex(DIGEST_SHA256, bytes_of(text, (size_t)n), p->key + strlen(p->key));
    return true;
}

static bool push_file_open_file(struct push *p, struct reel_error *err) {
    struct stat st;
    p->fd = open(p->file->path, O_RDONLY | O_CLOEXEC);
    if (p->fd < 0 || fstat(p->fd, &st) != 0) {
        return reel_fail_errno(err, "cannot be opened");
    }
    p->size = (uint64_t)st.st_size;
    digest_start(&p->hash, DIGEST_SHA256);
    return S_ISREG(st.st_mode) ? make_metadata(p, err) && make_key(p, &st, err)
                               : reel_fail(err, REEL_ARGUMENT, "is not a regular file");
}

/* ---- responses */

static void set_result(struct push *p, const json_t *recording, const char *how) {
    const char *id = json_string_value(json_object_get(recording, "id")),
               *name = json_string_value(json_object_get(recording, "name"));
    const char *collection = json_string_value(json_object_get(recording, "collection")),
               *state = json_string_value(json_object_get(recording, "state"));
    bool scanning = state && strcmp(state, "scanning") == 0;
    const char *verified = p->sha256[0] && push_file_has_content(recording, p->sha256) ? id : NULL;
    snprintf(p->file->sha256, sizeof p->file->sha256, "%s", verified ? p->sha256 : "");
    snprintf(p->file->id, sizeof p->file->id, "%s", verified ? verified : "");
    p->file->verified_s = p->answer.date_s;
    snprintf(p->file->text, sizeof p->file->text, "%s as %.80s/%.80s%s, id %.40s", how, collection ? collection : "?",
             name ? name : "?", scanning ? ", being scanned" : "", id ? id : "?");
}

static bool request(struct push *p, const char *method, const char *url, const char *extra, const char *metadata,
                    const char *key, struct reel_error *err) {
    struct push_request q = {.method = method,
                             .url = url,
                             .headers = {"Tus-Resumable: 1.0.0", extra, extra ? metadata : NULL, extra ? key : NULL}};
    return push_http_do(p->http, &q, &p->answer, err);
}

/* ---- the steps of an upload */

enum step { STEP_FAILED, STEP_RETRY, STEP_NEXT, STEP_DONE };

/* After a request that was not answered. */
static enum step step_of(const struct reel_error *err) {
    return err->code == REEL_IO ? STEP_RETRY : STEP_FAILED;
}

static enum step push_file_refused(const struct push_answer *a, struct reel_error *err) {
    push_http_refused(a, err);
    return push_http_is_transient(a->status) ? STEP_RETRY : STEP_FAILED;
}

static enum step name_is_taken(const struct push *p, struct reel_error *err) {
    reel_fail(err, REEL_CONFLICT,
              "the name \"%.120s\" has other content in the collection %.80s; --replace adds a new revision",
              p->file->name, p->options->collection);
    return STEP_FAILED;
}

/* A request with bytes of the file. STEP_NEXT: it was answered. */
static enum step send_body(struct push *p, const struct push_request *q, struct reel_error *err) {
    struct reel_error network = {0};
    p->err = err;
    if (push_http_do(p->http, q, &p->answer, &network)) {
        return STEP_NEXT;
    }
    bool own = err->code != REEL_OK; /* reading failed */
    if (!own) {
        reel_error_pass(err, &network);
    }
    return own || network.code == REEL_CANCELLED ? STEP_FAILED : STEP_RETRY;
}

static enum step other_bytes(struct reel_error *err) {
    reel_fail(err, REEL_CHANGED,
              "the server received other bytes than were read here: the file may have changed; push it again");
    return STEP_FAILED;
}

/* Nothing is sent if the server already has this content under this name, or other content that may not be replaced. */
static enum step check_existing(struct push *p, struct reel_error *err) {
    AUTO_MEM char *url = NULL, *collection = push_http_escape(p->http, p->options->collection);
    AUTO_MEM char *name = push_http_escape(p->http, p->file->part_of ? p->file->part_of : p->file->name);
    if (!collection || !name || asprintf(&url, "%s/recordings/name:%s%%2F%s", p->options->api, collection, name) < 0) {
        url = NULL;
        reel_fail_memory(err);
        return STEP_FAILED;
    }
    json_auto_t *recording = push_http_json(p->http, url, NULL, false, &p->answer, err);
    if (err->code != REEL_OK) {
        return step_of(err);
    }
    if (push_http_is_transient(p->answer.status) || p->answer.status == 401 || p->answer.status == 403) {
        return push_file_refused(&p->answer, err);
    }
    if (p->answer.status != 200) {
        return STEP_NEXT;
    }
    const char *state = json_string_value(json_object_get(recording, "state"));
    enum step step = STEP_NEXT;
    if (state && strcmp(state, "announced") == 0) { /* the server compares the content when it has it */
        return STEP_NEXT;
    }
    bool same_size = p->file->part_of ||
                     json_integer_value(json_object_get(recording, "size")) == (json_int_t)p->size ||
                     json_array_size(json_object_get(recording, "parts")) > 1;
    if (recording && same_size && !hash_all(p, err)) {
        step = STEP_FAILED;
    } else if (recording && same_size && push_file_has_content(recording, p->sha256)) {
        set_result(p, recording, "already stored");
        p->file->already_stored = true;
        step = STEP_DONE;
    } else if (recording && !p->file->part_of && !p->options->replace) {
        step = name_is_taken(p, err);
    }
    return step;
}

/* PUT …/by-name/COLLECTION/NAME?…; malloc'd. */
static char *small_url(struct push *p) {
    const struct push_options *o = p->options;
    AUTO_MEM char *collection = push_http_escape(p->http, o->collection),
                  *name = push_http_escape(p->http, p->file->name);
    char *url = NULL;
    if (!collection || !name ||
        asprintf(&url, "%s/recordings/by-name/%s/%s?replace=%s", o->api, collection, name,
                 o->replace ? "true" : "false") < 0) {
        return NULL;
    }
    push_http_add(p->http, &url, "group", o->group);
    push_http_add(p->http, &url, "file_name", p->file->file_name);
    for (size_t i = 0; o->tags && o->tags[i]; i++) {
        push_http_add(p->http, &url, "tag", o->tags[i]);
    }
    return url;
}

/* The whole file in one request, which the server answers with the recording. */
static enum step send_small(struct push *p, struct reel_error *err) {
    AUTO_MEM char *url = small_url(p);
    if (!url) {
        reel_fail_memory(err);
        return STEP_FAILED;
    }
    p->at = 0;
    struct push_request q = {.method = "PUT", .url = url, .read = read_piece, .context = p, .length = p->size};
    enum step sent = send_body(p, &q, err);
    if (sent != STEP_NEXT) {
        return sent;
    }
    if (p->answer.status == 409) {
        return name_is_taken(p, err);
    }
    if (p->answer.status < 200 || p->answer.status > 202) {
        return push_file_refused(&p->answer, err);
    }
    if (!hash_all(p, err)) {
        return STEP_FAILED;
    }
    p->file->already_stored = p->answer.status == 200;
    json_auto_t *recording = p->answer.body_size < PUSH_BODY_MAX ? json_loads(p->answer.body, 0, NULL) : NULL;
    char address[sizeof p->answer.location];
    strcpy(address, p->answer.content_location[0] ? p->answer.content_location : p->answer.location);
    if (!recording && *address && !(recording = push_http_json(p->http, address, NULL, false, &p->answer, err)) &&
        err->code != REEL_OK) {
        return step_of(err);
    }
    if (recording && !push_file_has_content(recording, p->sha256)) {
        return other_bytes(err);
    }
    set_result(p, recording, p->file->already_stored ? "already stored" : "added");
    return STEP_DONE;
}

/* Creates the upload session, or finds the one that an earlier run created. */
static enum step push_file_create(struct push *p, struct reel_error *err) {
    char url[1024], length[64];
    snprintf(url, sizeof url, "%s/uploads", p->options->api);
    snprintf(length, sizeof length, "Upload-Length: %llu", (unsigned long long)p->size);
    if (!request(p, "POST", url, length, p->metadata, p->key, err)) {
        return step_of(err);
    }
    if (p->answer.status != 201 || !p->answer.location[0]) {
        return push_file_refused(&p->answer, err);
    }
    strcpy(p->location, p->answer.location);
    strcpy(p->recording, p->answer.content_location);
    p->at = p->answer.offset > 0 ? (uint64_t)p->answer.offset : 0;
    return STEP_NEXT;
}

static enum step find_offset(struct push *p, struct reel_error *err) {
    if (!request(p, "HEAD", p->location, NULL, NULL, NULL, err)) {
        return step_of(err);
    }
    if (p->answer.status == 404 || p->answer.status == 410) {
        p->location[0] = '\0';
        return push_file_create(p, err);
    }
    if (p->answer.status != 200 || p->answer.offset < 0) {
        return push_file_refused(&p->answer, err);
    }
    strcpy(p->recording, p->answer.content_location);
    p->at = (uint64_t)p->answer.offset;
    return STEP_NEXT;
}

static enum step send_rest(struct push *p, struct reel_error *err) {
    char offset[64];
    if (p->at > p->size || !hash_up_to(p, p->at, err)) {
        return STEP_FAILED;
    }
    if (p->at > p->counted) {
        atomic_fetch_add(p->sent, p->at - p->counted);
        p->counted = p->at;
    }
    snprintf(offset, sizeof offset, "Upload-Offset: %llu", (unsigned long long)p->at);
    struct push_request q = {
        .method = "PATCH",
        .url = p->location,
        .headers = {"Tus-Resumable: 1.0.0", offset, "Content-Type: application/offset+octet-stream"},
        .read = read_piece,
        .context = p,
        .length = p->size - p->at};
    enum step sent = send_body(p, &q, err);
    if (sent != STEP_NEXT) {
        return sent;
    }
    if (p->answer.status != 204 && p->answer.status != 200) {
        push_http_refused(&p->answer, err);
        return push_http_is_transient(p->answer.status) || (p->answer.status == 409 && p->answer.offset >= 0)
                   ? STEP_RETRY
                   : STEP_FAILED;
    }
    strcpy(p->recording, p->answer.content_location);
    return STEP_NEXT;
}

/* Compares the SHA-256 of the bytes read here with the stored recording. */
static enum step verify(struct push *p, struct reel_error *err) {
    if (!p->recording[0] || !hash_all(p, err)) {
        return STEP_FAILED;
    }
    json_auto_t *recording = push_http_json(p->http, p->recording, NULL, false, &p->answer, err);
    if (err->code != REEL_OK) {
        return step_of(err);
    }
    const char *state = json_string_value(json_object_get(recording, "state"));
    enum step step = STEP_DONE;
    if (p->answer.status == 404 || (state && strcmp(state, "trashed") == 0)) { /* uploaded by an earlier run and deleted
                                                                                  since: upload again */
        step = request(p, "DELETE", p->location, NULL, NULL, NULL, err) ? STEP_RETRY : STEP_FAILED;
        p->location[0] = '\0';
    } else if (!recording) {
        step = push_file_refused(&p->answer, err);
    } else if (!push_file_has_content(recording, p->sha256)) {
        step = other_bytes(err);
    } else {
        set_result(p, recording, "added");
    }
    return step;
}

static bool pause_for_tenths(const struct push *p, unsigned tenths) {
    for (; tenths > 0 && p->options->go_on(); tenths--) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    return p->options->go_on();
}

static bool pause_before(const struct push *p, unsigned failures) {
    unsigned seconds = failures > 5 ? WAIT_LONGEST_S : 1u << (failures - 1);
    return pause_for_tenths(p, 10 * (seconds < WAIT_LONGEST_S ? seconds : WAIT_LONGEST_S));
}

/* While --rate-while stops everything, requests do not stay open: the server would end them. */
static bool wait_while_paused(const struct push *p) {
    while (p->options->rate && push_rate_is_paused(p->options->rate)) {
        if (!pause_for_tenths(p, 2)) {
            return false;
        }
    }
    return p->options->go_on();
}

static enum step attempt(struct push *p, bool *checked, struct reel_error *err) {
    if (p->size > 0 && p->size <= SMALL_BYTES && !p->file->part_of) {
        return send_small(p, err);
    }
    enum step step = *checked ? STEP_NEXT : check_existing(p, err);
    *checked = *checked || step == STEP_NEXT;
    if (step == STEP_NEXT) {
        step = p->location[0] ? find_offset(p, err) : push_file_create(p, err);
    }
    if (step == STEP_NEXT && !p->recording[0]) {
        step = send_rest(p, err);
    }
    return step == STEP_NEXT ? verify(p, err) : step;
}

bool push_file(struct push_http *http, const struct push_options *options, struct push_file *file,
               _Atomic uint64_t *sent, struct reel_error *err) {
    AUTO_STRUCT(push_done) struct push p = {.http = http, .options = options, .file = file, .sent = sent, .fd = -1};
    bool checked = false;
    if (!push_file_open_file(&p, err)) {
        return false;
    }
    push_http_limit(http, options->rate);
    for (unsigned failures = 0; wait_while_paused(&p);) {
        uint64_t before = p.counted;
        *err = (struct reel_error){0};
        enum step step = attempt(&p, &checked, err);
        if (step == STEP_FAILED && err->code == REEL_CANCELLED && options->go_on()) {
            continue; /* paused meanwhile */
        }
        if (step == STEP_DONE || step == STEP_FAILED) {
            atomic_fetch_add(sent, step == STEP_DONE ? p.size - p.counted : 0);
            return step == STEP_DONE ||
                   (err->code == REEL_OK ? reel_fail(err, REEL_IO, "invalid response from the server") : false);
        }
        failures = p.counted > before ? 1 : failures + 1;
        if (failures > options->retries || !pause_before(&p, failures)) {
            return err->code == REEL_OK ? reel_fail(err, REEL_IO, "no response from the server") : false;
        }
    }
    return reel_fail(err, REEL_CANCELLED, "interrupted; run the same command again to resume");
}
