/* A row per frame: index, particles, energies and keys of that frame alone. For the accumulated state see
 * report_moment.c. */
#include "base/bytes.h"
#include "formats/nanover/report.h"
#include "syntax/json_out.h"

enum { INDEX, PARTICLES, KEYS };
static const char *const keys[] = {[INDEX] = "frame.index", [PARTICLES] = "particle.count"};
static const char *const columns[] = {"time", "frame_index", "reset", "particles", NANOVER_ENERGY_COLUMNS, "keys"};
enum { LONG_KEYS = 16 << 10 }; /* a longer row ends the step: a frame of a million keys gets a step of its own */
enum { FIRST_ENERGY = 4, COLUMNS = FIRST_ENERGY + NANOVER_ENERGIES + 1 };

struct frames {
    struct grow keys; /* as JSON */
};

static struct reel_cell whole_or_null(bool found, const struct msgpack_item *item) {
    bool whole = found && item->kind == MSGPACK_INT && !item->over;
    return whole ? reel_cell_integer(item->integer) : (struct reel_cell){.kind = REEL_CELL_NULL};
}

/* Keys that are not text are omitted. */
static void list_keys(struct cursor frame, struct grow *out) {
    struct msgpack_faults faults = {.text = false};
    struct msgpack_item map;
    enum msgpack_result r = msgpack_read(&frame, &map);
    out->size = 0;
    grow_put(out, "[", 1);
    for (uint64_t i = 0; i < map.count && r == MSGPACK_OK; i++) {
        struct msgpack_item key;
        r = msgpack_take(&frame, &key, REEL_DEPTH_MAX, &faults);
        r = r == MSGPACK_OK ? msgpack_skip(&frame, REEL_DEPTH_MAX, &faults) : r;
        if (r == MSGPACK_OK && key.kind == MSGPACK_STR) {
            grow_put(out, ",", out->size > 1);
            json_put_string(out, key.bytes);
        }
    }
    grow_put(out, "]", 1);
}

static bool nanover_report_frames_message(struct reel_nanover *pass, const struct reel_message *m,
                                          struct reel_error *err) {
    struct frames *s = pass->state;
    struct nanover_body body;
    struct msgpack_item values[KEYS];
    bool found[KEYS] = {false};
    char time[REEL_TIME_TEXT];
    struct reel_cell cells[COLUMNS];
    if (!pass->frames[m->channel]) {
        return true;
    }
    if (!nanover_read_body(pass, m, &body, err)) {
        return false;
    }
    if (!body.has_frame) {
        return true;
    }
    nanover_pick(body.frame, keys, KEYS, values, found);
    list_keys(body.frame, &s->keys);
    cells[0] = reel_cell_text(nanover_time_text(pass, m->time_ns, time));
    cells[1] = whole_or_null(found[INDEX], &values[INDEX]);
    cells[2] = reel_cell_bool(nanover_is_reset(&m->entry));
    cells[3] = whole_or_null(found[PARTICLES], &values[PARTICLES]);
    nanover_energies_of(body.frame, cells + FIRST_ENERGY);
    pass->more = s->keys.size > LONG_KEYS;
    cells[COLUMNS - 1] = reel_cell_json(bytes_of(s->keys.data, s->keys.size));
    return s->keys.failed ? reel_fail_memory(err) : nanover_row(pass, cells, err);
}

static bool nanover_report_frames_rest(struct reel_nanover *pass, bool *more, struct reel_error *err) {
    (void)pass;
    (void)err;
    *more = false;
    return true;
}

static void nanover_report_frames_free_state(void *state) {
    free(((struct frames *)state)->keys.data);
}

const struct nanover_question nanover_frames = {.topic = "frame",
                                                .columns = columns,
                                                .n_columns = COLUMNS,
                                                .message = nanover_report_frames_message,
                                                .rest = nanover_report_frames_rest,
                                                .free = nanover_report_frames_free_state,
                                                .state_size = sizeof(struct frames)};
