/* Decides which messages share a chunk. A reader of one topic must fetch every chunk with a message of it. Where some
 * topics are heavy (images, scans), a reader of a light topic would fetch nearly the whole file. So messages are
 * gathered in time windows; in each window the messages of the light channels come first, then those of each heavy
 * channel. Windows are small (some MiB), so that a reader of all messages in time order holds few chunks. Windows start
 * at multiples of their length since 1970, so that seeking needs no earlier messages. */
#include "base/cleanup.h"
#include "base/grow.h"
#include "formats/mcap/write.h"
#include "reel/cleanup.h"
#include "stream/stream.h"

enum {
    HEAVY_BYTES = 4096,         /* mean message size from which a channel is heavy */
    WINDOW_BYTES = 8 << 20,     /* intended size of a window */
    WINDOW_MESSAGES = 8192,     /* at most; a window with more is split */
    WORTHWHILE_BYTES = 8 << 20, /* a recording smaller than this is fetched at once and not grouped */
    VIEW_VERSION = 1,
};
static const int64_t WINDOW_MIN_NS = 100000000, WINDOW_MAX_NS = 10000000000;

struct grouped {
    struct reel_stream base;
    struct reel_stream *below;
    uint32_t *classes; /* by channel */
    int64_t window_ns;
    struct reel_message *messages; /* messages of the window, in the order of the source */
    size_t count, at;
    struct reel_message ahead; /* the first message after the window */
    bool has_ahead;
    struct reel_message *sorted; /* room for WINDOW_MESSAGES */
};

/* ---- what is heavy */

static const struct reel_channel_stats *stats_of(const struct reel_stream *s, uint32_t channel) {
    const struct reel_index *index =
        reel_recording_index(reel_reader_recording(s->readers[s->channel_source[channel]]));
    uint32_t id = s->channels[channel]->id;
    return id < reel_index_info(index)->n_channels ? reel_index_stats(index, id) : NULL; /* NULL: a channel of a view */
}

bool mcap_classes(const struct reel_stream *s, uint32_t *classes) {
    uint64_t bytes = 0;
    uint32_t heavy = 0;
    for (uint32_t i = 0; i < s->n_channels; i++) {
        const struct reel_channel_stats *stats = stats_of(s, i);
        bool is_heavy = stats && stats->count > 0 && stats->bytes / stats->count >= HEAVY_BYTES;
        classes[i] = is_heavy ? ++heavy : 0;
        bytes += stats ? stats->bytes : 0;
    }
    bool worthwhile = heavy > 0 && s->n_channels > 1 && bytes > WORTHWHILE_BYTES;
    for (uint32_t i = 0; i < s->n_channels && !worthwhile; i++) {
        classes[i] = 0;
    }
    return worthwhile;
}

/* Window length that gives about WINDOW_BYTES per window. */
static int64_t window_of(const struct reel_stream *s) {
    double bytes = 0, first = 0, last = 0;
    bool any = false;
    for (uint32_t i = 0; i < s->n_channels; i++) {
        const struct reel_channel_stats *stats = stats_of(s, i);
        if (!stats || stats->count == 0) {
            continue;
        }
        double shift = (double)s->shifts[s->channel_source[i]];
        bytes += (double)stats->bytes;
        first = !any || (double)stats->first_ns + shift < first ? (double)stats->first_ns + shift : first;
        last = !any || (double)stats->last_ns + shift > last ? (double)stats->last_ns + shift : last;
        any = true;
    }
    double length = bytes > 0 ? (last - first) * WINDOW_BYTES / bytes : 0;
    return length > (double)WINDOW_MAX_NS   ? WINDOW_MAX_NS
           : length < (double)WINDOW_MIN_NS ? WINDOW_MIN_NS
                                            : (int64_t)length;
}

/* ---- the stream */

static int64_t window_start(const struct grouped *g, int64_t time_ns) {
    int64_t n = time_ns / g->window_ns - (time_ns % g->window_ns < 0);
    return n < INT64_MIN / g->window_ns ? INT64_MIN : n * g->window_ns;
}

/* Sorts the window's messages by class; within a class the order stays. */
static void sort_window(struct grouped *g) {
    size_t at = 0;
    uint32_t next = 0;
    for (uint32_t class = 0; at < g->count; class = next) {
        next = UINT32_MAX;
        for (size_t i = 0; i < g->count; i++) {
            uint32_t c = g->classes[g->messages[i].channel];
            if (c == class) {
                g->sorted[at++] = g->messages[i];
            } else if (c > class && c < next) {
                next = c;
            }
        }
    }
    struct reel_message *sorted = g->sorted;
    g->sorted = g->messages;
    g->messages = sorted;
}

/* Reads the next window. Messages inserted before the selection stay first: they form a window of their own. */
static bool mcap_fill(struct grouped *g, struct reel_error *err) {
    g->count = g->at = 0;
    while (g->count < WINDOW_MESSAGES) {
        struct reel_message m = g->ahead;
        enum reel_step step = g->has_ahead ? REEL_STEP_MESSAGE : stream_next(g->below, &m, err);
        if (step == REEL_STEP_ERROR) {
            return false;
        }
        const struct reel_message *first = &g->messages[0];
        bool fits = step == REEL_STEP_MESSAGE &&
                    (g->count == 0 || (m.before_start == first->before_start &&
                                       window_start(g, m.time_ns) == window_start(g, first->time_ns)));
        g->has_ahead = step == REEL_STEP_MESSAGE && !fits;
        if (!fits) {
            g->ahead = m;
            break;
        }
        g->messages[g->count++] = m;
    }
    if (g->count > 0 && !g->messages[0].before_start) {
        sort_window(g);
    }
    return true;
}

static enum reel_step grouped_next(struct reel_stream *base, struct reel_message *m, struct reel_error *err) {
    struct grouped *g = (struct grouped *)base;
    if (g->at == g->count && !mcap_fill(g, err)) {
        return REEL_STEP_ERROR;
    }
    if (g->count == 0) {
        return REEL_STEP_END;
    }
    *m = g->messages[g->at++];
    return REEL_STEP_MESSAGE;
}

static bool is_marked(const struct reel_message *m, const struct reel_position *mark) {
    struct reel_position own = reel_position_of(m);
    return own.time_ns == mark->time_ns && own.offset == mark->offset && own.source == mark->source &&
           own.chunk == mark->chunk && own.initial == mark->initial && own.again == mark->again;
}

/* Seeks to the start of the window that contains the position, and in it to the message. */
static bool grouped_seek(struct reel_stream *base, const struct reel_position *mark, struct reel_error *err) {
    struct grouped *g = (struct grouped *)base;
    int64_t start = window_start(g, mark->time_ns);
    const struct reel_position from = mark->initial > 0 ? (struct reel_position){.time_ns = REEL_TIME_MIN, .initial = 1}
                                                        : (struct reel_position){.time_ns = start};
    g->has_ahead = false;
    if (!stream_seek(g->below, &from, err)) {
        return false;
    }
    if (stream_is_start(mark)) {
        g->count = g->at = 0;
        return true;
    }
    do {
        if (!mcap_fill(g, err)) {
            return false;
        }
        for (g->at = 0; g->at < g->count && !is_marked(&g->messages[g->at], mark);) {
            g->at++;
        }
    } while (g->count > 0 && g->at == g->count);
    return g->count > 0 || reel_fail(err, REEL_CHANGED, "a message of the plan is not there");
}

static bool grouped_payload(struct reel_stream *base, const struct reel_message *m, struct reel_bytes *out,
                            struct reel_error *err) {
    return reel_stream_payload(((struct grouped *)base)->below, m, out, err);
}

static bool grouped_put(struct reel_stream *base, const struct reel_message *m, uint8_t *to, struct reel_error *err) {
    return reel_stream_copy(((struct grouped *)base)->below, m, 0, to, m->size, err);
}

static void grouped_free(struct reel_stream *base) {
    struct grouped *g = (struct grouped *)base;
    reel_stream_free(g->below);
    free(g->classes);
    free(g->messages);
    free(g->sorted);
    free(g);
}

static const struct reel_stream_ops plain_ops = {.next = grouped_next, .seek = grouped_seek, .free = grouped_free};
static const struct reel_stream_ops made_ops = {
    .next = grouped_next, .seek = grouped_seek, .free = grouped_free, .payload = grouped_payload, .put = grouped_put};

struct reel_stream *mcap_grouped(struct reel_stream *source, struct reel_error *err) {
    AUTO_MEM uint32_t *classes = malloc(((size_t)source->n_channels + 1) * sizeof *classes);
    if (classes && !mcap_classes(source, classes)) {
        return source;
    }
    struct grouped *g = classes ? calloc(1, sizeof *g) : NULL;
    if (!g) {
        reel_stream_free(source);
        reel_fail_memory(err);
        return NULL;
    }
    g->base = *source;
    g->base.ops = source->ops->payload ? &made_ops : &plain_ops;
    g->base.view_version = source->view_version * 16 + VIEW_VERSION;
    g->below = source;
    g->classes = TAKE(classes);
    g->window_ns = window_of(source);
    g->messages = malloc(WINDOW_MESSAGES * sizeof *g->messages);
    g->sorted = malloc(WINDOW_MESSAGES * sizeof *g->sorted);
    if (!g->messages || !g->sorted) {
        grouped_free(&g->base);
        reel_fail_memory(err);
        return NULL;
    }
    return &g->base;
}
