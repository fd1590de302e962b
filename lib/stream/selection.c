/* See selection.h. */
#include "stream/selection.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/glob.h"
#include "base/grow.h"
#include "base/options.h"
#include "read/reader.h"
#include "stream/initial_state.h"
#include "stream/rules.h"

bool selection_read(struct reel_selection *out, const struct reel_selection *given, struct reel_error *err) {
    return options_copy(out, sizeof *out, given ? given : &selection_all, "reel_selection", err);
}

void reel_rules_ref(struct reel_rules *rules) {
    if (rules) {
        atomic_fetch_add(&rules->references, 1);
    }
}
void reel_rules_free(struct reel_rules *rules) {
    if (rules && atomic_fetch_sub(&rules->references, 1) == 1) {
        rules->free(rules);
    }
}

static bool copy_texts(const char *const **texts, uint32_t n, struct arena *arena) {
    return n == 0 || (*texts = arena_texts(arena, *texts, n));
}

static int compare_ids(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Copies the ids of the selected channels: each once, in the order of the recording. */
static bool copy_channels(struct reel_selection *copy, const struct reel_selection *selection, struct arena *arena) {
    uint32_t *ids = arena_copy(arena, selection->channels, selection->n_channels * sizeof *ids);
    if (!ids) {
        return false;
    }
    qsort(ids, selection->n_channels, sizeof *ids, compare_ids);
    copy->n_channels = 0;
    for (uint32_t i = 0; i < selection->n_channels; i++) {
        if (i == 0 || ids[i] != ids[i - 1]) {
            ids[copy->n_channels++] = ids[i];
        }
    }
    copy->channels = ids;
    return true;
}

bool selection_copy(struct reel_selection *copy, const struct reel_selection *selection, uint32_t n_recordings,
                    struct arena *arena) {
    *copy = *selection;
    copy->initial = NULL;
    if (selection->n_channels > 0 && !copy_channels(copy, selection, arena)) {
        return false;
    }
    if (selection->sources) {
        copy->sources = arena_copy(arena, selection->sources, n_recordings * sizeof *selection->sources);
    }
    if (selection->since) {
        copy->since = arena_copy(arena, selection->since, sizeof *selection->since);
    }
    copy->encoding = selection->encoding ? arena_text(arena, selection->encoding) : NULL;
    return (copy->encoding || !selection->encoding) && (!selection->sources || copy->sources) &&
           (!selection->since || copy->since) && copy_texts(&copy->topics, selection->n_topics, arena) &&
           copy_texts(&copy->exclude, selection->n_exclude, arena) &&
           copy_texts(&copy->where, selection->n_where, arena) &&
           copy_texts(&copy->renames, selection->n_renames, arena);
}

/* ---- which channels it selects */

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
static bool select_channel(struct opened_selection *o, const char *prefix, const struct reel_channel *c,
                           const struct reel_channel **shown, struct reel_error *err) {
    const struct reel_selection *q = &o->selection;
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
    struct reel_channel *copy = arena_alloc(&o->arena, sizeof *copy);
    const char *text = arena_text(&o->arena, name);
    if (!copy || !text) {
        return reel_fail_memory(err);
    }
    *copy = *c;
    copy->name = text;
    *shown = copy;
    return true;
}

/* Adds the segments of one channel that overlap the selection. */
static bool add_segments(struct opened_selection *o, const struct reel_index *index, uint32_t id, uint32_t source,
                         struct reel_error *err) {
    const struct reel_selection *q = &o->selection;
    for (size_t i = index->first_segment[id]; i < index->first_segment[id + 1]; i++) {
        const struct pack_segment *segment = &index->model.segments[i];
        int64_t shift = o->shifts[source], first = merge_shifted(segment->first.time_ns, shift),
                last = merge_shifted(segment->last.time_ns, shift);
        if (last < q->start_ns || (first >= q->end_ns && q->end_ns != REEL_TIME_MAX)) {
            continue;
        }
        const struct merge_segment added = {
            .segment = segment, .index = index, .source = source, .channel = o->n_selected, .shift_ns = shift};
        if (!merge_segments_add(&o->segments, &added, err)) {
            return false;
        }
    }
    return true;
}

/* Adds a channel with its segments, if its topics are selected. */
static bool add_channel(struct opened_selection *o, const struct reel_index *index, uint32_t id, uint32_t source,
                        struct reel_error *err) {
    const struct reel_channel *own = reel_index_channel(index, id), *shown;
    if (!select_channel(o, naming_prefix(&o->naming, own, source), own, &shown, err)) {
        return false;
    }
    if (!shown) {
        return true;
    }
    if (!add_segments(o, index, id, source, err)) {
        return false;
    }
    if (!GROW_ARRAY(o->selected, o->n_selected, o->cap_selected) ||
        !GROW_ARRAY(o->selected_source, o->n_selected, o->cap_sources)) {
        return reel_fail_memory(err);
    }
    o->selected[o->n_selected] = shown;
    o->selected_source[o->n_selected++] = source;
    return true;
}

/* Adds the channels and segments of one recording. */
static bool add_source(struct opened_selection *o, uint32_t source, struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(o->recordings[source]);
    const struct reel_selection *q = &o->selection;
    const uint32_t all = index->info.n_channels, n = q->n_channels > 0 ? q->n_channels : all;
    bool good = true;
    for (uint32_t i = 0; i < n && good; i++) {
        uint32_t id = q->n_channels > 0 ? q->channels[i] : i;
        good = id >= all || add_channel(o, index, id, source, err);
    }
    return good;
}

/* Makes the tables of streams: the channels under their names in the stream, then those that only the initial state
 * has. */
static bool name_channels(struct opened_selection *o, const struct reel_initial_state *initial,
                          struct reel_error *err) {
    size_t n = o->n_selected, all = n + (initial ? initial->n_channels : 0);
    const struct reel_channel **channels = arena_alloc(&o->arena, (all + 1) * sizeof *channels);
    uint32_t *sources = arena_alloc(&o->arena, (all + 1) * sizeof *sources);
    if (!channels || !sources) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < all; i++) {
        const struct reel_channel *c = i < n ? o->selected[i] : initial->channels[i - n];
        sources[i] = i < n ? o->selected_source[i] : initial->channel_source[i - n];
        if (!(c = naming_apply(&o->naming, &o->arena, c, sources[i])) ||
            !(channels[i] = naming_rename(&o->selection, &o->arena, c))) {
            return reel_fail_memory(err);
        }
    }
    o->channels = channels;
    o->channel_source = sources;
    o->n_channels = (uint32_t)all;
    return true;
}

/* ---- opening */

/* Clock and shift of one source. No shifted time may overflow 64 bits. */
static bool add_clock(struct opened_selection *o, uint32_t source, bool *timed, struct reel_error *err) {
    const struct reel_index_info *info = reel_index_info(reel_recording_index(o->recordings[source]));
    const struct reel_source_option *option = o->selection.sources ? &o->selection.sources[source] : NULL;
    int64_t shift = option ? option->shift_ns : 0, first, last;
    o->clocks[source] = option && option->wall ? REEL_CLOCK_WALL : info->clock;
    o->shifts[source] = shift;
    if (__builtin_add_overflow(info->start_ns, shift, &first) || __builtin_add_overflow(info->end_ns, shift, &last)) {
        return reel_fail(err, REEL_ARGUMENT, "a shift of %lld ns takes times out of range", (long long)shift);
    }
    if (info->messages > 0) {
        o->origin_ns = !*timed || first < o->origin_ns ? first : o->origin_ns;
        *timed = true;
    }
    return true;
}

static bool open_sources(struct opened_selection *o, struct reel_error *err) {
    bool timed = false;
    o->clocks = arena_alloc(&o->arena, (o->n_recordings + 1) * sizeof *o->clocks);
    o->shifts = arena_alloc(&o->arena, (o->n_recordings + 1) * sizeof *o->shifts);
    if (!o->clocks || !o->shifts) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < o->n_recordings; i++) {
        if (!add_clock(o, i, &timed, err) || !add_source(o, i, err)) {
            return false;
        }
    }
    o->origin_ns = o->selection.start_ns != REEL_TIME_MIN ? o->selection.start_ns : o->origin_ns;
    return name_channels(o, NULL, err) && merge_segments_sort(&o->segments, err);
}

struct opened_selection *selection_open(struct reel_recording *const *recordings, uint32_t n,
                                        const struct reel_selection *selection, struct reel_error *err) {
    AUTO(selection_free) struct opened_selection *o = calloc(1, sizeof *o);
    if (!o) {
        reel_fail_memory(err);
        return NULL;
    }
    atomic_init(&o->references, 1);
    o->recordings = arena_alloc(&o->arena, ((size_t)n + 1) * sizeof(struct reel_recording *));
    if (!o->recordings || !selection_copy(&o->selection, selection, n, &o->arena)) {
        reel_fail_memory(err);
        return NULL;
    }
    reel_rules_ref(o->rules = selection->rules);
    for (; o->n_recordings < n; o->n_recordings++) {
        o->recordings[o->n_recordings] = reel_recording_ref(recordings[o->n_recordings]);
    }
    if (selection->n_channels > 0 && n > 1) {
        reel_fail(err, REEL_ARGUMENT, "channels are selected by id in one recording only, not in %u", n);
        return NULL;
    }
    return naming_open(&o->naming, o->recordings, n, &o->selection, err) && open_sources(o, err) ? TAKE(o) : NULL;
}

struct opened_selection *selection_ref(struct opened_selection *o) {
    atomic_fetch_add(&o->references, 1);
    return o;
}

void selection_free(struct opened_selection *o) {
    if (!o || atomic_fetch_sub(&o->references, 1) != 1) {
        return;
    }
    for (uint32_t i = 0; i < o->n_recordings; i++) {
        reel_recording_free(o->recordings[i]);
    }
    naming_close(&o->naming);
    merge_segments_done(&o->segments);
    free(o->selected);
    free(o->selected_source);
    reel_initial_state_free(o->initial);
    reel_rules_free(o->rules);
    arena_free(&o->arena);
    free(o);
}

/* ---- messages before the selection */

bool selection_wants_initial_state(const struct reel_selection *q) {
    return (q->last_per_topic || q->latched || q->state_at_cut || q->key_frames) && q->start_ns != REEL_TIME_MIN;
}

/* Makes them from the channels under the names of the formats. */
static struct reel_initial_state *make_initial_state(const struct opened_selection *o, struct reel_error *err) {
    AUTO_MEM struct reel_reader **readers = calloc((size_t)o->n_recordings + 1, sizeof *readers);
    const struct reel_stream stream = {.channels = o->selected,
                                       .channel_source = o->selected_source,
                                       .n_channels = o->n_selected,
                                       .n_sources = o->n_recordings,
                                       .readers = readers,
                                       .clocks = o->clocks,
                                       .shifts = o->shifts};
    struct reader_set awake = {.awake = 0};
    bool good = readers || reel_fail_memory(err);
    for (uint32_t i = 0; good && i < o->n_recordings; i++) {
        if ((readers[i] = reel_reader_new(o->recordings[i], err))) {
            reader_join(readers[i], &awake);
        }
        good = readers[i];
    }
    struct reel_initial_state *initial = good ? initial_state_make(&stream, &o->selection, err) : NULL;
    for (uint32_t i = 0; readers && i < o->n_recordings; i++) {
        reel_reader_free(readers[i]);
    }
    return initial;
}

bool selection_make_initial_state(struct opened_selection *o, struct reel_initial_state *initial,
                                  struct reel_error *err) {
    if (o->has_initial_state) {
        return true;
    }
    if (initial) {
        initial = reel_initial_state_ref(initial);
    } else if (selection_wants_initial_state(&o->selection) && !(initial = make_initial_state(o, err))) {
        return false;
    }
    if (initial && initial->n_channels > 0 && !name_channels(o, initial, err)) {
        reel_initial_state_free(initial);
        return false;
    }
    o->initial = initial;
    return o->has_initial_state = true;
}
