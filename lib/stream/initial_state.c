/* See initial_state.h. Three kinds of messages: the state at the cut, computed by the encodings of the channels, the
 * last message of each topic, and the frames of videos since their key frame. */
#include "stream/initial_state.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/channel.h"
#include "base/cleanup.h"
#include "decode/encoding.h"
#include "index/pack_model.h"
#include "stream/merge.h"

struct reel_initial_state *reel_initial_state_ref(struct reel_initial_state *initial) {
    atomic_fetch_add(&initial->references, 1);
    return initial;
}

void reel_initial_state_free(struct reel_initial_state *f) {
    if (!f || atomic_fetch_sub(&f->references, 1) != 1) {
        return;
    }
    for (size_t i = 0; i < f->n_messages; i++) {
        free((void *)f->messages[i].owned);
    }
    free(f->messages);
    free(f->channels);
    free(f->channel_source);
    arena_free(&f->arena);
    free(f);
}
REEL_DEFINE_AUTO(struct reel_initial_state, reel_initial_state_free);

/* Position of the channel in the stream; a channel outside the selection is appended to the initial state's own
 * channels. */
static bool position_of_channel(struct reel_initial_state *f, const struct reel_channel *channel, uint32_t *position,
                                struct reel_error *err) {
    for (uint32_t i = 0; i < f->stream->n_channels; i++) {
        if (f->stream->channel_source[i] == f->source && channel_same(f->stream->channels[i], channel)) {
            *position = i;
            return true;
        }
    }
    for (uint32_t i = 0; i < f->n_channels; i++) {
        if (f->channel_source[i] == f->source && channel_same(f->channels[i], channel)) {
            *position = f->stream->n_channels + i;
            return true;
        }
    }
    struct reel_channel *copy = arena_alloc(&f->arena, sizeof *copy);
    if (!copy || !pack_model_copy_channel(&f->arena, channel, copy) ||
        !GROW_ARRAY(f->channels, f->n_channels, f->cap_channels) ||
        !GROW_ARRAY(f->channel_source, f->n_channels, f->cap_sources)) {
        return reel_fail_memory(err);
    }
    *position = f->stream->n_channels + (uint32_t)f->n_channels;
    f->channel_source[f->n_channels] = f->source;
    f->channels[f->n_channels++] = copy;
    return true;
}

bool reel_initial_state_add(struct reel_initial_state *f, const struct reel_channel *channel, int64_t time_ns,
                            uint8_t *data, size_t size, const uint64_t extra[REEL_ENTRY_EXTRAS],
                            struct reel_error *err) {
    AUTO_MEM uint8_t *owned = data;
    uint32_t position = 0;
    if (size > UINT32_MAX) {
        return reel_fail(err, REEL_LIMIT, "the state at the cut has %zu bytes, more than a message can", size);
    }
    if (!position_of_channel(f, channel, &position, err)) {
        return false;
    }
    if (!GROW_ARRAY(f->messages, f->n_messages, f->cap_messages)) {
        return reel_fail_memory(err);
    }
    struct reel_message *m = &f->messages[f->n_messages++];
    time_ns = merge_shifted(time_ns, f->stream->shifts[f->source]);
    *m = (struct reel_message){.time_ns = time_ns,
                               .channel = position,
                               .source = f->source,
                               .size = (uint32_t)size,
                               .before_start = true,
                               .owned = TAKE(owned)};
    m->entry = (struct reel_entry){.time_ns = time_ns, .size = (uint32_t)size};
    memcpy(m->entry.extra, extra, sizeof m->entry.extra);
    return true;
}

/* ---- the last message of each topic */

struct last {
    bool found;
    int64_t not_before;
    struct reel_entry entry;
    const struct reel_channel *channel;
    uint32_t source, position; /* position in the stream's channels */
};

static bool take_first(void *context, const struct reel_entry *entry) {
    struct last *last = context;
    last->found = entry->time_ns >= last->not_before;
    last->entry = *entry;
    return false;
}

/* Orders by topic, newest first. */
static int compare_last(const void *a, const void *b) {
    const struct last *x = a, *y = b;
    if (x->source != y->source) {
        return x->source < y->source ? -1 : 1;
    }
    int order = strcmp(x->channel->name, y->channel->name);
    if (order != 0) {
        return order;
    }
    struct pack_key p = pack_key_of(&x->entry), q = pack_key_of(&y->entry);
    return pack_key_compare(&q, &p);
}

/* The selection's start on the clock of one source. */
static int64_t start_of(const struct reel_stream *s, const struct reel_selection *selection, uint32_t source) {
    return merge_unshifted(selection->start_ns, s->shifts[source]);
}

static bool find_last(const struct reel_stream *s, const struct reel_selection *selection, struct last *last, size_t *n,
                      struct reel_error *err) {
    int64_t lookback = selection->lookback_ns;
    for (uint32_t i = 0; i < s->n_channels; i++) {
        struct last l = {.channel = s->channels[i], .source = s->channel_source[i], .position = i};
        int64_t start = start_of(s, selection, l.source);
        l.not_before = lookback > 0 && start > INT64_MIN + lookback ? start - lookback : INT64_MIN;
        if (!reel_reader_reverse(s->readers[l.source], l.channel->id, start, take_first, &l, err)) {
            return false;
        }
        if (l.found) {
            l.entry.time_ns = merge_shifted(l.entry.time_ns, s->shifts[l.source]);
            last[(*n)++] = l;
        }
    }
    return true;
}

/* Of several channels of one topic the newest message is used; but every latched publisher keeps its own last message.
 */
static bool add_last(struct reel_initial_state *f, const struct reel_selection *selection, struct reel_error *err) {
    const struct reel_stream *s = f->stream;
    AUTO_MEM struct last *last = malloc((s->n_channels ? s->n_channels : 1) * sizeof *last);
    if (!last) {
        return reel_fail_memory(err);
    }
    size_t n = 0;
    if (!find_last(s, selection, last, &n, err)) {
        return false;
    }
    if (n > 1) {
        qsort(last, n, sizeof *last, compare_last);
    }
    for (size_t i = 0; i < n; i++) {
        const struct last *l = &last[i];
        bool newest = i == 0 || l[-1].source != l->source || strcmp(l[-1].channel->name, l->channel->name) != 0;
        if (!l->channel->latched && (!newest || !selection->last_per_topic)) {
            continue;
        }
        if (!GROW_ARRAY(f->messages, f->n_messages, f->cap_messages)) {
            return reel_fail_memory(err);
        }
        f->messages[f->n_messages++] = (struct reel_message){.time_ns = l->entry.time_ns,
                                                             .channel = l->position,
                                                             .source = l->source,
                                                             .size = l->entry.size,
                                                             .before_start = true,
                                                             .entry = l->entry};
    }
    return true;
}

/* ---- messages that others build on */

static bool has_entry(const struct reel_initial_state *f, uint32_t position, const struct reel_entry *entry) {
    bool found = false;
    for (size_t i = 0; i < f->n_messages && !found; i++) {
        const struct reel_message *m = &f->messages[i];
        found =
            !m->owned && m->channel == position && m->entry.chunk == entry->chunk && m->entry.offset == entry->offset;
    }
    return found;
}

static bool initial_state_add_entry(struct reel_initial_state *f, uint32_t position, struct reel_entry entry,
                                    struct reel_error *err) {
    uint32_t source = f->stream->channel_source[position];
    if (!GROW_ARRAY(f->messages, f->n_messages, f->cap_messages)) {
        return reel_fail_memory(err);
    }
    entry.time_ns = merge_shifted(entry.time_ns, f->stream->shifts[source]);
    f->messages[f->n_messages++] = (struct reel_message){.time_ns = entry.time_ns,
                                                         .channel = position,
                                                         .source = source,
                                                         .size = entry.size,
                                                         .before_start = true,
                                                         .entry = entry};
    return true;
}

static bool add_before(struct reel_initial_state *f, const struct reel_selection *selection, uint32_t position,
                       const struct reel_cut_rule *rule, struct reel_error *err) {
    const struct reel_stream *s = f->stream;
    uint32_t source = s->channel_source[position];
    struct reel_entry *found = NULL;
    size_t n = 0;
    bool good =
        rule->before(s->readers[source], s->channels[position], start_of(s, selection, source), &found, &n, err);
    AUTO_MEM struct reel_entry *entries = found;
    for (size_t i = 0; good && i < n; i++) {
        bool there = i == 0 && has_entry(f, position, &entries[i]); /* as the last message of its topic */
        good = there || initial_state_add_entry(f, position, entries[i], err);
    }
    return good;
}

static bool add_by_rules(struct reel_initial_state *f, const struct reel_selection *selection, struct reel_error *err) {
    for (const struct reel_cut_rule *const *rule = reel_cut_rules; *rule; rule++) {
        for (uint32_t i = 0; i < f->stream->n_channels; i++) {
            if ((*rule)->applies(f->stream->channels[i]) && !add_before(f, selection, i, *rule, err)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- all kinds */

/* True when an encoding earlier in the table has the same state function. */
static bool is_first_with_state(size_t index) {
    for (size_t i = 0; i < index; i++) {
        if (reel_encodings[i]->state_at == reel_encodings[index]->state_at) {
            return false;
        }
    }
    return reel_encodings[index]->state_at != NULL;
}

/* The selected channels of one source whose encodings share this state function. */
static bool select_channels(const struct reel_stream *s, uint32_t source, const struct reel_encoding *how,
                            bool *selected) {
    bool any = false;
    for (uint32_t i = 0; i < s->n_channels; i++) {
        const struct reel_encoding *own = s->channel_source[i] == source ? reel_encoding_of(s->channels[i]) : NULL;
        if (own && own->state_at == how->state_at) {
            any = selected[s->channels[i]->id] = true;
        }
    }
    return any;
}

static bool add_state_of(struct reel_initial_state *f, const struct reel_selection *selection, uint32_t source,
                         struct reel_error *err) {
    const struct reel_stream *s = f->stream;
    uint32_t n = reel_index_info(reel_recording_index(reel_reader_recording(s->readers[source])))->n_channels;
    AUTO_MEM bool *selected = calloc(n ? n : 1, sizeof *selected);
    if (!selected) {
        return reel_fail_memory(err);
    }
    f->source = source;
    for (size_t i = 0; reel_encodings[i]; i++) {
        memset(selected, 0, n * sizeof *selected);
        if (is_first_with_state(i) && select_channels(s, source, reel_encodings[i], selected) &&
            !reel_encodings[i]->state_at(s->readers[source], start_of(s, selection, source), selected, f, err)) {
            return false;
        }
    }
    return true;
}

static bool add_state(struct reel_initial_state *f, const struct reel_selection *selection, struct reel_error *err) {
    for (uint32_t source = 0; source < f->stream->n_sources; source++) {
        if (!add_state_of(f, selection, source, err)) {
            return false;
        }
    }
    return true;
}

static int initial_state_compare_messages(const void *a, const void *b) {
    const struct reel_message *x = a, *y = b;
    if (x->time_ns != y->time_ns) {
        return x->time_ns < y->time_ns ? -1 : 1;
    }
    if (x->source != y->source) {
        return x->source < y->source ? -1 : 1;
    }
    struct pack_key p = pack_key_of(&x->entry), q = pack_key_of(&y->entry);
    int order = pack_key_compare(&p, &q);
    /* keeps the order of insertion */
    return order != 0 ? order : (x->initial > y->initial) - (x->initial < y->initial);
}

static void number_messages(struct reel_initial_state *f) {
    for (size_t i = 0; i < f->n_messages; i++) {
        f->messages[i].initial = (uint32_t)i + 1;
    }
}

struct reel_initial_state *initial_state_make(const struct reel_stream *stream, const struct reel_selection *selection,
                                              struct reel_error *err) {
    AUTO(reel_initial_state_free) struct reel_initial_state *f = calloc(1, sizeof *f);
    if (!f) {
        reel_fail_memory(err);
        return NULL;
    }
    atomic_init(&f->references, 1);
    f->stream = stream;
    if (((selection->last_per_topic || selection->latched) && !add_last(f, selection, err)) ||
        (selection->key_frames && !add_by_rules(f, selection, err)) ||
        (selection->state_at_cut && !add_state(f, selection, err))) {
        return NULL;
    }
    number_messages(f);
    if (f->n_messages > 1) {
        qsort(f->messages, f->n_messages, sizeof *f->messages, initial_state_compare_messages);
    }
    number_messages(f);
    f->stream = NULL;
    return TAKE(f);
}
