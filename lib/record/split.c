/* See record/split.h. The split recorder is one whose messages go to the recorder of the current part. */
#include "record/split.h"

#include <dirent.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/channel.h"
#include "base/cleanup.h"
#include "base/disk.h"
#include "base/grow.h"
#include "convert/writer.h"
#include "index/growing.h"
#include "index/pack_model.h"
#include "record/record.h"
#include "stream/stream.h"

enum {
    MESSAGE_OVERHEAD = 40, /* bytes in a file, about, besides the payload */
    INDEX_EACH = 4 << 20,  /* bytes of a part that are indexed at a time */
};

/* A part that is being completed. */
struct ending {
    pthread_t thread;
    struct split *split;
    struct reel_recorder *recorder;
    uint32_t part;
    bool last, good;
    struct reel_error err;
};

struct split {
    struct reel_recorder base; /* its fd is another descriptor of the part's file */
    const char *path;
    size_t stem; /* bytes of it before its ending */
    const struct reel_recorder_options *options;
    struct record_split_options rules;

    struct reel_recorder *current;
    struct reel_growing *growing; /* its index so far, so that its end need not read all of it; NULL: of some formats */
    uint64_t indexed;             /* bytes of it */
    uint32_t part;                /* the current one */
    uint64_t messages, gathered, written;
    int64_t first_ns, last_ns; /* of the part's own messages; the largest time so far */
    bool any;                  /* the recording has a message */

    struct arena arena; /* the channels */
    struct reel_channel *channels;
    uint32_t *ids, n_channels; /* ids: in the current part */
    size_t room, room_ids;
    struct ending *ending; /* NULL: none */
};

/* ---- names */

/* "run_0003.mcap", or what it is called before it is converted. malloc'd; NULL: no memory. */
static char *part_path(const struct split *s, uint32_t part, bool recorded) {
    char *text;
    if (asprintf(&text, "%.*s_%04u%s", (int)s->stem, s->path, part, s->path + s->stem) < 0) {
        return NULL;
    }
    AUTO_MEM char *path = text;
    return recorded && s->rules.target ? disk_adjacent(path, ".recording.mcap") : TAKE(path);
}

/* Whether `name` is that of a part. */
static bool is_part(const struct split *s, const char *name, const char *file) {
    size_t stem = s->stem - (size_t)(file - s->path), size = strlen(name), ending = strlen(s->path + s->stem);
    if (size < stem + 5 + ending || strncmp(name, file, stem) != 0 || name[stem] != '_') {
        return false;
    }
    size_t digits = strspn(name + stem + 1, "0123456789");
    return digits >= 4 && strncmp(name + stem + 1 + digits, s->path + s->stem, ending) == 0;
}

/* A part of an earlier recording must not be met in the middle of this one. */
static bool check_names(const struct split *s, struct reel_error *err) {
    char folder[PATH_MAX], found[NAME_MAX + 1] = "";
    const char *slash = strrchr(s->path, '/'), *file = slash ? slash + 1 : s->path;
    DIR *dir = disk_folder_of(s->path, folder) ? opendir(folder) : NULL;
    for (struct dirent *e; dir && !found[0] && (e = readdir(dir));) {
        if (is_part(s, e->d_name, file)) {
            snprintf(found, sizeof found, "%s", e->d_name);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return !found[0] || reel_fail(err, REEL_CONFLICT, "%s exists already", found);
}

/* ---- completing a part */

static bool convert_part(const struct split *s, uint32_t part, struct reel_error *err) {
    AUTO_MEM char *from = part_path(s, part, true), *to = part_path(s, part, false);
    if (!from || !to) {
        return reel_fail_memory(err);
    }
    AUTO(reel_recording_free) struct reel_recording *recording = reel_recording_open(from, NULL, err);
    if (!recording || !reel_convert(recording, NULL, to, s->rules.convert, NULL, err)) {
        return reel_error_at(err, "what was recorded is in %.200s", from);
    }
    unlink(from);
    return true;
}

static void *end_part(void *context) {
    struct ending *e = context;
    const struct split *s = e->split;
    e->good =
        reel_recorder_close(TAKE(e->recorder), &e->err) && (!s->rules.target || convert_part(s, e->part, &e->err));
    if (e->good && !e->last && s->rules.max_parts > 0 && e->part + 1 >= s->rules.max_parts) {
        AUTO_MEM char *oldest = part_path(s, e->part + 1 - s->rules.max_parts, false);
        e->good = oldest ? true : reel_fail_memory(&e->err);
        if (oldest) {
            unlink(oldest);
        }
    }
    return NULL;
}

static bool await_end(struct split *s, struct reel_error *err) {
    AUTO_MEM struct ending *e = TAKE(s->ending);
    if (!e) {
        return true;
    }
    pthread_join(e->thread, NULL);
    return e->good || reel_error_pass(err, &e->err);
}

/* Takes the recorder over, also on failure. */
static bool begin_end(struct split *s, struct reel_recorder *recorder, uint32_t part, bool last,
                      struct reel_error *err) {
    struct ending *e = calloc(1, sizeof *e);
    if (!e) {
        reel_recorder_free(recorder);
        return reel_fail_memory(err);
    }
    *e = (struct ending){.split = s, .recorder = recorder, .part = part, .last = last};
    if (pthread_create(&e->thread, NULL, end_part, e) != 0) {
        AUTO_MEM struct ending *own = e;
        end_part(own);
        return own->good || reel_error_pass(err, &own->err);
    }
    s->ending = e;
    return true;
}

/* ---- beginning one */

/* What still holds of the part before. */
struct carrying {
    struct split *split;
    struct reel_recorder *to;
    struct reel_stream *stream;
    uint32_t *ids; /* of the stream's channels in `to`; UINT32_MAX: not yet known */
    int64_t next_ns;
};

/* The channel in the new part: the same, or one of that name, as some formats change types and encodings. */
static bool find_channel(const struct carrying *c, const struct reel_channel *channel, uint32_t *id) {
    const struct split *s = c->split;
    const struct reel_channel *found = NULL;
    for (uint32_t i = 0; i < s->n_channels; i++) {
        const struct reel_channel *own = &s->channels[i];
        if (strcmp(own->name, channel->name) == 0 && (!found || channel_same(own, channel))) {
            found = own;
        }
    }
    *id = found ? s->ids[found - s->channels] : UINT32_MAX;
    return found;
}

static bool carry_message(struct carrying *c, const struct reel_message *m, struct reel_error *err) {
    struct reel_description d;
    struct reel_record record = {.size = sizeof record};
    uint32_t *id = &c->ids[m->channel];
    const struct reel_channel *channel = c->stream->channels[m->channel];
    if ((*id == UINT32_MAX && !find_channel(c, channel, id) && !reel_recorder_copy_channel(c->to, channel, id, err)) ||
        !stream_describe(c->stream, m, &d, err) || !reel_stream_payload(c->stream, m, &record.payload, err)) {
        return false;
    }
    record.channel = *id;
    record.sequence = d.sequence;
    record.log_time_ns = m->time_ns < c->next_ns ? m->time_ns : c->next_ns;
    record.publish_time_ns = d.publish_ns > 0 && d.publish_ns < c->next_ns ? d.publish_ns : 0;
    return reel_recorder_message(c->to, &record, err);
}

static bool carry_all(struct carrying *c, struct reel_error *err) {
    enum reel_step step;
    struct reel_message m;
    if (!(c->ids = malloc(((size_t)c->stream->n_channels + 1) * sizeof *c->ids))) {
        return reel_fail_memory(err);
    }
    memset(c->ids, 0xff, ((size_t)c->stream->n_channels + 1) * sizeof *c->ids);
    while ((step = stream_next(c->stream, &m, err)) == REEL_STEP_MESSAGE && m.before_start) {
        if (!carry_message(c, &m, err)) {
            return false;
        }
    }
    return step != REEL_STEP_ERROR;
}

/* Between two messages the file ends with a record. */
static bool index_more(struct split *s, uint64_t at_least, struct reel_error *err) {
    if (!s->growing || s->current->pos - s->indexed < at_least) {
        return true;
    }
    s->indexed = s->current->pos;
    return reel_growing_read(s->growing, s->indexed, NULL, err);
}

/* The current part, which was flushed. */
static struct reel_recording *open_current(struct split *s, struct reel_error *err) {
    AUTO_MEM char *path = part_path(s, s->part, true);
    if (!path) {
        reel_fail_memory(err);
        return NULL;
    }
    if (!s->growing) {
        return reel_recording_open(path, NULL, err);
    }
    AUTO(reel_source_free) struct reel_source *source = reel_source_open(path, NULL, err);
    struct reel_index *index = source && index_more(s, 1, err) ? reel_growing_index(s->growing, err) : NULL;
    if (!index) {
        return NULL;
    }
    struct reel_source *own = TAKE(source);
    return reel_recording_from_index(index, &own, 1, NULL, err);
}

/* The current part is read back, as a cut after its last message. */
static bool carry_over(struct split *s, struct reel_recorder *to, int64_t next_ns, struct reel_error *err) {
    struct reel_selection after = reel_select_all();
    after.start_ns = s->last_ns < INT64_MAX ? s->last_ns + 1 : INT64_MAX;
    after.latched = after.state_at_cut = after.key_frames = true;
    AUTO(reel_recording_free) struct reel_recording *recording = open_current(s, err);
    AUTO(reel_stream_free)
    struct reel_stream *stream = recording ? reel_stream_open(&recording, 1, &after, err) : NULL;
    if (!stream) {
        return false;
    }
    struct carrying c = {.split = s, .to = to, .stream = stream, .next_ns = next_ns};
    bool good = carry_all(&c, err);
    free(c.ids);
    return good;
}

/* NULL without an error: files of this format are not indexed while they grow. */
static struct reel_growing *open_growing(const struct reel_recorder *recorder, struct reel_error *err) {
    const struct reel_format *format = reel_format_named(recorder->writer->name);
    return format && format->growth ? reel_growing_open(recorder->path, format, NULL, err) : NULL;
}

/* Makes `recorder` the current one. */
static bool set_current(struct split *s, struct reel_recorder *recorder, struct reel_error *err) {
    struct reel_error why = {0};
    struct reel_growing *growing = open_growing(recorder, &why);
    int fd = growing || why.code == REEL_OK ? dup(recorder->fd) : -1;
    if (fd < 0) {
        reel_growing_free(growing);
        return why.code == REEL_OK ? reel_fail_errno(err, "could not record") : reel_error_pass(err, &why);
    }
    reel_growing_free(s->growing);
    s->growing = growing;
    s->indexed = 0;
    if (s->base.fd >= 0) {
        close(s->base.fd);
    }
    s->base.fd = fd;
    s->current = recorder;
    s->messages = s->gathered = 0;
    s->base.pos = s->written = recorder->pos;
    return true;
}

static struct reel_recorder *open_part(const struct split *s, uint32_t part, struct reel_error *err) {
    AUTO_MEM char *path = part_path(s, part, true);
    if (!path) {
        reel_fail_memory(err);
        return NULL;
    }
    return reel_recorder_open(path, s->base.writer, s->options, err);
}

static bool add_channels(struct split *s, struct reel_recorder *to, struct reel_error *err) {
    for (uint32_t i = 0; i < s->n_channels; i++) {
        if (!reel_recorder_copy_channel(to, &s->channels[i], &s->ids[i], err)) {
            return false;
        }
    }
    return true;
}

/* Goes on in a new part, whose first message is of `next_ns`. */
static bool next_part(struct split *s, int64_t next_ns, struct reel_error *err) {
    if (!await_end(s, err) || !reel_recorder_flush(s->current, err)) {
        return false;
    }
    struct reel_recorder *old = s->current;
    AUTO(reel_recorder_free) struct reel_recorder *next = open_part(s, s->part + 1, err);
    if (!next || !add_channels(s, next, err) || !carry_over(s, next, next_ns, err) || !set_current(s, next, err)) {
        return false;
    }
    (void)TAKE(next);
    return begin_end(s, old, s->part++, false, err);
}

/* ---- the recorder */

static bool is_full(const struct split *s, const struct reel_record *record) {
    const struct record_split_options *r = &s->rules;
    int64_t since;
    return s->messages > 0 &&
           ((r->messages > 0 && s->messages >= r->messages) ||
            (r->bytes > 0 && s->current->pos + s->gathered + record->payload.size + MESSAGE_OVERHEAD > r->bytes) ||
            (r->ns > 0 && !__builtin_sub_overflow(record->log_time_ns, s->first_ns, &since) && since >= r->ns));
}

static bool split_channel(struct reel_recorder *base, const struct reel_channel *channel, struct reel_error *err) {
    struct split *s = (struct split *)base;
    if (!GROW_ARRAY(s->channels, s->n_channels, s->room) || !GROW_ARRAY(s->ids, s->n_channels, s->room_ids) ||
        !pack_model_copy_channel(&s->arena, channel, &s->channels[s->n_channels])) {
        return reel_fail_memory(err);
    }
    if (!reel_recorder_copy_channel(s->current, channel, &s->ids[s->n_channels], err)) {
        return false;
    }
    s->n_channels++;
    return true;
}

static bool split_message(struct reel_recorder *base, const struct reel_record *record, struct reel_error *err) {
    struct split *s = (struct split *)base;
    if (is_full(s, record) && !next_part(s, record->log_time_ns, err)) {
        return false;
    }
    struct reel_record own = *record;
    own.size = sizeof own;
    own.channel = s->ids[record->channel];
    if (!reel_recorder_message(s->current, &own, err)) {
        return false;
    }
    s->first_ns = s->messages++ == 0 ? record->log_time_ns : s->first_ns;
    s->last_ns = !s->any || record->log_time_ns > s->last_ns ? record->log_time_ns : s->last_ns;
    s->any = true;
    s->gathered = s->current->pos == s->written ? s->gathered + record->payload.size + MESSAGE_OVERHEAD : 0;
    s->base.pos = s->written = s->current->pos;
    return index_more(s, INDEX_EACH, err);
}

static bool split_flush(struct reel_recorder *base, struct reel_error *err) {
    struct split *s = (struct split *)base;
    bool good = reel_recorder_flush(s->current, err);
    base->pos = s->current->pos;
    return good;
}

static bool split_finish(struct reel_recorder *base, struct reel_error *err) {
    struct split *s = (struct split *)base;
    struct reel_error why = {0};
    bool good = await_end(s, &why), ended = begin_end(s, TAKE(s->current), s->part, true, err) && await_end(s, err);
    return ended && (good || reel_error_pass(err, &why));
}

static void split_close(struct reel_recorder *base) {
    struct split *s = (struct split *)base;
    struct reel_error ignored = {0};
    await_end(s, &ignored);
    reel_growing_free(s->growing);
    reel_recorder_free(s->current);
    free(s->channels);
    free(s->ids);
    arena_free(&s->arena);
}

static const struct reel_recorder_ops split_ops = {.channel = split_channel,
                                                   .message = split_message,
                                                   .flush = split_flush,
                                                   .finish = split_finish,
                                                   .close = split_close};

struct reel_recorder *record_split_open(const char *path, const struct reel_writer *writer,
                                        const struct reel_recorder_options *options,
                                        const struct record_split_options *split, struct reel_error *err) {
    AUTO_MEM struct split *s = calloc(1, sizeof *s);
    if (!s) {
        reel_fail_memory(err);
        return NULL;
    }
    *s = (struct split){.base = {.ops = &split_ops, .writer = writer, .fd = -1, .path = strdup(path)},
                        .options = options,
                        .rules = *split};
    AUTO(reel_recorder_free) struct reel_recorder *r = &TAKE(s)->base;
    struct split *own = (struct split *)r;
    if (!(own->path = r->path)) {
        reel_fail_memory(err);
        return NULL;
    }
    const char *ending = (split->target ? split->target : writer)->extension;
    size_t size = strlen(path), n = strlen(ending);
    own->stem = size > n ? size - n : size;
    struct reel_recorder *first = check_names(own, err) ? open_part(own, 0, err) : NULL;
    if (!first || !set_current(own, first, err)) {
        reel_recorder_free(first);
        return NULL;
    }
    return TAKE(r);
}
