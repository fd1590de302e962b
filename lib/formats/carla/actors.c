/* The actor table. Everything whose size depends on the file is limited. */

#include "base/bytes.h"
#include "formats/carla/report.h"

/* --- event add --- */

void carla_vec_read(const uint8_t *at, const struct carla_layout *layout, double out[3]) {
    for (size_t i = 0; i < 3; i++) {
        out[i] = layout->vec == CARLA_VEC_DOUBLE ? load_f64le(at + 8 * i) : (double)load_f32le(at + 4 * i);
    }
}

bool carla_added_read(struct reel_bytes record, const struct carla_layout *layout, struct carla_added *out) {
    struct cursor c = cursor_of(record);
    out->id = cursor_u32le(&c);
    out->type = cursor_u8(&c);
    const uint8_t *vecs = cursor_take(&c, 2 * (uint64_t)layout->vec);
    if (!vecs) {
        return false;
    }
    carla_vec_read(vecs, layout, out->location);
    carla_vec_read(vecs + layout->vec, layout, out->rotation);
    cursor_take(&c, 4); /* uid */
    out->description = cursor_bytes(&c, cursor_u16le(&c));
    out->n_attributes = cursor_u16le(&c);
    out->attributes = c;
    return !c.failed;
}

bool carla_attribute_read(struct cursor *attributes, struct reel_bytes *id, struct reel_bytes *value) {
    cursor_take(attributes, 1); /* type */
    *id = cursor_bytes(attributes, cursor_u16le(attributes));
    *value = cursor_bytes(attributes, cursor_u16le(attributes));
    return !attributes->failed;
}

/* --- ids --- */

uint32_t carla_ids_find(const struct hash_table *ids, uint32_t id) {
    return (uint32_t)hash_table_get(ids, hash_key_number(id));
}

bool carla_ids_put(struct hash_table *ids, uint32_t id, uint32_t index, struct reel_error *err) {
    return hash_table_set(ids, hash_key_number(id), index, err);
}

/* --- actor table --- */

struct carla_actor_row *carla_actor_row_of(struct carla_actor_table *actors, uint32_t id, struct reel_error *err) {
    uint32_t index = carla_ids_find(&actors->ids, id);
    if (index == 0) {
        if (actors->count >= CARLA_ACTORS_MAX) {
            reel_fail(err, REEL_LIMIT, "the recording has more than %d actors", CARLA_ACTORS_MAX);
            return NULL;
        }
        if (!GROW_ARRAY(actors->items, actors->count, actors->capacity)) {
            reel_fail_memory(err);
            return NULL;
        }
        index = (uint32_t)actors->count + 1;
        if (!carla_ids_put(&actors->ids, id, index, err)) {
            return NULL;
        }
        actors->items[actors->count++] = (struct carla_actor_row){.id = id};
    }
    struct carla_actor_row *actor = &actors->items[index - 1];
    actor->known = true; /* looking up an id adds it, as in CARLA's own table */
    return actor;
}

static bool carla_add(struct carla_actor_table *actors, const struct carla_added *added, struct reel_error *err) {
    struct carla_actor_row *actor = carla_actor_row_of(actors, added->id, err);
    actors->names.max = CARLA_NAMES_MAX;
    const uint8_t *name = actor ? arena_copy(&actors->names, added->description.data, added->description.size) : NULL;
    if (!name) {
        return actor ? reel_fail(err, REEL_LIMIT,
                                 "the names of its actors exceed %d bytes, or there is no memory for them",
                                 CARLA_NAMES_MAX)
                     : false;
    }
    *actor = (struct carla_actor_row){
        .id = added->id, .known = true, .type = added->type, .name = bytes_of(name, added->description.size)};
    actors->last_added = added->id;
    actors->any_added = true;
    return true;
}

bool carla_actor_table_update(struct carla_actor_table *actors, const struct carla_packet *p, bool rows,
                              struct reel_error *err) {
    struct cursor c = carla_records(p->kind, p->data);
    struct carla_added added;
    struct reel_bytes record;
    for (uint32_t i = 0; i < p->total && p->kind == CARLA_EVENT_ADD && carla_record(p->kind, &p->layout, &c, &record);
         i++) {
        if (carla_added_read(record, &p->layout, &added) && !carla_add(actors, &added, err)) {
            return false;
        }
    }
    uint32_t index = p->kind == CARLA_EVENT_DEL && p->total > 0 && !rows && actors->any_added
                         ? carla_ids_find(&actors->ids, actors->last_added)
                         : 0;
    if (index > 0) {
        actors->items[index - 1] = (struct carla_actor_row){.id = actors->last_added};
    }
    return true;
}

void carla_actor_table_free(struct carla_actor_table *actors) {
    hash_table_free(&actors->ids);
    free(actors->items);
    arena_free(&actors->names);
}
