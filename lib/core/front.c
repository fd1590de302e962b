/* See front.h. Two kinds: the format's state at the cut, and the last message of each topic. */
#include "core/front.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/pack_model.h"

struct reel_front *reel_front_ref(struct reel_front *front) {
    atomic_fetch_add(&front->references, 1);
    return front;
}

void reel_front_free(struct reel_front *f) {
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
REEL_DEFINE_AUTO(struct reel_front, reel_front_free);

static bool same_channel(const struct reel_channel *a, const struct reel_channel *b) {
    return strcmp(a->name, b->name) == 0 && strcmp(a->type, b->type) == 0 && strcmp(a->encoding, b->encoding) == 0;
}

/* Position of the channel in the stream; joined to the front's own when the selection has none like it. */
static bool place_channel(struct reel_front *f, const struct reel_channel *channel, uint32_t *position, struct reel_error *err) {
    for (uint32_t i = 0; i < f->stream->n_channels; i++) {
        if (f->stream->channel_source[i] == f->source && same_channel(f->stream->channels[i], channel)) {
            *position = i;
            return true;
        }
    }
    struct reel_channel *copy = arena_alloc(&f->arena, sizeof *copy);
    if (!copy || !pack_model_copy_channel(&f->arena, channel, copy) || !GROW_ARRAY(f->channels, f->n_channels, f->cap_channels) ||
        !GROW_ARRAY(f->channel_source, f->n_channels, f->cap_sources)) {
        return reel_fail_memory(err);
    }
    *position = f->stream->n_channels + (uint32_t)f->n_channels;
    f->channel_source[f->n_channels] = f->source;
    f->channels[f->n_channels++] = copy;
    return true;
}

bool reel_front_add(struct reel_front *f, const struct reel_channel *channel, int64_t time_ns, uint8_t *data, size_t size, const uint64_t extra[REEL_ENTRY_EXTRAS],
                    struct reel_error *err) {
    AUTO_MEM uint8_t *owned = data;
    uint32_t position = 0;
    if (size > UINT32_MAX) {
        return reel_fail(err, REEL_LIMIT, "the state at the cut has %zu bytes, more than a message can", size);
    }
    if (!place_channel(f, channel, &position, err)) {
        return false;
    }
    if (!GROW_ARRAY(f->messages, f->n_messages, f->cap_messages)) {
        return reel_fail_memory(err);
    }
    struct reel_message *m = &f->messages[f->n_messages++];
    *m = (struct reel_message){.time_ns = time_ns, .channel = position, .source = f->source, .size = (uint32_t)size, .before_start = true, .owned = TAKE(owned)};
    m->entry = (struct reel_entry){.time_ns = time_ns, .size = (uint32_t)size};
    memcpy(m->entry.extra, extra, sizeof m->entry.extra);
    return true;
}

/* ---- the last message of each topic */

struct last {
    bool found;
    int64_t not_before;
    struct reel_entry entry;
};

static bool take_first(void *context, const struct reel_entry *entry) {
    struct last *last = context;
    last->found = entry->time_ns >= last->not_before;
    last->entry = *entry;
    return false;
}

/* True when another channel of the same topic says what this one says, but later. Each latched publisher keeps its own last word. */
static bool outdone(const struct reel_stream *s, const struct last *last, uint32_t i) {
    for (uint32_t k = 0; k < s->n_channels && !s->channels[i]->latched; k++) {
        if (k != i && last[k].found && s->channel_source[k] == s->channel_source[i] && strcmp(s->channels[k]->name, s->channels[i]->name) == 0) {
            struct pack_key mine = pack_key_of(&last[i].entry), other = pack_key_of(&last[k].entry);
            if (pack_key_compare(&other, &mine) > 0) {
                return true;
            }
        }
    }
    return false;
}

static bool add_last(struct reel_front *f, const struct reel_selection *selection, struct reel_error *err) {
    const struct reel_stream *s = f->stream;
    AUTO_MEM struct last *last = calloc(s->n_channels ? s->n_channels : 1, sizeof *last);
    if (!last) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < s->n_channels; i++) {
        last[i].not_before = selection->lookback_ns > 0 && selection->start_ns > INT64_MIN + selection->lookback_ns ? selection->start_ns - selection->lookback_ns : INT64_MIN;
        if (!reel_reader_back(s->readers[s->channel_source[i]], s->channels[i]->id, selection->start_ns, take_first, &last[i], err)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < s->n_channels; i++) {
        if (!last[i].found || outdone(s, last, i)) {
            continue;
        }
        if (!GROW_ARRAY(f->messages, f->n_messages, f->cap_messages)) {
            return reel_fail_memory(err);
        }
        f->messages[f->n_messages++] = (struct reel_message){.time_ns = last[i].entry.time_ns,
                                                             .channel = i,
                                                             .source = s->channel_source[i],
                                                             .size = last[i].entry.size,
                                                             .before_start = true,
                                                             .entry = last[i].entry};
    }
    return true;
}

/* ---- both */

static bool add_state(struct reel_front *f, const struct reel_selection *selection, struct reel_error *err) {
    const struct reel_stream *s = f->stream;
    for (uint32_t source = 0; source < s->n_sources; source++) {
        const struct reel_index *index = reel_recording_index(reel_reader_recording(s->readers[source]));
        const struct reel_index_info *info = reel_index_info(index);
        if (!info->format->state_at) {
            continue;
        }
        AUTO_MEM bool *wanted = calloc(info->n_channels ? info->n_channels : 1, sizeof *wanted);
        if (!wanted) {
            return reel_fail_memory(err);
        }
        for (uint32_t i = 0; i < s->n_channels; i++) {
            if (s->channel_source[i] == source) {
                wanted[s->channels[i]->id] = true;
            }
        }
        f->source = source;
        if (!info->format->state_at(s->readers[source], selection->start_ns, wanted, f, err)) {
            return false;
        }
    }
    return true;
}

static int compare_messages(const void *a, const void *b) {
    const struct reel_message *x = a, *y = b;
    if (x->time_ns != y->time_ns) {
        return x->time_ns < y->time_ns ? -1 : 1;
    }
    if (x->source != y->source) {
        return x->source < y->source ? -1 : 1;
    }
    struct pack_key p = pack_key_of(&x->entry), q = pack_key_of(&y->entry);
    return pack_key_compare(&p, &q);
}

struct reel_front *front_make(const struct reel_stream *stream, const struct reel_selection *selection, struct reel_error *err) {
    AUTO(reel_front_free) struct reel_front *f = calloc(1, sizeof *f);
    if (!f) {
        reel_fail_memory(err);
        return NULL;
    }
    atomic_init(&f->references, 1);
    f->stream = stream;
    if ((selection->last_per_topic && !add_last(f, selection, err)) || (selection->state_at_cut && !add_state(f, selection, err))) {
        return NULL;
    }
    if (f->n_messages > 1) {
        qsort(f->messages, f->n_messages, sizeof *f->messages, compare_messages);
    }
    for (size_t i = 0; i < f->n_messages; i++) {
        f->messages[i].front = (uint32_t)i + 1;
    }
    f->stream = NULL;
    return TAKE(f);
}
