/* The basic stream: the initial state, the merge, sampling. See stream/stream.h. */
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/limits.h"
#include "read/reader.h"
#include "stream/initial_state.h"
#include "stream/selection.h"
#include "stream/stream.h"
#include "stream/where.h"

const struct reel_selection selection_all = {
    .size = sizeof(struct reel_selection), .start_ns = REEL_TIME_MIN, .end_ns = REEL_TIME_MAX};

struct stream {
    struct reel_stream base;
    struct opened_selection *opened;
    struct reel_reader **readers;
    struct reader_set awake; /* those of them that hold memory */
    struct merge *merge;
    struct reel_initial_state *initial; /* that of `opened`, or NULL */
    size_t initial_at;
    struct merge_position start;
    int64_t end_ns;
    int64_t origin_ns; /* origin of the every_ns intervals */
    uint64_t every_n;
    int64_t every_ns;
    struct reel_since since; /* zeros: all messages */
    uint64_t *seen;          /* every_n: number of messages seen of each channel */
    int64_t *last_bucket;    /* every_ns: interval of each channel's last message; -1 = none */
};

/* ---- sampling */

static int64_t stream_bucket_of(const struct stream *s, int64_t time_ns) {
    uint64_t since = (uint64_t)time_ns - (uint64_t)s->origin_ns;
    return time_ns < s->origin_ns ? 0 : (int64_t)(since / (uint64_t)s->every_ns);
}

static bool sampled_out(struct stream *s, const struct reel_message *m) {
    if (s->every_n > 1 && s->seen[m->channel]++ % s->every_n != 0) {
        return true;
    }
    if (s->every_ns > 0) {
        int64_t bucket = stream_bucket_of(s, m->time_ns);
        if (s->last_bucket[m->channel] == bucket) {
            return true;
        }
        s->last_bucket[m->channel] = bucket;
    }
    return false;
}

/* How many of messages 0 … n-1 of a channel every_n keeps. */
static uint64_t kept_of(const struct stream *s, uint64_t n) {
    return s->every_n > 1 ? n / s->every_n + (n % s->every_n > 0) : n;
}

static bool has_since(const struct stream *s) {
    return s->since.bytes > 0 || s->since.offset > 0 || s->since.chunks > 0;
}
bool stream_is_new(const struct reel_since *since, const struct reel_entry *e) {
    return e->chunk == 0 ? e->offset >= since->bytes
                         : e->chunk > since->chunks || (e->chunk == since->chunks && e->offset >= since->offset);
}

/* Adds the messages of each channel in [from, to), as merge_count(); of those that are new only a walk finds out. The
 * merge is then somewhere else. */
static bool count_between(struct stream *s, const struct merge_position *from, const struct merge_position *to,
                          uint64_t *counts, struct reel_error *err) {
    if (!has_since(s)) {
        return merge_count(s->merge, from, to, counts, err);
    }
    struct reel_entry entry;
    struct merge_position at;
    uint32_t channel;
    enum reel_step step;
    merge_seek(s->merge, from);
    while ((step = merge_next(s->merge, &entry, &at.source, &channel, err)) == REEL_STEP_MESSAGE) {
        at.key = pack_key_of(&entry);
        if (merge_compare(&at, to) >= 0) {
            break;
        }
        counts[channel] += stream_is_new(&s->since, &entry);
    }
    return step != REEL_STEP_ERROR;
}

/* Sets the sampling state to what it would be had the stream run from its start to `to`. */
static bool catch_up(struct stream *s, const struct merge_position *to, struct reel_error *err) {
    if (s->every_n <= 1 && s->every_ns <= 0) {
        return true;
    }
    AUTO_MEM uint64_t *before =
        calloc(s->opened->n_selected ? s->opened->n_selected : 1, sizeof *before); /* the interval that contains `to` */
    if (!before) {
        return reel_fail_memory(err);
    }
    struct merge_position middle = s->start;
    int64_t bucket = -1;
    if (s->every_ns > 0) {
        bucket = stream_bucket_of(s, to->key.time_ns);
        int64_t begins = (int64_t)((uint64_t)s->origin_ns + (uint64_t)bucket * (uint64_t)s->every_ns);
        if (begins > middle.key.time_ns) {
            middle = (struct merge_position){.key = {.time_ns = begins}};
        }
    }
    memset(s->seen, 0, s->base.n_channels * sizeof *s->seen);
    if (!count_between(s, &s->start, &middle, before, err) || !count_between(s, &middle, to, s->seen, err)) {
        return false;
    }
    for (uint32_t i = 0; i < s->opened->n_selected; i++) {
        s->seen[i] += before[i];
        s->last_bucket[i] = kept_of(s, s->seen[i]) > kept_of(s, before[i]) ? bucket : -1;
    }
    return true;
}

/* ---- the stream's own table */

static enum reel_step plain_next(struct reel_stream *base, struct reel_message *m, struct reel_error *err) {
    struct stream *s = (struct stream *)base;
    if (s->initial && s->initial_at < s->initial->n_messages) {
        *m = s->initial->messages[s->initial_at++];
        return REEL_STEP_MESSAGE;
    }
    for (;;) {
        enum reel_step step = merge_next(s->merge, &m->entry, &m->source, &m->channel, err);
        if (step != REEL_STEP_MESSAGE) {
            return step;
        }
        if (m->entry.time_ns >= s->end_ns && s->end_ns != REEL_TIME_MAX) {
            return REEL_STEP_END;
        }
        if (!stream_is_new(&s->since, &m->entry)) {
            continue;
        }
        m->time_ns = m->entry.time_ns;
        m->size = m->entry.size;
        m->before_start = false;
        m->initial = m->again = 0;
        m->owned = NULL;
        if ((s->every_n <= 1 && s->every_ns <= 0) || !sampled_out(s, m)) {
            return REEL_STEP_MESSAGE;
        }
    }
}

static bool plain_seek(struct reel_stream *base, const struct reel_position *mark, struct reel_error *err) {
    struct stream *s = (struct stream *)base;
    struct merge_position to = {.key = {.time_ns = mark->time_ns, .chunk = mark->chunk, .offset = mark->offset},
                                .source = mark->source};
    if (mark->initial > 0) {
        s->initial_at = mark->initial - 1;
        to = s->start;
    } else {
        s->initial_at = s->initial ? s->initial->n_messages : 0;
        if (to.key.time_ns < s->start.key.time_ns) {
            to = s->start;
        }
    }
    bool good = catch_up(s, &to, err);
    merge_seek(s->merge, &to);
    return good;
}

static void plain_free(struct reel_stream *base) {
    struct stream *s = (struct stream *)base;
    merge_free(s->merge);
    for (uint32_t i = 0; i < s->base.n_sources; i++) {
        reel_reader_free(s->readers[i]);
    }
    selection_free(s->opened);
    free(s->readers);
    free(s->seen);
    free(s->last_bucket);
    free(s);
}

static const struct reel_stream_ops plain_ops = {.next = plain_next, .seek = plain_seek, .free = plain_free};

bool stream_is_plain(const struct reel_stream *base) {
    return base->ops == &plain_ops;
}

bool stream_can_count(const struct reel_stream *base) {
    const struct stream *s = (const struct stream *)base;
    return base->ops == &plain_ops && s->every_n <= 1 && s->every_ns <= 0 && !has_since(s) &&
           (!s->initial || s->initial->n_messages == 0);
}

bool stream_count(struct reel_stream *base, int64_t before_ns, uint64_t *count, struct reel_error *err) {
    struct stream *s = (struct stream *)base;
    AUTO_MEM uint64_t *counts = calloc(s->opened->n_selected ? s->opened->n_selected : 1, sizeof *counts);
    if (!counts) {
        return reel_fail_memory(err);
    }
    struct merge_position to = {.key = {.time_ns = before_ns < s->end_ns ? before_ns : s->end_ns}};
    if (to.key.time_ns == REEL_TIME_MAX) { /* no end: includes the last representable instant */
        to = (struct merge_position){.key = {.time_ns = REEL_TIME_MAX, .chunk = UINT32_MAX, .offset = UINT64_MAX},
                                     .source = UINT32_MAX};
    }
    if (!merge_count(s->merge, &s->start, &to, counts, err)) {
        return false;
    }
    *count = 0;
    for (uint32_t i = 0; i < s->opened->n_selected; i++) {
        *count += counts[i];
    }
    return true;
}

bool stream_selects(struct reel_stream *base, const struct reel_message *m, bool *selects, struct reel_error *err) {
    if (base->ops != &plain_ops) {
        return where_selects(base, m, selects, err);
    }
    *selects = stream_is_new(&((struct stream *)base)->since, &m->entry);
    return true;
}

/* ---- opening */

static bool open_readers(struct stream *s, struct reel_error *err) {
    const struct opened_selection *o = s->opened;
    if (!(s->readers = calloc((size_t)o->n_recordings + 1, sizeof *s->readers))) {
        return reel_fail_memory(err);
    }
    s->base.readers = s->readers;
    for (; s->base.n_sources < o->n_recordings; s->base.n_sources++) {
        struct reel_reader *reader = reel_reader_new(o->recordings[s->base.n_sources], err);
        if (!reader) {
            return false;
        }
        s->readers[s->base.n_sources] = reader;
        reader_join(reader, &s->awake);
    }
    return true;
}

static bool open_sampling(struct stream *s, struct reel_error *err) {
    const struct reel_selection *q = &s->opened->selection;
    s->every_n = q->every_n;
    s->every_ns = q->every_ns;
    s->base.thinned = q->every_n > 1 || q->every_ns > 0;
    s->seen = calloc(s->base.n_channels ? s->base.n_channels : 1, sizeof *s->seen);
    s->last_bucket = malloc((s->base.n_channels ? s->base.n_channels : 1) * sizeof *s->last_bucket);
    if (!s->seen || !s->last_bucket) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < s->base.n_channels; i++) {
        s->last_bucket[i] = -1;
    }
    return true;
}

/* What the stream reads of the selection for each message. */
static void copy_limits(struct stream *s, const struct reel_selection *q) {
    s->start = (struct merge_position){.key = {.time_ns = q->start_ns}};
    s->end_ns = q->end_ns;
    s->since = q->since ? *q->since : (struct reel_since){0};
    s->origin_ns = s->opened->origin_ns;
}

struct reel_stream *selection_stream(struct opened_selection *o, bool with_initial_state, struct reel_error *err) {
    struct stream *s = calloc(1, sizeof *s);
    if (!s) {
        reel_fail_memory(err);
        return NULL;
    }
    s->opened = selection_ref(o);
    s->initial = with_initial_state ? o->initial : NULL;
    s->base = (struct reel_stream){.ops = &plain_ops,
                                   .channels = o->channels,
                                   .channel_source = o->channel_source,
                                   .n_channels = with_initial_state ? o->n_channels : o->n_selected,
                                   .clocks = o->clocks,
                                   .shifts = o->shifts,
                                   .initial = s->initial};
    copy_limits(s, &o->selection);
    if (!open_readers(s, err) || !open_sampling(s, err) || !(s->merge = merge_new(&o->segments, err))) {
        plain_free(&s->base);
        return NULL;
    }
    merge_seek(s->merge, &s->start);
    return o->selection.n_where > 0 ? where_stream(&s->base, &o->selection, err) : &s->base;
}

struct reel_stream *reel_stream_open(struct reel_recording *const *recordings, uint32_t n_recordings,
                                     const struct reel_selection *given, struct reel_error *err) {
    struct reel_selection selection;
    if (!selection_read(&selection, given, err)) {
        return NULL;
    }
    AUTO(selection_free) struct opened_selection *o = selection_open(recordings, n_recordings, &selection, err);
    return o && selection_make_initial_state(o, selection.initial, err) ? selection_stream(o, true, err) : NULL;
}

struct reel_stream *stream_of_channel(struct reel_recording *recording, const uint32_t *channel,
                                      struct reel_error *err) {
    struct reel_selection selection = selection_all;
    selection.channels = channel;
    selection.n_channels = 1;
    return reel_stream_open(&recording, 1, &selection, err);
}

/* ---- what works for every stream */

static const struct reel_position start_position = {.time_ns = REEL_TIME_MIN, .initial = 1};

bool stream_rewind(struct reel_stream *stream, struct reel_error *err) {
    return stream_seek(stream, &start_position, err);
}
bool stream_is_start(const struct reel_position *position) {
    return position->time_ns == start_position.time_ns && position->initial == start_position.initial &&
           position->chunk == 0 && position->offset == 0;
}

void reel_stream_free(struct reel_stream *stream) {
    if (stream) {
        stream->ops->free(stream);
    }
}
enum reel_step stream_next(struct reel_stream *stream, struct reel_message *m, struct reel_error *err) {
    return stream->ops->next(stream, m, err);
}
bool stream_seek(struct reel_stream *stream, const struct reel_position *mark, struct reel_error *err) {
    return stream->ops->seek(stream, mark, err);
}

bool reel_stream_copy(struct reel_stream *stream, const struct reel_message *m, uint64_t offset, void *buffer,
                      size_t size, struct reel_error *err) {
    if (offset > m->size || size > m->size - offset) {
        return reel_fail(err, REEL_ARGUMENT, "these bytes are not all in the message, which has %u", m->size);
    }
    if (!m->owned && stream->ops->put && size == m->size) {
        return stream->ops->put(stream, m, buffer, err);
    }
    if (m->owned || stream->ops->payload) {
        struct reel_bytes whole;
        if (!reel_stream_payload(stream, m, &whole, err)) {
            return false;
        }
        memcpy(buffer, whole.data + offset, size);
        return true;
    }
    return reel_reader_copy(stream->readers[m->source], m->entry.chunk, m->entry.offset + m->entry.head + offset,
                            buffer, size, err);
}

bool reel_stream_payload(struct reel_stream *stream, const struct reel_message *m, struct reel_bytes *out,
                         struct reel_error *err) {
    if (m->owned) {
        *out = bytes_of(m->owned, m->size);
        return true;
    }
    if (stream->ops->payload) {
        return stream->ops->payload(stream, m, out, err);
    }
    return reel_reader_payload(stream->readers[m->source], &m->entry, out, err);
}

bool stream_may_decode(uint64_t size, struct reel_error *err) {
    return size <= REEL_DECODED_MAX ||
           reel_fail(
               err, REEL_LIMIT,
               "a message of %llu bytes is too large to be decoded: the limit is %d MiB; it can be downloaded raw",
               (unsigned long long)size, REEL_DECODED_MAX >> 20);
}

bool stream_decodable(struct reel_stream *stream, const struct reel_message *m, struct reel_bytes *out,
                      struct reel_error *err) {
    return stream_may_decode(m->size, err) && reel_stream_payload(stream, m, out, err);
}

bool stream_describe(struct reel_stream *stream, const struct reel_message *m, struct reel_description *out,
                     struct reel_error *err) {
    if (m->owned) {
        *out = (struct reel_description){.publish_ns = m->time_ns};
        return true;
    }
    struct reel_entry own = m->entry; /* the name in the recording */
    int64_t shift = stream->shifts[m->source];
    own.time_ns = merge_shifted(own.time_ns, (int64_t)(0 - (uint64_t)shift));
    if (!reel_reader_describe(stream->readers[m->source], &own, out, err)) {
        return false;
    }
    out->publish_ns = merge_shifted(out->publish_ns, shift);
    return true;
}
