/* See keys.h. A packed key is its role (u8), its size (u32) and its bytes. */
#include "formats/nanover/keys.h"
#include "base/cleanup.h"
#include "base/cursor.h"
#include "formats/nanover/message.h"

enum {
    SET_BYTES_MAX = 1 << 20,   /* one set, packed */
    SETS_BYTES_MAX = 64 << 20, /* all sets and orders of one recording */
    ORDERS_MAX = 4 * NANOVER_SETS_MAX,
    PACKED_HEAD = 5,
};

void nanover_keys_clear(struct nanover_keys *keys) {
    keys->packed.size = 0;
    keys->count = 0;
    keys->too_many = false;
}

void nanover_keys_add(struct nanover_keys *keys, enum nanover_key_role role, struct reel_bytes key) {
    keys->too_many = keys->too_many || key.size + PACKED_HEAD > SET_BYTES_MAX - keys->packed.size;
    if (!keys->too_many) {
        grow_u8(&keys->packed, (uint8_t)role);
        grow_u32(&keys->packed, (uint32_t)key.size);
        grow_put(&keys->packed, key.data, key.size);
        keys->count++;
    }
}

void nanover_keys_free(struct nanover_keys *keys) {
    free(keys->packed.data);
    *keys = (struct nanover_keys){.count = 0};
}

static struct reel_bytes packed_of(const struct nanover_keys *keys) {
    return bytes_of(keys->packed.data, keys->packed.size);
}

/* Sorts the keys and removes duplicates. */
static bool sort_keys(const struct nanover_keys *keys, struct nanover_keys *sorted, struct reel_error *err) {
    AUTO_MEM struct reel_bytes *items = calloc(keys->count + 1, sizeof *items);
    if (!items) {
        return reel_fail_memory(err);
    }
    const uint8_t *at = keys->packed.data;
    for (size_t i = 0; i < keys->count; i++) {
        items[i] = bytes_of(at, PACKED_HEAD + (size_t)load_u32le(at + 1));
        at += items[i].size;
    }
    qsort(items, keys->count, sizeof *items, bytes_compare_items);
    nanover_keys_clear(sorted);
    for (size_t i = 0; i < keys->count; i++) {
        if (i == 0 || !bytes_equal(items[i], items[i - 1])) {
            grow_put(&sorted->packed, items[i].data, items[i].size);
        }
    }
    return !sorted->packed.failed || reel_fail_memory(err);
}

/* *kept is false when the limits leave no room for it. */
static bool nanover_remember(struct nanover_key_sets *sets, struct reel_bytes packed, uint32_t id, bool *kept,
                             struct reel_error *err) {
    sets->arena.max = SETS_BYTES_MAX;
    void *copy = arena_copy(&sets->arena, packed.data, packed.size);
    *kept = copy != NULL;
    return copy ? hash_table_set(&sets->table, hash_key_bytes(bytes_of(copy, packed.size)), id, err)
                : !sets->arena.no_memory || reel_fail_memory(err);
}

bool nanover_key_sets_id(struct nanover_key_sets *sets, const struct nanover_keys *keys, uint32_t *id,
                         struct reel_error *err) {
    if (keys->packed.failed) {
        return reel_fail_memory(err);
    }
    struct reel_bytes order = packed_of(keys);
    *id = keys->too_many ? 0 : (uint32_t)hash_table_get(&sets->table, hash_key_bytes(order));
    if (*id != 0 || keys->too_many) {
        return true;
    }
    if (!sort_keys(keys, &sets->sorted, err)) {
        return false;
    }
    struct reel_bytes sorted = packed_of(&sets->sorted);
    bool kept;
    *id = (uint32_t)hash_table_get(&sets->table, hash_key_bytes(sorted));
    if (*id == 0 && sets->count < NANOVER_SETS_MAX) {
        if (!nanover_remember(sets, sorted, sets->count + 1, &kept, err)) {
            return false;
        }
        *id = kept ? ++sets->count : 0;
    }
    bool is_new = *id != 0 && !bytes_equal(order, sorted) && sets->table.count < ORDERS_MAX;
    return !is_new || nanover_remember(sets, order, *id, &kept, err);
}

void nanover_key_sets_free(struct nanover_key_sets *sets) {
    hash_table_free(&sets->table);
    arena_free(&sets->arena);
    nanover_keys_free(&sets->sorted);
}
