/* The stream of view=foxglove: what viewers can read of the selected messages (plain.c), and those that the
 * transforms generate, merged by time; a generated message follows its source message. Generated messages are not
 * stored: a second feed seeks to the source message and generates them again. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/glob.h"
#include "decode/encoding.h"
#include "formats/foxglove/view.h"

enum {
    VIEW_VERSION = 3, /* part of every ETag: raise it when any output byte changes (1 in view.c) */
    STEPS_MAX = 64,
};

struct view {
    struct reel_stream base;
    struct reel_stream *below;
    struct view_setup setup;
    struct reel_since since;
    struct arena arena; /* channels */
    const struct reel_channel **channels;
    uint32_t *channel_source, *position; /* by channel of the stream; by topic of the feed */
    struct view_feed *feed, *again;      /* `again`: second feed for random access; opened on first use */
    struct reel_message next;            /* the pending message of `below` */
    bool waits, ended, feed_ended;
    size_t emitted; /* position in the messages that the feed generated */
};

/* --- messages --- */

static bool read_source(struct view *v, struct reel_error *err) {
    if (!v->waits && !v->ended) {
        enum reel_step step = stream_next(v->below, &v->next, err);
        v->waits = step == REEL_STEP_MESSAGE;
        v->ended = step == REEL_STEP_END;
    }
    return v->waits || v->ended;
}

static bool advance_feed(struct view *v, struct reel_error *err) {
    if (v->emitted == v->feed->n_derived && !v->feed_ended) {
        enum reel_step step = view_feed_next(v->feed, err);
        v->emitted = 0;
        v->feed_ended = step == REEL_STEP_END;
        return step != REEL_STEP_ERROR;
    }
    return true;
}

static bool comes_first(const struct view *v) {
    if (!v->waits || v->next.initial > 0 || v->emitted == v->feed->n_derived) {
        return v->waits;
    }
    struct reel_position below = reel_position_of(&v->next), derived = reel_position_of(&v->feed->of);
    return view_compare(&below, &derived) <= 0;
}

static enum reel_step view_next(struct reel_stream *base, struct reel_message *m, struct reel_error *err) {
    struct view *v = (struct view *)base;
    if (!read_source(v, err) || !advance_feed(v, err)) {
        return REEL_STEP_ERROR;
    }
    if (comes_first(v)) {
        *m = v->next;
        v->waits = false;
        return REEL_STEP_MESSAGE;
    }
    if (v->emitted == v->feed->n_derived) {
        return REEL_STEP_END;
    }
    const struct view_derived *derived = &v->feed->derived[v->emitted++];
    *m = v->feed->of;
    m->channel = v->position[derived->topic];
    m->size = (uint32_t)derived->size;
    m->again = (uint32_t)v->emitted;
    m->initial = 0;
    m->before_start = false;
    m->owned = NULL;
    return REEL_STEP_MESSAGE;
}

/* Positions `feed` at the message from which `mark` was generated, if any. */
static bool foxglove_send(struct view_feed *feed, const struct reel_position *mark, bool *ended,
                          struct reel_error *err) {
    *ended = false;
    if (!view_feed_seek(feed, mark, err)) {
        return false;
    }
    enum reel_step step = view_feed_next(feed, err);
    *ended = step == REEL_STEP_END;
    return step != REEL_STEP_ERROR;
}

static bool view_seek(struct reel_stream *base, const struct reel_position *mark, struct reel_error *err) {
    struct view *v = (struct view *)base;
    v->waits = v->ended = false;
    v->emitted = 0;
    if (!stream_seek(v->below, mark, err) || !foxglove_send(v->feed, mark, &v->feed_ended, err)) {
        return false;
    }
    if (mark->again == 0) {
        return true;
    }
    if (!read_source(v, err)) { /* the source message is past, and so are some of its generated messages */
        return false;
    }
    struct reel_position below = reel_position_of(&v->next), derived = reel_position_of(&v->feed->of);
    v->waits = v->waits && view_compare(&below, mark) != 0;
    if (v->feed->n_derived > 0 && view_compare(&derived, mark) == 0) {
        v->emitted = mark->again - 1 < v->feed->n_derived ? mark->again - 1 : v->feed->n_derived;
    }
    return true;
}

static bool foxglove_holds(const struct view_feed *feed, const struct reel_position *mark) {
    struct reel_position derived = reel_position_of(&feed->of);
    return feed->n_derived >= mark->again && view_compare(&derived, mark) == 0;
}

/* Random access is mostly sequential: a few steps forward are cheaper than a seek. */
static bool bring(struct view_feed *feed, const struct reel_position *mark, struct reel_error *err) {
    bool ended;
    for (unsigned steps = 0; steps < STEPS_MAX && feed->n_derived > 0; steps++) {
        struct reel_position at = reel_position_of(&feed->of);
        int order = view_compare(&at, mark);
        if (order == 0) {
            return true;
        }
        enum reel_step step = order < 0 ? view_feed_next(feed, err) : REEL_STEP_END;
        if (step != REEL_STEP_MESSAGE) {
            if (step == REEL_STEP_ERROR) {
                return false;
            }
            break;
        }
    }
    return foxglove_send(feed, mark, &ended, err);
}

static bool view_payload(struct reel_stream *base, const struct reel_message *m, struct reel_bytes *out,
                         struct reel_error *err) {
    struct view *v = (struct view *)base;
    if (m->channel < v->below->n_channels) {
        return reel_stream_payload(v->below, m, out, err);
    }
    struct reel_position mark = reel_position_of(m);
    const struct view_feed *feed = v->feed;
    if (!foxglove_holds(feed, &mark)) {
        if (!v->again && !(v->again = view_feed_new(&v->setup, err))) {
            return false;
        }
        for (size_t i = 0; i < v->feed->n_outs; i++) {
            v->again->outs[i].selected = v->feed->outs[i].selected;
        }
        feed = v->again;
        if (!foxglove_holds(feed, &mark) && !bring(v->again, &mark, err)) {
            return false;
        }
    }
    const struct view_derived *derived =
        m->again > 0 && foxglove_holds(feed, &mark) ? &feed->derived[m->again - 1] : NULL;
    if (!derived || derived->size != m->size || v->position[derived->topic] != m->channel) {
        return reel_fail(err, REEL_CHANGED, "the message derived from the one at %llu has changed",
                         (unsigned long long)m->entry.offset);
    }
    *out = bytes_of(feed->bytes.data + derived->at, derived->size);
    return true;
}

static void view_free(struct reel_stream *base) {
    struct view *v = (struct view *)base;
    reel_stream_free(v->below);
    view_feed_free(v->feed);
    view_feed_free(v->again);
    for (uint32_t i = 0; v->setup.recordings && i < v->setup.n; i++) {
        reel_recording_free(v->setup.recordings[i]);
    }
    free(v->setup.recordings);
    free(v->setup.sources);
    arena_free(&v->arena);
    free(v->channels);
    free(v->channel_source);
    free(v->position);
    free(v);
}

static const struct reel_stream_ops view_ops = {
    .next = view_next, .seek = view_seek, .free = view_free, .payload = view_payload};

/* --- opening --- */

static bool copy_setup(struct view *v, struct reel_recording *const *recordings, uint32_t n,
                       const struct reel_selection *q, struct reel_error *err) {
    struct view_setup *s = &v->setup;
    s->recordings = calloc((size_t)n + 1, sizeof *s->recordings);
    s->sources = q->sources ? malloc((n + 1) * sizeof *s->sources) : NULL;
    if (!s->recordings || (q->sources && !s->sources)) {
        return reel_fail_memory(err);
    }
    for (s->n = 0; s->n < n; s->n++) {
        s->recordings[s->n] = reel_recording_ref(recordings[s->n]);
        if (q->sources) {
            s->sources[s->n] = q->sources[s->n];
        }
    }
    s->prefixing = q->prefixing;
    s->start_ns = q->start_ns;
    s->end_ns = q->end_ns;
    v->since = q->since ? *q->since : (struct reel_since){0};
    s->since = q->since ? &v->since : NULL;
    return true;
}

static bool any_matches(const char *const *globs, uint32_t n, const char *topic) {
    for (uint32_t i = 0; i < n; i++) {
        if (reel_topic_match(globs[i], topic)) {
            return true;
        }
    }
    return false;
}

static uint32_t choose_topics(const struct view_feed *f, const struct reel_selection *q) {
    uint32_t n = 0;
    for (size_t i = 0; i < f->n_outs; i++) {
        const char *name = f->outs[i].name;
        f->outs[i].selected = (q->n_topics == 0 || any_matches(q->topics, q->n_topics, name)) &&
                              !any_matches(q->exclude, q->n_exclude, name);
        n += f->outs[i].selected;
    }
    return n;
}

static bool make_channel(struct view *v, const struct view_out *out, const struct reel_channel **channel) {
    struct reel_channel *c = arena_alloc(&v->arena, sizeof *c);
    struct reel_schema *schema = arena_alloc(&v->arena, sizeof *schema);
    const char **topic = arena_alloc(&v->arena, sizeof *topic);
    if (!c || !schema || !topic || !(*topic = arena_text(&v->arena, out->name))) {
        return false;
    }
    const struct reel_index *index = reel_recording_index(v->setup.recordings[out->source]);
    *schema = (struct reel_schema){
        .name = out->schema->name, .encoding = "jsonschema", .hash = "", .data = bytes_text(out->schema->json)};
    *c = (struct reel_channel){.name = *topic,
                               .topics = topic,
                               .n_topics = 1,
                               .type = out->schema->name,
                               .encoding = "json",
                               .schemas = schema};
    c->n_schemas = 1;
    c->id = reel_index_info(index)->n_channels + v->base.n_channels; /* a channel of the feed, not of the recording */
    *channel = c;
    return true;
}

static bool foxglove_add_channels(struct view *v, uint32_t n, struct reel_error *err) {
    size_t room = (size_t)v->below->n_channels + n + 1;
    v->channels = malloc(room * sizeof *v->channels);
    v->channel_source = malloc(room * sizeof *v->channel_source);
    v->position = calloc(v->feed->n_outs + 1, sizeof *v->position);
    if (!v->channels || !v->channel_source || !v->position) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < v->below->n_channels; i++) {
        v->channels[i] = v->below->channels[i];
        v->channel_source[i] = v->below->channel_source[i];
    }
    for (size_t i = 0; i < v->feed->n_outs; i++) {
        const struct view_out *out = &v->feed->outs[i];
        if (!out->selected) {
            continue;
        }
        v->position[i] = v->base.n_channels;
        v->channel_source[v->base.n_channels] = out->source;
        if (!make_channel(v, out, &v->channels[v->base.n_channels++])) {
            return reel_fail_memory(err);
        }
    }
    v->base.channels = v->channels;
    v->base.channel_source = v->channel_source;
    return true;
}

static struct reel_stream *open_raw(struct reel_stream *below, struct reel_recording *const *recordings, uint32_t n,
                                    const struct reel_selection *q, struct reel_error *err) {
    struct view *v = calloc(1, sizeof *v);
    if (!v) {
        reel_stream_free(below);
        reel_fail_memory(err);
        return NULL;
    }
    v->base = *below; /* sources, readers and the initial state belong to the source stream */
    v->base.ops = &view_ops;
    v->base.view_version = (below->view_version * 16 + VIEW_VERSION) ^ (reel_encodings_version() << 8);
    v->below = below;
    bool good = copy_setup(v, recordings, n, q, err) && (v->feed = view_feed_new(&v->setup, err));
    uint32_t topics = good ? choose_topics(v->feed, q) : 0;
    if (good && topics == 0) {
        v->below = NULL;
        view_free(&v->base);
        return below;
    }
    if (!good || !foxglove_add_channels(v, topics, err)) {
        view_free(&v->base);
        return NULL;
    }
    return &v->base;
}

static struct reel_stream *view_open(struct reel_stream *below, struct reel_recording *const *recordings, uint32_t n,
                                     const struct reel_selection *q, struct reel_error *err) {
    struct reel_stream *plain = view_plain(below, err);
    return plain ? open_raw(plain, recordings, n, q, err) : NULL;
}

static const struct reel_view_camera *view_camera(const struct reel_channel *channel) {
    static const struct {
        const struct view_schema *schema;
        struct reel_view_camera camera;
    } cameras[] = {{&view_schema_ego, {.frame = "ego", .distance = 40, .near_clip = 0.5}},
                   {&view_schema_energies, {.frame = "simulation", .distance = 8, .near_clip = 0.05}}}; /* m; nm */
    for (size_t i = 0; i < sizeof cameras / sizeof *cameras; i++) {
        if (strcmp(channel->type, cameras[i].schema->name) == 0) {
            return &cameras[i].camera;
        }
    }
    return NULL;
}

const struct reel_view reel_view_foxglove = {
    .name = "foxglove",
    .help = "adds what Foxglove-compatible viewers draw (scenes, transforms, logs and plots); channels that they "
            "cannot read are JSON, or are left out",
    .open = view_open,
    .camera = view_camera,
    .raw = &reel_view_foxglove_raw,
};
const struct reel_view reel_view_foxglove_raw = {
    .name = "foxglove+raw",
    .help = "the same, beside all channels as they were recorded",
    .open = open_raw,
    .camera = view_camera,
    .raw = &reel_view_foxglove_raw,
};
