/* See record_spool.h. */
#include "cli/record_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/digest.h"
#include "base/disk.h"
#include "base/thread.h"
#include "cli/push_state.h"
#include "cli/record_spool_file.h"
#include "reel/time.h"

enum { WAIT_TOLD_S = 2, TRIES = 3 };
static const int64_t SYNC_NS = 1000000000, FULL_NS = 1000000000;

struct record_spool {
    struct record_remote *remote;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex; /* guards what follows; the thread alone replaces file.fd */
    pthread_cond_t changed;
    struct spool_file file;
    int64_t synced_ns;
    bool closing, is_done, is_full;
    bool has_refused; /* rows are in PATH.refused */
    struct reel_error failure;
};

static bool append(struct record_spool *s, int64_t now, struct reel_bytes rows, struct reel_error *err) {
    bool begins = s->file.head.sent == s->file.end && (s->file.end > SPOOL_KEPT_MAX || s->is_full);
    s->is_full = true; /* unless the end is reached */
    if (begins && !spool_file_begin(&s->file, err)) {
        return false;
    }
    if (s->file.last_at == 0 || !spool_file_extend(&s->file, now, rows)) {
        uint64_t number = s->file.last.number + 1;
        if (!spool_file_add(&s->file, number, now, rows, err)) {
            return false;
        }
    }
    s->is_full = false;
    if (clock_ns() - s->synced_ns >= SYNC_NS) {
        s->synced_ns = clock_ns();
        s->file.synced = s->file.end;
        return spool_file_sync(&s->file, err);
    }
    return true;
}

/* On a full disk it waits until the server has all of the file. */
static bool append_patiently(struct record_spool *s, int64_t now, struct reel_bytes rows, struct reel_error *err) {
    struct reel_error why = {0};
    while (s->failure.code == REEL_OK) {
        why = (struct reel_error){0};
        if (append(s, now, rows, &why)) {
            return true;
        }
        if (why.code != REEL_NO_SPACE) {
            return reel_error_pass(err, &why);
        }
        condition_wait(&s->changed, &s->mutex, clock_deadline(FULL_NS));
    }
    return reel_error_pass(err, &s->failure);
}

bool record_spool_append(struct record_spool *s, struct reel_bytes rows, struct reel_error *err) {
    int64_t now = reel_now_ns();
    if (rows.size > SPOOL_ROWS_MAX) {
        return reel_fail(err, REEL_LIMIT, "rows of more than %d MiB at once, which no server takes",
                         SPOOL_ROWS_MAX >> 20);
    }
    pthread_mutex_lock(&s->mutex);
    bool good = spool_file_keep_channels(&s->file, rows, err) && append_patiently(s, now, rows, err);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
    return good;
}

/* ---- sending */

/* What the server knows by its number must not be lost here: the next run would use the number for other rows. */
static bool sync_before_sending(struct record_spool *s, struct reel_error *err) {
    pthread_mutex_lock(&s->mutex);
    uint64_t end = s->file.end;
    bool good = s->file.sending <= s->file.synced;
    pthread_mutex_unlock(&s->mutex);
    if (good) {
        return true;
    }
    good = spool_file_sync(&s->file, err); /* the file cannot begin anew meanwhile: this is not sent */
    pthread_mutex_lock(&s->mutex);
    s->file.synced = good && end > s->file.synced ? end : s->file.synced;
    pthread_mutex_unlock(&s->mutex);
    return good;
}

/* The next batch, in `rows`; false: there is none any more, or with err. */
static bool next_batch(struct record_spool *s, struct spool_batch *batch, struct grow *rows, struct reel_error *err) {
    pthread_mutex_lock(&s->mutex);
    while (s->file.head.sent == s->file.end && !s->closing) {
        condition_wait(&s->changed, &s->mutex, clock_deadline(INT64_MAX));
    }
    spool_file_shorten(&s->file);
    bool any = s->file.head.sent < s->file.end;
    uint64_t at = s->file.head.sent;
    bool good = !any || disk_read_at(s->file.fd, batch, sizeof *batch, at) || reel_fail_errno(err, "%s", s->file.path);
    s->file.sending = good && any ? at + sizeof *batch + batch->size : s->file.sending;
    pthread_mutex_unlock(&s->mutex);
    rows->size = 0;
    if (!any || !good) {
        return false;
    }
    uint8_t *room = grow_take(rows, batch->size);
    if (!room) {
        return reel_fail_memory(err);
    }
    return (disk_read_at(s->file.fd, room, batch->size, at + sizeof *batch) ||
            reel_fail_errno(err, "%s", s->file.path)) &&
           sync_before_sending(s, err);
}

/* Defines all channels once more. */
static bool send_channels(struct record_spool *s, uint64_t number, struct reel_error *err) {
    pthread_mutex_lock(&s->mutex);
    size_t size = s->file.channels.size;
    AUTO_MEM uint8_t *channels = malloc(size + 1);
    if (channels && size > 0) {
        memcpy(channels, s->file.channels.data, size);
    }
    pthread_mutex_unlock(&s->mutex);
    return channels ? size == 0 || record_remote_send(s->remote, bytes_of(channels, size), number, 0, err)
                    : reel_fail_memory(err);
}

/* The server has finished the recording while the link was cut. */
static bool go_on_elsewhere(struct record_spool *s, struct reel_error *err) {
    if (!record_remote_continue(s->remote, err)) {
        return false;
    }
    fprintf(stderr, "reel record: the server has finished the recording meanwhile; it goes on as %s\n",
            record_remote_id(s->remote));
    if (!send_channels(s, UINT64_MAX, err)) {
        return false;
    }
    pthread_mutex_lock(&s->mutex);
    memcpy(s->file.head.id, record_remote_id(s->remote), SPOOL_ID_SIZE);
    bool good = spool_file_write_head(&s->file, err) && spool_file_sync(&s->file, err);
    pthread_mutex_unlock(&s->mutex);
    return good;
}

/* *refused: the rows are wrong: the server never takes them. */
static bool send_rows(struct record_spool *s, uint64_t number, int64_t read_ns, struct reel_bytes rows, bool *refused,
                      struct reel_error *err) {
    struct reel_error why = {0};
    *refused = false;
    for (unsigned tries = 1; !record_remote_send(s->remote, rows, number, read_ns, &why); tries++) {
        enum record_fate fate = record_remote_fate(s->remote);
        *refused = fate == RECORD_REFUSED;
        if (fate != RECORD_OVER || tries == TRIES) {
            return reel_error_pass(err, &why);
        }
        if (!go_on_elsewhere(s, err)) {
            return false;
        }
        why = (struct reel_error){0};
    }
    return true;
}

/* Rows that the server refused, as they were read; durable before they count as sent. */
static bool put_aside(struct record_spool *s, struct reel_bytes rows, struct reel_error *err) {
    AUTO_MEM char *path = disk_adjacent(s->file.path, ".refused");
    AUTO_FD int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (!path) {
        return reel_fail_memory(err);
    }
    fprintf(stderr, "reel record: %s; these rows, %zu bytes, are put aside in %s\n", err->text, rows.size, path);
    *err = (struct reel_error){0};
    s->has_refused = true; /* read when this thread has ended */
    return (fd >= 0 && disk_write_all(fd, rows.data, rows.size) && fdatasync(fd) == 0) ||
           reel_fail_errno(err, "%s", path);
}

/* The refused rows may have defined channels, without which the server would take later messages as they come: of no
 * type and encoding. The number is theirs: the server keeps none of what it refuses. */
static bool define_again(struct record_spool *s, uint64_t number, struct reel_error *err) {
    struct reel_error why = {0};
    if (send_channels(s, number, &why)) {
        return true;
    }
    switch (record_remote_fate(s->remote)) {
    case RECORD_OVER:
        return go_on_elsewhere(s, err);
    case RECORD_REFUSED:
        fprintf(stderr, "reel record: channels are not defined: %s\n", why.text);
        return true;
    default:
        return reel_error_pass(err, &why);
    }
}

/* Where rows can be parted, about in the middle; 0: they are one. */
static size_t half_of(const struct record_spool *s, struct reel_bytes rows) {
    size_t half = 0;
    bool is_list = s->file.medium == REEL_ROWS_JSON && rows.size > 0 && rows.data[0] == '[';
    for (size_t n = rows.size / 2; n > 0 && n < rows.size && half == 0 && !is_list; n += (rows.size - n + 1) / 2) {
        half = reel_rows_whole(s->file.medium, bytes_of(rows.data, n));
    }
    return half;
}

/* A batch has rows of a whole second, which a proxy may refuse for their size: then they are sent in halves. What is
 * refused all the same is put aside. `at`: of a part in its batch, for a number of its own. */
static bool send_parts(struct record_spool *s, const struct spool_batch *batch, struct reel_bytes rows, uint64_t at,
                       bool is_part, struct reel_error *err) {
    enum { AT_SHIFT = 39 }; /* SPOOL_ROWS_MAX is 2^24; numbers of batches stay far below */
    uint64_t number = is_part ? batch->number | (at + 1) << AT_SHIFT : batch->number;
    bool refused, good = send_rows(s, number, batch->read_ns, rows, &refused, err);
    if (good || !refused) {
        return good;
    }
    size_t half = record_remote_is_too_large(s->remote) ? half_of(s, rows) : 0;
    if (half == 0) {
        return put_aside(s, rows, err) && define_again(s, number, err);
    }
    *err = (struct reel_error){0};
    return send_parts(s, batch, bytes_of(rows.data, half), at, true, err) &&
           send_parts(s, batch, bytes_of(rows.data + half, rows.size - half), at + half, true, err);
}

static bool note_sent(struct record_spool *s, bool good, bool passed, struct reel_error *err) {
    pthread_mutex_lock(&s->mutex);
    struct reel_error why = {0};
    s->file.head.sent = passed ? s->file.sending : s->file.head.sent;
    if (passed && !spool_file_write_head(&s->file, &why) && good) {
        good = reel_error_pass(err, &why);
    }
    pthread_mutex_unlock(&s->mutex);
    return good;
}

static void *send_all(void *context) {
    struct record_spool *s = context;
    struct spool_batch batch;
    struct grow rows = {0};
    struct reel_error err = {0};
    while (next_batch(s, &batch, &rows, &err)) {
        const struct reel_bytes all = bytes_of(rows.data, rows.size);
        bool good = batch.number == 0 || send_parts(s, &batch, all, 0, false, &err);
        if (!note_sent(s, good, good, &err)) {
            break;
        }
    }
    grow_done(&rows);
    pthread_mutex_lock(&s->mutex);
    s->failure = err;
    s->is_done = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
    return NULL;
}

bool record_spool_finish(struct record_spool *s, struct reel_error *err) {
    bool is_told = false;
    pthread_mutex_lock(&s->mutex);
    s->closing = true;
    pthread_cond_broadcast(&s->changed);
    while (!s->is_done) {
        if (!condition_wait(&s->changed, &s->mutex, clock_deadline(WAIT_TOLD_S * INT64_C(1000000000))) && !is_told) {
            fprintf(stderr, "reel record: waiting for the server; the rest is in %s, and the same command sends it\n",
                    s->file.path);
            is_told = true;
        }
    }
    pthread_mutex_unlock(&s->mutex);
    if (s->failure.code != REEL_OK) {
        return reel_error_pass(err, &s->failure);
    }
    if (!record_remote_finish(s->remote, err)) {
        return false;
    }
    unlink(s->file.path);
    return !s->has_refused ||
           reel_fail(err, REEL_ARGUMENT, "the rows that the server refused are in %s.refused", s->file.path);
}

/* ---- opening */

static char *spool_path(const struct record_remote_options *o, struct reel_error *err) {
    AUTO_MEM char *folder = push_state_folder(err), *text = NULL;
    char *path = NULL, hex[65];
    if (!folder) {
        return NULL;
    }
    int n =
        asprintf(&text, "%s\n%s\n%s\n%s", o->server, o->collection ? o->collection : "default", o->name, o->media_type);
    if (n < 0) {
        text = NULL;
        reel_fail_memory(err);
        return NULL;
    }
    digest_hex(DIGEST_SHA256, bytes_of(text, (size_t)n), hex);
    if (asprintf(&path, "%s/record-%.16s", folder, hex) < 0) {
        reel_fail_memory(err);
        return NULL;
    }
    return path;
}

static bool spool_start(struct record_spool *s, const struct record_remote_options *options, struct reel_error *err) {
    char id[SPOOL_ID_SIZE + 1] = "";
    struct stat own, named;
    if (flock(s->file.fd, LOCK_EX | LOCK_NB) != 0 || fstat(s->file.fd, &own) != 0 || stat(s->file.path, &named) != 0 ||
        own.st_ino != named.st_ino) { /* or it was just replaced by the one that uses it */
        return reel_fail(err, REEL_CONFLICT, "another reel record writes this recording (%s)", s->file.path);
    }
    if (!spool_file_read(&s->file, err)) {
        return false;
    }
    memcpy(id, s->file.head.id, SPOOL_ID_SIZE);
    s->remote = *id ? record_remote_resume(options, id, err) : record_remote_open(options, err);
    if (!s->remote) {
        return false;
    }
    record_remote_uninterrupted(s->remote);
    if (!*id) {
        memcpy(s->file.head.id, record_remote_id(s->remote), SPOOL_ID_SIZE);
        if (!spool_file_begin(&s->file, err) || !disk_sync_folder_of(s->file.path, err)) {
            return false;
        }
    } else if (s->file.head.sent < s->file.end) {
        fprintf(stderr, "reel record: an earlier run left %llu bytes, which are sent first\n",
                (unsigned long long)(s->file.end - s->file.head.sent));
    }
    fprintf(stderr, "reel record: recording %s\n", record_remote_id(s->remote)); /* later it is the thread's */
    s->has_thread = pthread_create(&s->thread, NULL, send_all, s) == 0;
    return s->has_thread || reel_fail(err, REEL_NO_MEMORY, "no thread can be started");
}

struct record_spool *record_spool_open(const struct record_remote_options *options, enum reel_row_media medium,
                                       struct reel_error *err) {
    AUTO(record_spool_free) struct record_spool *s = calloc(1, sizeof *s);
    if (!s) {
        reel_fail_memory(err);
        return NULL;
    }
    s->file.fd = -1;
    s->file.medium = medium;
    pthread_mutex_init(&s->mutex, NULL);
    condition_init(&s->changed);
    if (!(s->file.path = spool_path(options, err))) {
        return NULL;
    }
    s->file.fd = open(s->file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->file.fd < 0) {
        reel_fail_errno(err, "%s", s->file.path);
        return NULL;
    }
    return spool_start(s, options, err) ? TAKE(s) : NULL;
}

void record_spool_free(struct record_spool *s) {
    if (!s) {
        return;
    }
    if (s->has_thread) {
        pthread_mutex_lock(&s->mutex);
        s->closing = true;
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->mutex);
        pthread_join(s->thread, NULL);
    }
    record_remote_free(s->remote);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->mutex);
    grow_done(&s->file.channels);
    free(s->file.path);
    if (s->file.fd >= 0) {
        close(s->file.fd);
    }
    free(s);
}
