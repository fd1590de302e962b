/* See record_spool_file.h. */
#include "cli/record_spool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/disk.h"
#include "syntax/msgpack.h"

enum { BATCH_MAX = 4 << 20 };
static const int64_t MERGE_NS = 1000000000;
static const char MAGIC[8] = {'r', 'e', 'e', 'l', 'r', 'e', 'c', '2'};

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

bool spool_file_keep_channels(struct spool_file *f, struct reel_bytes rows, struct reel_error *err) {
    static const char name[] = "$channel";
    if (memmem(rows.data, rows.size, name, sizeof name - 1)) {
        (f->medium == REEL_ROWS_JSON ? keep_json_channels : keep_msgpack_channels)(&f->channels, rows);
    }
    return !f->channels.failed || reel_fail_memory(err);
}

/* ---- writing */

bool spool_file_sync(struct spool_file *f, struct reel_error *err) {
    return fdatasync(f->fd) == 0 || reel_fail_errno(err, "%s", f->path);
}

bool spool_file_write_head(struct spool_file *f, struct reel_error *err) {
    return disk_write_at(f->fd, &f->head, sizeof f->head, 0) || reel_fail_errno(err, "%s", f->path);
}

bool spool_file_add(struct spool_file *f, uint64_t number, int64_t read_ns, struct reel_bytes rows,
                    struct reel_error *err) {
    const struct spool_batch batch = {.number = number, .read_ns = read_ns, .size = rows.size};
    if (!disk_write_at(f->fd, rows.data, rows.size, f->end + sizeof batch) ||
        !disk_write_at(f->fd, &batch, sizeof batch, f->end)) {
        int code = errno;
        bool cut = ftruncate(f->fd, (off_t)f->end) == 0;
        errno = cut ? code : errno;
        return reel_fail_errno(err, "%s", f->path);
    }
    f->last_at = f->end;
    f->last = batch;
    f->last_is_list = rows.size > 0 && rows.data[0] == '[';
    f->end += sizeof batch + rows.size;
    return true;
}

bool spool_file_extend(struct spool_file *f, int64_t now, struct reel_bytes rows) {
    struct spool_batch longer = f->last;
    bool one_time = now >= f->last.read_ns && now - f->last.read_ns < MERGE_NS; /* the clock may be set */
    bool is_list = f->last_is_list || (rows.size > 0 && rows.data[0] == '[');
    if (is_list || f->last.number == 0 || f->last_at < f->sending || !one_time || longer.size + rows.size > BATCH_MAX ||
        f->head.sent > f->last_at) {
        return false;
    }
    longer.size += rows.size;
    if (!disk_write_at(f->fd, rows.data, rows.size, f->end) ||
        !disk_write_at(f->fd, &longer, sizeof longer, f->last_at)) {
        bool cut = ftruncate(f->fd, (off_t)f->end) == 0 && disk_write_at(f->fd, &f->last, sizeof f->last, f->last_at);
        (void)cut; /* spool_file_add() reports the error */
        return false;
    }
    f->last = longer;
    f->end += rows.size;
    return true;
}

bool spool_file_begin(struct spool_file *f, struct reel_error *err) {
    f->end = f->head.sent = f->last_at = sizeof f->head;
    f->head.number = f->last.number;
    f->sending = f->synced = 0;
    if (ftruncate(f->fd, (off_t)f->end) != 0) {
        return reel_fail_errno(err, "%s", f->path);
    }
    uint64_t number = f->last.number;
    bool good = spool_file_write_head(f, err) &&
                (f->channels.size == 0 || spool_file_add(f, 0, 0, bytes_of(f->channels.data, f->channels.size), err)) &&
                spool_file_sync(f, err); /* else batches might survive a power failure, and not this head */
    f->last = (struct spool_batch){.number = number}; /* the numbers go on */
    f->last_at = 0;
    return good;
}

static bool copy_tail(int from, uint64_t at, uint64_t size, int to, uint64_t to_at) {
    AUTO_MEM uint8_t *tail = malloc(size + 1);
    return tail && disk_read_at(from, tail, size, at) && disk_write_at(to, tail, size, to_at);
}

/* Moves what is not sent to a new file, `fd`. */
static bool move_tail(struct spool_file *f, int fd, const char *new_path) {
    const struct spool_file old = *f;
    struct reel_error ignored = {0};
    uint64_t size = old.end - old.head.sent;
    f->fd = fd;
    if (!spool_file_begin(f, &ignored) || !copy_tail(old.fd, old.head.sent, size, fd, f->end) ||
        !spool_file_sync(f, &ignored) || rename(new_path, f->path) != 0) {
        *f = old;
        return false;
    }
    disk_sync_folder_of(f->path, &ignored);
    f->last = old.last;
    f->last_is_list = old.last_is_list;
    f->last_at = old.last_at >= old.head.sent ? old.last_at - old.head.sent + f->end : 0;
    f->synced = f->end += size;
    close(old.fd);
    return true;
}

void spool_file_shorten(struct spool_file *f) {
    if (f->head.sent <= SPOOL_KEPT_MAX || f->end - f->head.sent > SPOOL_KEPT_MAX) {
        return;
    }
    AUTO_MEM char *new_path = disk_adjacent(f->path, ".new");
    int fd = new_path ? open(new_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) != 0 || !move_tail(f, fd, new_path))) {
        close(fd);
        unlink(new_path);
    }
}

/* ---- opening */

bool spool_file_read(struct spool_file *f, struct reel_error *err) {
    struct stat st;
    struct grow rows = {0};
    bool good = true;
    if (fstat(f->fd, &st) != 0) {
        return reel_fail_errno(err, "%s", f->path);
    }
    uint64_t size = (uint64_t)st.st_size, at = sizeof f->head;
    if (size < at || !disk_read_at(f->fd, &f->head, sizeof f->head, 0) || memcmp(f->head.magic, MAGIC, 8) != 0) {
        bool is_blank = size == 0 || f->head.magic[0] == '\0'; /* the power failed before it was written */
        f->head = (struct spool_head){.sent = sizeof f->head};
        memcpy(f->head.magic, MAGIC, sizeof MAGIC);
        return is_blank || reel_fail(err, REEL_DAMAGED, "%s is no file of unsent rows", f->path);
    }
    f->last.number = f->head.number;
    for (struct spool_batch batch; good && size - at >= sizeof batch; at += sizeof batch + batch.size) {
        if (!disk_read_at(f->fd, &batch, sizeof batch, at) || batch.size > SPOOL_ROWS_MAX ||
            batch.size > size - at - sizeof batch || batch.size == 0) {
            break; /* the power failed while it was written */
        }
        rows.size = 0;
        uint8_t *room = grow_take(&rows, batch.size);
        good = room ? disk_read_at(f->fd, room, batch.size, at + sizeof batch) || reel_fail_errno(err, "%s", f->path)
                    : reel_fail_memory(err);
        good = good && spool_file_keep_channels(f, bytes_of(room, batch.size), err);
        f->last = batch.number > 0 ? batch : f->last;
    }
    grow_done(&rows);
    f->end = at;
    f->head.sent = f->head.sent < at ? f->head.sent : at;
    return good && (ftruncate(f->fd, (off_t)at) == 0 || reel_fail_errno(err, "%s", f->path));
}
