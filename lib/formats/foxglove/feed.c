/* Generates messages for viewers in time order: a separate stream runs over all channels that the transforms use,
 * independent of the selected topics, and passes each message to its transform. After a seek, restore() rebuilds the
 * state that streaming would have. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/limits.h"
#include "formats/foxglove/view.h"
#include "index/pack_model.h"
#include "stream/merge.h"
#include "stream/merge_names.h"
#include "stream/stream.h"

enum { NAMED_TOPICS_MAX = 64 }; /* with more topics than this, all are opened */

static size_t count_transforms(void) {
    size_t n = 0;
    while (view_transforms[n]) {
        n++;
    }
    return n;
}

int view_compare(const struct reel_position *a, const struct reel_position *b) {
    struct pack_key x = {.time_ns = a->time_ns, .chunk = a->chunk, .offset = a->offset};
    struct pack_key y = {.time_ns = b->time_ns, .chunk = b->chunk, .offset = b->offset};
    if (a->time_ns != b->time_ns) {
        return a->time_ns < b->time_ns ? -1 : 1;
    }
    return a->source != b->source ? (a->source < b->source ? -1 : 1) : pack_key_compare(&x, &y);
}

static unsigned role_of(const struct view_transform *how, const struct reel_channel *c) {
    return reel_encoding_of(c) == how->encoding ? how->role(c) : 0;
}

bool view_draws(const struct reel_channel *c) {
    for (size_t t = 0; view_transforms[t]; t++) {
        bool older = view_transforms[t]->older && reel_encoding_of(c) == view_transforms[t]->older;
        if (older || role_of(view_transforms[t], c)) {
            return true;
        }
    }
    return false;
}

/* --- topics --- */

bool view_topic(struct view_maker *m, const char *name, const struct view_schema *schema, uint32_t *topic,
                struct reel_error *err) {
    struct view_feed *f = m->feed;
    for (uint32_t i = 0; i < f->n_outs; i++) {
        if (f->outs[i].source == m->source && f->outs[i].schema == schema && strcmp(f->outs[i].name, name) == 0) {
            *topic = i;
            return true;
        }
    }
    const char *copy = arena_text(&f->arena, name);
    if (!copy || !GROW_ARRAY(f->outs, f->n_outs, f->cap_outs)) {
        return reel_fail_memory(err);
    }
    *topic = (uint32_t)f->n_outs;
    f->outs[f->n_outs++] =
        (struct view_out){.name = copy, .schema = schema, .source = m->source, .selected = true, .how = m->how};
    return true;
}

/* Topics of several recordings get the same prefixes as the recordings' own topics. */
static bool name_topics(struct view_feed *f, struct reel_error *err) {
    const struct view_setup *s = f->setup;
    char name[2 * REEL_PREFIX_ROOM];
    for (size_t i = 0; s->sources && s->prefixing != REEL_PREFIX_NEVER && i < f->n_outs; i++) {
        bool clash = s->prefixing == REEL_PREFIX_ALWAYS;
        for (size_t k = 0; k < f->n_outs && !clash; k++) {
            clash = f->outs[k].source != f->outs[i].source && f->outs[k].how == f->outs[i].how;
        }
        const char *prefix = s->sources[f->outs[i].source].prefix;
        if (clash && prefix[0] != '\0' && naming_join(prefix, f->outs[i].name, name, sizeof name) &&
            !(f->outs[i].name = arena_text(&f->arena, name))) {
            return reel_fail_memory(err);
        }
    }
    return true;
}

struct grow *view_begin(struct view_maker *m, uint32_t topic) {
    struct view_feed *f = m->feed;
    if (m->silent || !f->outs[topic].selected || !GROW_ARRAY(f->derived, f->n_derived, f->cap_derived)) {
        f->bytes.failed |= !m->silent && f->outs[topic].selected;
        return NULL;
    }
    f->derived[f->n_derived++] = (struct view_derived){.topic = topic, .at = f->bytes.size};
    return &f->bytes;
}
bool view_end(struct view_maker *m, struct reel_error *err) {
    struct view_feed *f = m->feed;
    struct view_derived *derived = &f->derived[f->n_derived - 1];
    derived->size = f->bytes.size - derived->at;
    if (f->bytes.size > REEL_MESSAGE_MEMORY_MAX) {
        return reel_fail(err, REEL_LIMIT, "what the view makes of one message exceeds %d bytes",
                         REEL_MESSAGE_MEMORY_MAX);
    }
    return !f->bytes.failed || reel_fail_memory(err);
}

/* --- streams --- */

/* The topics of a recording's channels with one of these roles in the transform (NULL: any transform). */
struct topic_list {
    const char *topics[NAMED_TOPICS_MAX];
    uint32_t n;
    bool all; /* there are more */
};
static void select_channels(struct topic_list *w, const struct reel_recording *recording,
                            const struct view_transform *how, unsigned roles) {
    const struct reel_index *index = reel_recording_index(recording);
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels; i++) {
        const struct reel_channel *c = reel_index_channel(index, i);
        bool needed = false;
        for (size_t t = 0; view_transforms[t]; t++) {
            bool older = view_transforms[t]->older && reel_encoding_of(c) == view_transforms[t]->older;
            needed |= (!how || how == view_transforms[t]) && (older || (role_of(view_transforms[t], c) & roles));
        }
        if (needed && w->n == NAMED_TOPICS_MAX) {
            w->all = true;
        } else if (needed) {
            w->topics[w->n++] = c->name;
        }
    }
}

/* Messages of older forms are converted to those that the transforms read. */
static struct reel_stream *foxglove_open_stream(struct reel_recording *const *recordings, uint32_t n,
                                                const struct reel_selection *q, struct reel_error *err) {
    struct reel_stream *stream = reel_stream_open(recordings, n, q, err);
    for (size_t t = 0; stream && view_transforms[t]; t++) {
        stream = view_transforms[t]->convert ? view_transforms[t]->convert(stream, err) : stream;
    }
    return stream;
}

/* Restricted to the maker's recording. */
static struct reel_stream *open_own(const struct view_maker *m, int64_t start_ns, int64_t end_ns,
                                    const struct topic_list *w, bool state_at_cut, struct reel_error *err) {
    const struct view_setup *s = m->feed->setup;
    struct reel_selection q = {
        .size = sizeof q, .topics = w->topics, .n_topics = w->all ? 0 : w->n, .start_ns = start_ns, .end_ns = end_ns};
    q.state_at_cut = state_at_cut;
    q.sources = s->sources ? &s->sources[m->source] : NULL;
    q.prefixing = REEL_PREFIX_NEVER;
    return foxglove_open_stream(&s->recordings[m->source], 1, &q, err);
}

struct reel_stream *view_whole(const struct view_maker *m, const char *const *topics, uint32_t n_topics,
                               struct reel_error *err) {
    struct topic_list w = {.n = n_topics};
    memcpy(w.topics, topics, n_topics * sizeof *topics);
    return open_own(m, m->feed->start_ns, m->feed->setup->end_ns, &w, false, err);
}

/* --- the state at an instant --- */

static bool update_state(struct view_maker *m, struct reel_stream *stream, const struct reel_message *message,
                         struct reel_error *err) {
    struct reel_bytes payload;
    return stream_decodable(stream, message, &payload, err) &&
           m->how->take(m, stream->channels[message->channel], message, payload, err);
}

static bool replay_initial_state(struct view_maker *m, int64_t time_ns, struct reel_error *err) {
    struct topic_list w = {.n = 0};
    select_channels(&w, m->feed->setup->recordings[m->source], m->how, VIEW_ALL);
    AUTO(reel_stream_free) struct reel_stream *stream = open_own(m, time_ns, time_ns, &w, true, err);
    for (;;) {
        struct reel_message message;
        enum reel_step step = stream ? stream_next(stream, &message, err) : REEL_STEP_ERROR;
        if (step != REEL_STEP_MESSAGE) {
            return step == REEL_STEP_END;
        }
        if (role_of(m->how, stream->channels[message.channel]) && !update_state(m, stream, &message, err)) {
            return false;
        }
    }
}

static bool take_newest(void *context, const struct reel_entry *entry) {
    *(struct reel_entry *)context = *entry;
    return false;
}

/* The last message before the instant of each VIEW_LAST channel, in stream order. */
struct lasts {
    struct reel_message *items;
    size_t count;
};
static inline void reel_auto_lasts_free(struct lasts *l) {
    free(l->items);
}

static int foxglove_compare_messages(const void *a, const void *b) {
    struct reel_position x = reel_position_of(a), y = reel_position_of(b);
    return view_compare(&x, &y);
}

static bool find_lasts(const struct view_maker *m, struct reel_stream *stream, int64_t time_ns, struct lasts *lasts,
                       struct reel_error *err) {
    int64_t shift = stream->shifts[0], own_ns = merge_unshifted(time_ns, shift);
    if (!(lasts->items = calloc((size_t)stream->n_channels + 1, sizeof *lasts->items))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < stream->n_channels; i++) {
        struct reel_message *last = &lasts->items[lasts->count];
        if (!(role_of(m->how, stream->channels[i]) & VIEW_LAST)) {
            continue;
        }
        last->entry.chunk = UINT32_MAX;
        if (!reel_reader_reverse(stream->readers[0], stream->channels[i]->id, own_ns, take_newest, &last->entry, err)) {
            return false;
        }
        last->channel = i;
        last->size = last->entry.size;
        last->time_ns = last->entry.time_ns = merge_shifted(last->entry.time_ns, shift);
        lasts->count += last->entry.chunk != UINT32_MAX;
    }
    if (lasts->count > 1) {
        qsort(lasts->items, lasts->count, sizeof *lasts->items, foxglove_compare_messages);
    }
    return true;
}

/* Processes those before `message` (NULL: all), each once. */
static bool replay_last(struct view_maker *m, struct reel_stream *stream, const struct lasts *lasts, size_t *at,
                        const struct reel_message *message, struct reel_error *err) {
    for (; *at < lasts->count && (!message || foxglove_compare_messages(&lasts->items[*at], message) < 0); ++*at) {
        if (!update_state(m, stream, &lasts->items[*at], err)) {
            return false;
        }
    }
    return true;
}

static bool replay_all(struct view_maker *m, int64_t time_ns, struct reel_error *err) {
    struct topic_list w = {.n = 0};
    select_channels(&w, m->feed->setup->recordings[m->source], m->how, VIEW_ALL | VIEW_LAST);
    AUTO(reel_stream_free) struct reel_stream *stream = open_own(m, REEL_TIME_MIN, time_ns, &w, false, err);
    AUTO(lasts_free) struct lasts lasts = {.count = 0};
    size_t at = 0;
    if (!stream || !find_lasts(m, stream, time_ns, &lasts, err)) {
        return false;
    }
    for (;;) {
        struct reel_message message;
        enum reel_step step = stream_next(stream, &message, err);
        if (step != REEL_STEP_MESSAGE) {
            return step == REEL_STEP_END && replay_last(m, stream, &lasts, &at, NULL, err);
        }
        bool counts = message.size > m->how->nothing && (role_of(m->how, stream->channels[message.channel]) & VIEW_ALL);
        if (counts &&
            (!replay_last(m, stream, &lasts, &at, &message, err) || !update_state(m, stream, &message, err))) {
            return false;
        }
    }
}

static bool restore(struct view_maker *m, int64_t time_ns, struct reel_error *err) {
    struct reel_error own = {0};
    bool good = time_ns == REEL_TIME_MIN;
    m->silent = true;
    m->opening = false;
    m->how->forget(m->state);
    if (!good && m->how->from_initial_state) {
        good = replay_initial_state(m, time_ns, &own); /* fails on an invalid message: then all are read, and the
                                                          invalid one is skipped */
        if (!good) {
            m->how->forget(m->state);
        }
    }
    good = good || replay_all(m, time_ns, err);
    m->silent = false;
    return good;
}

static bool restore_all(struct view_feed *f, int64_t time_ns, struct reel_error *err) {
    for (size_t i = 0; i < f->n_makers; i++) {
        if (!restore(&f->makers[i], time_ns, err)) {
            return false;
        }
    }
    return true;
}

/* --- opening --- */

static bool add_makers(struct view_feed *f, struct reel_error *err) {
    f->lanes = calloc((size_t)f->stream->n_channels + 1, sizeof *f->lanes);
    size_t n_transforms = count_transforms();
    f->makers = calloc((size_t)f->setup->n * n_transforms + 1, sizeof *f->makers);
    if (!f->lanes || !f->makers) {
        return reel_fail_memory(err);
    }
    for (size_t t = 0; t < n_transforms * f->setup->n; t++) {
        struct view_maker *m = &f->makers[f->n_makers];
        *m = (struct view_maker){
            .how = view_transforms[t % n_transforms], .feed = f, .source = (uint32_t)(t / n_transforms)};
        for (uint32_t i = 0; i < f->stream->n_channels; i++) {
            unsigned role = f->stream->channel_source[i] == m->source ? role_of(m->how, f->stream->channels[i]) : 0;
            if (!role) {
                continue;
            }
            if (!m->state && !(m->state = calloc(1, m->how->state_size))) {
                return reel_fail_memory(err);
            }
            f->lanes[i] = (struct view_lane){.maker = m, .role = role};
            if (!m->how->open(m, f->stream->channels[i], err)) {
                f->n_makers++; /* to be closed */
                return false;
            }
        }
        f->n_makers += m->state != NULL;
    }
    return true;
}

static bool feed_is_new(const struct view_feed *f, const struct reel_message *m) {
    return !f->setup->since || stream_is_new(f->setup->since, &m->entry);
}

/* The first VIEW_OPENS message of the selection. */
static bool find_first(struct view_maker *m, struct reel_error *err) {
    struct topic_list w = {.n = 0};
    select_channels(&w, m->feed->setup->recordings[m->source], m->how, VIEW_OPENS);
    AUTO(reel_stream_free)
    struct reel_stream *stream = open_own(m, m->feed->start_ns, m->feed->setup->end_ns, &w, false, err);
    struct reel_message message;
    enum reel_step step;
    do {
        step = stream ? stream_next(stream, &message, err) : REEL_STEP_ERROR;
    } while (step == REEL_STEP_MESSAGE &&
             (!(role_of(m->how, stream->channels[message.channel]) & VIEW_OPENS) || !feed_is_new(m->feed, &message)));
    if (step == REEL_STEP_MESSAGE) {
        m->first = reel_position_of(&message);
        m->first.source = m->source;
        m->has_first = true;
    }
    return step != REEL_STEP_ERROR;
}

/* Where what is new of a selection begins: a late message is drawn with the state at its time. *any false: nothing is.
 */
static bool find_new(struct view_feed *f, struct reel_selection q, bool *any, struct reel_error *err) {
    struct reel_message message;
    q.since = f->setup->since;
    AUTO(reel_stream_free)
    struct reel_stream *stream = foxglove_open_stream(f->setup->recordings, f->setup->n, &q, err);
    enum reel_step step = stream ? stream_next(stream, &message, err) : REEL_STEP_ERROR;
    *any = step == REEL_STEP_MESSAGE;
    f->start_ns = *any ? message.time_ns : f->start_ns;
    return step != REEL_STEP_ERROR;
}

static bool feed_open(struct view_feed *f, struct reel_error *err) {
    struct topic_list w = {.n = 0};
    for (uint32_t i = 0; i < f->setup->n; i++) {
        select_channels(&w, f->setup->recordings[i], NULL, UINT32_MAX);
    }
    if (w.n == 0) {
        return true;
    }
    struct reel_selection q = {.size = sizeof q,
                               .topics = w.topics,
                               .n_topics = w.all ? 0 : w.n,
                               .start_ns = f->setup->start_ns,
                               .end_ns = f->setup->end_ns};
    q.sources = f->setup->sources;
    q.prefixing = f->setup->prefixing;
    bool any = true;
    f->start_ns = f->setup->start_ns;
    if (f->setup->since && !find_new(f, q, &any, err)) {
        return false;
    }
    q.start_ns = f->start_ns;
    if (!(f->stream = foxglove_open_stream(f->setup->recordings, f->setup->n, &q, err)) || !add_makers(f, err) ||
        !name_topics(f, err)) {
        return false;
    }
    if (!any) {
        reel_stream_free(TAKE(f->stream));
        return true;
    }
    for (size_t i = 0; i < f->n_makers; i++) {
        if (!find_first(&f->makers[i], err)) {
            return false;
        }
    }
    return restore_all(f, f->start_ns, err);
}

struct view_feed *view_feed_new(const struct view_setup *setup, struct reel_error *err) {
    struct view_feed *f = calloc(1, sizeof *f);
    if (!f) {
        reel_fail_memory(err);
        return NULL;
    }
    f->setup = setup;
    if (!feed_open(f, err)) {
        view_feed_free(f);
        return NULL;
    }
    return f;
}

void view_feed_free(struct view_feed *f) {
    if (!f) {
        return;
    }
    for (size_t i = 0; i < f->n_makers; i++) {
        f->makers[i].how->close(f->makers[i].state);
        free(f->makers[i].state);
    }
    reel_stream_free(f->stream);
    arena_free(&f->arena);
    free(f->lanes);
    free(f->makers);
    free(f->outs);
    free(f->bytes.data);
    free(f->derived);
    free(f);
}

/* --- running --- */

enum reel_step view_feed_next(struct view_feed *f, struct reel_error *err) {
    do {
        f->bytes.size = f->n_derived = 0;
        enum reel_step step = f->stream ? stream_next(f->stream, &f->of, err) : REEL_STEP_END;
        if (step != REEL_STEP_MESSAGE) {
            return step;
        }
        struct view_maker *m = f->lanes[f->of.channel].maker;
        struct reel_position current = reel_position_of(&f->of);
        if (!m) {
            continue;
        }
        m->opening = m->has_first && view_compare(&current, &m->first) == 0;
        m->silent = !feed_is_new(f, &f->of);
        bool good = update_state(m, f->stream, &f->of, err);
        m->silent = false;
        if (!good) {
            return REEL_STEP_ERROR;
        }
        if (f->bytes.failed) {
            reel_fail_memory(err);
            return REEL_STEP_ERROR;
        }
    } while (f->n_derived == 0);
    return REEL_STEP_MESSAGE;
}

bool view_feed_seek(struct view_feed *f, const struct reel_position *mark, struct reel_error *err) {
    int64_t time_ns = mark->initial > 0 || mark->time_ns < f->start_ns ? f->start_ns : mark->time_ns;
    struct reel_position begin = {.time_ns = time_ns};
    f->bytes.size = f->n_derived = 0;
    if (!f->stream) {
        return true;
    }
    if (!restore_all(f, time_ns, err) || !stream_seek(f->stream, &begin, err)) {
        return false;
    }
    while (mark->initial == 0) { /* earlier messages of the same instant update the state too */
        struct reel_message message;
        enum reel_step step = stream_next(f->stream, &message, err);
        struct reel_position current = step == REEL_STEP_MESSAGE ? reel_position_of(&message) : begin;
        if (step != REEL_STEP_MESSAGE) {
            return step == REEL_STEP_END;
        }
        if (view_compare(&current, mark) >= 0) {
            return stream_seek(f->stream, &current, err);
        }
        struct view_maker *m = f->lanes[message.channel].maker;
        if (m) {
            m->silent = true;
            m->opening = m->has_first && view_compare(&current, &m->first) == 0;
            bool good = update_state(m, f->stream, &message, err);
            m->silent = false;
            if (!good) {
                return false;
            }
        }
    }
    return true;
}
