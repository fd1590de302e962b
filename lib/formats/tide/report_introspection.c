/* The participants of a recorded RSB system, from its introspection events: a Hello introduces a participant with its
 * process and host, a Bye removes it. A participant is described by its first Hello; later ones are answers to surveys
 * and only confirm that it still exists.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/hex.h"
#include "decode/decoder.h"
#include "decode/fields.h"
#include "formats/tide/report.h"
#include "formats/tide/rsb.h"
#include "reel/time.h"
#include "syntax/json_out.h"

enum { PARTICIPANTS_MAX = 16384, EVENTS_MAX = 1 << 20, TEXTS_MAX = 64 << 20, CHANNELS_MAX = 64, PARENTS_MAX = 16 };
enum { EVENT_BYTES_MAX = 1 << 20, VALUE_TEXT_MAX = 8 * EVENT_BYTES_MAX };
#define SCHEMA ".rsb.protocol.introspection."

/* --- contents of an event: each value as JSON --- */

enum {
    ID,
    PARENT,
    KIND,
    SCOPE,
    TYPE,
    TRANSPORT,
    PROCESS,
    START_TIME = PROCESS + 3,
    HOST = PROCESS + 7,
    VALUES = HOST + 6
};
static const char *const paths[VALUES] = {"payload.id",
                                          "payload.parent",
                                          "payload.kind",
                                          "payload.scope",
                                          "payload.type",
                                          "payload.transport",
                                          "payload.process.id",
                                          "payload.process.program_name",
                                          "payload.process.commandline_arguments",
                                          "payload.process.start_time",
                                          "payload.process.executing_user",
                                          "payload.process.rsb_version",
                                          "payload.process.display_name",
                                          "payload.host.id",
                                          "payload.host.hostname",
                                          "payload.host.machine_type",
                                          "payload.host.machine_version",
                                          "payload.host.software_type",
                                          "payload.host.software_version"};

struct event { /* the values of one message */
    struct field_picker picker;
    struct json_out json;
    struct special {                 /* an id, or a time */
        struct reel_visitor visitor; /* must be the first member */
        struct grow *to;
    } special;
    struct grow value[VALUES]; /* empty: missing */
};

static bool on_id(struct reel_visitor *v, struct reel_bytes id) {
    struct grow *to = ((struct special *)v)->to;
    grow_u8(to, '"');
    for (size_t i = 0; i < id.size; i++) {
        grow_put(to, "-", id.size == 16 && (i == 4 || i == 6 || i == 8 || i == 10));
        char digits[2];
        hex_byte(id.data[i], digits);
        grow_put(to, digits, sizeof digits);
    }
    grow_u8(to, '"');
    return true;
}
static bool on_time(struct reel_visitor *v, uint64_t microseconds) {
    char text[REEL_TIME_TEXT];
    if (microseconds > 0 && microseconds <= INT64_MAX / 1000) {
        json_put_string(((struct special *)v)->to,
                        bytes_of(text, reel_time_rfc3339((int64_t)microseconds * 1000, text)));
    }
    return true;
}

static struct reel_visitor *open_value(void *context, uint32_t column) {
    static const struct reel_visitor_ops special = {.binary = on_id, .natural = on_time};
    struct event *e = context;
    if (column == ID || column == PARENT || column == START_TIME) {
        e->special = (struct special){.visitor = {&special}, .to = &e->value[column]};
        return &e->special.visitor;
    }
    e->json = json_out_to(&e->value[column], VALUE_TEXT_MAX);
    return &e->json.visitor;
}
static bool close_value(void *context, uint32_t column) {
    (void)context;
    (void)column;
    return true;
}

/* *usable: it has what is needed. */
static bool tide_report_introspection_read_event(struct event *e, const struct reel_decoder *decoder,
                                                 struct reel_bytes payload, bool *usable, struct reel_error *err) {
    bool whole, failed = false;
    for (unsigned i = 0; i < VALUES; i++) {
        e->value[i].size = 0;
    }
    field_picker_start(&e->picker);
    if (!decode_try(decoder, payload, &e->picker.visitor, &whole, err)) {
        return false;
    }
    for (unsigned i = 0; i < VALUES; i++) {
        failed = failed || e->value[i].failed;
    }
    *usable = (whole || e->picker.done) && e->value[ID].size > 2;
    return !failed || reel_fail_memory(err);
}

/* --- participants --- */

struct participant {
    const char *value[VALUES]; /* JSON, or NULL */
    int64_t first_ns, last_ns, bye_ns;
    bool gone;
};
struct system {
    struct event event;
    struct arena texts;
    struct participant *items[PARTICIPANTS_MAX]; /* by id */
    size_t count;
    uint64_t events;
};
static void system_free(struct system *s) {
    if (s) {
        for (unsigned i = 0; i < VALUES; i++) {
            free(s->event.value[i].data);
        }
        arena_free(&s->texts);
        free(s);
    }
}
REEL_DEFINE_AUTO(struct system, system_free);

/* Index of the participant with this id, or where it would be inserted. */
static size_t tide_position_of(const struct system *s, const char *id) {
    size_t low = 0, high = s->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(s->items[middle]->value[ID], id) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
static struct participant *tide_report_introspection_find(const struct system *s, const char *id) {
    size_t at = id ? tide_position_of(s, id) : s->count;
    return at < s->count && strcmp(s->items[at]->value[ID], id) == 0 ? s->items[at] : NULL;
}

static bool tide_report_introspection_add(struct system *s, int64_t time_ns, struct reel_error *err) {
    struct participant *p = s->count < PARTICIPANTS_MAX ? arena_alloc(&s->texts, sizeof *p) : NULL;
    bool good = p;
    for (unsigned i = 0; i < VALUES && good; i++) {
        const struct grow *value = &s->event.value[i];
        p->value[i] = value->size > 0 ? arena_copy(&s->texts, value->data, value->size) : NULL;
        good = p->value[i] || value->size == 0;
    }
    if (!good) {
        return s->texts.no_memory
                   ? reel_fail_memory(err)
                   : reel_fail(err, REEL_LIMIT,
                               "more than %d participants, or %d MiB of data: select less with start and end",
                               PARTICIPANTS_MAX, TEXTS_MAX >> 20);
    }
    p->first_ns = p->last_ns = time_ns;
    size_t at = tide_position_of(s, p->value[ID]);
    memmove(s->items + at + 1, s->items + at, (s->count++ - at) * sizeof *s->items);
    s->items[at] = p;
    return true;
}

static bool take_event(struct system *s, bool bye, int64_t time_ns, struct reel_error *err) {
    bool failed = false;
    for (unsigned i = 0; i < VALUES; i++) {
        struct grow *value = &s->event.value[i];
        grow_put(value, "", value->size > 0); /* a text, with NUL */
        failed |= value->failed;
    }
    if (failed) {
        return reel_fail_memory(err);
    }
    struct participant *p = tide_report_introspection_find(s, (const char *)s->event.value[ID].data);
    if (!p) {
        return bye || tide_report_introspection_add(s, time_ns, err); /* a Bye without a Hello is ignored */
    }
    p->gone = bye;
    p->last_ns = bye ? p->last_ns : time_ns;
    p->bye_ns = bye ? time_ns : 0;
    return true;
}

/* --- the events --- */

struct events {
    struct reel_stream *stream;
    struct reel_decoder *decoders[CHANNELS_MAX]; /* NULL: another type of event */
};
static void reel_auto_events_done(struct events *e) {
    for (unsigned i = 0; i < CHANNELS_MAX; i++) {
        reel_decoder_free(e->decoders[i]);
    }
    reel_stream_free(e->stream);
}

static bool is_introspection(const struct reel_channel *c) {
    return reel_encoding_of(c) == &reel_encoding_rsb &&
           (strcmp(c->type, SCHEMA "Hello") == 0 || strcmp(c->type, SCHEMA "Bye") == 0);
}

/* *any: such events exist. */
static bool open_events(struct events *e, struct reel_recording *recording, const struct reel_selection *asked,
                        bool *any, struct reel_error *err) {
    const struct reel_index *index = reel_recording_index(recording);
    const char *topics[CHANNELS_MAX];
    struct reel_selection q = selection_all;
    bool rsb = false;
    for (uint32_t i = 0; i < reel_index_info(index)->n_channels && q.n_topics < CHANNELS_MAX; i++) {
        const struct reel_channel *c = reel_index_channel(index, i);
        rsb |= reel_encoding_of(c) == &reel_encoding_rsb;
        if (is_introspection(c)) {
            topics[q.n_topics++] = c->name;
        }
    }
    *any = q.n_topics > 0;
    if (!*any) {
        return rsb || reel_fail(err, REEL_UNSUPPORTED, "this recording holds no RSB events");
    }
    q.topics = topics;
    q.start_ns = asked ? asked->start_ns : q.start_ns;
    q.end_ns = asked ? asked->end_ns : q.end_ns;
    if (!(e->stream = reel_stream_open(&recording, 1, &q, err))) {
        return false;
    }
    for (uint32_t i = 0; i < e->stream->n_channels && i < CHANNELS_MAX; i++) {
        const struct reel_channel *c = e->stream->channels[i];
        if (is_introspection(c) && !decoder_try(c, &e->decoders[i], err)) {
            return false;
        }
    }
    return true;
}

static bool tide_read_events(struct system *s, struct events *e, struct reel_error *err) {
    struct reel_message m;
    struct reel_bytes payload;
    enum reel_step step;
    while ((step = stream_next(e->stream, &m, err)) == REEL_STEP_MESSAGE) {
        const struct reel_decoder *decoder = m.channel < CHANNELS_MAX ? e->decoders[m.channel] : NULL;
        if (!decoder || m.size > EVENT_BYTES_MAX) {
            continue;
        }
        if (++s->events > EVENTS_MAX) {
            return reel_fail(err, REEL_LIMIT, "more than %d events of introspection: ask for fewer by start and end",
                             EVENTS_MAX);
        }
        bool bye = strcmp(e->stream->channels[m.channel]->type, SCHEMA "Bye") == 0;
        bool usable;
        if (!reel_stream_payload(e->stream, &m, &payload, err) ||
            !tide_report_introspection_read_event(&s->event, decoder, payload, &usable, err) ||
            (usable && !take_event(s, bye, m.time_ns, err))) {
            return false;
        }
    }
    return step == REEL_STEP_END;
}

/* --- the tree --- */

/* A participant without process data runs in the process of its parent. */
static void inherit(const struct system *s) {
    for (size_t i = 0; i < s->count; i++) {
        const struct participant *from = s->items[i];
        for (unsigned hops = 0; from && !from->value[PROCESS] && hops < PARENTS_MAX; hops++) {
            from = tide_report_introspection_find(s, from->value[PARENT]);
        }
        if (from && from != s->items[i]) {
            memcpy(s->items[i]->value + PROCESS, from->value + PROCESS, (VALUES - PROCESS) * sizeof *from->value);
        }
    }
}

static int tide_report_introspection_compare(const char *a, const char *b) {
    return strcmp(a ? a : "", b ? b : "");
}
static int compare_hosts(const struct participant *a, const struct participant *b) {
    int by_id = tide_report_introspection_compare(a->value[HOST], b->value[HOST]);
    return by_id ? by_id : tide_report_introspection_compare(a->value[HOST + 1], b->value[HOST + 1]);
}
static int compare_processes(const struct participant *a, const struct participant *b) {
    int by_host = compare_hosts(a, b),
        by_id = by_host ? by_host : tide_report_introspection_compare(a->value[PROCESS], b->value[PROCESS]);
    return by_id ? by_id : tide_report_introspection_compare(a->value[START_TIME], b->value[START_TIME]);
}
static int by_position(const void *x, const void *y) {
    const struct participant *a = *(struct participant *const *)x, *b = *(struct participant *const *)y;
    int order = compare_processes(a, b);
    return order                       ? order
           : a->first_ns < b->first_ns ? -1
           : a->first_ns > b->first_ns ? 1
                                       : tide_report_introspection_compare(a->value[ID], b->value[ID]);
}

/* Ends paths with "id":…,"hostname":… and writes missing lists as empty. */
static void tide_put_values(struct grow *out, const struct participant *p, unsigned from, unsigned to) {
    for (unsigned i = from; i < to; i++) {
        const char *value = p->value[i] ? p->value[i] : i == TRANSPORT || i == PROCESS + 2 ? "[]" : "null";
        grow_put(out, ",", i > from);
        json_put_string(out, bytes_text(strrchr(paths[i], '.') + 1));
        grow_put(out, ":", 1);
        grow_put(out, value, strlen(value));
    }
}

static void tide_put_time(struct grow *out, const char *name, bool there, int64_t ns, enum reel_clock clock) {
    char text[REEL_TIME_TEXT];
    grow_put(out, name, strlen(name));
    if (there) {
        json_put_string(out, bytes_of(text, clock == REEL_CLOCK_RELATIVE ? reel_time_seconds(ns, text)
                                                                         : reel_time_rfc3339(ns, text)));
    } else {
        grow_put(out, "null", 4);
    }
}

static void tide_report_introspection_put(struct grow *out, const char *text) {
    grow_put(out, text, strlen(text));
}

static void put_tree(struct grow *out, struct system *s, enum reel_clock clock) {
    qsort(s->items, s->count, sizeof *s->items, by_position);
    tide_report_introspection_put(out, "{\"hosts\":[");
    for (size_t i = 0; i < s->count; i++) {
        const struct participant *p = s->items[i], *before = i > 0 ? s->items[i - 1] : NULL;
        bool host = !before || compare_hosts(before, p) != 0, process = !before || compare_processes(before, p) != 0;
        tide_report_introspection_put(out, !before ? "\n" : host ? "]}]},\n" : process ? "]},\n " : ",\n  ");
        if (host) {
            tide_report_introspection_put(out, "{");
            tide_put_values(out, p, HOST, VALUES);
            tide_report_introspection_put(out, ",\"processes\":[\n ");
        }
        if (process) {
            tide_report_introspection_put(out, "{");
            tide_put_values(out, p, PROCESS, HOST);
            tide_report_introspection_put(out, ",\"participants\":[\n  ");
        }
        tide_report_introspection_put(out, "{");
        tide_put_values(out, p, ID, PROCESS);
        tide_put_time(out, ",\"first_hello\":", true, p->first_ns, clock);
        tide_put_time(out, ",\"last_hello\":", true, p->last_ns, clock);
        tide_put_time(out, ",\"bye\":", p->gone, p->bye_ns, clock);
        tide_report_introspection_put(out, "}");
    }
    tide_report_introspection_put(out, s->count > 0 ? "]}]}]}\n" : "]}\n");
    grow_put(out, "", 1);
}

char *reel_tide_introspection(struct reel_recording *recording, const struct reel_selection *selection,
                              struct reel_error *err) {
    AUTO(system_free) struct system *s = calloc(1, sizeof *s);
    AUTO(events_done) struct events e = {0};
    AUTO(field_set_free) struct field_set *set = s ? field_set_new(paths, VALUES, err) : NULL;
    struct grow out = {0};
    bool any;
    if (!set) {
        if (!s) {
            reel_fail_memory(err);
        }
        return NULL;
    }
    s->texts.max = TEXTS_MAX;
    s->event.picker = (struct field_picker){.set = set, .open = open_value, .close = close_value, .context = &s->event};
    if (!open_events(&e, recording, selection, &any, err) || (any && !tide_read_events(s, &e, err))) {
        return NULL;
    }
    inherit(s);
    put_tree(&out, s, reel_index_info(reel_recording_index(recording))->clock);
    if (out.failed) {
        free(out.data);
        reel_fail_memory(err);
        return NULL;
    }
    return (char *)out.data;
}
