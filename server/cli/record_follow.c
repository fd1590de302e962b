/* See record_follow.h. Each round scans the file as it is then and sends the messages that are behind those of the
 * rounds before. The longer a scan takes the rarer they are, so that all rounds together take a tenth of the time. */
#include "cli/record_follow.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "cli/cli.h"
#include "cli/record_rows.h"
#include "index/split_name.h"
#include "read/reader.h"
#include "reel/open.h"

static const int64_t LOOK_NS = 200000000, PAUSE_FACTOR = 10;
static const int64_t ENDED_NS = 2000000000; /* metadata.yaml may also be written when a file begins */

struct follow {
    char *path, *finished_path; /* the name without .active */
    const char *folder;         /* that is followed; NULL: the file alone */
    struct stat seen;
    struct reel_since since;
    uint32_t channels;
    uint64_t messages;
    bool idle;         /* the file has not grown for so long */
    uint64_t complete; /* messages that begin before this offset of the file do not change any more */
};
static void follow_done(struct follow *f) {
    free(f->path);
    free(f->finished_path);
}

/* ---- a stream that notes how far it has come */

struct noted {
    struct reel_stream base;
    struct reel_stream *below;
    struct follow *follow;
    struct reel_since since; /* for the next round */
};

static enum reel_step noted_next(struct reel_stream *base, struct reel_message *m, struct reel_error *err) {
    struct noted *n = (struct noted *)base;
    enum reel_step step = stream_next(n->below, m, err);
    struct reel_since *since = &n->since;
    while (step == REEL_STEP_MESSAGE && m->entry.offset >= n->follow->complete) {
        step = stream_next(n->below, m, err);
    }
    uint64_t behind = m->entry.offset + 1;
    if (step != REEL_STEP_MESSAGE) {
        return step;
    }
    n->follow->messages++;
    if (m->entry.chunk == 0) {
        since->bytes = behind > since->bytes ? behind : since->bytes;
    } else if (m->entry.chunk > since->chunks || (m->entry.chunk == since->chunks && behind > since->offset)) {
        since->chunks = m->entry.chunk;
        since->offset = behind;
    }
    return step;
}
static bool noted_seek(struct reel_stream *base, const struct reel_position *mark, struct reel_error *err) {
    struct noted *n = (struct noted *)base;
    n->follow->messages--; /* a long row is read in pieces */
    return stream_seek(n->below, mark, err);
}
static void noted_free(struct reel_stream *base) {
    struct noted *n = (struct noted *)base;
    n->follow->since = n->since;
    reel_stream_free(n->below);
    free(n);
}
static const struct reel_stream_ops noted_ops = {.next = noted_next, .seek = noted_seek, .free = noted_free};

static struct reel_stream *noted_stream(struct follow *f, struct reel_stream *below, struct reel_error *err) {
    struct noted *n = calloc(1, sizeof *n);
    if (!n) {
        reel_stream_free(below);
        reel_fail_memory(err);
        return NULL;
    }
    *n = (struct noted){.base = *below, .below = below, .follow = f, .since = f->since};
    n->base.ops = &noted_ops;
    return &n->base;
}

/* ---- rounds */

/* In a file with chunks, messages outside of them may be in a chunk later: its header is written when it is complete.
 */
static bool only_chunks(const struct reel_recording *recording) {
    return reel_index_info(reel_recording_index(recording))->n_chunks > 1;
}

static bool begin_unit(void *context, const struct reel_entry *e) {
    *(uint64_t *)context = e->offset;
    return false; /* the last one is enough */
}

/* Where the unit begins that is being written; UINT64_MAX: the format has none. */
static bool find_complete(struct reel_recording *recording, uint64_t *complete, struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(recording);
    const struct reel_index_info *info = reel_index_info(index);
    *complete = UINT64_MAX;
    for (uint32_t i = 0; i < info->n_channels && info->format->unit; i++) {
        if (strcmp(reel_index_channel(index, i)->name, info->format->unit) != 0) {
            continue;
        }
        AUTO(reel_reader_free) struct reel_reader *reader = reel_reader_new(recording, err);
        return reader && reel_reader_reverse(reader, i, REEL_TIME_MAX, begin_unit, complete, err);
    }
    return true;
}

static bool send_new(struct follow *f, struct record_remote *remote, struct reel_recording *recording, bool last,
                     struct reel_error *err) {
    struct reel_since since = f->since;
    struct reel_selection selection = selection_all;
    if (!last && only_chunks(recording)) {
        since.bytes = UINT64_MAX;
    }
    f->complete = UINT64_MAX;
    if (!last && !find_complete(recording, &f->complete, err)) {
        return false;
    }
    selection.since = &since;
    AUTO(reel_stream_free) struct reel_stream *stream = reel_stream_open(&recording, 1, &selection, err);
    if (!stream) {
        return false;
    }
    bool new_channels = stream->n_channels > f->channels;
    f->channels = stream->n_channels;
    struct reel_stream *noted = noted_stream(f, TAKE(stream), err);
    return noted && record_rows_send(remote, noted, new_channels, NULL, err);
}

/* A file that holds nothing yet is no failure. */
static bool run_round(struct follow *f, struct record_remote *remote, const char *path, bool last,
                      struct reel_error *err) {
    struct reel_error why = {0};
    AUTO(reel_recording_free) struct reel_recording *recording = reel_recording_open(path, NULL, &why);
    if (!recording) {
        bool nothing_yet = !last && (why.code == REEL_NOT_MINE || why.code == REEL_DAMAGED);
        return nothing_yet || reel_error_pass(err, &why);
    }
    const struct reel_index_info *info = reel_index_info(reel_recording_index(recording));
    if (!last && info->damaged && info->format->times_last) {
        return true;
    }
    return send_new(f, remote, recording, last, err);
}

/* Waits; false: interrupted. */
static bool pause_for(int64_t ns) {
    for (int64_t end = clock_ns() + ns; clock_ns() < end && !cli_interrupted();) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS / 4}, NULL);
    }
    return !cli_interrupted();
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The file under its name, or under the one that its program gives it at the end; NULL: it is gone. */
static const char *record_follow_find(const struct follow *f, struct stat *now) {
    if (stat(f->path, now) == 0 && is_same_file(now, &f->seen)) {
        return f->path;
    }
    return stat(f->finished_path, now) == 0 && is_same_file(now, &f->seen) ? f->finished_path : NULL;
}

/* ---- the folder of `ros2 bag record` */

/* The split after `number` that is in the folder; NULL: there is none yet. *out: its number. malloc'd. */
static char *find_split(const char *folder, long number, long *out) {
    char *best = NULL;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct split_name split;
        bool is_split = split_name_of(bytes_text(e->d_name), &split) &&
                        (bytes_is(split.ending, ".mcap") || bytes_is(split.ending, ".db3"));
        if (is_split && (long)split.number > number && (!best || (long)split.number < *out)) {
            free(best);
            best = asprintf(&best, "%s/%s", folder, e->d_name) < 0 ? NULL : best;
            *out = (long)split.number;
        }
    }
    if (dir) {
        closedir(dir);
    }
    return best;
}

/* The recorder has begun the next file, or written metadata.yaml at its end. */
static bool has_ended(const struct follow *f, int64_t grown_ns) {
    char yaml[PATH_MAX];
    struct stat st;
    struct split_name own;
    long number;
    if (!f->folder || !split_name_of(bytes_text(cli_file_name(f->path)), &own)) {
        return false;
    }
    AUTO_MEM char *next = find_split(f->folder, (long)own.number, &number);
    snprintf(yaml, sizeof yaml, "%s/metadata.yaml", f->folder);
    return next || (stat(yaml, &st) == 0 && st.st_mtime >= f->seen.st_mtime && clock_ns() - grown_ns >= ENDED_NS);
}

static bool follow_file(struct follow *f, struct record_remote *remote, int64_t idle_ns, struct reel_error *err) {
    const char *path = f->path;
    struct stat now = f->seen;
    int64_t grown_ns = clock_ns(), took_ns = 0;
    f->seen.st_size = 0;
    while (path == f->path) {
        if (now.st_size < f->seen.st_size) {
            return reel_fail(err, REEL_CHANGED, "the file became shorter");
        }
        if (now.st_size > f->seen.st_size) {
            grown_ns = clock_ns();
            f->seen = now;
            if (!run_round(f, remote, path, false, err)) {
                return false;
            }
            took_ns = clock_ns() - grown_ns;
        } else if ((idle_ns > 0 && clock_ns() - grown_ns >= idle_ns) || has_ended(f, grown_ns)) {
            break;
        }
        if (!pause_for(took_ns * PAUSE_FACTOR > LOOK_NS ? took_ns * PAUSE_FACTOR : LOOK_NS)) {
            break;
        }
        path = record_follow_find(f, &now);
    }
    f->idle = path == f->path && !cli_interrupted() && !has_ended(f, grown_ns);
    record_remote_uninterrupted(remote);
    return !path || run_round(f, remote, path, true, err);
}

char *record_finished_name(const char *name) {
    static const char active[] = ".active";
    size_t size = strlen(name), tail = sizeof active - 1;
    return strndup(name, size > tail && strcmp(name + size - tail, active) == 0 ? size - tail : size);
}

static bool follow_one(struct record_remote *remote, const char *path, const char *folder, int64_t idle_ns,
                       uint64_t *messages, bool *idle, struct reel_error *err) {
    AUTO_STRUCT(follow_done)
    struct follow f = {.path = strdup(path), .finished_path = record_finished_name(path), .folder = folder};
    if (!f.path || !f.finished_path) {
        return reel_fail_memory(err);
    }
    if (stat(path, &f.seen) != 0) {
        return reel_fail_errno(err, "cannot be examined");
    }
    bool good = follow_file(&f, remote, idle_ns, err);
    *messages += f.messages;
    *idle = f.idle;
    return good;
}

/* Its files, one after another; waits for the first one. */
static bool follow_folder(struct record_remote *remote, const char *folder, int64_t idle_ns, uint64_t *messages,
                          struct reel_error *err) {
    long number = -1;
    bool idle = false, good = true;
    int64_t since_ns = clock_ns();
    while (good && !idle && !cli_interrupted()) {
        AUTO_MEM char *path = find_split(folder, number, &number);
        if (path) {
            good = follow_one(remote, path, folder, idle_ns, messages, &idle, err);
            since_ns = clock_ns();
        } else if (number >= 0 || (idle_ns > 0 && clock_ns() - since_ns >= idle_ns) || !pause_for(LOOK_NS)) {
            break; /* metadata.yaml has ended the last one */
        }
    }
    return good;
}

bool record_follow(struct record_remote *remote, const char *path, int64_t idle_ns, uint64_t *messages,
                   struct reel_error *err) {
    struct stat st;
    bool idle;
    *messages = 0;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? follow_folder(remote, path, idle_ns, messages, err)
                                                       : follow_one(remote, path, NULL, idle_ns, messages, &idle, err);
}
