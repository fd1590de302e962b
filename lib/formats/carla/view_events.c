/* Events and collisions: they change the actors and become log lines. */
#include <math.h>

#include "base/bytes.h"
#include "formats/carla/view.h"

enum { SAME_MAX = 256 /* collisions kept of the previous frame */ };

/* --- log --- */

static bool write_log(struct view_maker *m, const struct reel_message *message, int level, const char *name,
                      struct grow *text, struct reel_error *err) {
    struct carla_view *s = m->state;
    struct grow *g = view_begin(m, s->log);
    if (g && !text->failed) {
        fg_log(g, message->time_ns, level, name, bytes_of(text->data, text->size));
    }
    bool good = !text->failed || reel_fail_memory(err);
    text->size = 0;
    return good && (!g || view_end(m, err));
}

static void say_actor(const struct carla_view *s, struct grow *text, uint32_t id) {
    const struct carla_actor *a = carla_actor_of(&s->actors, id);
    carla_print_number(text, id);
    if (a && a->name.size > 0) {
        carla_print(text, " ");
        grow_put(text, a->name.data, a->name.size);
    }
}

static bool log_actor(struct view_maker *m, const struct reel_message *message, const char *before, uint32_t id,
                      const char *after, struct reel_error *err) {
    struct grow text = {0};
    carla_print(&text, before);
    say_actor(m->state, &text, id);
    carla_print(&text, after);
    bool good = write_log(m, message, FG_INFO, "carla.actors", &text, err);
    free(text.data);
    return good;
}

static bool log_pair(struct view_maker *m, const struct reel_message *message, uint32_t one, const char *between,
                     uint32_t two, int level, const char *name, struct reel_error *err) {
    struct grow text = {0};
    say_actor(m->state, &text, one);
    carla_print(&text, between);
    say_actor(m->state, &text, two);
    bool good = write_log(m, message, level, name, &text, err);
    free(text.data);
    return good;
}

/* --- events --- */

static bool take_add(struct view_maker *m, const struct carla_layout *layout, const struct reel_message *message,
                     struct reel_bytes record, struct reel_error *err) {
    struct carla_view *s = m->state;
    struct carla_added added;
    struct carla_actor *a;
    if (!carla_added_read(record, layout, &added)) {
        return true;
    }
    if (!carla_actor_add(&s->actors, &added, &a, err)) {
        return false;
    }
    s->changed |= a && carla_drawn(a);
    return m->silent || log_actor(m, message, "created ", added.id, "", err);
}

static bool take_del(struct view_maker *m, const struct reel_message *message, struct reel_bytes record,
                     struct reel_error *err) {
    struct carla_view *s = m->state;
    uint32_t id = load_u32le(record.data);
    if (!m->silent && !log_actor(m, message, "destroyed ", id, "", err)) {
        return false;
    }
    struct carla_actor *a = carla_actor_of(&s->actors, id);
    if (a) {
        s->changed |= carla_drawn(a);
        carla_actor_remove(&s->actors, a);
    }
    return true;
}

static bool take_parent(struct view_maker *m, const struct reel_message *message, struct reel_bytes record,
                        struct reel_error *err) {
    struct carla_view *s = m->state;
    struct carla_actor *child = carla_actor_of(&s->actors, load_u32le(record.data));
    if (child) {
        s->changed |= carla_drawn(child);
        child->child = true;
    }
    return m->silent || log_pair(m, message, load_u32le(record.data), " attached to ", load_u32le(record.data + 4),
                                 FG_DEBUG, "carla.actors", err);
}

static void take_box(struct carla_view *s, const struct carla_layout *layout, struct reel_bytes record) {
    struct carla_actor *a = carla_actor_of(&s->actors, load_u32le(record.data));
    double origin[3], half[3];
    carla_vec_read(record.data + 4, layout, origin);
    carla_vec_read(record.data + 4 + layout->vec, layout, half);
    double sum = fabs(origin[0]) + fabs(origin[1]) + fabs(origin[2]) + half[0] + half[1] + half[2];
    if (a && isfinite(sum) && half[0] > 0 && half[1] > 0 && half[2] > 0) { /* sensors have values that are not finite */
        a->origin = (struct view_vec){origin[0] / 100, -origin[1] / 100 + 0, origin[2] / 100};
        a->size = (struct view_vec){half[0] / 50, half[1] / 50, half[2] / 50};
        s->changed |= carla_drawn(a);
    }
}

/* CARLA repeats a collision in each frame while it lasts: only the first is logged. */
static bool is_new(const struct carla_view *s, struct reel_bytes record) {
    struct carla_layout layout = {.vec = CARLA_VEC_FLOAT};
    struct cursor c = cursor_of(bytes_of(s->collision.data.data, s->collision.has ? s->collision.data.size : 0));
    struct reel_bytes before;
    cursor_take(&c, 2);
    for (int i = 0; i < SAME_MAX && carla_record(CARLA_COLLISION, &layout, &c, &before); i++) {
        if (memcmp(before.data + 4, record.data + 4, 8) == 0) {
            return false;
        }
    }
    return true;
}

static bool take_collision(struct view_maker *m, const struct reel_message *message, struct reel_bytes record,
                           struct reel_error *err) {
    int level = record.data[12] || record.data[13] ? FG_ERROR : FG_WARNING; /* true when one of them is the hero */
    return m->silent || !is_new(m->state, record) ||
           log_pair(m, message, load_u32le(record.data + 4), " hit ", load_u32le(record.data + 8), level,
                    "carla.collisions", err);
}

bool carla_view_take_records(struct view_maker *m, enum carla_kind kind, const struct carla_layout *layout,
                             const struct reel_message *message, struct reel_bytes payload, struct reel_error *err) {
    uint32_t count = 0;
    struct cursor c = carla_records(kind, payload);
    struct reel_bytes record;
    if (!carla_count(kind, layout, payload, &count)) {
        return true;
    }
    for (uint32_t i = 0; i < count && carla_record(kind, layout, &c, &record); i++) {
        bool good = kind == CARLA_EVENT_ADD      ? take_add(m, layout, message, record, err)
                    : kind == CARLA_EVENT_DEL    ? take_del(m, message, record, err)
                    : kind == CARLA_EVENT_PARENT ? take_parent(m, message, record, err)
                    : kind == CARLA_COLLISION    ? take_collision(m, message, record, err)
                                                 : (take_box(m->state, layout, record), true);
        if (!good) {
            return false;
        }
    }
    return true;
}
