/* See messages.h. */
#include "tables/columns/messages.h"

#include "base/bytes.h"
#include "decode/decoder.h"
#include "tables/columns/survey.h"

enum { PROGRESS_ROWS = 4096 };

bool columns_accept_all(const struct reel_stream *stream, struct reel_loss *loss) {
    for (uint32_t i = 1; i < stream->n_channels; i++) {
        const struct reel_channel *a = stream->channels[0], *b = stream->channels[i];
        bool one =
            strcmp(a->name, b->name) == 0 || (strcmp(a->type, b->type) == 0 && strcmp(a->encoding, b->encoding) == 0);
        if (!one) {
            reel_loss_add(loss, REEL_REFUSES, NULL,
                          "a table holds one topic, or topics of one type; %.100s is %.100s, and %.100s is %.100s: "
                          "select with topic",
                          a->name, a->type[0] ? a->type : a->encoding, b->name, b->type[0] ? b->type : b->encoding);
            return false;
        }
    }
    return true;
}

bool columns_run_open(struct columns_run *run, struct reel_write *w, struct reel_error *err) {
    return rows_open_packed(&run->rows, w, err);
}

void columns_run_close(struct columns_run *run) {
    columns_fill_close(&run->fill);
    rows_close(&run->rows);
}

uint32_t columns_about(const struct reel_stream *stream, struct columns_about out[COLUMNS_ABOUT]) {
    if (stream->n_channels == 0) {
        return 0;
    }
    const struct reel_channel *c = stream->channels[0];
    uint32_t n = 0;
    if (!rows_several_topics(stream)) {
        out[n++] = (struct columns_about){"topic", c->name};
    }
    out[n++] = (struct columns_about){"type", c->type};
    out[n++] = (struct columns_about){"encoding", c->encoding};
    return n;
}

/* ---- planning */

static bool messages_same_schema(const struct reel_channel *a, const struct reel_channel *b) {
    const struct reel_schema *x = reel_channel_schema(a), *y = reel_channel_schema(b);
    return x == y || (x && y && a->n_schemas == 1 && b->n_schemas == 1 && x->data.size == y->data.size &&
                      (x->data.size == 0 || memcmp(x->data.data, y->data.data, x->data.size) == 0));
}

/* Adds what the schemas say. If all channels have one schema whose payloads are exactly that, values need not be looked
 * at. */
static bool add_shapes(struct columns_run *run, struct reel_write *w, struct columns *columns, struct reel_error *err) {
    const struct reel_channel *first = NULL;
    bool all = true;
    for (uint32_t i = 0; i < w->stream->n_channels; i++) {
        const struct reel_channel *channel = w->stream->channels[i];
        const struct reel_decoder *decoder;
        bool exact = true;
        if (!rows_decoder(&run->rows, w, i, &decoder, err)) {
            return false;
        }
        if (decoder && !(first && messages_same_schema(first, channel))) {
            columns_shape(columns, decoder, &exact);
            all = all && exact && !first;
            first = channel;
        }
    }
    columns->exact = all;
    return true;
}

/* The payload, if it is decoded; a NULL decoder: its bytes are stored. */
static bool payload_of(struct columns_run *run, struct reel_write *w, const struct reel_message *m,
                       const struct reel_decoder **decoder, struct reel_bytes *payload, struct reel_error *err) {
    if (m->size > REEL_DECODED_MAX) {
        return reel_fail(err, REEL_LIMIT,
                         "a message of %u bytes on %.128s is too large for a cell of a table; take another format",
                         m->size, w->stream->channels[m->channel]->name);
    }
    return rows_decoder(&run->rows, w, m->channel, decoder, err) && reel_stream_payload(w->stream, m, payload, err);
}

/* Counts a row of about so many bytes. */
static bool messages_add_row(struct reel_write *w, struct columns_groups *groups, uint64_t bytes,
                             struct reel_error *err) {
    if (groups->n == groups->room) {
        uint64_t room = groups->room > 0 ? 2 * groups->room : 16;
        struct columns_group *items = reel_write_keep(w, room * sizeof *items, err);
        if (!items) {
            return false;
        }
        if (groups->n > 0) {
            memcpy(items, groups->items, groups->n * sizeof *items);
        }
        groups->items = items;
        groups->room = room;
    }
    groups->n += groups->n == 0 || groups->items[groups->n - 1].bytes >= groups->most;
    struct columns_group *last = &groups->items[groups->n - 1];
    last->rows++;
    last->bytes += bytes;
    return true;
}

static bool survey_message(struct columns_run *run, struct reel_write *w, const struct reel_message *m,
                           struct columns *columns, uint64_t *bytes, struct reel_error *err) {
    const struct reel_decoder *decoder = NULL;
    struct reel_bytes payload;
    struct columns_survey survey;
    if (!payload_of(run, w, m, &decoder, &payload, err)) {
        return false;
    }
    bool fits = false;
    if (decoder && !columns_can_decode(decoder, payload, &fits, bytes, err)) {
        return false;
    }
    columns->rows++;
    if (!fits) {
        columns->raw++;
        *bytes = m->size;
    } else if (!columns->exact) {
        columns_survey_start(&survey, columns);
        if (!decode_try(decoder, payload, &survey.visitor, NULL, err)) {
            return false;
        }
    }
    return !columns->no_memory || reel_fail_memory(err);
}

/* Bytes of the row's fixed columns. */
static uint64_t fixed_bytes(const struct reel_write *w, const struct reel_message *m,
                            const struct columns_fixed *fixed) {
    return 3 * sizeof(int64_t) + (fixed->recording ? strlen(w->options->source_ids[m->source]) : 0) +
           (fixed->topic ? strlen(w->stream->channels[m->channel]->name) : 0);
}

static void *messages_keep(void *w, size_t size) {
    return reel_write_keep(w, size, NULL);
}

bool columns_plan(struct columns_run *run, struct reel_write *w, struct columns *columns, struct columns_groups *groups,
                  struct reel_error *err) {
    struct reel_message m;
    struct reel_position first = {0};
    enum reel_step step;
    const struct columns_fixed fixed = {
        .times = true, .recording = w->options->source_ids != NULL, .topic = rows_several_topics(w->stream)};
    if (!columns_init(columns, messages_keep, w)) {
        return reel_fail_memory(err);
    }
    if (!add_shapes(run, w, columns, err)) {
        return false;
    }
    while ((step = stream_next(w->stream, &m, err)) == REEL_STEP_MESSAGE) {
        first = columns->rows == 0 ? reel_position_of(&m) : first;
        bool report = columns->rows % PROGRESS_ROWS == PROGRESS_ROWS - 1;
        uint64_t bytes = 0;
        if (!survey_message(run, w, &m, columns, &bytes, err) ||
            !messages_add_row(w, groups, bytes + fixed_bytes(w, &m, &fixed), err) ||
            (report && !reel_write_progress(w, columns->rows, err))) {
            return false;
        }
    }
    if (step == REEL_STEP_ERROR || (columns->rows > 0 && !stream_seek(w->stream, &first, err))) {
        return false;
    }
    return columns_settle(columns, &fixed) || reel_fail_memory(err);
}

bool columns_lay(struct reel_write *w, const struct columns_groups *groups, struct reel_sink *out,
                 struct reel_error *err) {
    enum { ROW_BYTES = 8, GROUP_BYTES = 4096 }; /* of offsets, bits and heads */
    const struct columns_group *group = w->group < groups->n ? &groups->items[w->group] : NULL;
    for (uint64_t i = 0; group && i < group->rows; i++) {
        struct reel_message m;
        enum reel_step step = reel_write_next(w, &m, err);
        if (step != REEL_STEP_MESSAGE) {
            group = NULL;
        }
        if (step == REEL_STEP_ERROR) {
            return false;
        }
    }
    if (!group) {
        return reel_fail(err, REEL_CHANGED, "the recording has other messages than when its columns were found");
    }
    reel_sink_fill(out, 0, group->bytes + group->rows * ROW_BYTES + GROUP_BYTES);
    reel_write_pack(w);
    return true;
}

/* ---- rows */

static bool messages_put_payload(struct columns_run *run, struct reel_write *w, const struct reel_message *m,
                                 const struct columns *columns, struct reel_error *err) {
    const struct reel_decoder *decoder = NULL;
    struct reel_bytes payload;
    if (!payload_of(run, w, m, &decoder, &payload, err)) {
        return false;
    }
    bool fits = decoder != NULL;
    if (fits && columns->raw > 0 && !columns_can_decode(decoder, payload, &fits, NULL, err)) {
        return false;
    }
    if (!fits) {
        if (!columns->data) {
            return reel_fail(err, REEL_CHANGED, "a message on %.128s cannot be decoded any more",
                             w->stream->channels[m->channel]->name);
        }
        columns_fill_bytes(&run->fill, payload);
        return true;
    }
    columns_fill_start(&run->fill);
    return decode_try(decoder, payload, &run->fill.visitor, &fits, err) && columns_fill_check(&run->fill, err) &&
           (fits || reel_fail(err, REEL_CHANGED, "a message on %.128s has other values than were planned",
                              w->stream->channels[m->channel]->name));
}

static bool messages_put_row(struct columns_run *run, struct reel_write *w, const struct reel_message *m,
                             const struct columns *columns, struct reel_error *err) {
    struct reel_description d;
    struct columns_fill *fill = &run->fill;
    if (!rows_describe(&run->rows, w, m, &d, err)) {
        return false;
    }
    columns_put_integer(fill, columns->log_time, reel_write_time(w, m));
    columns_put_integer(fill, columns->publish_time, d.publish_ns);
    columns_put_integer(fill, columns->sequence, d.sequence);
    if (columns->recording) {
        columns_put_text(fill, columns->recording, bytes_text(w->options->source_ids[m->source]));
    }
    if (columns->topic) {
        columns_put_text(fill, columns->topic, bytes_text(w->stream->channels[m->channel]->name));
    }
    if (!messages_put_payload(run, w, m, columns, err)) {
        return false;
    }
    columns_fill_end(fill);
    return true;
}

bool columns_take(struct columns_run *run, struct reel_write *w, const struct columns *columns,
                  struct reel_error *err) {
    struct columns_fill *fill = &run->fill;
    struct reel_message m;
    enum reel_step step;
    if (!fill->data && !columns_fill_open(fill, columns, err)) {
        return false;
    }
    columns_fill_clear(fill);
    while ((step = reel_write_next(w, &m, err)) == REEL_STEP_MESSAGE) {
        if (!messages_put_row(run, w, &m, columns, err)) {
            return false;
        }
    }
    return step == REEL_STEP_END && columns_fill_check(fill, err);
}

bool columns_skip(struct reel_write *w, struct reel_error *err) {
    struct reel_message m;
    enum reel_step step;
    do {
        step = reel_write_next(w, &m, err);
    } while (step == REEL_STEP_MESSAGE);
    return step == REEL_STEP_END;
}
