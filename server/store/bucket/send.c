/* See send.h. */
#include "store/bucket/send.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/disk.h"
#include "base/hex.h"
#include "json_whole.h"

enum { IN_FLIGHT = 4, NAME_TEXT = 48 };
#define MIB (UINT64_C(1) << 20)
#define SPOOL_BYTES (256 * MIB) /* of an upload in its file; what was sent before is freed */

/* Sizes of parts: 10,000 of them are 2.7 TB, and small uploads begin early. */
static const struct {
    unsigned parts;
    uint64_t bytes;
} sizes[] = {{1000, 8 * MIB}, {4000, 64 * MIB}, {5000, 512 * MIB}};

struct part_task {
    struct bucket_task task; /* first */
    struct sending *sending; /* NULL: free */
    unsigned number;
};

struct sending {
    struct bucket *bucket;
    int fd;
    char location[NAME_TEXT], upload[S3_UPLOAD_MAX]; /* upload "": not begun */
    unsigned sent;                                   /* parts given to the threads, of these sizes without a gap */
    uint64_t sent_bytes, held_from, kept_from;       /* held_from: nothing from here on is freed */
    uint64_t sure;                                   /* what the last note describes */
    char (*etags)[S3_ETAG_MAX];
    struct digest *hashes; /* [n]: after n parts */
    unsigned room;
    bool complete;
    char tail[NAME_TEXT], old_tail[NAME_TEXT]; /* objects below incoming/ */
    struct part_task tasks[IN_FLIGHT];
    pthread_mutex_t mutex; /* guards what follows, and which tasks are free */
    pthread_cond_t changed;
    unsigned in_flight;
    struct reel_error failed;
};

/* Of part `number`, from 1; 0: there is none. */
static uint64_t send_size_of(unsigned number) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (number <= sizes[i].parts) {
            return sizes[i].bytes;
        }
        number -= sizes[i].parts;
    }
    return 0;
}

static uint64_t bytes_of(unsigned parts) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned n = parts < sizes[i].parts ? parts : sizes[i].parts;
        bytes += n * sizes[i].bytes;
        parts -= n;
    }
    return bytes;
}

static bool make_name(const char *folder, char out[NAME_TEXT], struct reel_error *err) {
    uint8_t random[16];
    char hex[2 * sizeof random + 1];
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return reel_fail_errno(err, "there are no random numbers");
    }
    hex_write(random, sizeof random, hex);
    snprintf(out, NAME_TEXT, "%s%s", folder, hex);
    return true;
}

static struct sending *new_sending(struct bucket *b, int fd, struct reel_error *err) {
    struct sending *s = calloc(1, sizeof *s);
    if (!s) {
        reel_fail_memory(err);
        return NULL;
    }
    s->bucket = b;
    s->fd = fd;
    s->held_from = UINT64_MAX;
    pthread_mutex_init(&s->mutex, NULL);
    pthread_cond_init(&s->changed, NULL);
    return s;
}

struct sending *sending_new(struct bucket *b, int fd, struct reel_error *err) {
    struct sending *s = new_sending(b, fd, err);
    if (s && !make_name("objects/", s->location, err)) {
        sending_free(TAKE(s));
    }
    return s;
}

uint64_t sending_next(const struct sending *s) {
    return s->sent_bytes + send_size_of(s->sent + 1);
}
uint64_t sending_kept(const struct sending *s) {
    return s->kept_from;
}
void sending_hold(struct sending *s, uint64_t offset) {
    s->held_from = offset;
}

static struct s3_name send_name_of(const struct sending *s, char bucket[S3_BUCKET_MAX], char key[S3_KEY_MAX + 1]) {
    return bucket_located(s->bucket, s->location, bucket, key);
}

/* ---- parts */

static void run_part(struct bucket_task *task) {
    struct part_task *t = (struct part_task *)task;
    struct sending *s = t->sending;
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1], etag[S3_ETAG_MAX];
    struct reel_error why = {0};
    const uint64_t from = bytes_of(t->number - 1);
    const struct s3_body body = {.fd = s->fd, .offset = from, .size = send_size_of(t->number)};
    bool good = s3_part(s->bucket->s3, send_name_of(s, bucket, key), s->upload, t->number, &body, etag, &why);
    pthread_mutex_lock(&s->mutex);
    if (good) {
        memcpy(s->etags[t->number - 1], etag, sizeof etag);
    } else if (s->failed.code == REEL_OK) {
        s->failed = why;
    }
    t->sending = NULL;
    s->in_flight--;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
}

/* Each part ends by its own time limit. The mutex is held. */
static bool wait_below(struct sending *s, unsigned most, struct reel_error *err) {
    while (s->in_flight > most) {
        pthread_cond_wait(&s->changed, &s->mutex);
    }
    return s->failed.code == REEL_OK || (s->in_flight == 0 ? reel_error_pass(err, &s->failed) : wait_below(s, 0, err));
}

static bool settle(struct sending *s, struct reel_error *err) {
    pthread_mutex_lock(&s->mutex);
    bool good = wait_below(s, 0, err);
    pthread_mutex_unlock(&s->mutex);
    return good;
}

static bool send_begin(struct sending *s, struct reel_error *err) {
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1];
    return s->upload[0] || s3_begin(s->bucket->s3, send_name_of(s, bucket, key), s->upload, err);
}

/* Room for one more; no part is in flight while the table moves. */
static bool make_place(struct sending *s, struct reel_error *err) {
    if (s->sent < s->room) {
        return true;
    }
    unsigned room = s->room ? 2 * s->room : 16;
    if (!settle(s, err)) {
        return false;
    }
    void *etags = realloc(s->etags, room * sizeof *s->etags);
    s->etags = etags ? etags : s->etags;
    void *hashes = etags ? realloc(s->hashes, (room + 1) * sizeof *s->hashes) : NULL;
    if (!hashes) {
        return reel_fail_memory(err);
    }
    s->hashes = hashes;
    s->room = room;
    return true;
}

/* Frees sent bytes of a file that has grown large. Nothing before what is in flight is still needed. */
static void free_sent(struct sending *s) {
    uint64_t until = s->sent >= IN_FLIGHT ? bytes_of(s->sent - IN_FLIGHT) : 0;
    until = until < s->held_from ? until : s->held_from;
    if (until > s->kept_from && s->sent_bytes - s->kept_from > SPOOL_BYTES &&
        fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)s->kept_from,
                  (off_t)(until - s->kept_from)) == 0) {
        s->kept_from = until;
    }
}

bool sending_grow(struct sending *s, const struct digest *hash, struct reel_error *err) {
    if (!send_size_of(s->sent + 1)) {
        return reel_fail(err, REEL_LIMIT, "an object in S3 has at most %" PRIu64 " bytes", bytes_of(S3_PARTS_MAX));
    }
    if (!send_begin(s, err) || !make_place(s, err)) {
        return false;
    }
    pthread_mutex_lock(&s->mutex);
    bool good = wait_below(s, IN_FLIGHT - 1, err);
    if (good) {
        struct part_task *t = s->tasks;
        while (t->sending) {
            t++;
        }
        *t = (struct part_task){.task.run = run_part, .sending = s, .number = ++s->sent};
        s->in_flight++;
        s->sent_bytes = bytes_of(s->sent);
        s->hashes[s->sent] = *hash;
        bucket_run(s->bucket, &t->task);
    }
    pthread_mutex_unlock(&s->mutex);
    free_sent(s);
    return good;
}

uint64_t sending_hash(const struct sending *s, struct digest *out) {
    if (s->sent > 0) {
        *out = s->hashes[s->sent];
    } else {
        digest_start(out, DIGEST_SHA256);
    }
    return s->sent_bytes;
}

bool sending_cut(struct sending *s, uint64_t size, struct reel_error *err) {
    if (size < s->sent_bytes && !settle(s, err)) {
        return false;
    }
    while (s->sent > 0 && bytes_of(s->sent) > size) {
        s->sent--;
    }
    s->sent_bytes = bytes_of(s->sent);
    s->sure = s->sure < size ? s->sure : 0;
    return s->sent_bytes >= s->kept_from ||
           reel_fail(err, REEL_CHANGED, "the upload cannot go back that far; begin it again");
}

/* ---- across processes */

static char *write_note(const struct sending *s) {
    char state[SHA256_HEX];
    json_auto_t *etags = json_array();
    for (unsigned i = 0; i < s->sent; i++) {
        json_array_append_new(etags, json_string(s->etags[i]));
    }
    struct digest hash;
    sending_hash(s, &hash);
    digest_state(&hash, state);
    json_auto_t *note = json_pack("{s:s, s:s, s:s, s:s, s:b, s:O}", "object", s->location, "upload", s->upload, "hash",
                                  state, "tail", s->tail, "complete", s->complete, "etags", etags);
    return note ? json_whole_text(note, JSON_COMPACT) : NULL;
}

char *sending_note(struct sending *s, struct reel_error *err) {
    char *note = write_note(s);
    if (!note) {
        reel_fail_memory(err);
    }
    return note;
}

bool sending_location(const char *text, bool complete, char out[STORE_LOCATION_MAX]) {
    json_auto_t *note = json_loads(text, 0, NULL);
    const char *location = json_string_value(json_object_get(note, "object"));
    return location && (!complete || json_is_true(json_object_get(note, "complete"))) &&
           snprintf(out, STORE_LOCATION_MAX, "%s", location) < STORE_LOCATION_MAX;
}

static bool send_tail(struct sending *s, uint64_t size, struct reel_error *err) {
    char key[S3_KEY_MAX + 1];
    const struct s3_body body = {.fd = s->fd, .offset = s->sent_bytes, .size = size - s->sent_bytes};
    memcpy(s->old_tail, s->tail, sizeof s->tail);
    s->tail[0] = '\0';
    return body.size == 0 ||
           (make_name("", s->tail, err) &&
            s3_put(s->bucket->s3, bucket_name(s->bucket, "incoming", s->tail, key), &body, false, err));
}

char *sending_confirm(struct sending *s, uint64_t size, bool parts_only, uint64_t *sure, struct reel_error *err) {
    bool again = parts_only && s->sent_bytes <= s->sure; /* the tail that is there already reaches further */
    if (!settle(s, err) || (!again && !send_tail(s, parts_only ? s->sent_bytes : size, err))) {
        return NULL;
    }
    *sure = s->sure = again ? s->sure : parts_only ? s->sent_bytes : size;
    return sending_note(s, err);
}

void sending_confirmed(struct sending *s) {
    struct reel_error ignored;
    if (s->old_tail[0]) {
        bucket_delete(s->bucket, "incoming", s->old_tail, &ignored); /* else it is swept */
        s->old_tail[0] = '\0';
    }
}

static bool read_etags(struct sending *s, const json_t *etags) {
    size_t i;
    json_t *one;
    s->room = (unsigned)json_array_size(etags) + 1;
    s->etags = s->room <= S3_PARTS_MAX + 1 ? calloc(s->room, sizeof *s->etags) : NULL;
    s->hashes = s->etags ? calloc(s->room + 1, sizeof *s->hashes) : NULL;
    json_array_foreach(etags, i, one) {
        const char *text = json_string_value(one);
        if (!s->hashes || !text || strlen(text) >= S3_ETAG_MAX) {
            return false;
        }
        memcpy(s->etags[i], text, strlen(text));
    }
    s->sent = (unsigned)i;
    s->sent_bytes = s->kept_from = bytes_of(s->sent);
    return s->hashes;
}

static bool send_copy(char *out, size_t size, const char *text) {
    return (size_t)snprintf(out, size, "%s", text) < size;
}

static bool read_note(struct sending *s, const json_t *note) {
    const char *location, *upload, *hash, *tail;
    json_t *etags;
    int complete;
    bool good = json_unpack((json_t *)note, "{s:s, s:s, s:s, s:s, s:b, s:o}", "object", &location, "upload", &upload,
                            "hash", &hash, "tail", &tail, "complete", &complete, "etags", &etags) == 0;
    s->complete = good && complete;
    return good && json_is_array(etags) && send_copy(s->location, sizeof s->location, location) &&
           send_copy(s->upload, sizeof s->upload, upload) && send_copy(s->tail, sizeof s->tail, tail) &&
           read_etags(s, etags) && digest_restore(&s->hashes[s->sent], hash, s->sent_bytes);
}

/* Gets the bytes behind the last part. */
static bool get_tail(struct sending *s, uint64_t *size, struct digest *hash, struct reel_error *err) {
    size_t n = 0;
    *size = sending_hash(s, hash);
    if (!s->tail[0]) {
        return true;
    }
    AUTO_MEM char *bytes = NULL;
    char key[S3_KEY_MAX + 1];
    bytes = s3_get_all(s->bucket->s3, bucket_name(s->bucket, "incoming", s->tail, key),
                       (size_t)send_size_of(s->sent + 1), &n, NULL, err);
    if (!bytes || lseek(s->fd, (off_t)s->sent_bytes, SEEK_SET) < 0 || !disk_write_all(s->fd, bytes, n)) {
        return bytes ? reel_fail_errno(err, "the upload's file cannot be written") : false;
    }
    digest_add(hash, bytes, n);
    *size += n;
    s->sure = *size;
    return true;
}

struct sending *sending_resume(struct bucket *b, int fd, const char *text, uint64_t *size, struct digest *hash,
                               struct reel_error *err) {
    json_auto_t *note = json_loads(text, 0, NULL);
    struct sending *s = new_sending(b, fd, err);
    if (!s) {
        return NULL;
    }
    bool good = (note && read_note(s, note)) || reel_fail(err, REEL_DAMAGED, "the note of an upload makes no sense");
    good =
        good && ((ftruncate(fd, 0) == 0 && ftruncate(fd, (off_t)s->sent_bytes) == 0 && lseek(fd, 0, SEEK_END) >= 0) ||
                 reel_fail_errno(err, "the upload's file cannot be made"));
    if (!good || !get_tail(s, size, hash, err)) {
        sending_free(s);
        return NULL;
    }
    return s;
}

void sending_forget(struct bucket *b, const char *text) {
    json_auto_t *note = json_loads(text, 0, NULL);
    struct reel_error ignored;
    struct sending *s = note ? new_sending(b, -1, &ignored) : NULL;
    if (s && read_note(s, note)) {
        sending_abandon(s);
    }
    sending_free(s);
}

/* ---- the end */

static bool send_rest(struct sending *s, uint64_t size, struct reel_error *err) {
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1];
    struct s3_name name = send_name_of(s, bucket, key);
    const struct s3_body body = {.fd = s->fd, .offset = s->sent_bytes, .size = size - s->sent_bytes};
    if (s->sent == 0) {
        return s3_put(s->bucket->s3, name, &body, false, err);
    }
    if (!make_place(s, err) || !settle(s, err)) {
        return false;
    }
    unsigned parts = s->sent + (body.size > 0);
    return (body.size == 0 || s3_part(s->bucket->s3, name, s->upload, parts, &body, s->etags[s->sent], err)) &&
           s3_complete(s->bucket->s3, name, s->upload, (const char(*)[S3_ETAG_MAX])s->etags, parts, err);
}

static void remove_tails(struct sending *s) {
    struct reel_error ignored;
    sending_confirmed(s);
    if (s->tail[0]) {
        bucket_delete(s->bucket, "incoming", s->tail, &ignored);
        s->tail[0] = '\0';
    }
}

const char *sending_end(struct sending *s, uint64_t size, struct reel_error *err) {
    if (!s->complete && (s->complete = send_rest(s, size, err))) {
        remove_tails(s);
    }
    return s->complete ? s->location : NULL;
}

void sending_abandon(struct sending *s) {
    char bucket[S3_BUCKET_MAX], key[S3_KEY_MAX + 1];
    struct reel_error ignored;
    settle(s, &ignored);
    remove_tails(s);
    if (s->complete) {
        s3_delete(s->bucket->s3, send_name_of(s, bucket, key), &ignored);
    } else if (s->upload[0]) {
        s3_abort(s->bucket->s3, send_name_of(s, bucket, key), s->upload, &ignored);
    }
    s->upload[0] = '\0';
}

void sending_free(struct sending *s) {
    struct reel_error ignored;
    if (s) {
        settle(s, &ignored);
        pthread_mutex_destroy(&s->mutex);
        pthread_cond_destroy(&s->changed);
        free(s->etags);
        free(s->hashes);
        free(s);
    }
}
