/* See hash_table.h. Open addressing with linear probing; at most half of the slots are used. */
#include "base/hash_table.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/mix.h"

#include <stdlib.h>
#include <sys/random.h>

enum { CAPACITY_MIN = 64 };

struct hash_slot {
    uint64_t hash;
    struct hash_key key;
    uintptr_t value; /* 0: the slot is free */
};

uint64_t hash_seed(void) {
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed) { /* no entropy early at boot: still
                                                                                   better than a constant */
        seed = mix_pair((uint64_t)clock_ns(), (uintptr_t)&seed);
    }
    return seed;
}

uint64_t hash_bytes(uint64_t seed, struct reel_bytes bytes) {
    const uint8_t *data = bytes.data;
    size_t size = bytes.size;
    uint64_t h = seed ^ size * 0x9e3779b97f4a7c15u, key = seed ^ 0xe7037ed1a0b428dbu;
    for (; size >= 16; data += 16, size -= 16) {
        h = mix_fold(h ^ load_u64le(data), key ^ load_u64le(data + 8));
    }
    if (size >= 8) {
        h = mix_fold(h ^ load_u64le(data), key);
        data += 8;
        size -= 8;
    }
    uint64_t last = 0;
    for (size_t i = 0; i < size; i++) {
        last |= (uint64_t)data[i] << 8 * i;
    }
    return mix_fold(h ^ last, 0x8ebc6af09c88c6e3u ^ seed);
}

static uint64_t hash_of(const struct hash_table *table, struct hash_key key) {
    uint64_t h = mix_fold(key.number ^ table->seed, 0x9e3779b97f4a7c15u ^ table->seed << 1);
    return key.bytes.size > 0 ? mix_pair(h, hash_bytes(table->seed, key.bytes)) : h;
}

/* The slot of a key, or the free slot where it would be inserted. */
static struct hash_slot *hash_table_slot_of(const struct hash_table *table, uint64_t hash, struct hash_key key) {
    for (size_t i = hash & (table->capacity - 1);; i = (i + 1) & (table->capacity - 1)) {
        struct hash_slot *slot = &table->slots[i];
        bool same = slot->hash == hash && slot->key.number == key.number && bytes_equal(slot->key.bytes, key.bytes);
        if (slot->value == 0 || same) {
            return slot;
        }
    }
}

static bool grow(struct hash_table *table, struct reel_error *err) {
    struct hash_table grown = *table;
    if (table->capacity == 0) {
        grown.capacity = CAPACITY_MIN;
        grown.seed = hash_seed();
    } else {
        grown.capacity = table->capacity * 2;
    }
    if (!(grown.slots = calloc(grown.capacity, sizeof *grown.slots))) {
        return reel_fail_memory(err);
    }
    for (size_t i = 0; i < table->capacity; i++) {
        const struct hash_slot *slot = &table->slots[i];
        if (slot->value != 0) {
            *hash_table_slot_of(&grown, slot->hash, slot->key) = *slot;
        }
    }
    free(table->slots);
    *table = grown;
    return true;
}

uintptr_t hash_table_get(const struct hash_table *table, struct hash_key key) {
    return table->capacity > 0 ? hash_table_slot_of(table, hash_of(table, key), key)->value : 0;
}

bool hash_table_set(struct hash_table *table, struct hash_key key, uintptr_t value, struct reel_error *err) {
    if (table->count * 2 >= table->capacity && !grow(table, err)) {
        return false;
    }
    uint64_t hash = hash_of(table, key);
    struct hash_slot *slot = hash_table_slot_of(table, hash, key);
    if (slot->value == 0) {
        *slot = (struct hash_slot){.hash = hash, .key = key};
        table->count++;
    }
    slot->value = value;
    return true;
}

void hash_table_free(struct hash_table *table) {
    free(table->slots);
    *table = (struct hash_table){.slots = NULL};
}
