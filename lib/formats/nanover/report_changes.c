/* Changes of the state: a row per key that a message sets or removes. Messages with any number of keys are processed in
 * pieces; the payload stays valid until the next message is requested from the stream. */
#include "base/bytes.h"
#include "base/glob.h"
#include "formats/nanover/report.h"
#include "syntax/json_out.h"
#include "syntax/msgpack_walk.h"

enum { REST_ROWS = 256, REST_BYTES = 256 << 10, VALUE_TEXT_MAX = REEL_NANOVER_TEXT_MAX };

struct changes {
    struct cursor updates, removals; /* position after the rows written */
    uint64_t left_updates, left_removals;
    int64_t time_ns;
    struct grow value;
};

static const char *const columns[] = {"time", "key", "value", "removed"};

/* Number of items after the header of a map or array. */
static uint64_t open_list(struct cursor *c) {
    struct msgpack_item list;
    return msgpack_read(c, &list) == MSGPACK_OK ? list.count : 0;
}

static bool nanover_report_changes_message(struct reel_nanover *pass, const struct reel_message *m,
                                           struct reel_error *err) {
    struct changes *s = pass->state;
    struct nanover_body body;
    if (!pass->states[m->channel]) {
        return true;
    }
    if (!nanover_read_body(pass, m, &body, err)) {
        return false;
    }
    *s = (struct changes){.updates = body.updates, .removals = body.removals, .time_ns = m->time_ns, .value = s->value};
    s->left_updates = body.has_updates ? open_list(&s->updates) : 0;
    s->left_removals = body.has_removals ? open_list(&s->removals) : 0;
    pass->more = s->left_updates > 0 || s->left_removals > 0;
    return true;
}

bool nanover_asks(const struct reel_nanover *pass, struct reel_bytes key) {
    char text[1024];
    bool any = pass->n_keys == 0;
    if (key.size < sizeof text) { /* longer keys match no glob */
        memcpy(text, key.data, key.size);
        text[key.size] = '\0';
        for (uint32_t i = 0; i < pass->n_keys && !any; i++) {
            any = reel_glob_match(pass->keys[i], text);
        }
    }
    return any;
}

void nanover_value_json(struct grow *text, struct reel_bytes packed) {
    struct reel_error why = {0};
    struct json_out json = json_out_to(text, VALUE_TEXT_MAX);
    struct msgpack_walk walk = msgpack_walk_of(packed, &json.visitor, &why);
    text->size = 0;
    if (!msgpack_walk_value(&walk, REEL_DEPTH_MAX) && !text->failed) {
        static const char begins[] = "{\"$base64\":\"", ends[] = "\",\"encoding\":\"msgpack\"}";
        text->size = 0;
        grow_put(text, begins, sizeof begins - 1);
        json_put_base64(text, packed);
        grow_put(text, ends, sizeof ends - 1);
    }
}

static bool write_change(struct reel_nanover *pass, struct reel_bytes key, struct reel_cell value, bool removed,
                         struct reel_error *err) {
    const struct changes *s = pass->state;
    char time[REEL_TIME_TEXT];
    const struct reel_cell cells[] = {reel_cell_text(nanover_time_text(pass, s->time_ns, time)), reel_cell_text(key),
                                      value, reel_cell_bool(removed)};
    return nanover_row(pass, cells, err);
}

static bool write_update(struct reel_nanover *pass, struct reel_error *err) {
    struct changes *s = pass->state;
    struct msgpack_faults faults = {.text = false};
    struct msgpack_item key;
    s->left_updates--;
    s->value.size = 0;
    enum msgpack_result r = msgpack_take(&s->updates, &key, REEL_DEPTH_MAX, &faults);
    const uint8_t *value = s->updates.at;
    r = r == MSGPACK_OK ? msgpack_skip(&s->updates, REEL_DEPTH_MAX, &faults) : r;
    if (r != MSGPACK_OK) {
        return reel_fail(err, REEL_CHANGED, "a state message is not the one that was scanned");
    }
    if (key.kind != MSGPACK_STR || !nanover_asks(pass, key.bytes)) {
        return true;
    }
    nanover_value_json(&s->value, bytes_of(value, (size_t)(s->updates.at - value)));
    return s->value.failed
               ? reel_fail_memory(err)
               : write_change(pass, key.bytes, reel_cell_json(bytes_of(s->value.data, s->value.size)), false, err);
}

static bool write_removal(struct reel_nanover *pass, struct reel_error *err) {
    struct changes *s = pass->state;
    struct msgpack_faults faults = {.text = false};
    struct msgpack_item key;
    s->left_removals--;
    s->value.size = 0;
    if (msgpack_take(&s->removals, &key, REEL_DEPTH_MAX, &faults) != MSGPACK_OK) {
        return reel_fail(err, REEL_CHANGED, "a state message is not the one that was scanned");
    }
    return key.kind != MSGPACK_STR || !nanover_asks(pass, key.bytes) ||
           write_change(pass, key.bytes, (struct reel_cell){.kind = REEL_CELL_NULL}, true, err);
}

static bool nanover_report_changes_rest(struct reel_nanover *pass, bool *more, struct reel_error *err) {
    struct changes *s = pass->state;
    size_t bytes = 0;
    for (int i = 0; i < REST_ROWS && bytes < REST_BYTES && (s->left_updates > 0 || s->left_removals > 0); i++) {
        if (s->left_updates > 0 ? !write_update(pass, err) : !write_removal(pass, err)) {
            return false;
        }
        bytes += s->value.size;
    }
    *more = s->left_updates > 0 || s->left_removals > 0;
    return true;
}

static void nanover_report_changes_free_state(void *state) {
    free(((struct changes *)state)->value.data);
}

const struct nanover_question nanover_changes = {.topic = "state",
                                                 .columns = columns,
                                                 .n_columns = sizeof columns / sizeof *columns,
                                                 .message = nanover_report_changes_message,
                                                 .rest = nanover_report_changes_rest,
                                                 .free = nanover_report_changes_free_state,
                                                 .state_size = sizeof(struct changes)};
