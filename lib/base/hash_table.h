/* A hash table from keys to numbers or pointers. A key is a number, a run of bytes, or both; keys are compared whole,
 * never by their hash alone. Hashes are seeded per table, so that no file can choose keys that collide. */
#ifndef REEL_BASE_HASH_TABLE_H
#define REEL_BASE_HASH_TABLE_H

#include "reel/bytes.h"
#include "reel/error.h"

struct hash_key {
    uint64_t number;
    struct reel_bytes bytes; /* owned by the caller; must outlive the key in the table */
};
static inline struct hash_key hash_key_number(uint64_t number) {
    return (struct hash_key){.number = number};
}
static inline struct hash_key hash_key_bytes(struct reel_bytes bytes) {
    return (struct hash_key){.bytes = bytes};
}

struct hash_table { /* zeroed = empty; free it with hash_table_free() */
    struct hash_slot *slots;
    size_t capacity, count; /* capacity: 0 or a power of two */
    uint64_t seed;
};

/* The value of a key; 0: not found. */
uintptr_t hash_table_get(const struct hash_table *table, struct hash_key key);
/* Adds a key, or replaces its value (the stored key stays). `value` must not be 0. */
bool hash_table_set(struct hash_table *table, struct hash_key key, uintptr_t value, struct reel_error *err);
/* Frees everything; the struct may be used again. */
void hash_table_free(struct hash_table *table);

/* An unpredictable number. */
uint64_t hash_seed(void);
uint64_t hash_bytes(uint64_t seed, struct reel_bytes bytes);

#endif
