/* The walk that all reports share: packets in file order, the frame they belong to, and the output passed on as it is
 * generated. Between two steps nothing is held but the state of the query. */
#include <stdio.h>

#include "base/cleanup.h"
#include "formats/carla/report.h"

enum {
    STEP_PACKETS = 256,
    STEP_TEXT = 64 << 10, /* a step ends after a packet that exceeds this */
};

static const struct {
    const char *name;
    enum reel_carla_dialect dialect;
} dialects[] = {
    {"0.9.4", REEL_CARLA_0_9_4},   {"0.9.5", REEL_CARLA_0_9_4},   {"0.9.6", REEL_CARLA_0_9_6},
    {"0.9.7", REEL_CARLA_0_9_6},   {"0.9.8", REEL_CARLA_0_9_6},   {"0.9.9", REEL_CARLA_0_9_6},
    {"0.9.10", REEL_CARLA_0_9_10}, {"0.9.11", REEL_CARLA_0_9_10}, {"0.9.12", REEL_CARLA_0_9_10},
    {"0.9.13", REEL_CARLA_0_9_10}, {"0.9.14", REEL_CARLA_0_9_14}, {"0.9.15", REEL_CARLA_0_9_15},
    {"0.9.16", REEL_CARLA_0_9_16}, {"0.10", REEL_CARLA_0_10},     {"dev2026", REEL_CARLA_DEV_2026},
};

bool reel_carla_dialect_named(const char *name, enum reel_carla_dialect *dialect, struct reel_error *err) {
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
        if (strcmp(dialects[i].name, name) == 0) {
            *dialect = dialects[i].dialect;
            return true;
        }
    }
    return reel_fail(err, REEL_ARGUMENT, "\"%.32s\" is not a known version: 0.9.4 … 0.9.16, 0.10, dev2026", name);
}

struct reel_carla_question reel_carla_question(enum reel_carla_topic topic) {
    return (struct reel_carla_question){.topic = topic,
                                        .dialect = REEL_CARLA_0_9_15,
                                        .type1 = 'a',
                                        .type2 = 'a',
                                        .min_time_s = 30,
                                        .min_distance_cm = 10};
}

/* --- rows --- */

static bool sunk(bool needed, struct reel_error *err) {
    return needed || reel_fail(err, REEL_CANCELLED, "the consumer stopped");
}
bool carla_columns(struct reel_carla *pass, const char *const *names, unsigned n, struct reel_error *err) {
    return sunk(pass->table.columns(pass->table.context, names, n), err);
}
bool carla_row(struct reel_carla *pass, const struct reel_cell *cells, unsigned n, struct reel_error *err) {
    return sunk(pass->table.row(pass->table.context, cells, n), err);
}
bool carla_rows_end(struct reel_carla *pass, struct reel_error *err) {
    return sunk(pass->table.end(pass->table.context), err);
}

static bool carla_put_text(struct reel_carla *pass, struct reel_error *err) {
    if (pass->text.failed) {
        return reel_fail_memory(err);
    }
    size_t size = pass->text.size;
    pass->text.size = 0;
    return size == 0 || sunk(pass->sink.put(pass->sink.context, (const char *)pass->text.data, size), err);
}

/* --- opening --- */

static bool check_question(const struct reel_carla_question *q, bool rows, struct reel_error *err) {
    static const char letters[] = "hvwtoa";
    if (!rows && q->topic > REEL_CARLA_BLOCKED) {
        return reel_fail(err, REEL_UNSUPPORTED, "CARLA has no such text: only rows are available");
    }
    if (q->type1 == '\0' || q->type2 == '\0' || !strchr(letters, q->type1) || !strchr(letters, q->type2)) {
        return reel_fail(err, REEL_ARGUMENT,
                         "a type of actor is one of h hero, v vehicle, w walker, t traffic light, o other, a any");
    }
    bool limits = q->min_time_s >= 0 && q->min_distance_cm >= 0;
    return limits || reel_fail(err, REEL_ARGUMENT, "the least time and distance are 0 or more");
}

static const struct carla_question *answer_to(enum reel_carla_topic topic, bool rows) {
    switch (topic) {
    case REEL_CARLA_INFO:
        return rows ? &carla_events : &carla_info;
    case REEL_CARLA_COLLISIONS:
        return &carla_collisions;
    case REEL_CARLA_BLOCKED:
        return &carla_blocked;
    case REEL_CARLA_ACTORS:
        return &carla_roster;
    case REEL_CARLA_MOMENTS:
        return &carla_moments;
    case REEL_CARLA_STATE:
        return &carla_state;
    default:
        return &carla_trajectory;
    }
}

static bool carla_open_stream(struct reel_carla *pass, struct reel_recording *recording, struct reel_error *err) {
    const char *topics[CARLA_KINDS];
    struct reel_selection all = selection_all;
    for (int k = 0; k < CARLA_KINDS; k++) {
        pass->needed[k] = pass->how->needs(pass, (enum carla_kind)k);
        if (pass->needed[k]) {
            topics[all.n_topics++] = k == CARLA_UNKNOWN ? "/packet_*" : carla_facts[k].topic;
        }
    }
    all.topics = topics;
    if (pass->question.topic == REEL_CARLA_STATE) {
        all.start_ns = pass->question.at_ns + 1;
        all.state_at_cut = true;
    }
    return (pass->stream = reel_stream_open(&recording, 1, &all, err));
}

static bool read_channels(struct reel_carla *pass, struct reel_error *err) {
    if (!(pass->channels = calloc((size_t)pass->stream->n_channels + 1, sizeof *pass->channels))) {
        return reel_fail_memory(err);
    }
    for (uint32_t i = 0; i < pass->stream->n_channels; i++) {
        struct carla_packet *p = &pass->channels[i];
        if (!carla_channel_read(pass->stream->channels[i], &p->id, &p->kind, &p->layout)) {
            return reel_fail(err, REEL_DAMAGED, "%.128s holds no CARLA packets", pass->stream->channels[i]->name);
        }
        pass->added = p->kind == CARLA_EVENT_ADD ? p->layout : pass->added;
    }
    return true;
}

struct reel_carla *reel_carla_open(struct reel_recording *recording, const struct reel_carla_question *question,
                                   const struct reel_text_sink *text, const struct reel_table *rows,
                                   struct reel_error *err) {
    if (!check_question(question, rows != NULL, err)) {
        return NULL;
    }
    AUTO(reel_carla_free) struct reel_carla *pass = calloc(1, sizeof *pass);
    if (!pass) {
        reel_fail_memory(err);
        return NULL;
    }
    pass->question = *question;
    pass->rows = rows != NULL;
    pass->sink = text ? *text : (struct reel_text_sink){0};
    pass->table = rows ? *rows : (struct reel_table){0};
    pass->how = answer_to(question->topic, pass->rows);
    pass->state = calloc(1, pass->how->state_size);
    pass->needed = calloc(CARLA_KINDS, sizeof *pass->needed);
    if (!pass->state || !pass->needed) {
        reel_fail_memory(err);
        return NULL;
    }
    return carla_open_stream(pass, recording, err) &&
                   carla_header_load(pass->stream->readers[0], &pass->head, &pass->header, err) &&
                   read_channels(pass, err)
               ? TAKE(pass)
               : NULL;
}

void reel_carla_free(struct reel_carla *pass) {
    if (pass) {
        if (pass->state) {
            pass->how->free(pass->state);
        }
        free(pass->state);
        reel_stream_free(pass->stream);
        free(pass->channels);
        free(pass->needed);
        free(pass->head);
        free(pass->text.data);
        free(pass);
    }
}

/* --- walking --- */

/* Packets that are cut off, or larger than any that CARLA writes, are skipped: the scan has reported them. */
static bool carla_report_take_packet(struct reel_carla *pass, const struct reel_message *m, struct reel_error *err) {
    struct carla_packet p = pass->channels[m->channel];
    p.chunk = m->entry.chunk;
    p.initial = m->initial > 0;
    p.time_ns = m->time_ns;
    p.offset = m->entry.offset + m->entry.head;
    if (m->size > CARLA_PACKET_MAX) {
        return true;
    }
    if (!reel_stream_payload(pass->stream, m, &p.data, err)) {
        return false;
    }
    enum carla_kind kind = p.kind;
    bool opaque = carla_is_list(kind) && !carla_has_records(kind, &p.layout);
    if (opaque ? p.data.size < 2 : carla_is_list(kind) && !carla_count(kind, &p.layout, p.data, &p.total)) {
        return true;
    }
    if (carla_facts[kind].body == CARLA_PLAIN && p.data.size < carla_facts[kind].fixed) {
        return true;
    }
    if (kind == CARLA_FRAME_START) {
        pass->frame = carla_frame_read(p.data.data);
        pass->frames++;
    }
    return pass->how->packet(pass, &p, err);
}

static bool carla_report_walk(struct reel_carla *pass, struct reel_error *err) {
    for (int i = 0; i < STEP_PACKETS && pass->text.size < STEP_TEXT && !pass->walked; i++) {
        struct reel_message m;
        enum reel_step step = stream_next(pass->stream, &m, err);
        if (step != REEL_STEP_MESSAGE) {
            pass->walked = step == REEL_STEP_END;
            return pass->walked;
        }
        if (!carla_report_take_packet(pass, &m, err)) {
            return false;
        }
    }
    return true;
}

bool reel_carla_step(struct reel_carla *pass, bool *done, struct reel_error *err) {
    bool more = true;
    if (!pass->begun) {
        pass->begun = true;
        if (!pass->how->begin(pass, err)) {
            return false;
        }
    }
    if (!(pass->walked ? pass->done || pass->how->end(pass, &more, err) : carla_report_walk(pass, err))) {
        return false;
    }
    pass->done = pass->done || !more;
    *done = pass->done;
    return carla_put_text(pass, err);
}
