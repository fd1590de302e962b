/* See record_spool.h. The file: a head with the recording's id and how far it is sent, then batches. The first batch
 * has the channels that were defined before, for a recording that has to continue in another one. */
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
#include "base/cursor.h"
#include "base/digest.h"
#include "base/disk.h"
#include "base/grow.h"
#include "base/thread.h"
#include "cli/push_state.h"
#include "reel/time.h"
#include "syntax/msgpack.h"

enum { BATCH_MAX = 4 << 20, KEPT_MAX = 8 << 20, ID_SIZE = 32, WAIT_TOLD_S = 2 };
static const int64_t SYNC_NS = 1000000000, MERGE_NS = 1000000000, FULL_NS = 1000000000;
static const char MAGIC[8] = {'r', 'e', 'e', 'l', 'r', 'e', 'c', '1'};

struct spool_head {
    char magic[8], id[ID_SIZE];
    uint64_t sent; /* offset of the first batch that is not sent */
};
struct spool_batch {
    uint64_t number; /* from 1; 0: channels */
    int64_t read_ns; /* when its rows were read */
    uint64_t size;
};

struct record_spool {
    struct record_remote *remote;
    enum reel_row_media medium;
    char *path;
    int fd;
    struct grow channels; /* rows that define channels; the mutex guards it */
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mutex; /* guards what follows */
    pthread_cond_t changed;
    struct spool_head head;
    uint64_t end;            /* of the file */
    uint64_t last_at;        /* offset of the last batch */
    struct spool_batch last; /* may grow while it is not being sent */
    uint64_t sending;        /* offset behind the batch that is being sent */
    int64_t synced_ns;
    bool closing, is_done, is_full;
    struct reel_error failure;
};

/* ---- rows that define channels */

static bool json_is_channel(struct reel_bytes row) {
    static const char name[] = "\"$channel\"";
    const char *blanks = " \t{";
    while (row.size > 0 && strchr(blanks, row.data[0]) && row.data[0]) {
        row.data++;
        row.size--;
    }
    return row.size >= sizeof name - 1 && memcmp(row.data, name, sizeof name - 1) == 0;
}

static void keep_json_channels(struct grow *out, struct reel_bytes rows) {
    for (const uint8_t *at = rows.data, *end = rows.data + rows.size; at < end;) {
        const uint8_t *line = memchr(at, '\n', (size_t)(end - at));
        size_t size = line ? (size_t)(line - at) + 1 : (size_t)(end - at);
        if (json_is_channel(bytes_of(at, size))) {
            grow_put(out, at, size);
            if (!line) {
                grow_u8(out, '\n');
            }
        }
        at += size;
    }
}

static void keep_msgpack_channels(struct grow *out, struct reel_bytes rows) {
    static const uint8_t begin[] = {0x81, 0xa8, '$', 'c', 'h', 'a', 'n', 'n', 'e', 'l'};
    struct msgpack_faults faults = {0};
    struct cursor c = cursor_of(rows);
    while (cursor_left(&c) > 0) {
        const uint8_t *at = rows.data + rows.size - cursor_left(&c);
        if (msgpack_skip(&c, REEL_DEPTH_MAX, &faults) != MSGPACK_OK) {
            return;
        }
        size_t size = (size_t)(rows.data + rows.size - cursor_left(&c) - at);
        if (size > sizeof begin && memcmp(at, begin, sizeof begin) == 0) {
            grow_put(out, at, size);
        }
    }
}

static bool keep_channels(struct record_spool *s, struct reel_bytes rows, struct reel_error *err) {
    static const char name[] = "$channel";
    if (memmem(rows.data, rows.size, name, sizeof name - 1)) {
        (s->medium == REEL_ROWS_JSON ? keep_json_channels : keep_msgpack_channels)(&s->channels, rows);
    }
    return !s->channels.failed || reel_fail_memory(err);
}

/* ---- the file; the mutex is held */

static bool write_head(struct record_spool *s, struct reel_error *err) {
    return disk_write_at(s->fd, &s->head, sizeof s->head, 0) || reel_fail_errno(err, "%s", s->path);
}

/* A whole batch, or the file as before. */
static bool write_batch(struct record_spool *s, uint64_t number, int64_t read_ns, struct reel_bytes rows,
                        struct reel_error *err) {
    const struct spool_batch batch = {.number = number, .read_ns = read_ns, .size = rows.size};
    if (!disk_write_at(s->fd, rows.data, rows.size, s->end + sizeof batch) ||
        !disk_write_at(s->fd, &batch, sizeof batch, s->end)) {
        int code = errno;
        bool cut = ftruncate(s->fd, (off_t)s->end) == 0;
        errno = cut ? code : errno;
        return reel_fail_errno(err, "%s", s->path);
    }
    s->last_at = s->end;
    s->last = batch;
    s->end += sizeof batch + rows.size;
    return true;
}

/* Rows of one moment, or with times of their own, become one batch: over a slow link a request each would not keep up.
 */
static bool extend_last(struct record_spool *s, int64_t now, struct reel_bytes rows) {
    static const char time[] = "log_time";
    struct spool_batch longer = s->last;
    bool one_time = now - s->last.read_ns < MERGE_NS || memmem(rows.data, rows.size, time, sizeof time - 1);
    bool is_list = rows.size > 0 && rows.data[0] == '['; /* of JSON: one to a batch */
    if (is_list || s->last.number == 0 || s->last_at < s->sending || !one_time || longer.size + rows.size > BATCH_MAX ||
        s->head.sent > s->last_at) {
        return false;
    }
    longer.size += rows.size;
    if (!disk_write_at(s->fd, rows.data, rows.size, s->end) ||
        !disk_write_at(s->fd, &longer, sizeof longer, s->last_at)) {
        bool cut = ftruncate(s->fd, (off_t)s->end) == 0 && disk_write_at(s->fd, &s->last, sizeof s->last, s->last_at);
        (void)cut; /* write_batch() reports the error */
        return false;
    }
    s->last = longer;
    s->end += rows.size;
    return true;
}

/* Nothing waits and the file has grown: it begins anew. */
static bool begin_file(struct record_spool *s, struct reel_error *err) {
    s->end = s->head.sent = s->last_at = sizeof s->head;
    s->sending = 0;
    if (ftruncate(s->fd, (off_t)s->end) != 0) {
        return reel_fail_errno(err, "%s", s->path);
    }
    uint64_t number = s->last.number;
    bool good = write_head(s, err) &&
                (s->channels.size == 0 || write_batch(s, 0, 0, bytes_of(s->channels.data, s->channels.size), err));
    s->last = (struct spool_batch){.number = number}; /* the numbers go on */
    s->last_at = 0;
    return good;
}

static bool append(struct record_spool *s, int64_t now, struct reel_bytes rows, struct reel_error *err) {
    bool begins = s->head.sent == s->end && (s->end > KEPT_MAX || s->is_full);
    s->is_full = true; /* unless the end is reached */
    if (begins && !begin_file(s, err)) {
        return false;
    }
    if (s->last_at == 0 || !extend_last(s, now, rows)) {
        uint64_t number = s->last.number + 1;
        if (!write_batch(s, number, now, rows, err)) {
            return false;
        }
    }
    s->is_full = false;
    if (clock_ns() - s->synced_ns >= SYNC_NS) {
        s->synced_ns = clock_ns();
        return fdatasync(s->fd) == 0 || reel_fail_errno(err, "%s", s->path);
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
    pthread_mutex_lock(&s->mutex);
    bool good = keep_channels(s, rows, err) && append_patiently(s, now, rows, err);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->mutex);
    return good;
}

/* ---- sending */

/* The next batch, in `rows`; false: there is none any more, or with err. */
static bool next_batch(struct record_spool *s, struct spool_batch *batch, struct grow *rows, struct reel_error *err) {
    pthread_mutex_lock(&s->mutex);
    while (s->head.sent == s->end && !s->closing) {
        condition_wait(&s->changed, &s->mutex, clock_deadline(INT64_MAX));
    }
    bool any = s->head.sent < s->end;
    uint64_t at = s->head.sent;
    bool good = !any || disk_read_at(s->fd, batch, sizeof *batch, at) || reel_fail_errno(err, "%s", s->path);
    s->sending = good && any ? at + sizeof *batch + batch->size : s->sending;
    pthread_mutex_unlock(&s->mutex);
    rows->size = 0;
    if (!any || !good) {
        return false;
    }
    uint8_t *room = grow_take(rows, batch->size);
    return room ? disk_read_at(s->fd, room, batch->size, at + sizeof *batch) || reel_fail_errno(err, "%s", s->path)
                : reel_fail_memory(err);
}

/* The server has finished the recording while the link was cut. */
static bool go_on_elsewhere(struct record_spool *s, struct reel_error *err) {
    if (!record_remote_continue(s->remote, err)) {
        return false;
    }
    fprintf(stderr, "reel record: the server has finished the recording meanwhile; it goes on as %s\n",
            record_remote_id(s->remote));
    pthread_mutex_lock(&s->mutex);
    memcpy(s->head.id, record_remote_id(s->remote), ID_SIZE);
    bool good = write_head(s, err);
    size_t size = s->channels.size;
    AUTO_MEM uint8_t *channels = malloc(size + 1);
    if (channels && size > 0) {
        memcpy(channels, s->channels.data, size);
    }
    pthread_mutex_unlock(&s->mutex);
    if (!channels) {
        return reel_fail_memory(err);
    }
    return good && (size == 0 || record_remote_send(s->remote, bytes_of(channels, size), UINT64_MAX, 0, err));
}

static bool send_batch(struct record_spool *s, const struct spool_batch *batch, struct reel_bytes rows,
                       struct reel_error *err) {
    struct reel_error why = {0};
    if (batch->number == 0 || record_remote_send(s->remote, rows, batch->number, batch->read_ns, &why)) {
        return true;
    }
    bool over = (why.code == REEL_CONFLICT || why.code == REEL_NOT_FOUND) && record_remote_is_over(s->remote);
    return over ? go_on_elsewhere(s, err) && record_remote_send(s->remote, rows, batch->number, batch->read_ns, err)
                : reel_error_pass(err, &why);
}

/* Rows that the server refuses are not sent again by the next run. */
static bool note_sent(struct record_spool *s, bool good, struct reel_error *err) {
    pthread_mutex_lock(&s->mutex);
    bool passed = good || err->code == REEL_ARGUMENT || err->code == REEL_CONFLICT;
    struct reel_error why = {0};
    s->head.sent = passed ? s->sending : s->head.sent;
    if (passed && !write_head(s, &why) && good) {
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
        bool good = send_batch(s, &batch, bytes_of(rows.data, rows.size), &err);
        if (!note_sent(s, good, &err)) {
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
                    s->path);
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
    unlink(s->path);
    return true;
}

/* ---- opening */

/* What an earlier run left. False with err; *any: there are batches. */
static bool read_left(struct record_spool *s, bool *any, struct reel_error *err) {
    struct stat st;
    struct grow rows = {0};
    bool good = true;
    *any = false;
    if (fstat(s->fd, &st) != 0) {
        return reel_fail_errno(err, "%s", s->path);
    }
    uint64_t size = (uint64_t)st.st_size, at = sizeof s->head;
    if (size < at || !disk_read_at(s->fd, &s->head, sizeof s->head, 0) || memcmp(s->head.magic, MAGIC, 8) != 0) {
        s->head = (struct spool_head){.sent = sizeof s->head};
        memcpy(s->head.magic, MAGIC, sizeof MAGIC);
        return size == 0 || reel_fail(err, REEL_DAMAGED, "%s is no file of unsent rows", s->path);
    }
    for (struct spool_batch batch; good && size - at >= sizeof batch; at += sizeof batch + batch.size) {
        if (!disk_read_at(s->fd, &batch, sizeof batch, at) || batch.size > 4 * BATCH_MAX ||
            batch.size > size - at - sizeof batch || batch.size == 0) {
            break; /* the power failed while it was written */
        }
        rows.size = 0;
        uint8_t *room = grow_take(&rows, batch.size);
        good = room ? disk_read_at(s->fd, room, batch.size, at + sizeof batch) || reel_fail_errno(err, "%s", s->path)
                    : reel_fail_memory(err);
        good = good && keep_channels(s, bytes_of(room, batch.size), err);
        s->last = batch.number > 0 ? batch : s->last;
    }
    grow_done(&rows);
    s->end = at;
    *any = s->head.sent < at;
    return good && (ftruncate(s->fd, (off_t)at) == 0 || reel_fail_errno(err, "%s", s->path));
}

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
    char id[ID_SIZE + 1] = "";
    bool any;
    if (flock(s->fd, LOCK_EX | LOCK_NB) != 0) {
        return reel_fail(err, REEL_CONFLICT, "another reel record writes this recording (%s)", s->path);
    }
    if (!read_left(s, &any, err)) {
        return false;
    }
    memcpy(id, s->head.id, ID_SIZE);
    s->remote = any ? record_remote_resume(options, id, err) : record_remote_open(options, err);
    if (!s->remote) {
        return false;
    }
    record_remote_uninterrupted(s->remote);
    if (!any) {
        memcpy(s->head.id, record_remote_id(s->remote), ID_SIZE);
        s->last.number = 0;
        if (!begin_file(s, err)) {
            return false;
        }
    } else {
        fprintf(stderr, "reel record: an earlier run left %llu bytes, which are sent first\n",
                (unsigned long long)(s->end - s->head.sent));
    }
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
    s->fd = -1;
    s->medium = medium;
    pthread_mutex_init(&s->mutex, NULL);
    condition_init(&s->changed);
    if (!(s->path = spool_path(options, err))) {
        return NULL;
    }
    s->fd = open(s->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->fd < 0) {
        reel_fail_errno(err, "%s", s->path);
        return NULL;
    }
    return spool_start(s, options, err) ? TAKE(s) : NULL;
}

const char *record_spool_id(const struct record_spool *s) {
    return record_remote_id(s->remote);
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
    grow_done(&s->channels);
    free(s->path);
    if (s->fd >= 0) {
        close(s->fd);
    }
    free(s);
}
