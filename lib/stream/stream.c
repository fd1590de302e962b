/* The basic stream: channels that the selection matches, the initial state, the merge, sampling. See stream/stream.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/glob.h"
#include "base/limits.h"
#include "read/reader.h"
#include "stream/initial_state.h"
#include "stream/merge.h"
#include "stream/merge_names.h"
#include "stream/selection.h"
#include "stream/stream.h"
#include "stream/where.h"

const struct reel_selection selection_all = {
    .size = sizeof(struct reel_selection), .start_ns = REEL_TIME_MIN, .end_ns = REEL_TIME_MAX};

struct stream {
    struct reel_stream base;
    struct arena arena; /* renamed channels */
    struct reel_reader **readers;
    struct reader_set awake; /* those of them that hold memory */
    const struct reel_channel **channels;
    uint32_t *channel_source;
    enum reel_clock *clocks;
    int64_t *shifts;
    size_t cap_channels, cap_sources;
    uint32_t n_selected; /* channels of the recordings; those of the initial state follow */
    struct merge *merge;
    struct reel_initial_state *initial;
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

struct reel_position reel_position_of(const struct reel_message *m) {
    return (struct reel_position){.time_ns = m->entry.time_ns,
                                  .offset = m->entry.offset,
                                  .source = m->source,
                                  .chunk = m->entry.chunk,
                                  .initial = m->initial,
                                  .again = m->again};
}

/* ---- sampling */

static int64_t bucket_of(const struct stream *s, int64_t time_ns) {
    uint64_t since = (uint64_t)time_ns - (uint64_t)s->origin_ns;
    return time_ns < s->origin_ns ? 0 : (int64_t)(since / (uint64_t)s->every_ns);
}

static bool sampled_out(struct stream *s, const struct reel_message *m) {
    if (s->every_n > 1 && s->seen[m->channel]++ % s->every_n != 0) {
        return true;
    }
    if (s->every_ns > 0) {
        int64_t bucket = bucket_of(s, m->time_ns);
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
static bool is_new(const struct stream *s, const struct reel_entry *e) {
    return e->chunk == 0 ? e->offset >= s->since.bytes
                         : e->chunk > s->since.chunks || (e->chunk == s->since.chunks && e->offset >= s->since.offset);
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
        counts[channel] += is_new(s, &entry);
    }
    return step != REEL_STEP_ERROR;
}

/* Sets the sampling state to what it would be had the stream run from its start to `to`. */
static bool catch_up(struct stream *s, const struct merge_position *to, struct reel_error *err) {
    if (s->every_n <= 1 && s->every_ns <= 0) {
        return true;
    }
    AUTO_MEM uint64_t *before =
        calloc(s->n_selected ? s->n_selected : 1, sizeof *before); /* the interval that contains `to` */
    if (!before) {
        return reel_fail_memory(err);
    }
    struct merge_position middle = s->start;
    int64_t bucket = -1;
    if (s->every_ns > 0) {
        bucket = bucket_of(s, to->key.time_ns);
        int64_t begins = (int64_t)((uint64_t)s->origin_ns + (uint64_t)bucket * (uint64_t)s->every_ns);
        if (begins > middle.key.time_ns) {
            middle = (struct merge_position){.key = {.time_ns = begins}};
        }
    }
    memset(s->seen, 0, s->base.n_channels * sizeof *s->seen);
    if (!count_between(s, &s->start, &middle, before, err) || !count_between(s, &middle, to, s->seen, err)) {
        return false;
    }
    for (uint32_t i = 0; i < s->n_selected; i++) {
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
        if (!is_new(s, &m->entry)) {
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
    reel_initial_state_free(s->initial);
    for (uint32_t i = 0; i < s->base.n_sources; i++) {
        reel_reader_free(s->readers[i]);
    }
    arena_free(&s->arena);
    free(s->readers);
    free(s->channels);
    free(s->channel_source);
    free(s->clocks);
    free(s->shifts);
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
    AUTO_MEM uint64_t *counts = calloc(s->n_selected ? s->n_selected : 1, sizeof *counts);
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
    for (uint32_t i = 0; i < s->n_selected; i++) {
        *count += counts[i];
    }
    return true;
}

bool stream_selects(struct reel_stream *base, const struct reel_message *m, bool *selects, struct reel_error *err) {
    if (base->ops != &plain_ops) {
        return where_selects(base, m, selects, err);
    }
    *selects = is_new((struct stream *)base, &m->entry);
    return true;
}

/* ---- opening */

static bool any_glob_matches(const char *const *globs, uint32_t n, const char *topic) {
    for (uint32_t g = 0; g < n; g++) {
        if (reel_topic_match(globs[g], topic)) {
            return true;
        }
    }
    return false;
}

/* Matches one name of a channel against the selection, with and without its prefix. */
struct standing {
    bool named, excluded;
};
static struct standing standing_of(const struct reel_selection *q, const char *prefix, const char *topic) {
    struct standing s = {.named = any_glob_matches(q->topics, q->n_topics, topic),
                         .excluded = any_glob_matches(q->exclude, q->n_exclude, topic)};
    char full[2048];
    if (prefix[0] != '\0' && naming_join(prefix, topic, full, sizeof full)) {
        s.named |= any_glob_matches(q->topics, q->n_topics, full);
        s.excluded |= any_glob_matches(q->exclude, q->n_exclude, full);
    }
    return s;
}

static bool selects(const struct reel_selection *q, const char *prefix, const char *topic) {
    struct standing s = standing_of(q, prefix, topic);
    return (q->n_topics == 0 || s.named) && !s.excluded;
}

/* A channel with several topics is shown under those that are selected: *shown is the channel itself when all are, a
 * renamed copy when some are, NULL when none is. */
static bool select_channel(struct stream *s, const struct reel_selection *q, const char *prefix,
                           const struct reel_channel *c, const struct reel_channel **shown, struct reel_error *err) {
    char name[1024] = "";
    size_t used = 0;
    uint32_t matching = 0;
    for (uint32_t t = 0; t < c->n_topics; t++) {
        if (selects(q, prefix, c->topics[t])) {
            matching++;
            used += (size_t)snprintf(name + used, sizeof name - used, "%s%s", used > 0 ? "+" : "", c->topics[t]);
            used = used < sizeof name ? used : sizeof name - 1;
        }
    }
    struct standing own = standing_of(q, prefix, c->name);
    *shown = !own.excluded && (matching == c->n_topics || own.named) ? c : NULL;
    if (*shown || own.excluded || matching == 0) {
        return true;
    }
    struct reel_channel *copy = arena_alloc(&s->arena, sizeof *copy);
    const char *text = arena_text(&s->arena, name);
    if (!copy || !text) {
        return reel_fail_memory(err);
    }
    *copy = *c;
    copy->name = text;
    *shown = copy;
    return true;
}

static bool add_channel(struct stream *s, const struct reel_channel *c, uint32_t source, struct reel_error *err) {
    size_t n = s->base.n_channels;
    if (!GROW_ARRAY(s->channels, n, s->cap_channels) || !GROW_ARRAY(s->channel_source, n, s->cap_sources)) {
        return reel_fail_memory(err);
    }
    s->channels[n] = c;
    s->channel_source[n] = source;
    s->base.channels = s->channels;
    s->base.channel_source = s->channel_source;
    s->base.n_channels++;
    return true;
}

struct segments { /* of all sources */
    struct merge_segment *items;
    size_t count, capacity;
};

/* Adds the segments of one channel that overlap the selection. */
static bool add_segments(struct stream *s, const struct reel_index *index, uint32_t id, uint32_t source,
                         const struct reel_selection *q, struct segments *segments, struct reel_error *err) {
    for (size_t i = index->first_segment[id]; i < index->first_segment[id + 1]; i++) {
        const struct pack_segment *segment = &index->model.segments[i];
        int64_t shift = s->shifts[source], first = merge_shifted(segment->first.time_ns, shift),
                last = merge_shifted(segment->last.time_ns, shift);
        if (last < q->start_ns || (first >= q->end_ns && q->end_ns != REEL_TIME_MAX)) {
            continue;
        }
        if (!GROW_ARRAY(segments->items, segments->count, segments->capacity)) {
            return reel_fail_memory(err);
        }
        segments->items[segments->count++] = (struct merge_segment){
            .segment = segment, .index = index, .source = source, .channel = s->base.n_channels, .shift_ns = shift};
    }
    return true;
}

static bool has_id(const struct reel_selection *q, uint32_t id) {
    for (uint32_t i = 0; i < q->n_channels; i++) {
        if (q->channels[i] == id) {
            return true;
        }
    }
    return q->n_channels == 0;
}

/* Adds the channels and segments of one recording. */
static bool add_source(struct stream *s, struct reel_recording *recording, uint32_t source,
                       const struct reel_selection *q, const struct naming *naming, struct segments *segments,
                       struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(recording);
    for (uint32_t id = 0; id < index->info.n_channels; id++) {
        const struct reel_channel *own = reel_index_channel(index, id), *c;
        if (!has_id(q, id)) {
            continue;
        }
        if (!select_channel(s, q, naming_prefix(naming, own, source), own, &c, err)) {
            return false;
        }
        if (c && (!add_segments(s, index, id, source, q, segments, err) || !add_channel(s, c, source, err))) {
            return false;
        }
    }
    return true;
}

/* Clock and shift of one source. No shifted time may overflow 64 bits. */
static bool add_clock(struct stream *s, const struct reel_index_info *info, const struct reel_source_option *option,
                      uint32_t source, struct reel_error *err) {
    int64_t first, last;
    s->clocks[source] = option && option->wall ? REEL_CLOCK_WALL : info->clock;
    s->shifts[source] = option ? option->shift_ns : 0;
    return (!__builtin_add_overflow(info->start_ns, s->shifts[source], &first) &&
            !__builtin_add_overflow(info->end_ns, s->shifts[source], &last)) ||
           reel_fail(err, REEL_ARGUMENT, "a shift of %lld ns takes times out of range", (long long)s->shifts[source]);
}

static void note_origin(struct stream *s, const struct reel_index_info *info, uint32_t source, bool *timed) {
    int64_t start = info->start_ns + s->shifts[source];
    if (info->messages > 0) {
        s->origin_ns = !*timed || start < s->origin_ns ? start : s->origin_ns;
        *timed = true;
    }
}

static bool open_sources(struct stream *s, struct reel_recording *const *recordings, uint32_t n,
                         const struct reel_selection *q, const struct naming *naming, struct reel_error *err) {
    s->readers = calloc(n ? n : 1, sizeof *s->readers);
    s->clocks = calloc(n ? n : 1, sizeof *s->clocks);
    s->shifts = calloc(n ? n : 1, sizeof *s->shifts);
    if (!s->readers || !s->clocks || !s->shifts) {
        return reel_fail_memory(err);
    }
    s->base.readers = s->readers;
    s->base.clocks = s->clocks;
    s->base.shifts = s->shifts;
    if (q->n_channels > 0 && n > 1) {
        return reel_fail(err, REEL_ARGUMENT, "channels are selected by id in one recording only, not in %u", n);
    }
    struct segments segments = {.count = 0};
    bool timed = false, good = true;
    for (uint32_t i = 0; i < n && good; i++) {
        const struct reel_index_info *info = reel_index_info(reel_recording_index(recordings[i]));
        if (!(s->readers[i] = reel_reader_new(recordings[i], err))) {
            free(segments.items);
            return false;
        }
        reader_join(s->readers[i], &s->awake);
        s->base.n_sources++;
        good = add_clock(s, info, q->sources ? &q->sources[i] : NULL, i, err) &&
               add_source(s, recordings[i], i, q, naming, &segments, err);
        if (good) {
            note_origin(s, info, i, &timed);
        }
    }
    s->n_selected = s->base.n_channels;
    if (!good) {
        free(segments.items);
        return false;
    }
    return (s->merge = merge_new(segments.items, segments.count, err)) != NULL;
}

static bool open_initial_state(struct stream *s, const struct reel_selection *q, struct reel_error *err) {
    if (q->initial) {
        s->initial = reel_initial_state_ref(q->initial);
    } else if ((q->last_per_topic || q->state_at_cut || q->key_frames) && q->start_ns != REEL_TIME_MIN) {
        if (!(s->initial = initial_state_make(&s->base, q, err))) {
            return false;
        }
    }
    s->base.initial = s->initial;
    for (size_t i = 0; s->initial && i < s->initial->n_channels; i++) {
        if (!add_channel(s, s->initial->channels[i], s->initial->channel_source[i], err)) {
            return false;
        }
    }
    return true;
}

/* Last, so that initial messages are matched by the names of the formats. */
static bool open_names(struct stream *s, const struct naming *naming, const struct reel_selection *q,
                       struct reel_error *err) {
    for (uint32_t i = 0; i < s->base.n_channels; i++) {
        if (!(s->channels[i] = naming_apply(naming, &s->arena, s->channels[i], s->channel_source[i])) ||
            !(s->channels[i] = naming_rename(q, &s->arena, s->channels[i]))) {
            return reel_fail_memory(err);
        }
    }
    return true;
}

static bool open_sampling(struct stream *s, const struct reel_selection *q, struct reel_error *err) {
    s->since = q->since ? *q->since : (struct reel_since){0};
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

struct reel_stream *reel_stream_open(struct reel_recording *const *recordings, uint32_t n_recordings,
                                     const struct reel_selection *given, struct reel_error *err) {
    struct reel_selection own;
    const struct reel_selection *selection = &own;
    if (!selection_read(&own, given, err)) {
        return NULL;
    }
    struct stream *s = calloc(1, sizeof *s);
    if (!s) {
        reel_fail_memory(err);
        return NULL;
    }
    s->base.ops = &plain_ops;
    s->start = (struct merge_position){.key = {.time_ns = selection->start_ns}};
    s->end_ns = selection->end_ns;
    struct naming naming;
    bool good = naming_open(&naming, recordings, n_recordings, selection, err) &&
                open_sources(s, recordings, n_recordings, selection, &naming, err) &&
                open_initial_state(s, selection, err) && open_names(s, &naming, selection, err) &&
                open_sampling(s, selection, err);
    naming_close(&naming);
    if (!good) {
        plain_free(&s->base);
        return NULL;
    }
    if (selection->start_ns != REEL_TIME_MIN) {
        s->origin_ns = selection->start_ns;
    }
    merge_seek(s->merge, &s->start);
    return selection->n_where > 0 ? where_stream(&s->base, selection, err) : &s->base;
}

/* ---- what works for every stream */

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
