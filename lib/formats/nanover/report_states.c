/* The whole state after each message that changes it. The values are held as JSON, so a row costs a copy of them. */
#include "base/arena.h"
#include "base/bytes.h"
#include "base/cleanup.h"
#include "base/hash_table.h"
#include "formats/nanover/report.h"
#include "syntax/json_out.h"

enum { STEP_BYTES = 256 << 10 };

struct entry { /* of a key that was ever set */
    struct reel_bytes key;
    char *json; /* NULL: removed */
    size_t size;
    struct entry *before, *after; /* of those that are set, in the order in which they were */
};
struct states {
    struct arena arena; /* entries and keys */
    struct hash_table keys;
    struct entry *first, *last;
    uint64_t bytes; /* of all values */
    size_t written; /* bytes of the rows of this step */
    bool begun;
    struct grow value, row;
};

static const char *const columns[] = {"time", "state"};

static void take_out(struct states *s, struct entry *e) {
    *(e->before ? &e->before->after : &s->first) = e->after;
    *(e->after ? &e->after->before : &s->last) = e->before;
    s->bytes -= e->size;
    free(e->json);
    e->json = NULL;
    e->size = 0;
}

static struct entry *entry_of(struct states *s, struct reel_bytes key, bool add, struct reel_error *err) {
    struct entry *e = (struct entry *)hash_table_get(&s->keys, hash_key_bytes(key));
    if (e || !add) {
        return e;
    }
    e = arena_alloc(&s->arena, sizeof *e);
    void *copy = e ? arena_copy(&s->arena, key.data, key.size) : NULL;
    if (!copy) {
        arena_fail(&s->arena, err);
        return NULL;
    }
    *e = (struct entry){.key = bytes_of(copy, key.size)};
    return hash_table_set(&s->keys, hash_key_bytes(e->key), (uintptr_t)e, err) ? e : NULL;
}

static bool set_value(struct states *s, struct reel_bytes key, struct reel_bytes packed, struct reel_error *err) {
    nanover_value_json(&s->value, packed);
    struct entry *e = s->value.failed ? NULL : entry_of(s, key, true, err);
    char *json = e ? malloc(s->value.size) : NULL;
    if (!json) {
        return s->value.failed || e ? reel_fail_memory(err) : false;
    }
    memcpy(json, s->value.data, s->value.size);
    if (e->json) {
        s->bytes -= e->size;
        free(e->json);
    } else {
        e->before = s->last;
        e->after = NULL;
        *(s->last ? &s->last->after : &s->first) = e;
        s->last = e;
    }
    e->json = json;
    e->size = s->value.size;
    s->bytes += e->size;
    return s->bytes <= REEL_NANOVER_TEXT_MAX ||
           reel_fail(err, REEL_LIMIT, "the state at this time has more than %d bytes of text", REEL_NANOVER_TEXT_MAX);
}

/* Applies the updates and removals of keys that were asked for; *any: there were some. */
static bool apply(struct reel_nanover *pass, const struct nanover_body *body, bool *any, struct reel_error *err) {
    struct states *s = pass->state;
    struct msgpack_faults faults = {.text = false};
    struct msgpack_item list = {.count = 0}, key;
    struct cursor c = body->updates;
    enum msgpack_result r = body->has_updates ? msgpack_read(&c, &list) : MSGPACK_BAD;
    for (uint64_t i = 0; i < list.count && r == MSGPACK_OK; i++) {
        r = msgpack_take(&c, &key, REEL_DEPTH_MAX, &faults);
        const uint8_t *value = c.at;
        r = r == MSGPACK_OK ? msgpack_skip(&c, REEL_DEPTH_MAX, &faults) : r;
        if (r == MSGPACK_OK && key.kind == MSGPACK_STR && nanover_asks(pass, key.bytes)) {
            *any = true;
            if (!set_value(s, key.bytes, bytes_of(value, (size_t)(c.at - value)), err)) {
                return false;
            }
        }
    }
    c = body->removals;
    list.count = 0;
    r = body->has_removals ? msgpack_read(&c, &list) : MSGPACK_BAD;
    for (uint64_t i = 0; i < list.count && r == MSGPACK_OK; i++) {
        r = msgpack_take(&c, &key, REEL_DEPTH_MAX, &faults);
        struct entry *e = r == MSGPACK_OK && key.kind == MSGPACK_STR ? entry_of(s, key.bytes, false, err) : NULL;
        if (e && e->json) {
            *any = true;
            take_out(s, e);
        }
    }
    return true;
}

/* The state before the first message that is asked for. */
static bool begin_state(struct reel_nanover *pass, int64_t time_ns, struct reel_error *err) {
    struct states *s = pass->state;
    AUTO_MEM uint8_t *data = NULL;
    struct nanover_body body;
    size_t size;
    bool any;
    s->begun = true;
    s->arena.max = REEL_DECODED_MAX;
    return nanover_moment(pass->stream->readers[0], time_ns, false, &data, &size, err) &&
           (nanover_message_body(bytes_of(data, size), &body) != MSGPACK_OK || apply(pass, &body, &any, err));
}

static bool write_state(struct reel_nanover *pass, int64_t time_ns, struct reel_error *err) {
    struct states *s = pass->state;
    char time[REEL_TIME_TEXT];
    s->row.size = 0;
    grow_put(&s->row, "{", 1);
    for (const struct entry *e = s->first; e; e = e->after) {
        grow_put(&s->row, ",", e != s->first);
        json_put_string(&s->row, e->key);
        grow_put(&s->row, ":", 1);
        grow_put(&s->row, e->json, e->size);
    }
    grow_put(&s->row, "}", 1);
    const struct reel_cell cells[] = {reel_cell_text(nanover_time_text(pass, time_ns, time)),
                                      reel_cell_json(bytes_of(s->row.data, s->row.size))};
    s->written += s->row.size;
    pass->more = s->written >= STEP_BYTES;
    return s->row.failed ? reel_fail_memory(err) : nanover_row(pass, cells, err);
}

/* Nothing is left of a message: a step ends after many bytes. */
static bool nanover_report_states_rest(struct reel_nanover *pass, bool *more, struct reel_error *err) {
    struct states *s = pass->state;
    (void)err;
    s->written = 0;
    *more = false;
    return true;
}

static bool nanover_report_states_message(struct reel_nanover *pass, const struct reel_message *m,
                                          struct reel_error *err) {
    const struct states *s = pass->state;
    struct nanover_body body;
    bool any = false;
    if (!pass->states[m->channel]) {
        return true;
    }
    return (s->begun || begin_state(pass, m->time_ns, err)) && nanover_read_body(pass, m, &body, err) &&
           apply(pass, &body, &any, err) && (!any || write_state(pass, m->time_ns, err));
}

static void nanover_report_states_free_state(void *state) {
    struct states *s = state;
    for (struct entry *e = s->first; e; e = e->after) {
        free(e->json);
    }
    arena_free(&s->arena);
    hash_table_free(&s->keys);
    free(s->value.data);
    free(s->row.data);
}

const struct nanover_question nanover_states = {.topic = "state",
                                                .columns = columns,
                                                .n_columns = sizeof columns / sizeof *columns,
                                                .message = nanover_report_states_message,
                                                .rest = nanover_report_states_rest,
                                                .free = nanover_report_states_free_state,
                                                .state_size = sizeof(struct states)};
