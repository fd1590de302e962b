/* See convert/split.h. Each part begins at a time, and with what came before it and still holds: the last message of
 * latched topics, and the state where messages are changes. To split by size, the whole conversion is planned first; a
 * part then begins at the time of the first message of one of its groups. */
#include "convert/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/cleanup.h"
#include "base/number.h"
#include "convert/writer_run.h"
#include "reel/time.h"

bool split_parse_size(const char *text, uint64_t *bytes) {
    static const struct {
        const char *unit;
        uint64_t bytes;
    } units[] = {{"", 1},          {"B", 1},         {"k", 1000},       {"kB", 1000},
                 {"M", 1000000},   {"MB", 1000000},  {"G", 1000000000}, {"GB", 1000000000},
                 {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};
    size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (ascii_casecmp(text + digits, units[i].unit) == 0) {
            return number_u64_of(text, digits, bytes) && !__builtin_mul_overflow(*bytes, units[i].bytes, bytes) &&
                   *bytes > 0;
        }
    }
    return false;
}

bool reel_split_parse(const char *text, struct reel_split_rule *out, struct reel_error *err) {
    static const char duration[] = "duration:", size[] = "size:", key[] = "key:";
    *out = (struct reel_split_rule){.resets = strcmp(text, "reset") == 0};
    if (out->resets) {
        return true;
    }
    if (strncmp(text, duration, sizeof duration - 1) == 0) {
        return reel_duration_parse(text + sizeof duration - 1, &out->ns, err) &&
               (out->ns > 0 || reel_fail(err, REEL_ARGUMENT, "the duration of a part must not be 0"));
    }
    if (strncmp(text, key, sizeof key - 1) == 0 && text[sizeof key - 1] != '\0') {
        return (size_t)snprintf(out->key, sizeof out->key, "%s", text + sizeof key - 1) < sizeof out->key ||
               reel_fail(err, REEL_LIMIT, "a key of a split has at most %zu bytes", sizeof out->key - 1);
    }
    return (strncmp(text, size, sizeof size - 1) == 0 && split_parse_size(text + sizeof size - 1, &out->bytes)) ||
           reel_fail(err, REEL_ARGUMENT, "\"%.100s\" is not duration:60s, size:1GB, reset or key:KEY", text);
}

struct splitting {
    const struct reel_writer *writer;
    struct reel_selection plain; /* without the messages before the selection */
    struct reel_split_part *parts;
    size_t count, capacity;
};

/* Adds the part that begins at `start_ns`, and ends the previous part there. */
static bool split_add_part(struct splitting *s, const struct reel_selection *selection,
                           const struct reel_write_options *options, int64_t start_ns, struct reel_error *err) {
    if (s->count == REEL_SPLIT_MAX) {
        return reel_fail(err, REEL_LIMIT, "more than %d parts", REEL_SPLIT_MAX);
    }
    if (!GROW_ARRAY(s->parts, s->count, s->capacity)) {
        return reel_fail_memory(err);
    }
    struct reel_split_part *p = &s->parts[s->count];
    *p = (struct reel_split_part){.selection = *selection, .options = *options};
    p->selection.initial = NULL;
    if (s->count > 0) {
        s->parts[s->count - 1].selection.end_ns = start_ns;
        p->selection.start_ns = p->options.start_ns = start_ns;
        p->options.is_cut = true;
        p->selection.key_frames = true;
        p->selection.state_at_cut = p->selection.latched = !(s->writer->needs & REEL_STREAMED); /* each plays alone */
    }
    s->count++;
    return true;
}

/* Reads the first message of each part, and seeks from there to the next part. */
static bool by_duration(struct splitting *s, struct reel_stream *stream, const struct reel_selection *selection,
                        const struct reel_write_options *options, int64_t ns, struct reel_error *err) {
    struct reel_message m;
    enum reel_step step = stream_next(stream, &m, err);
    int64_t first = step == REEL_STEP_MESSAGE ? m.time_ns : 0, next;
    while (step == REEL_STEP_MESSAGE) {
        int64_t start = first + (int64_t)(((uint64_t)m.time_ns - (uint64_t)first) / (uint64_t)ns * (uint64_t)ns);
        if (!split_add_part(s, selection, options, start, err)) {
            return false;
        }
        if (__builtin_add_overflow(start, ns, &next)) {
            return true;
        }
        step = stream_seek(stream, &(struct reel_position){.time_ns = next}, err) ? stream_next(stream, &m, err)
                                                                                  : REEL_STEP_ERROR;
    }
    return step != REEL_STEP_ERROR;
}

/* The size of a part is estimated: one head, its groups, and the share of the tail that is due to these groups. */
static bool by_size(struct splitting *s, const struct reel_plan *plan, const struct reel_selection *selection,
                    const struct reel_write_options *options, uint64_t bytes, struct reel_error *err) {
    uint64_t end =
        plan->n_groups > 0 ? plan->groups[plan->n_groups - 1].offset + plan->groups[plan->n_groups - 1].size : 0;
    double tail = end > plan->head_size ? (double)(plan->length - end) / (double)(end - plan->head_size) : 0, size = 0;
    int64_t start = INT64_MIN;
    for (size_t g = 0; g < plan->n_groups; g++) {
        double added = (double)plan->groups[g].size * (1 + tail);
        int64_t time = plan->positions[g].time_ns;
        if (g == 0 || (size + added > (double)bytes && time > start)) {
            if (!split_add_part(s, selection, options, time, err)) {
                return false;
            }
            size = (double)plan->head_size;
            start = time;
        }
        size += added;
    }
    return true;
}

static bool split_split(struct splitting *s, struct reel_stream *stream, const struct reel_selection *selection,
                        const struct reel_write_options *options, const struct reel_split_rule *rule,
                        const struct reel_progress *progress, struct reel_error *err) {
    if (rule->ns > 0) {
        return by_duration(s, stream, selection, options, rule->ns, err);
    }
    if (s->writer->needs & REEL_STREAMED) {
        return reel_fail(err, REEL_UNSUPPORTED,
                         "%s is not split by size, because its length is not known before it is written",
                         s->writer->name);
    }
    AUTO(reel_plan_free) struct reel_plan *plan = reel_plan_new(s->writer, options, stream, progress, err);
    return plan && by_size(s, plan, selection, options, rule->bytes, err);
}

struct reel_split_part *reel_split(const struct reel_writer *writer, struct reel_recording *const *recordings,
                                   uint32_t n_recordings, const struct reel_selection *selection,
                                   const struct reel_write_options *options, const struct reel_split_rule *rule,
                                   const struct reel_progress *progress, uint32_t *count, struct reel_error *err) {
    struct splitting s = {.writer = writer, .plain = *selection};
    s.plain.last_per_topic = s.plain.latched = s.plain.state_at_cut = s.plain.key_frames = false;
    s.plain.initial = NULL;
    AUTO(reel_stream_free)
    struct reel_stream *stream = reel_writer_stream(writer, recordings, n_recordings, &s.plain, err);
    if (!stream || !split_split(&s, stream, selection, options, rule, progress, err) ||
        (s.count == 0 && !split_add_part(&s, selection, options, 0, err))) {
        free(s.parts);
        return NULL;
    }
    *count = (uint32_t)s.count;
    return s.parts;
}
